"""Pictures of an explanation: components, importance ratios and single decisions.

Every function returns a matplotlib figure of its own, which `savefig` writes and a
notebook shows; matplotlib's global state is left alone. The label of each axes tells
which part of which component it shows.
"""

from collections.abc import Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.gridspec import GridSpec
from matplotlib.layout_engine import ConstrainedLayoutEngine
from numpy.typing import NDArray

from ridgeline.errors import InputError
from ridgeline.xnn.explanation import CategoryComponent, Explanation, RidgeComponent

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["plot_contributions", "plot_explanation", "plot_importance"]

Floats = NDArray[np.float64]
# Paul Tol's high-contrast colours: as far apart in grey as for the colour-blind.
_UP: Final = "#004488"
_DOWN: Final = "#DDAA33"
_ROWS: Final = "#BBBBBB"
_RULE: Final[dict[str, Any]] = {"color": "#555555", "linewidth": 0.6}
_TEXT: Final = 8.0  # points
_SMALL: Final = 7.0
_LONGEST: Final = 28  # characters of a name
_BAR: Final = 0.155  # inches; leaves a name of _SMALL points some air
_CURVE: Final = 1.45  # inches
_GAP: Final = 0.1  # inches between components
_FURNITURE: Final = 0.8  # inches of a component for title, ticks and label
_THICKEST: Final = 5  # fewer bars than these do not grow thicker
_WIDTH: Final = 7.0  # inches, a page's text


def plot_explanation(
    explanation: Explanation,
    *,
    max_components: int | None = None,
    max_bars: int = 12,
    width: float = _WIDTH,
) -> Figure:
    """Draws the components in the paper's form, the most important first.

    A ridge component shows its function over the density of the training rows, beside
    the weights of its projection; a categorical one its effects beside the shares of
    the rows.

    Args:
        explanation: Of a fitted network.
        max_components: How many to draw; all without it.
        max_bars: How many weights, or categories, to draw of a component: the largest.
        width: In inches; the height follows from what is drawn.

    Raises:
        InputError: If fewer than one component, or bar, is asked for.
    """
    _check_positive(max_components=max_components, max_bars=max_bars)
    shown = explanation.components[:max_components]
    inner = [_inner_height(component, max_bars) for component in shown]
    figure = _figure(width, sum(inner) + _FURNITURE * max(len(shown), 1))
    if not shown:
        message = "No component is in use: every decision is the intercept."
        figure.text(0.5, 0.5, message, ha="center", va="center", fontsize=_TEXT)
        return figure
    # Two lines for a component, and a low one that keeps the next at a distance.
    ratios = [part for height in inner for part in (0.82 * height, 0.18 * height, _GAP)]
    grid = GridSpec(
        3 * len(shown), 2, figure, height_ratios=ratios, width_ratios=(1.25, 1)
    )
    for row, component in enumerate(shown):
        cell = _Cell(figure, grid, 3 * row)
        if isinstance(component, RidgeComponent):
            _draw_ridge(cell, component, explanation.unit, max_bars)
        else:
            _draw_categories(cell, component, explanation.unit, max_bars)
    _align(figure, shown)
    rest = explanation.components[len(shown) :]
    if rest:
        share = sum(component.importance for component in rest)
        note = f"not shown: {', '.join(c.name for c in rest)} (IR {share:.1%} in all)"
        figure.supxlabel(_short(note, 4 * _LONGEST), fontsize=_SMALL)
    return figure


def plot_importance(explanation: Explanation, *, width: float = 0.6 * _WIDTH) -> Figure:
    """Draws importance ratios as bars; categorical features are hatched.

    Args:
        explanation: Of a fitted network.
        width: In inches; the height follows from the number of components.
    """
    components = explanation.components
    figure = _figure(width, 0.5 + 1.4 * _BAR * max(len(components), _THICKEST))
    axes = figure.add_subplot(label="importance")
    bars = axes.barh(
        range(len(components)),
        [100 * component.importance for component in components],
        color=[_ROWS if _categorical(c) else _UP for c in components],
        edgecolor=["#555555" if _categorical(c) else _UP for c in components],
        linewidth=0.6,
        hatch=["////" if _categorical(c) else "" for c in components],
        height=0.7,
    )
    axes.bar_label(bars, fmt="%.1f", padding=3, fontsize=_SMALL)
    _name_bars(axes, [component.name for component in components])
    axes.margins(x=0.12)
    note = "; hatched: categorical" if any(map(_categorical, components)) else ""
    axes.set_xlabel(f"importance ratio (%){note}", fontsize=_TEXT)
    _clean(axes)
    return figure


def plot_contributions(
    row: "pd.Series[Any] | pd.DataFrame",
    *,
    unit: str = "decision",
    max_components: int | None = None,
    width: float = 0.75 * _WIDTH,
) -> Figure:
    """Draws how the components of one row lead from the intercept to the decision.

    Args:
        row: One row of a `contributions_frame`.
        unit: What the decision is measured in, `Explanation.unit`.
        max_components: How many to draw, the largest contributions; the others
            become one bar. All without it.
        width: In inches; the height follows from the number of components.

    Raises:
        InputError: If there is not exactly one row, or fewer than one component is
            asked for.
    """
    _check_positive(max_components=max_components)
    steps = _steps(row, max_components)
    count = len(steps.names)
    figure = _figure(width, 0.75 + 1.5 * _BAR * (count + 2))
    axes = figure.add_subplot(label="contributions")
    totals = steps.intercept + np.concatenate([[0.0], np.cumsum(steps.sizes)])
    ends = (totals[0], totals[-1])
    bars = axes.barh(
        range(1, count + 1),
        steps.sizes,
        left=totals[:-1],
        color=[_UP if size >= 0 else _DOWN for size in steps.sizes],
        height=0.62,
        zorder=2,
    )
    # Each total is handed down from the end of a bar to the start of the next.
    lines = np.arange(count + 1)
    axes.vlines(totals, lines, lines + 1, **_RULE, zorder=1)
    axes.plot(ends, (0, count + 1), "D", color="black", markersize=4.5, zorder=3)
    digits = _digits(steps.sizes)
    labels = [_minus(f"{size:+.{digits}f}") for size in steps.sizes]
    axes.bar_label(bars, labels, padding=3, fontsize=_SMALL)
    for line, total in zip((0, count + 1), ends, strict=True):
        text = "   " + _minus(f"{total:.{digits}f}")
        axes.text(total, line, text, va="center", fontsize=_SMALL)
    _name_bars(axes, ["intercept", *steps.names, "decision"])
    axes.use_sticky_edges = False
    axes.margins(x=0.12)
    axes.set_xlabel(_short(unit, 2 * _LONGEST), fontsize=_TEXT)
    _clean(axes)
    return figure


class _Cell(NamedTuple):
    """Where a component is drawn: in a high and a low line of the grid."""

    figure: Figure
    grid: GridSpec
    line: int

    def add(self, column: int, label: str, sharey: Axes | None = None) -> Axes:
        """Axes over both lines of a column."""
        place = self.grid[self.line : self.line + 2, column]
        return self.figure.add_subplot(place, label=label, sharey=sharey)


class _Steps(NamedTuple):
    """What one decision is made of."""

    intercept: float
    names: list[str]
    sizes: Floats


def _draw_ridge(
    cell: _Cell, component: RidgeComponent, unit: str, max_bars: int
) -> None:
    """Draws a ridge function over its density, and its projection beside them."""
    figure, grid, line = cell
    name = component.name
    curve = figure.add_subplot(grid[line, 0], label=f"{name}: curve")
    curve.axhline(0, **_RULE, zorder=1)
    curve.plot(component.z, component.curve, color=_UP, linewidth=1.6, zorder=2)
    curve.set_ylabel(fill(_short(unit), 20), fontsize=_TEXT)
    _title(curve, component)
    _clean(curve, "bottom")
    curve.tick_params(bottom=False, labelbottom=False)
    strip = figure.add_subplot(
        grid[line + 1, 0], sharex=curve, label=f"{name}: density"
    )
    strip.stairs(component.bin_density, component.edges, fill=True, color=_ROWS)
    strip.set_yticks([])
    strip.margins(x=0.02)
    strip.set_xlabel("projected value z (grey: training rows)", fontsize=_TEXT)
    _clean(strip, "left")

    weights = cell.add(1, f"{name}: projection")
    largest = _largest(component.weights, max_bars)
    _signed_bars(weights, component.weights[largest])
    _name_bars(weights, [component.feature_names[place] for place in largest])
    rest = np.delete(component.weights, largest)
    weights.set_xlabel("projection weight" + _left_out(rest), fontsize=_TEXT)


def _draw_categories(
    cell: _Cell, component: CategoryComponent, unit: str, max_bars: int
) -> None:
    """Draws the effects of categories, and their shares of the rows beside them."""
    effects = cell.add(0, f"{component.name}: effects")
    largest = _largest(component.effects, max_bars)
    _signed_bars(effects, component.effects[largest])
    effects.tick_params(left=False, labelleft=False)
    effects.grid(axis="y", color="#DDDDDD", linewidth=0.6)
    effects.set_axisbelow(True)
    effects.spines["left"].set_visible(False)
    rest = np.delete(component.effects, largest)
    effects.set_xlabel(_short(unit) + _left_out(rest), fontsize=_TEXT)
    _title(effects, component)
    # The names stand between the two, in line with those of the features.
    shares = cell.add(1, f"{component.name}: shares", sharey=effects)
    percent = 100 * component.shares[largest]
    bars = shares.barh(range(len(largest)), percent, color=_ROWS, height=0.7)
    shares.bar_label(bars, fmt="%.1f", padding=2, fontsize=_SMALL)
    shares.margins(x=0.15)
    shares.set_xlabel("share of training rows (%)", fontsize=_TEXT)
    _clean(shares)
    _name_bars(shares, [str(component.categories[place]) for place in largest])


def _align(figure: Figure, shown: Sequence[RidgeComponent | CategoryComponent]) -> None:
    """Gives all projections one axis, so that weights compare."""
    weights = [c.weights for c in shown if isinstance(c, RidgeComponent)]
    largest = np.abs(np.concatenate([np.zeros(1), *weights])).max()
    for axes in figure.axes:
        if str(axes.get_label()).endswith(": projection") and largest > 0:
            axes.set_xlim(-1.08 * largest, 1.08 * largest)
    figure.align_ylabels()


def _steps(row: "pd.Series[Any] | pd.DataFrame", most: int | None) -> _Steps:
    """Orders the contributions by size; the smallest become one."""
    values = np.asarray(row, dtype=np.float64)
    names = [str(name) for name in (row.index if values.ndim == 1 else row.columns)]
    if values.size != len(names) or {"intercept", "decision"} - set(names):
        message = (
            f"The contributions have shape {values.shape} and the names {names}; pass "
            "one row of a contributions_frame, such as frame.iloc[0]."
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


def _figure(width: float, height: float) -> Figure:
    layout = ConstrainedLayoutEngine(h_pad=0.04, w_pad=0.04, hspace=0.0, wspace=0.02)
    return Figure(figsize=(width, height), layout=layout)


def _inner_height(component: RidgeComponent | CategoryComponent, most: int) -> float:
    """Height of a component's axes, in inches."""
    if isinstance(component, RidgeComponent):
        return max(_CURVE, _BAR * min(len(component.weights), most))
    return max(0.5 * _CURVE, 1.2 * _BAR * min(len(component.effects), most))


def _categorical(component: RidgeComponent | CategoryComponent) -> bool:
    return isinstance(component, CategoryComponent)


def _largest(values: Floats, most: int) -> NDArray[np.intp]:
    """Places of all values, or of the largest of many, by size."""
    if len(values) <= most:
        return np.arange(len(values))
    return np.argsort(-np.abs(values), kind="stable")[:most]


def _left_out(rest: Floats) -> str:
    """Says how many bars are not drawn, and how small they are."""
    if not len(rest):
        return ""
    size = np.abs(rest).max()
    small = f"up to about ±{size:.2g}" if size > 0 else "all zero"
    return f"\n({len(rest)} others, {small}, not shown)"


def _signed_bars(axes: Axes, values: Floats) -> None:
    colours = [_UP if value >= 0 else _DOWN for value in values]
    axes.barh(range(len(values)), values, color=colours, height=0.7, zorder=2)
    axes.axvline(0, **_RULE, zorder=1)
    axes.locator_params(axis="x", nbins=6)
    _clean(axes)


def _name_bars(axes: Axes, names: Sequence[str]) -> None:
    """Names bars from the top down."""
    axes.set_yticks(range(len(names)), [_short(name) for name in names])
    room = 0.6 + max(_THICKEST - len(names), 0) / 2
    axes.set_ylim(len(names) - 1 + room, -room)
    axes.tick_params(axis="y", length=0)


def _title(axes: Axes, component: RidgeComponent | CategoryComponent) -> None:
    title = f"{_short(component.name, 2 * _LONGEST)} (IR {component.importance:.1%})"
    axes.set_title(title, fontsize=_TEXT + 1, loc="left")


def _clean(axes: Axes, *also: str) -> None:
    axes.spines[["top", "right", *also]].set_visible(False)
    axes.tick_params(labelsize=_SMALL)


def _short(name: str, longest: int = _LONGEST) -> str:
    """A name as it is drawn: its middle left out if long, its dollars as dollars."""
    name = " ".join(str(name).split())
    if len(name) > longest:
        tail = longest // 3
        name = f"{name[: longest - tail - 1]}…{name[-tail:]}"
    return name.replace("$", r"\$")
