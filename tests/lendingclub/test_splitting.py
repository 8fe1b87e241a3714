"""A row's set depends on the seed and the row alone."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from ridgeline.lendingclub.splitting import SplitShares, split_applications

PAPER = SplitShares()


def clean_frame(keys, label_rate=0.2, seed=0):
    """Make a clean table: keys, one feature that tells them apart, a label."""
    labels = np.random.default_rng(seed).random(len(keys)) < label_rate
    return pd.DataFrame(
        {
            "row_key": keys,
            "amount": np.arange(len(keys), dtype=float),
            "approved": labels.astype("int32"),
        }
    )


def hex_keys(count, seed=0):
    numbers = np.random.default_rng(seed).integers(0, 2**63, count)
    return [f"{number:016x}" for number in numbers]


def split(connection, frame, shares=PAPER, seed=0):
    table = connection.create_table("clean", frame, overwrite=True, temp=True)
    sets = split_applications(table, shares, seed)
    return {name: rows.execute() for name, rows in sets.items()}


def test_every_row_lands_in_one_set(duckdb):
    frame = clean_frame(hex_keys(5000))
    sets = split(duckdb, frame)
    together = pd.concat(sets.values()).amount.sort_values(ignore_index=True)
    assert together.equals(frame.amount)


def test_shares_and_label_rates_at_a_hundred_thousand_rows(duckdb):
    sets = split(duckdb, clean_frame(hex_keys(100_000)))
    for name, share in PAPER.model_dump().items():
        assert abs(len(sets[name]) / 100_000 - share) < 0.01
    rates = [rows.approved.mean() for rows in sets.values()]
    assert max(rates) - min(rates) < 0.01


def test_order_of_rows_changes_nothing(duckdb):
    frame = clean_frame(hex_keys(2000))
    shuffled = frame.sample(frac=1, random_state=1)
    first, second = split(duckdb, frame), split(duckdb, shuffled)
    for name in first:
        pd.testing.assert_frame_equal(first[name], second[name])


def test_rows_beside_it_do_not_move_a_row(duckdb):
    frame = clean_frame(hex_keys(2000))
    some = frame.iloc[::3]
    whole, part = split(duckdb, frame), split(duckdb, some)
    for name in whole:
        assert set(part[name].amount) == set(whole[name].amount) & set(some.amount)


def test_seed_gives_an_unrelated_split(duckdb):
    frame = clean_frame(hex_keys(20_000))
    first, second = split(duckdb, frame, seed=0), split(duckdb, frame, seed=1)
    common = set(first["train"].amount) & set(second["train"].amount)
    # Independent sets of 40 % share 16 % of the rows; 0.01 is four standard errors.
    assert abs(len(common) / 20_000 - 0.16) < 0.01


@settings(
    max_examples=30,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    keys=st.lists(st.text("0123456789abcdef", min_size=16, max_size=16), min_size=1),
    copies=st.integers(2, 4),
    seed=st.integers(0, 2**32),
)
def test_equal_rows_never_sit_on_both_sides(duckdb, keys, copies, seed):
    frame = clean_frame(keys)
    doubled = pd.concat([frame] * copies, ignore_index=True)
    sets = split(duckdb, doubled, seed=seed)
    seen = [set(rows.amount) for rows in sets.values()]
    assert sum(len(part) for part in seen) == len(set().union(*seen)) == len(frame)


@pytest.mark.parametrize("shares", [(0.5, 0.1, 0.5), (0.4, 0.1, 0.4)])
def test_shares_must_make_one(shares):
    values = dict(zip(("train", "validation", "test"), shares, strict=True))
    with pytest.raises(ValidationError, match="must add up to 1"):
        SplitShares(**values)


def test_other_shares(duckdb):
    shares = SplitShares(train=0.7, validation=0.1, test=0.2)
    sets = split(duckdb, clean_frame(hex_keys(10_000)), shares)
    assert abs(len(sets["train"]) / 10_000 - 0.7) < 0.02
