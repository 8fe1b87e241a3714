"""Figures of the models side by side, and of the marginal approval rates.

Every function returns a figure of its own and leaves matplotlib's global state alone.
"""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure

from ridgeline.errors import InputError
from ridgeline.reporting import style
from ridgeline.reporting.labels import Label, label_of
from ridgeline.reporting.marginals import Marginal

__all__ = [
    "draw_marginal_bars",
    "draw_marginal_counts",
    "draw_marginal_rates",
    "plot_calibration",
    "plot_marginals",
    "plot_roc",
]

_COLUMNS: Final = 3  # of marginals in a figure
_GOOD: Final = 0.9  # an AUC from which on curves crowd in a corner
_BAND: Final = 2  # standard errors


def plot_roc(
    curves: Mapping[str, pd.DataFrame],
    aucs: Mapping[str, float],
    titles: Mapping[str, str] | None = None,
    *,
    highlight: str = "xnn.refined",
    width: float = 5.0,
) -> Figure:
    """Draws all ROC curves, with the AUCs in the lower right corner.

    Args:
        curves: `false_positive_rate` and `true_positive_rate` by model.
        aucs: AUC by model; the largest is named first.
        titles: What to call the models.
        highlight: The model that is drawn thick.
        width: In inches.

    Raises:
        InputError: If there is no curve, or one without an AUC.
    """
    _check_models(curves, aucs)
    figure = style.figure_of(width, width)
    axes = figure.add_subplot(label="roc")
    axes.plot([0, 1], [0, 1], **style.RULE, linestyle=":")
    drawn = [axes]
    if max(aucs[name] for name in curves) > _GOOD:
        drawn.append(_corner(axes))
    for name in sorted(curves, key=lambda name: -aucs[name]):
        for each in drawn:
            each.plot(
                curves[name]["false_positive_rate"],
                curves[name]["true_positive_rate"],
                label=f"{aucs[name]:.4f}  {_title(name, titles)}",
                **_line(list(curves).index(name), name == highlight),
            )
    _finish(axes, "false positive rate", "true positive rate", "AUC on the test rows")
    return figure


def plot_calibration(
    curves: Mapping[str, pd.DataFrame],
    errors: Mapping[str, float],
    titles: Mapping[str, str] | None = None,
    *,
    highlight: str = "xnn.refined",
    width: float = 5.0,
) -> Figure:
    """Draws observed rates against predicted probabilities.

    Args:
        curves: `predicted`, `observed` and `count` by model.
        errors: Calibration error by model; the smallest is named first.
        titles: What to call the models.
        highlight: The model that is drawn thick, and with two standard errors.
        width: In inches.

    Raises:
        InputError: If there is no curve, or one without an error.
    """
    _check_models(curves, errors)
    figure = style.figure_of(width, width)
    axes = figure.add_subplot(label="calibration")
    axes.plot([0, 1], [0, 1], **style.RULE, linestyle=":")
    for name in sorted(curves, key=lambda name: errors[name]):
        label = f"{errors[name]:.4f}  {_title(name, titles)}"
        look = _line(list(curves).index(name), name == highlight)
        x, rate = curves[name]["predicted"], curves[name]["observed"]
        axes.plot(x, rate, marker="o", markersize=2.5, label=label, **look)
        if name == highlight:
            error = _BAND * np.sqrt(rate * (1 - rate) / curves[name]["count"])
            axes.fill_between(
                x, rate - error, rate + error, color=style.PALE, linewidth=0
            )
    across, up = "predicted probability of approval", "observed approval rate"
    _finish(axes, across, up, "calibration error")
    return figure


def plot_marginals(
    marginals: Mapping[str, Marginal],
    labels: Mapping[str, Label] | None = None,
    *,
    width: float = 7.5,
) -> Figure:
    """Draws the approval rate by each feature, with two standard errors and counts.

    Args:
        marginals: As `marginal_rates` makes them.
        labels: Titles and units of the features.
        width: In inches; the height follows from the number of features.

    Raises:
        InputError: If there is no feature.
    """
    if not marginals:
        message = "There are no marginal rates to draw; pass at least one feature."
        raise InputError(message)
    lines = -(-len(marginals) // _COLUMNS)
    figure = style.figure_of(width, 2.1 * lines)
    cells = figure.subfigures(lines, _COLUMNS, squeeze=False).ravel()
    for cell, marginal in zip(cells, marginals.values(), strict=False):
        label = label_of(marginal.feature, labels)
        if marginal.numeric:
            _numeric_cell(cell, marginal, label)
        else:
            axes = cell.add_subplot(label=f"{marginal.feature}: rates")
            draw_marginal_bars(axes, marginal)
            axes.set_xlabel("approval rate", fontsize=style.TEXT)
            axes.set_title(style.plain(label.title), fontsize=style.TEXT, loc="left")
    return figure


def draw_marginal_rates(axes: Axes, marginal: Marginal) -> None:
    """Draws rates of a numeric feature with a band of two standard errors."""
    table = marginal.table
    low = (table["rate"] - _BAND * table["standard_error"]).clip(lower=0)
    high = (table["rate"] + _BAND * table["standard_error"]).clip(upper=1)
    axes.fill_between(table["value"], low, high, color=style.PALE, linewidth=0)
    axes.plot(
        table["value"],
        table["rate"],
        color=style.UP,
        linewidth=1.2,
        marker="o",
        markersize=2,
    )
    axes.set_ylim(bottom=0)
    style.percent_axis(axes)
    style.clean(axes)


def draw_marginal_counts(axes: Axes, marginal: Marginal) -> None:
    """Draws how dense the rows of each bin lie."""
    table = marginal.table
    # A bin reaches to the middle between its neighbours' values and its own.
    between = (table["high"].to_numpy()[:-1] + table["low"].to_numpy()[1:]) / 2
    ends = table["low"].iloc[0], table["high"].iloc[-1]
    edges = np.concatenate([ends[:1], between, ends[1:]])
    if len(between):
        single = table["low"].to_numpy() == table["high"].to_numpy()
        # The outer bins of single values are as wide as their neighbours.
        edges[0] -= single[0] * (between[0] - ends[0])
        edges[-1] += single[-1] * (ends[1] - between[-1])
        density = table["count"].to_numpy() / np.diff(edges)
        axes.stairs(density, edges, fill=True, color=style.ROWS)
    axes.set_yticks([])
    style.clean(axes, "left")


def draw_marginal_bars(axes: Axes, marginal: Marginal) -> None:
    """Draws rates of categories as bars with two standard errors."""
    table = marginal.table
    axes.barh(
        np.arange(len(table)),
        table["rate"],
        xerr=_BAND * table["standard_error"],
        color=style.PALE,
        edgecolor=style.UP,
        linewidth=0.6,
        error_kw={"elinewidth": 0.8, "ecolor": style.UP},
        height=0.7,
    )
    style.name_bars(axes, table["value"].tolist())
    axes.locator_params(axis="x", nbins=5)
    style.percent_axis(axes, "x")
    style.clean(axes)


def _numeric_cell(cell: SubFigure, marginal: Marginal, label: Label) -> None:
    rates, counts = cell.subplots(2, 1, sharex=True, height_ratios=(5, 1))
    rates.set_label(f"{marginal.feature}: rates")
    counts.set_label(f"{marginal.feature}: counts")
    draw_marginal_rates(rates, marginal)
    rates.tick_params(bottom=False)
    rates.set_ylabel("approval rate", fontsize=style.TEXT)
    draw_marginal_counts(counts, marginal)
    counts.set_xlabel(style.axis_title(label), fontsize=style.TEXT)
    style.own_ticks(counts, label.unit)


def _finish(axes: Axes, across: str, up: str, legend: str) -> None:
    """Makes a square of shares, with the models named in the lower right corner."""
    axes.set_aspect("equal")
    axes.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01))
    axes.set_xlabel(across, fontsize=style.TEXT)
    axes.set_ylabel(up, fontsize=style.TEXT)
    box = axes.legend(loc="lower right", fontsize=style.SMALL, title=legend)
    box.get_title().set_fontsize(style.SMALL)
    style.clean(axes)


def _corner(axes: Axes) -> Axes:
    """An enlarged view of the corner in which good models meet."""
    corner = axes.inset_axes((0.4, 0.5, 0.55, 0.42), label="roc: corner")
    corner.set(xlim=(0, 0.2), ylim=(0.8, 1.002))
    corner.tick_params(labelsize=style.SMALL - 1)
    corner.locator_params(nbins=4)
    axes.indicate_inset_zoom(corner, edgecolor="#555555", linewidth=0.6)
    return corner


def _check_models(curves: Mapping[str, Any], numbers: Mapping[str, float]) -> None:
    missing = [name for name in curves if name not in numbers]
    if not curves or missing:
        what = (
            f"The model {missing[0]!r} has no number"
            if missing
            else "No model is given"
        )
        message = f"{what}; pass a curve and a number for each model."
        raise InputError(message)


def _line(place: int, thick: bool) -> dict[str, Any]:
    colour, dashes = style.LINES[place % len(style.LINES)]
    if thick:
        return {"color": style.UP, "linestyle": "-", "linewidth": 2.2, "zorder": 3}
    return {"color": colour, "linestyle": dashes, "linewidth": 1.1}


def _title(name: str, titles: Mapping[str, str] | None) -> str:
    return style.plain((titles or {}).get(name, name))
