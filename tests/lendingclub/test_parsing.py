"""Cells of both formats are typed, and what cannot be read is kept as text."""

import datetime

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ridgeline.lendingclub.parsing import unparsed_text
from ridgeline.lendingclub.schema import NUMERIC


def only_row(table, approved):
    rows = table.filter(table.approved == approved).execute()
    assert len(rows) == 1
    return rows.iloc[0]


def unparsed_cells(table, approved):
    texts = {name: unparsed_text(table, name) for name in NUMERIC}
    return only_row(table.select("approved", **texts), approved)[1:].dropna().to_dict()


def test_a_good_row_of_each_format(typed):
    table = typed()
    accepted, rejected = only_row(table, 1), only_row(table, 0)
    assert accepted.application_date == pd.Timestamp(2015, 12, 1)
    assert accepted.amount == 12000
    assert accepted.risk_score == 692  # the middle of 690-694
    assert accepted.dti == 18.24
    assert accepted.employment_length == 11
    assert accepted.title == "credit_card"
    assert rejected.application_date == pd.Timestamp(2015, 10, 29)
    assert rejected.risk_score == 633
    assert rejected.dti == 54.58
    assert rejected.employment_length == 0
    assert rejected.title == "debt_consolidation"
    assert accepted.isna().unparsed
    assert rejected.isna().unparsed


@pytest.mark.parametrize(
    ("column", "text"),
    [
        ("amount", "a lot"),
        ("amount", "nan"),
        ("amount", "inf"),
        ("amount", "12,000"),
        ("risk_score", "N/A"),
        ("dti", "%"),
        ("dti", "n/a%"),
        ("employment_length", "eleven years"),
        ("application_date", "29.10.2015"),
        ("application_date", "2015-13-01"),
        ("application_date", "infinity"),
        ("application_date", "99999-01-01"),
    ],
)
def test_unreadable_cell_is_null_and_its_text_kept(typed, column, text):
    table = typed(rejected=[{column: text}])
    assert only_row(table, 0).isna()[column]
    assert unparsed_cells(table, 0) == {column: text}


@pytest.mark.parametrize(
    "text",
    ["2015-12-01", "Dezember-2015", "Foo-2015", "Dec-15", "Dec/2015", "infinity"],
)
def test_unreadable_issue_month(typed, text):
    table = typed(accepted=[{"application_date": text}])
    assert only_row(table, 1).isna().application_date
    assert unparsed_cells(table, 1) == {"application_date": text}


def test_several_unreadable_cells_of_a_row_are_told_apart(typed):
    cells = {"amount": "dti=5", "dti": "50 % or so", "employment_length": ""}
    table = typed(rejected=[cells])
    assert unparsed_cells(table, 0) == {"amount": "dti=5", "dti": "50 % or so"}


@pytest.mark.parametrize("column", NUMERIC)
def test_empty_cell_is_missing_and_not_unreadable(typed, column):
    row = only_row(typed(rejected=[{column: ""}]), 0)
    assert row.isna()[column]
    assert row.isna().unparsed


def test_half_a_score_band_is_no_score(typed):
    row = only_row(typed(accepted=[{"score_high": ""}]), 1)
    assert row.isna().risk_score
    table = typed(accepted=[{"score_high": "?"}])
    assert unparsed_cells(table, 1) == {"risk_score": "690.0-?"}


@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    rows=st.lists(
        st.tuples(
            st.dates(datetime.date(2007, 1, 1), datetime.date(2018, 12, 31)),
            st.integers(0, 1_400_000),
            st.integers(0, 990),
            st.decimals(-1, 99_999, places=2),
            st.integers(1, 9),
        ),
        min_size=1,
        max_size=20,
    )
)
def test_what_was_written_is_what_is_read(typed, rows):
    table = typed(
        rejected=[
            {
                "application_date": day.isoformat(),
                "amount": f"{amount}.0",
                "risk_score": f"{score}.0",
                "dti": f"{dti}%",
                "employment_length": "1 year" if years == 1 else f"{years} years",
            }
            for day, amount, score, dti, years in rows
        ]
    )
    read = table.filter(table.approved == 0).execute()
    read = read[list(NUMERIC)].itertuples(index=False, name=None)
    expected = [(pd.Timestamp(day), a, s, float(d), y) for day, a, s, d, y in rows]
    assert sorted(read) == sorted(expected)
