"""How far the effects of rare categories are drawn to the average.

A category of three rows says little: memorised, its effect is their noise. Each effect
therefore pays for its square as if so many rows more had the average response. How many
is a matter of the column: the variance of a row about its category's mean divided by
the variance of these means, which the training rows tell (the empirical Bayes estimate,
Morris 1983, which also smooths scikit-learn's `TargetEncoder`). Where categories differ
by no more than chance, all of them are drawn to the average.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ridgeline.xnn.architecture import Architecture, Rows

__all__ = ["category_priors"]

Floats = NDArray[np.float64]


def category_priors(shape: Architecture, rows: Rows) -> Floats:
    """The price of the square of each effect in the objective, side by side.

    Args:
        shape: The architecture.
        rows: All training rows.
    """
    target = np.asarray(rows.target, dtype=np.float64)
    weight = np.asarray(rows.weight, dtype=np.float64)
    total = weight.sum()
    # A row at distance b from its target costs b^2, or p (1 - p) b^2 / 2 in log-odds.
    half = 0.5 if shape.loss == "logistic" else None
    prices = []
    start = 0
    for group, count in enumerate(shape.category_counts):
        places = np.asarray(rows.codes[:, group]) - start
        inside, between = _variances(places, count, target, weight)
        more = min(inside / between, total) if between > 0 else total
        cost = 1.0 if half is None else half * inside
        # Without rows nothing may train an effect: it stays the average.
        there = np.bincount(places, weight, count) > 0
        prices.append(np.where(there, more * cost / total, 0.0))
        start += count
    return np.concatenate([np.zeros(0), *prices])


def _variances(
    places: NDArray[Any], count: int, target: Floats, weight: Floats
) -> tuple[float, float]:
    """Variance of rows about their category's mean, and of the true means."""
    rows = np.bincount(places, weight, count)
    used = rows > 0
    sums = np.bincount(places, weight * target, count)
    means = np.divide(sums, rows, out=np.zeros(count), where=used)
    total, distinct = rows.sum(), int(used.sum())
    if distinct < 2 or total <= distinct:  # noqa: PLR2004
        return 1.0, 0.0
    inside = float(weight @ (target - means[places]) ** 2) / (total - distinct)
    apart = float(rows @ (means - sums.sum() / total) ** 2)
    # By moments: chance alone makes the means of so many categories differ by this.
    between = (apart - (distinct - 1) * inside) / (total - float(rows @ rows) / total)
    return max(inside, np.finfo(np.float64).tiny), max(between, 0.0)
