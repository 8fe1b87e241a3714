"""scikit-learn's own checks of an estimator, with every deviation and its reason."""

from collections.abc import Callable
from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from ridgeline import XNNClassifier, XNNClassifierCV, XNNRegressor, XNNRegressorCV

pytestmark = [
    # Rows that a fit sets aside may lie beyond the range of the others.
    pytest.mark.filterwarnings("ignore:.* beyond the range"),
    # Some checks have tables of five whole numbers.
    pytest.mark.filterwarnings("ignore:Whole numbers with few values"),
]
BATCHES = "batches and the rows set aside are drawn at random, so that a row twice and "
DEVIATIONS = {
    "check_sample_weight_equivalence_on_dense_data": (
        BATCHES + "a weight of two meet others; test_weights shows it for one batch"
    ),
}


def deviations(estimator: object) -> dict[str, str]:
    """Return the checks that are expected to fail."""
    return DEVIATIONS


SHORT: dict[str, Any] = {"hidden": (4,), "max_epochs": 40, "refine_epochs": 5}
TWO: dict[str, Any] = {"n_candidates": 2, "n_jobs": 1}


@parametrize_with_checks(
    [
        XNNRegressor(**SHORT),
        XNNClassifier(**SHORT),
        XNNRegressorCV(**SHORT, **TWO),
        XNNClassifierCV(**SHORT, **TWO),
    ],
    expected_failed_checks=deviations,
)
def test_check(estimator: Any, check: Callable[[Any], None]) -> None:
    """Run one check."""
    check(estimator)
