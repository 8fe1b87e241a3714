"""Stacked ridge subnetworks: values, derivatives, normalisation and roughness.

All k subnetworks are evaluated together, as arrays of shape (k, units, rows): one
batched product for a layer, with the rows last, where they are contiguous.
"""

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import tensorflow as tf

from ridgeline.xnn.architecture import VARIANCE_FLOOR

__all__ = [
    "ACTIVATIONS",
    "Curve",
    "Moments",
    "merge_moments",
    "moments",
    "normalise",
    "ridge_curves",
    "ridge_values",
    "roughness",
]

Tensor = Any


class Jet(NamedTuple):
    """A function of one variable with its first two derivatives in that variable."""

    value: Tensor
    first: Tensor
    second: Tensor


class Curve(NamedTuple):
    """Ridge functions at their projected rows, and their second derivatives."""

    value: Tensor  # (k, rows)
    second: Tensor  # (k, rows)


class Moments(NamedTuple):
    """Weighted mean and variance of the subnetworks' outputs, each of shape (k, 1)."""

    weight: Tensor  # ()
    mean: Tensor
    variance: Tensor


def ridge_values(
    kernels: tuple[Tensor, ...], biases: tuple[Tensor, ...], z: Tensor, activation: str
) -> Tensor:
    """Raw outputs of the subnetworks.

    Args:
        kernels: One array (k, units out, units in) for each layer; the last has one
            unit out and no activation.
        biases: One array (k, units out, 1) for each layer.
        z: Projected rows, shape (k, rows).
        activation: A key of `ACTIVATIONS`.

    Returns:
        Shape (k, rows).
    """
    units = z[:, None, :]
    for kernel, bias in zip(kernels[:-1], biases[:-1], strict=True):
        units = _VALUES[activation](_affine(kernel, units) + bias)
    return (_affine(kernels[-1], units) + biases[-1])[:, 0, :]


def ridge_curves(
    kernels: tuple[Tensor, ...], biases: tuple[Tensor, ...], z: Tensor, activation: str
) -> Curve:
    """Raw outputs with their second derivative, carried forward as 2-jets.

    The arguments are those of `ridge_values`. A plain reverse pass through this
    computation gives the gradient of a penalty on the curvature; no tapes are nested.
    """
    z = z[:, None, :]
    jet = Jet(z, tf.ones_like(z[:1, :, :1]), tf.zeros_like(z[:1, :, :1]))
    for kernel, bias in zip(kernels[:-1], biases[:-1], strict=True):
        jet = ACTIVATIONS[activation](_affine_jet(kernel, bias, jet))
    # The output layer is linear: its first derivative has no reader.
    value = _affine(kernels[-1], jet.value) + biases[-1]
    second = tf.broadcast_to(_affine(kernels[-1], jet.second), tf.shape(value))
    return Curve(value[:, 0, :], second[:, 0, :])


def moments(values: Tensor, weights: Tensor) -> Moments:
    """Weighted mean and variance of each row of `values`; zero weights do not count."""
    total = tf.reduce_sum(weights)
    share = weights / total
    mean = tf.reduce_sum(share * values, axis=1, keepdims=True)
    variance = tf.reduce_sum(share * tf.square(values - mean), axis=1, keepdims=True)
    return Moments(total, mean, variance)


def merge_moments(one: Moments, other: Moments) -> Moments:
    """Moments of the union of two sets of rows, without cancellation."""
    total = one.weight + other.weight
    share = other.weight / total
    difference = other.mean - one.mean
    mean = one.mean + share * difference
    variance = (
        (1 - share) * one.variance
        + share * other.variance
        + share * (1 - share) * tf.square(difference)
    )
    return Moments(total, mean, variance)


def normalise(values: Tensor, by: Moments) -> Tensor:
    """Brings outputs to mean 0 and norm 1 over the rows that `by` was taken from."""
    return (values - by.mean) * tf.math.rsqrt(by.variance + VARIANCE_FLOOR)


def roughness(second: Tensor, variance: Tensor, weights: Tensor) -> Tensor:
    """Sum over subnetworks of the mean squared second derivative, once normalised.

    A function divided by its standard deviation s has its curvature divided by s, and
    the squared curvature by s^2.
    """
    share = weights / tf.reduce_sum(weights)
    squared = tf.reduce_sum(share * tf.square(second), axis=1, keepdims=True)
    return tf.reduce_sum(squared / (variance + VARIANCE_FLOOR))


def _affine(kernel: Tensor, units: Tensor) -> Tensor:
    """One layer's products, (k, out, in) x (k, in, rows)."""
    if kernel.shape[2] == 1 or units.shape[2] == 1:
        return tf.reduce_sum(kernel[:, :, :, None] * units[:, None, :, :], axis=2)
    return tf.matmul(kernel, units)


def _affine_jet(kernel: Tensor, bias: Tensor, jet: Jet) -> Jet:
    # Three products were faster than one of the three parts side by side.
    return Jet(
        _affine(kernel, jet.value) + bias,
        _affine(kernel, jet.first),
        _affine(kernel, jet.second),
    )


def _tanh(a: Jet) -> Jet:
    value = tf.tanh(a.value)
    slope = 1 - tf.square(value)
    bend = -2 * value * tf.square(a.first)
    return Jet(value, slope * a.first, slope * (a.second + bend))


def _sigmoid(a: Jet) -> Jet:
    value = tf.sigmoid(a.value)
    slope = value * (1 - value)
    bend = (1 - 2 * value) * tf.square(a.first)
    return Jet(value, slope * a.first, slope * (a.second + bend))


def _softplus(a: Jet) -> Jet:
    slope = tf.sigmoid(a.value)
    bend = slope * (1 - slope) * tf.square(a.first)
    return Jet(tf.nn.softplus(a.value), slope * a.first, slope * a.second + bend)


ACTIVATIONS: Final[dict[str, Callable[[Jet], Jet]]] = {
    "tanh": _tanh,
    "sigmoid": _sigmoid,
    "softplus": _softplus,
}
_VALUES: Final = {"tanh": tf.tanh, "sigmoid": tf.sigmoid, "softplus": tf.nn.softplus}
