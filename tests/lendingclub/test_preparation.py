"""Recipes make of a raw row what the engine's cleaning makes of it."""

from datetime import date
from typing import Any

import ibis
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ridgeline.lendingclub.cleaning import CleaningRules, clean_applications
from ridgeline.lendingclub.modelling import PURPOSE, in_model_form
from ridgeline.lendingclub.parsing import parse_applications
from ridgeline.lendingclub.preparation import raw_preparation
from ridgeline.lendingclub.schema import EMPLOYMENT_LEVELS, NUMERIC, SOURCES
from ridgeline.lendingclub.simulator import simulate

# As long as there are dates: what the window leaves out is no bad row.
ALWAYS = {"first_date": date(1, 1, 1), "last_date": date(9999, 12, 31)}
ODD = st.sampled_from(
    ["", "n/a", "nan", "inf", "-inf", "12 ", " 7", "1e3", "1e400", ".5", "5.", "x"]
)
NUMBERS = st.one_of(
    ODD,
    st.integers(-10, 60_000).map(str),
    st.floats(-300, 60_000).map(lambda value: f"{value:.2f}"),
)
SCORES = st.one_of(ODD, st.integers(300, 1000).map(lambda value: f"{value}.0"))
DAYS = st.one_of(
    st.dates(date(1900, 1, 1), date(2100, 1, 1)).map(str),
    st.sampled_from(["", "2015-02-30", "2016-13-01", "infinity", "99999-01-01", "x"]),
)
MONTHS = st.one_of(
    st.dates(date(1990, 1, 1), date(2030, 1, 1)).map(lambda day: f"{day:%b-%Y}"),
    st.sampled_from(["", "dec-2015", "Dec-15", "Foo-2015", "Dec-20155"]),
)
EMPLOYMENT = st.one_of(
    st.sampled_from(list(EMPLOYMENT_LEVELS)), st.sampled_from(["", "n/a", "12 years"])
)
TITLES = st.sampled_from(
    ["debt_consolidation", "Credit card refinancing", "my cat", "HOME", "car", "", " "]
)
CELLS = {
    "accepted": {
        "amount": NUMBERS,
        "application_date": MONTHS,
        "title": TITLES,
        "score_low": SCORES,
        "score_high": SCORES,
        "dti": NUMBERS,
        "employment_length": EMPLOYMENT,
    },
    "rejected": {
        "amount": NUMBERS,
        "application_date": DAYS,
        "title": TITLES,
        "risk_score": SCORES,
        "dti": st.one_of(ODD, st.floats(-9, 300).map(lambda value: f"{value:.1f}%")),
        "employment_length": EMPLOYMENT,
    },
}


@pytest.fixture(scope="module")
def engine() -> Any:
    """Return a connection of its own."""
    return ibis.duckdb.connect()


def frames(kind: str) -> st.SearchStrategy[pd.DataFrame]:
    """Return raw rows of a file, an empty cell being a missing one."""
    names = SOURCES[kind]
    row = st.fixed_dictionaries({names[key]: CELLS[kind][key] for key in names})
    return st.lists(row, min_size=1, max_size=20).map(
        lambda rows: (
            pd.DataFrame(rows).astype(object).where(lambda cells: cells != "", None)
        )
    )


def cleaned(
    engine: Any, accepted: pd.DataFrame, rejected: pd.DataFrame, rules: CleaningRules
) -> pd.DataFrame:
    """Return what the engine makes of raw rows, sorted."""
    schema = {
        kind: ibis.schema(dict.fromkeys(frame.columns, "string"))
        for kind, frame in (("accepted", accepted), ("rejected", rejected))
    }
    tables = [
        engine.create_table(kind, frame, schema=schema[kind], overwrite=True)
        for kind, frame in (("accepted", accepted), ("rejected", rejected))
    ]
    clean = clean_applications(parse_applications(*tables), rules)
    return in_order(in_model_form(clean).to_pandas())


def in_order(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows in an order of their own, as plain numbers and text."""
    kinds = dict.fromkeys(NUMERIC, "float64") | {PURPOSE: "str", "approved": "int64"}
    rows = rows[[*kinds]].astype(kinds)
    return rows.sort_values([*kinds], ignore_index=True)


@pytest.mark.parametrize("one_grid", [True, False])
@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(accepted=frames("accepted"), rejected=frames("rejected"))
def test_recipes_and_engine_agree(engine, one_grid, accepted, rejected):
    rules = CleaningRules(one_grid=one_grid, **ALWAYS)
    preparation = raw_preparation(rules)
    prepared = []
    for approved, raw in ((1, accepted), (0, rejected)):
        rows, refused, _ = preparation.prepare(raw)
        assert len(rows) + len(refused) == len(raw)
        assert set(rows.index) | set(refused.index) == set(raw.index)
        prepared.append(rows.assign(approved=approved))
    made = in_order(pd.concat(prepared).dropna())
    pd.testing.assert_frame_equal(
        made, cleaned(engine, accepted, rejected, rules), rtol=1e-12
    )


def test_the_simulated_files_agree(engine, simulated_raw):
    rules = CleaningRules(**ALWAYS)
    accepted, rejected = simulated_raw
    preparation = raw_preparation(rules)
    made = in_order(
        pd.concat(
            [
                preparation.prepare(accepted).rows.assign(approved=1),
                preparation.prepare(rejected).rows.assign(approved=0),
            ]
        ).dropna()
    )
    assert len(made) > 500
    pd.testing.assert_frame_equal(
        made, cleaned(engine, accepted, rejected, rules), rtol=1e-12
    )


@pytest.fixture(scope="module")
def simulated_raw() -> tuple[pd.DataFrame, ...]:
    """Return raw rows of both simulated files, as text."""
    return tuple(
        pd.concat([batch.to_pandas() for batch in simulate(kind, rows, 0)])
        .astype(object)
        .where(lambda cells: cells.notna(), None)
        .reset_index(drop=True)
        for kind, rows in (("accepted", 500), ("rejected", 2_000))
    )


def test_what_is_wrong_is_said():
    preparation = raw_preparation(CleaningRules())
    raw = pd.DataFrame(
        {
            "Amount Requested": ["1000", "41000", "1000", "1000"],
            "Application Date": ["2026-11-18", "2018-01-01", "soon", "2018-01-01"],
            "Loan Title": ["car", "car", "car", None],
            "Risk_Score": ["700", "700", "700", "701"],
            "Debt-To-Income Ratio": ["10%", "10%", "10%", "10%"],
            "Employment Length": ["< 1 year", "1 year", "2 years", "10+ years"],
        }
    )
    rows, refused, form = preparation.prepare(raw)
    assert form == "rejected"
    # A day after the window is tomorrow's application, and a gap is the model's to see.
    assert rows.index.tolist() == [0, 3]
    assert rows["risk_score"].tolist() == [700.0, 700.0]
    assert pd.isna(rows.loc[3, "purpose"])
    assert refused["reason"].tolist() == [
        "from Amount Requested '41000' must be at most 40000: the model was made "
        "without other rows",
        "from Application Date 'soon' cannot be read",
    ]
    assert refused["column"].tolist() == ["amount", "application_date"]
