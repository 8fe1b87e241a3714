"""Figures of the simulation study: the networks beside the truth, and the errors.

The label of each axes tells which part of which component of which model it shows.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.gridspec import GridSpec
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from ridgeline import drawing
from ridgeline.baselines.titles import short_title
from ridgeline.errors import InputError
from ridgeline.simulation.paper import NOT_COMPARABLE, PAPER_MSE, SCENARIO_TITLES
from ridgeline.simulation.report.tables import ENHANCED, NAIVE, NOISE, study_models
from ridgeline.xnn.explanation import explain
from ridgeline.xnn.scorer import Scorer

__all__ = ["RidgePicture", "plot_errors", "plot_networks"]

Floats = NDArray[np.float64]

# Inches: a figure, and at most a group of it, which is truth, naive or enhanced; its
# columns for ticks, curve, ticks, weights and air; its lines for all titles, then for a
# component's title and axes, and for what stands below the lowest axes.
_WIDTH: Final = 9.6
_GROUP: Final = 4.8
_TICKS: Final = 0.34
_AIR: Final = 0.08
_TITLES: Final = 0.42
_TITLE: Final = 0.24
_AXES: Final = 0.72
_BELOW: Final = 0.42
_SHOWN: Final = 0.99  # of the rows; beyond them a curve rests on a handful
_SHADE: Final = 0.3  # of the axes' height, for the density at its highest
_ROWS: Final = "#E4E4E4"
_SAME: Final = 0.9  # cosine from which on two projections can share an axis
_PANELS: Final = 3  # scenarios side by side
_PRINTED: Final[dict[str, Any]] = {  # the paper's figures
    "color": "black",
    "linestyle": "none",
    "marker": "D",
    "markersize": 5,
    "markerfacecolor": "none",
    "zorder": 5,
}
_MARKERS: Final = "osv^<>ph"
_DODGE: Final = 0.006  # of a decade between the error bars of two models


class RidgePicture(NamedTuple):
    """A ridge function with its projection, as it is drawn."""

    name: str
    importance: float  # share of the sum of all components' standard deviations
    weights: Floats  # of the features in their own units, of length one, (p,)
    z: Floats  # projected values, evenly spaced over the range of the rows
    curve: Floats  # what the component adds at z, with mean zero over the rows
    density: Floats  # of the rows, at z

    @property
    def turned(self) -> "RidgePicture":
        """The same function, of the projection's opposite."""
        weights, z, curve, density = -self.weights, -self.z, self.curve, self.density
        return RidgePicture(*self[:2], weights, z[::-1], curve[::-1], density[::-1])


class _Group(NamedTuple):
    """A column of the figure: what stands in each row, if anything."""

    title: str
    colour: str
    rows: Sequence[RidgePicture | None]


def plot_networks(
    truth: Sequence[RidgePicture] | None,
    naive: Scorer | None,
    enhanced: Scorer | None,
    title: str = "",
) -> Figure:
    """Draws ridge functions and projections: the truth, and what the networks found.

    With a truth, each of its components stands in one row with the network's component
    whose projection is nearest, turned to point the same way; a component without a
    match stands below. Without a truth the most important component is first. All
    curves share their axes, as do all projections.

    Raises:
        InputError: If there is nothing to draw.
    """
    groups = _groups(truth, {NAIVE: naive, ENHANCED: enhanced})
    lines = max((len(group.rows) for group in groups), default=0)
    if not lines:
        message = "No truth and no network has a component to draw; pass one that has."
        raise InputError(message)
    width = min(_GROUP, _WIDTH / len(groups))
    panel = (width - 2 * _TICKS - _AIR) / 2
    columns = [_TICKS, panel, _TICKS, panel, _AIR] * len(groups)
    heights = [_TITLES, *[_TITLE, _AXES] * lines, _BELOW]
    figure = Figure(figsize=(sum(columns), sum(heights)))
    figure.suptitle(
        drawing.short(title, 100), y=1 - 0.05 / sum(heights), fontsize=drawing.TEXT + 2
    )
    grid = GridSpec(
        len(heights), len(columns), width_ratios=columns, height_ratios=heights
    )
    grid.update(left=0, right=1, bottom=0, top=1, wspace=0, hspace=0)
    for place, group in enumerate(groups):
        _draw_group(figure, grid, 5 * place + 1, group, truth or ())
    _share_axes(figure, groups)
    return figure


def _groups(
    truth: Sequence[RidgePicture] | None, networks: Mapping[str, Scorer | None]
) -> list[_Group]:
    groups = [] if not truth else [_Group("Truth", drawing.TRUTH, truth)]
    for model, scorer in networks.items():
        if scorer is None:
            continue
        found = _pictures(scorer)
        rows = found if not truth else _beside(truth, found)
        groups.append(_Group(short_title(model), drawing.UP, rows))
    return groups


def _pictures(scorer: Scorer) -> list[RidgePicture]:
    """A network's components in the units of the features, most important first."""
    features, pictures = scorer.features, []
    for ridge in explain(scorer).ridges:
        # z is the sum of w (x - centre) factor; as a sum of x its weights are w factor.
        weights = ridge.weights * features.factor
        length = float(np.linalg.norm(weights)) or 1.0
        pictures.append(
            RidgePicture(
                name=ridge.name,
                importance=ridge.importance,
                weights=weights / length,
                z=(ridge.z + features.centre @ weights) / length,
                curve=ridge.curve,
                density=ridge.density * length,
            )
        )
    return pictures


def _beside(
    truth: Sequence[RidgePicture], found: Sequence[RidgePicture]
) -> list[RidgePicture | None]:
    """A network's components in the rows of the true ones, the others below."""
    if not found:
        return [None] * len(truth)
    true, own = (np.stack([p.weights for p in parts]) for parts in (truth, found))
    cosines = true @ own.T
    rows: list[RidgePicture | None] = [None] * len(truth)
    matches = linear_sum_assignment(np.abs(cosines), maximize=True)
    for place, match in zip(*matches, strict=True):
        same_way = cosines[place, match] >= 0
        rows[place] = found[match] if same_way else found[match].turned
    others = (part for place, part in enumerate(found) if place not in matches[1])
    return [*rows, *others]


def _draw_group(
    figure: Figure,
    grid: GridSpec,
    column: int,
    group: _Group,
    truth: Sequence[RidgePicture],
) -> None:
    def add(line: int, place: int | slice, label: str = "") -> Axes:
        return figure.add_subplot(grid[2 * line + 2, place], label=label)

    heading = figure.add_subplot(grid[0, column : column + 3])
    heading.set_axis_off()
    heading.text(0.5, 0, group.title, ha="center", fontsize=drawing.TEXT + 1)
    heading.texts[0].set_color(group.colour)
    last = max((n for n, part in enumerate(group.rows) if part is not None), default=0)
    for line, part in enumerate(group.rows):
        if part is None:
            empty = add(line, slice(column, column + 3))
            empty.set_axis_off()
            empty.text(0.5, 0.5, "no match", ha="center", fontsize=drawing.TEXT)
            continue
        label = f"{group.title}: {part.name}"
        curve = add(line, column, f"{label}: curve")
        true = truth[line] if line < len(truth) else None
        _draw_curve(curve, part, group.colour, true)
        weights = add(line, column + 2, f"{label}: projection")
        _draw_weights(weights, part.weights)
        below = f"weights of x1 to x{len(part.weights)}"
        for axes, name in ((curve, "projected value z"), (weights, below)):
            axes.tick_params(labelbottom=line == last)
            axes.set_xlabel(name if line == last else "", fontsize=drawing.TEXT)


def _draw_curve(
    axes: Axes, part: RidgePicture, colour: str, true: RidgePicture | None
) -> None:
    """Draws a ridge function over its density, and the true one if they compare."""
    highest = max(float(part.density.max()), np.finfo(float).tiny)
    shade, bottom = _SHADE * part.density / highest, axes.get_xaxis_transform()
    axes.fill_between(part.z, shade, color=_ROWS, linewidth=0, transform=bottom)
    drawing.draw_curve(axes, *_core(part), colour=colour, thickness=1.5)
    heading = f"{part.name}, IR {part.importance:.1%}"
    if true is not None and true is not part:
        cosine = float(true.weights @ part.weights)
        heading = f"IR {part.importance:.1%}, cosine {cosine:.3f}"
        if cosine >= _SAME:
            z, height = _core(true)
            axes.plot(
                z, height, color=drawing.TRUTH, linewidth=2.4, alpha=0.5, zorder=2
            )
    axes.set_title(heading, fontsize=drawing.TEXT, loc="left", pad=3)
    axes.locator_params(nbins=4)


def _draw_weights(axes: Axes, weights: Floats) -> None:
    drawing.signed_bars(axes, weights, upright=True, thickness=0.75)
    places = np.arange(len(weights))
    axes.set_xticks(places, [str(place + 1) for place in places])
    axes.set_yticks([-1, 0, 1])
    axes.set_ylim(-1.1, 1.1)
    axes.tick_params(axis="x", length=0)


def _core(part: RidgePicture) -> tuple[Floats, Floats]:
    """The curve where nearly all rows are."""
    middles = np.cumsum(part.density) - part.density / 2
    reached = middles / (part.density.sum() or 1.0)
    rest = (1 - _SHOWN) / 2
    inside = (reached >= rest) & (reached <= 1 - rest)
    inside |= not inside.any()  # without a density, the curve is all there is
    return part.z[inside], part.curve[inside]


def _share_axes(figure: Figure, groups: Sequence[_Group]) -> None:
    """Gives all curves one pair of axes."""
    parts = [part for group in groups for part in group.rows if part is not None]
    z, curve = (
        np.concatenate(all_of) for all_of in zip(*map(_core, parts), strict=True)
    )
    for axes in figure.axes:
        if str(axes.get_label()).endswith(": curve"):
            axes.set_xlim(drawing.limits(z, 0.03, 0.03))
            axes.set_ylim(drawing.limits(curve, 0.08, 0.08))


def plot_errors(summary: pd.DataFrame) -> Figure:
    """Draws the excess error against n for every model, a panel for each scenario.

    Both axes are logarithmic and the same in all panels; bars are a standard deviation
    over the repetitions either way. Where the paper's figures compare, its test MSE of
    the enhanced network, less the variance of the noise, 1, is drawn as excess error.
    """
    models, names = study_models(summary), sorted(summary["scenario"].unique())
    lines, across = -(-len(names) // _PANELS), min(len(names), _PANELS)
    figure = drawing.new_figure(_WIDTH, 2.35 * lines + 0.55)
    printed = _printed_excess(names)
    panels = figure.subplots(lines, across, sharex=True, sharey=True, squeeze=False)
    for place, axes in enumerate(panels.ravel()):
        if place >= len(names):
            axes.set_axis_off()
            continue
        name = names[place]
        axes.set_label(f"{name}: errors")
        _draw_errors(axes, summary[summary["scenario"] == name], models)
        if not printed.empty:
            own = printed[printed["scenario"] == name]
            label = f"{short_title(ENHANCED)}, paper"
            axes.plot(own["n"], own["excess"], label=label, **_PRINTED)
        heading = drawing.short(f"{name}: {SCENARIO_TITLES[name]}", 60)
        axes.set_title(heading, fontsize=drawing.TEXT, loc="left")
        axes.grid(axis="y", color=_ROWS, linewidth=0.6)
        drawing.clean(axes)
        if place % across == 0:
            axes.set_ylabel("excess error", fontsize=drawing.TEXT)
        if place + across >= len(names):  # the lowest of its column
            axes.tick_params(labelbottom=True)
            axes.set_xlabel("n, training and validation rows", fontsize=drawing.TEXT)
    heights = np.concatenate([summary["excess_mean"], printed["excess"]])
    _scale(panels[0, 0], sorted(summary["n"].unique()), heights[heights > 0])
    _legend(figure, panels[0, 0])
    return figure


def _printed_excess(scenarios: Sequence[str]) -> pd.DataFrame:
    """The paper's excess errors of the enhanced network, where they compare."""
    compares = set(scenarios) - set(NOT_COMPARABLE)
    own = PAPER_MSE[
        PAPER_MSE["scenario"].isin(compares) & (PAPER_MSE["model"] == ENHANCED)
    ]
    return own.assign(excess=own["mse"] - NOISE)


def _draw_errors(axes: Axes, cells: pd.DataFrame, models: Sequence[str]) -> None:
    """Draws the errors of a scenario by model, those of one n beside each other."""
    for place, model in enumerate(models):
        own = cells[cells["model"] == model]
        colour, dashes = drawing.LINES[place % len(drawing.LINES)]
        highlighted = model == ENHANCED
        axes.errorbar(
            own["n"] * 10 ** (_DODGE * (place - (len(models) - 1) / 2)),
            own["excess_mean"],
            yerr=own["excess_sd"].fillna(0),
            label=short_title(model),
            color=colour,
            linestyle=dashes,
            marker=_MARKERS[place % len(_MARKERS)],
            linewidth=2.2 if highlighted else 1.1,
            markersize=4.5 if highlighted else 3.5,
            zorder=4 if highlighted else 3,
            elinewidth=0.8,
            capsize=1.5,
        )


def _scale(axes: Axes, sizes: Sequence[int], heights: Floats) -> None:
    """Makes both axes logarithmic, with round ticks; all panels share them."""
    axes.set(xscale="log", yscale="log")
    axes.set_xlim(sizes[0] / 1.2, sizes[-1] * 1.2)
    axes.set_ylim(heights.min() / 1.5, heights.max() * 1.5)
    axes.xaxis.set_major_locator(FixedLocator(sizes))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


def _legend(figure: Figure, axes: Axes) -> None:
    """One legend for all panels: lines with bars first, the paper's marks last."""
    handles, labels = axes.get_legend_handles_labels()
    entries = sorted(
        zip(handles, labels, strict=True),
        key=lambda entry: isinstance(entry[0], Line2D),
    )
    figure.legend(
        *zip(*entries, strict=True),
        loc="outside lower center",
        ncols=-(-len(entries) // 2),
        fontsize=drawing.TEXT,
        frameon=False,
    )
