"""The components of a fitted network: ridge functions, categories, and pairs.

All values are in the units of the decision: a response, or log-odds. NumPy alone.
"""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ridgeline.xnn.identifiability import CurveKind, curve_shape, only_feature
from ridgeline.xnn.pair_component import PairComponent, pair_component
from ridgeline.xnn.scorer import Scorer

__all__ = [
    "DOMINATES",
    "CategoryComponent",
    "Component",
    "PairComponent",
    "RidgeComponent",
    "category_component",
    "pair_component",
    "ridge_component",
]

Floats = NDArray[np.float64]
# A projection with a larger weight on one feature is a function of that feature, up to
# a rest that the eye does not see.
DOMINATES: Final = 0.9
_MIXED: Final = 0.2  # weights from which on a feature is named in a mixture


@dataclass(frozen=True, eq=False)
class RidgeComponent:
    """A ridge function of one projected value, over the range of the training rows."""

    name: str
    importance: float  # share of the sum of scales
    scale: float
    feature_names: tuple[str, ...]
    weights: Floats  # of the features, scaled to [-1, 1]
    z: Floats  # projected values, evenly spaced
    curve: Floats  # what the component adds to the decision at z
    edges: Floats  # of the bins of the training rows' projected values
    heights: Floats  # share of the training rows in each bin
    kind: CurveKind
    quadratic: float  # coefficient of z squared in the closest parabola
    feature: str | None  # the one feature that makes up the projection, if one does
    levels: Floats  # all values of that feature, where they are few whole numbers
    level_curve: Floats  # what the component adds there
    x: Floats  # z in that feature's own unit; z itself in a mixture
    x_edges: Floats  # the edges, likewise

    @property
    def bin_density(self) -> Floats:
        """Density of the training rows in each bin; its area is their share."""
        widths = np.diff(self.edges)
        empty = np.zeros_like(self.heights)
        return np.divide(self.heights, widths, out=empty, where=widths > 0)

    @property
    def density(self) -> Floats:
        """Density of the training rows at each z."""
        found = np.searchsorted(self.edges, self.z, side="right") - 1
        return np.asarray(self.bin_density[found.clip(0, len(self.heights) - 1)])

    @property
    def leading(self) -> list[int]:
        """Places of the features that make up the projection, by weight.

        That is the one that dominates, or all with a weight worth naming.
        """
        sizes = np.abs(self.weights) / (np.linalg.norm(self.weights) or 1.0)
        order = [int(place) for place in np.argsort(-sizes, kind="stable")]
        if sizes[order[0]] > DOMINATES:
            return order[:1]
        return order[:1] + [place for place in order[1:] if sizes[place] >= _MIXED]

    @property
    def function_of(self) -> str:
        """The feature that dominates, or those of a mixture with their weights."""
        if len(self.leading) == 1:
            return self.feature_names[self.leading[0]]
        return ", ".join(
            f"{self.feature_names[at]} ({self.weights[at]:+.2f})" for at in self.leading
        )


@dataclass(frozen=True, eq=False)
class CategoryComponent:
    """The effects of a categorical feature, or of a numeric one's special values."""

    name: str
    feature: str
    importance: float  # share of the sum of scales
    scale: float
    categories: tuple[Any, ...]
    effects: Floats  # what each category adds to the decision
    shares: Floats  # of the training rows
    rows: Floats  # how many training rows that is; NaN where a file does not tell

    @property
    def special(self) -> bool:
        """Whether these are special values of a numeric column."""
        return self.name != self.feature

    @property
    def kind(self) -> str:
        """What the component is, in words."""
        return "special values" if self.special else "categorical"

    @property
    def function_of(self) -> str:
        """The feature."""
        return self.feature

    @property
    def labels(self) -> tuple[Any, ...]:
        """The categories as people read them: a gap is 'missing', numbers are short."""
        return tuple(_label(category) for category in self.categories)


Component = RidgeComponent | CategoryComponent | PairComponent


def ridge_component(scorer: Scorer, place: int, points: int) -> RidgeComponent:
    """A ridge function of a network, at so many values of z."""
    function, scale = scorer.subnetworks.take([place]), float(scorer.scales[place])

    def curve(z: Floats) -> Floats:
        return np.asarray(scale * function(z[None])[0])

    edges, heights = scorer.spread.edges[place], scorer.spread.heights[place]
    z = np.linspace(edges[0], edges[-1], points)
    shape = curve_shape(curve, edges, heights, scale)
    weights, features = scorer.projection[:, place].copy(), scorer.features
    names, lead = features.projected_names, only_feature(weights)
    x, x_edges, levels = z, edges.copy(), np.empty(0)
    if lead is not None and names[lead] in features.numbers:
        number = features.numbers[names[lead]]
        if number.scale.varying:
            # The other weights are too small to move a value's place on its axis, but
            # not to take z beyond its ends, where the curve would be a vertical line.
            ends = weights[lead] * number.scale.places[[0, -1]]
            z = np.linspace(max(z[0], ends.min()), min(z[-1], ends.max()), points)
            x, x_edges = (number.scale.inverse(p / weights[lead]) for p in (z, edges))
            levels = np.array(number.levels)
    return RidgeComponent(
        name=scorer.component_names[place],
        importance=float(scorer.importance_ratios[place]),
        scale=scale,
        feature_names=names,
        weights=weights,
        z=z,
        curve=curve(z),
        edges=edges.copy(),
        heights=heights.copy(),
        kind=shape.kind,
        quadratic=shape.quadratic,
        feature=None if lead is None else names[lead],
        x=x,
        x_edges=x_edges,
        levels=levels,
        level_curve=curve(weights[lead] * number.scale(levels))
        if len(levels)
        else levels,
    )


def category_component(scorer: Scorer, place: int) -> CategoryComponent:
    """The effects of a categorical feature of a network."""
    name, categories = list(scorer.features.groups.items())[place]
    shares, rows = scorer.spread.shares[place].copy(), scorer.spread.rows
    scale = float(scorer.category_scales[place])
    return CategoryComponent(
        name=name,
        importance=float(scorer.importance_ratios[len(scorer.scales) + place]),
        scale=scale,
        feature=scorer.features.group_columns[place],
        categories=categories,
        effects=scale * scorer.effects[place],
        shares=shares,
        rows=shares * (np.nan if rows is None else rows),
    )


def _label(category: Any) -> Any:
    if category is None:
        return "missing"
    whole = type(category) is float and category.is_integer()
    return int(category) if whole else category
