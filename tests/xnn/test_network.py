"""The objective against the paper's formula in NumPy, and its gradient."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from ridgeline.xnn import network
from ridgeline.xnn.architecture import Architecture, Problem, Rows, Weights

LIGHT = settings(max_examples=15, deadline=None)
SEEDS = st.integers(0, 10**6)
HUGE = float(np.finfo(np.float32).max)
LOGITS = st.floats(-HUGE, HUGE, width=32, allow_subnormal=False)
FLOOR = 1e-8
# Without normalisation the library still divides by sqrt(1 + floor).
ROUNDING = 2e-8
Case = tuple[Architecture, Weights, Problem, Rows]

# Each activation with its first two derivatives, as in any table.
TABLE: dict[str, tuple[Callable[[Any], Any], ...]] = {
    "tanh": (
        np.tanh,
        lambda a: 1 / np.cosh(a) ** 2,
        lambda a: -2 * np.tanh(a) / np.cosh(a) ** 2,
    ),
    "sigmoid": (
        lambda a: 1 / (1 + np.exp(-a)),
        lambda a: np.exp(-a) / (1 + np.exp(-a)) ** 2,
        lambda a: np.exp(-a) * (np.exp(-a) - 1) / (1 + np.exp(-a)) ** 3,
    ),
    "softplus": (
        lambda a: np.log(1 + np.exp(a)),
        lambda a: 1 / (1 + np.exp(-a)),
        lambda a: np.exp(-a) / (1 + np.exp(-a)) ** 2,
    ),
}


def make_case(
    seed: int = 0,
    rows: int = 30,
    *,
    loss: str = "squared",
    counts: tuple[int, ...] = (3, 2),
    hidden: tuple[int, ...] = (4, 3),
    activation: str = "tanh",
    normalised: bool = True,
    smooth: bool = True,
) -> Case:
    """Return a network with random weights, a problem and rows."""
    rng = np.random.default_rng(seed)
    p, k, c = 3, 2, len(counts)
    shape = Architecture(
        n_features=p,
        n_subnetworks=k,
        category_counts=counts,
        hidden=hidden,
        activation=activation,
        projection="free",
        normalised=normalised,
        smooth=smooth,
        loss=loss,
    )
    sizes = (1, *hidden, 1)
    pairs = list(zip(sizes[1:], sizes[:-1], strict=True))
    weights = Weights(
        projection=rng.normal(size=(p, k)),
        kernels=tuple(rng.normal(size=(k, out, into)) for out, into in pairs),
        biases=tuple(rng.normal(size=(k, out, 1)) for out, _ in pairs),
        scales=rng.normal(size=k),
        effects=rng.normal(size=sum(counts)),
        category_scales=rng.normal(size=c),
        intercept=rng.normal(size=()),
    )
    starts = np.cumsum((0, *counts))[:-1]
    codes = rng.integers(0, counts, size=(rows, c)) + starts.astype(int)
    target = rng.normal(size=rows)
    if loss == "logistic":
        target = (target > 0).astype(float)
    weight = rng.uniform(0.5, 2, size=rows)
    shares = np.zeros(sum(counts))
    for column in codes.T:
        shares += np.bincount(column, weight, len(shares)) / weight.sum()
    priors = rng.uniform(0, 0.1, size=sum(counts))
    problem = Problem(0.03, 0.07, 0.05, np.ones(k), np.ones(c), shares, priors)
    return (
        shape,
        weights,
        problem,
        Rows(rng.normal(size=(rows, p)), codes, target, weight, np.zeros(rows)),
    )


def tensors(structure: Any) -> Any:
    """Return a structure of arrays in double precision, with codes as integers."""
    return tf.nest.map_structure(
        lambda a: tf.constant(a, tf.int32 if is_whole(a) else tf.float64), structure
    )


def is_whole(array: Any) -> bool:
    """Return whether an array holds codes."""
    return np.asarray(array).dtype.kind == "i"


def value_and_gradient(case: Case) -> tuple[float, Weights]:
    """Return the library's objective and its gradient."""
    shape, *parts = case
    weights, problem, rows = (tensors(part) for part in parts)
    with tf.GradientTape() as tape:
        tape.watch(weights)
        value = network.objective(shape, weights, problem, rows)
    gradient = tape.gradient(value, weights, unconnected_gradients="zero")
    return float(value), tf.nest.map_structure(lambda g: g.numpy(), gradient)


def value_of(case: Case) -> float:
    """Return the library's objective."""
    shape, *parts = case
    return float(network.objective(shape, *(tensors(part) for part in parts)))


# The paper's formula, one subnetwork after the other.


def plain_subnetwork(
    shape: Architecture, weights: Weights, j: int, z: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return raw outputs of a subnetwork and second derivatives, by the chain rule."""
    function, slope, bend = TABLE[shape.activation]
    units, first, second = z[None], np.ones((1, len(z))), np.zeros((1, len(z)))
    for layer, (kernel, bias) in enumerate(
        zip(weights.kernels, weights.biases, strict=True)
    ):
        units, first, second = (kernel[j] @ part for part in (units, first, second))
        units = units + bias[j]
        if layer < len(shape.hidden):
            second = bend(units) * first**2 + slope(units) * second
            first = slope(units) * first
            units = function(units)
    return units[0], second[0]


def plain_scaled(values: np.ndarray, share: np.ndarray) -> tuple[np.ndarray, float]:
    """Return values with mean 0 and norm 1, and their variance."""
    mean = np.sum(share * values)
    variance = np.sum(share * (values - mean) ** 2)
    return (values - mean) / np.sqrt(variance + FLOOR), variance


def plain_decision(case: Case) -> np.ndarray:
    """Return the decision of each row."""
    shape, weights, problem, rows = case
    share = rows.weight / rows.weight.sum()
    total = np.full(len(rows.target), float(weights.intercept))
    for j in range(shape.n_subnetworks):
        values, _ = plain_subnetwork(
            shape, weights, j, rows.numeric @ weights.projection[:, j]
        )
        if shape.normalised:
            values, _ = plain_scaled(values, share)
        total += problem.used[j] * weights.scales[j] * values
    start = 0
    for feature, count in enumerate(shape.category_counts):
        effects = weights.effects[start : start + count]
        if shape.normalised:
            shares = problem.category_shares[start : start + count]
            effects, _ = plain_scaled(effects, shares / shares.sum())
        scale = problem.used_categories[feature] * weights.category_scales[feature]
        total += scale * effects[rows.codes[:, feature] - start]
        start += count
    return total


def plain_shrinkage(case: Case) -> float:
    """Return the price of the squares of all effects."""
    shape, weights, problem, _ = case
    total, start = 0.0, 0
    for feature, count in enumerate(shape.category_counts):
        own = slice(start, start + count)
        effects = weights.effects[own]
        if shape.normalised:
            shares = problem.category_shares[own]
            effects, _ = plain_scaled(effects, shares / shares.sum())
        scale = problem.used_categories[feature] * weights.category_scales[feature]
        total += np.sum(problem.category_priors[own] * (scale * effects) ** 2)
        start += count
    return float(total)


def plain_roughness(case: Case, first_rows: int = 250) -> float:
    """Return the sum of the mean squared second derivatives of the first rows."""
    shape, weights, _, rows = case
    total = 0.0
    for j in range(shape.n_subnetworks):
        values, second = plain_subnetwork(
            shape, weights, j, rows.numeric @ weights.projection[:, j]
        )
        _, variance = plain_scaled(values, rows.weight / rows.weight.sum())
        if shape.normalised:
            second = second / np.sqrt(variance + FLOOR)
        total += np.average(second[:first_rows] ** 2, weights=rows.weight[:first_rows])
    return total


def plain_objective(case: Case) -> float:
    """Return loss and penalties."""
    shape, weights, problem, rows = case
    decision, target = plain_decision(case), rows.target
    if shape.loss == "squared":
        losses = (decision - target) ** 2
    else:
        chance = 1 / (1 + np.exp(-decision))
        losses = -target * np.log(chance) - (1 - target) * np.log(1 - chance)
    total = np.average(losses, weights=rows.weight)
    total += problem.l1_projection * np.abs(weights.projection).sum()
    total += problem.l1_scales * np.abs(problem.used * weights.scales).sum()
    gamma = problem.used_categories * weights.category_scales
    total += problem.l1_scales * np.abs(gamma).sum()
    total += plain_shrinkage(case)
    if shape.smooth:
        total += problem.roughness * plain_roughness(case)
    return float(total)


def finite_differences(case: Case, h: float = 1e-5) -> Weights:
    """Return central differences of the plain objective in every single weight."""
    shape, weights, problem, rows = case
    gradients = []
    flat = [np.array(part, dtype=np.float64) for part in tf.nest.flatten(weights)]
    for part in flat:
        gradient = np.zeros(part.shape)
        for place in np.ndindex(part.shape):
            kept, ends = part[place], []
            for number in (kept + h, kept - h):
                part[place] = number
                moved = tf.nest.pack_sequence_as(weights, flat)
                ends.append(plain_objective((shape, moved, problem, rows)))
            part[place] = kept
            gradient[place] = (ends[0] - ends[1]) / (2 * h)
        gradients.append(gradient)
    return tf.nest.pack_sequence_as(weights, gradients)


def assert_same_weights(one: Weights, other: Weights, **tolerance: float) -> None:
    """Check every part of two structures."""
    for name in Weights._fields:
        parts = (tf.nest.flatten(getattr(side, name)) for side in (one, other))
        for left, right in zip(*parts, strict=True):
            np.testing.assert_allclose(left, right, err_msg=name, **tolerance)


@pytest.mark.parametrize("smooth", [True, False])
@pytest.mark.parametrize("normalised", [True, False])
@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_objective_and_gradient_are_those_of_the_formula(loss, normalised, smooth):
    case = make_case(1, loss=loss, normalised=normalised, smooth=smooth)

    value, gradient = value_and_gradient(case)

    assert value == pytest.approx(plain_objective(case), rel=ROUNDING)
    assert_same_weights(gradient, finite_differences(case), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(
    "options",
    [
        {"activation": "sigmoid"},
        {"activation": "softplus"},
        {"counts": ()},
        {"counts": (1, 4)},
        {"hidden": (5,)},
        {"hidden": (2, 3, 2), "activation": "softplus", "loss": "logistic"},
        {"hidden": (), "smooth": False},
    ],
)
def test_other_networks_have_the_right_gradient_too(options):
    case = make_case(2, **options)

    value, gradient = value_and_gradient(case)

    assert value == pytest.approx(plain_objective(case), rel=1e-11)
    assert_same_weights(gradient, finite_differences(case), rtol=1e-5, atol=1e-7)


@LIGHT
@given(SEEDS, st.sampled_from(["squared", "logistic"]), st.booleans())
def test_the_objective_is_the_formulas_for_random_networks(seed, loss, normalised):
    case = make_case(seed, loss=loss, normalised=normalised)

    assert value_of(case) == pytest.approx(plain_objective(case), rel=ROUNDING)


def test_single_precision_is_close_to_the_formula():
    shape, *parts = case = make_case(3)
    narrow = [
        tf.nest.map_structure(
            lambda a: tf.constant(a, tf.int32 if is_whole(a) else tf.float32), part
        )
        for part in parts
    ]

    value = network.objective(shape, *narrow)

    assert value.dtype == tf.float32
    assert float(value) == pytest.approx(plain_objective(case), rel=1e-4)


@pytest.mark.parametrize("rows", [249, 250, 251, 300])
def test_the_roughness_is_the_mean_over_the_first_rows(rows):
    shape, weights, problem, batch = case = make_case(4, rows=rows)
    bent = problem._replace(roughness=1.0)
    straight = problem._replace(roughness=0.0)

    penalty = value_of((shape, weights, bent, batch)) - value_of(
        (shape, weights, straight, batch)
    )

    assert penalty == pytest.approx(plain_roughness(case, 250), rel=1e-9)
    if rows > 250:
        assert penalty != pytest.approx(plain_roughness(case, rows), rel=1e-9)


def test_the_gradient_holds_above_the_rows_of_the_roughness():
    case = make_case(5, rows=260)

    _, gradient = value_and_gradient(case)

    assert_same_weights(gradient, finite_differences(case), rtol=1e-5, atol=1e-7)


@settings(LIGHT, max_examples=10)
@given(SEEDS, st.booleans(), st.integers(1, 5))
def test_rows_of_weight_zero_change_nothing(seed, normalised, padding):
    shape, weights, problem, rows = case = make_case(seed, 20, normalised=normalised)
    rng = np.random.default_rng(seed)
    # Anywhere among the others, and with values of their own.
    where = np.sort(rng.integers(0, 21, size=padding))
    padded = Rows(
        np.insert(rows.numeric, where, rng.normal(size=(padding, 3)), axis=0),
        np.insert(rows.codes, where, 0, axis=0),
        np.insert(rows.target, where, 9.0),
        np.insert(rows.weight, where, 0.0),
        np.insert(rows.offset, where, 0.0),
    )

    value, gradient = value_and_gradient(case)
    other, other_gradient = value_and_gradient((shape, weights, problem, padded))

    assert other == pytest.approx(value, rel=1e-11)
    assert_same_weights(other_gradient, gradient, rtol=1e-8, atol=1e-9)


@LIGHT
@given(SEEDS, st.floats(0.01, 100))
def test_a_weight_of_two_is_the_row_twice(seed, factor):
    shape, weights, problem, rows = make_case(seed, 15)
    times = np.random.default_rng(seed).integers(1, 4, size=15)
    weighed = rows._replace(weight=times * factor)
    repeated = Rows(*(np.repeat(column, times, axis=0) for column in rows))
    repeated = repeated._replace(weight=np.ones(times.sum()))

    values = [value_of((shape, weights, problem, r)) for r in (weighed, repeated)]

    assert values[0] == pytest.approx(values[1], rel=1e-9)


@pytest.mark.parametrize("normalised", [True, False])
def test_a_masked_component_does_not_contribute(normalised):
    shape, weights, problem, rows = make_case(6, normalised=normalised)
    masked = problem._replace(
        used=np.array([0.0, 1.0]),
        used_categories=np.array([1.0, 0.0]),
        l1_projection=0.0,
        roughness=0.0,
    )
    without = weights._replace(
        scales=weights.scales * masked.used,
        category_scales=weights.category_scales * masked.used_categories,
    )

    value, gradient = value_and_gradient((shape, weights, masked, rows))

    plain = problem._replace(l1_projection=0.0, roughness=0.0)
    expected = plain_objective((shape, without, plain, rows))
    assert value == pytest.approx(expected, rel=ROUNDING)
    # Neither its scale nor anything behind it is trained; the others are.
    assert gradient.scales[0] == 0
    assert gradient.scales[1] != 0
    assert gradient.category_scales[1] == 0
    assert gradient.category_scales[0] != 0
    np.testing.assert_array_equal(gradient.projection[:, 0], 0)
    np.testing.assert_array_equal(gradient.effects[3:], 0)
    assert np.abs(gradient.effects[:3]).min() > 0
    for part in gradient.kernels + gradient.biases:
        np.testing.assert_array_equal(part[0], 0)
    assert all(np.abs(kernel[1]).max() > 0 for kernel in gradient.kernels)


def test_the_scale_of_a_masked_component_is_not_trained_by_penalties():
    shape, weights, problem, rows = make_case(7)
    masked = problem._replace(used=np.array([1.0, 0.0]))

    _, gradient = value_and_gradient((shape, weights, masked, rows))

    assert gradient.scales[1] == 0


# The decision and the loss by themselves.


@pytest.mark.parametrize("normalised", [True, False])
def test_an_unknown_category_adds_nothing(normalised):
    shape, weights, problem, rows = make_case(8, rows=6, normalised=normalised)
    unknown = np.full_like(rows.codes, sum(shape.category_counts))
    half = np.column_stack([rows.codes[:, 0], unknown[:, 1]])
    outputs = tf.constant(np.random.default_rng(0).normal(size=(2, 6)))

    def decisions(problem: Problem, codes: np.ndarray) -> np.ndarray:
        parts = tensors(weights), tensors(problem), outputs, tensors(codes)
        return network.decision(shape, *parts).numpy()

    expected = weights.intercept + weights.scales @ outputs.numpy()
    np.testing.assert_allclose(decisions(problem, unknown), expected, rtol=1e-12)
    # An unknown one beside a known one.
    first = problem._replace(used_categories=np.array([1.0, 0.0]))
    known = decisions(first, rows.codes)
    np.testing.assert_allclose(decisions(problem, half), known, rtol=1e-12)
    assert not np.allclose(known, expected)


@pytest.mark.parametrize("options", [{}, {"counts": ()}, {"hidden": ()}])
def test_weights_are_the_same_after_packing(options):
    shape, weights, *_ = make_case(10, **options)

    vector = network.pack(tensors(weights))
    again = network.unpack(shape, vector)

    assert vector.shape == (sum(np.size(part) for part in tf.nest.flatten(weights)),)
    # The optimiser relies on the projection being the first.
    np.testing.assert_array_equal(vector[:6], weights.projection.ravel())
    assert_same_weights(again, weights, rtol=0, atol=0)
    assert tf.nest.map_structure(np.shape, weights) == tf.nest.map_structure(
        lambda part: tuple(part.shape), again
    )


def test_raw_outputs_are_those_of_each_subnetwork():
    shape, weights, _, rows = make_case(9, rows=7)

    outputs = network.raw_outputs(shape, tensors(weights), tensors(rows.numeric))

    for j in range(2):
        z = rows.numeric @ weights.projection[:, j]
        expected, _ = plain_subnetwork(shape, weights, j, z)
        np.testing.assert_allclose(outputs[j], expected, rtol=1e-12)


@LIGHT
@given(LOGITS, st.sampled_from([0.0, 1.0]))
def test_the_logistic_loss_is_finite_whatever_the_logit(logit, label):
    shape, *_ = make_case(loss="logistic")
    predicted = tf.constant([logit])
    with tf.GradientTape() as tape:
        tape.watch(predicted)
        loss = network.data_loss(shape, predicted, tf.constant([label]))
    slope = tape.gradient(loss, predicted)

    # -log of the probability of the label.
    expected = np.logaddexp(0, logit if label == 0 else -logit)
    np.testing.assert_allclose(loss, [expected], rtol=1e-5, atol=1e-30)
    chance = 0.5 + 0.5 * np.tanh(logit / 2)
    np.testing.assert_allclose(slope, [chance - label], rtol=1e-4, atol=1e-6)


def test_the_squared_loss_is_that_of_each_row():
    shape, *_ = make_case()

    losses = network.data_loss(shape, tf.constant([1.0, -2.0]), tf.constant([3.0, 1.0]))

    np.testing.assert_array_equal(losses, [4, 9])
