"""Tables scored: no row is lost, no row fails another."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from known_model import make_known, make_rows
from profiled_model import make_profiled, profiled

from ridgeline import InputError, PointScale, Policy, score_table
from ridgeline.decisions.scoring import Decider

SCORER = make_profiled()
CELLS = st.one_of(
    st.none(),
    st.text(max_size=6),
    st.floats(),
    st.integers(),
    st.booleans(),
    st.sampled_from(["Housing", "Others", "12", "1_0", " 7 ", "inf", "NA", "True"]),
    st.dates(),
    st.lists(st.integers(), max_size=1),
)
TABLES = st.lists(st.tuples(CELLS, CELLS, CELLS), max_size=8)


@settings(max_examples=1_000, deadline=None)
@given(cells=TABLES, lenient=st.booleans())
def test_any_table_is_scored_or_refused_row_by_row(cells, lenient):
    frame = pd.DataFrame(cells, columns=list(SCORER.features.names), dtype=object)
    what = "average" if lenient else "refuse"
    policy = Policy(unknown_category=what, unknown_missing=what)
    scores, refused = score_table(SCORER, frame, policy)
    assert sorted([*scores["row"], *refused["row"]]) == list(range(1, len(cells) + 1))
    assert np.isfinite(scores["log_odds"]).all()
    assert refused["reason"].str.len().gt(0).all()
    assert set(refused["column"]) <= set(SCORER.features.names)


def test_scores_are_those_of_the_model():
    rows = make_rows(500)
    scores = score_table(SCORER, rows, Policy(points=PointScale())).scores
    probability = SCORER.predict_proba(rows)[:, 1]
    np.testing.assert_array_equal(scores["probability"], probability)
    np.testing.assert_array_equal(scores["log_odds"], SCORER.decision_function(rows))
    declined = scores["decision"] == "declined"
    assert (declined == (probability < 0.5)).all()
    assert (scores["points"] < 600).eq(declined).all()
    assert scores["reason_1"].notna().eq(declined).all()
    assert list(scores.columns[-9:]) == [
        *[f"reason_{n}{end}" for n in (1, 2, 3, 4) for end in ("", "_feature")],
        "cells_beyond_range",
    ]


@pytest.mark.parametrize("size", [1, 7, 100])
def test_chunks_give_what_the_whole_gives(size):
    rows = make_rows(200).astype({"purpose": object})
    rows.loc[17, "purpose"] = "Boat"
    decider = Decider(SCORER)
    whole = decider.score(rows)
    parts = [decider.score(rows[i : i + size], i + 1) for i in range(0, 200, size)]
    for at, expected in enumerate(whole):
        joined = pd.concat([p[at] for p in parts if len(p[at])], ignore_index=True)
        assert len(joined) == len(expected)
        for name in expected:
            one, other = joined[name], expected[name]
            if one.dtype.kind == "f":
                np.testing.assert_allclose(one, other, rtol=1e-12)
            else:
                assert one.fillna("").tolist() == other.fillna("").tolist()


def test_cells_beyond_the_range_are_counted_by_row():
    rows = make_rows(3).assign(amount=[1.0, 5_000.0, 1e9], risk_score=[1.0, 600, 700])
    assert score_table(SCORER, rows).scores["cells_beyond_range"].tolist() == [2, 0, 1]


def test_numbers_and_their_texts_are_the_same_category():
    features = replace(SCORER.features, categories={"purpose": (36, 60.0, True)})
    scorer = profiled(replace(make_known(), features=features), _coded([36, 60, True]))
    given_ = ["36", "60", "60.0", "True", 36.0, "36.5"]
    scores, refused = score_table(scorer, _coded(given_))
    assert scores["row"].tolist() == [1, 2, 3, 4, 5]
    assert refused["reason"].tolist() == [
        "has the category '36.5', which training had not"
    ]


def _coded(values):
    rows = make_rows(len(values))
    return rows.assign(purpose=pd.Series(values, dtype=object))


def test_reasons_of_refusal_in_words():
    rows = make_rows(5).astype({"amount": object, "purpose": object})
    rows.loc[0, "amount"] = "12 k"
    rows.loc[1, "amount"] = float("inf")
    rows.loc[2, "amount"] = None
    rows.loc[3, "purpose"] = None
    refused = score_table(SCORER, rows).refused
    assert list(refused.itertuples(index=False, name=None)) == [
        (1, "amount", "holds '12 k', where a number is needed"),
        (2, "amount", "is infinite, where a finite number is needed"),
        (3, "amount", "is missing, and was never missing in training"),
        (4, "purpose", "is missing, and was never missing in training"),
    ]


def test_columns_that_lack_are_named_and_others_are_left_alone():
    with pytest.raises(InputError, match="lacks the columns 'amount' of the model"):
        score_table(SCORER, make_rows(3).drop(columns="amount"))
    more = make_rows(3).assign(id=["a", "b", "c"])
    assert len(score_table(SCORER, more).scores) == 3


def test_a_regressor_has_values_and_no_log_odds():
    scorer = profiled(replace(make_known(), classes=None), make_rows())
    scores = score_table(scorer, make_rows(5)).scores
    assert scores["decision"].isna().all()
    assert "log_odds" not in scores
    decided = score_table(scorer, make_rows(50), Policy(cutoff=0.3)).scores
    assert (decided["decision"] == "declined").eq(decided["value"] < 0.3).all()
    with pytest.raises(InputError, match="a regressor has none"):
        score_table(scorer, make_rows(5), Policy(points=PointScale()))
