"""Figures of the report: marginal means of the target, and the network beside them.

The network is drawn as in the paper: marginal means, ridge functions and projections,
line by line. On simulated data the true part of the log-odds lies under each curve that
is a function of one feature.
"""

from collections.abc import Mapping
from textwrap import fill
from typing import Final, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.gridspec import GridSpec
from numpy.typing import NDArray

from ridgeline import drawing
from ridgeline.errors import InputError
from ridgeline.reporting.labels import (
    Label,
    category_texts,
    component_title,
    label_of,
)
from ridgeline.reporting.own_axis import OwnAxis, own_axis
from ridgeline.tables.description import TableDescription
from ridgeline.tables.report.labels import labels_of
from ridgeline.tables.report.marginals import Marginal
from ridgeline.tables.report.truth import TruthComparison
from ridgeline.xnn.components import (
    CategoryComponent,
    Component,
    PairComponent,
    RidgeComponent,
)
from ridgeline.xnn.explanation import explain
from ridgeline.xnn.pair_plots import draw_pair
from ridgeline.xnn.scorer import Scorer

__all__ = ["plot_explanation_beside_marginals", "plot_marginals"]

Floats = NDArray[np.float64]
_MARGINALS_WIDTH: Final = 7.5  # inches
_COLUMNS: Final = 3  # of marginals in a figure
_BAND: Final = 2  # standard errors
_WIDTH: Final = 9.6  # inches
_HEIGHT: Final = 2.05  # inches of a component
_SHOWN: Final = 0.99  # of the training rows; beyond them a curve rests on a handful
_BESIDE_LEVELS: Final = 0.5  # of a whole number
_LARGEST_DOT: Final = 50.0  # points squared
_MAX_BARS: Final = 12
_TITLE: Final = 48  # characters of a line


def plot_marginals(
    marginals: Mapping[str, Marginal], table: TableDescription
) -> Figure:
    """Draws the mean of the target by each feature, with two standard errors.

    Raises:
        InputError: If there is no feature.
    """
    if not marginals:
        message = "There are no marginal rates to draw; pass at least one feature."
        raise InputError(message)
    lines = -(-len(marginals) // _COLUMNS)
    figure = drawing.new_figure(_MARGINALS_WIDTH, 2.1 * lines)
    cells = figure.subfigures(lines, _COLUMNS, squeeze=False).ravel()
    for cell, marginal in zip(cells, marginals.values(), strict=False):
        if marginal.numeric:
            _numeric_cell(cell, marginal, table)
        else:
            axes = cell.add_subplot(label=f"{marginal.feature}: rates")
            _draw_bars(axes, marginal, table)
            axes.set_xlabel(table.rate, fontsize=drawing.TEXT)
            axes.set_title(
                drawing.short(_label(marginal.feature, table).title),
                fontsize=drawing.TEXT,
                loc="left",
            )
    return figure


def plot_explanation_beside_marginals(
    scorer: Scorer,
    marginals: Mapping[str, Marginal],
    truth: TruthComparison | None,
    table: TableDescription,
) -> Figure:
    """Draws each component beside the marginal rate of its leading feature.

    Raises:
        InputError: If a feature has no marginal rates.
    """
    shown = explain(scorer).components
    needed = [*scorer.features.names, *(c.name for c in shown if _is_special(c))]
    missing = [name for name in needed if name not in marginals]
    if missing:
        message = (
            f"The marginal rates lack {missing[0]!r}; pass those of all features: "
            f"{', '.join(needed)}."
        )
        raise InputError(message)
    size = _WIDTH, _HEIGHT * max(len(shown), 1) + 0.2
    if not shown:
        return drawing.empty_figure(*size)
    figure = drawing.new_figure(*size)
    ratios = [part for _ in shown for part in (0.8, 0.2, 0.1)]
    grid = GridSpec(3 * len(shown), 3, figure, height_ratios=ratios)
    grid.set_width_ratios((1, 1.4, 0.8))
    for place, component in enumerate(shown):
        line = _Line(drawing.GridRow(figure, grid, place), marginals, truth, table)
        if isinstance(component, RidgeComponent):
            _draw_ridge(line, component, scorer)
        elif isinstance(component, PairComponent):
            axes = draw_pair(line.row, 1, component, table.effect)
            _entitle(axes, component, table)
        else:
            _draw_categories(line, component)
    drawing.share_projection_axis(figure, 1.0)
    return figure


class _Line(NamedTuple):
    """Where a component is drawn, and with what beside it."""

    row: drawing.GridRow
    marginals: Mapping[str, Marginal]
    truth: TruthComparison | None
    table: TableDescription


def _numeric_cell(cell: SubFigure, marginal: Marginal, table: TableDescription) -> None:
    rates, counts = cell.subplots(2, 1, sharex=True, height_ratios=(5, 1))
    rates.set_label(f"{marginal.feature}: rates")
    counts.set_label(f"{marginal.feature}: counts")
    _draw_rates(rates, counts, marginal, table)


def _draw_rates(
    axes: Axes, below: Axes, marginal: Marginal, of: TableDescription
) -> None:
    """Draws means with a band of two standard errors, and how dense the rows lie."""
    table = marginal.table
    low = table["rate"] - _BAND * table["standard_error"]
    high = table["rate"] + _BAND * table["standard_error"]
    if not of.is_regression:
        low, high = low.clip(lower=0), high.clip(upper=1)
    axes.fill_between(table["value"], low, high, color=drawing.PALE, linewidth=0)
    axes.plot(
        table["value"],
        table["rate"],
        color=drawing.UP,
        linewidth=1.2,
        marker="o",
        markersize=2,
    )
    axes.set_ylabel(drawing.short(of.rate), fontsize=drawing.TEXT)
    axes.tick_params(bottom=False)
    if not of.is_regression:
        axes.set_ylim(bottom=0)
        drawing.percent_axis(axes)
    drawing.clean(axes)
    # A bin reaches to the middle between its neighbours' values and its own.
    between = (table["high"].to_numpy()[:-1] + table["low"].to_numpy()[1:]) / 2
    ends = table["low"].iloc[0], table["high"].iloc[-1]
    edges = np.concatenate([ends[:1], between, ends[1:]])
    if len(between):
        single = table["low"].to_numpy() == table["high"].to_numpy()
        # The outer bins of single values are as wide as their neighbours.
        edges[0] -= single[0] * (between[0] - ends[0])
        edges[-1] += single[-1] * (ends[1] - between[-1])
    drawing.draw_density(below, table["count"].to_numpy(), edges)
    _name_axis(below, _label(marginal.feature, of))


def _draw_bars(axes: Axes, marginal: Marginal, of: TableDescription) -> None:
    """Draws means of categories as bars with two standard errors."""
    table = marginal.table
    axes.barh(
        np.arange(len(table)),
        table["rate"],
        xerr=_BAND * table["standard_error"],
        color=drawing.PALE,
        edgecolor=drawing.UP,
        linewidth=0.6,
        error_kw={"elinewidth": 0.8, "ecolor": drawing.UP},
        height=drawing.BAR,
    )
    drawing.name_bars(axes, table["value"].tolist())
    axes.locator_params(axis="x", nbins=5)
    if not of.is_regression:
        drawing.percent_axis(axes, "x")
    drawing.clean(axes)


def _draw_ridge(line: _Line, component: RidgeComponent, scorer: Scorer) -> None:
    means = {
        name: marginal.mean
        for name, marginal in line.marginals.items()
        if marginal.mean is not None
    }
    own = own_axis(component, scorer.features, means)
    _draw_marginal(line, component.name, own)
    weights = drawing.largest(component.weights, _MAX_BARS)
    names = component.feature_names
    axes = drawing.draw_ridge_beside_projection(
        line.row,
        1,
        component.name,
        curve=(own.x, own.curve),
        density=(own.heights, own.edges),
        weights=component.weights[weights],
        features=[_label(names[at], line.table).title for at in weights],
        points=(own.levels, own.level_curve),
    )
    low, high = own.core(_SHOWN)
    x, curve = own.x, own.curve
    if len(own.levels):
        x, curve = own.levels, own.level_curve
        low, high = x[0] - _BESIDE_LEVELS, x[-1] + _BESIDE_LEVELS
    inside = curve[(x >= low) & (x <= high)]
    if own.dominated and line.truth is not None:
        found = _draw_true_curve(axes.curve, line.truth, own.feature, component.name)
        inside = np.concatenate([inside, found])
    axes.curve.set_xlim(drawing.limits(np.array([low, high]), 0.02, 0.02))
    if len(inside):
        axes.curve.set_ylim(drawing.limits(inside, 0.12, 0.08))
    axes.curve.set_ylabel(drawing.short(line.table.effect), fontsize=drawing.TEXT)
    _entitle(axes.curve, component, line.table)
    label = Label("projected value z")
    if own.dominated:
        label = _label(own.feature, line.table)
    _name_axis(axes.density, label)
    axes.projection.set_title("Projection weights", fontsize=drawing.TEXT, loc="left")


def _draw_marginal(line: _Line, name: str, own: OwnAxis) -> None:
    marginal = line.marginals[own.feature]
    if not marginal.numeric:  # of two categories, which projections take as numbers
        rates = line.row.add(0, f"{name}: rates")
        _draw_bars(rates, marginal, line.table)
        rates.set_title(_marginal_title(line.table), fontsize=drawing.TEXT, loc="left")
        return
    rates = line.row.add(0, f"{name}: rates", line=0)
    counts = line.row.add(0, f"{name}: counts", line=1, sharex=rates)
    _draw_rates(rates, counts, marginal, line.table)
    rates.set_title(_marginal_title(line.table), fontsize=drawing.TEXT, loc="left")
    rates.spines["bottom"].set_visible(False)
    rates.tick_params(labelbottom=False)
    if len(own.levels):
        ends = own.levels[[0, -1]] + (-_BESIDE_LEVELS, _BESIDE_LEVELS)
        rates.set_xlim(drawing.limits(ends, 0.02, 0.02))
    elif own.dominated:
        rates.set_xlim(drawing.limits(np.array(own.core(_SHOWN)), 0.02, 0.02))


def _draw_true_curve(
    axes: Axes, truth: TruthComparison, feature: str, component: str
) -> Floats:
    """Draws the truth as dots, sized by the rows at a value; returns their heights."""
    table = truth.curves[feature]
    table = table[table["share"] > 0]
    size = _LARGEST_DOT * np.sqrt(table["share"] / table["share"].max())
    axes.scatter(
        table["value"],
        table["log_odds"],
        s=size.clip(lower=4),
        color=drawing.TRUTH,
        alpha=0.55,
        linewidths=0,
        zorder=2,
    )
    _note_correlation(axes, truth, component)
    return _weighted_range(table)


def _weighted_range(table: pd.DataFrame) -> Floats:
    """Lowest and highest truth, but for the rarest hundredth of the rows either way."""
    ordered = table.sort_values("log_odds")
    reached = ordered["share"].cumsum().to_numpy()
    reached = reached / reached[-1]
    ends = np.searchsorted(reached, (0.005, 0.995)).clip(max=len(ordered) - 1)
    return np.asarray(ordered["log_odds"].to_numpy()[ends])


def _note_correlation(axes: Axes, truth: TruthComparison, component: str) -> None:
    by_name = truth.components.set_index("component")
    axes.set_title(
        f"truth: r = {by_name['correlation'][component]:.3f}",
        fontsize=drawing.SMALL,
        color=drawing.TRUTH,
        loc="right",
    )


def _draw_categories(line: _Line, component: CategoryComponent) -> None:
    """Draws rates, effects and shares of categories, in one order."""
    marginal = line.marginals[component.name]
    labels = labels_of(line.table)
    names = category_texts(component.categories, component.feature, labels)
    rates = line.row.add(0, f"{component.name}: rates")
    ordered = marginal.table.set_index("value").reindex(names).reset_index()
    _draw_bars(rates, Marginal(marginal.feature, None, ordered), line.table)
    rates.set_title(_marginal_title(line.table), fontsize=drawing.TEXT, loc="left")
    effects = line.row.add(1, f"{component.name}: effects", sharey=rates)
    drawing.signed_bars(effects, component.effects)
    effects.tick_params(left=False, labelleft=False)
    effects.set_xlabel(drawing.short(line.table.effect), fontsize=drawing.TEXT)
    _entitle(effects, component, line.table)
    # What a special value adds to its curve has no truth of its own.
    if line.truth is not None and not component.special:
        true = line.truth.curves[component.name].set_index("value")["log_odds"]
        places = np.arange(len(names))
        effects.plot(
            true.reindex(names), places, "D", color=drawing.TRUTH, markersize=4
        )
        _note_correlation(effects, line.truth, component.name)
    shares = line.row.add(2, f"{component.name}: shares", sharey=rates)
    bars = shares.barh(
        np.arange(len(names)), component.shares, color=drawing.ROWS, height=drawing.BAR
    )
    shares.bar_label(bars, fmt="{:.1%}", padding=2, fontsize=drawing.SMALL)
    shares.tick_params(left=False, labelleft=False)
    shares.margins(x=0.2)
    drawing.percent_axis(shares, "x")
    shares.set_title("Share of training rows", fontsize=drawing.TEXT, loc="left")
    drawing.clean(shares)


def _is_special(component: Component) -> bool:
    return isinstance(component, CategoryComponent) and component.special


def _marginal_title(table: TableDescription) -> str:
    return drawing.short(f"Marginal {table.rate}")


def _entitle(axes: Axes, component: Component, table: TableDescription) -> None:
    title = component_title(component, labels_of(table))
    title = drawing.short(f"{title}, IR {component.importance:.1%}", 2 * _TITLE)
    lines = fill(title, _TITLE)
    axes.set_title(lines, fontsize=drawing.TEXT, loc="left")


def _label(feature: str, table: TableDescription) -> Label:
    return label_of(feature, labels_of(table))


def _name_axis(axes: Axes, label: Label) -> None:
    """Gives a horizontal axis the title and the ticks of a feature."""
    axes.set_xlabel(drawing.axis_title(*label), fontsize=drawing.TEXT)
    drawing.unit_ticks(axes, label.unit)
