"""The smallest change of one feature that flips a decision."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from known_model import RANGES, make_known, make_rows
from profiled_model import make_profiled
from special_model import LEVELS, make_levelled

from ridgeline import InputError, Policy, what_if

SCORER = make_profiled()


def declined(rows, policy):
    return SCORER.decision_function(rows) < policy.line(SCORER)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 9_999), cutoff=st.floats(0.1, 0.9))
def test_what_is_needed_flips_and_nothing_nearer_does(seed, cutoff):
    policy, row = Policy(cutoff=cutoff), make_rows(1, seed)
    found = what_if(SCORER, row, policy).set_index("feature")
    before = declined(row, policy)[0]
    for name, (low, high) in RANGES.items():
        now = row[name].iloc[0]
        # Another grid than that of the search.
        grid = np.linspace(low, high, 1_777)
        tried = row.loc[[0] * len(grid)].assign(**{name: grid})
        flips = declined(tried, policy) != before
        if found.loc[name, "outcome"] == "cannot flip":
            # A crossing that is narrower than the grid may be missed.
            assert flips.mean() < 0.002
            continue
        needed = float(found.loc[name, "needed"])
        assert declined(row.assign(**{name: needed}), policy)[0] != before
        nearer = flips & (np.abs(grid - now) < abs(needed - now) * (1 - 1e-9))
        assert nearer.mean() < 0.002


def test_categories_are_tried_one_by_one():
    scorer = make_profiled(category_scale=4.0)
    row = make_rows(1).assign(purpose="Others")
    found = what_if(scorer, row).set_index("feature").loc["purpose"]
    assert found["outcome"] == "flips"
    assert found["sentence"] == (
        f"purpose of '{found['needed']}' instead of 'Others' would be approved"
    )


def test_levels_are_the_only_values_of_a_column_that_has_them():
    scorer = replace(make_levelled(), profile=None)
    row = make_rows(1).assign(risk_score=LEVELS[0])
    found = what_if(scorer, row, Policy(cutoff=0.7)).set_index("feature")
    assert found.loc["risk_score", "needed"] in LEVELS


def test_what_nobody_can_change_is_said():
    policy = Policy(not_adjustable=("risk_score",))
    found = what_if(SCORER, make_rows(1), policy).set_index("feature")
    assert found.loc["risk_score", "outcome"] == "not adjustable"


def test_a_gap_is_changed_too():
    policy = Policy(unknown_missing="average", cutoff=0.9)
    row = make_rows(1).assign(risk_score=np.nan)
    found = what_if(SCORER, row, policy).set_index("feature")
    assert "instead of no value" in found.loc["risk_score", "sentence"]


def test_refusals():
    with pytest.raises(InputError, match="pass a frame of one row"):
        what_if(SCORER, make_rows(2))
    with pytest.raises(InputError, match="cannot be scored: its 'amount' is missing"):
        what_if(SCORER, make_rows(1).assign(amount=np.nan))
    with pytest.raises(InputError, match="decides nothing without a cut-off"):
        what_if(replace(make_known(), classes=None), make_rows(1))
