"""Which components other projections would fit as well (paper, Section 2.2).

With orthonormal projections a model has one representation only if at most one ridge
function is linear (B1), and quadratic ones have distinct coefficients (B2).
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from ridgeline.xnn.components import RidgeComponent

__all__ = [
    "CurveKind",
    "Shape",
    "curve_shape",
    "identifiability_warnings",
    "only_feature",
]

Floats = NDArray[np.float64]
CurveKind = Literal["linear", "quadratic", "other"]

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


class Shape(NamedTuple):
    """What a curve looks like to the training rows."""

    kind: CurveKind
    quadratic: float  # coefficient of z squared in the closest parabola


def curve_shape(
    curve: Callable[[Floats], Floats], edges: Floats, heights: Floats, scale: float
) -> Shape:
    """Whether the training rows can tell a curve from a line, or from a parabola."""
    inside = (np.arange(_POINTS_IN_BIN) + 0.5) / _POINTS_IN_BIN
    z = (edges[:-1, None] + np.diff(edges)[:, None] * inside).ravel()
    weights = np.repeat(heights / heights.sum() / _POINTS_IN_BIN, _POINTS_IN_BIN)
    values = curve(z)
    values -= weights @ values
    variance = weights @ values**2
    # A subnetwork that has died is a level line; what is left of it is rounding.
    if variance <= np.finfo(np.float64).eps * scale**2:
        return Shape("linear", 0.0)
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
        return Shape("linear", quadratic)
    return Shape("quadratic" if left[3] <= _PARABOLA_TOLERANCE else "other", quadratic)


def identifiability_warnings(ridges: Sequence["RidgeComponent"]) -> tuple[str, ...]:
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
    parabolas: Sequence["RidgeComponent"],
) -> list[list["RidgeComponent"]]:
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


def _warning(group: Sequence["RidgeComponent"], what: str, how: str) -> str:
    """A sentence about components that can be rotated into another, or none."""
    # Functions of one feature each cannot be rotated without leaving the additive
    # model, which the paper's Section 2.3 calls identifiable.
    if len(group) < 2 or all(c.feature is not None for c in group):  # noqa: PLR2004
        return ""
    *names, last = (component.name for component in group)
    both, rotated = ("both", "the two") if len(group) == 2 else ("all", "them")  # noqa: PLR2004
    return (
        f"Components {', '.join(names)} and {last} are {both} {what}: any rotation of "
        f"{rotated} fits {how}, so read their projections together, not one by one."
    )


def only_feature(weights: Floats) -> int | None:
    """The place of the one feature that makes up a projection, or None."""
    squares = weights**2
    lead = int(squares.argmax())
    alone = 0 < squares[lead] >= _ONE_FEATURE * squares.sum()
    return lead if alone else None
