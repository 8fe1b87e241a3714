"""The explanation of a fitted network as data, and what may not be read from it.

A component is a ridge function with its projection, or the effects of a categorical
feature. All values are in the units of the decision: a response, or log-odds.
NumPy alone; pandas is needed by what returns a data frame.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from ridgeline.errors import InputError
from ridgeline.xnn.features import Unknown
from ridgeline.xnn.identifiability import (
    Kind,
    curve_shape,
    identifiability_warnings,
)
from ridgeline.xnn.scorer import Scorer

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "CategoryComponent",
    "Explanation",
    "HasScorer",
    "Kind",
    "RidgeComponent",
    "contributions_frame",
    "explain",
]

Floats = NDArray[np.float64]


class HasScorer(Protocol):
    """A fitted estimator, whatever its class."""

    @property
    def scorer_(self) -> Scorer:
        """The fitted network."""


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
    kind: Kind
    quadratic: float  # coefficient of z squared in the closest parabola

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


@dataclass(frozen=True, eq=False)
class Explanation:
    """A fitted network, taken apart.

    Args:
        intercept: The decision where every component is at its mean.
        classes: The two labels of a classifier, or None for a regressor.
        feature_names: Names of the features that are projected.
        components: Those in use, the most important first.
        pruned: How many more the network has that add nothing.
        warnings: What should not be read from the components, a sentence each.
    """

    intercept: float
    classes: tuple[Any, Any] | None
    feature_names: tuple[str, ...]
    components: tuple[RidgeComponent | CategoryComponent, ...]
    pruned: int
    warnings: tuple[str, ...]

    @property
    def task(self) -> Literal["regression", "classification"]:
        """What is predicted."""
        return "regression" if self.classes is None else "classification"

    @property
    def unit(self) -> str:
        """What the components add up to, as a label for an axis."""
        return "response" if self.classes is None else f"log-odds of {self.classes[1]}"

    @property
    def ridges(self) -> tuple[RidgeComponent, ...]:
        """The ridge components, the most important first."""
        return tuple(c for c in self.components if isinstance(c, RidgeComponent))

    @property
    def category_effects(self) -> tuple[CategoryComponent, ...]:
        """The categorical components, the most important first."""
        return tuple(c for c in self.components if isinstance(c, CategoryComponent))

    def importance_frame(self) -> "pd.DataFrame":
        """A row for each component: its kind, importance ratio and scale."""
        import pandas as pd

        return pd.DataFrame(
            {
                "component": [c.name for c in self.components],
                "kind": [c.kind for c in self.components],
                "importance": np.array([c.importance for c in self.components]),
                "scale": np.array([c.scale for c in self.components]),
            }
        )

    def projection_frame(self) -> "pd.DataFrame":
        """Weights: a row for each numeric feature, a column for each ridge."""
        import pandas as pd

        return pd.DataFrame(
            {c.name: c.weights for c in self.ridges},
            index=pd.Index(self.feature_names, name="feature"),
        )

    def curves_frame(self) -> "pd.DataFrame":
        """Ridge functions: a row for each component and z, with value and density."""
        import pandas as pd

        return pd.DataFrame(
            {
                "component": [c.name for c in self.ridges for _ in c.z],
                "z": _joined(c.z for c in self.ridges),
                "value": _joined(c.curve for c in self.ridges),
                "density": _joined(c.density for c in self.ridges),
            }
        )

    def categories_frame(self) -> "pd.DataFrame":
        """A row for each component and category, with effect and share of the rows."""
        import pandas as pd

        found = self.category_effects
        return pd.DataFrame(
            {
                "component": [c.name for c in found for _ in c.categories],
                "category": [category for c in found for category in c.categories],
                "effect": _joined(c.effects for c in found),
                "share": _joined(c.shares for c in found),
            }
        )


def explain(scorer: Scorer | HasScorer, points: int = 200) -> Explanation:
    """Takes a fitted network apart.

    Args:
        scorer: A scorer, or an estimator that has one as `scorer_`.
        points: How many values of z each ridge function is given at.

    Raises:
        InputError: If the model is not fitted, or there are fewer than two points.
    """
    scorer = _scorer_of(scorer)
    if points < 2:  # noqa: PLR2004
        message = f"points is {points}; a curve needs at least 2."
        raise InputError(message)
    ridges = [
        _ridge_component(scorer, int(place), points)
        for place in np.flatnonzero(scorer.scales)
    ]
    effects = [
        _category_component(scorer, int(place))
        for place in np.flatnonzero(scorer.category_scales)
    ]
    components: list[RidgeComponent | CategoryComponent] = [*ridges, *effects]
    # The sort is stable: where importance is equal, the scorer's order stays.
    components.sort(key=lambda component: -component.importance)
    return Explanation(
        intercept=scorer.intercept,
        classes=scorer.classes,
        feature_names=scorer.features.numeric_names,
        components=tuple(components),
        pruned=len(scorer.component_names) - len(components),
        warnings=identifiability_warnings(ridges),
    )


def contributions_frame(
    scorer: Scorer | HasScorer, X: Any, unknown: Unknown = "error"
) -> "pd.DataFrame":
    """What each component adds to the decision about each row.

    Args:
        scorer: A scorer, or an estimator that has one as `scorer_`.
        X: Data frame or array with the columns of the training rows.
        unknown: What to do with a category that training has not seen: refuse it, or
            let it have the average effect.

    Returns:
        The intercept, the components in use, the most important first, and the
        decision, which is their sum; the index is that of X, where it has one.

    Raises:
        InputError: If the model is not fitted, or X is not as the training rows.
    """
    import pandas as pd

    scorer = _scorer_of(scorer)
    order = np.argsort(-scorer.all_scales, kind="stable")
    used = order[scorer.all_scales[order] != 0]
    components = [scorer.component_names[place] for place in used]
    names = ["intercept", *components, "decision"]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        message = (
            f"The categorical feature {twice!r} has the name of another column of the "
            "contributions; rename it before training."
        )
        raise InputError(message)
    parts = scorer.contributions(X, unknown)[:, used]
    decision = scorer.intercept + parts.sum(axis=1)
    intercept = np.full(len(parts), scorer.intercept)
    return pd.DataFrame(
        np.column_stack([intercept, parts, decision]),
        columns=names,
        # Only the index of pandas labels rows; that of a list is a method.
        index=X.index if hasattr(X, "iloc") else None,
    )


def _scorer_of(model: Scorer | HasScorer) -> Scorer:
    scorer = getattr(model, "scorer_", model)
    if not isinstance(scorer, Scorer):
        message = (
            f"A {type(model).__name__} without scorer_ cannot be explained; fit it "
            "first, or pass a scorer."
        )
        raise InputError(message)
    return scorer


def _joined(parts: Iterable[Floats]) -> Floats:
    return np.concatenate([np.empty(0), *parts])


def _ridge_component(scorer: Scorer, place: int, points: int) -> RidgeComponent:
    function, scale = scorer.subnetworks.take([place]), float(scorer.scales[place])

    def curve(z: Floats) -> Floats:
        return np.asarray(scale * function(z[None])[0])

    edges, heights = scorer.spread.edges[place], scorer.spread.heights[place]
    z = np.linspace(edges[0], edges[-1], points)
    shape = curve_shape(curve, edges, heights, scale)
    return RidgeComponent(
        name=scorer.component_names[place],
        importance=float(scorer.importance_ratios[place]),
        scale=scale,
        feature_names=scorer.features.numeric_names,
        weights=scorer.projection[:, place].copy(),
        z=z,
        curve=curve(z),
        edges=edges.copy(),
        heights=heights.copy(),
        kind=shape.kind,
        quadratic=shape.quadratic,
    )


def _category_component(scorer: Scorer, place: int) -> CategoryComponent:
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
