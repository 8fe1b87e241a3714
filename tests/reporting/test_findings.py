"""Sentences about any model name what was made to matter."""

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from known_model import make_known
from special_model import EFFECTS, LEVELS, SUMS, make_levelled, make_special

from ridgeline.errors import InputError
from ridgeline.reporting.comparison import comparison_table, comparison_text
from ridgeline.reporting.example import example_decision
from ridgeline.reporting.findings import (
    component_findings,
    curve_shape_text,
    model_findings,
)
from ridgeline.reporting.labels import Label
from ridgeline.reporting.own_axis import own_axis
from ridgeline.reporting.words import listed, value_text
from ridgeline.xnn.explanation import explain

LABELS = {
    "risk_score": Label("Credit score", "points"),
    "amount": Label("Loan amount", "$"),
}
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
    first, score, amount, purpose = component_findings(known, means, LABELS, "loan")
    assert first.startswith("Credit score matters most: 66.7 %")
    peak = re.search(r"rises until (\d+) points, where it peaks, and falls", score)
    assert abs(int(peak[1]) - 640) <= 2
    assert "over the middle 98 % of the loans, 504 points to 896 points," in score
    assert "Loan amount" in amount
    assert "rises throughout" in amount
    assert "Credit Card has the highest odds and Others the lowest" in purpose
    assert f"{np.exp(1.0):.1f} times" in purpose


def test_findings_follow_the_model(means):
    scorer = replace(make_known(), scales=np.array([0.05, 3.0]))
    sentences = component_findings(scorer, means, LABELS, "loan")
    assert sentences[0].startswith("Loan amount matters most")
    assert "Hardly used by the model: credit score (1.4 %)." in sentences
    dropped = replace(make_known(), category_scales=np.zeros(1))
    assert any(
        "Hardly used" in s and "purpose (0.0 %)" in s
        for s in component_findings(dropped, means, LABELS, "loan")
    )
    none = replace(dropped, scales=np.zeros(2))
    assert "No feature matters" in component_findings(none, means, {}, "loan")[0]


def test_monotone_features_are_said_as_far_as_they_are_proved(means):
    # The curve of the score has a peak: whoever asks for it gets no certificate.
    monotone = {"risk_score": "increasing", "amount": "increasing"}
    scorer = make_known()
    scorer = replace(scorer, features=replace(scorer.features, monotone=monotone))
    assert component_findings(scorer, means, LABELS, "loan")[-1] == (
        "Certified by bounds of the curves: the odds never fall with a higher loan "
        "amount, whatever the other features are; missing and special values are "
        "exempt."
    )


def test_a_mixture_is_called_one(means):
    sentences = component_findings(make_known(mixed=0.7), means, LABELS, "loan")
    assert any(
        s.startswith("A mixture of credit score (+0.76) and loan amount (+0.64)")
        for s in sentences
    )


@given(st.floats(0, 1.5))
def test_shares_of_features_add_up(turn):
    shares = explain(make_known(mixed=turn)).feature_importance.to_dict()
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
    assert curve_shape_text(x, function(x), "").startswith(words)


def test_models_are_compared_with_the_best_and_the_worst():
    table = comparison_table(
        models(xnn__refined=0.95, xnn__trained=0.99, rf=0.955, logr=0.8),
        {"xnn.refined": "xNN", "rf": "Forest", "logr": "Logistic"},
    )
    best, worst = model_findings(table, "xnn.refined")
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
        comparison_table({"a": {"ks": 1.0}}, {})


def test_reasons_add_up_to_the_decision(known, rows):
    example = example_decision(known, rows.iloc[[7]], LABELS)
    assert example.decision == pytest.approx(known.decision_function(rows.iloc[[7]])[0])
    assert example.probability == pytest.approx(1 / (1 + np.exp(-example.decision)))
    sizes = [abs(reason.contribution) for reason in example.reasons]
    assert sizes == sorted(sizes, reverse=True)
    assert example.features["Loan amount"].startswith("$")
    with pytest.raises(InputError, match="2 rows"):
        example_decision(known, rows.iloc[:2], LABELS)


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


def test_names_are_listed_once():
    assert listed(["a"]) == "a"
    assert listed(["a", "b", "a", "c"]) == "a, b and c"


def test_special_values_are_named_in_their_unit_with_their_odds(means):
    found = component_findings(make_special(), means, LABELS, "loan")
    [sentence] = [each for each in found if "special values" in each]
    assert sentence == (
        "Loan amount: special values (IR 18.2 %): beside the curve, the odds are 2.1 "
        "to 3.5 times lower at 2 values ($10,000 and $20,000; 20.0 % of the loans) and "
        "2.1 times higher at one value ($30,000; 10.0 % of the loans) than those of "
        "all other values."
    )
    assert found[0].startswith("Credit score matters most: 54.5 %")
    assert "loan amount (36.4 %)" in found[0]


def test_a_special_value_is_a_reason_of_its_own(rows):
    row = rows.iloc[[0]].assign(amount=SUMS[2])
    reasons = example_decision(make_special(), row, LABELS).reasons
    [special] = [r for r in reasons if r.title == "Loan amount: special values"]
    assert special.value == "$30,000"
    assert special.contribution == pytest.approx(EFFECTS[3])


@pytest.mark.parametrize("mixed", [0.0, 0.1])
def test_a_feature_of_few_levels_is_read_at_these(mixed, rows, means):
    scorer = make_levelled(mixed)
    component = explain(scorer, points=2001).ridges[0]
    axis = own_axis(component, scorer.features, means)
    assert tuple(axis.levels) == LEVELS
    at = rows.iloc[[0] * len(LEVELS)].assign(
        risk_score=np.array(LEVELS), amount=means["amount"]
    )
    np.testing.assert_allclose(
        axis.level_curve, scorer.contributions(at)[:, 0], atol=1e-3
    )
    found = component_findings(scorer, means, LABELS, "loan")
    [sentence] = [each for each in found if each.startswith("Credit score (ridge")]
    assert "rises until 620 points, where it peaks" in sentence or (
        "rises until 660 points, where it peaks" in sentence
    )
    assert "500 points to 900 points" in sentence  # the levels at both ends too
