"""A few extreme cells that squeeze all other rows of a column together.

The paper's scaling, `scaling="minmax"`, goes by smallest and largest value. One cell of
100 in a column of -1 to 1 leaves the other rows a fiftieth of that range, and the
network can hardly tell them apart. Such a column is fitted, but not in silence.
"""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ridgeline.errors import warn_user

__all__ = ["Extremes", "ExtremeValuesWarning", "find_extremes", "warn_of_extremes"]

Floats = NDArray[np.float64]

# With fewer cells nobody can tell the usual from the extreme.
_FEWEST: Final = 20
# Few are at most this share of the cells, or three of a small table's.
_FEW: Final = 0.01
_FEW_OF_SMALL: Final = 3
# Cells that stand apart, by a gap as wide as the range of all others, are extreme where
# the range is this many times that of the others: less costs little.
_APART: Final = 5.0
# A long tail without a gap, as of incomes, is common. It is extreme where 99 % of the
# cells have a smaller share of the range than one in this many.
_TAIL: Final = 20.0


class ExtremeValuesWarning(UserWarning):
    """A column's range is that of a few extreme cells."""


class Extremes(NamedTuple):
    """The extreme cells of a column."""

    rows: NDArray[np.intp]  # positions, the farthest first
    low: float  # range of the other cells
    high: float


def warn_of_extremes(
    X: Any, columns: Mapping[str, Floats], rows: NDArray[np.intp]
) -> None:
    """Warns of each numeric column whose range is that of a few extreme cells.

    Args:
        X: Data frame or array.
        columns: Its numeric columns, NaN where they are missing.
        rows: Positions of these rows in the table that the user passed.
    """
    for name, cells in columns.items():
        there = np.flatnonzero(~np.isnan(cells))
        values = cells[there]
        found = find_extremes(values)
        if found is None:
            continue
        farthest = int(there[found.rows[0]])
        place = f"row {rows[farthest]}"
        if hasattr(X, "iloc") and X.index[farthest] != rows[farthest]:
            place += f" (label {X.index[farthest]})"
        more = len(found.rows) - 1
        others = f" and {more} more such cell{'s' * (more > 1)}" if more else ""
        share = (found.high - found.low) / (values.max() - values.min())
        message = (
            f"The column {name!r} has the extreme value {cells[farthest]:g} in "
            f"{place}{others}: all other rows lie from {found.low:g} to "
            f"{found.high:g}, which is {100 * share:.2g} % of its range, so that the "
            "model can hardly tell them apart; check these cells, or set "
            "scaling='robust'."
        )
        # At the line that called `fit`, where Python shows it once.
        warn_user(message, ExtremeValuesWarning)


def find_extremes(values: Floats) -> Extremes | None:
    """The few cells that make most of a column's range, or None.

    Args:
        values: Finite numbers.
    """
    size = np.abs(values).max()
    if len(values) < _FEWEST or size == 0:
        return None
    scaled = values / size  # the ranges of the largest floats would overflow
    # What more than half of the cells have, such as zero, is the median. It counts
    # once: a flag that few rows have is not extreme.
    median = np.median(scaled)
    common = scaled == median
    if 2 * np.count_nonzero(common) > len(scaled):
        common[np.argmax(common)] = False
        cells = np.flatnonzero(~common)
    else:
        cells = np.arange(len(scaled))
    if len(cells) < _FEWEST:
        return None
    chosen = scaled[cells]
    distance = np.abs(chosen - np.median(chosen))
    order = np.argsort(distance, kind="stable")
    apart = _how_many(chosen[order], distance[order])
    if not apart:
        return None
    rest = values[cells[order[:-apart]]]
    rows = cells[order[-apart:]][::-1]
    return Extremes(rows, float(rest.min()), float(rest.max()))


def _how_many(cells: Floats, distance: Floats) -> int:
    """How many of the last cells are extreme.

    Args:
        cells: Sorted by their distance from the median.
        distance: The same.
    """
    few = max(int(_FEW * len(cells)), min(_FEW_OF_SMALL, len(cells) // _FEWEST))
    low, high = np.minimum.accumulate(cells), np.maximum.accumulate(cells)
    # Without the last cell, without the last two, and so on.
    spans = (high - low)[-2 : -few - 2 : -1]
    gaps = np.diff(distance)[-1 : -few - 1 : -1]
    whole = high[-1] - low[-1]
    isolated = (spans > 0) & (whole >= _APART * spans) & (gaps >= spans)
    if isolated.any():
        return int(np.flatnonzero(isolated)[-1]) + 1
    return few if 0 < _TAIL * spans[-1] <= whole else 0
