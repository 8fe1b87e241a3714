"""Reasons: exact differences to a stated reference, in words."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from known_model import make_known, make_rows
from profiled_model import make_profiled, profiled
from special_model import SUMS, make_special, special_rows

from ridgeline import InputError, Policy, reasons
from ridgeline.decisions.reasons import (
    declined_rows,
    differences,
    find_reasons,
)
from ridgeline.decisions.references import reference_of

SCORER = make_profiled()
# Each of its components has one column, so that every part is known.
PLAIN = make_profiled(mixed=0.0)
SPECIAL = profiled(make_special(), special_rows())
POLICIES = st.builds(
    Policy,
    cutoff=st.floats(0.05, 0.95),
    declined=st.sampled_from(["below", "above"]),
    reference=st.sampled_from(["approved", "cutoff", "best"]),
    most_reasons=st.integers(1, 5),
)


@settings(max_examples=60, deadline=None)
@given(policy=POLICIES, seed=st.integers(0, 999), special=st.booleans())
def test_differences_add_up_and_reasons_are_the_largest_against(policy, seed, special):
    scorer = SPECIAL if special else SCORER
    rows = (special_rows() if special else make_rows(40, seed)).head(40)
    reference = reference_of(scorer, policy)
    found = differences(scorer, rows, policy, reference)
    decision = scorer.decision_function(rows)
    np.testing.assert_allclose(
        found.sum(axis=1), decision - reference.decision, atol=1e-9
    )
    chosen = find_reasons(scorer, rows, policy, reference)
    for row, places in enumerate(chosen.features):
        against = policy.better * found[row]
        order = np.argsort(against, kind="stable")
        expected = [place for place in order if against[place] < 0]
        got = [place for place in places if place >= 0]
        assert got == expected[: policy.most_reasons]
        np.testing.assert_array_equal(
            chosen.differences[row, : len(got)], found[row, got]
        )


@settings(max_examples=40, deadline=None)
@given(cutoff=st.floats(0.001, 0.999))
def test_the_applicant_at_the_cutoff_has_its_score(cutoff):
    reference = reference_of(SCORER, Policy(cutoff=cutoff, reference="cutoff"))
    log_odds = np.log(cutoff / (1 - cutoff))
    assert np.isclose(reference.decision, log_odds, atol=1e-9)
    assert reference.words == "applications at the cut-off"


def test_the_best_is_the_best_for_either_side():
    highest = reference_of(SCORER, Policy(reference="best"))
    lowest = reference_of(SCORER, Policy(reference="best", declined="above"))
    assert (highest.contributions >= lowest.contributions).all()
    every = differences(SCORER, make_rows(), Policy(), highest)
    assert (every <= 1e-12).all()


def test_the_average_approved_row_is_of_the_class_that_is_approved():
    rows = make_rows()
    target = (rows["amount"] > 20_000).to_numpy() * 1.0
    scorer = profiled(make_known(), rows, target)
    for declined, label in (("below", 1), ("above", 0)):
        reference = reference_of(scorer, Policy(declined=declined))
        mean = scorer.decision_function(rows)[target == label].mean()
        assert np.isclose(reference.decision, mean)


def test_rows_at_the_cutoff_are_approved():
    decision = np.array([-1.0, 0.0, 1.0])
    assert declined_rows(SCORER, Policy(), decision).tolist() == [True, False, False]
    above = declined_rows(SCORER, Policy(declined="above"), decision)
    assert above.tolist() == [False, False, True]


class TestWords:
    """Sentences that a notice can carry."""

    ROW = pd.DataFrame(
        {"risk_score": [880.0], "amount": [1_500.0], "purpose": ["Others"]}
    )

    def said(self, policy=None, scorer=PLAIN, row=ROW):
        return dict(reasons(scorer, row, policy).set_index("feature")["sentence"])

    def test_usual(self):
        assert self.said() == {
            "risk_score": "risk score of 880 is above what is typical of approved "
            "applications",
            "amount": "amount of 1,500 is below what is typical of approved "
            "applications",
            "purpose": "purpose 'Others' counts for less than is typical of approved "
            "applications",
        }

    def test_the_policy_has_the_words(self):
        policy = Policy(
            labels={"amount": "loan amount"},
            formats={"amount": "${:,.0f}"},
            sentences={"below": "{label}: {value} is too low beside {reference}"},
            references={"approved": "loans that were repaid"},
        )
        sentence = "loan amount: $1,500 is too low beside loans that were repaid"
        assert self.said(policy)["amount"] == sentence

    def test_special_values_and_gaps(self):
        numbers = dict(SPECIAL.features.numbers)
        amount = numbers["amount"]
        numbers["amount"] = replace(amount, codes=SUMS, masses=(), missing=False)
        features = replace(SPECIAL.features, numbers=numbers)
        scorer = replace(SPECIAL, features=features)
        row = self.ROW.assign(amount=SUMS[0])
        assert self.said(None, scorer, row)["amount"] == (
            "amount has the special value 10,000"
        )
        policy = Policy(unknown_missing="average", reference="best")
        row = self.ROW.assign(amount=np.nan)
        assert self.said(policy, row=row)["amount"] == "amount is missing"

    def test_no_component_is_ever_named(self):
        said = reasons(SCORER, make_rows(500), Policy(cutoff=0.9))
        assert set(said["feature"]) == {"risk_score", "amount", "purpose"}
        assert not said["sentence"].str.contains("ridge").any()

    def test_rows_have_the_labels_of_the_frame(self):
        row = self.ROW.set_axis(["A-17"])
        assert reasons(PLAIN, row)["row"].tolist() == ["A-17"] * 3


class TestRefusals:
    """What has no reasons."""

    def test_a_model_without_a_profile(self):
        with pytest.raises(InputError, match="does not remember its training rows"):
            reasons(make_known(), make_rows(3))

    def test_a_row_that_cannot_be_scored(self):
        with pytest.raises(InputError, match="1 rows cannot be scored: in the first"):
            reasons(SCORER, make_rows(3).assign(amount=[1.0, np.nan, 2.0]))

    def test_a_regressor_without_a_cutoff_declines_nothing(self):
        scorer = profiled(replace(make_known(), classes=None), make_rows())
        assert not len(reasons(scorer, make_rows(9)))
        words = reasons(scorer, make_rows(90), Policy(cutoff=1.0))["sentence"]
        assert words.str.contains("typical of all applications").any()
        with pytest.raises(InputError, match="has no cut-off"):
            reference_of(scorer, Policy(reference="cutoff"))
