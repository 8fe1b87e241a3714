"""The special cases of the model, each against what it must equal."""

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer

from ridgeline import XNNClassifier, XNNRegressor
from ridgeline.xnn.explanation import explain

# Rows that a fit sets aside may lie beyond the range of the others.
pytestmark = pytest.mark.filterwarnings("ignore:.* beyond the range")
N = 2_000
Floats = NDArray[np.float64]


@pytest.fixture(scope="module")
def X() -> Floats:
    """Return correlated features in units of their own."""
    rng = np.random.default_rng(0)
    common = rng.normal(size=(N, 1))
    return (rng.normal(size=(N, 3)) + common) * [1.0, 20.0, 300.0] + [0.0, 5.0, -9.0]


# A straight function of a scaled value is one of the feature if the scale is straight.
GLM = {
    "scaling": "minmax",
    "projection": "identity",
    "hidden": (),
    "l1_scales": 0.0,
    "prune_share": None,
    "batch_size": N,
    "max_epochs": 1_000,
    "random_state": 0,
}


def slopes(model: XNNRegressor | XNNClassifier) -> Floats:
    """Return the coefficients of a model whose ridge functions are straight."""
    values = [model.scorer_.decision_function(row[None])[0] for row in np.eye(3)]
    return np.array(values) - model.scorer_.decision_function(np.zeros((1, 3)))[0]


def test_linear_regression(X: Floats) -> None:
    """Identity projections and straight functions are least squares."""
    y = X @ [1.0, -0.05, 0.002] + np.random.default_rng(1).normal(size=N)
    model = XNNRegressor(**GLM).fit(X, y, validation_data=(X, y))
    linear = LinearRegression().fit(X, y)
    np.testing.assert_allclose(slopes(model), linear.coef_, rtol=0.01)
    np.testing.assert_allclose(model.predict(X), linear.predict(X), atol=0.01)


def test_logistic_regression(X: Floats) -> None:
    """The same with labels is logistic regression without a penalty."""
    odds = X @ [1.0, -0.05, 0.002] + 0.5
    y = np.random.default_rng(1).uniform(size=N) < 1 / (1 + np.exp(-odds))
    model = XNNClassifier(**GLM).fit(X, y, validation_data=(X, y))
    logistic = LogisticRegression(C=np.inf, tol=1e-8, max_iter=1_000)
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    expected = logistic.fit(scaled, y).decision_function(scaled)
    np.testing.assert_allclose(model.decision_function(X), expected, atol=0.03)


def test_gam(X: Floats) -> None:
    """Identity projections are additive in single features, as splines are."""
    scaled = X / [1.0, 20.0, 300.0]
    truth = np.sin(2 * scaled[:, 0]) + np.abs(scaled[:, 1])
    y = truth + 0.1 * np.random.default_rng(1).normal(size=N)
    model = XNNRegressor(projection="identity", random_state=0).fit(X, y)
    weights = np.abs(model.projection_)
    np.testing.assert_array_equal(np.sort(weights, axis=0), [[0] * 3, [0] * 3, [1] * 3])
    # What one feature changes does not depend on the others.
    rows = X[:50].copy()
    other = rows[::-1].copy()
    moved, other_moved = rows.copy(), other.copy()
    moved[:, 0], other_moved[:, 0] = 0.5, 0.5
    other[:, 0] = rows[:, 0]
    np.testing.assert_allclose(
        model.predict(moved) - model.predict(rows),
        model.predict(other_moved) - model.predict(other),
        atol=1e-9,
    )
    splines = make_pipeline(SplineTransformer(12), LinearRegression()).fit(X, y)
    inside = (np.abs(scaled) < 2).all(axis=1)
    difference = model.predict(X[inside]) - splines.predict(X[inside])
    assert np.sqrt(np.mean(difference**2)) < 0.12


def test_single_index(X: Floats) -> None:
    """With one subnetwork, the projection is that of the single-index model.

    For normal features the least-squares slope points along the index, whatever the
    monotone link is (Brillinger, 1983): an independent estimate of the direction.
    """
    scale = X.std(axis=0)
    index = (X / scale) @ [0.6, 0.0, 0.8]
    y = np.tanh(index) + 0.05 * np.random.default_rng(1).normal(size=N)
    model = XNNRegressor(n_subnetworks=1, random_state=0).fit(X, y)
    factor = model.scorer_.features.factor
    direction = model.projection_[:, 0] * factor * scale
    slope = LinearRegression().fit(X, y).coef_ * scale
    cosine = direction @ slope / np.linalg.norm(direction) / np.linalg.norm(slope)
    assert cosine > 0.999
    assert model.scales_.shape == (1,)


def test_naive_xnn(X: Floats) -> None:
    """Free projections without normalisation: what the paper calls naive."""
    y = np.sin(X[:, 0] + X[:, 1] / 20) + 0.1 * np.random.default_rng(1).normal(size=N)
    naive = XNNRegressor(
        projection="free", normalise=False, roughness=0.0, random_state=0
    ).fit(X, y)
    assert naive.score(X, y) > 0.9
    gram = naive.projection_.T @ naive.projection_
    assert np.abs(gram - np.eye(3)).max() > 0.01
    # The fitted model is still told in comparable parts.
    total = naive.intercept_ + naive.contributions(X).sum(axis=1)
    np.testing.assert_allclose(total, naive.predict(X), atol=1e-9)
    assert explain(naive).components


def test_more_subnetworks_than_features_when_free(X: Floats) -> None:
    """Only orthogonal projections are limited by the number of features."""
    naive = XNNRegressor(
        n_subnetworks=5, projection="free", max_epochs=20, random_state=0
    ).fit(X, X[:, 0])
    assert naive.projection_.shape == (3, 5)
