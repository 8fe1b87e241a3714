"""From trained weights to a fitted model and back: the same function, one form."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from ridgeline.xnn import network, ridge
from ridgeline.xnn.architecture import Architecture, Problem, Rows, Weights
from ridgeline.xnn.assembly import fitted_model, trained_weights
from ridgeline.xnn.columns import REFUSED
from ridgeline.xnn.features import Features
from ridgeline.xnn.response import Response
from ridgeline.xnn.scorer import BeyondRangeWarning, Scorer
from ridgeline.xnn.starts import initial_weights
from ridgeline.xnn.tables import encode_rows

LIGHT = settings(max_examples=20, deadline=None)
SEEDS = st.integers(0, 10**6)
# Two of the columns are categorical, one of them a flag, and one is constant; four
# numbers are projected, and with them the flag where a case asks for it.
CATEGORICAL, CONSTANT, VARYING = [1, 6], 3, [0, 2, 4, 5]


class Case(NamedTuple):
    """Trained weights, and the rows that they were trained on."""

    table: np.ndarray
    shape: Architecture
    weights: Weights
    rows: Rows
    features: Features
    response: Response

    def fit(self, **changes: Any) -> Scorer:
        """Return the fitted model of other weights, or of these."""
        weights = self.weights._replace(**changes)
        return fitted_model(
            weights, self.shape, self.rows, self.features, self.response
        )


def make_case(
    seed: int = 0,
    rows: int = 60,
    *,
    projection: str = "orthogonal",
    normalised: bool = True,
    hidden: tuple[int, ...] = (4, 3),
    classes: tuple[Any, Any] | None = None,
    flags: bool = False,
) -> Case:
    """Return a network with random weights and rows of random weight."""
    rng = np.random.default_rng(seed)
    table = rng.normal(3, 20, size=(rows, 7))
    table[:, CATEGORICAL[0]] = rng.choice([10, 20, 35], size=rows)
    table[:, CATEGORICAL[1]] = rng.choice([0, 1], size=rows)
    table[:3, CATEGORICAL] = [[10, 0], [20, 1], [35, 1]]
    table[:, CONSTANT] = 8.5
    y = rng.normal(100, 30, size=rows)
    response = Response.learn(y)
    if classes:
        y, response = (y > 100).astype(float), Response(0.0, 1.0, classes)
    flags = flags and projection != "identity"
    features = Features.learn(table, CATEGORICAL, project_flags=flags)
    weight = rng.uniform(0.5, 2, size=rows)
    shape = Architecture(
        n_features=4 + flags,
        n_subnetworks=4 if projection == "identity" else 3,
        category_counts=(3, 2),
        hidden=hidden,
        activation="tanh",
        projection=projection,
        normalised=normalised,
        smooth=True,
        loss="logistic" if classes else "squared",
    )
    return Case(
        table,
        shape,
        random_weights(rng, shape),
        encode_rows(features, response, table, y, weight),
        features,
        response,
    )


def random_weights(rng: np.random.Generator, shape: Architecture) -> Weights:
    """Return weights as training leaves them, in single precision."""
    p, k = shape.n_features, shape.n_subnetworks
    matrix = {
        "orthogonal": np.linalg.qr(rng.normal(size=(p, k)))[0],
        "free": rng.normal(size=(p, k)),
        "identity": np.eye(p),
    }[shape.projection]
    sizes = (1, *shape.hidden, 1)
    pairs = list(zip(sizes[1:], sizes[:-1], strict=True))
    weights = Weights(
        projection=matrix,
        kernels=tuple(rng.normal(size=(k, out, into)) for out, into in pairs),
        biases=tuple(rng.normal(size=(k, out, 1)) for out, _ in pairs),
        scales=rng.normal(size=k),
        effects=rng.normal(size=sum(shape.category_counts)),
        category_scales=rng.normal(size=len(shape.category_counts)),
        intercept=rng.normal(size=()),
    )
    return tf.nest.map_structure(lambda a: np.asarray(a, np.float32), weights)


def network_decision(
    case: Case, weights: Weights | None = None, kind: str = "float64"
) -> np.ndarray:
    """Return what the network says, normalised over all training rows."""
    shape, rows = case.shape, case.rows
    numeric, weight = tf.constant(rows.numeric, kind), tf.constant(rows.weight, kind)
    shares = np.bincount(rows.codes.ravel(), np.repeat(rows.weight, 2))
    problem = Problem(
        0.0,
        0.0,
        0.0,
        np.ones(shape.n_subnetworks),
        np.ones(2),
        shares / shares[:3].sum(),
        np.zeros(5),
    )
    weights, problem = tf.nest.map_structure(
        lambda a: tf.constant(a, kind), (weights or case.weights, problem)
    )
    outputs = network.raw_outputs(shape, weights, numeric)
    if shape.normalised:
        outputs = ridge.normalise(outputs, ridge.moments(outputs, weight))
    target = network.decision(shape, weights, problem, outputs, tf.constant(rows.codes))
    return case.response.centre + case.response.half * target.numpy()


def assert_same_model(one: Scorer, other: Scorer, **tolerance: float) -> None:
    """Check that two models are the same in every part."""
    for name in ("projection", "scales", "category_scales", "intercept"):
        parts = getattr(one, name), getattr(other, name)
        np.testing.assert_allclose(*parts, err_msg=name, **tolerance)
    pairs = [
        (one.subnetworks.kernels, other.subnetworks.kernels),
        (one.subnetworks.biases, other.subnetworks.biases),
        (one.effects, other.effects),
        (one.spread.shares, other.spread.shares),
        ([one.spread.edges], [other.spread.edges]),
        ([one.spread.heights], [other.spread.heights]),
    ]
    for left, right in pairs:
        for a, b in zip(left, right, strict=True):
            np.testing.assert_allclose(a, b, **tolerance)


CASES = st.builds(
    make_case,
    SEEDS,
    projection=st.sampled_from(["orthogonal", "free", "identity"]),
    normalised=st.booleans(),
    hidden=st.sampled_from([(4, 3), (5,), ()]),
    classes=st.sampled_from([None, ("no", "yes")]),
    flags=st.booleans(),
)


# The same function.


@LIGHT
@given(CASES)
def test_the_model_decides_as_the_network_does(case):
    scorer = case.fit()

    # Rows are in single precision, the table is in double.
    expected = network_decision(case)
    spread = np.ptp(expected)
    decided = scorer.decision_function(case.table)
    np.testing.assert_allclose(decided, expected, atol=1e-5 * spread)
    # Contributions and intercept add up to it.
    total = scorer.intercept + scorer.contributions(case.table).sum(axis=1)
    np.testing.assert_allclose(total, decided, rtol=1e-9, atol=1e-9 * spread)


@pytest.mark.parametrize("normalised", [True, False])
def test_the_model_decides_as_the_network_in_single_precision_does(normalised):
    case = make_case(3, normalised=normalised)

    expected = network_decision(case, kind="float32")

    decided = case.fit().decision_function(case.table)
    np.testing.assert_allclose(decided, expected, atol=1e-4 * np.ptp(expected))


def test_a_projected_flag_shifts_the_curves_by_its_weight():
    case = make_case(5, flags=True)
    scorer = case.fit(category_scales=np.zeros(2, np.float32))
    zero, one = np.repeat(case.table[:1], 2, axis=0)
    zero[CATEGORICAL[1]], one[CATEGORICAL[1]] = 0, 1
    low, high = (
        scorer.features.encode(row[None], REFUSED).numeric for row in (zero, one)
    )
    # From -1 to 1: every projection moves by twice the weight of the flag.
    np.testing.assert_allclose(
        (high - low) @ scorer.projection, 2 * scorer.projection[-1:], atol=1e-12
    )
    by_hand = [
        scorer.intercept
        + scorer.scales @ scorer.subnetworks(scorer.projection.T @ side.T)[:, 0]
        for side in (low, high)
    ]
    decided = scorer.decision_function(np.stack([zero, one]))
    np.testing.assert_allclose(decided, by_hand)
    assert decided[0] != decided[1]


@LIGHT
@given(CASES)
def test_there_and_back_again_is_the_same_model(case):
    scorer = case.fit()
    weights = trained_weights(scorer, case.response)

    again = case._replace(weights=weights)

    decided = scorer.decision_function(case.table)
    close = {"rtol": 1e-6, "atol": 1e-6 * np.ptp(decided)}
    np.testing.assert_allclose(
        again.fit().decision_function(case.table), decided, **close
    )
    close = {"rtol": 1e-5, "atol": 1e-5 * np.ptp(decided)}
    np.testing.assert_allclose(network_decision(again), decided, **close)
    assert_same_model(again.fit(), scorer, rtol=1e-4, atol=1e-5)


def test_the_raw_network_without_normalisation_is_kept():
    case = make_case(4, normalised=False)
    weights, rows = case.weights, case.rows

    decided = case.fit().decision_function(case.table)

    # Written out: mu + sum beta_j o_j + sum gamma_c b_c, nothing normalised.
    total = np.full(len(rows.target), float(weights.intercept))
    for j in range(3):
        units = (rows.numeric @ weights.projection[:, j])[None]
        for layer in range(3):
            units = weights.kernels[layer][j] @ units + weights.biases[layer][j]
            units = np.tanh(units) if layer < 2 else units
        total += weights.scales[j] * units[0]
    for c in range(2):
        total += weights.category_scales[c] * weights.effects[rows.codes[:, c]]
    expected = case.response.centre + case.response.half * total
    np.testing.assert_allclose(decided, expected, rtol=1e-4, atol=1e-3)


@LIGHT
@given(SEEDS, st.sampled_from([1e-6, 1e-4, 1e-2]))
def test_functions_of_small_deviation_are_scaled_as_in_training(seed, size):
    case = make_case(seed)
    # The floor under the variance counts here: it makes the function smaller.
    small = case._replace(
        weights=case.weights._replace(
            kernels=(*case.weights.kernels[:-1], size * case.weights.kernels[-1]),
            biases=(*case.weights.biases[:-1], 0 * case.weights.biases[-1]),
        )
    )

    decided = small.fit().decision_function(small.table)

    expected = network_decision(small)
    np.testing.assert_allclose(decided, expected, atol=1e-4 * np.ptp(expected))


# One form.


@LIGHT
@given(CASES)
def test_every_component_has_mean_zero_and_norm_one(case):
    scorer = case.fit()

    assert_normalised(scorer, case)


def assert_normalised(scorer: Scorer, case: Case) -> None:
    """Check every component over the training rows."""
    share = case.rows.weight / case.rows.weight.sum(dtype=float)
    functions = scorer.subnetworks(scorer.project(case.table).T)
    categories = [
        effects[codes - start]
        for effects, codes, start in zip(
            scorer.effects, case.rows.codes.T, (0, 3), strict=True
        )
    ]
    components = np.vstack([functions, *categories])
    np.testing.assert_allclose(components @ share, 0, atol=1e-6)
    np.testing.assert_allclose(components**2 @ share, 1, atol=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_components_far_from_zero_are_centred(seed):
    case = make_case(seed)
    weights = case.weights

    scorer = case.fit(
        effects=weights.effects + np.float32(100),
        biases=(*weights.biases[:-1], weights.biases[-1] + np.float32(100)),
    )

    assert_normalised(scorer, case)


@pytest.mark.parametrize("normalised", [True, False])
def test_blocks_of_rows_are_put_together(normalised):
    case = make_case(5, rows=20_000, normalised=normalised)

    scorer = case.fit()

    assert_normalised(scorer, case)
    np.testing.assert_allclose(scorer.spread.heights.sum(axis=1), 1, rtol=1e-6)
    expected = network_decision(case)
    decided = scorer.decision_function(case.table)
    np.testing.assert_allclose(decided, expected, atol=1e-5 * np.ptp(expected))


@LIGHT
@given(CASES)
def test_scales_are_sorted_and_signs_are_settled(case):
    scorer = case.fit()

    assert (scorer.all_scales >= 0).all()
    assert (np.diff(scorer.scales) <= 0).all()
    largest = np.abs(scorer.projection).argmax(axis=0)
    assert (scorer.projection[largest, range(len(scorer.scales))] > 0).all()


@LIGHT
@given(CASES, st.data())
def test_signs_and_order_of_the_components_do_not_matter(case, data):
    weights, k = case.weights, case.shape.n_subnetworks
    signs = st.lists(st.sampled_from([-1.0, 1.0]), min_size=k, max_size=k)
    turned, reversed_ = (np.array(data.draw(signs), dtype=np.float32) for _ in range(2))
    order = data.draw(st.permutations(range(k)))
    kernels, biases = list(weights.kernels), list(weights.biases)
    # A projection turns with the first layer, a scale with the last one.
    kernels[0] = kernels[0] * turned[:, None, None]
    kernels[-1] = kernels[-1] * reversed_[:, None, None]
    biases[-1] = biases[-1] * reversed_[:, None, None]

    other = case.fit(
        projection=(weights.projection * turned)[:, order],
        kernels=tuple(kernel[order] for kernel in kernels),
        biases=tuple(bias[order] for bias in biases),
        scales=(weights.scales * reversed_)[order],
        effects=weights.effects * np.float32([-1, -1, -1, 1, 1]),
        category_scales=weights.category_scales * np.float32([-1, 1]),
    )

    assert_same_model(other, case.fit(), rtol=1e-9, atol=1e-9)


@LIGHT
@given(SEEDS)
def test_orthogonal_projections_are_so_to_the_last_digits(seed):
    projection = make_case(seed).fit().projection

    np.testing.assert_allclose(projection.T @ projection, np.eye(3), atol=1e-10)


@pytest.mark.parametrize("projection", ["free", "identity"])
def test_other_projections_are_kept(projection):
    case = make_case(6, projection=projection)

    scorer = case.fit()

    kept = {tuple(np.abs(column)) for column in case.weights.projection.T}
    found = {tuple(np.abs(column)) for column in scorer.projection[VARYING_NUMERIC].T}
    assert found == kept


# The constant column is the third of the five numeric ones.
VARYING_NUMERIC = [0, 1, 3, 4]


@LIGHT
@given(CASES)
def test_constant_features_have_no_weight(case):
    scorer = case.fit()

    assert tuple(scorer.features.numbers) == ("x0", "x2", "x3", "x4", "x5")
    np.testing.assert_array_equal(scorer.projection[2], 0)
    assert np.abs(scorer.projection[VARYING_NUMERIC]).max() > 0
    moved = case.table.copy()
    moved[:, CONSTANT] += 7
    with pytest.warns(BeyondRangeWarning, match=r"60 of 'x3' \(8.5 to 8.5\)"):
        decided = scorer.decision_function(moved)
    np.testing.assert_array_equal(decided, scorer.decision_function(case.table))


@LIGHT
@given(CASES)
def test_the_spread_is_that_of_the_rows(case):
    scorer = case.fit()
    z, weight = scorer.project(case.table), case.rows.weight.astype(float)

    np.testing.assert_allclose(scorer.spread.edges[:, 0], z.min(axis=0), atol=1e-5)
    np.testing.assert_allclose(scorer.spread.edges[:, -1], z.max(axis=0), atol=1e-5)
    np.testing.assert_allclose(scorer.spread.heights.sum(axis=1), 1, rtol=1e-6)
    values = case.table[:, CATEGORICAL[0]]
    shares = [weight[values == category].sum() for category in (10, 20, 35)]
    np.testing.assert_allclose(scorer.spread.shares[0], shares / weight.sum(), 1e-6)


# What has died or was pruned.


def test_a_pruned_component_stays_out_and_comes_last():
    case = make_case(7)
    scales = np.float32([0.0, 0.5, -2.0])

    scorer = case.fit(scales=scales, category_scales=np.float32([0, 1]))

    half = case.response.half
    np.testing.assert_allclose(scorer.scales, [2 * half, 0.5 * half, 0], rtol=1e-3)
    assert scorer.scales[2] == scorer.category_scales[0] == 0
    expected = network_decision(
        case,
        case.weights._replace(scales=scales, category_scales=np.float32([0, 1])),
    )
    decided = scorer.decision_function(case.table)
    np.testing.assert_allclose(decided, expected, atol=1e-5 * np.ptp(expected))


def kill(weights: Weights, how: str) -> Weights:
    """Return weights whose first subnetwork is constant."""
    kernels = [kernel.copy() for kernel in weights.kernels]
    biases = [bias.copy() for bias in weights.biases]
    if how == "no output":
        kernels[-1][0] = 0
    elif how == "nothing at all":
        for part in kernels + biases:
            part[0] = 0
    elif how == "no input":
        kernels[0][0] = 0
    else:  # saturated: the tangent of every row is one but for rounding
        kernels[0][0] *= 1e-3
        biases[0][0] = 15
    return weights._replace(kernels=tuple(kernels), biases=tuple(biases))


@pytest.mark.parametrize("normalised", [True, False])
@pytest.mark.parametrize(
    "how", ["no output", "nothing at all", "no input", "saturated"]
)
def test_a_dead_subnetwork_has_scale_zero(how, normalised):
    case = make_case(8, normalised=normalised)
    case = case._replace(weights=kill(case.weights, how))

    scorer = case.fit()

    assert np.count_nonzero(scorer.scales) == 2
    assert scorer.scales[2] == 0
    every = [
        *scorer.subnetworks.kernels,
        *scorer.subnetworks.biases,
        scorer.projection,
        scorer.spread.edges,
        scorer.spread.heights,
    ]
    assert all(np.isfinite(part).all() for part in every)
    # Without normalisation the constant is part of the intercept.
    expected = network_decision(case)
    decided = scorer.decision_function(case.table)
    np.testing.assert_allclose(decided, expected, atol=1e-4 * np.ptp(expected))


@pytest.mark.parametrize(
    "how", ["no output", "nothing at all", "no input", "saturated"]
)
def test_training_goes_on_beside_a_dead_subnetwork(how):
    case = make_case(9)
    scorer = case._replace(weights=kill(case.weights, how)).fit()
    weights = tf.nest.map_structure(
        lambda a: tf.constant(a, tf.float32), trained_weights(scorer, case.response)
    )
    used = tf.constant(scorer.scales > 0)
    shares = np.concatenate(scorer.spread.shares)
    problem = Problem(
        *(tf.constant(a, tf.float32) for a in (0.0, 0.0, 1e-6)),
        tf.cast(used, tf.float32),
        tf.ones(2),
        tf.constant(shares, tf.float32),
        tf.zeros(5),
    )
    with tf.GradientTape() as tape:
        tape.watch(weights)
        rows = Rows(*map(tf.constant, case.rows))
        value = network.objective(case.shape, weights, problem, rows)
    gradient = tape.gradient(value, weights)

    assert np.isfinite(value)
    assert all(np.isfinite(part).all() for part in tf.nest.flatten(gradient))


@pytest.mark.parametrize("normalised", [True, False])
def test_effects_that_are_all_the_same_have_scale_zero(normalised):
    case = make_case(10, normalised=normalised)
    effects = case.weights.effects.copy()
    effects[:3] = 0.7
    case = case._replace(weights=case.weights._replace(effects=effects))

    scorer = case.fit()

    assert scorer.category_scales[0] == 0
    assert scorer.category_scales[1] > 0
    assert np.isfinite(scorer.effects[0]).all()
    expected = network_decision(case)
    decided = scorer.decision_function(case.table)
    np.testing.assert_allclose(decided, expected, atol=1e-4 * np.ptp(expected))


# The start and the response.


@pytest.mark.parametrize("projection", ["orthogonal", "free", "identity"])
def test_the_start_is_on_the_manifold_and_at_the_mean(projection):
    case = make_case(11, projection=projection)

    weights = initial_weights(case.shape, case.rows, np.random.default_rng(0))

    k = case.shape.n_subnetworks
    gram = weights.projection.T @ weights.projection
    np.testing.assert_allclose(gram, np.eye(k), atol=1e-12)
    if projection == "identity":
        np.testing.assert_array_equal(weights.projection, np.eye(4))
    mean = np.average(case.rows.target, weights=case.rows.weight)
    assert float(weights.intercept) == pytest.approx(mean, abs=1e-6)
    shapes = tf.nest.map_structure(np.shape, weights)
    assert shapes == tf.nest.map_structure(np.shape, case.weights)


def test_the_start_of_a_classifier_is_at_the_log_odds():
    case = make_case(12, classes=("no", "yes"))
    rows = case.rows._replace(target=np.ones(60, dtype=np.float32))

    start = initial_weights(case.shape, case.rows, np.random.default_rng(0)).intercept
    sure = initial_weights(case.shape, rows, np.random.default_rng(0)).intercept

    chance = np.average(case.rows.target, weights=case.rows.weight)
    assert 1 / (1 + np.exp(-start)) == pytest.approx(chance, rel=1e-5)
    # One class alone does not make it infinite.
    assert 5 < sure < 10


@pytest.mark.parametrize("projection", ["orthogonal", "free"])
def test_a_start_at_features_has_another_one_for_each_projection(projection):
    case = make_case(12, projection=projection)
    starts = [
        initial_weights(case.shape, case.rows, np.random.default_rng(seed), "features")
        for seed in range(20)
    ]
    for start in starts:
        assert set(start.projection.ravel()) == {0.0, 1.0}
        np.testing.assert_array_equal(start.projection.T @ start.projection, np.eye(3))
    # Three of four, another three each time.
    assert sum(start.projection.any(axis=1) for start in starts).min() > 0


def test_more_free_projections_than_features_have_norm_one_on_average():
    case = make_case(13, projection="free")
    shape = replace(case.shape, n_subnetworks=2000)

    projection = initial_weights(shape, case.rows, np.random.default_rng(0)).projection

    assert projection.shape == (4, 2000)
    assert np.square(projection).sum(axis=0).mean() == pytest.approx(1, abs=0.1)


def test_the_start_has_kernels_of_xaviers_size():
    case = make_case(14)
    shape = replace(case.shape, n_subnetworks=4, hidden=(300, 200), n_features=4)

    kernels = initial_weights(shape, case.rows, np.random.default_rng(0)).kernels

    for kernel, (out, into) in zip(
        kernels, [(300, 1), (200, 300), (1, 200)], strict=True
    ):
        assert kernel.std() == pytest.approx(np.sqrt(2 / (out + into)), rel=0.1)


@LIGHT
@given(
    st.lists(st.floats(-1e300, 1e300, allow_subnormal=False), min_size=1, max_size=9)
)
def test_a_response_is_scaled_to_one_and_back(values):
    y = np.array(values)

    response = Response.learn(y)
    target = response.scale(y)

    # Subtracting the centre may cost the last digits of a narrow range.
    loss = 4 * np.finfo(float).eps * np.abs(y).max() / response.half
    assert (np.abs(target) <= 1 + 1e-12 + loss).all()
    back = response.centre + response.half * target
    np.testing.assert_allclose(back, y, atol=1e-12 * max(np.abs(y).max(), 1e-300))
    if np.ptp(y) == 0:
        assert response.half == 1
