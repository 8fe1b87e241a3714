"""A scorer whose functions are known, and rows and truth that go with it."""

import numpy as np
import pandas as pd

from ridgeline.xnn.features import Features
from ridgeline.xnn.numeric_column import NumericColumn
from ridgeline.xnn.scaling import Scale
from ridgeline.xnn.scorer import Scorer, Spread, Subnetworks

__all__ = ["PURPOSES", "RANGES", "evenly", "make_known", "make_rows", "true_curves"]

PURPOSES = ("Credit Card", "Housing", "Others")
# A hump of the score at 640, and an amount that only rises.
RANGES = {"risk_score": (500.0, 900.0), "amount": (1_000.0, 41_000.0)}


def evenly(low, high):
    """A numeric column that is scaled by its ends, as in the paper."""
    return NumericColumn(Scale(np.array([low, high]), np.array([-1.0, 1.0])))


def hump(z):
    return np.tanh(6 * (z + 0.6)) - np.tanh(6 * z)


def make_known(mixed=0.0, sign=1.0, category_scale=0.5):
    """A scorer; `mixed` turns the projections by so many radians."""
    turn = np.array([[np.cos(mixed), -np.sin(mixed)], [np.sin(mixed), np.cos(mixed)]])
    ones = np.ones((2, 1, 1))
    return Scorer(
        features=Features(
            (*RANGES, "purpose"),
            named=True,
            numbers={name: evenly(*limits) for name, limits in RANGES.items()},
            categories={"purpose": PURPOSES},
        ),
        classes=(0, 1),
        projection=turn * np.array([sign, 1.0]),
        subnetworks=Subnetworks(
            (
                np.array([[[6.0 * sign], [6.0 * sign]], [[1.0], [1.0]]]),
                np.array([[[1.0, -1.0]], [[0.5, 0.5]]]),
            ),
            (np.array([[[3.6], [0.0]], [[0.0], [0.0]]]), 0 * ones),
            "tanh",
        ),
        scales=np.array([3.0, 1.0]),
        effects=(np.array([1.0, 0.0, -1.0]),),
        category_scales=np.array([category_scale]),
        intercept=-0.5,
        spread=Spread(
            np.tile(np.linspace(-1, 1, 21), (2, 1)),
            np.full((2, 20), 0.05),
            (np.full(3, 1 / 3),),
        ),
    )


def make_rows(n=3_000, seed=0):
    rng = np.random.default_rng(seed)
    columns = {name: rng.uniform(*limits, n) for name, limits in RANGES.items()}
    purpose = pd.Categorical(rng.choice(PURPOSES, n), categories=PURPOSES)
    return pd.DataFrame({**columns, "purpose": purpose})


def true_curves():
    """The parts of the known scorer, with levels of their own."""
    score, amount = (np.linspace(*limits, 401) for limits in RANGES.values())
    return {
        "risk_score": pd.DataFrame(
            {"value": score, "log_odds": 7 + 3 * hump((score - 700) / 200)}
        ),
        "amount": pd.DataFrame(
            {"value": amount, "log_odds": np.tanh((amount - 21_000) / 20_000) - 4}
        ),
        "purpose": pd.DataFrame({"value": PURPOSES, "log_odds": [0.5, 0.0, -0.5]}),
    }
