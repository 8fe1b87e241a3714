"""Extreme learning machines: scikit-learn's checks, least squares, blocks, weights."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, r2_score, roc_auc_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from ridgeline.baselines import elm
from ridgeline.baselines.elm import ELMClassifier, ELMRegressor
from ridgeline.errors import InputError

RNG = np.random.default_rng(0)
X = RNG.uniform(-1, 1, size=(600, 3))
Y = np.sin(3 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.05 * RNG.normal(size=600)
LABELS = (X[:, 0] * X[:, 1] > 0).astype(int)


@parametrize_with_checks([ELMRegressor(n_nodes=10), ELMClassifier(n_nodes=10)])
def test_check(estimator: Any, check: Callable[[Any], None]) -> None:
    """Run one of scikit-learn's checks; there are no deviations."""
    check(estimator)


def basis(model: Any, rows: np.ndarray) -> np.ndarray:
    """Compute the hidden layer by its formula, one distance at a time."""
    distances = np.linalg.norm(rows[:, None, :] - model.centres_[None], axis=2)
    return np.exp(-((model.rbf_width * distances / model.radii_) ** model.exponents_))


def test_prediction_is_the_formula() -> None:
    model = ELMRegressor(30, rbf_width=0.7, random_state=1).fit(X, Y)
    expected = model.intercept_ + (basis(model, X) - 1) @ model.coef_
    np.testing.assert_allclose(model.predict(X), expected, atol=1e-8)


def test_exponents_and_radii_put_fellow_centres_at_their_levels() -> None:
    """At a width of one the nearest centre answers 0.95 and the farthest 0.05."""
    model = ELMRegressor(40, rbf_width=1.0, random_state=0).fit(X, Y)
    answers = basis(model, model.centres_).T  # one row for each node
    others = answers[~np.eye(40, dtype=bool)].reshape(40, 39)
    inner = (model.exponents_ > 0.1) & (model.exponents_ < 10)
    assert inner.any()
    np.testing.assert_allclose(others.min(axis=1), 0.05)
    np.testing.assert_allclose(others.max(axis=1)[inner], 0.95)


def test_weights_solve_the_least_squares_problem() -> None:
    """With hardly any ridge the residual is orthogonal to every node."""
    model = ELMRegressor(15, rbf_width=1.0, ridge=1e-14, random_state=0).fit(X, Y)
    design = np.column_stack([np.ones(len(X)), basis(model, X)])
    best = design @ np.linalg.lstsq(design, Y, rcond=None)[0]
    np.testing.assert_allclose(model.predict(X), best, atol=1e-7)


@settings(max_examples=15, deadline=None)
@given(block=st.integers(1, 700), nodes=st.integers(1, 25))
def test_blocks_equal_one_block(block: int, nodes: int) -> None:
    whole = ELMRegressor(nodes, random_state=0).fit(X, Y)
    expected = whole.predict(X)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(elm, "_BLOCK_ROWS", block)
        parts = ELMRegressor(nodes, random_state=0).fit(X, Y)
        found = parts.predict(X)
    np.testing.assert_array_equal(whole.centres_, parts.centres_)
    np.testing.assert_allclose(found, expected, atol=1e-5)


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 1000))
def test_order_of_rows_does_not_matter_and_a_weight_of_two_is_the_row_twice(
    seed: int,
) -> None:
    rng = np.random.default_rng(seed)
    weight = rng.integers(0, 3, size=len(X))
    rows = rng.permutation(np.repeat(np.arange(len(X)), weight))
    weighted = ELMClassifier(20, random_state=0).fit(X, LABELS, weight)
    repeated = ELMClassifier(20, random_state=0).fit(X[rows], LABELS[rows])
    np.testing.assert_allclose(
        weighted.decision_function(X), repeated.decision_function(X), atol=1e-3
    )


def test_learns_what_is_not_linear() -> None:
    train, test = slice(0, 300), slice(300, 600)
    regressor = ELMRegressor(random_state=0).fit(X[train], Y[train])
    assert r2_score(Y[test], regressor.predict(X[test])) > 0.95
    classifier = ELMClassifier(random_state=0).fit(X[train], LABELS[train])
    chances = classifier.predict_proba(X[test])[:, 1]
    assert roc_auc_score(LABELS[test], chances) > 0.97
    linear = LogisticRegression().fit(X[train], LABELS[train])
    assert roc_auc_score(LABELS[test], linear.predict_proba(X[test])[:, 1]) < 0.65


def test_probabilities_are_calibrated_on_the_training_scores() -> None:
    """No other straight line through the log-odds gives a smaller loss."""
    noisy = np.where(RNG.uniform(size=600) < 0.2, 1 - LABELS, LABELS)
    model = ELMClassifier(30, random_state=0).fit(X, noisy)
    odds = model.decision_function(X)
    reached = log_loss(noisy, model.predict_proba(X)[:, 1])
    for slope, shift in [(0.9, 0), (1.1, 0), (1, 0.1), (1, -0.1)]:
        other = 1 / (1 + np.exp(-(slope * odds + shift)))
        assert reached < log_loss(noisy, other)


@pytest.mark.parametrize("width", [1e-4, 1e-2, 1.0])
@pytest.mark.parametrize("rows", ["equal", "gridded", "few"])
def test_odd_rows_give_finite_answers(rows: str, width: float) -> None:
    """Centres may coincide, and nodes may outnumber rows."""
    table = {
        "equal": np.ones((50, 2)),
        "gridded": np.round(X[:200, :2]),
        "few": X[:4],
    }[rows]
    y = Y[: len(table)]
    model = ELMRegressor(60, rbf_width=width, random_state=0).fit(table, y)
    assert np.isfinite(model.predict(table)).all()
    if rows == "equal":
        np.testing.assert_allclose(model.predict(table), y.mean())


def test_seed_repeats_bit_for_bit() -> None:
    first, again, other = (
        ELMClassifier(random_state=seed).fit(X, LABELS).decision_function(X)
        for seed in (3, 3, 4)
    )
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_bad_input_is_one_sentence() -> None:
    with pytest.raises(InputError, match="one class only, 1; a classifier needs"):
        ELMClassifier().fit(X, np.ones(len(X), dtype=int))
    with pytest.raises(InputError, match="Only binary classification is supported"):
        ELMClassifier().fit(X, np.arange(len(X)) % 3)
    with pytest.raises(ValueError, match="at least one non-zero number"):
        ELMRegressor().fit(X, Y, np.zeros(len(X)))
