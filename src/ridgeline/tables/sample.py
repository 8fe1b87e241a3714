"""A set of the split as models take it."""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ridgeline.errors import InputError
from ridgeline.tables.description import TableDescription

__all__ = ["Sample", "sample_of"]


class Sample(NamedTuple):
    """Features, targets and weights, in the order in which estimators take them."""

    features: pd.DataFrame  # the description's features and nothing else
    target: NDArray[Any]  # 0 and 1, the positive class; or numbers
    weight: NDArray[np.float64] | None = None

    def head(self, rows: int) -> "Sample":
        """The first rows. Rows are in the order of a hash: a random sample."""
        weight = None if self.weight is None else self.weight[:rows]
        return Sample(self.features.head(rows), self.target[:rows], weight)


def sample_of(frame: pd.DataFrame, table: TableDescription) -> Sample:
    """Takes a set of the split as models do: sensitive and other columns stay behind.

    Raises:
        InputError: If a column is missing, or the target has another class.
    """
    needed = (*table.features, table.target, *([table.weight] if table.weight else []))
    missing = [name for name in needed if name not in frame]
    if missing:
        message = (
            f"The rows lack the column {missing[0]!r} of the table {table.name!r}; "
            "prepare it again, with your --env and --params."
        )
        raise InputError(message)
    numbers = {name: frame[name].astype(np.float64) for name in table.numeric}
    texts = {name: frame[name].astype("category") for name in table.categorical}
    weight = frame[table.weight].to_numpy(dtype=np.float64) if table.weight else None
    features = pd.DataFrame({**numbers, **texts}, index=frame.index)
    return Sample(features, _target(frame[table.target], table), weight)


def _target(column: "pd.Series[Any]", table: TableDescription) -> NDArray[Any]:
    if table.classes is None:
        return column.to_numpy(dtype=np.float64)
    negative, positive = (column == each for each in table.classes)
    strange = ~(negative | positive)
    if strange.any():
        message = (
            f"The target {table.target!r} has {column[strange].iloc[0]!r}; it must be "
            f"{table.classes[0]!r} or {table.classes[1]!r}, so prepare the table again."
        )
        raise InputError(message)
    return positive.to_numpy(dtype=np.int8)
