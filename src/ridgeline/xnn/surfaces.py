"""Surfaces of two columns: what a pair adds beyond what each of its columns adds.

A surface is a table of values at the places of two axes. A numeric axis has knots, and
between them values lie on straight lines; a categorical one has a place for each
frequent category, and one for all rare ones. So a pair of numbers is a small smooth
surface, a number and a category one curve for each category, and two categories a
table.

Surfaces are pure: weighted by the training rows, they have no part that is a function
of one of the two columns alone. NumPy alone.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ridgeline.xnn.architecture import Rows
from ridgeline.xnn.columns import AVERAGE, Integers
from ridgeline.xnn.features import Encoded, Features

__all__ = [
    "Axis",
    "Places",
    "Surface",
    "axis_cells",
    "encoded_rows",
    "pair_name",
    "table_values",
]

Floats = NDArray[np.float64]


class Places(NamedTuple):
    """Where cells lie on an axis: between a place and the next one."""

    lower: Integers  # (n,)
    upper: Integers
    share: Floats  # of the upper place
    known: Floats  # zero for a category that training has not seen


@dataclass(frozen=True, eq=False)
class Axis:
    """One of the two columns of a surface."""

    column: str
    knots: Floats  # scaled values of a number, rising; none for categories
    levels: Integers  # the place of each category of the column; none for a number

    @property
    def numeric(self) -> bool:
        """Whether the column is a number."""
        return len(self.knots) > 0

    @property
    def size(self) -> int:
        """How many places there are."""
        return len(self.knots) or int(self.levels.max()) + 1

    def places(self, cells: NDArray[Any]) -> Places:
        """Where scaled values, or codes of categories, lie."""
        if self.numeric:
            inside = np.clip(cells, self.knots[0], self.knots[-1]).astype(np.float64)
            lower = np.searchsorted(self.knots, inside, side="right") - 1
            lower = np.minimum(lower, len(self.knots) - 2).astype(np.int32)
            share = (inside - self.knots[lower]) / np.diff(self.knots)[lower]
            return Places(lower, lower + 1, share, np.ones(len(cells)))
        # The code of an unknown category, -1, finds the mark at the end.
        place = np.append(self.levels, AVERAGE)[cells]
        known = (place != AVERAGE).astype(np.float64)
        place = np.maximum(place, 0)
        return Places(place, place, np.zeros(len(place)), known)


@dataclass(frozen=True, eq=False)
class Surface:
    """A function of two columns with mean 0 and norm 1 over the training rows."""

    axes: tuple[Axis, Axis]
    table: Floats  # values at the places of both axes, (of the first, of the second)
    shares: Floats  # of the training rows about each of them

    @property
    def columns(self) -> tuple[str, str]:
        """The names of the two columns."""
        return self.axes[0].column, self.axes[1].column

    @property
    def name(self) -> str:
        """How people call it."""
        return pair_name(*self.columns)

    def __call__(self, features: Features, rows: Encoded) -> Floats:
        """Values of encoded rows, shape (n,)."""
        return table_values(self.axes, self.table, features, rows)


def table_values(
    axes: tuple[Axis, Axis], table: Floats, features: Features, rows: Encoded
) -> Floats:
    """Values of encoded rows between those of a table, shape (n,)."""
    one, two = (axis.places(axis_cells(features, axis, rows)) for axis in axes)

    def between(place: Integers) -> Floats:
        low = table[place, two.lower]
        return np.asarray(low + two.share * (table[place, two.upper] - low))

    low = between(one.lower)
    value = low + one.share * (between(one.upper) - low)
    return np.asarray(one.known * two.known * value)


def pair_name(one: str, two: str) -> str:
    """The name of the component of two columns."""
    return f"{one} x {two}"


def axis_cells(features: Features, axis: Axis, rows: Encoded) -> NDArray[Any]:
    """The cells of a column of encoded rows: scaled values, or codes."""
    if axis.numeric:
        return np.asarray(rows.numeric[:, list(features.numbers).index(axis.column)])
    return rows.codes[:, list(features.categories).index(axis.column)]


def encoded_rows(features: Features, rows: Rows) -> Encoded:
    """Rows of a fit as those that are scored: all columns, codes of their own group."""
    numeric = np.zeros((len(rows.target), len(features.varying)), dtype=np.float64)
    numeric[:, features.varying] = rows.numeric
    counts = np.array([len(values) for values in features.groups.values()], dtype=int)
    starts = (np.cumsum(counts) - counts).astype(np.int32)
    unknown = rows.codes == int(counts.sum())
    codes = np.where(unknown, AVERAGE, rows.codes - starts).astype(np.int32)
    return Encoded(numeric, codes, {})
