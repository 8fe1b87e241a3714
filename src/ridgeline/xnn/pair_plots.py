"""Pictures of pairs: a heat map of two numbers, curves by category, a table of two.

Where there are no training rows, a surface says nothing: these places are left blank.
"""

from typing import Any, Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, TwoSlopeNorm
from numpy.typing import NDArray

from ridgeline import drawing
from ridgeline.xnn.pair_component import PairAxis, PairComponent

__all__ = ["draw_pair"]

Floats = NDArray[np.float64]
# Down, nothing, up, in the colours of the other figures.
_COLOURS: Final = LinearSegmentedColormap.from_list(
    "effects", [drawing.DOWN, "#F7F7F7", drawing.UP]
)
_MOST_LINES: Final = len(drawing.LINES)
_EMPTY: Final = 1e-6  # share of the rows


def draw_pair(
    row: drawing.GridRow, column: int, component: PairComponent, unit: str
) -> Axes:
    """Draws a pair, and what its colours or lines mean beside it.

    Args:
        row: Where.
        column: Of the picture; its key has the next.
        component: The pair.
        unit: What the pair adds to.

    Returns:
        The axes of the picture, to be given a title.
    """
    axes = row.add(column, f"{component.name}: surface")
    key = row.add(column + 1, f"{component.name}: key")
    numeric = [axis.numeric for axis in component.axes]
    if numeric == [False, True]:
        _draw_curves(axes, key, component, unit, turned=True)
    elif numeric == [True, False]:
        _draw_curves(axes, key, component, unit, turned=False)
    else:
        _draw_map(axes, key, component, unit)
    return axes


def _draw_curves(
    axes: Axes, key: Axes, component: PairComponent, unit: str, *, turned: bool
) -> None:
    """One curve for each category; the key has their names and shares."""
    number, category = component.axes[::-1] if turned else component.axes
    values = component.effects.T if turned else component.effects
    shares = component.shares.T if turned else component.shares
    of_category = shares.sum(axis=0)
    shown = [int(at) for at in np.argsort(-of_category, kind="stable")[:_MOST_LINES]]
    for (colour, dashes), at in zip(drawing.LINES, shown, strict=False):
        there = np.where(shares[:, at] > _EMPTY, values[:, at], np.nan)
        axes.plot(
            np.array(number.places),
            there,
            color=colour,
            linestyle=dashes,
            linewidth=1.3,
        )
    axes.axhline(0, **drawing.RULE)
    axes.set_xlabel(drawing.short(number.feature), fontsize=drawing.TEXT)
    axes.set_ylabel(drawing.short(unit), fontsize=drawing.TEXT)
    drawing.short_ticks(axes)
    drawing.clean(axes)
    bars = key.barh(
        range(len(shown)),
        100 * of_category[shown],
        color=[drawing.LINES[place][0] for place in range(len(shown))],
        height=drawing.BAR,
    )
    key.bar_label(bars, fmt="%.1f", padding=2, fontsize=drawing.SMALL)
    key.margins(x=0.15)
    drawing.name_bars(key, [str(category.places[at]) for at in shown])
    rest = len(category.places) - len(shown)
    more = f"; {rest} more not drawn" if rest else ""
    label = f"{drawing.short(category.feature)}: share of training rows (%){more}"
    key.set_xlabel(label, fontsize=drawing.TEXT)
    drawing.clean(key)


def _draw_map(axes: Axes, key: Axes, component: PairComponent, unit: str) -> None:
    """Colours at the places of both axes; the key is their scale."""
    one, two = component.axes
    values = np.where(component.shares > _EMPTY, component.effects, np.nan)
    reach = float(np.nanmax(np.abs(values), initial=0.0)) or 1.0
    mesh = axes.pcolormesh(
        _edges(one),
        _edges(two),
        values.T,
        cmap=_COLOURS,
        norm=TwoSlopeNorm(0.0, -reach, reach),
        rasterized=True,
    )
    _name(axes, one, "x")
    _name(axes, two, "y")
    drawing.clean(axes)
    key.axis("off")
    inset = key.inset_axes((0.05, 0.55, 0.7, 0.16), label=f"{component.name}: scale")
    bar = axes.figure.colorbar(mesh, cax=inset, orientation="horizontal")
    bar.ax.tick_params(labelsize=drawing.SMALL)
    label = f"{drawing.short(unit)} (blank: no training rows)"
    bar.set_label(label, fontsize=drawing.TEXT)


def _edges(axis: PairAxis) -> Any:
    """Edges of the cells about the places."""
    if not axis.numeric:
        return np.arange(len(axis.places) + 1) - 0.5
    places = np.array(axis.places)
    between = (places[1:] + places[:-1]) / 2
    return np.concatenate([places[:1], between, places[-1:]])


def _name(axes: Axes, axis: PairAxis, which: str) -> None:
    """Gives an axis its title, and the names of its categories."""
    label = drawing.short(axis.feature)
    getattr(axes, f"set_{which}label")(label, fontsize=drawing.TEXT)
    if axis.numeric:
        return
    names = [drawing.short(place, 14) for place in axis.places]
    turned = {"rotation": 45, "ha": "right"} if which == "x" else {}
    setter = getattr(axes, f"set_{which}ticks")
    setter(range(len(names)), names, fontsize=drawing.SMALL, **turned)
