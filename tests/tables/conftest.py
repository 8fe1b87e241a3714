"""Tables made here: text, dates, gaps, codes, an id and a target of either kind."""

import ibis
import numpy as np
import pandas as pd
import pytest


def make_table(rows=300, seed=0):
    """A table with a column of every kind."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 80, rows).astype(float)
    income = np.exp(rng.normal(10, 1, rows))
    log_odds = (age - 50) / 10 + rng.normal(size=rows)
    return pd.DataFrame(
        {
            "number": np.arange(rows) + 100,
            "code": [f"K{place:05d}" for place in rng.permutation(rows)],
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(rows), "D"),
            "age": age,
            "income": np.where(rng.uniform(size=rows) < 0.1, np.nan, income),
            "children": rng.integers(0, 4, rows),
            "job": pd.Series(rng.choice(["clerk", "smith", "cook"], rows)).where(
                rng.uniform(size=rows) > 0.1
            ),
            "sex": rng.choice(["f", "m"], rows),
            "branch": rng.integers(0, 15, rows),
            "country": "XX",
            "share": rng.uniform(0.5, 2, rows),
            "bad": np.where(log_odds > 0, "yes", "no"),
            "loss": 1000 + 50 * age + rng.normal(0, 100, rows),
        }
    )


@pytest.fixture(scope="session")
def frame():
    return make_table()


@pytest.fixture
def rows(frame):
    return ibis.duckdb.connect().create_table("rows", frame)
