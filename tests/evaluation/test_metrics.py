"""Metrics equal what the definitions give, and the bootstrap what a plain one gives."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from pydantic import ValidationError

from ridgeline.errors import InputError
from ridgeline.evaluation import metrics as module
from ridgeline.evaluation.metrics import (
    EvaluationSettings,
    evaluate,
    small_sample_warnings,
)

QUICK = EvaluationSettings(bootstrap_samples=20, calibration_bins=5)


@st.composite
def samples(draw):
    """Draw classes, both of them, and scores with many ties."""
    n = draw(st.integers(4, 60))
    y = draw(npst.arrays(np.int64, n, elements=st.integers(0, 1)))
    y[:2] = 0, 1
    steps = draw(st.integers(1, 200))
    scores = draw(npst.arrays(np.int64, n, elements=st.integers(0, steps))) / steps
    return y, scores


def simulated(n, seed, calibrated=True):
    rng = np.random.default_rng(seed)
    probability = rng.beta(0.6, 1.5, n)
    chance = probability if calibrated else probability**2
    return (rng.uniform(size=n) < chance).astype(int), probability


@given(samples())
def test_auc_counts_the_pairs_in_order(sample):
    y, scores = sample
    pairs = scores[y == 1][:, None] - scores[y == 0]
    expected = ((pairs > 0) + 0.5 * (pairs == 0)).mean()
    found = evaluate(y, scores, QUICK, 0).metrics
    assert found["auc"] == pytest.approx(expected)
    assert 0 <= found["auc_low"] <= found["auc"] <= found["auc_high"] <= 1


@given(samples())
def test_ks_is_the_largest_gap_of_the_two_distributions(sample):
    y, scores = sample
    levels = np.append(np.unique(scores), 2.0)
    gaps = [
        (scores[y == 1] >= level).mean() - (scores[y == 0] >= level).mean()
        for level in levels
    ]
    assert evaluate(y, scores, QUICK, 0).metrics["ks"] == pytest.approx(max(gaps))


@given(samples())
def test_curves_hold_every_row_once_and_ties_together(sample):
    y, scores = sample
    result = evaluate(y, scores, QUICK, 0)
    table = result.calibration
    assert table["count"].sum() == len(y)
    assert table["observed"] @ table["count"] == pytest.approx(y.sum())
    assert table["predicted"] @ table["count"] == pytest.approx(scores.sum())
    assert table["predicted"].is_monotonic_increasing
    assert len(table) <= max(5, len(np.unique(scores)))
    assert result.roc.iloc[[0, -1]].to_numpy().tolist() == [[0, 0], [1, 1]]
    assert result.roc.diff().min().min() >= 0


def test_plain_metrics_by_hand():
    found = evaluate([0, 0, 1, 1], [0.1, 0.6, 0.5, 0.8], QUICK, 0).metrics
    assert found["auc"] == 0.75
    assert found["accuracy"] == 0.75  # 0.5 counts as approved, 0.6 is wrong
    assert found["brier"] == pytest.approx((0.01 + 0.36 + 0.25 + 0.04) / 4)
    expected = -np.log([0.9, 0.4, 0.5, 0.8]).mean()
    assert found["log_loss"] == pytest.approx(expected)
    assert found["n_test"] == 4


def test_calibration_error_tells_calibrated_from_not():
    settings = EvaluationSettings(bootstrap_samples=20)
    good = evaluate(*simulated(100_000, 1), settings, 0).metrics
    bad = evaluate(*simulated(100_000, 1, calibrated=False), settings, 0).metrics
    assert good["calibration_error"] < 0.01
    expected = np.mean([p - p**2 for p in simulated(100_000, 1)[1]])
    assert bad["calibration_error"] == pytest.approx(expected, abs=0.01)


def test_bootstrap_agrees_with_a_naive_one(monkeypatch):
    y, probability = simulated(600, 2)
    rng = np.random.default_rng(3)
    aucs = []
    for _ in range(600):
        rows = rng.integers(0, len(y), len(y))
        one, zero = probability[rows][y[rows] == 1], probability[rows][y[rows] == 0]
        pairs = one[:, None] - zero
        aucs.append(((pairs > 0) + 0.5 * (pairs == 0)).mean())
    low, high = np.quantile(aucs, [0.025, 0.975])
    settings = EvaluationSettings(bootstrap_samples=2_000)
    exact = evaluate(y, probability, settings, 0).metrics
    # The same with scores joined to a few groups, as large data are.
    monkeypatch.setattr(module, "_BOOTSTRAP_GROUPS", 100)
    joined = evaluate(y, probability, settings, 0).metrics
    for found in (exact, joined):
        assert found["auc_low"] == pytest.approx(low, abs=0.1 * (high - low))
        assert found["auc_high"] == pytest.approx(high, abs=0.1 * (high - low))


def test_interval_widens_with_confidence_and_repeats_with_the_seed():
    y, probability = simulated(500, 4)

    def interval(confidence, seed):
        settings = EvaluationSettings(confidence=confidence)
        found = evaluate(y, probability, settings, seed).metrics
        return found["auc_low"], found["auc_high"]

    assert np.ptp(interval(0.99, 0)) > np.ptp(interval(0.8, 0))
    assert interval(0.9, 5) == interval(0.9, 5)
    assert interval(0.9, 5) != interval(0.9, 6)


def test_thinned_curve_keeps_the_shape():
    y, probability = simulated(50_000, 5)
    result = evaluate(y, probability, QUICK, 0)
    x, height = (result.roc[name].to_numpy() for name in result.roc)
    assert len(x) <= 500
    area = np.trapezoid(height, x)
    assert area == pytest.approx(result.metrics["auc"], abs=1e-4)


@pytest.mark.parametrize(
    ("y", "probability", "words"),
    [
        ([1, 1], [0.2, 0.3], "classes 1"),
        ([0, 1, 2], [0.2, 0.3, 0.4], "classes 0, 1, 2"),
        ([0, 1], [0.2, np.nan], "missing or outside"),
        ([0, 1], [0.2, 1.2], "1.2"),
        ([0, 1], [[0.2, 0.8], [0.3, 0.7]], "predict_proba"),
        ([], [], "none"),
    ],
)
def test_bad_input_is_one_sentence(y, probability, words):
    with pytest.raises(InputError, match=words) as caught:
        evaluate(y, probability, QUICK, 0)
    assert str(caught.value).count("\n") == 0


def test_settings_are_typed():
    with pytest.raises(ValidationError, match="did you mean 'threshold'"):
        EvaluationSettings(treshold=0.4)
    with pytest.raises(ValidationError):
        EvaluationSettings(confidence=1.5)


def test_small_numbers_are_said():
    y = np.repeat([0, 1], [2_000, 100])
    first, *rest = small_sample_warnings(y)
    assert "100 of 2,100 test rows are of class 1" in first
    assert not rest
    assert any("calibration" in text for text in small_sample_warnings(y[::4]))
    assert small_sample_warnings(np.repeat([0, 1], 5_000)) == []
