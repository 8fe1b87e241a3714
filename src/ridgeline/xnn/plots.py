"""Pictures of an explanation: components, importance ratios and single decisions.

Every function returns a matplotlib figure of its own, which `savefig` writes and a
notebook shows; matplotlib's global state is left alone. The label of each axes tells
which part of which component it shows.
"""

from textwrap import fill
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.gridspec import GridSpec
from numpy.typing import NDArray

from ridgeline import drawing
from ridgeline.errors import InputError
from ridgeline.xnn.components import (
    CategoryComponent,
    Component,
    PairComponent,
    RidgeComponent,
)
from ridgeline.xnn.explanation import Explanation, explain
from ridgeline.xnn.features import Features
from ridgeline.xnn.pair_plots import draw_pair
from ridgeline.xnn.scorer import HasScorer, Scorer

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "plot_contributions",
    "plot_explanation",
    "plot_importance",
]

Floats = NDArray[np.float64]
Explainable = Explanation | Scorer | HasScorer
_BAR: Final = 0.155  # inches; leaves a small name some air
_CURVE: Final = 1.45  # inches
_GAP: Final = 0.1  # inches between components
_FURNITURE: Final = 0.8  # inches of a component for title, ticks and label
_WIDTH: Final = 7.0  # inches, a page's text
_LINE: Final = 56  # characters of a title
_NEARLY_ALL: Final = 0.995  # of the rows, with which an axis ends ...
_WORTH_CUTTING: Final = 0.5  # ... if they have less than this share of it
_LONG_TAIL: Final = 0.1  # of the range of nearly all rows


def plot_explanation(
    model: Explainable, *, max_components: int | None = None, max_bars: int = 12
) -> Figure:
    """Draw the components in the paper's form, the most important first.

    A ridge component shows its function over the density of the training rows, beside
    the weights of its projection; a categorical one its effects beside the shares of
    the rows; a pair its surface, or one curve for each category. Where one feature
    makes up a projection, the axis has its own unit.

    Parameters
    ----------
    model : Explanation, Scorer, XNNClassifier or XNNRegressor
        A fitted model, or the explanation of one.
    max_components : int or None, default=None
        How many components to draw. None draws all.
    max_bars : int, default=12
        How many weights, or categories, to draw of a component: the largest.

    Returns
    -------
    Figure
        A matplotlib figure of its own.
    """
    explanation = _explanation_of(model)
    _check_positive(max_components=max_components, max_bars=max_bars)
    shown = explanation.components[:max_components]
    inner = [_inner_height(component, max_bars) for component in shown]
    size = _WIDTH, sum(inner) + _FURNITURE * max(len(shown), 1)
    if not shown:
        return drawing.empty_figure(*size)
    figure = drawing.new_figure(*size)
    ratios = [part for height in inner for part in (0.82 * height, 0.18 * height, _GAP)]
    grid = GridSpec(
        3 * len(shown), 2, figure, height_ratios=ratios, width_ratios=(1.25, 1)
    )
    for place, component in enumerate(shown):
        row = drawing.GridRow(figure, grid, place)
        if isinstance(component, RidgeComponent):
            _draw_ridge(row, component, explanation, max_bars)
        elif isinstance(component, PairComponent):
            _title(draw_pair(row, 0, component, explanation.unit), component)
        else:
            _draw_categories(row, component, explanation.unit, max_bars)
    weights = [c.weights for c in shown if isinstance(c, RidgeComponent)]
    reach = np.abs(np.concatenate([np.zeros(1), *weights])).max()
    drawing.share_projection_axis(figure, reach or 1.0)
    figure.align_ylabels()
    rest = explanation.components[len(shown) :]
    if rest:
        share = sum(component.importance for component in rest)
        note = f"not shown: {', '.join(c.name for c in rest)} (IR {share:.1%} in all)"
        figure.supxlabel(drawing.short(note, 2 * _LINE), fontsize=drawing.SMALL)
    return figure


def plot_importance(model: Explainable) -> Figure:
    """Draw importance ratios as bars; effects of categories are hatched.

    Parameters
    ----------
    model : Explanation, Scorer, XNNClassifier or XNNRegressor
        A fitted model, or the explanation of one.

    Returns
    -------
    Figure
        A matplotlib figure of its own.
    """
    explanation = _explanation_of(model)
    components = explanation.components
    height = 0.5 + 1.4 * _BAR * max(len(components), drawing.FEWEST_BARS)
    figure = drawing.new_figure(0.6 * _WIDTH, height)
    axes = figure.add_subplot(label="importance")
    bars = axes.barh(
        range(len(components)),
        [100 * component.importance for component in components],
        color=[drawing.ROWS if _categorical(c) else drawing.UP for c in components],
        edgecolor=["#555555" if _categorical(c) else drawing.UP for c in components],
        linewidth=0.6,
        hatch=["////" if _categorical(c) else "" for c in components],
        height=drawing.BAR,
    )
    axes.bar_label(bars, fmt="%.1f", padding=3, fontsize=drawing.SMALL)
    drawing.name_bars(axes, [component.name for component in components])
    axes.margins(x=0.12)
    note = "; hatched: categorical" if any(map(_categorical, components)) else ""
    axes.set_xlabel(f"importance ratio (%){note}", fontsize=drawing.TEXT)
    drawing.clean(axes)
    return figure


def plot_contributions(
    row: "pd.Series[Any] | pd.DataFrame",
    *,
    unit: str = "decision",
    max_components: int | None = None,
) -> Figure:
    """Draw how the components of one row lead from the intercept to the decision.

    Parameters
    ----------
    row : Series or DataFrame
        One row of `Explanation.contributions`.
    unit : str, default="decision"
        What the decision is measured in, such as `Explanation.unit`.
    max_components : int or None, default=None
        How many components to draw, those with the largest contributions; the others
        become one bar. None draws all.

    Returns
    -------
    Figure
        A matplotlib figure of its own.
    """
    _check_positive(max_components=max_components)
    steps = _steps(row, max_components)
    count = len(steps.names)
    figure = drawing.new_figure(0.75 * _WIDTH, 0.75 + 1.5 * _BAR * (count + 2))
    axes = figure.add_subplot(label="contributions")
    totals = steps.intercept + np.concatenate([[0.0], np.cumsum(steps.sizes)])
    ends = (totals[0], totals[-1])
    bars = axes.barh(
        range(1, count + 1),
        steps.sizes,
        left=totals[:-1],
        color=drawing.sign_colours(steps.sizes),
        height=0.62,
        zorder=2,
    )
    # Each total is handed down from the end of a bar to the start of the next.
    lines = np.arange(count + 1)
    axes.vlines(totals, lines, lines + 1, **drawing.RULE, zorder=1)
    axes.plot(ends, (0, count + 1), "D", color="black", markersize=4.5, zorder=3)
    digits = _digits(steps.sizes)
    labels = [_minus(f"{size:+.{digits}f}") for size in steps.sizes]
    axes.bar_label(bars, labels, padding=3, fontsize=drawing.SMALL)
    for line, total in zip((0, count + 1), ends, strict=True):
        text = "   " + _minus(f"{total:.{digits}f}")
        axes.text(total, line, text, va="center", fontsize=drawing.SMALL)
    drawing.name_bars(axes, ["intercept", *steps.names, "decision"])
    axes.use_sticky_edges = False
    axes.margins(x=0.12)
    axes.set_xlabel(drawing.short(unit, _LINE), fontsize=drawing.TEXT)
    drawing.clean(axes)
    return figure


def _explanation_of(model: Explainable) -> Explanation:
    return model if isinstance(model, Explanation) else explain(model)


class _Steps(NamedTuple):
    """What one decision is made of."""

    intercept: float
    names: list[str]
    sizes: Floats


def _draw_ridge(
    row: drawing.GridRow,
    component: RidgeComponent,
    explanation: Explanation,
    max_bars: int,
) -> None:
    """Draws a ridge function over its density, and its projection beside them."""
    shown = drawing.largest(component.weights, max_bars)
    axes = drawing.draw_ridge_beside_projection(
        row,
        0,
        component.name,
        curve=(component.x, component.curve),
        density=(component.heights, component.x_edges),
        weights=component.weights[shown],
        features=[component.feature_names[place] for place in shown],
        points=(component.levels, component.level_curve),
    )
    unit = fill(drawing.short(explanation.unit), 20)
    axes.curve.set_ylabel(unit, fontsize=drawing.TEXT)
    direction = explanation.scorer.features.monotone.get(component.feature or "", "")
    _title(axes.curve, component, direction)
    axes.density.margins(x=0.02)
    if len(component.levels):
        axes.density.locator_params(axis="x", integer=True)
    below = component.feature or "projected value z"
    beyond = _end_with_rows(axes, component, explanation.scorer.features)
    below = f"{drawing.short(below)} (grey: training rows{beyond})"
    axes.density.set_xlabel(below, fontsize=drawing.TEXT)
    drawing.short_ticks(axes.density)
    rest = _left_out(np.delete(component.weights, shown))
    axes.projection.set_xlabel(f"projection weight{rest}", fontsize=drawing.TEXT)


def _end_with_rows(
    axes: drawing.RidgeAxes, component: RidgeComponent, features: Features
) -> str:
    """Ends the axis of a heavy-tailed feature where its rows end, and says so."""
    name = component.feature
    if name not in features.numbers or len(component.levels):
        return ""
    scale = features.numbers[name].scale
    weight = component.weights[component.feature_names.index(name)]
    reached = np.concatenate([[0.0], np.cumsum(component.heights)])
    reached /= reached[-1] or 1.0
    tail = (1 - _NEARLY_ALL) / 2
    z = np.interp((tail, 1 - tail), reached, component.edges)
    # A weight below zero turns the axis round.
    low, high = np.sort(scale.inverse(z / weight))
    ends = np.sort(component.x[[0, -1]])
    if not 0 < high - low < _WORTH_CUTTING * (ends[1] - ends[0]):
        return ""
    # Only a long end is cut.
    reach = _LONG_TAIL * (high - low)
    cut = ends[0] < low - reach, ends[1] > high + reach
    low, high = low if cut[0] else ends[0], high if cut[1] else ends[1]
    inside = component.curve[(component.x >= low) & (component.x <= high)]
    axes.density.set_xlim(drawing.limits(np.array([low, high]), 0.02, 0.02))
    if len(inside):
        axes.curve.set_ylim(drawing.limits(inside, 0.08, 0.08))
    return f"; about {100 * tail * sum(cut):.2g} % lie beyond"


def _draw_categories(
    row: drawing.GridRow, component: CategoryComponent, unit: str, max_bars: int
) -> None:
    """Draws the effects of categories, and their shares of the rows beside them."""
    effects = row.add(0, f"{component.name}: effects")
    shown = drawing.largest(component.effects, max_bars)
    drawing.signed_bars(effects, component.effects[shown])
    effects.tick_params(left=False, labelleft=False)
    effects.grid(axis="y", color="#DDDDDD", linewidth=0.6)
    effects.set_axisbelow(True)
    effects.spines["left"].set_visible(False)
    rest = np.delete(component.effects, shown)
    effects.set_xlabel(drawing.short(unit) + _left_out(rest), fontsize=drawing.TEXT)
    _title(effects, component)
    # The names stand between the two, in line with those of the features.
    shares = row.add(1, f"{component.name}: shares", sharey=effects)
    percent = 100 * component.shares[shown]
    bars = shares.barh(
        range(len(shown)), percent, color=drawing.ROWS, height=drawing.BAR
    )
    shares.bar_label(bars, fmt="%.1f", padding=2, fontsize=drawing.SMALL)
    shares.margins(x=0.15)
    shares.set_xlabel("share of training rows (%)", fontsize=drawing.TEXT)
    drawing.clean(shares)
    drawing.name_bars(shares, [str(component.labels[place]) for place in shown])


def _steps(row: "pd.Series[Any] | pd.DataFrame", most: int | None) -> _Steps:
    """Orders the contributions by size; the smallest become one."""
    values = np.asarray(row, dtype=np.float64)
    names = [str(name) for name in (row.index if values.ndim == 1 else row.columns)]
    if values.size != len(names) or {"intercept", "decision"} - set(names):
        message = (
            f"The contributions have shape {values.shape} and the names {names}; pass "
            "one row of Explanation.contributions, such as frame.iloc[0]."
        )
        raise InputError(message)
    by_name = dict(zip(names, values.ravel().tolist(), strict=True))
    intercept = by_name.pop("intercept")
    del by_name["decision"]
    ordered = sorted(by_name.items(), key=lambda item: -abs(item[1]))
    kept = ordered[:most]
    rest = [value for _, value in ordered[len(kept) :]]
    if rest:
        kept.append((f"{len(rest)} others", sum(rest)))
    return _Steps(intercept, [n for n, _ in kept], np.array([v for _, v in kept]))


def _check_positive(**limits: int | None) -> None:
    for name, limit in limits.items():
        if limit is not None and limit < 1:
            message = f"{name} is {limit}; it must be at least 1."
            raise InputError(message)


def _digits(sizes: Floats) -> int:
    """Decimals that give the largest size three digits."""
    largest = np.abs(sizes).max(initial=0)
    return int(np.clip(2 - np.floor(np.log10(largest)), 0, 9)) if largest > 0 else 2


def _minus(number: str) -> str:
    return number.replace("-", "\N{MINUS SIGN}")


def _inner_height(component: Component, most: int) -> float:
    """Height of a component's axes, in inches."""
    if isinstance(component, RidgeComponent):
        return max(_CURVE, _BAR * min(len(component.weights), most))
    if isinstance(component, PairComponent):
        return 1.4 * _CURVE
    return max(0.5 * _CURVE, 1.2 * _BAR * min(len(component.effects), most))


def _categorical(component: Component) -> bool:
    return isinstance(component, CategoryComponent)


def _left_out(rest: Floats) -> str:
    """Says how many bars are not drawn, and how small they are."""
    if not len(rest):
        return ""
    size = np.abs(rest).max()
    small = f"up to about ±{size:.2g}" if size > 0 else "all zero"
    return f"\n({len(rest)} others, {small}, not shown)"


def _title(axes: Axes, component: Component, direction: str = "") -> None:
    said = f"IR {component.importance:.1%}" + (f", {direction}" if direction else "")
    title = f"{drawing.short(component.name, _LINE)} ({said})"
    axes.set_title(title, fontsize=drawing.TEXT + 1, loc="left")
