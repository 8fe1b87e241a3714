"""Recipes as data: what a file may carry, and what is said of rows that fit none."""

import copy
import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ridgeline.errors import InputError
from ridgeline.lendingclub.cleaning import CleaningRules
from ridgeline.lendingclub.preparation import raw_preparation
from ridgeline.preparation.content import preparation_content, read_preparation
from ridgeline.preparation.recipes import Format, Preparation, Recipe, Step

LENDINGCLUB = raw_preparation(CleaningRules())
CONTENT = preparation_content(LENDINGCLUB)


def test_the_content_of_a_file_is_the_same_preparation():
    stored = json.loads(json.dumps(CONTENT))
    assert read_preparation(stored, LENDINGCLUB.columns) == LENDINGCLUB


def test_a_file_without_one_has_none():
    assert preparation_content(None) == {}
    assert read_preparation({}, ("a",)) is None


def places(part: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return every place in an object of JSON."""
    if isinstance(part, dict):
        inner = part.items()
    elif isinstance(part, list):
        inner = enumerate(part)
    else:
        return [path]
    return [path, *(one for key, each in inner for one in places(each, (*path, key)))]


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.text(max_size=3), inner, max_size=2)
    ),
    max_leaves=4,
)


@settings(max_examples=500, deadline=None)
@given(place=st.sampled_from(places(CONTENT)[2:]), value=JSON)
def test_anything_else_is_refused_or_prepares(place, value):
    """A changed file is refused in words, or is one that rows can be put through."""
    changed = copy.deepcopy(CONTENT)
    part: Any = changed
    for key in place[:-1]:
        part = part[key]
    part[place[-1]] = value
    try:
        read = read_preparation(changed, LENDINGCLUB.columns)
    except ValueError:
        return
    for form in read.formats:
        raw = pd.DataFrame({name: ["x", "7", None] for name in form.sources})
        rows, refused, _ = read.prepare(raw.assign(more=1))
        assert len(rows) + len(refused) == len(raw)


def one(column: str, sources: tuple[str, ...], *steps: Step) -> Preparation:
    """Return a preparation of one column."""
    return Preparation((Format("only", (Recipe(column, sources, steps),)),))


NUMBERS = Step("numbers", {"drop": "$,"})


def test_numbers_come_as_numbers_or_as_text():
    cells = [12, 3.5, "1,200", " 7 ", "$5", "1_000", "0x10", True, np.inf, None, ""]
    raw = pd.DataFrame({"a": pd.Series(cells, dtype=object)})
    rows, refused, _ = one("b", ("a",), NUMBERS).prepare(raw)
    assert rows["b"].tolist()[:5] == [12, 3.5, 1200, 7, 5]
    assert rows["b"].isna().tolist() == [False] * 5 + [True] * 2
    assert refused.index.tolist() == [5, 6, 7, 8]
    assert refused["reason"].iloc[0] == "from a '1_000' cannot be read"
    as_numbers = pd.DataFrame({"a": [12.0, np.nan, np.inf]})
    rows, refused, _ = one("b", ("a",), NUMBERS).prepare(as_numbers)
    assert rows["b"].tolist()[0] == 12
    assert refused.index.tolist() == [2]


def test_rows_keep_their_labels():
    raw = pd.DataFrame({"a": ["1", "x", "3"]}, index=["p", "q", "r"])
    rows, refused, form = one("b", ("a",), NUMBERS).prepare(raw)
    assert rows.index.tolist() == ["p", "r"]
    assert refused.index.tolist() == ["q"]
    assert form == "only"


def test_prepared_rows_stay_as_they_are():
    raw = pd.DataFrame({"b": [1.0, 2.0], "more": ["x", "y"]})
    rows, refused, form = one("b", ("a",), NUMBERS).prepare(raw)
    assert rows is raw
    assert refused.empty
    assert form is None


def test_a_table_of_no_format_is_refused():
    with pytest.raises(InputError, match=r"no column 'Application Date' and 5 more"):
        LENDINGCLUB.prepare(pd.DataFrame({"x": [1]}))
    raw = pd.DataFrame(columns=["loan_amnt", "issue_d", "purpose", "dti", "emp_length"])
    with pytest.raises(InputError, match=r"no column 'fico_range_low' and 1 more"):
        LENDINGCLUB.prepare(raw)


def test_no_rows_are_no_rows():
    raw = pd.DataFrame(columns=list(LENDINGCLUB.formats[1].sources), dtype=object)
    rows, refused, _ = LENDINGCLUB.prepare(raw)
    assert list(rows.columns) == list(LENDINGCLUB.columns)
    assert rows.empty
    assert refused.empty
