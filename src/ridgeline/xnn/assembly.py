"""From trained weights to a fitted model and back, with NumPy alone.

Training works on scaled data and lets each batch normalise the subnetworks. A fitted
model has everything folded in: normalisation over all training rows in the last layer
of the subnetworks, the response's scale in the scales, components sorted and signs
settled, so that two fits can be compared.
"""

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ridgeline.xnn.architecture import (
    VARIANCE_FLOOR,
    Architecture,
    Rows,
    Weights,
)
from ridgeline.xnn.features import Features
from ridgeline.xnn.response import Response
from ridgeline.xnn.scorer import Scorer, Spread, Subnetworks
from ridgeline.xnn.surfaces import encoded_rows

__all__ = ["decisions", "fitted_model", "pair_part", "trained_weights"]

Floats = NDArray[np.float64]

_BINS: Final = 50
_BLOCK: Final = 8192
# Below this share of their size, outputs differ by rounding alone.
_CONSTANT: Final = 1e-6


def fitted_model(
    weights: Weights,
    shape: Architecture,
    rows: Rows,
    features: Features,
    response: Response,
) -> Scorer:
    """Folds normalisation and scaling into trained weights.

    Args:
        weights: Trained weights; a scale of zero marks a component as pruned.
        shape: The architecture.
        rows: All training rows, over which the components are normalised.
        features: Names, scaling and categories of the columns.
        response: Scaling of the response, or the classes.
    """
    projection, subnetworks = _signed(weights, shape)
    edges = _edges(projection, rows)
    mean, deviation, heights = _survey(projection, subnetworks, rows, edges)
    scales, shift = _comparable(weights.scales, mean, deviation, shape.normalised)
    subnetworks = _folded(subnetworks, mean, deviation, np.sign(weights.scales))
    effects, category_scales, shares, category_shift = _categories(weights, shape, rows)
    order = np.argsort(-scales, kind="stable")
    wide = np.zeros((len(features.varying), len(order)))
    wide[features.varying] = projection[:, order]
    intercept = float(weights.intercept) + shift + category_shift
    return Scorer(
        features=features,
        classes=response.classes,
        projection=wide,
        subnetworks=subnetworks.take(order),
        scales=scales[order] * response.half,
        effects=effects,
        category_scales=category_scales * response.half,
        intercept=response.centre + response.half * intercept,
        spread=Spread(edges[order], heights[order], shares, len(rows.target)),
    )


def trained_weights(scorer: Scorer, response: Response) -> Weights:
    """The weights of a fitted model, to train on from."""
    projection = scorer.projection[scorer.features.varying]
    # Where monotone features take part, training lets the curve rise.
    falling = scorer.features.directions[scorer.features.varying] @ projection < 0
    sign = np.where(falling, -1.0, 1.0)
    first, *others = scorer.subnetworks.kernels
    return Weights(
        projection=projection * sign,
        kernels=(first * sign[:, None, None], *others),
        biases=scorer.subnetworks.biases,
        scales=scorer.scales / response.half,
        effects=np.concatenate([np.zeros(0), *scorer.effects]),
        category_scales=scorer.category_scales / response.half,
        intercept=np.asarray((scorer.intercept - response.centre) / response.half),
    )


def decisions(scorer: Scorer, rows: Rows) -> Floats:
    """The decision about rows of the network, in the unit of the response."""
    used = np.flatnonzero(scorer.scales)
    projection = scorer.projection[scorer.features.varying][:, used]
    z = (rows.numeric @ projection).T
    total = scorer.intercept + scorer.scales[used] @ scorer.subnetworks.take(used)(z)
    pairs = zip(scorer.category_scales, scorer.effects, strict=True)
    # An unknown category has the place behind all others, which adds nothing.
    table = np.concatenate([*(scale * effects for scale, effects in pairs), [0.0]])
    total += table[rows.codes].sum(axis=1)
    return np.asarray(total + pair_part(scorer, rows))


def pair_part(scorer: Scorer, rows: Rows) -> Floats:
    """What pairs of columns add to the decision, in the unit of the response."""
    total = np.zeros(len(rows.target))
    if scorer.pairs:
        encoded = encoded_rows(scorer.features, rows)
        for surface, scale in zip(scorer.pairs, scorer.pair_scales, strict=True):
            if scale:
                total += scale * surface(scorer.features, encoded)
    return total


def _signed(weights: Weights, shape: Architecture) -> tuple[Floats, Subnetworks]:
    """Projections whose largest weight is positive; the curves turn with them."""
    projection = np.asarray(weights.projection, dtype=np.float64)
    if shape.projection == "near":
        length = np.linalg.norm(projection, axis=0)
        projection = projection / np.where(length > 0, length, 1.0)
    if shape.projection == "orthogonal":
        # Single precision leaves 1e-7; one Newton-Schulz step squares that.
        projection = 1.5 * projection - 0.5 * projection @ (projection.T @ projection)
    low, high = projection.min(axis=0, initial=0), projection.max(axis=0, initial=0)
    sign = np.where(high < -low, -1.0, 1.0)
    kernels = [np.asarray(kernel, dtype=np.float64) for kernel in weights.kernels]
    kernels[0] = kernels[0] * sign[:, None, None]
    biases = tuple(np.asarray(bias, dtype=np.float64) for bias in weights.biases)
    return projection * sign, Subnetworks(tuple(kernels), biases, shape.activation)


def _edges(projection: Floats, rows: Rows) -> Floats:
    """Edges of equal bins over the range of each projected value, (k, bins + 1)."""
    low = np.full(projection.shape[1], np.inf)
    high = -low
    for block in _blocks(rows):
        z = block.numeric @ projection
        low = np.minimum(low, z.min(axis=0))
        high = np.maximum(high, z.max(axis=0))
    size = np.maximum(np.abs(low), np.abs(high))
    room = np.where(high - low > _CONSTANT * size, 0.0, 0.5)
    return np.linspace(low - room, high + room, _BINS + 1, axis=1)


def _survey(
    projection: Floats, subnetworks: Subnetworks, rows: Rows, edges: Floats
) -> tuple[Floats, Floats, Floats]:
    """Mean and deviation of the raw outputs, and the density, over all rows."""
    k = projection.shape[1]
    heights = np.zeros((k, _BINS))
    total, first, second = 0.0, np.zeros(k), np.zeros(k)
    # Sums about a value near the mean do not cancel.
    some = next(_blocks(rows)).numeric @ projection
    about = subnetworks(some.T).mean(axis=1, keepdims=True)
    for block in _blocks(rows):
        z = (block.numeric @ projection).T
        outputs = subnetworks(z)
        total += block.weight.sum(dtype=np.float64)
        first += (outputs - about) @ block.weight
        second += (outputs - about) ** 2 @ block.weight
        for j in range(k):
            heights[j] += np.histogram(z[j], edges[j], weights=block.weight)[0]
    mean = first / total
    deviation = np.sqrt(np.maximum(second / total - mean**2, 0))
    return mean + about[:, 0], deviation, heights / total


def _comparable(
    scales: Any, mean: Floats, deviation: Floats, normalised: bool
) -> tuple[Floats, float]:
    """Scales of functions with norm 1, and what their means add to the intercept."""
    scales = np.asarray(scales, dtype=np.float64)
    constant = deviation <= _CONSTANT * np.abs(mean)
    if normalised:
        # Training divides by the root of variance and floor; here it is the deviation.
        size = deviation / np.sqrt(deviation**2 + VARIANCE_FLOOR)
        return np.abs(scales) * np.where(constant, 0.0, size), 0.0
    return np.abs(scales) * np.where(constant, 0.0, deviation), float(scales @ mean)


def _folded(
    subnetworks: Subnetworks, mean: Floats, deviation: Floats, sign: Floats
) -> Subnetworks:
    """Subnetworks whose last layer also normalises and takes the scale's sign."""
    deviation = np.where(deviation > 0, deviation, 1.0)
    factor = (np.where(sign < 0, -1.0, 1.0) / deviation)[:, None, None]
    *kernels, kernel = subnetworks.kernels
    *biases, bias = subnetworks.biases
    return Subnetworks(
        (*kernels, kernel * factor),
        (*biases, (bias - mean[:, None, None]) * factor),
        subnetworks.activation,
    )


def _categories(
    weights: Weights, shape: Architecture, rows: Rows
) -> tuple[tuple[Floats, ...], Floats, tuple[Floats, ...], float]:
    """Normalised effects, their scales, the categories' shares, and the shift."""
    effects, scales, shares = [], np.zeros(len(shape.category_counts)), []
    shift = 0.0
    start = 0
    for feature, count in enumerate(shape.category_counts):
        raw = np.asarray(weights.effects[start : start + count], dtype=np.float64)
        codes = rows.codes[:, feature] - start
        share = np.bincount(codes, rows.weight, count)
        share = share / share.sum()
        mean = raw @ share
        deviation = np.sqrt((raw - mean) ** 2 @ share)
        scale, moved = _comparable(
            weights.category_scales[feature : feature + 1],
            np.array([mean]),
            np.array([deviation]),
            shape.normalised,
        )
        sign = -1.0 if weights.category_scales[feature] < 0 else 1.0
        normalised = sign * (raw - mean) / (deviation or 1.0)
        # A category that never had a row has the average effect.
        effects.append(np.where((share == 0) & (raw == 0), 0.0, normalised))
        scales[feature] = scale[0]
        shares.append(share)
        shift += moved
        start += count
    return tuple(effects), scales, tuple(shares), shift


def _blocks(rows: Rows) -> Iterator[Rows]:
    for start in range(0, len(rows.target), _BLOCK):
        yield Rows(*(column[start : start + _BLOCK] for column in rows))
