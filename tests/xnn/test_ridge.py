"""Ridge subnetworks: values, second derivatives, normalisation and roughness."""

from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from ridgeline.xnn import ridge

LIGHT = settings(max_examples=20, deadline=None)
SEEDS = st.integers(0, 10**6)
ACTIVATIONS = ["tanh", "sigmoid", "softplus"]
HIDDEN = [(), (4,), (4, 3), (3, 4, 2), (1, 1)]
PLAIN = {
    "tanh": np.tanh,
    "sigmoid": lambda a: 1 / (1 + np.exp(-a)),
    "softplus": lambda a: np.log(1 + np.exp(a)),
}
Layers = tuple[tuple[np.ndarray, ...], tuple[np.ndarray, ...]]


def layers(rng: np.random.Generator, k: int, hidden: tuple[int, ...]) -> Layers:
    """Return random kernels and biases of k subnetworks."""
    sizes = (1, *hidden, 1)
    pairs = list(zip(sizes[1:], sizes[:-1], strict=True))
    return (
        tuple(rng.normal(size=(k, out, into)) for out, into in pairs),
        tuple(rng.normal(size=(k, out, 1)) for out, _ in pairs),
    )


def tensors(parts: Layers, kind: str = "float64") -> tuple[tuple[Any, ...], ...]:
    """Return the layers as TensorFlow takes them."""
    return tuple(tuple(tf.constant(a, kind) for a in part) for part in parts)


def plain_values(parts: Layers, z: np.ndarray, activation: str) -> np.ndarray:
    """Return what each subnetwork says, one subnetwork and one row after the other."""
    values = np.empty_like(z)
    for j, row in enumerate(z):
        for i, number in enumerate(row):
            units = [number]
            for layer, (kernel, bias) in enumerate(zip(*parts, strict=True)):
                units = [
                    sum(w * u for w, u in zip(line, units, strict=True)) + b
                    for line, b in zip(kernel[j], bias[j][:, 0], strict=True)
                ]
                if layer < len(parts[0]) - 1:
                    units = [PLAIN[activation](u) for u in units]
            (values[j, i],) = units
    return values


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("hidden", HIDDEN)
@pytest.mark.parametrize("k", [1, 3])
def test_values_are_those_of_a_plain_loop(k, hidden, activation):
    rng = np.random.default_rng(4)
    parts, z = layers(rng, k, hidden), rng.normal(size=(k, 5))
    expected = plain_values(parts, z, activation)

    values = ridge.ridge_values(*tensors(parts), tf.constant(z), activation)
    curve = ridge.ridge_curves(*tensors(parts), tf.constant(z), activation)

    np.testing.assert_allclose(values, expected, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(curve.value, expected, rtol=1e-12, atol=1e-13)
    assert curve.second.shape == z.shape


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("hidden", HIDDEN)
def test_second_derivatives_are_those_of_nested_tapes(hidden, activation):
    rng = np.random.default_rng(5)
    parts, z = tensors(layers(rng, 2, hidden)), tf.constant(rng.normal(size=(2, 9)))
    with tf.GradientTape() as outer:
        outer.watch(z)
        with tf.GradientTape() as inner:
            inner.watch(z)
            values = ridge.ridge_values(*parts, z, activation)
        # Every value depends on its own z alone.
        first = inner.gradient(values, z)
    expected = outer.gradient(first, z, unconnected_gradients="zero")

    second = ridge.ridge_curves(*parts, z, activation).second

    np.testing.assert_allclose(second, expected, rtol=1e-10, atol=1e-12)


@settings(LIGHT, max_examples=30)
@given(SEEDS, st.sampled_from(HIDDEN), st.sampled_from(ACTIVATIONS))
def test_second_derivatives_are_those_of_finite_differences(seed, hidden, activation):
    rng = np.random.default_rng(seed)
    parts, z = tensors(layers(rng, 2, hidden)), rng.normal(size=(2, 6))
    h = 2e-3
    # A formula of fourth order: its own error is far below the tolerance.
    stencil = {-2: -1 / 12, -1: 4 / 3, 0: -5 / 2, 1: 4 / 3, 2: -1 / 12}
    expected = sum(
        factor
        * ridge.ridge_values(*parts, tf.constant(z + place * h), activation).numpy()
        for place, factor in stencil.items()
    )

    second = ridge.ridge_curves(*parts, tf.constant(z), activation).second

    np.testing.assert_allclose(second, expected / h**2, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_single_precision_agrees_with_double(activation):
    rng = np.random.default_rng(6)
    parts, z = layers(rng, 3, (4, 3)), rng.normal(size=(3, 7))

    both = [
        ridge.ridge_curves(*tensors(parts, kind), tf.constant(z, kind), activation)
        for kind in ("float32", "float64")
    ]

    for narrow, wide in zip(*both, strict=True):
        assert narrow.dtype == tf.float32
        np.testing.assert_allclose(narrow, wide, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_far_out_everything_is_finite(activation):
    parts = tensors(layers(np.random.default_rng(7), 2, (4, 3)), "float32")
    z = tf.constant([[-1e6, 1e6, -50.0, 90.0]] * 2)

    curve = ridge.ridge_curves(*parts, z, activation)

    assert np.isfinite(curve.value).all()
    # The activations are straight there.
    np.testing.assert_allclose(curve.second[:, :2], 0, atol=1e-6)


# Moments and normalisation.


def weighted(rng: np.random.Generator, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return outputs of two subnetworks and weights of the rows, some of them zero."""
    values = rng.normal(rng.normal(size=(2, 1)), 2, size=(2, rows))
    weight = rng.uniform(0.1, 3, size=rows) * (rng.random(rows) < 0.8)
    weight[0] = 1
    return values, weight


def moments(values: np.ndarray, weight: np.ndarray) -> ridge.Moments:
    """Return the library's moments in double precision."""
    return ridge.moments(tf.constant(values), tf.constant(weight, tf.float64))


def same(one: ridge.Moments, other: ridge.Moments, rtol: float = 1e-11) -> None:
    """Check that all three parts are equal."""
    for left, right in zip(one, other, strict=True):
        np.testing.assert_allclose(left, right, rtol=rtol, atol=1e-12)


@LIGHT
@given(SEEDS, st.integers(1, 20))
def test_moments_are_numpys_weighted_averages(seed, rows):
    values, weight = weighted(np.random.default_rng(seed), rows)

    by = moments(values, weight)

    mean = np.average(values, axis=1, weights=weight)[:, None]
    variance = np.average((values - mean) ** 2, axis=1, weights=weight)[:, None]
    same(by, ridge.Moments(weight.sum(), mean, variance))


@LIGHT
@given(SEEDS, st.integers(1, 20), st.floats(0.01, 100))
def test_weights_mean_what_they_say(seed, rows, factor):
    values, weight = weighted(np.random.default_rng(seed), rows)
    by = moments(values, weight)
    padded = np.concatenate([np.full((2, 3), 1e6), values], axis=1)
    twice = np.concatenate([values, values], axis=1)

    # A row of weight zero does not count.
    same(moments(padded, np.append(np.zeros(3), weight)), by)
    # A weight of two is the row twice.
    same(moments(values, 2 * weight), moments(twice, np.tile(weight, 2)))
    # Only the ratio of weights matters.
    scaled = moments(values, factor * weight)
    same(scaled._replace(weight=by.weight), by)


@LIGHT
@given(SEEDS, st.integers(2, 20), st.data())
def test_merged_moments_are_those_of_the_union(seed, rows, data):
    values, weight = weighted(np.random.default_rng(seed), rows)
    weight += 0.01
    at = data.draw(st.integers(1, rows - 1))
    parts = [moments(values[:, s], weight[s]) for s in (slice(at), slice(at, None))]

    both = ridge.merge_moments(*parts)

    same(both, moments(values, weight))
    same(both, ridge.merge_moments(*parts[::-1]))
    nothing = ridge.Moments(*(tf.zeros_like(part) for part in both))
    same(ridge.merge_moments(nothing, both), both)


def test_merging_far_from_zero_loses_no_digits():
    rng = np.random.default_rng(8)
    values = rng.normal(3000, 1, size=(1, 4000)).astype(np.float32)
    by = ridge.Moments(tf.constant(0.0), tf.zeros([1, 1]), tf.zeros([1, 1]))
    for block in np.split(values, 40, axis=1):
        these = ridge.moments(tf.constant(block), tf.ones([100]))
        by = ridge.merge_moments(by, these)

    # Sums of squares would leave no digit: 3000^2 is 9e6, and single has seven.
    exact = values.astype(np.float64)
    np.testing.assert_allclose(by.variance, [[exact.var()]], rtol=1e-3)
    np.testing.assert_allclose(by.mean, [[exact.mean()]], rtol=1e-6)


@LIGHT
@given(SEEDS, st.integers(3, 20))
def test_normalised_outputs_have_mean_zero_and_norm_one(seed, rows):
    values, weight = weighted(np.random.default_rng(seed), rows)
    weight += 0.01

    normal = ridge.normalise(tf.constant(values), moments(values, weight)).numpy()

    share = weight / weight.sum()
    np.testing.assert_allclose(normal @ share, 0, atol=1e-12)
    # One, but for the floor under the variance.
    variance = (values - (values @ share)[:, None]) ** 2 @ share
    np.testing.assert_allclose(normal**2 @ share, variance / (variance + 1e-8))
    # A straight map upwards: nothing but shift and size is changed.
    np.testing.assert_allclose(np.corrcoef(normal[0], values[0]), 1, rtol=1e-9)


def test_a_constant_output_becomes_zero():
    values = tf.fill([2, 5], 7.0)

    normal = ridge.normalise(values, ridge.moments(values, tf.ones([5])))

    # The mean of five sevens may be off by rounding; the floor keeps that small.
    np.testing.assert_allclose(normal, 0, atol=0.01)


# Roughness.


def omega(parts: Layers, z: np.ndarray, activation: str, weight: np.ndarray) -> float:
    """Return the roughness as the objective computes it."""
    curve = ridge.ridge_curves(*tensors(parts), tf.constant(z), activation)
    weights = tf.constant(weight)
    by = ridge.moments(curve.value, weights)
    return float(ridge.roughness(curve.second, by.variance, weights))


def test_the_roughness_of_one_tanh_is_known():
    z = np.linspace(-2, 2, 41)
    weight = np.random.default_rng(9).uniform(0.5, 2, 41)
    one = np.ones((1, 1, 1))
    parts = (one, one), (0 * one, 0 * one)

    value = omega(parts, z[None], "tanh", weight)

    function, bend = np.tanh(z), -2 * np.tanh(z) / np.cosh(z) ** 2
    mean = np.average(function, weights=weight)
    variance = np.average((function - mean) ** 2, weights=weight)
    expected = np.average(bend**2, weights=weight) / variance
    assert value == pytest.approx(expected, rel=1e-6)


@LIGHT
@given(SEEDS)
def test_a_straight_line_is_not_rough(seed):
    rng = np.random.default_rng(seed)

    value = omega(layers(rng, 2, ()), rng.normal(size=(2, 8)), "tanh", np.ones(8))

    assert value == 0


@LIGHT
@given(SEEDS, st.sampled_from(ACTIVATIONS), st.sampled_from([-30.0, -1.0, 0.2, 10.0]))
def test_the_roughness_does_not_depend_on_the_size_of_the_output(
    seed, activation, factor
):
    rng = np.random.default_rng(seed)
    kernels, biases = layers(rng, 2, (4, 3))
    # Outputs of some size, so that the floor under the variance is out of sight.
    kernels = (*kernels[:-1], 10 * kernels[-1])
    z, weight = 2 * rng.normal(size=(2, 30)), rng.uniform(0.5, 2, 30)
    scaled = (
        (*kernels[:-1], factor * kernels[-1]),
        (*biases[:-1], factor * biases[-1] + 3),
    )

    values = [
        omega(parts, z, activation, weight) for parts in ((kernels, biases), scaled)
    ]

    assert values[1] == pytest.approx(values[0], rel=1e-4)


@LIGHT
@given(SEEDS)
def test_the_roughness_weighs_rows(seed):
    rng = np.random.default_rng(seed)
    second, variance = rng.normal(size=(2, 6)), rng.uniform(0.5, 2, size=(2, 1))
    weight = rng.integers(0, 3, size=6)
    weight[0] = 1

    value = ridge.roughness(
        tf.constant(second), tf.constant(variance), tf.constant(weight, tf.float64)
    )

    # Zero leaves a row out, two repeats it.
    repeated = np.repeat(second, weight, axis=1)
    expected = (np.mean(repeated**2, axis=1) / variance[:, 0]).sum()
    assert float(value) == pytest.approx(expected, rel=1e-6)
