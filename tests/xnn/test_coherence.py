"""Projections that overlap: their price, the way to orthogonality, what is told."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from conftest import MakeScorer
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ridgeline import XNNRegressor, XNNRegressorCV, explain, load
from ridgeline.errors import InputError
from ridgeline.xnn import network
from ridgeline.xnn.architecture import Architecture, Problem, Weights, weight_shapes
from ridgeline.xnn.candidates import terms
from ridgeline.xnn.coherence import coherence, overlaps
from ridgeline.xnn.scorer import Scorer
from ridgeline.xnn.starts import (
    first_projection,
    orthogonal_weights,
    projection_limits,
)

# Rows that a fit sets aside may lie beyond the range of the others.
pytestmark = pytest.mark.filterwarnings("ignore:.* beyond the range")
SEEDS = st.integers(0, 10**6)
LIGHT = settings(max_examples=30, deadline=None)
X = np.random.default_rng(0).uniform(-1, 1, size=(500, 4))
# Two of its directions lie close together.
Y = np.sin(3 * X[:, 0]) + (X[:, 0] + X[:, 1]) ** 2 + X[:, 2]


def make_shape(p: int, k: int, **changes: Any) -> Architecture:
    """Return a small network."""
    shape = Architecture(
        n_features=p,
        n_subnetworks=k,
        category_counts=(),
        hidden=(3,),
        activation="tanh",
        projection="orthogonal",
        normalised=True,
        smooth=False,
        loss="squared",
        relaxed=True,
    )
    return replace(shape, **changes)


def draw_weights(shape: Architecture, rng: np.random.Generator) -> Weights:
    """Return random weights with columns of length one."""
    shapes = weight_shapes(shape)
    drawn = shapes._replace(
        kernels=tuple(map(rng.standard_normal, shapes.kernels)),
        biases=tuple(map(rng.standard_normal, shapes.biases)),
        projection=rng.standard_normal(shapes.projection),
        scales=rng.standard_normal(shapes.scales),
    )
    length = np.linalg.norm(drawn.projection, axis=0)
    return drawn._replace(projection=drawn.projection / length)


def make_problem(used: np.ndarray) -> Problem:
    """Return a problem with components out of use."""
    return Problem(0.0, 0.0, 0.0, used, np.ones(0), np.ones(0), np.ones(0), 1.0)


def price(projection: np.ndarray, scales: np.ndarray) -> float:
    """Return the penalty, pair by pair."""
    total = 0.0
    for j in range(len(scales)):
        for i in range(j):
            cosine = projection[:, i] @ projection[:, j]
            total += abs(scales[i]) * abs(scales[j]) * cosine**2
    return total


# The price.


@LIGHT
@given(SEEDS, st.integers(1, 5), st.integers(1, 6))
def test_the_price_and_its_gradient_are_those_of_the_pairs(seed, p, k):
    rng = np.random.default_rng(seed)
    weights = draw_weights(make_shape(p, k, projection="near"), rng)
    used = (rng.random(k) < 0.7).astype(float)
    problem = make_problem(used)
    both = tf.constant(weights.projection), tf.constant(weights.scales)

    with tf.GradientTape() as tape:
        tape.watch(both)
        tensors = weights._replace(projection=both[0], scales=both[1])
        value = network.coherence(tensors, problem)
    gradients = [part.numpy() for part in tape.gradient(value, both)]

    arrays = [weights.projection, weights.scales]
    expected = price(arrays[0], arrays[1] * used)
    assert float(value) == pytest.approx(expected, abs=1e-12)
    for place, (array, gradient) in enumerate(zip(arrays, gradients, strict=True)):
        for at in np.ndindex(array.shape):
            step = 1e-6
            assume(place == 0 or abs(array[at]) > 10 * step)
            ends = []
            for sign in (1, -1):
                moved = [each.copy() for each in arrays]
                moved[place][at] += sign * step
                ends.append(price(moved[0], moved[1] * used))
            slope = (ends[0] - ends[1]) / (2 * step)
            assert gradient[at] == pytest.approx(slope, abs=1e-7)


# From overlapping projections to orthogonal ones.


@LIGHT
@given(SEEDS, st.integers(1, 8), st.data())
def test_the_way_back_is_orthonormal_and_keeps_the_leading_span(seed, p, data):
    k = data.draw(st.integers(1, p))
    rng = np.random.default_rng(seed)
    shape = make_shape(p, k)
    loose = draw_weights(shape, rng)

    exact = orthogonal_weights(loose, shape, rng)

    np.testing.assert_allclose(
        exact.projection.T @ exact.projection, np.eye(k), atol=1e-12
    )
    # Those that were kept, in the order of their scales, span what they did.
    kept = exact.scales == loose.scales
    order = np.argsort(-np.abs(loose.scales), kind="stable")
    assert kept[order[0]]
    leading = [place for place in order if kept[place]]
    for count in range(1, len(leading) + 1):
        old = loose.projection[:, leading[:count]]
        new = exact.projection[:, leading[:count]]
        np.testing.assert_allclose(new @ (new.T @ old), old, atol=1e-10)
    # Curves go with their projections; only fresh ones are drawn.
    for old, new in zip(loose.kernels, exact.kernels, strict=True):
        np.testing.assert_array_equal(old[kept], new[kept])
        assert not np.array_equal(old[~kept], new[~kept]) or kept.all()


def test_a_twin_and_a_component_without_scale_start_anew():
    rng = np.random.default_rng(0)
    shape = make_shape(4, 3)
    weights = draw_weights(shape, rng)
    columns = weights.projection.copy()
    columns[:, 1] = columns[:, 0] + 0.01 * columns[:, 1]
    columns /= np.linalg.norm(columns, axis=0)
    weights = weights._replace(projection=columns, scales=np.array([0.5, 0.8, 1e-4]))

    exact = orthogonal_weights(weights, shape, rng)

    # The larger of the twins stays where it is.
    np.testing.assert_allclose(exact.projection[:, 1], columns[:, 1], atol=1e-12)
    assert exact.scales[1] == 0.8
    assert exact.scales[0] == exact.scales[2] < 0.1


def test_orthonormal_projections_stay_as_they_are():
    rng = np.random.default_rng(1)
    shape = make_shape(5, 3)
    columns = np.linalg.qr(rng.normal(size=(5, 3)))[0]
    weights = draw_weights(shape, rng)
    weights = weights._replace(projection=columns, scales=np.array([1.0, -0.5, 0.7]))
    exact = orthogonal_weights(weights, shape, rng)
    np.testing.assert_allclose(exact.projection, columns, atol=1e-14)
    np.testing.assert_array_equal(exact.scales, weights.scales)


@LIGHT
@given(SEEDS, st.integers(1, 6), st.integers(1, 9), st.data())
def test_near_projections_start_as_orthogonal_as_there_is_room(seed, p, k, data):
    """Rising ones stay as they are, and the others keep out of monotone features."""
    rng = np.random.default_rng(seed)
    shape = replace(make_shape(p, k), projection="near", monotone=True)
    signs = data.draw(st.lists(st.sampled_from([-1.0, 0, 1]), min_size=p, max_size=p))
    directions = np.array(signs)
    loose = draw_weights(shape, rng)
    loose = loose._replace(
        projection=first_projection(shape, rng, "random", directions)
    )
    limits = projection_limits(shape, loose.projection, directions)

    start = orthogonal_weights(loose, shape, rng, limits)

    columns, rising = start.projection, limits.rising > 0
    assert np.linalg.norm(columns, axis=0) == pytest.approx(1)
    assert (columns >= limits.lowest).all()
    assert (columns <= limits.highest).all()
    np.testing.assert_array_equal(columns[:, rising], loose.projection[:, rising])
    others = columns[:, ~rising]
    room = np.count_nonzero(directions == 0)
    assert np.linalg.matrix_rank(others) == min(others.shape[1], room)
    if others.shape[1] <= room:
        np.testing.assert_allclose(
            others.T @ others, np.eye(others.shape[1]), atol=1e-10
        )


# Whole fits.


def fitted(**changes: Any) -> XNNRegressor:
    """Return a short fit; all of one projection share a program."""
    given = {"max_epochs": 40, "hidden": (4,), "random_state": 0} | changes
    return XNNRegressor(**given).fit(X, Y)


def test_near_projections_have_length_one_and_the_price_holds_them_apart():
    prices = {price: fitted(projection="near", coherence=price) for price in (0, 100)}
    for model in prices.values():
        length = np.linalg.norm(model.scorer_.projection, axis=0)
        np.testing.assert_allclose(length, 1, atol=1e-12)
    assert coherence(prices[0].scorer_).largest_cosine > 0.1
    huge = coherence(prices[100].scorer_)
    # As orthogonal ones, up to what a step leaves.
    assert huge.largest_cosine < 0.02
    assert huge.smallest_eigenvalue > 0.97
    losses = [np.mean((each.predict(X) - Y) ** 2) for each in (prices[100], fitted())]
    assert losses[0] == pytest.approx(losses[1], rel=0.15)


def test_a_relaxed_fit_is_as_orthogonal_as_a_strict_one():
    for share in (0.0, 0.5, 0.9):
        model = fitted(relaxation=share)
        assert model.orthogonality_error_ < 1e-6
        projection = model.scorer_.projection
        np.testing.assert_allclose(projection.T @ projection, np.eye(4), atol=1e-12)


def test_near_projections_may_be_more_than_the_features(tmp_path: Path):
    settings = {"projection": "near", "n_subnetworks": 6, "prune_share": None}
    model = fitted(**settings)
    assert model.scorer_.projection.shape == (4, 6)
    facts = coherence(model.scorer_)
    assert 0 < facts.largest_cosine <= 1
    assert facts.smallest_eigenvalue == pytest.approx(0, abs=1e-9)
    # The same seed gives the same bits, and so does the file.
    again = fitted(**settings)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    model.save(tmp_path / "near.json")
    stored = load(tmp_path / "near.json")
    np.testing.assert_array_equal(stored.decision_function(X), model.predict(X))
    np.testing.assert_array_equal(stored.projection, model.scorer_.projection)


def test_orthogonal_projections_may_not():
    with pytest.raises(InputError, match="n_subnetworks is 6.*set it to 4 or less"):
        fitted(n_subnetworks=6)


def test_a_search_chooses_the_price_within_its_range():
    search = XNNRegressorCV(
        projection="near",
        coherence=(0.01, 1.0),
        n_candidates=4,
        max_epochs=16,
        hidden=(4,),
        n_jobs=1,
        random_state=0,
    ).fit(X, Y)
    assert search.results_["coherence"].between(0.01, 1.0).all()
    assert search.results_["coherence"].nunique() > 1
    (row,) = search.results_[search.results_["chosen"]].to_dict("records")
    assert row["coherence"] == search.coherence_
    with pytest.raises(InputError, match="coherence is .*both positive"):
        search.set_params(coherence=(0.0, 1.0)).fit(X, Y)


def test_a_search_of_orthogonal_projections_has_no_price():
    search = XNNRegressorCV(
        n_candidates=1, max_epochs=8, hidden=(4,), n_jobs=1, random_state=0
    ).fit(X, Y)
    assert "coherence" not in search.results_
    assert not hasattr(search, "coherence_")


# What is told.


def two_columns(scorer: Scorer, cosine: float) -> Scorer:
    """Return the network with two projections of the first two features alone."""
    angle = np.arccos(cosine)
    columns = np.zeros((4, 3))
    columns[:2, 0] = np.cos(0.3), np.sin(0.3)
    columns[:2, 1] = np.cos(0.3 + angle), np.sin(0.3 + angle)
    columns[2, 2] = 1
    return replace(scorer, projection=columns, scales=np.array([1.0, 0.8, 0.5]))


@LIGHT
@given(st.floats(0, 1))
def test_largest_cosine_and_smallest_eigenvalue(make_scorer: MakeScorer, cosine):
    facts = coherence(two_columns(make_scorer(), cosine))
    assert facts.largest_cosine == pytest.approx(cosine, abs=1e-7)
    # Of [[1, c], [c, 1]] and a one beside it.
    assert facts.smallest_eigenvalue == pytest.approx(1 - cosine, abs=1e-7)


def test_only_projections_in_use_overlap(make_scorer: MakeScorer):
    scorer = two_columns(make_scorer(), 1.0)
    pruned = replace(scorer, scales=np.array([1.0, 0.0, 0.5]))
    assert coherence(pruned) == pytest.approx((0.0, 1.0))
    nothing = replace(scorer, scales=np.zeros(3))
    assert coherence(nothing) == (0.0, 1.0)
    assert overlaps(nothing).shape == (0, 0)


def test_two_components_that_tell_one_story_are_named(make_scorer: MakeScorer):
    scorer = two_columns(make_scorer(), 0.9)
    found = [each for each in explain(scorer).warnings if "one story" in each]
    assert len(found) == 1
    names = scorer.component_names[:2]
    assert all(name in found[0] for name in names)
    assert "cosine 0.90" in found[0]
    assert "largest cosine 0.90" in repr(explain(scorer))
    for apart in (
        two_columns(make_scorer(), 0.6),
        replace(scorer, scales=np.array([1.0, 0.01, 0.5])),
    ):
        assert not any("one story" in each for each in explain(apart).warnings)
    assert "cosine" not in repr(explain(make_scorer()))


@LIGHT
@given(SEEDS)
def test_of_equal_features_the_nearer_to_orthogonal_has_fewer_terms(
    make_scorer: MakeScorer, seed
):
    # Signs change the cosine and nothing else.
    rng = np.random.default_rng(seed)
    scorer = make_scorer(n_subnetworks=2)
    column = rng.uniform(0.1, 1, 4)
    column /= np.linalg.norm(column)
    features = 2 / np.sum(column**4)
    for signs in rng.choice([-1, 1], size=(6, 4)):
        projection = np.stack([column, signs * column], axis=1)
        cosine = np.sum(signs * column**2)
        assert terms(replace(scorer, projection=projection)) == pytest.approx(
            features * (1 + cosine**2)
        )
