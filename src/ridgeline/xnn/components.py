"""The components of a fitted network: ridge functions, and effects of categories.

All values are in the units of the decision: a response, or log-odds. NumPy alone.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from ridgeline.xnn.identifiability import CurveKind, curve_shape, only_feature
from ridgeline.xnn.scorer import Scorer

__all__ = [
    "DOMINATES",
    "CategoryComponent",
    "Component",
    "RidgeComponent",
    "category_component",
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
    """The effects of a categorical feature."""

    name: str
    importance: float  # share of the sum of scales
    scale: float
    categories: tuple[Any, ...]
    effects: Floats  # what each category adds to the decision
    shares: Floats  # of the training rows
    kind: ClassVar = "categorical"

    @property
    def function_of(self) -> str:
        """The feature."""
        return self.name


Component = RidgeComponent | CategoryComponent


def ridge_component(scorer: Scorer, place: int, points: int) -> RidgeComponent:
    """A ridge function of a network, at so many values of z."""
    function, scale = scorer.subnetworks.take([place]), float(scorer.scales[place])

    def curve(z: Floats) -> Floats:
        return np.asarray(scale * function(z[None])[0])

    edges, heights = scorer.spread.edges[place], scorer.spread.heights[place]
    z = np.linspace(edges[0], edges[-1], points)
    shape = curve_shape(curve, edges, heights, scale)
    weights, features = scorer.projection[:, place].copy(), scorer.features
    names, lead = features.numeric_names, only_feature(weights)
    x, x_edges = z, edges.copy()
    if lead is not None and features.factor[lead] > 0:
        # The other weights are too small to move the place of a value on its axis.
        slope = weights[lead] * features.factor[lead]
        x, x_edges = (features.centre[lead] + part / slope for part in (z, edges))
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
    )


def category_component(scorer: Scorer, place: int) -> CategoryComponent:
    """The effects of a categorical feature of a network."""
    name = tuple(scorer.features.categories)[place]
    scale = float(scorer.category_scales[place])
    return CategoryComponent(
        name=name,
        importance=float(scorer.importance_ratios[len(scorer.scales) + place]),
        scale=scale,
        categories=scorer.features.categories[name],
        effects=scale * scorer.effects[place],
        shares=scorer.spread.shares[place].copy(),
    )
