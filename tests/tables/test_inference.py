"""What a table is, by rules; what the user says goes first, or is refused."""

import ibis
import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ridgeline.errors import InputError
from ridgeline.tables.columns import columns_text
from ridgeline.tables.description import TableDescription
from ridgeline.tables.inference import describe_table
from ridgeline.tables.preparing import check_split, set_aside, split_table
from ridgeline.tables.sample import sample_of
from ridgeline.tables.settings import TabularSettings


def describe(rows, **asked):
    asked.setdefault("target", "bad")
    return describe_table(rows, "people", TabularSettings(**asked))


def test_kinds_and_uses_follow_the_rules(rows):
    found = describe(rows, leave_out=["loss"], sensitive=["sex"], weight="share")
    kinds = {column.name: (column.kind, column.use) for column in found.columns}
    assert kinds == {
        "number": ("identifier", "left out"),
        "code": ("identifier", "left out"),
        "day": ("date", "feature"),
        "age": ("numeric", "feature"),
        "income": ("numeric", "feature"),
        "children": ("numeric", "feature"),
        "job": ("categorical", "feature"),
        "sex": ("categorical", "sensitive"),
        "branch": ("numeric", "feature"),
        "country": ("constant", "left out"),
        "share": ("numeric", "weight"),
        "bad": ("categorical", "target"),
        "loss": ("numeric", "left out"),
    }
    table = found.table
    assert table.task == "classification"
    assert table.classes == ("no", "yes")
    assert table.event == "bad"
    assert table.numeric == ("day", "age", "income", "children", "branch")
    assert table.categorical == ("job",)
    assert table.labels["day"].unit == "year"
    (asked,) = [column for column in found.columns if column.name == "children"]
    assert "if they are codes" in asked.note
    assert found.rows == 300
    shown = columns_text(found.columns)
    assert all(name in shown for name in kinds)
    assert max(map(len, shown.splitlines())) <= 71


def test_description_goes_to_json_and_back(rows):
    table = describe(rows, monotone={"age": "increasing"}, notes=["A note."]).table
    import json

    again = TableDescription.of(json.loads(json.dumps(table.to_json())))
    assert again == table
    with pytest.raises(InputError, match="description of the table: unknown parameter"):
        TableDescription.of({"nome": "x"})


def test_numbers_are_a_regression(rows):
    table = describe(rows, target="loss").table
    assert (table.task, table.classes) == ("regression", None)
    assert table.rate == "mean loss"


def test_what_the_user_says_goes_first(rows):
    types = {"children": "categorical", "number": "numeric", "job": "categorical"}
    table = describe(rows, types=types, positive="no", event="luck").table
    assert {"children", "job"} <= set(table.categorical)
    assert "number" in table.numeric
    assert table.classes == ("yes", "no")
    assert table.event == "luck"


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"target": None}, "No target is set: pass --params target=COLUMN"),
        ({"target": "bed"}, "target: there is no column 'bed'.*did you mean 'bad'"),
        ({"target": "country"}, "same value in all rows"),
        ({"target": "job"}, "3 classes of text"),
        ({"target": "day"}, "is of the type timestamp"),
        ({"task": "regression"}, "a regression needs numbers"),
        ({"positive": "maybe"}, "the classes of the target 'bad' are 'no' and 'yes'"),
        ({"weight": "job"}, "weights are numbers"),
        ({"weight": "bad"}, "named in target and in weight"),
        ({"sensitive": ["sax"]}, "sensitive: there is no column 'sax'"),
        ({"leave_out": ["sex"], "sensitive": ["sex"]}, "named in leave_out and in"),
        ({"monotone": {"job": "increasing"}}, "monotone: 'job' is no numeric feature"),
        ({"special_values": {"sex": [1]}}, "special_values: 'sex' is no numeric"),
        ({"types": {"job": "numeric"}}, "no cell of the column 'job' can be read as"),
        ({"types": {"age": "date"}}, "which is no date"),
        ({"types": {"day": "numeric"}}, "cannot be numeric"),
        (
            {"leave_out": "day age income children job sex branch share loss".split()},
            "No column is left to predict 'bad' from",
        ),
        (
            {"split": {"by": "time", "column": "job"}},
            "'job' is categorical and no date",
        ),
        ({"split": {"by": "group", "column": "bad"}}, "cannot be what the split goes"),
    ],
)
def test_each_refusal_is_one_sentence(rows, asked, said):
    asked = TabularSettings(**{"target": "bad"} | asked)
    with pytest.raises(InputError, match=said) as found:
        check_split(describe_table(rows, "people", asked).columns, asked)
    assert "\n" not in str(found.value)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"split": {"by": "group"}}, "needs a column"),
        ({"split": {"column": "day"}}, "by is 'random', which needs none"),
        ({"split": {"train": 0.9}}, "must add up to 1"),
        ({"types": {"age": "number"}}, "numeric"),
    ],
)
def test_settings_that_cannot_be_are_refused(asked, said):
    with pytest.raises(ValueError, match=said):
        TabularSettings(**asked)


def test_text_that_is_mostly_numbers_is_said_and_can_be_numeric():
    cells = [str(place) for place in range(99)] + ["about 7"]
    frame = pd.DataFrame({"x": cells, "y": [0, 1] * 50, "z": np.arange(100) / 7})
    rows = ibis.duckdb.connect().create_table("rows", frame)
    (column, *_) = describe(rows, target="y").columns
    assert "99.0 % of the cells are numbers" in column.note
    found = describe(rows, target="y", types={"x": "numeric"})
    assert found.columns[0].missing == 1
    assert "1 cells that are no numeric are taken as missing" in found.columns[0].note


def test_sensitive_and_other_columns_are_never_features(rows):
    asked = TabularSettings(target="bad", sensitive=["sex"], weight="share")
    table = describe_table(rows, "people", asked).table
    sets = split_table(set_aside(rows, table, asked).kept, table, asked, 0)
    for part in sets.values():
        frame = part.to_pandas()
        assert "sex" in frame
        sample = sample_of(frame, table)
        assert set(sample.features) == set(table.features)
        assert not {"sex", "share", "bad", "code", "number"} & set(sample.features)
        assert set(sample.target) == {0, 1}
        np.testing.assert_array_equal(sample.weight, frame["share"])


@st.composite
def frames(draw):
    """Frames of columns of one type each, as an engine has them, gaps anywhere."""
    count = draw(st.integers(1, 25))
    kinds = [
        st.booleans(),
        st.integers(-3, 3),
        st.integers(-(2**62), 2**62),
        st.floats(allow_nan=True, allow_infinity=True),
        st.text(max_size=3),
        st.datetimes(),
    ]
    frame = {}
    for place in range(draw(st.integers(1, 4))):
        kind = draw(st.sampled_from(kinds))
        cells = draw(
            st.lists(st.one_of(kind, st.none()), min_size=count, max_size=count)
        )
        frame[f"c{place}"] = pd.Series(cells).convert_dtypes()
    return pd.DataFrame(frame)


@settings(max_examples=80, suppress_health_check=[HealthCheck.too_slow])
@given(frames(), st.sampled_from(["c0", "c1"]))
def test_any_table_is_described_or_refused_in_one_sentence(frame, target):
    try:
        rows = ibis.duckdb.connect().create_table("rows", frame)
    except Exception:  # the engine's own limits, such as dates before the calendar
        return
    asked = TabularSettings(target=target)
    said = ""
    try:
        table = describe_table(rows, "any", asked).table
        kept = set_aside(rows, table, asked).kept
        for part in split_table(kept, table, asked, 0).values():
            sample_of(part.to_pandas(), table)
    except InputError as error:
        said = str(error)
    assert "\n" not in said
