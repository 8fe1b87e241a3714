"""Geometry of the Stiefel manifold: matrices whose columns are orthonormal.

The Cayley transform moves a point along a descent curve that never leaves the manifold
(paper, Section 3.1, after Wen and Yin, 2013).
"""

from typing import Any

import tensorflow as tf

__all__ = ["cayley_step", "orthogonality_error", "polish", "riemannian_norm"]

Tensor = Any


def cayley_step(point: Tensor, gradient: Tensor, step: Tensor) -> Tensor:
    """Moves W to W(tau) = (I + tau/2 A)^-1 (I - tau/2 A) W with A = G W' - W G'.

    A = U V' with U = [G, W] and V = [W, -G] has rank 2k, so that by the
    Sherman-Morrison-Woodbury formula

        W(tau) = W - tau U (I + tau/2 V'U)^-1 V'W,

    which solves a 2k x 2k system. Where p <= 2k the p x p system is the smaller one.

    Args:
        point: W, shape (p, k), orthonormal columns.
        gradient: G = dL/dW in the surrounding space, shape (p, k).
        step: tau; a positive one descends, a negative one climbs.

    Returns:
        W(tau), shape (p, k).
    """
    rows, columns = point.shape
    if rows <= 2 * columns:
        product = tf.matmul(gradient, point, transpose_b=True)
        skew = 0.5 * step * (product - tf.transpose(product))
        identity = tf.eye(rows, dtype=point.dtype)
        return tf.linalg.solve(identity + skew, tf.matmul(identity - skew, point))
    left = tf.concat([gradient, point], axis=1)
    right = tf.concat([point, -gradient], axis=1)
    identity = tf.eye(2 * columns, dtype=point.dtype)
    system = identity + 0.5 * step * tf.matmul(right, left, transpose_a=True)
    inner = tf.linalg.solve(system, tf.matmul(right, point, transpose_a=True))
    return point - step * tf.matmul(left, inner)


def polish(point: Tensor) -> Tensor:
    """Draws a nearly orthonormal matrix back by one Newton-Schulz step.

    Rounding lets the exact transform drift. The step squares the error, so that one
    after each move holds W'W = I to the last digits of the number type.
    """
    gram = tf.matmul(point, point, transpose_a=True)
    return 1.5 * point - 0.5 * tf.matmul(point, gram)


def riemannian_norm(point: Tensor, gradient: Tensor) -> Tensor:
    """Frobenius norm of A W, the direction in which the Cayley curve starts."""
    product = tf.matmul(gradient, point, transpose_a=True)
    return tf.norm(gradient - tf.matmul(point, product))


def orthogonality_error(point: Tensor) -> Tensor:
    """Largest absolute entry of W'W - I."""
    gram = tf.matmul(point, point, transpose_a=True)
    return tf.reduce_max(tf.abs(gram - tf.eye(point.shape[1], dtype=point.dtype)))
