"""The study's report: one HTML file that needs nothing beside itself."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import pandas as pd

from ridgeline.reporting.html import data_uri, number, render_template
from ridgeline.reporting.study_judgement import against_paper
from ridgeline.reporting.study_tables import (
    fits_sentence,
    model_title,
    overlap_table,
    recovery_table,
    study_models,
    summarise,
    table_cells,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["StudyContent", "render_study", "study_findings"]

Titles = Mapping[str, str] | None

# Headings and decimals; without decimals, as a power of ten.
_RECOVERY: Final[Mapping[str, tuple[str, int | None]]] = {
    "cosine_mean": ("Mean cosine", 3),
    "cosine_min": ("Smallest cosine", 3),
    "curve_error": ("Error of the curves", 3),
}
_OVERLAP: Final[Mapping[str, tuple[str, int | None]]] = {
    "n_components": ("Components", 1),
    "overlap_mean": ("Mean overlap", 3),
    "overlap_max": ("Largest overlap", 3),
    "correlation_mean": ("Mean correlation", 3),
    "orthogonality_error": ("Orthogonality error", None),
}
_NAIVE, _ENHANCED = "naive_xnn", "xnn"


@dataclass(frozen=True, eq=False)
class StudyContent:
    """What the report tells.

    Args:
        title: Of the report.
        results: The study's long table, a row for each task.
        paper: The paper's test MSE: `scenario`, `n`, `model`, `mse`.
        citation: Of the paper's table.
        reproduce: Command, seed, versions, commit ...
        figures: By name, drawn or as PNG: `errors`, and the networks of a scenario by
            the scenario's name; one that is not given is left out.
        scenarios: Titles of the scenarios.
        not_comparable: Scenarios for which the paper's figures mean something else ...
        note: ... and the reason.
        titles: What to call the models.
    """

    title: str
    results: pd.DataFrame
    paper: pd.DataFrame
    citation: str
    reproduce: Mapping[str, str]
    figures: Mapping[str, "Figure | bytes"] = field(default_factory=dict)
    scenarios: Mapping[str, str] = field(default_factory=dict)
    not_comparable: Collection[str] = ()
    note: str = ""
    titles: Titles = None


def render_study(content: StudyContent) -> str:
    """Renders the report as one HTML file, with figures and style inside."""
    results, titles = content.results, content.titles
    summary = summarise(results)
    judged = against_paper(summary, content.paper, content.not_comparable)
    return render_template(
        "study.html",
        content=content,
        figures={name: data_uri(figure) for name, figure in content.figures.items()},
        size=_size(summary),
        findings=study_findings(results, content.paper, content.not_comparable, titles),
        models=[model_title(model, titles) for model in study_models(summary)],
        cells=table_cells(summary, content.paper, content.not_comparable),
        fits=fits_sentence(summary, titles),
        judged=_judged_rows(judged, titles),
        recovery=_side_by_side(recovery_table(results), _RECOVERY),
        overlap=_side_by_side(overlap_table(results), _OVERLAP),
        seconds=_seconds(summary, titles),
        left_out=_left_out(results, titles),
    )


def study_findings(
    results: pd.DataFrame,
    paper: pd.DataFrame,
    not_comparable: Collection[str] = (),
    titles: Titles = None,
) -> list[str]:
    """What the study found about the enhanced network, in computed sentences.

    Args:
        results: The study's long table.
        paper: The paper's test MSE: `scenario`, `n`, `model`, `mse`.
        not_comparable: Scenarios for which the paper's figures mean something else.
        titles: What to call the models.
    """
    summary = summarise(results)
    judged = against_paper(summary, paper, not_comparable, _ENHANCED)
    return [
        *_paper_findings(judged),
        *_other_findings(judged, titles),
        *_excess_findings(summary),
        *_overlap_findings(results),
        *_recovery_findings(results),
    ]


def _paper_findings(judged: pd.DataFrame) -> list[str]:
    if judged.empty:
        return ["No cell of this study is in the paper's table."]
    found = [
        f"The enhanced network's mean test MSE is at or below the paper's, within one "
        f"standard error of our mean, in {judged['meets_paper'].sum()} of the "
        f"{len(judged)} cells that compare ({_names(judged['scenario'])})."
    ]
    missed = [
        f"{_cell(row)} ({row['mse_mean']:.3f} against {row['paper']:.3f}{_gap(row)})"
        for row in judged[~judged["meets_paper"]].to_dict("records")
    ]
    if missed:
        found.append(f"It is above in {_names(missed)}.")
    known = judged[~judged["meets_paper"] & judged["gap_without_noise"].notna()]
    gaps = [
        f"{row['gap_without_noise']:+z.3f} in {_cell(row)}"
        for row in known.to_dict("records")
    ]
    if gaps:
        found.append(
            "Without our own test noise, and without what the paper's figures of the "
            f"other models show of its own, the gap is {_names(gaps)}."
        )
    return found


def _other_findings(judged: pd.DataFrame, titles: Titles) -> list[str]:
    if judged.empty or not (judged["best_other"] != "").any():
        return []
    found = [
        f"No other model's mean test MSE is smaller by more than that standard error "
        f"in {judged['meets_others'].sum()} of these {len(judged)} cells."
    ]
    as_there: list[str] = []
    unlike: list[str] = []
    for row in judged[~judged["meets_others"]].to_dict("records"):
        better = str(row["better"]).split(", ")
        apart = [
            name for name in better if name in row["better_unlike_paper"].split(", ")
        ]
        alike = [name for name in better if name not in apart]
        for names, cells in ((alike, as_there), (apart, unlike)):
            if names:
                who = ", ".join(model_title(name, titles) for name in names)
                cells.append(f"{_cell(row)} ({who})")
    if as_there:
        found.append(f"Another is better, as in the paper, in {_names(as_there)}.")
    if unlike:
        found.append(f"Another is better, but not in the paper, in {_names(unlike)}.")
    return found


def _excess_findings(summary: pd.DataFrame) -> list[str]:
    best = summary.loc[summary.groupby(["scenario", "n"])["excess_mean"].idxmin()]
    count = (best["model"] == _ENHANCED).sum()
    return [
        f"Its mean excess error, which has no test noise in it, is the smallest of all "
        f"models in {count} of all {len(best)} cells."
    ]


def _overlap_findings(results: pd.DataFrame) -> list[str]:
    if "overlap_max" not in results:
        return []
    known = results[results["overlap_max"].notna()]
    naive, enhanced = (
        known[known["model"] == model].nlargest(1, "overlap_max").to_dict("records")
        for model in (_NAIVE, _ENHANCED)
    )
    if not naive or not enhanced:
        return []
    mean = known.loc[known["model"] == _NAIVE, "overlap_mean"].mean()
    largest = naive[0]["overlap_max"]
    return [
        f"Two projections of a naive network overlap by up to {largest:.2f} "
        f"({_cell(naive[0])}) and by {mean:.2f} on average; of an enhanced one by at "
        f"most {_tiny(enhanced[0]['overlap_max'])}. Overlap is the absolute cosine "
        "between two projections."
    ]


def _recovery_findings(results: pd.DataFrame) -> list[str]:
    """How much of the truth was found at the largest n of each scenario."""
    table = recovery_table(results)
    found = []
    for scenario, rows in table.groupby("scenario"):
        n = rows["n"].max()
        own = rows[rows["n"] == n].set_index("model")["cosine_mean"].to_dict()
        if _ENHANCED in own:
            beside = f" (naive: {own[_NAIVE]:.3f})" if _NAIVE in own else ""
            found.append(
                f"In {scenario} at n = {n:,}, the enhanced network's projections have "
                f"a mean cosine of {own[_ENHANCED]:.3f} with the true ones{beside}."
            )
    return found


def _size(summary: pd.DataFrame) -> str:
    """How much was run."""
    fewest, most = summary["repetitions"].min(), summary["repetitions"].max()
    repetitions = f"{most}" if fewest == most else f"{fewest} to {most}"
    sizes = [f"{n:,}" for n in sorted(summary["n"].unique())]
    return (
        f"{summary['scenario'].nunique()} scenarios, n = {_names(sizes)}, "
        f"{repetitions} repetitions, {summary['model'].nunique()} models: "
        f"{summary['repetitions'].sum():,} fitted models"
    )


def _judged_rows(judged: pd.DataFrame, titles: Titles) -> list[dict[str, Any]]:
    rows = judged.to_dict("records")
    for row in rows:
        row["best_other"] = model_title(str(row["best_other"]), titles)
    return [{str(name): value for name, value in row.items()} for row in rows]


def _side_by_side(
    table: pd.DataFrame, columns: Mapping[str, tuple[str, int | None]]
) -> dict[str, Any]:
    """Headings, and for each scenario and n the naive beside the enhanced network."""
    rows = []
    for (scenario, n), cell in table.groupby(["scenario", "n"]):
        own = cell.set_index("model").reindex([_NAIVE, _ENHANCED])
        texts = [
            _tiny(value) if digits is None else number(value, digits)
            for name, (_, digits) in columns.items()
            for value in own[name]
        ]
        rows.append({"scenario": scenario, "n": n, "texts": texts})
    return {"headings": [heading for heading, _ in columns.values()], "rows": rows}


def _seconds(summary: pd.DataFrame, titles: Titles) -> dict[str, Any]:
    """Mean seconds of a task by model and n."""
    models = study_models(summary)
    table = summary.pivot_table(index="model", columns="n", values="seconds")
    times = table.reindex(models).to_numpy()
    return {
        "sizes": [f"{n:,}" for n in table.columns],
        "rows": [
            (model_title(model, titles), [number(value, 1) for value in own])
            for model, own in zip(models, times, strict=True)
        ],
    }


def _left_out(results: pd.DataFrame, titles: Titles) -> list[str]:
    """A sentence for each model and reason for which tasks were not run."""
    if "not_applicable" not in results:
        return []
    tasks = results[results["not_applicable"].notna()]
    return [
        f"{model_title(str(model), titles)} was not fitted in {len(rows)} of "
        f"{(results['model'] == model).sum()} tasks: {reason}"
        for (model, reason), rows in tasks.groupby(["model", "not_applicable"])
    ]


def _cell(row: Mapping[Any, Any]) -> str:
    return f"{row['scenario']} at n = {row['n']:,}"


def _gap(row: Mapping[Any, Any]) -> str:
    gap = row["paper_gap"]
    return "" if pd.isna(gap) else f", {gap:.1f} standard errors"


def _tiny(value: float) -> str:
    return number(None) if pd.isna(value) else f"{value:.0e}"


def _names(names: Iterable[str]) -> str:
    """Names in a sentence, each once."""
    *most, last = dict.fromkeys(names)
    return f"{', '.join(most)} and {last}" if most else str(last)
