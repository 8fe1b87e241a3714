"""Metrics of a regression against scikit-learn's, and intervals against a bootstrap."""

import numpy as np
import pytest
from sklearn.metrics import mean_absolute_error, r2_score, root_mean_squared_error

from ridgeline.errors import InputError
from ridgeline.evaluation.metrics import EvaluationSettings, evaluate
from ridgeline.evaluation.regression import evaluate_regression, few_rows_warnings

SETTINGS = EvaluationSettings(bootstrap_samples=400, calibration_bins=5)


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    target = 1_000 + rng.normal(0, 10, 800)
    return target, target + rng.normal(1, 5, 800), rng.uniform(0.2, 3, 800)


@pytest.mark.parametrize("weighted", [True, False])
def test_metrics_are_those_of_scikit_learn(rows, weighted):
    target, predicted, weight = rows
    weight = weight if weighted else None
    found = evaluate_regression(target, predicted, SETTINGS, 0, weight).metrics
    by = {"sample_weight": weight}
    assert found["rmse"] == pytest.approx(
        root_mean_squared_error(target, predicted, **by)
    )
    assert found["mae"] == pytest.approx(mean_absolute_error(target, predicted, **by))
    assert found["r2"] == pytest.approx(r2_score(target, predicted, **by))
    for name in ("rmse", "mae", "r2"):
        assert found[f"{name}_low"] < found[name] < found[f"{name}_high"]
    shifted = evaluate_regression(target, target + 2, SETTINGS, 0, weight).metrics
    assert shifted["calibration_error"] == pytest.approx(2)


def test_interval_is_that_of_a_plain_bootstrap(rows):
    target, predicted, _ = rows
    rng = np.random.default_rng(1)
    drawn = [
        root_mean_squared_error(target[some], predicted[some])
        for some in rng.integers(800, size=(400, 800))
    ]
    found = evaluate_regression(target, predicted, SETTINGS, 0).metrics
    low, high = np.quantile(drawn, [0.025, 0.975])
    assert found["rmse_low"] == pytest.approx(low, rel=0.02)
    assert found["rmse_high"] == pytest.approx(high, rel=0.02)


def test_bins_hold_all_rows_and_none_of_their_own(rows):
    target, predicted, _ = rows
    found = evaluate_regression(target, predicted, SETTINGS, 0)
    assert len(found.observed) == len(found.calibration) == 5
    assert found.calibration["count"].sum() == 800
    same = evaluate_regression(target, np.full(800, 1_000.0), SETTINGS, 0)
    assert len(same.calibration) == 1


def test_what_is_no_prediction_is_refused(rows):
    target, predicted, _ = rows
    with pytest.raises(InputError, match="800 targets|shape"):
        evaluate_regression(target, predicted[:5], SETTINGS, 0)
    with pytest.raises(InputError, match="1 targets or predictions are missing"):
        evaluate_regression(target, np.r_[np.nan, predicted[1:]], SETTINGS, 0)


def test_few_rows_are_said():
    assert not few_rows_warnings(np.zeros(500))
    assert "only 20 test rows" in few_rows_warnings(np.zeros(20))[0]


def test_a_weight_of_two_is_the_row_twice():
    rng = np.random.default_rng(2)
    labels, scores = rng.integers(0, 2, 300), rng.uniform(size=300)
    weight = rng.integers(1, 4, 300)
    twice = [np.repeat(part, weight) for part in (labels, scores)]
    one = evaluate(labels, scores, SETTINGS, 0, weight).metrics
    other = evaluate(*twice, SETTINGS, 0).metrics
    same = ("auc", "ks", "log_loss", "brier", "accuracy")
    assert {name: one[name] for name in same} == pytest.approx(
        {name: other[name] for name in same}
    )
    assert one["auc_low"] < one["auc"] < one["auc_high"]
