"""Pruning and refinement: what is dropped, what stays, and what may not change."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError

from ridgeline import XNNRegressor
from ridgeline.errors import InputError
from ridgeline.xnn.pruning import leading_components
from ridgeline.xnn.stages import prune, refine

# Rows that a fit sets aside may lie beyond the range of the others.
pytestmark = pytest.mark.filterwarnings("ignore:.* beyond the range")
X = np.random.default_rng(0).uniform(-1, 1, size=(400, 3))
Y = np.sin(3 * X[:, 0]) + 0.2 * X[:, 1] + 0.02 * X[:, 2] ** 2


@pytest.fixture(scope="module")
def trained() -> XNNRegressor:
    """Return a model that was trained only; tests must not alter it."""
    model = XNNRegressor(max_epochs=40, refine_epochs=40, random_state=0)
    return model.set_params(prune_share=None).fit(X, Y)


@settings(deadline=None)
@given(
    st.lists(st.floats(0.001, 1), min_size=1, max_size=12),
    st.floats(0.01, 1, exclude_max=True),
)
def test_smallest_leading_set(scales: list[float], share: float) -> None:
    """The set exceeds the share, no smaller leading set does, and it leads."""
    ratios = np.array(scales) / sum(scales)
    kept = leading_components(ratios, share)
    total = ratios[kept].sum()
    assert total > share - 1e-12
    assert total - ratios[kept].min() <= share + 1e-12
    if not kept.all():
        assert ratios[kept].min() >= ratios[~kept].max()


def test_paper_share() -> None:
    """At exactly 95 % the next component is needed to exceed it."""
    ratios = np.array([0.5, 0.25, 0.2, 0.05])
    np.testing.assert_array_equal(leading_components(ratios, 0.95), [1, 1, 1, 1])
    np.testing.assert_array_equal(leading_components(ratios, 0.94), [1, 1, 1, 0])
    np.testing.assert_array_equal(leading_components(ratios, 0.4), [1, 0, 0, 0])


def test_whole_share_keeps_all_that_count() -> None:
    """With a share of one, only what has no importance goes."""
    kept = leading_components(np.array([0.9, 0.1, 0.0]), 1.0)
    np.testing.assert_array_equal(kept, [True, True, False])


@pytest.mark.parametrize("share", [0.0, -0.5, 1.5])
def test_bad_share_is_refused(share: float) -> None:
    """A share outside of (0, 1] is refused by its value."""
    with pytest.raises(InputError, match=f"share to keep is {share}"):
        leading_components(np.array([1.0]), share)


def test_prune_returns_a_new_model(trained: XNNRegressor) -> None:
    """Pruning zeroes scales, changes nothing else, and leaves its input alone."""
    before = trained.scales_.copy()
    pruned = prune(trained, share=0.5)
    np.testing.assert_array_equal(trained.scales_, before)
    kept = pruned.scales_ > 0
    assert 0 < kept.sum() < len(kept)
    np.testing.assert_array_equal(pruned.scales_[kept], before[kept])
    np.testing.assert_array_equal(pruned.projection_, trained.projection_)
    dropped = trained.contributions(X)[:, ~kept].sum(axis=1)
    np.testing.assert_allclose(pruned.predict(X), trained.predict(X) - dropped)
    assert (pruned.contributions(X)[:, ~kept] == 0).all()


def test_prune_takes_the_estimators_share(trained: XNNRegressor) -> None:
    """Without a share, the estimator's own counts, or where it has none the paper's."""
    paper = prune(trained).scales_
    np.testing.assert_array_equal(paper, prune(trained, 0.95).scales_)


def test_refine_fixes_projections(trained: XNNRegressor) -> None:
    """Refinement keeps projections and the pruned set, and repairs the loss."""
    pruned = prune(trained, share=0.5)
    scales = pruned.scales_.copy()
    # By the rows that are looked at: one component is near its best as trained.
    refined = refine(pruned, X, Y, validation_data=(X, Y))
    np.testing.assert_array_equal(pruned.scales_, scales)
    assert np.count_nonzero(refined.scales_) == np.count_nonzero(scales)
    kept = refined.projection_[:, refined.scales_ > 0]
    # Components may change places; the projections are the same to the last digits.
    similarity = np.abs(kept.T @ pruned.projection_[:, scales > 0])
    np.testing.assert_allclose(similarity.max(axis=1), 1, atol=1e-6)
    errors = [np.mean((model.predict(X) - Y) ** 2) for model in (pruned, refined)]
    assert errors[1] < errors[0]
    assert refined.n_iter_ == trained.n_iter_ + 40


def test_fit_is_train_prune_refine(trained: XNNRegressor) -> None:
    """The three steps one by one are what `fit` does, bit for bit."""
    whole = XNNRegressor(max_epochs=40, refine_epochs=40, random_state=0).fit(X, Y)
    steps = refine(prune(trained), X, Y)
    np.testing.assert_array_equal(steps.predict(X), whole.predict(X))
    assert steps.validation_loss_ == whole.validation_loss_


def test_normalised_after_refinement(trained: XNNRegressor) -> None:
    """Every ridge function has mean 0 and norm 1 over the training rows."""
    refined = refine(prune(trained), X, Y, validation_data=(X, Y))
    used = refined.scales_ > 0
    values = refined.contributions(X)[:, used] / refined.scales_[used]
    np.testing.assert_allclose(values.mean(axis=0), 0, atol=1e-6)
    np.testing.assert_allclose((values**2).mean(axis=0), 1, atol=1e-5)


def test_needs_a_fitted_model() -> None:
    """What was not fitted can be neither pruned nor refined."""
    with pytest.raises(NotFittedError):
        prune(XNNRegressor())
    with pytest.raises(NotFittedError):
        refine(XNNRegressor(), X, Y)
