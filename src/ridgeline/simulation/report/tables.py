"""Tables of the simulation study, from its long table: a row for each task.

It has `scenario`, `n`, `model`, `fits`, `seconds`, `mse` and `excess`, and for networks
how their projections lie. A task whose model was not applicable has no `mse`, and is
left out. Cells may lack repetitions, or be absent.
"""

from collections.abc import Iterable
from typing import Final, NamedTuple

import numpy as np
import pandas as pd

from ridgeline.baselines.titles import short_title
from ridgeline.errors import InputError
from ridgeline.simulation.paper import (
    NOT_COMPARABLE,
    NOT_COMPARABLE_REASON,
    PAPER_MSE,
    SCENARIO_TITLES,
)

__all__ = [
    "ENHANCED",
    "NAIVE",
    "NETWORK_WORDS",
    "NOISE",
    "SUMMARY_COLUMNS",
    "Cell",
    "collect_cells",
    "compared",
    "fits_sentence",
    "markdown_table",
    "overlap_table",
    "recovery_table",
    "study_models",
    "study_text",
    "summarise",
    "table_cells",
    "with_paper",
]

ENHANCED: Final = "xnn"
NAIVE: Final = "naive_xnn"
NEAR: Final = "near"
# The networks that tables put side by side, with a word for each.
NETWORK_WORDS: Final = {NAIVE: "naive", ENHANCED: "enhanced", NEAR: "near"}
NOISE: Final = 1.0  # its variance in every scenario, by which an MSE exceeds its excess
SUMMARY_COLUMNS: Final = tuple(
    "scenario n model repetitions mse_mean mse_sd excess_mean excess_sd fits "
    "seconds".split()
)
_RECOVERY: Final = "cosine_mean cosine_min curve_error".split()
_OVERLAP: Final = (
    "n_components overlap_mean overlap_max correlation_mean orthogonality_error"
).split()
_METRICS: Final = "mse mse_sd excess excess_sd fits seconds".split()
_ROW: Final = ["scenario", "n"]
_CELL: Final = ["scenario", "n", "model"]
_PAPER_MODELS: Final = tuple(PAPER_MSE["model"].unique())  # in its order
_NARROW: Final = 6  # characters of a number, or a title, in the terminal
_NARROW_TITLES: Final = {ENHANCED: "xNN", NAIVE: "naive"}
_DIGITS: Final = 3  # of an MSE, as in the paper
_NONE: Final = "\N{EN DASH}"


class Cell(NamedTuple):
    """A model's test MSE in one scenario at one n, as texts; empty for what is not."""

    mean: str
    sd: str
    paper: str
    best: bool  # the smallest mean of its row, at the decimals that are shown


def summarise(results: pd.DataFrame) -> pd.DataFrame:
    """Means and standard deviations over the repetitions of each cell.

    Returns:
        Columns `SUMMARY_COLUMNS`, a row for each scenario, n and model that has a
        result. Standard deviations are those of a sample, so that one repetition has
        none; `fits` is the most that a task took, which is what each took as long as
        the settings are the same; `seconds` is the mean of a task, of the processor.

    Raises:
        InputError: If a column is missing, or there is no result.
    """
    _demand(results, [*_CELL, "fits", "seconds", "mse", "excess"])
    done = results[results["mse"].notna()]
    if done.empty:
        message = "The study has no result to summarise; run at least one task."
        raise InputError(message)
    table = done.groupby(_CELL, as_index=False, observed=True).agg(
        repetitions=("mse", "size"),
        mse_mean=("mse", "mean"),
        mse_sd=("mse", "std"),
        excess_mean=("excess", "mean"),
        excess_sd=("excess", "std"),
        fits=("fits", "max"),
        seconds=("seconds", "mean"),
    )
    return _in_order(table)


def study_models(table: pd.DataFrame) -> list[str]:
    """Models of a table: those of the paper in its order, then others by name."""
    found = {str(model) for model in table["model"]}
    printed = [model for model in _PAPER_MODELS if model in found]
    return [*printed, *sorted(found - {*printed})]


def fits_sentence(summary: pd.DataFrame) -> str:
    """How many fits each model got in a task, which belongs beside any comparison.

    Returns:
        A sentence; nothing if no model's fits are known.
    """
    known = [
        f"{short_title(model)} {fits}" for model, fits in _fits(summary).items() if fits
    ]
    return f"Fits of one task: {', '.join(known)}." if known else ""


def compared(summary: pd.DataFrame) -> pd.DataFrame:
    """The paper's table with its figures beside ours, as numbers.

    Returns:
        A row for each scenario and n: for each model its mean test MSE, the standard
        deviation and the paper's figure; `best` is the model with the smallest mean,
        and `comparable` says whether the paper's figures may be compared with ours.
    """
    joined = with_paper(summary)
    parts = {"mean": "mse_mean", "sd": "mse_sd", "paper": "paper"}
    table = joined[_ROW].drop_duplicates()
    for model in study_models(summary):
        own = joined.loc[joined["model"] == model, [*_ROW, *parts.values()]]
        headings = {column: f"{model} {part}" for part, column in parts.items()}
        table = table.merge(own.rename(columns=headings), on=_ROW, how="left")
    best = joined.loc[joined.groupby(_ROW)["mse_mean"].idxmin(), "model"]
    return table.assign(
        best=best.to_numpy(), comparable=~table["scenario"].isin(NOT_COMPARABLE)
    )


def table_cells(summary: pd.DataFrame) -> dict[str, dict[int, list[Cell]]]:
    """The paper's table as texts, by scenario and n, a cell for each of the models.

    Scenarios that do not compare are without the paper's figures.
    """
    models = study_models(summary)
    found: dict[str, dict[int, list[Cell]]] = {}
    for (scenario, n), rows in with_paper(summary).groupby(_ROW):
        table = rows.set_index("model").reindex(models)
        if scenario in NOT_COMPARABLE:
            table["paper"] = np.nan
        best = _decimals(table["mse_mean"].min())
        found.setdefault(str(scenario), {})[int(str(n))] = [
            Cell(
                mean=_decimals(mean) or _NONE,
                sd=_decimals(sd),
                paper=_decimals(printed),
                best=_decimals(mean) == best,
            )
            for mean, sd, printed in table[["mse_mean", "mse_sd", "paper"]].to_numpy()
        ]
    return found


def markdown_table(summary: pd.DataFrame) -> str:
    """The paper's table as Markdown, a table for each scenario.

    A cell such as `**1.072** (0.012) / 1.086` is our mean and standard deviation, and
    the paper's mean; the best of our means, at three decimals, is bold. Above stands
    how many fits each model got, and under a scenario that does not compare the reason.
    """
    headings = ["n", *map(short_title, study_models(summary))]
    blocks = [*filter(None, [fits_sentence(summary)])]
    for scenario, rows in table_cells(summary).items():
        lines = [f"### {scenario}: {SCENARIO_TITLES[scenario]}", ""]
        table = [headings, ["---:"] * len(headings)]
        table += [[f"{n:,}", *map(_markdown, cells)] for n, cells in rows.items()]
        lines += [f"| {' | '.join(texts)} |" for texts in table]
        if scenario in NOT_COMPARABLE:
            lines += ["", NOT_COMPARABLE_REASON]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks) + "\n"


def recovery_table(results: pd.DataFrame) -> pd.DataFrame:
    """How much of the true components the networks found, by n.

    Returns:
        Means over the repetitions of `cosine_mean`, `cosine_min` and `curve_error` for
        the scenarios that have true components, with the count as `repetitions`.
    """
    return _network_means(results, _RECOVERY)


def overlap_table(results: pd.DataFrame) -> pd.DataFrame:
    """How far the projections of the networks overlap, by scenario and n.

    Returns:
        Means over the repetitions of the components in use, of the mean and largest
        absolute cosine between two projections, of the mean absolute correlation
        between their values, and of the orthogonality error.
    """
    return _network_means(results, _OVERLAP)


def collect_cells(model: str, *, summary: pd.DataFrame) -> dict[str, dict[str, float]]:
    """Take a model's cells as metrics, to be compared with other models'.

    Returns:
        Such as `{"S1_n1000": {"mse": 1.07, "mse_sd": 0.01, "excess": 0.07, ...}}`; what
        is not a number is left out, as a standard deviation of one repetition.
    """
    cells = summary[summary["model"] == model]
    cells = cells.rename(columns={"mse_mean": "mse", "excess_mean": "excess"})
    return {
        f"{cell['scenario']}_n{cell['n']}": {
            name: float(cell[name]) for name in _METRICS if np.isfinite(cell[name])
        }
        for cell in cells.to_dict("records")
    }


def study_text(summary: pd.DataFrame) -> str:
    """Mean excess errors for a terminal, for eight models at most 80 columns wide.

    There is a line for each scenario and n; the smallest error of a line has a star.
    The last line has the fits of a task.
    """
    models = study_models(summary)
    names = (_NARROW_TITLES.get(model, short_title(model)) for model in models)
    header = "".join(f" {name[:_NARROW]:>{_NARROW}} " for name in names)
    lines = ["Mean excess error (*: the smallest)", f"{'':<9}{header}".rstrip()]
    for (scenario, n), cell in summary.groupby(_ROW):
        means = cell.set_index("model")["excess_mean"].reindex(models)
        best = _error_text(means.min())
        texts = [_error_text(mean) for mean in means]
        marked = [f" {text:>{_NARROW}}{'*' if text == best else ' '}" for text in texts]
        lines.append(f"{scenario} {n:>6}{''.join(marked)}".rstrip())
    fits = _fits(summary)
    if any(fits.values()):
        counts = "".join(f" {fits[model] or _NONE:>{_NARROW}} " for model in models)
        lines.append(f"{'fits':<9}{counts}".rstrip())
    return "\n".join(lines)


def with_paper(summary: pd.DataFrame) -> pd.DataFrame:
    """The summary beside the paper's figures, with rows for cells that were not run.

    Returns:
        The summary's columns, and the paper's figure as `paper`.
    """
    _demand(summary, SUMMARY_COLUMNS)
    models = pd.DataFrame({"model": study_models(summary)})
    cells = summary[_ROW].drop_duplicates().merge(models, how="cross")
    printed = PAPER_MSE[[*_CELL, "mse"]].rename(columns={"mse": "paper"})
    cells = cells.merge(summary, on=_CELL, how="left", validate="one_to_one")
    return cells.merge(printed, on=_CELL, how="left", validate="one_to_one")


def _demand(table: pd.DataFrame, columns: Iterable[str]) -> None:
    missing = [name for name in columns if name not in table]
    if missing:
        message = (
            f"The study's table lacks the column {missing[0]!r}; pass the long table, "
            "which has a row for each task."
        )
        raise InputError(message)


def _in_order(table: pd.DataFrame) -> pd.DataFrame:
    place = {model: number for number, model in enumerate(study_models(table))}
    return table.sort_values(
        _CELL,
        key=lambda column: column.map(place) if column.name == "model" else column,
        ignore_index=True,
    )


def _fits(summary: pd.DataFrame) -> dict[str, str]:
    """Fits of a task by model, from the fewest to the most; empty if not known."""
    found = {}
    for model in study_models(summary):
        counts = summary.loc[summary["model"] == model, "fits"].dropna()
        ends = sorted({int(counts.min()), int(counts.max())}) if len(counts) else []
        found[model] = _NONE.join(map(str, ends))
    return found


def _decimals(value: float) -> str:
    return "" if pd.isna(value) else f"{value:.{_DIGITS}f}"


def _markdown(cell: Cell) -> str:
    text = f"**{cell.mean}**" if cell.best else cell.mean
    text += f" ({cell.sd})" if cell.sd else ""
    return text + (f" / {cell.paper}" if cell.paper else "")


def _network_means(results: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    """Means by cell of what only networks have, where it is known."""
    _demand(results, _CELL)
    table = results.reindex(columns=[*_CELL, *columns])
    table = table[
        table["model"].isin(NETWORK_WORDS) & table[columns].notna().any(axis=1)
    ]
    groups = table.groupby(_CELL, observed=True)
    means = groups[columns].mean()
    means.insert(0, "repetitions", groups.size())
    return _in_order(means.reset_index())


def _error_text(error: float) -> str:
    # A large error loses decimals, so that the columns stay.
    return _NONE if pd.isna(error) else f"{error:.4f}"[:_NARROW]
