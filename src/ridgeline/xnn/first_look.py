"""A first look at the training rows: smooth curves of all columns, fitted at once.

Splines and one-hot categories in a linear or logistic regression take a fraction of a
second. What they leave of the target tells which values are special, and how far apart
categories are once the other columns have had their say.
"""

import warnings
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.preprocessing import OneHotEncoder, SplineTransformer

__all__ = ["FirstLook", "Residuals", "look", "some_rows"]

Floats = NDArray[np.float64]
_MOST_ROWS: Final = 100_000
_KNOTS: Final = 8
_MOST_CATEGORIES: Final = 30  # of a column; the rarer ones become one
_SMALLEST_VARIANCE: Final = 1e-4  # of a class that is all but certain


class Residuals(NamedTuple):
    """What is left of the target, and how much it varies by chance."""

    values: Floats
    variance: Floats
    event: float  # the square of what one row more or less changes

    def take(self, order: NDArray[np.intp]) -> "Residuals":
        """Some of the rows, or all in another order."""
        return Residuals(self.values[order], self.variance[order], self.event)


class FirstLook(NamedTuple):
    """Rows with what each column adds to their prediction."""

    target: Floats
    decision: Floats
    parts: dict[str, Floats]  # of categories, and of gaps, by column
    classify: bool

    def residuals(self, without: str | None = None) -> Residuals:
        """What is left; with a column's categories or gaps left out, also theirs."""
        decision = self.decision
        if without in self.parts:
            part = self.parts[without]
            decision = decision - part + part.mean()
        if not self.classify:
            values = self.target - decision
            # Noise is that of the whole prediction.
            noise = float(np.var(self.target - self.decision))
            return Residuals(values, np.full(len(values), noise), noise)
        chance = 0.5 + 0.5 * np.tanh(0.5 * decision)
        variance = np.maximum(chance * (1 - chance), _SMALLEST_VARIANCE)
        return Residuals(self.target - chance, variance, 1.0)


def some_rows(count: int) -> NDArray[np.intp]:
    """Rows that a first look is taken at: all, or evenly spaced ones."""
    return np.linspace(0, count - 1, min(_MOST_ROWS, count)).astype(np.intp)


def look(
    columns: Mapping[str, Floats],
    categories: Mapping[str, NDArray[Any]],
    target: Floats,
    *,
    classify: bool,
) -> FirstLook:
    """Fits the rows, of which there must be some.

    Args:
        columns: The numeric columns, NaN where they have no quantity.
        categories: Codes of the categorical columns.
        target: Responses, or zero and one.
        classify: Whether the target is a class.
    """
    blocks: dict[str | None, Any] = {}
    if columns:
        ranked = np.column_stack([_ranks(values) for values in columns.values()])
        splines = SplineTransformer(_KNOTS, knots="quantile", extrapolation="constant")
        blocks[None] = splines.fit_transform(ranked)
    for name, values in columns.items():
        if np.isnan(values).any():
            blocks[name] = np.isnan(values)[:, None].astype(np.float64)
    for name, codes in categories.items():
        encoder = OneHotEncoder(sparse_output=False, max_categories=_MOST_CATEGORIES)
        blocks[name] = encoder.fit_transform(np.asarray(codes)[:, None])
    design = np.column_stack(list(blocks.values()))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a rough look need not converge
        if classify:
            model = LogisticRegression(C=10.0, tol=1e-3).fit(design, target)
        else:
            model = Ridge(alpha=1.0).fit(design, target)
    weights = np.ravel(model.coef_)
    ends = np.cumsum([block.shape[1] for block in blocks.values()])
    parts = {
        name: block @ weights[end - block.shape[1] : end]
        for (name, block), end in zip(blocks.items(), ends.tolist(), strict=True)
        if name is not None
    }
    decision = design @ weights + float(np.ravel(model.intercept_)[0])
    return FirstLook(np.asarray(target, dtype=np.float64), decision, parts, classify)


def _ranks(values: Floats) -> Floats:
    """Places among the distinct values, of which quantiles are distinct."""
    _, places = np.unique(values, return_inverse=True, equal_nan=True)
    ranks = places.astype(np.float64)
    gaps = np.isnan(values)
    if gaps.any():
        ranks[gaps] = ranks[~gaps].mean() if not gaps.all() else 0.0
    return ranks
