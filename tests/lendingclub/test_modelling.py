"""A set of the split, as models read it."""

import ibis
import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from ridgeline.lendingclub.cleaning import FEATURES
from ridgeline.lendingclub.modelling import (
    NUMERIC,
    PURPOSE,
    in_model_form,
    model_sample,
)
from ridgeline.lendingclub.schema import PURPOSE_COLUMNS, PURPOSES

THREE = pd.DataFrame(
    {
        "application_date": [2015.0, 2016.5, 2018.25],
        "amount": [1_000.0, 20_000.0, 40_000.0],
        "risk_score": [600.0, 700.0, 800.0],
        "dti": [0.0, 18.5, 200.0],
        "employment_length": [0.0, 5.0, 11.0],
        "purpose": ["Others", "Credit Card", "Housing"],
        "approved": np.array([0, 1, 1], dtype=np.int32),
    }
)


def test_three_rows_have_their_numbers_and_their_purposes():
    features, approved, _ = model_sample(THREE)
    assert list(features.columns) == [
        *("application_date", "amount", "risk_score", "dti", "employment_length"),
        "purpose",
    ]
    pd.testing.assert_frame_equal(features[list(NUMERIC)], THREE[list(NUMERIC)])
    assert features[PURPOSE].to_list() == ["Others", "Credit Card", "Housing"]
    assert approved.tolist() == [0, 1, 1]


def test_the_set_is_not_changed():
    before = THREE.copy(deep=True)
    features, approved, _ = model_sample(THREE)
    features["amount"] = -1.0
    approved[:] = 1
    pd.testing.assert_frame_equal(THREE, before)


def test_order_of_the_columns_and_of_the_index_does_not_matter():
    turned = THREE[THREE.columns[::-1]].set_index(pd.Index([7, 7, 3]))
    expected, found = model_sample(THREE), model_sample(turned)
    pd.testing.assert_frame_equal(
        found.features.reset_index(drop=True), expected.features
    )
    assert found.target.tolist() == expected.target.tolist()


@given(st.lists(st.sampled_from(PURPOSES), min_size=1, max_size=20), st.integers(0, 25))
def test_one_hot_purposes_come_back_and_a_head_is_the_first_rows(purposes, count):
    hot = {
        column: [float(one == purpose) for one in purposes]
        for purpose, column in PURPOSE_COLUMNS.items()
    }
    numbers = {name: np.arange(len(purposes), dtype=float) for name in NUMERIC}
    rows = pd.DataFrame({**numbers, **hot})[list(FEATURES)]
    clean = ibis.memtable(rows.assign(approved=np.arange(len(purposes)) % 2))
    sample = model_sample(in_model_form(clean).order_by("amount").to_pandas())
    assert sample.features[PURPOSE].to_list() == purposes
    head = sample.head(count)
    assert head.features["amount"].to_list() == list(range(len(purposes)))[:count]
    assert head.features[PURPOSE].to_list() == purposes[:count]
    assert head.target.tolist() == sample.target.tolist()[:count]
    assert head.weight is None
