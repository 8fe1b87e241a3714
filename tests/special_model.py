"""The known scorer with round sums that are special, and with a score of few levels."""

from dataclasses import replace

import numpy as np
import pandas as pd
from known_model import make_known, make_rows, true_curves

__all__ = [
    "EFFECTS",
    "LEVELS",
    "SUMS",
    "make_levelled",
    "make_special",
    "special_rows",
    "special_truth",
]

SUMS = (10_000.0, 20_000.0, 30_000.0)
EFFECTS = np.array([0.25, -1.0, -0.5, 1.0])  # of any other value, then of the sums
LEVELS = tuple(np.arange(500.0, 901.0, 40.0).tolist())


def make_special():
    """A scorer whose amount has an effect of its own at each of the round sums."""
    known = make_known()
    numbers = dict(known.features.numbers)
    numbers["amount"] = replace(numbers["amount"], masses=SUMS)
    return replace(
        known,
        features=replace(known.features, numbers=numbers),
        effects=(*known.effects, EFFECTS),
        category_scales=np.append(known.category_scales, 1.0),
        spread=replace(
            known.spread, shares=(*known.spread.shares, np.array([0.7, 0.1, 0.1, 0.1]))
        ),
    )


def make_levelled(mixed=0.0):
    """A scorer whose score has a few whole numbers."""
    known = make_known(mixed)
    numbers = dict(known.features.numbers)
    numbers["risk_score"] = replace(numbers["risk_score"], levels=LEVELS)
    return replace(known, features=replace(known.features, numbers=numbers))


def special_rows():
    """Rows of which a tenth each has one of the sums."""
    rows = make_rows()
    for place, value in enumerate(SUMS):
        rows.loc[rows.index % 10 == place, "amount"] = value
    return rows


def special_truth():
    """The parts of that scorer."""
    truth = true_curves()
    value, log_odds = (truth["amount"][name].to_numpy() for name in truth["amount"])
    # Close beside a sum is another value already.
    at = np.unique([*value, *(end + near for end in SUMS for near in (-0.01, 0, 0.01))])
    beside = np.full(len(at), EFFECTS[0])
    for each, effect in zip(SUMS, EFFECTS[1:], strict=True):
        beside[at == each] = effect
    table = {"value": at, "log_odds": np.interp(at, value, log_odds) + beside}
    return truth | {"amount": pd.DataFrame(table)}
