"""Sets by row, by group and by time; no row is lost."""

import ibis
import numpy as np
import pandas as pd
import pytest

from ridgeline.errors import InputError
from ridgeline.tables.inference import describe_table
from ridgeline.tables.preparing import REASON, audit_rows, set_aside, split_table
from ridgeline.tables.settings import TabularSettings
from ridgeline.tables.splitting import check_sets


def split(rows, seed=0, **asked):
    asked = TabularSettings(**{"target": "bad"} | asked)
    table = describe_table(rows, "people", asked).table
    parts = set_aside(rows, table, asked)
    sets = split_table(parts.kept, table, asked, seed)
    check_sets(sets, table)
    return {name: part.to_pandas() for name, part in sets.items()}


def test_random_sets_hold_all_rows_in_one_order(rows, frame):
    first, again = split(rows), split(rows)
    for name, part in first.items():
        pd.testing.assert_frame_equal(part, again[name])
    assert sum(map(len, first.values())) == len(frame)
    assert len(first["train"]) == pytest.approx(0.6 * len(frame), abs=30)
    assert not split(rows, seed=1)["train"].equals(first["train"])
    losses = np.sort(np.concatenate([part["loss"] for part in first.values()]))
    np.testing.assert_allclose(losses, np.sort(frame["loss"]))


def test_order_of_the_file_does_not_matter(rows, frame):
    turned = ibis.duckdb.connect().create_table("rows", frame.iloc[::-1])
    for one, other in zip(split(rows).values(), split(turned).values(), strict=True):
        pd.testing.assert_frame_equal(one, other)


def test_groups_stay_together(rows):
    sets = split(rows, split={"by": "group", "column": "branch"}, sensitive=["branch"])
    groups = [set(part["branch"]) for part in sets.values()]
    assert sum(map(len, groups)) == len(set().union(*groups)) == 15


def test_last_dates_test(rows):
    sets = split(rows, split={"by": "time", "column": "day"}, sensitive=["day"])
    before = max(sets["train"]["day"].max(), sets["validation"]["day"].max())
    assert before < sets["test"]["day"].min()
    assert len(sets["test"]) == 60
    alone = split(rows, split={"by": "time", "column": "day"})
    assert "day" not in alone["train"]


def test_rows_that_cannot_be_used_are_kept_and_counted(frame):
    spoilt = frame.copy()
    spoilt.loc[:4, "bad"] = None
    spoilt.loc[3:9, "share"] = -1.0
    rows = ibis.duckdb.connect().create_table("rows", spoilt)
    asked = TabularSettings(target="bad", weight="share")
    table = describe_table(rows, "people", asked).table
    parts = set_aside(rows, table, asked)
    nothing = ibis.memtable(pd.DataFrame({"text": ["1,2"]}))
    audit = audit_rows(parts, nothing, len(spoilt), table)
    assert audit["removed"].tolist() == [1, 5, 5]
    assert audit["kept"].tolist() == [300, 295, 290]
    aside = parts.aside.to_pandas()
    assert sorted(aside[REASON].unique()) == ["missing_target", "missing_weight"]
    assert set(aside.columns) == {*spoilt.columns, REASON}
    assert parts.kept.count().execute() + len(aside) == len(spoilt)


def test_sets_without_a_class_are_refused(frame):
    few = frame.copy()
    few["bad"] = np.where(np.arange(len(few)) == 0, "yes", "no")
    rows = ibis.duckdb.connect().create_table("rows", few)
    with pytest.raises(InputError, match="set has no rows with bad = yes"):
        split(rows)


def test_one_date_is_no_time(frame):
    same = frame.assign(day=[pd.Timestamp("2024-01-01")] * 299 + [None])
    rows = ibis.duckdb.connect().create_table("rows", same)
    with pytest.raises(InputError, match="1 different dates"):
        split(rows, split={"by": "time", "column": "day"}, types={"day": "date"})
