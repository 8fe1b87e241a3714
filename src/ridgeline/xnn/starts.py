"""Weights that a stage of training starts from, with NumPy alone."""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ridgeline.xnn.architecture import (
    Architecture,
    Init,
    Rows,
    Weights,
    weight_shapes,
)

__all__ = [
    "Limits",
    "first_projection",
    "initial_weights",
    "orthogonal_weights",
    "projection_limits",
]

Floats = NDArray[np.float64]

# Small scales let the residual, not the random functions, decide where components go.
_FIRST_SCALE: Final = 0.1
# A component that starts anew beside trained ones disturbs them less with this one.
_FRESH_SCALE: Final = 0.02
# Of the largest scale: a smaller one says that a component is not in use.
_UNUSED: Final = 0.02
# Weight of the feature that a column leads with, beside others of size one.
_LEADS: Final = 3.0
# Of a projection's length, that must be its own: below it the others have its story.
_OWN_LENGTH: Final = 0.3
# Of a vector's length, that rounding may leave where nothing is left.
_NO_ROOM: Final = 1e-6


class Limits(NamedTuple):
    """What monotone features ask of the projection, and of the ridge functions."""

    lowest: Floats  # of each weight, (p, k)
    highest: Floats
    rising: Floats  # one for each ridge function that must rise, else zero, (k,)

    @property
    def movable(self) -> NDArray[np.bool_]:
        """Which weights may change at all."""
        return self.lowest < self.highest


def initial_weights(
    shape: Architecture,
    rows: Rows,
    rng: np.random.Generator,
    init: Init = "random",
    directions: Floats | None = None,
) -> Weights:
    """Weights to start from: orthonormal projections, Xavier-normal subnetworks.

    Args:
        shape: The architecture.
        rows: Training rows; their mean target gives the intercept.
        rng: Draws the weights.
        init: What the projections are at first.
        directions: 1 for each feature that must increase the decision, -1 for each
            that must decrease it, 0 for the others.
    """
    shapes = weight_shapes(shape)
    mean = float(np.average(rows.target, weights=rows.weight))
    if shape.loss == "logistic":
        mean = np.clip(mean, 1e-3, 1 - 1e-3)
        mean = float(np.log(mean / (1 - mean)))
    projection = first_projection(shape, rng, init, directions)
    kernels = _first_kernels(shape, rng)
    biases = tuple(np.zeros(layer) for layer in shapes.biases)
    if directions is not None and directions.any() and shape.hidden:
        rising = projection_limits(shape, projection, directions).rising
        spread = _spread_biases(kernels[0], rng)
        biases = (rising[:, None, None] * spread, *biases[1:])
    return Weights(
        projection=projection,
        kernels=kernels,
        biases=biases,
        scales=np.full(shape.n_subnetworks, _FIRST_SCALE),
        effects=_first_effects(shapes.effects, rows, rng),
        category_scales=np.full(shapes.category_scales, _FIRST_SCALE),
        intercept=np.asarray(mean),
    )


def first_projection(
    shape: Architecture,
    rng: np.random.Generator,
    init: Init,
    directions: Floats | None = None,
) -> Floats:
    """Unit columns: random directions, or a feature each.

    With monotone features: where projections are orthogonal, each of these has a
    column of its own, and the others share the rest; elsewhere some columns combine
    them, by weights of the right sign.
    """
    p, k = shape.n_features, shape.n_subnetworks
    if directions is None or not directions.any():
        return _free_projection(shape, rng, init)
    if shape.projection == "identity":
        return np.diag(np.where(directions == 0, 1.0, directions))
    bound = directions != 0
    if shape.projection == "orthogonal":
        own = np.diag(directions)[:, bound]
        rest = np.zeros((p, k - own.shape[1]))
        rest[~bound] = _orthonormal(p - own.shape[1], rest.shape[1], rng, init)
        return np.hstack([own, rest])
    columns = np.zeros((p, k))
    rising = _rising_columns(directions, k)
    drawn = rng.standard_normal((p, k))
    some = rng.permutation(np.flatnonzero(bound))
    if init == "features":
        drawn = np.zeros((p, k))
        others = rng.permutation(np.flatnonzero(~bound))
        drawn[np.resize(others, k - rising), np.arange(rising, k)] = 1.0
    # Each of these columns leads with a monotone feature: one that starts with a small
    # weight may be at zero, and stay there, before its curve has found a use for it.
    drawn[np.resize(some, rising), np.arange(rising)] = _LEADS
    columns[:, :rising] = np.where(
        bound[:, None], directions[:, None] * np.abs(drawn), drawn
    )[:, :rising]
    columns[~bound, rising:] = drawn[~bound, rising:]
    return np.asarray(columns / np.linalg.norm(columns, axis=0))


def projection_limits(
    shape: Architecture, projection: Floats, directions: Floats
) -> Limits:
    """What the weights may be, so that each monotone feature stays monotone.

    A ridge function that has a monotone feature must rise, and its weight has the sign
    of the direction. The other ridge functions may do as they like, and have none of
    these features. Orthogonal columns of monotone features do not move: orthonormal
    vectors without negative weights have no feature in common.
    """
    bound = (directions != 0)[:, None]
    rising = (np.abs(projection) * bound).any(axis=0)
    sign = directions[:, None]
    free = ~bound | (rising & bound)
    lowest = np.where(free & ~(bound & (sign > 0)), -np.inf, 0.0)
    highest = np.where(free & ~(bound & (sign < 0)), np.inf, 0.0)
    if shape.projection in {"orthogonal", "identity"}:
        lowest = np.where(rising, projection, lowest)
        highest = np.where(rising, projection, highest)
    return Limits(lowest, highest, rising.astype(np.float64))


def orthogonal_weights(
    weights: Weights,
    shape: Architecture,
    rng: np.random.Generator,
    limits: Limits | None = None,
) -> Weights:
    """Weights whose projections are orthonormal, from some that overlap.

    In the order of their scales, each projection gives up what those before it have.
    One that has hardly anything left, or no scale, starts anew.

    Near-orthogonal ones with monotone features stay as they are, and where there are
    more of them than directions, those that start anew overlap with others.
    """
    loose = np.asarray(weights.projection, dtype=np.float64)
    scales = np.array(weights.scales, dtype=np.float64)
    movable = np.ones(loose.shape, bool) if limits is None else limits.movable
    near = shape.projection == "near"
    held = np.asarray(~movable.any(axis=0))
    if near and limits is not None:
        held = limits.rising > 0
    exact = np.where(held & (not near), loose, 0.0)
    sizes = np.abs(scales)
    # A monotone feature keeps its curve: there is no other place for it to start at.
    anew = np.asarray(~held & (sizes <= _UNUSED * sizes.max()))
    for place in np.argsort(-sizes, kind="stable"):
        if held[place]:
            continue
        own = loose[:, place] - exact @ (exact.T @ loose[:, place])
        anew[place] |= bool(np.linalg.norm(own) < _OWN_LENGTH)
        if not anew[place]:
            exact[:, place] = _unit_beside(exact, own)
    for place in np.flatnonzero(anew):
        drawn = movable[:, place] * rng.standard_normal(len(loose))
        exact[:, place] = _unit_beside(exact, drawn)
    exact[:, held] = loose[:, held]
    fresh = _first_kernels(shape, rng)
    at = anew[:, None, None]
    return weights._replace(
        projection=exact,
        kernels=tuple(
            np.where(at, new, old)
            for new, old in zip(fresh, weights.kernels, strict=True)
        ),
        biases=tuple(np.where(at, 0.0, bias) for bias in weights.biases),
        scales=np.where(anew, _FRESH_SCALE, scales),
    )


def _unit_beside(columns: Floats, vector: Floats) -> Floats:
    """The direction of a vector that is orthogonal to all columns.

    Where these leave no room for one, it is the vector's own.
    """
    direction = vector
    for _ in range(2):  # the second time takes off what rounding left
        direction = direction - columns @ (columns.T @ direction)
        length = np.linalg.norm(direction)
        if length < _NO_ROOM * np.linalg.norm(vector):
            return np.asarray(vector / np.linalg.norm(vector))
        direction = direction / length
    return direction


def _rising_columns(directions: Floats, k: int) -> int:
    """How many of k columns monotone features have, the others having the rest."""
    share = np.count_nonzero(directions) / len(directions)
    return k if share == 1 or k == 1 else int(np.clip(round(share * k), 1, k - 1))


def _free_projection(
    shape: Architecture, rng: np.random.Generator, init: Init
) -> Floats:
    p, k = shape.n_features, shape.n_subnetworks
    if shape.projection == "identity":
        return np.eye(p)
    if k > p:
        if shape.projection == "near":
            drawn = rng.standard_normal((p, k))
            return np.asarray(drawn / np.linalg.norm(drawn, axis=0))
        return np.asarray(rng.standard_normal((p, k)) / np.sqrt(p))
    return _orthonormal(p, k, rng, init)


def _orthonormal(p: int, k: int, rng: np.random.Generator, init: Init) -> Floats:
    if init == "features":
        return np.eye(p)[:, rng.permutation(p)[:k]]
    return np.linalg.qr(rng.standard_normal((p, k)))[0]


def _first_kernels(shape: Architecture, rng: np.random.Generator) -> tuple[Floats, ...]:
    return tuple(
        rng.standard_normal(layer) * np.sqrt(2 / sum(layer[1:]))
        for layer in weight_shapes(shape).kernels
    )


def _spread_biases(kernel: Floats, rng: np.random.Generator) -> Floats:
    """Biases of a first layer whose units bend all over the range of a feature.

    With kernels of one sign, units that all bend at zero add up to one bend, and steps
    towards others are slow; kernels of both signs do not have that trouble.
    """
    return np.asarray(-np.abs(kernel) * rng.uniform(-1, 1, kernel.shape))


def _first_effects(
    shape: tuple[int, ...], rows: Rows, rng: np.random.Generator
) -> Floats:
    """Random effects; zero for a category without rows, as nothing will train it."""
    drawn = rng.standard_normal(shape)
    counts = np.bincount(rows.codes.ravel(), minlength=len(drawn))
    return np.where(counts > 0, drawn, 0.0)
