"""Monotone features: what a user may ask for, and the certificate that it holds.

A ridge function is a function of one variable, so that its slope over all values that
rows can have lies between bounds that can be computed. Those of the components add up
to bounds of the decision's slope in each feature, whatever the other features are.
NumPy alone.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast, get_args

import numpy as np
from numpy.typing import NDArray

from ridgeline.errors import InputError
from ridgeline.xnn.architecture import Activation
from ridgeline.xnn.column_kinds import named_column
from ridgeline.xnn.columns import quoted
from ridgeline.xnn.features import Direction, Features

if TYPE_CHECKING:
    from ridgeline.xnn.scorer import Scorer, Subnetworks

__all__ = [
    "Certificate",
    "certificates",
    "monotone_columns",
    "refuse_convex",
    "refuse_other_directions",
    "slope_bounds",
]

Floats = NDArray[np.float64]
_PIECES: Final = 1000  # of the range of a projected value, each with its own bounds


class Certificate(NamedTuple):
    """What is proved about a monotone feature."""

    feature: str
    direction: Direction
    # A bound of the slope in this direction, for the feature scaled to [-1, 1], over
    # all rows whose cells are in the ranges of the training rows.
    smallest_slope: float

    @property
    def holds(self) -> bool:
        """Whether no change in this direction can lower the decision."""
        return self.smallest_slope >= 0


def monotone_columns(
    asked: Mapping[Any, Any] | None, features: Features, masses: Sequence[str] = ()
) -> dict[str, Direction]:
    """The directions that a user asked for, in the order of the columns.

    Args:
        asked: Directions by name or position of the column.
        features: What is known about the columns.
        masses: Columns whose point masses the user asked for by name.

    Raises:
        InputError: If one of them is impossible.
    """
    if not asked:
        return {}
    known = get_args(Direction)
    found: dict[str, Direction] = {}
    for given, direction in asked.items():
        name = named_column(features.names, given, "monotone feature")
        what = f"monotone has {name!r}, which is "
        if name in features.categories:
            numeric = quoted(tuple(features.numbers))
            message = f"{what}categorical and has no order; leave it out, or take one "
            message += f"of the numeric columns {numeric}."
        elif not features.numbers[name].scale.varying:
            message = f"{what}constant, so that no component can have it; leave it out."
        elif not isinstance(direction, str) or direction not in known:
            message = f"monotone has {direction!r} for {name!r}; allowed are "
            message += f"{quoted(known)}."
        elif name in found:
            message = f"monotone has {name!r} twice; leave one of them out."
        elif name in masses:
            message = f"monotone has {name!r}, but special_values asks for its point "
            message += "masses, whose effects beside the curve need not be monotone; "
            message += "leave it out of one of them, or name the values that are codes."
        else:
            found[name] = cast(Direction, direction)
            continue
        raise InputError(message)
    return {name: found[name] for name in features.numbers if name in found}


def refuse_other_directions(asked: Mapping[Any, Any] | None, fitted: Features) -> None:
    """Refuses directions that a fitted network does not have, before it is refined.

    Raises:
        InputError: If there are any. Where nobody asks, the network keeps its own.
    """
    named = {
        named_column(fitted.names, given, "monotone feature"): direction
        for given, direction in (asked or {}).items()
    }
    if named and named != dict(fitted.monotone):
        message = (
            f"monotone is {named!r}, but the fitted network has "
            f"{dict(fitted.monotone)!r}, which a refinement keeps; set it to None, or "
            "fit again."
        )
        raise InputError(message)


def refuse_convex(activation: Activation) -> None:
    """Refuses the activation with which monotone curves could bend one way only.

    Raises:
        InputError: If it is that one.
    """
    if activation == "softplus":
        message = (
            "activation is 'softplus', with which monotone curves would all be convex; "
            "set it to 'tanh' or 'sigmoid'."
        )
        raise InputError(message)


def certificates(scorer: "Scorer") -> tuple[Certificate, ...]:
    """What the curves of a fitted network prove about its monotone features."""
    features = scorer.features
    if not features.monotone:
        return ()
    used = np.flatnonzero(scorer.scales)
    weights = scorer.projection[:, used] * scorer.scales[used]
    # Scaled features lie in [-1, 1], so that a projected value does in this range.
    reach = np.abs(scorer.projection[:, used]).sum(axis=0)
    smallest, largest = slope_bounds(scorer.subnetworks.take(used), -reach, reach)
    found = []
    for place, (name, sign) in enumerate(
        zip(features.projected_names, features.directions, strict=True)
    ):
        if sign:
            along = sign * weights[place]
            slopes = np.where(along > 0, along * smallest, along * largest)
            direction = features.monotone[name]
            found.append(Certificate(name, direction, float(slopes.sum() + 0.0)))
    return tuple(found)


def slope_bounds(
    subnetworks: "Subnetworks", low: Floats, high: Floats, pieces: int = _PIECES
) -> tuple[Floats, Floats]:
    """Bounds of each ridge function's slope over a range of its variable.

    The range is cut into pieces, and each piece goes through the network as an
    interval: values and slopes of every unit stay between bounds that its weights
    give. Where no kernel is negative, neither is the lower bound, not even by rounding.

    Args:
        subnetworks: The ridge functions.
        low: Where each range begins, (k,).
        high: Where it ends, (k,).
        pieces: Of each range; more of them give closer bounds.

    Returns:
        The lower and the upper bound, (k,) each.
    """
    places = np.linspace(low, high, pieces + 1, axis=1)[:, None, :]
    value = places[..., :-1], places[..., 1:]
    slope = np.ones_like(value[0]), np.ones_like(value[0])
    activate = _VALUES[subnetworks.activation]
    slopes = _SLOPES[subnetworks.activation]
    layers = list(zip(subnetworks.kernels, subnetworks.biases, strict=True))
    for kernel, bias in layers[:-1]:
        low, high = _product(kernel, value)
        value = low + bias, high + bias
        least, most = slopes(*value)
        lower, upper = _product(kernel, slope)
        # A slope of the activation is positive: the sign is that of the other factor.
        slope = (
            np.where(lower < 0, most, least) * lower,
            np.where(upper < 0, least, most) * upper,
        )
        value = activate(value[0]), activate(value[1])
    lower, upper = _product(layers[-1][0], slope)
    return lower[:, 0].min(axis=1), upper[:, 0].max(axis=1)


def _product(kernel: Floats, interval: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    """A layer's sums of intervals, (k, out, in) x (k, in, pieces)."""
    positive, negative = np.maximum(kernel, 0), np.minimum(kernel, 0)
    low, high = interval
    return positive @ low + negative @ high, positive @ high + negative @ low


def _between(
    slope: Callable[[Floats], Floats], low: Floats, high: Floats, largest: float
) -> tuple[Floats, Floats]:
    """Bounds of a slope that is largest at zero and falls to both sides."""
    ends = slope(low), slope(high)
    inside = (low <= 0) & (high >= 0)
    return np.minimum(*ends), np.where(inside, largest, np.maximum(*ends))


def _tanh_slope(a: Floats) -> Floats:
    return np.asarray(1 - np.tanh(a) ** 2)


def _sigmoid(a: Floats) -> Floats:
    return np.asarray(0.5 * (1 + np.tanh(0.5 * a)))


def _sigmoid_slope(a: Floats) -> Floats:
    return np.asarray(0.25 * (1 - np.tanh(0.5 * a) ** 2))


_VALUES: Final[dict[str, Callable[[Floats], Floats]]] = {
    "tanh": np.tanh,
    "sigmoid": _sigmoid,
    "softplus": lambda a: np.logaddexp(a, 0),
}
_SLOPES: Final[dict[str, Callable[[Floats, Floats], tuple[Floats, Floats]]]] = {
    "tanh": lambda low, high: _between(_tanh_slope, low, high, 1.0),
    "sigmoid": lambda low, high: _between(_sigmoid_slope, low, high, 0.25),
    "softplus": lambda low, high: (_sigmoid(low), _sigmoid(high)),
}
