"""The look that all figures of the report share."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import FuncFormatter, PercentFormatter

from ridgeline.reporting.labels import Label

__all__ = [
    "DOWN",
    "LINES",
    "PALE",
    "ROWS",
    "RULE",
    "SMALL",
    "TEXT",
    "TRUTH",
    "UP",
    "axis_title",
    "clean",
    "figure_of",
    "name_bars",
    "own_ticks",
    "percent_axis",
    "plain",
]

# Paul Tol's high-contrast colours, as in the pictures of an explanation.
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
_THICKEST: Final = 4  # fewer bars than these do not grow thicker
_LONGEST: Final = 30  # characters of a name


def figure_of(width: float, height: float) -> Figure:
    """A figure of its own, in inches, that lays itself out."""
    layout = ConstrainedLayoutEngine(h_pad=0.04, w_pad=0.04, hspace=0.0, wspace=0.02)
    return Figure(figsize=(width, height), layout=layout)


def clean(axes: Axes, *also: str) -> None:
    """Leaves the lines that carry a scale, and small ticks."""
    axes.spines[["top", "right", *also]].set_visible(False)
    axes.tick_params(labelsize=SMALL)


def plain(name: object, longest: int = _LONGEST) -> str:
    """A name as it is drawn: cut if long, its dollars as dollars."""
    text = " ".join(str(name).split())
    if len(text) > longest:
        text = f"{text[: longest - 1]}…"
    return text.replace("$", r"\$")


def axis_title(label: Label) -> str:
    """Title of a feature with its unit, for an axis."""
    unit = f" ({label.unit})" if label.unit else ""
    return plain(label.title) + unit.replace("$", r"\$")


def own_ticks(axes: Axes, unit: str) -> None:
    """Writes the ticks of the horizontal axis as the unit is written."""
    axes.locator_params(axis="x", nbins=5)
    if unit == "$":
        thousands = FuncFormatter(lambda value, _: f"{value:,.0f}")
        axes.xaxis.set_major_formatter(thousands)
    elif unit == "year":
        axes.locator_params(axis="x", nbins=5, integer=True)
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.0f}"))


def percent_axis(axes: Axes, which: str = "y") -> None:
    """Writes shares as percentages."""
    axis = axes.yaxis if which == "y" else axes.xaxis
    axis.set_major_formatter(PercentFormatter(1, decimals=0))


def name_bars(axes: Axes, names: Sequence[object]) -> None:
    """Names horizontal bars from the top down."""
    axes.set_yticks(np.arange(len(names)), [plain(name) for name in names])
    room = 0.6 + max(_THICKEST - len(names), 0) / 2
    axes.set_ylim(len(names) - 1 + room, -room)
    axes.tick_params(axis="y", length=0)
