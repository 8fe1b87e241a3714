"""How far the effects of rare categories are drawn to the average.

A category of three rows says little: memorised, its effect is their noise. Each effect
therefore pays for its square as if so many rows more had the average response. How many
is a matter of the column: the variance of a row about its category's mean divided by
the variance of these means, which the training rows tell (the empirical Bayes estimate,
Morris 1983, which also smooths scikit-learn's `TargetEncoder`), here of what the other
columns leave of the response. Where categories differ by no more than chance, all of
them are drawn to the average.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ridgeline.xnn.first_look import Residuals

__all__ = ["effect_price"]

Floats = NDArray[np.float64]


def effect_price(
    codes: NDArray[Any], count: int, left: Residuals, *, rows: int, classify: bool
) -> float:
    """The price of the square of each effect of a group in the objective.

    Args:
        codes: Which category each row has; -1 for none.
        count: How many categories there are.
        left: What the other columns leave of the response.
        rows: How many training rows there are, of which these may be a part.
        classify: Whether the response is a class.
    """
    known = codes >= 0
    noise, between = _variances(codes[known], count, left.values[known])
    more = min(noise / between, rows) if between > 0 else float(rows)
    # A row at distance b from its target costs b^2, or p (1 - p) b^2 / 2 in log-odds.
    return float(more * (noise / 2 if classify else 1.0) / rows)


def _variances(codes: NDArray[Any], count: int, values: Floats) -> tuple[float, float]:
    """Variance of rows about their category's mean, and of the true means."""
    rows = np.bincount(codes, minlength=count).astype(np.float64)
    used = rows > 0
    total, distinct = rows.sum(), int(used.sum())
    if distinct < 2 or total <= distinct:  # noqa: PLR2004
        return float(np.var(values)) if total else 0.0, 0.0
    means = np.bincount(codes, values, count) / np.maximum(rows, 1)
    inside = float(np.sum((values - means[codes]) ** 2)) / (total - distinct)
    apart = float(rows @ (means - values.mean()) ** 2)
    # By moments: chance alone makes the means of so many categories differ by this.
    excess = apart - (distinct - 1) * inside
    return inside, max(0.0, float(excess / (total - float(rows @ rows) / total)))
