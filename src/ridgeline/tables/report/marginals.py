"""Marginal means of the target: what the data say about one feature at a time."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd

from ridgeline.errors import InputError
from ridgeline.reporting.labels import Labels, category_texts
from ridgeline.xnn.columns import Unseen
from ridgeline.xnn.features import Features

__all__ = ["MISSING", "Marginal", "marginal_rates", "special_rates"]

MISSING: Final = "missing"  # as `category_texts` calls a gap
# A feature with at most so many values has a rate for each of them ...
_FEW_VALUES: Final = 50
_BINS: Final = 20  # ... and another this many, of about equal counts


@dataclass(frozen=True, eq=False)
class Marginal:
    """Rates of class 1, or means, by bins of a numeric feature or by category.

    Args:
        feature: Name of the column.
        mean: Of a numeric feature; None for a categorical one.
        table: Columns `value` (mean of the bin, or category), `rate`,
            `standard_error`, `count`; for a numeric feature also `low` and `high`, the
            smallest and largest value in the bin. Rows with a gap are no part of it.
    """

    feature: str
    mean: float | None
    table: pd.DataFrame

    @property
    def numeric(self) -> bool:
        """Whether the feature is a number."""
        return self.mean is not None


def marginal_rates(X: pd.DataFrame, y: Any) -> dict[str, Marginal]:
    """Rates of class 1, or means of a number, for each column.

    Raises:
        InputError: If X and y differ in length, or there are no rows.
    """
    labels = np.asarray(y)
    if len(X) != len(labels) or not len(X):
        message = (
            f"There are {len(X)} rows and {len(labels)} targets; both must be as many, "
            "and at least one."
        )
        raise InputError(message)
    return {str(name): _marginal(X[name], labels) for name in X.columns}


def special_rates(
    features: Features, X: pd.DataFrame, y: Any, labels: Labels
) -> dict[str, Marginal]:
    """The same for the special values of numeric columns, by component."""
    codes = features.encode(X, Unseen("average", "average")).codes
    found = {}
    for place, (name, values) in enumerate(features.groups.items()):
        column = features.group_columns[place]
        if name == column:
            continue
        texts = category_texts(values, column, labels)
        cells = pd.Series(pd.Categorical.from_codes(codes[:, place], pd.Index(texts)))
        found[name] = Marginal(name, None, _rates(cells, cells, np.asarray(y)))
    return found


def _marginal(column: "pd.Series[Any]", labels: Any) -> Marginal:
    name = str(column.name)
    if not pd.api.types.is_numeric_dtype(column):
        texts = column.astype(object).where(column.notna(), MISSING)
        return Marginal(name, None, _rates(texts, texts, labels))
    values = column.astype(np.float64)
    groups = values
    if values.nunique() > _FEW_VALUES:
        groups = pd.qcut(values, _BINS, labels=False, duplicates="drop")
    return Marginal(name, float(values.mean()), _rates(values, groups, labels))


def _rates(values: "pd.Series[Any]", groups: Any, labels: Any) -> pd.DataFrame:
    frame = pd.DataFrame({"group": groups, "value": values, "label": labels})
    by_group = frame.groupby("group", observed=True)
    rate, count = by_group["label"].mean(), by_group.size()
    columns: dict[str, Any] = {"value": rate.index}
    if pd.api.types.is_numeric_dtype(values):
        columns = {
            "value": by_group["value"].mean(),
            "low": by_group["value"].min(),
            "high": by_group["value"].max(),
        }
    if np.isin(labels, (0, 1)).all():
        error = np.sqrt(rate * (1 - rate) / count)
    else:  # of one row nothing is known about the spread
        error = (by_group["label"].std() / np.sqrt(count)).fillna(0.0)
    table = pd.DataFrame(
        columns | {"rate": rate, "standard_error": error, "count": count}
    )
    return table.reset_index(drop=True)
