"""The study's report: one HTML file."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import pandas as pd

from ridgeline.baselines.titles import short_title
from ridgeline.reporting.page import render_page
from ridgeline.reporting.words import listed, number
from ridgeline.simulation.paper import (
    CITATION,
    NOT_COMPARABLE,
    NOT_COMPARABLE_REASON,
    SCENARIO_TITLES,
)
from ridgeline.simulation.report.findings import study_findings
from ridgeline.simulation.report.judgement import against_paper
from ridgeline.simulation.report.tables import (
    NETWORK_WORDS,
    fits_sentence,
    overlap_table,
    recovery_table,
    study_models,
    summarise,
    table_cells,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["render_study"]

_TITLE: Final = "Ridgeline: the paper's simulation study"
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


def render_study(
    results: pd.DataFrame,
    figures: Mapping[str, "Figure | bytes"],
    reproduce: Mapping[str, str],
) -> str:
    """Renders the report as one HTML file, with figures and style inside.

    Args:
        figures: By name, drawn or as PNG: `errors`, and the networks of a scenario by
            the scenario's name; one that is not given is left out.
    """
    summary = summarise(results)
    return render_page(
        "ridgeline.simulation.report",
        "study.html",
        title=_TITLE,
        figures=figures,
        reproduce=reproduce,
        citation=CITATION,
        scenarios=SCENARIO_TITLES,
        not_comparable=NOT_COMPARABLE,
        note=NOT_COMPARABLE_REASON,
        size=_size(summary),
        findings=study_findings(results),
        models=[short_title(model) for model in study_models(summary)],
        cells=table_cells(summary),
        fits=fits_sentence(summary),
        judged=_judged_rows(against_paper(summary)),
        recovery=_side_by_side(recovery_table(results), _RECOVERY),
        overlap=_side_by_side(overlap_table(results), _OVERLAP),
        seconds=_seconds(summary),
        left_out=_left_out(results),
    )


def _size(summary: pd.DataFrame) -> str:
    """How much was run."""
    fewest, most = summary["repetitions"].min(), summary["repetitions"].max()
    repetitions = f"{most}" if fewest == most else f"{fewest} to {most}"
    sizes = [f"{n:,}" for n in sorted(summary["n"].unique())]
    return (
        f"{summary['scenario'].nunique()} scenarios, n = {listed(sizes)}, "
        f"{repetitions} repetitions, {summary['model'].nunique()} models: "
        f"{summary['repetitions'].sum():,} fitted models"
    )


def _judged_rows(judged: pd.DataFrame) -> list[dict[Any, Any]]:
    others = [short_title(model) for model in judged["best_other"]]
    return judged.assign(best_other=others).to_dict("records")


def _side_by_side(
    table: pd.DataFrame, columns: Mapping[str, tuple[str, int | None]]
) -> dict[str, Any]:
    """Headings, and for each scenario and n the networks side by side."""
    shown = [model for model in NETWORK_WORDS if model in set(table["model"])]
    rows = []
    for (scenario, n), cell in table.groupby(["scenario", "n"]):
        own = cell.set_index("model").reindex(shown)
        texts = [
            _power_of_ten(value) if digits is None else number(value, digits)
            for name, (_, digits) in columns.items()
            for value in own[name]
        ]
        rows.append({"scenario": scenario, "n": n, "texts": texts})
    return {
        "headings": [heading for heading, _ in columns.values()],
        "networks": [NETWORK_WORDS[model] for model in shown],
        "rows": rows,
    }


def _seconds(summary: pd.DataFrame) -> dict[str, Any]:
    """Mean seconds of a task by model and n."""
    models = study_models(summary)
    table = summary.pivot_table(index="model", columns="n", values="seconds")
    times = table.reindex(models).to_numpy()
    return {
        "sizes": [f"{n:,}" for n in table.columns],
        "rows": [
            (short_title(model), [number(value, 1) for value in own])
            for model, own in zip(models, times, strict=True)
        ],
    }


def _left_out(results: pd.DataFrame) -> list[str]:
    """A sentence for each model and reason for which tasks were not run."""
    if "not_applicable" not in results:
        return []
    tasks = results[results["not_applicable"].notna()]
    return [
        f"{short_title(str(model))} was not fitted in {len(rows)} of "
        f"{(results['model'] == model).sum()} tasks: {reason}"
        for (model, reason), rows in tasks.groupby(["model", "not_applicable"])
    ]


def _power_of_ten(value: float) -> str:
    return number(None) if pd.isna(value) else f"{value:.0e}"
