"""Cells of both formats are typed, and what cannot be read is kept as text."""

import datetime

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ridgeline.lendingclub.parsing import PARSED_COLUMNS


def only_row(table, approved):
    rows = table.filter(table.approved == approved).execute()
    assert len(rows) == 1
    return rows.iloc[0]


def test_a_good_row_of_each_format(typed):
    table = typed()
    accepted, rejected = only_row(table, 1), only_row(table, 0)
    assert accepted.application_date == pd.Timestamp(2015, 12, 1)
    assert accepted.amount == 12000
    assert accepted.risk_score == 692  # the middle of 690-694
    assert accepted.dti == 18.24
    assert accepted.employment_length == 11
    assert accepted.title == "credit card"
    assert rejected.application_date == pd.Timestamp(2015, 10, 29)
    assert rejected.risk_score == 633
    assert rejected.dti == 54.58
    assert rejected.employment_length == 0
    assert rejected.title == "debt consolidation"
    for name in PARSED_COLUMNS:
        assert accepted.isna()[f"{name}_unparsed"]
        assert rejected.isna()[f"{name}_unparsed"]


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
    ],
)
def test_unreadable_cell_is_null_and_its_text_kept(typed, column, text):
    row = only_row(typed(rejected=[{column: text}]), 0)
    assert row.isna()[column]
    assert row[f"{column}_unparsed"] == text


@pytest.mark.parametrize("text", ["2015-12-01", "Dezember-2015", "Foo-2015", "Dec-15"])
def test_unreadable_issue_month(typed, text):
    row = only_row(typed(accepted=[{"application_date": text}]), 1)
    assert row.isna().application_date
    assert row.application_date_unparsed == text


@pytest.mark.parametrize("column", PARSED_COLUMNS)
def test_empty_cell_is_missing_and_not_unreadable(typed, column):
    row = only_row(typed(rejected=[{column: ""}]), 0)
    assert row.isna()[column]
    assert row.isna()[f"{column}_unparsed"]


def test_half_a_score_band_is_no_score(typed):
    row = only_row(typed(accepted=[{"score_high": ""}]), 1)
    assert row.isna().risk_score
    row = only_row(typed(accepted=[{"score_high": "?"}]), 1)
    assert row.risk_score_unparsed == "690.0-?"


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
    read = read[list(PARSED_COLUMNS)].itertuples(index=False, name=None)
    expected = [(pd.Timestamp(day), a, s, float(d), y) for day, a, s, d, y in rows]
    assert sorted(read) == sorted(expected)
