"""The network as TensorFlow sees it: its weights, forward pass and objective.

    decision = mu + sum_j beta_j h_j(w_j' x) + sum_c gamma_c b_c(category of x)

Everything is a pure function of `Weights` and `Rows`; nothing is kept between calls.
"""

import math
from typing import Any, Final

import numpy as np
import tensorflow as tf

from ridgeline.xnn import ridge
from ridgeline.xnn.architecture import (
    VARIANCE_FLOOR,
    Architecture,
    Problem,
    Rows,
    Weights,
    weight_shapes,
)

__all__ = [
    "coherence",
    "data_loss",
    "decision",
    "objective",
    "pack",
    "raw_outputs",
    "unpack",
]

Tensor = Any

# The curvature is averaged over the first rows of a batch, which are drawn at random:
# an unbiased estimate of the whole batch's, at a quarter of its price for 1,000 rows.
_ROUGHNESS_ROWS: Final = 250


def pack(weights: Weights) -> Tensor:
    """All weights as one vector, the projection first."""
    kernels, biases = weights.kernels, weights.biases
    parts = [weights.projection, *kernels, *biases, *weights[3:]]
    return tf.concat([tf.reshape(part, [-1]) for part in parts], axis=0)


def unpack(shape: Architecture, vector: Tensor) -> Weights:
    """The weights in a vector."""
    shapes = weight_shapes(shape)
    layers = len(shapes.kernels)
    flat = [shapes.projection, *shapes.kernels, *shapes.biases, *shapes[3:]]
    parts = tf.split(vector, [math.prod(one) for one in flat])
    arrays = [tf.reshape(*pair) for pair in zip(parts, flat, strict=True)]
    kernels = tuple(arrays[1 : 1 + layers])
    biases = tuple(arrays[1 + layers : 1 + 2 * layers])
    return Weights(arrays[0], kernels, biases, *arrays[1 + 2 * layers :])


def raw_outputs(shape: Architecture, weights: Weights, numeric: Tensor) -> Tensor:
    """Outputs of the ridge subnetworks before normalisation, shape (k, rows)."""
    z = tf.matmul(weights.projection, numeric, transpose_a=True, transpose_b=True)
    return ridge.ridge_values(weights.kernels, weights.biases, z, shape.activation)


def decision(
    shape: Architecture,
    weights: Weights,
    problem: Problem,
    outputs: Tensor,
    codes: Tensor,
) -> Tensor:
    """The additive score from normalised ridge outputs and category codes, (rows,)."""
    total = weights.intercept + tf.linalg.matvec(
        outputs, weights.scales * problem.used, transpose_a=True
    )
    if shape.category_counts:
        terms = category_terms(shape, weights, problem)
        total += tf.linalg.matvec(_memberships(shape, codes, terms.dtype), terms)
    return total


def data_loss(shape: Architecture, predicted: Tensor, target: Tensor) -> Tensor:
    """Loss of each row: squared error, or cross-entropy from logits."""
    if shape.loss == "squared":
        return tf.square(predicted - target)
    return tf.nn.sigmoid_cross_entropy_with_logits(labels=target, logits=predicted)


def objective(
    shape: Architecture,
    weights: Weights,
    problem: Problem,
    batch: Rows,
) -> Tensor:
    """Loss and penalties of one batch, which also normalises the subnetworks."""
    z = tf.matmul(weights.projection, batch.numeric, transpose_a=True, transpose_b=True)
    layers = weights.kernels, weights.biases
    if shape.smooth:
        outputs, second = _curves(layers, z, shape.activation)
    else:
        outputs = ridge.ridge_values(*layers, z, shape.activation)
    by = ridge.moments(outputs, batch.weight)
    if not shape.normalised:
        by = by._replace(mean=0.0 * by.mean, variance=tf.ones_like(by.variance))
    predicted = decision(
        shape,
        weights,
        problem,
        ridge.normalise(outputs, by),
        batch.codes,
    )
    if shape.offset:
        predicted += batch.offset
    losses = data_loss(shape, predicted, batch.target)
    total = tf.reduce_sum(batch.weight * losses) / by.weight
    total += problem.l1_projection * tf.reduce_sum(tf.abs(weights.projection))
    total += problem.l1_scales * tf.reduce_sum(tf.abs(weights.scales * problem.used))
    total += problem.l1_scales * tf.reduce_sum(
        tf.abs(weights.category_scales * problem.used_categories)
    )
    if shape.projection == "near" or shape.relaxed:
        total += problem.coherence * coherence(weights, problem)
    if shape.category_counts:
        terms = category_terms(shape, weights, problem)
        total += tf.reduce_sum(problem.category_priors * tf.square(terms))
    if shape.smooth:
        rows = second.shape[1]
        total += problem.roughness * ridge.roughness(
            second, by.variance, batch.weight[:rows]
        )
    return total


def coherence(weights: Weights, problem: Problem) -> Tensor:
    """How far the projections of components in use overlap.

        sum over i < j of |beta_i| |beta_j| (w_i' w_j)^2

    A component without scale is not read, so that it may lie where it likes.
    """
    sizes = tf.abs(weights.scales * problem.used)
    cosines = tf.matmul(weights.projection, weights.projection, transpose_a=True)
    overlaps = tf.square(cosines) * sizes[:, None] * sizes
    return 0.5 * (tf.reduce_sum(overlaps) - tf.linalg.trace(overlaps))


def _curves(
    layers: tuple[tuple[Tensor, ...], tuple[Tensor, ...]], z: Tensor, activation: str
) -> ridge.Curve:
    """Values of all rows, second derivatives of the first ones."""
    z, rest = z[:, :_ROUGHNESS_ROWS], z[:, _ROUGHNESS_ROWS:]
    curve = ridge.ridge_curves(*layers, z, activation)
    if rest.shape[1] == 0:
        return curve
    values = ridge.ridge_values(*layers, rest, activation)
    return ridge.Curve(tf.concat([curve.value, values], axis=1), curve.second)


def _memberships(shape: Architecture, codes: Tensor, dtype: tf.DType) -> Tensor:
    """One where a row has the category of a place, shape (rows, categories).

    Effects are looked up by a product with this matrix: XLA computes a lookup's table,
    here the normalised effects, again for every cell that is looked up. An unknown
    category has the place behind all others, which no column here is for.
    """
    ends = np.cumsum(shape.category_counts)
    parts = [
        codes[:, group, None] == tf.range(end - count, end)
        for group, (count, end) in enumerate(
            zip(shape.category_counts, ends.tolist(), strict=True)
        )
    ]
    return tf.cast(tf.concat(parts, axis=1), dtype)


def category_terms(shape: Architecture, weights: Weights, problem: Problem) -> Tensor:
    """Scaled, normalised effect of every category, side by side.

    The shares of the categories in the training rows do not change while training, so
    that the normalisation over all rows is exact in every batch. Sums over the
    categories of each feature are products with a constant matrix, so that many
    features compile as fast as one.
    """
    counts = shape.category_counts
    values = weights.effects
    owner = tf.constant(np.repeat(np.eye(len(counts)), counts, axis=0), values.dtype)

    def of_owner(values: Tensor) -> Tensor:
        return tf.linalg.matvec(owner, values)

    def summed(values: Tensor) -> Tensor:
        return tf.linalg.matvec(owner, values, transpose_a=True)

    if shape.normalised:
        share = problem.category_shares
        values -= of_owner(summed(share * values) / summed(share))
        variance = summed(share * tf.square(values)) / summed(share)
        values *= of_owner(tf.math.rsqrt(variance + VARIANCE_FLOOR))
    return of_owner(weights.category_scales * problem.used_categories) * values
