"""The explanation of a fitted network as data, and what may not be read from it.

A component is a ridge function with its projection, or the effects of a categorical
feature. All values are in the units of the decision: a response, or log-odds.
NumPy alone; pandas is needed by what returns a data frame.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ridgeline.errors import InputError
from ridgeline.xnn.features import Unknown
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
Kind = Literal["linear", "quadratic", "other"]

# Share of a curve's variance that a line, or a parabola, may leave unexplained: where
# it is less than 1 %, neither the eye nor a noisy response tells the two apart.
_LINE_TOLERANCE: Final = 0.01
_PARABOLA_TOLERANCE: Final = 0.01
# Quadratic coefficients this close are equal: a rotation of the two projections then
# changes the fit by less than a tenth of what either of them adds.
_EQUAL_COEFFICIENTS: Final = 0.1
# A component with less importance changes no decision, however it is turned.
_TINY_IMPORTANCE: Final = 0.01
# Share of a projection's squared length that makes it a projection on one feature: no
# other weight is above 0.03.
_ONE_FEATURE: Final = 0.999
# Points in each bin of the training rows where a curve is compared with a line.
_POINTS_IN_BIN: Final = 8


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
        warnings=_identifiability_warnings(ridges),
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
    shape = _shape(curve, edges, heights, scale)
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


class _Shape(NamedTuple):
    kind: Kind
    quadratic: float


def _shape(
    curve: Callable[[Floats], Floats], edges: Floats, heights: Floats, scale: float
) -> _Shape:
    """Whether the training rows can tell a curve from a line, or from a parabola."""
    inside = (np.arange(_POINTS_IN_BIN) + 0.5) / _POINTS_IN_BIN
    z = (edges[:-1, None] + np.diff(edges)[:, None] * inside).ravel()
    weights = np.repeat(heights / heights.sum() / _POINTS_IN_BIN, _POINTS_IN_BIN)
    values = curve(z)
    values -= weights @ values
    variance = weights @ values**2
    # A subnetwork that has died is a level line; what is left of it is rounding.
    if variance <= np.finfo(np.float64).eps * scale**2:
        return _Shape("linear", 0.0)
    # Powers of standardised values keep the equations well conditioned.
    centred = z - weights @ z
    deviation = np.sqrt(weights @ centred**2)
    root = np.sqrt(weights)
    powers = root[:, None] * np.vander(centred / deviation, 3, increasing=True)
    left = {}
    for terms in (2, 3):
        solution = np.linalg.lstsq(powers[:, :terms], root * values)[0]
        residual = root * values - powers[:, :terms] @ solution
        left[terms] = residual @ residual / variance
    quadratic = float(solution[2] / deviation**2)
    if left[2] <= _LINE_TOLERANCE:
        return _Shape("linear", quadratic)
    return _Shape("quadratic" if left[3] <= _PARABOLA_TOLERANCE else "other", quadratic)


def _identifiability_warnings(ridges: Sequence[RidgeComponent]) -> tuple[str, ...]:
    """Components that other projections would fit as well (Theorem 1 of the paper)."""
    weighty = [c for c in ridges if c.importance >= _TINY_IMPORTANCE]
    lines = [c for c in weighty if c.kind == "linear"]
    parabolas = [c for c in weighty if c.kind == "quadratic"]
    warnings = [_warning(lines, "straight lines", "the same")]
    warnings += [
        _warning(group, "parabolas of nearly the same curvature", "almost the same")
        for group in _equal_coefficients(parabolas)
    ]
    return tuple(warning for warning in warnings if warning)


def _equal_coefficients(
    parabolas: Sequence[RidgeComponent],
) -> list[list[RidgeComponent]]:
    """Groups of components whose quadratic coefficients follow closely on another."""
    groups: list[list[RidgeComponent]] = []
    for component in sorted(parabolas, key=lambda c: c.quadratic):
        last = groups[-1][-1].quadratic if groups else np.inf
        larger = max(abs(last), abs(component.quadratic))
        if groups and component.quadratic - last <= _EQUAL_COEFFICIENTS * larger:
            groups[-1].append(component)
        else:
            groups.append([component])
    return [sorted(group, key=parabolas.index) for group in groups]


def _warning(group: Sequence[RidgeComponent], what: str, how: str) -> str:
    """A sentence about components that can be rotated into another, or none."""
    # Functions of one feature each cannot be rotated without leaving the additive
    # model, which the paper's Section 2.3 calls identifiable.
    if len(group) < 2 or all(map(_on_one_feature, group)):  # noqa: PLR2004
        return ""
    *names, last = (component.name for component in group)
    both, rotated = ("both", "the two") if len(group) == 2 else ("all", "them")  # noqa: PLR2004
    return (
        f"Components {', '.join(names)} and {last} are {both} {what}: any rotation of "
        f"{rotated} fits {how}, so read their projections together, not one by one."
    )


def _on_one_feature(component: RidgeComponent) -> bool:
    squares = component.weights**2
    return bool(squares.max() >= _ONE_FEATURE * squares.sum())
