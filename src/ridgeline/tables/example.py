"""A small credit table that needs no file: made up, with the dirt of real ones.

It has a heavy tail, gaps, a code that is no quantity, categories, a date, an
identifier, a constant and a column that must not be trained on.
"""

from typing import Any, Final

import numpy as np
import pandas as pd

__all__ = ["EXAMPLE_SETTINGS", "simulate_example"]

# What the example is, where a user has set nothing else.
EXAMPLE_SETTINGS: Final[dict[str, Any]] = {
    "target": "default",
    "sensitive": ["age_band"],
    "special_values": {"months_since_delinquency": [-9.0]},
    "monotone": {"debt_ratio": "increasing"},
    "row": "loan",
    "rows": "loans",
    "title": "Ridgeline: which loans default, and why",
    "labels": {
        "income": {"title": "Yearly income", "unit": "$"},
        "debt_ratio": {"title": "Debt ratio", "unit": "%"},
    },
}
_PURPOSES: Final = {"home": -0.4, "car": -0.2, "card": 0.3, "business": 0.6, "other": 0}
_JOBS: Final = {"employee": -0.3, "self-employed": 0.4, "retired": 0.0}
_FIRST_DAY: Final = "2021-01-01"
_DAYS: Final = 4 * 365
_NEVER: Final = -9.0  # delinquent: a code
_GAPS: Final = 0.08


def simulate_example(rows: int, seed: int) -> pd.DataFrame:
    """Draws loans; the same seed gives the same ones."""
    rng = np.random.default_rng([seed, 20_260_101])
    income = np.round(np.exp(rng.normal(10.6, 0.7, rows)), -2)
    heavy = rng.uniform(size=rows) < 0.01  # noqa: PLR2004
    income = np.where(heavy, income * rng.pareto(1.5, rows).clip(1, 200), income)
    debt = np.round(100 * rng.beta(2, 5, rows), 1)
    lines = rng.poisson(6, rows)
    months = np.floor(rng.exponential(30, rows))
    never = rng.uniform(size=rows) < 0.55  # noqa: PLR2004
    purpose, job = (
        rng.choice(list(names), size=rows, p=share)
        for names, share in (
            (_PURPOSES, (0.3, 0.25, 0.25, 0.1, 0.1)),
            (_JOBS, (0.7, 0.2, 0.1)),
        )
    )
    day = rng.integers(0, _DAYS, rows)
    log_odds = (
        -2.2
        - 0.9 * np.tanh((np.log(income) - 10.6) / 0.7)
        + 3.0 * (debt / 100) ** 2
        + 0.02 * (lines - 6) ** 2
        + np.where(never, -0.5, 1.2 * np.exp(-months / 20))
        + 0.3 * day / _DAYS
        + pd.Series(purpose).map(_PURPOSES).to_numpy()
        + pd.Series(job).map(_JOBS).to_numpy()
    )
    default = rng.uniform(size=rows) < 1 / (1 + np.exp(-log_odds))
    bands = np.array(["18-29", "30-44", "45-64", "65+"])
    return pd.DataFrame(
        {
            "loan_id": [f"L{number:07d}" for number in rng.permutation(rows)],
            "application_date": pd.Timestamp(_FIRST_DAY)
            + pd.to_timedelta(day, unit="D"),
            "income": np.where(rng.uniform(size=rows) < _GAPS, np.nan, income.round()),
            "debt_ratio": debt,
            "credit_lines": lines.astype(np.int64),
            "months_since_delinquency": np.where(never, _NEVER, months),
            "purpose": purpose,
            "employment": pd.Series(job).where(rng.uniform(size=rows) >= _GAPS / 2),
            "age_band": bands[rng.integers(len(bands), size=rows)],
            "currency": "USD",
            "default": default.astype(np.int64),
        }
    )
