"""The Cayley step: it stays on the manifold, descends, and is the paper's formula."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from ridgeline.xnn import stiefel

LIGHT = settings(max_examples=25, deadline=None)
# Both branches of the step (p <= 2k and p > 2k), one column, and as many as rows.
SHAPES = [(7, 3), (12, 2), (6, 3), (5, 3), (3, 3), (5, 1), (2, 1), (1, 1)]
SEEDS = st.integers(0, 10**6)
STEPS = st.floats(-20, 20, allow_subnormal=False)


def orthonormal(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    """Return a random point of the manifold."""
    return np.linalg.qr(rng.normal(size=shape))[0]


def skew(point: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """Return the paper's A, p x p."""
    return gradient @ point.T - point @ gradient.T


def rotation(point: np.ndarray, gradient: np.ndarray, step: float) -> np.ndarray:
    """Return the p x p matrix that the paper multiplies W by."""
    half = step / 2 * skew(point, gradient)
    identity = np.eye(len(point))
    return np.linalg.solve(identity + half, identity - half)


def moved(point: np.ndarray, gradient: np.ndarray, step: float) -> np.ndarray:
    """Return what the library makes of a step in double precision."""
    tensors = tf.constant(point), tf.constant(gradient), tf.constant(step, tf.float64)
    return stiefel.cayley_step(*tensors).numpy()


def off_identity(point: np.ndarray) -> float:
    """Return the largest entry of W'W - I, in double precision."""
    wide = point.astype(np.float64)
    return float(np.abs(wide.T @ wide - np.eye(wide.shape[1])).max())


def walk(
    point: Any, steps: int, gradient: Callable[[Any, Any], Any], size: Any
) -> tuple[np.ndarray, float]:
    """Return the end of many polished steps, and the largest error on the way."""

    @tf.function
    def run(point: Any) -> tuple[Any, Any]:
        worst = tf.zeros([], point.dtype)
        for number in tf.range(steps):
            step = size(number) if callable(size) else tf.cast(size, point.dtype)
            point = stiefel.cayley_step(point, gradient(point, number), step)
            point = stiefel.polish(point)
            worst = tf.maximum(worst, stiefel.orthogonality_error(point))
        return point, worst

    end, worst = run(point)
    return end.numpy(), float(worst)


@pytest.mark.parametrize(("kind", "limit"), [("float32", 1e-6), ("float64", 1e-13)])
@pytest.mark.parametrize("shape", SHAPES)
def test_thousands_of_steps_stay_on_the_manifold(shape, kind, limit):
    point = tf.constant(orthonormal(np.random.default_rng(1), shape), kind)

    def gradient(_: Any, number: Any) -> Any:
        normal = tf.random.stateless_normal(shape, [number, 0], dtype=kind)
        power = tf.random.stateless_uniform([], [number, 1], -3, 1, dtype=kind)
        return normal * 10**power

    def size(number: Any) -> Any:
        return tf.random.stateless_uniform([], [number, 2], 0, 20, dtype=kind)

    end, worst = walk(point, 3000, gradient, size)

    assert worst <= limit
    assert off_identity(end) <= limit
    assert end.dtype == kind


@LIGHT
@given(st.sampled_from(SHAPES), SEEDS, STEPS)
def test_the_low_rank_form_is_the_papers_formula(shape, seed, step):
    rng = np.random.default_rng(seed)
    point, gradient = orthonormal(rng, shape), rng.normal(size=shape)

    expected = rotation(point, gradient, step) @ point

    np.testing.assert_allclose(moved(point, gradient, step), expected, atol=1e-10)


@LIGHT
@given(st.sampled_from(SHAPES), SEEDS, STEPS)
def test_one_exact_step_keeps_the_gram_matrix(shape, seed, step):
    rng = np.random.default_rng(seed)
    point, gradient = rng.normal(size=shape), rng.normal(size=shape)
    point /= np.linalg.norm(point)

    end = moved(point, gradient, step)

    np.testing.assert_allclose(end.T @ end, point.T @ point, atol=1e-10)


@LIGHT
@given(st.sampled_from(SHAPES), SEEDS, STEPS)
def test_a_step_without_gradient_goes_nowhere(shape, seed, step):
    point = orthonormal(np.random.default_rng(seed), shape)

    end = moved(point, np.zeros(shape), step)

    np.testing.assert_allclose(end, point, rtol=1e-14, atol=1e-15)


@LIGHT
@given(st.sampled_from(SHAPES), SEEDS, st.floats(-2, 2, allow_subnormal=False))
def test_a_step_back_along_the_same_curve_returns(shape, seed, step):
    rng = np.random.default_rng(seed)
    point, gradient = orthonormal(rng, shape), rng.normal(size=shape)
    # The gradient turned with the point has the same skew matrix.
    turned = rotation(point, gradient, step) @ gradient
    end = moved(point, gradient, step)
    np.testing.assert_allclose(skew(end, turned), skew(point, gradient), atol=1e-9)

    np.testing.assert_allclose(moved(end, turned, -step), point, atol=1e-9)


@LIGHT
@given(st.sampled_from(SHAPES), SEEDS)
def test_the_curve_starts_down_the_riemannian_gradient(shape, seed):
    rng = np.random.default_rng(seed)
    point, gradient = orthonormal(rng, shape), rng.normal(size=shape)
    h = 1e-5

    slope = (moved(point, gradient, h) - moved(point, gradient, -h)) / (2 * h)

    # In the canonical metric the gradient on the manifold is G - W G'W.
    expected = gradient - point @ gradient.T @ point
    np.testing.assert_allclose(slope, -expected, atol=1e-7)


def trace_objective(
    rng: np.random.Generator, shape: tuple[int, int]
) -> tuple[np.ndarray, np.ndarray, Callable[[np.ndarray], float]]:
    """Return M, N and the function -tr(W'M W N), whose minimisers are known."""
    root = orthonormal(rng, (shape[0], shape[0]))
    matrix = root @ np.diag(np.arange(shape[0], 0, -1.0)) @ root.T
    order = np.diag(np.arange(shape[1], 0, -1.0))
    return matrix, order, lambda w: -float(np.trace(w.T @ matrix @ w @ order))


@LIGHT
@given(st.sampled_from([(7, 3), (5, 3), (3, 3), (5, 1)]), SEEDS)
def test_a_small_step_descends_by_half_the_square_of_the_skew_matrix(shape, seed):
    rng = np.random.default_rng(seed)
    matrix, order, function = trace_objective(rng, shape)
    point = orthonormal(rng, shape)
    gradient = -2 * matrix @ point @ order
    h = 1e-6

    up, down = (function(moved(point, gradient, step)) for step in (-h, h))

    # d/dtau f(W(tau)) = -<G, A W> = -|A|^2 / 2, as Wen and Yin have it.
    rate = np.square(skew(point, gradient)).sum() / 2
    assert down < function(point) < up
    assert (up - down) / (2 * h) == pytest.approx(rate, rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("shape", [(7, 2), (4, 3)])
def test_many_steps_find_the_leading_eigenvectors(shape):
    rng = np.random.default_rng(3)
    matrix, order, function = trace_objective(rng, shape)
    factors = tf.constant(matrix), tf.constant(order)

    end, _ = walk(
        tf.constant(orthonormal(rng, shape)),
        1500,
        lambda w, _: -2 * factors[0] @ w @ factors[1],
        0.02,
    )

    leading = np.linalg.eigh(matrix)[1][:, ::-1][:, : shape[1]]
    np.testing.assert_allclose(np.abs(leading.T @ end), np.eye(shape[1]), atol=1e-6)
    assert function(end) == pytest.approx(function(leading), abs=1e-10)


@LIGHT
@given(st.sampled_from(SHAPES), SEEDS, st.floats(1e-6, 0.05))
def test_polish_squares_the_error_and_keeps_the_nearest_point(shape, seed, size):
    rng = np.random.default_rng(seed)
    rough = orthonormal(rng, shape) + size * rng.uniform(-1, 1, size=shape)
    error = rough.T @ rough - np.eye(shape[1])

    end = stiefel.polish(tf.constant(rough)).numpy()

    # (1 + e)(1 - e/2)^2 = 1 - 3/4 e^2 + 1/4 e^3 for each eigenvalue e of the error.
    expected = -0.75 * error @ error + 0.25 * error @ error @ error
    np.testing.assert_allclose(end.T @ end - np.eye(shape[1]), expected, atol=1e-14)
    for matrix in (rough, end):
        left, _, right = np.linalg.svd(matrix, full_matrices=False)
        np.testing.assert_allclose(left @ right, nearest(rough), atol=1e-10)


def nearest(matrix: np.ndarray) -> np.ndarray:
    """Return the nearest matrix with orthonormal columns, X (X'X)^(-1/2)."""
    values, vectors = np.linalg.eigh(matrix.T @ matrix)
    return matrix @ vectors @ np.diag(values**-0.5) @ vectors.T


def test_without_polish_single_precision_drifts():
    """The reason for the polish, so that nobody takes it out as superfluous."""
    rng = np.random.default_rng(2)
    start = tf.constant(orthonormal(rng, (12, 2)), tf.float32)
    gradients = tf.constant(rng.normal(size=(500, 12, 2)), tf.float32)

    @tf.function
    def run(point: Any) -> Any:
        for gradient in gradients:
            point = stiefel.cayley_step(point, gradient, tf.constant(1.0))
        return point

    assert off_identity(run(start).numpy()) > 1e-6


@LIGHT
@given(st.sampled_from(SHAPES), SEEDS)
def test_the_norm_is_that_of_the_direction_of_the_curve(shape, seed):
    rng = np.random.default_rng(seed)
    point, gradient = orthonormal(rng, shape), rng.normal(size=shape)

    norm = stiefel.riemannian_norm(tf.constant(point), tf.constant(gradient))

    expected = np.linalg.norm(skew(point, gradient) @ point)
    assert float(norm) == pytest.approx(expected, rel=1e-10, abs=1e-12)


@LIGHT
@given(st.sampled_from(SHAPES), SEEDS)
def test_the_error_is_numpys(shape, seed):
    matrix = np.random.default_rng(seed).normal(size=shape)

    error = stiefel.orthogonality_error(tf.constant(matrix))

    assert float(error) == pytest.approx(off_identity(matrix), rel=1e-12)
