"""The known scorers with the profile of the rows that go with them."""

from dataclasses import replace

import numpy as np
from known_model import make_known, make_rows

from ridgeline.xnn.profile import measure
from ridgeline.xnn.scorer import without_range_warnings

__all__ = ["labels_of", "make_profiled", "profiled", "take"]


def take(X, rows):
    """Return rows of a frame or of an array by their positions."""
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def labels_of(scorer, rows, seed=0):
    """Return targets that the scorer would expect."""
    decision = scorer.decision_function(rows)
    rng = np.random.default_rng(seed)
    if scorer.classes is None:
        return decision + rng.normal(size=len(decision))
    return (rng.uniform(size=len(decision)) < 1 / (1 + np.exp(-decision))) * 1.0


def profiled(scorer, rows, target=None, weight=None):
    """Return a scorer with the profile of these rows."""
    target = labels_of(scorer, rows) if target is None else target
    weight = np.ones(len(rows)) if weight is None else weight
    with without_range_warnings():
        profile = measure(scorer, rows, target, weight, rows=len(rows), take=take)
    return replace(scorer, profile=profile)


def make_profiled(**parts):
    """Return the known scorer with a profile, mixed by default."""
    return profiled(make_known(**({"mixed": 0.4} | parts)), make_rows())
