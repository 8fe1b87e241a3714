"""The drawing kit: what all figures of the house share in look and in form.

Figures are their own, which `savefig` writes and a notebook shows; matplotlib's global
state is left alone. The label of each axes tells which part of which component it
shows, such as "ridge 1: curve".
"""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.gridspec import GridSpec
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import EngFormatter, FuncFormatter, PercentFormatter
from numpy.typing import NDArray

__all__ = [
    "BAR",
    "DOWN",
    "FEWEST_BARS",
    "LINES",
    "PALE",
    "ROWS",
    "RULE",
    "SMALL",
    "TEXT",
    "TRUTH",
    "UP",
    "GridRow",
    "RidgeAxes",
    "axis_title",
    "clean",
    "draw_curve",
    "draw_density",
    "draw_points",
    "draw_ridge_beside_projection",
    "empty_figure",
    "largest",
    "limits",
    "name_bars",
    "new_figure",
    "percent_axis",
    "share_projection_axis",
    "short",
    "short_ticks",
    "sign_colours",
    "signed_bars",
    "unit_ticks",
]

Floats = NDArray[np.float64]

# Paul Tol's high-contrast colours: as far apart in grey as for the colour-blind.
UP: Final = "#004488"
DOWN: Final = "#DDAA33"
TRUTH: Final = "#BB5566"
ROWS: Final = "#BBBBBB"
PALE: Final = "#BFD0E4"
RULE: Final[dict[str, Any]] = {"color": "#555555", "linewidth": 0.6}
TEXT: Final = 8.0  # points
SMALL: Final = 7.0
# Tol's vibrant colours, with dashes that tell the lines apart in grey.
LINES: Final[Sequence[tuple[str, Any]]] = (
    ("#0077BB", "-"),
    ("#CC3311", (0, (5, 1.5))),
    ("#009988", (0, (3, 1, 1, 1))),
    ("#EE7733", (0, (1, 1))),
    ("#33BBEE", (0, (7, 2, 2, 2))),
    ("#EE3377", (0, (4, 1))),
    ("#777777", (0, (2, 1))),
    ("#AA4499", "-."),
    ("#999933", "--"),
    ("#222222", ":"),
)
BAR: Final = 0.7  # of the distance between two bars
FEWEST_BARS: Final = 5  # fewer bars than these do not grow thicker
_LARGE: Final = 1e5  # number that takes too much room as it is
_LONGEST: Final = 30  # characters of a name
_POINT: Final = 4.5  # points across


def new_figure(width: float, height: float) -> Figure:
    """Makes a figure, in inches, that lays itself out."""
    layout = ConstrainedLayoutEngine(h_pad=0.04, w_pad=0.04, hspace=0.0, wspace=0.02)
    return Figure(figsize=(width, height), layout=layout)


def empty_figure(width: float, height: float) -> Figure:
    """Makes the figure of a model that has no component to draw."""
    figure = new_figure(width, height)
    message = "No component is in use: every decision is the intercept."
    figure.text(0.5, 0.5, message, ha="center", va="center", fontsize=TEXT)
    return figure


def clean(axes: Axes, *also: str) -> None:
    """Leaves the lines that carry a scale, and small ticks."""
    axes.spines[["top", "right", *also]].set_visible(False)
    axes.tick_params(labelsize=SMALL)


def short(name: object, longest: int = _LONGEST) -> str:
    """A name as it is drawn: its middle left out if long, its dollars as dollars."""
    text = " ".join(str(name).split())
    if len(text) > longest:
        tail = longest // 3
        text = f"{text[: longest - tail - 1]}…{text[-tail:]}"
    return text.replace("$", r"\$")


def axis_title(title: str, unit: str) -> str:
    """The title of a feature with its unit, if it has one."""
    own = f" ({unit})" if unit else ""
    return short(title) + own.replace("$", r"\$")


def unit_ticks(axes: Axes, unit: str) -> None:
    """Writes the ticks of the horizontal axis as the unit is written."""
    axes.locator_params(axis="x", nbins=5)
    if unit == "$":
        thousands = FuncFormatter(lambda value, _: f"{value:,.0f}")
        axes.xaxis.set_major_formatter(thousands)
    elif unit == "years":
        axes.locator_params(axis="x", nbins=5, integer=True)
    elif unit == "year":
        axes.locator_params(axis="x", nbins=5, integer=True)
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.0f}"))


def short_ticks(axes: Axes) -> None:
    """Writes large numbers below the axis as 200k and 1M.

    matplotlib would write a factor at its end instead, across the label.
    """
    if max(map(abs, axes.get_xlim())) >= _LARGE:
        axes.xaxis.set_major_formatter(EngFormatter(sep=""))


def percent_axis(axes: Axes, which: str = "y") -> None:
    """Writes shares as percentages."""
    axis = axes.yaxis if which == "y" else axes.xaxis
    axis.set_major_formatter(PercentFormatter(1, decimals=0))


def limits(values: Floats, below: float, above: float) -> tuple[float, float]:
    """The range of the values, with shares of it as margins; one value has 1."""
    reach = float(np.ptp(values)) or 1.0
    return float(values.min()) - below * reach, float(values.max()) + above * reach


def largest(values: Floats, most: int) -> NDArray[np.intp]:
    """Places of all values, or of the largest of many, by size."""
    if len(values) <= most:
        return np.arange(len(values))
    return np.argsort(-np.abs(values), kind="stable")[:most]


def sign_colours(values: Floats) -> list[str]:
    """A colour for each value: what adds, and what takes away."""
    return [UP if value >= 0 else DOWN for value in values]


def signed_bars(
    axes: Axes, values: Floats, *, upright: bool = False, thickness: float = BAR
) -> None:
    """Draws bars from zero to either side, in the colours of their signs."""
    draw, rule = (axes.bar, axes.axhline) if upright else (axes.barh, axes.axvline)
    places = np.arange(len(values))
    draw(places, values, thickness, color=sign_colours(values), zorder=2)
    rule(0, **RULE, zorder=1)
    axes.locator_params(axis="y" if upright else "x", nbins=6)
    clean(axes)


def name_bars(axes: Axes, names: Sequence[object]) -> None:
    """Names horizontal bars from the top down."""
    axes.set_yticks(np.arange(len(names)), [short(name) for name in names])
    room = 0.6 + max(FEWEST_BARS - len(names), 0) / 2
    axes.set_ylim(len(names) - 1 + room, -room)
    axes.tick_params(axis="y", length=0)


def draw_curve(
    axes: Axes, x: Floats, curve: Floats, *, colour: str = UP, thickness: float = 1.8
) -> None:
    """Draws a ridge function over the line at which it adds nothing."""
    axes.axhline(0, **RULE, zorder=1)
    axes.plot(x, curve, color=colour, linewidth=thickness, zorder=3)
    clean(axes)


def draw_points(axes: Axes, x: Floats, curve: Floats, *, colour: str = UP) -> None:
    """Draws a ridge function at the few values that there are, and none between."""
    axes.axhline(0, **RULE, zorder=1)
    axes.plot(x, curve, "o:", color=colour, linewidth=0.8, markersize=_POINT, zorder=3)
    clean(axes)


def draw_density(axes: Axes, counts: Floats, edges: Floats) -> None:
    """Draws how dense the rows of each bin lie, without a scale of its own."""
    widths = np.diff(edges)
    empty = np.zeros(len(widths))
    density = np.divide(counts, widths, out=empty, where=widths > 0)
    axes.stairs(density, edges, fill=True, color=ROWS)
    axes.set_yticks([])
    clean(axes, "left")


class GridRow(NamedTuple):
    """Where a component is drawn: in two lines of a grid, a high and a low one.

    Below them is a third that keeps the next component at a distance.
    """

    figure: Figure
    grid: GridSpec
    place: int  # of the component, from the top

    def add(
        self, column: int, label: str, line: int | None = None, **more: Any
    ) -> Axes:
        """Adds axes in one of the lines, or over both."""
        first = 3 * self.place
        lines = slice(first, first + 2) if line is None else first + line
        axes: Axes = self.figure.add_subplot(
            self.grid[lines, column], label=label, **more
        )
        return axes


class RidgeAxes(NamedTuple):
    """The axes of a ridge component."""

    curve: Axes
    density: Axes  # below the curve, on its axis
    projection: Axes


def draw_ridge_beside_projection(
    row: GridRow,
    column: int,
    name: str,
    *,
    curve: tuple[Floats, Floats],
    density: tuple[Floats, Floats],
    weights: Floats,
    features: Sequence[object],
    points: tuple[Floats, Floats] | None = None,
) -> RidgeAxes:
    """Draws a ridge function over the density of the rows, beside its projection.

    Args:
        column: Of the ridge function; the projection has the next.
        curve: Where the function is drawn, and its values there.
        density: How many rows each bin has, and the edges of the bins.
        points: Where there are values of few levels, and the function there; drawn
            instead of the curve.

    Returns:
        The axes, to be given titles and limits.
    """
    upper = row.add(column, f"{name}: curve", line=0)
    if points is not None and len(points[0]):
        draw_points(upper, *points)
        density = _by_level(*density, points[0])
    else:
        draw_curve(upper, *curve)
        density = _with_whole_ends(*density)
    upper.spines["bottom"].set_visible(False)
    upper.tick_params(bottom=False, labelbottom=False)
    lower = row.add(column, f"{name}: density", line=1, sharex=upper)
    draw_density(lower, *density)
    beside = row.add(column + 1, f"{name}: projection")
    signed_bars(beside, weights)
    name_bars(beside, features)
    return RidgeAxes(upper, lower, beside)


def _by_level(counts: Floats, edges: Floats, levels: Floats) -> tuple[Floats, Floats]:
    """Rows of each level, in a bin about it, from bins that are not made for levels."""
    between = (levels[1:] + levels[:-1]) / 2
    at = np.searchsorted(between, (edges[1:] + edges[:-1]) / 2)
    rows = np.bincount(at, counts, minlength=len(levels)).astype(np.float64)
    first, last = 2 * levels[0] - between[0], 2 * levels[-1] - between[-1]
    return rows, np.concatenate([[first], between, [last]])


def _with_whole_ends(counts: Floats, edges: Floats) -> tuple[Floats, Floats]:
    """Joins a bin that the end of the axis cuts off to its neighbour.

    A sliver of a bin would tower above all others.
    """
    for end, beside in ((0, 1), (-1, -2)):
        widths = np.abs(np.diff(edges))
        if len(widths) > 2 and widths[end] < widths[beside] / 2:  # noqa: PLR2004
            counts = counts.copy()
            counts[beside] += counts[end]
            counts, edges = np.delete(counts, end), np.delete(edges, beside)
    return counts, edges


def share_projection_axis(figure: Figure, reach: float) -> None:
    """Gives all projections of a figure one axis, so that weights compare."""
    for axes in figure.axes:
        if str(axes.get_label()).endswith(": projection"):
            axes.set_xlim(-1.08 * reach, 1.08 * reach)
