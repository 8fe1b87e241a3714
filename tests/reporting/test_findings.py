"""Sentences and comparisons name what was made to matter."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from known_model import make_known, true_curves

from ridgeline.errors import InputError
from ridgeline.reporting.comparison import comparison_table, comparison_text
from ridgeline.reporting.example import example_decision
from ridgeline.reporting.findings import (
    component_findings,
    curve_shape_text,
    feature_shares,
    findings,
    model_findings,
)
from ridgeline.reporting.labels import own_axis, value_text
from ridgeline.reporting.limits import limits
from ridgeline.reporting.truth import compare_with_truth
from ridgeline.xnn.explanation import explain

METRICS = {
    "auc": 0.9,
    "auc_low": 0.89,
    "auc_high": 0.91,
    "ks": 0.6,
    "log_loss": 0.3,
    "brier": 0.1,
    "calibration_error": 0.01,
    "fit_seconds": 1_234.5,
    "n_parameters": 1_234_567,
}


def models(**aucs):
    made = {
        name: {**METRICS, "auc": auc, "auc_low": auc - 0.01, "auc_high": auc + 0.01}
        for name, auc in aucs.items()
    }
    return {name.replace("__", "."): metrics for name, metrics in made.items()}


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_curve_is_read_in_the_features_own_unit(sign, means):
    scorer = make_known(sign=sign)
    component = explain(scorer, points=401).ridges[0]
    axis = own_axis(component, scorer.features, means)
    assert axis.feature == "risk_score"
    assert axis.dominated
    assert (np.diff(axis.x) > 0).all()
    assert (np.diff(axis.edges) > 0).all()
    assert axis.x[[0, -1]] == pytest.approx([500, 900])
    assert axis.x[axis.curve.argmax()] == pytest.approx(640, abs=1)


def test_other_features_are_held_at_their_means(rows, means):
    scorer = make_known(mixed=0.3)
    axis = own_axis(explain(scorer).ridges[0], scorer.features, means)
    at = rows.iloc[:1].assign(risk_score=axis.x[50], **{"amount": means["amount"]})
    assert scorer.contributions(at)[0, 0] == pytest.approx(axis.curve[50])


def test_findings_name_what_matters_and_where(known, means):
    first, score, amount, purpose = component_findings(known, means)
    assert first.startswith("Risk score matters most: 66.7 %")
    peak = re.search(r"rises until (\d+) points, where it peaks, and falls", score)
    assert abs(int(peak[1]) - 640) <= 2
    assert "Amount requested" in amount
    assert "rises throughout" in amount
    assert "Credit Card does best and Others worst" in purpose
    assert f"{np.exp(1.0):.1f} times" in purpose


def test_findings_follow_the_model(means):
    scorer = replace(make_known(), scales=np.array([0.05, 3.0]))
    sentences = component_findings(scorer, means)
    assert sentences[0].startswith("Amount requested matters most")
    assert "Hardly used by the model: risk score (1.4 %)." in sentences
    dropped = replace(make_known(), category_scales=np.zeros(1))
    assert any(
        "Hardly used" in s and "loan purpose (0.0 %)" in s
        for s in component_findings(dropped, means)
    )
    none = replace(dropped, scales=np.zeros(2))
    assert "No feature matters" in component_findings(none, means)[0]


def test_a_mixture_is_called_one(means):
    sentences = component_findings(make_known(mixed=0.7), means)
    assert any(
        s.startswith("A mixture of risk score (+0.76) and amount requested (+0.64)")
        for s in sentences
    )


@given(st.floats(0, 1.5))
def test_shares_of_features_add_up(turn):
    shares = feature_shares(explain(make_known(mixed=turn)))
    assert sum(shares.values()) == pytest.approx(1)
    assert list(shares.values()) == sorted(shares.values(), reverse=True)


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda x: x, "rises throughout"),
        (lambda x: -x, "falls throughout"),
        (lambda x: -((x - 30) ** 2), "rises until 30, where it peaks"),
        (lambda x: (x - 70) ** 2, "falls until 70, where it is lowest"),
        (lambda x: np.tanh(x - 50), "rises throughout, 100 % of it between"),
        (lambda x: np.sin(x / 8), "turns 4 times"),
        (lambda x: x + 0.5 * np.sin(x), "rises throughout"),  # ripples
        (lambda x: 0 * x, "is level"),
    ],
)
def test_shapes(function, words):
    x = np.linspace(0, 100, 201)
    assert curve_shape_text(x, function(x)).startswith(words)


def test_models_are_compared_with_the_best_and_the_worst():
    table = comparison_table(
        models(xnn__refined=0.95, xnn__trained=0.99, rf=0.955, logr=0.8),
        {"xnn.refined": "xNN", "rf": "Forest", "logr": "Logistic"},
    )
    best, worst = model_findings(table)
    assert "0.0050 below Forest" in best
    assert "the intervals overlap" in best
    assert "0.1500 above Logistic" in worst
    assert "do not overlap" in worst


def test_table_is_sorted_and_text_fits():
    table = comparison_table(models(a=0.7, b=0.9, c=0.8), {"a": "A" * 60})
    assert table["model"].tolist() == ["b", "c", "a"]
    assert table["n_components"].isna().all()
    text = comparison_text(table, {"SVM": "too many rows."})
    lines = text.splitlines()
    assert max(map(len, lines)) <= 71
    assert "0.9000 0.8900-0.9100" in lines[1]
    assert lines[-1] == "SVM: too many rows."
    with pytest.raises(InputError, match="'a' has no auc"):
        comparison_table({"a": {"ks": 1.0}})


def test_the_truth_is_found_by_a_model_that_is_it(truth, rows):
    assert truth.same_order
    assert truth.features["feature"].tolist() == ["risk_score", "amount", "purpose"]
    assert (truth.features["correlation"] > 0.999).all()
    assert (truth.components["correlation"] > 0.999).all()
    assert (truth.components["smooth_correlation"] > 0.999).all()
    np.testing.assert_allclose(
        truth.features["true_importance"],
        truth.features["model_importance"],
        atol=0.005,
    )
    for table in truth.curves.values():
        assert table["share"].sum() == pytest.approx(1)
        assert table["share"] @ table["log_odds"] == pytest.approx(0, abs=1e-9)


def test_spikes_are_left_out_of_the_smooth_correlation(rows):
    spiked = true_curves()
    at = rows["amount"].sort_values().iloc[:: len(rows) // 40].unique()
    spikes = pd.DataFrame({"value": at, "log_odds": 1e3})
    curve = pd.concat([spiked["amount"], spikes]).drop_duplicates("value", keep="last")
    spiked["amount"] = curve.sort_values("value", ignore_index=True)
    found = compare_with_truth(make_known(), rows, spiked).components
    amount = found.set_index("feature").loc["amount"]
    assert amount["smooth_correlation"] > 2 * abs(amount["correlation"])


def test_a_wrong_model_is_found_out(rows, means):
    wrong = replace(make_known(), scales=np.array([0.1, 3.0]))
    compared = compare_with_truth(wrong, rows, true_curves(), min_importance=0.1)
    assert not compared.same_order
    assert compared.components["component"].tolist() == ["ridge 2", "purpose"]
    upside = true_curves()
    upside["amount"]["log_odds"] *= -1
    found = compare_with_truth(make_known(), rows, upside).components
    assert found.set_index("feature")["correlation"]["amount"] < -0.999
    text = findings(wrong, means, truth=compared)[-2:]
    assert "the known truth ranks them risk score" in text[0]
    with pytest.raises(InputError, match="lacks 'amount'"):
        compare_with_truth(wrong, rows, {"risk_score": upside["risk_score"]})


def test_reasons_add_up_to_the_decision(known, rows):
    example = example_decision(known, rows.iloc[[7]])
    assert example.decision == pytest.approx(known.decision_function(rows.iloc[[7]])[0])
    assert example.probability == pytest.approx(1 / (1 + np.exp(-example.decision)))
    sizes = [abs(reason.contribution) for reason in example.reasons]
    assert sizes == sorted(sizes, reverse=True)
    assert example.application["Amount requested"].startswith("$")
    with pytest.raises(InputError, match="2 rows"):
        example_decision(known, rows.iloc[:2])


def test_limits_are_counted_from_the_audit():
    audit = pd.DataFrame(
        {
            "section": "filter",
            "step": "missing_value",
            "class": ["accepted", "rejected"],
            "rows_in": [100, 200],
            "removed": [1, 50],
        }
    )
    cured = limits(audit, one_grid=True, simulated=False, warnings=["Few rows."])
    assert cured[0] == "Few rows."
    assert any("25 % of the declined" in text for text in cured)
    left = limits(audit, one_grid=False, simulated=True)
    assert any("flattered" in text for text in left)
    assert not any("flattered" in text for text in cured)
    assert "simulated" in left[0]


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (2016.5, "year", "July 2016"),
        (2015 + 11 / 12, "year", "December 2015"),
        (12_500, "$", "$12,500"),
        (18.24, "%", "18 %"),
        (1.0, "years", "1 year"),
        (-0.25, "", "\N{MINUS SIGN}0.25"),
    ],
)
def test_values_are_written_in_their_unit(value, unit, text):
    assert value_text(value, unit) == text
