"""The paper's figure: marginal rates, ridge functions and projections, line by line.

On simulated data the true part of the log-odds lies under each curve that is a function
of one feature.
"""

from collections.abc import Mapping
from textwrap import fill
from typing import Any, Final, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.gridspec import GridSpec
from numpy.typing import NDArray

from ridgeline.errors import InputError
from ridgeline.reporting import style
from ridgeline.reporting.figures import (
    draw_marginal_bars,
    draw_marginal_counts,
    draw_marginal_rates,
)
from ridgeline.reporting.labels import (
    Label,
    OwnAxis,
    component_title,
    label_of,
    own_axis,
)
from ridgeline.reporting.marginals import Marginal
from ridgeline.reporting.truth import TruthComparison
from ridgeline.xnn.explanation import CategoryComponent, RidgeComponent, explain
from ridgeline.xnn.scorer import Scorer

__all__ = ["plot_explanation_beside_marginals"]

Floats = NDArray[np.float64]
_HEIGHT: Final = 2.05  # inches of a component
_SHOWN: Final = 0.99  # of the training rows; beyond them a curve rests on a handful
_LARGEST_DOT: Final = 50.0  # points squared
_MAX_BARS: Final = 12
_TITLE: Final = 48  # characters of a line


class _Line(NamedTuple):
    """Where a component is drawn, and with what beside it."""

    figure: Figure
    grid: GridSpec
    line: int
    marginals: Mapping[str, Marginal]
    truth: TruthComparison | None
    labels: Mapping[str, Label] | None
    unit: str

    def add(self, rows: slice | int, column: int, label: str, **more: Any) -> Axes:
        """Axes in the lines of the component."""
        if isinstance(rows, int):
            rows = slice(rows, rows + 1)
        place = self.grid[self.line + rows.start : self.line + rows.stop, column]
        axes: Axes = self.figure.add_subplot(place, label=label, **more)
        return axes


def plot_explanation_beside_marginals(
    scorer: Scorer,
    marginals: Mapping[str, Marginal],
    truth: TruthComparison | None = None,
    labels: Mapping[str, Label] | None = None,
    *,
    unit: str = "log-odds of approval",
    max_components: int | None = None,
    width: float = 9.6,
) -> Figure:
    """Draws each component beside the marginal rate of its leading feature.

    Args:
        scorer: The fitted model.
        marginals: Of all its features, as `marginal_rates` makes them.
        truth: On simulated data, the model against the truth.
        labels: Titles and units of the features.
        unit: What the components add up to.
        max_components: How many to draw, the most important; all without it.
        width: In inches; the height follows from the number of components.

    Raises:
        InputError: If a feature has no marginal rates.
    """
    missing = [name for name in scorer.features.names if name not in marginals]
    if missing:
        message = (
            f"The marginal rates lack {missing[0]!r}; pass those of all features: "
            f"{', '.join(scorer.features.names)}."
        )
        raise InputError(message)
    shown = explain(scorer).components[:max_components]
    figure = style.figure_of(width, _HEIGHT * max(len(shown), 1) + 0.2)
    if not shown:
        message = "No component is in use: every decision is the intercept."
        figure.text(0.5, 0.5, message, ha="center", va="center", fontsize=style.TEXT)
        return figure
    ratios = [part for _ in shown for part in (0.8, 0.2, 0.1)]
    grid = GridSpec(3 * len(shown), 3, figure, None, height_ratios=ratios)
    grid.set_width_ratios((1, 1.4, 0.8))
    for place, component in enumerate(shown):
        line = _Line(figure, grid, 3 * place, marginals, truth, labels, unit)
        if isinstance(component, RidgeComponent):
            _draw_ridge(line, component, scorer)
        else:
            _draw_categories(line, component)
    _share_projection_axis(figure)
    return figure


def _draw_ridge(line: _Line, component: RidgeComponent, scorer: Scorer) -> None:
    means = {
        name: marginal.mean
        for name, marginal in line.marginals.items()
        if marginal.mean is not None
    }
    axis = own_axis(component, scorer.features, means)
    label = label_of(axis.feature, line.labels)
    _draw_marginal(line, component.name, axis, label)
    curve = line.add(0, 1, f"{component.name}: curve")
    curve.axhline(0, **style.RULE, zorder=1)
    curve.plot(axis.x, axis.curve, color=style.UP, linewidth=1.8, zorder=3)
    low, high = axis.core(_SHOWN)
    inside = axis.curve[(axis.x >= low) & (axis.x <= high)]
    if axis.dominated and line.truth is not None:
        found = _draw_true_curve(curve, line.truth, axis.feature, component.name)
        inside = np.concatenate([inside, found])
    _limit(curve, (low, high), inside)
    curve.set_ylabel(style.plain(line.unit), fontsize=style.TEXT)
    _entitle(curve, component, line.labels)
    style.clean(curve, "bottom")
    curve.tick_params(bottom=False, labelbottom=False)
    strip = line.add(1, 1, f"{component.name}: density", sharex=curve)
    density = axis.heights / np.maximum(np.diff(axis.edges), np.finfo(float).tiny)
    strip.stairs(density, axis.edges, fill=True, color=style.ROWS)
    strip.set_yticks([])
    style.clean(strip, "left")
    own = style.axis_title(label) if axis.dominated else "projected value z"
    strip.set_xlabel(own, fontsize=style.TEXT)
    style.own_ticks(strip, label.unit if axis.dominated else "")
    _draw_projection(line, component)


def _draw_marginal(line: _Line, name: str, axis: OwnAxis, label: Label) -> None:
    marginal = line.marginals[axis.feature]
    rates = line.add(0, 0, f"{name}: rates")
    draw_marginal_rates(rates, marginal)
    rates.set_ylabel("approval rate", fontsize=style.TEXT)
    rates.set_title("Marginal approval rate", fontsize=style.TEXT, loc="left")
    rates.spines["bottom"].set_visible(False)
    rates.tick_params(bottom=False, labelbottom=False)
    counts = line.add(1, 0, f"{name}: counts", sharex=rates)
    draw_marginal_counts(counts, marginal)
    counts.set_xlabel(style.axis_title(label), fontsize=style.TEXT)
    if axis.dominated:
        low, high = axis.core(_SHOWN)
        rates.set_xlim(low - 0.02 * (high - low), high + 0.02 * (high - low))
    style.own_ticks(counts, label.unit)


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
        color=style.TRUTH,
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
    rows = truth.components[truth.components["component"] == component]
    if rows.empty:
        return
    axes.set_title(
        f"truth: r = {rows['correlation'].iloc[0]:.3f}",
        fontsize=style.SMALL,
        color=style.TRUTH,
        loc="right",
    )


def _draw_projection(line: _Line, component: RidgeComponent) -> None:
    axes = line.add(slice(0, 2), 2, f"{component.name}: projection")
    weights = component.weights
    largest = np.arange(len(weights))
    if len(weights) > _MAX_BARS:
        largest = np.argsort(-np.abs(weights), kind="stable")[:_MAX_BARS]
    _signed_bars(axes, weights[largest])
    titles = [
        label_of(component.feature_names[place], line.labels).title for place in largest
    ]
    style.name_bars(axes, titles)
    axes.set_title("Projection weights", fontsize=style.TEXT, loc="left")


def _draw_categories(line: _Line, component: CategoryComponent) -> None:
    """Draws rates, effects and shares of categories, in one order."""
    marginal = line.marginals[component.name]
    names = list(component.categories)
    rates = line.add(slice(0, 2), 0, f"{component.name}: rates")
    ordered = marginal.table.set_index("value").reindex(names).reset_index()
    draw_marginal_bars(rates, Marginal(marginal.feature, None, ordered))
    rates.set_title("Marginal approval rate", fontsize=style.TEXT, loc="left")
    effects = line.add(slice(0, 2), 1, f"{component.name}: effects", sharey=rates)
    _signed_bars(effects, component.effects)
    effects.tick_params(left=False, labelleft=False)
    effects.set_xlabel(style.plain(line.unit), fontsize=style.TEXT)
    _entitle(effects, component, line.labels)
    if line.truth is not None:
        true = line.truth.curves[component.name].set_index("value")["log_odds"]
        places = np.arange(len(names))
        effects.plot(true.reindex(names), places, "D", color=style.TRUTH, markersize=4)
        _note_correlation(effects, line.truth, component.name)
    shares = line.add(slice(0, 2), 2, f"{component.name}: shares", sharey=rates)
    bars = shares.barh(
        np.arange(len(names)), component.shares, color=style.ROWS, height=0.7
    )
    shares.bar_label(bars, fmt="{:.1%}", padding=2, fontsize=style.SMALL)
    shares.tick_params(left=False, labelleft=False)
    shares.margins(x=0.2)
    style.percent_axis(shares, "x")
    shares.set_title("Share of training rows", fontsize=style.TEXT, loc="left")
    style.clean(shares)


def _entitle(
    axes: Axes,
    component: RidgeComponent | CategoryComponent,
    labels: Mapping[str, Label] | None,
) -> None:
    title = f"{component_title(component, labels)}, IR {component.importance:.1%}"
    lines = fill(style.plain(title, 2 * _TITLE), _TITLE)
    axes.set_title(lines, fontsize=style.TEXT, loc="left")


def _signed_bars(axes: Axes, values: Floats) -> None:
    colours = [style.UP if value >= 0 else style.DOWN for value in values]
    axes.barh(np.arange(len(values)), values, color=colours, height=0.7, zorder=2)
    axes.axvline(0, **style.RULE, zorder=1)
    axes.locator_params(axis="x", nbins=6)
    style.clean(axes)


def _limit(axes: Axes, across: tuple[float, float], values: Floats) -> None:
    """Shows the range that has rows, with a margin."""
    width = across[1] - across[0]
    if width > 0:
        axes.set_xlim(across[0] - 0.02 * width, across[1] + 0.02 * width)
    height = float(np.ptp(values)) if len(values) else 0.0
    if height > 0:
        axes.set_ylim(values.min() - 0.12 * height, values.max() + 0.08 * height)


def _share_projection_axis(figure: Figure) -> None:
    """Gives all projections one axis, so that weights compare."""
    for axes in figure.axes:
        if str(axes.get_label()).endswith(": projection"):
            axes.set_xlim(-1.08, 1.08)
