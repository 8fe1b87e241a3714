"""Columns as the model sees them: numbers on [-1, 1], categories, special values.

NumPy alone: a data frame is used through its columns, whoever made it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ridgeline.errors import InputError
from ridgeline.xnn.column_kinds import (
    categorical_names,
    column,
    column_names,
    is_frame,
)
from ridgeline.xnn.columns import (
    AVERAGE,
    REFUSED,
    Integers,
    Unseen,
    category_codes,
    distinct_categories,
    numbers_with_gaps,
    quoted,
)
from ridgeline.xnn.numeric_column import (
    ORDINARY,
    Beyond,
    NumericColumn,
    learn_numeric,
)
from ridgeline.xnn.scaling import Scaling

__all__ = [
    "AVERAGE",
    "Direction",
    "Encoded",
    "Features",
    "is_clean",
    "is_frame",
    "numeric_values",
]

Floats = NDArray[np.float64]
Direction = Literal["increasing", "decreasing"]
_FLAG: Final = 2  # categories
_MOST_CATEGORIES: Final = 2000


class Encoded(NamedTuple):
    """Rows ready for the network."""

    numeric: NDArray[Any]  # scaled, (n, projected features)
    codes: Integers  # position among the categories of each group, (n, groups)
    beyond: dict[str, Beyond]  # cells beyond the range of the fit, by column

    def take(self, part: slice) -> "Encoded":
        """Some of the rows."""
        return Encoded(self.numeric[part], self.codes[part], self.beyond)


@dataclass(frozen=True, eq=False)
class Features:
    """What was learnt about the columns of the training rows.

    A group is a set of values with an effect each: the categories of a column, or the
    special values of a numeric one.
    """

    names: tuple[str, ...]  # all columns, in their order
    named: bool  # whether the names came with the data
    numbers: dict[str, NumericColumn]  # by name of the numeric column
    categories: dict[str, tuple[Any, ...]]  # by name of the categorical column
    # Categorical columns of two categories that are projected as well, as -1 and 1.
    flags: tuple[str, ...] = ()
    monotone: Mapping[str, Direction] = field(default_factory=dict)

    @property
    def projected_names(self) -> tuple[str, ...]:
        """Names of the columns that projections combine."""
        return (*self.numbers, *self.flags)

    @property
    def varying(self) -> NDArray[np.bool_]:
        """Which projected columns are not constant."""
        numbers = [number.scale.varying for number in self.numbers.values()]
        return np.array(numbers + [True] * len(self.flags), dtype=np.bool_)

    @property
    def directions(self) -> Floats:
        """1 for each projected column that must increase the decision, -1, or 0."""
        signs = {"increasing": 1.0, "decreasing": -1.0, None: 0.0}
        return np.array(
            [signs[self.monotone.get(name)] for name in self.projected_names]
        )

    @property
    def centre(self) -> Floats:
        """The middle of the range of each projected column."""
        numbers = [number.scale.centre for number in self.numbers.values()]
        return np.array(numbers + [0.0] * len(self.flags))

    @property
    def factor(self) -> Floats:
        """One over half of that range, or zero where a column is constant."""
        numbers = [number.scale.factor for number in self.numbers.values()]
        return np.array(numbers + [1.0] * len(self.flags))

    @property
    def neutral(self) -> Floats:
        """The scaled value of each projected column that says nothing about a row."""
        numbers = [number.neutral for number in self.numbers.values()]
        return np.array(numbers + [0.0] * len(self.flags))

    @property
    def groups(self) -> dict[str, tuple[Any, ...]]:
        """Values with an effect each, by the name of their component."""
        special = {
            special_name(name): (ORDINARY, *number.special_values)
            for name, number in self.numbers.items()
            if number.special_values
        }
        return self.categories | special

    @property
    def group_columns(self) -> tuple[str, ...]:
        """The column of each group."""
        special = (name for name, n in self.numbers.items() if n.special_values)
        return (*self.categories, *special)

    @classmethod
    def learn(
        cls,
        X: Any,
        categorical: Iterable[str | int] | None = None,
        *,
        scaling: Scaling = "robust",
        codes: Mapping[str, Sequence[float]] | None = None,
        masses: Mapping[str, Sequence[float]] | None = None,
        project_flags: bool = True,
    ) -> "Features":
        """Learns names, categories and ranges from training rows.

        Args:
            X: Data frame or array, shape (n, columns).
            categorical: Names or positions of categorical columns, or a mask with one
                boolean for each column; without it, those of a frame that hold text
                or are of a categorical type.
            scaling: How numbers are brought to [-1, 1].
            codes: Values that are no quantity, by column.
            masses: Quantities with an effect beside the curve, by column.
            project_flags: Whether columns of two categories are projected as well.

        Raises:
            InputError: If a column is unknown, holds anything but numbers, or has
                infinite values or nothing at all.
        """
        names, named = column_names(X)
        chosen = categorical_names(X, names, categorical)
        categories = {
            name: _distinct(column(X, position), name)
            for position, name in enumerate(names)
            if name in chosen
        }
        codes, masses = codes or {}, masses or {}
        numbers = {
            name: learn_numeric(
                values,
                f"column {name!r}",
                scaling,
                codes.get(name, ()),
                masses.get(name, ()),
            )
            for name, values in numeric_values(X, chosen)
        }
        known = categories.items() if project_flags else ()
        flags = tuple(
            name
            for name, values in known
            if len([value for value in values if value is not None]) == _FLAG
        )
        return cls(tuple(names), named, numbers, categories, flags)

    def encode(
        self, X: Any, unseen: Unseen = REFUSED, dtype: DTypeLike = np.float64
    ) -> Encoded:
        """Scales the numeric columns and looks categories up.

        Args:
            X: Data frame or array with the columns of the training rows.
            unseen: What to do with cells whose like training has not seen.
            dtype: Of the scaled columns.

        Raises:
            InputError: If columns or values are not those of the training rows.
        """
        X = self.in_order(X)
        numeric = np.empty((len(X), len(self.projected_names)), dtype=dtype)
        codes = np.empty((len(X), len(self.groups)), dtype=np.int32)
        beyond: dict[str, Beyond] = {}
        extend = unseen.beyond == "extend"
        for index, name in enumerate(self.categories):
            cells = column(X, self.names.index(name))
            codes[:, index] = category_codes(
                cells, f"column {name!r}", self.categories[name], unseen
            )
        special = len(self.categories)
        for index, (name, number) in enumerate(self.numbers.items()):
            # By position: rows without names are as good as those with.
            cells, what = column(X, self.names.index(name)), f"column {name!r}"
            values = numbers_with_gaps(cells, what)
            outside = number.check(values, what, unseen)
            if outside.cells:
                beyond[name] = outside
            numeric[:, index] = number.scaled(values, extend=extend)
            if number.special_values:
                codes[:, special] = number.special_codes(values)
                special += 1
        for index, name in enumerate(self.flags, start=len(self.numbers)):
            numeric[:, index] = self._flag_values(name, codes)
        return Encoded(numeric, codes, beyond)

    def _flag_values(self, name: str, codes: Integers) -> Floats:
        """-1 and 1 for the two categories, 0 for a gap or a stranger."""
        place = list(self.categories).index(name)
        # The last place is that of the code -1, a stranger.
        table = np.array([-1.0, 1.0, *[0.0] * (len(self.categories[name]) - 1)])
        return np.asarray(table[codes[:, place]])

    def to_own_unit(self, place: int, scaled: Floats) -> Floats:
        """Values of a projected column in its own unit; a flag has -1 and 1."""
        name = self.projected_names[place]
        return (
            self.numbers[name].scale.inverse(scaled) if name in self.numbers else scaled
        )

    def limits(self, place: int) -> tuple[float, float]:
        """Smallest and largest training value of a projected column."""
        number = self.numbers.get(self.projected_names[place])
        knots = (-1.0, 1.0) if number is None else number.scale.knots
        return float(knots[0]), float(knots[-1])

    def scale(self, X: NDArray[Any], *, extend: bool = False) -> Encoded:
        """Scales clean rows of a table without groups."""
        scaled = np.empty((len(X), len(self.numbers)))
        for index, number in enumerate(self.numbers.values()):
            scaled[:, index] = number.scale(X[:, index], extend=extend)
        return Encoded(scaled, np.empty((len(X), 0), dtype=np.int32), {})

    def beyond(self, X: NDArray[Any], unseen: Unseen) -> dict[str, Beyond]:
        """Cells of clean rows beyond the range of the fit, by column.

        Raises:
            InputError: If these are refused.
        """
        counts = {
            name: number.check(X[:, index], f"column {name!r}", unseen)
            for index, (name, number) in enumerate(self.numbers.items())
        }
        return {name: count for name, count in counts.items() if count.cells}

    def in_order(self, X: Any) -> Any:
        """The rows with the columns of the training rows, in their order.

        Named columns are put in order by their names.

        Raises:
            InputError: If columns are missing or too many.
        """
        names, named = column_names(X)
        if not (named and self.named):
            if len(names) != len(self.names):
                # The first half is what scikit-learn's own estimators say.
                message = (
                    f"X has {len(names)} features, but the model is expecting "
                    f"{len(self.names)} features as input: {quoted(self.names)}."
                )
                raise InputError(message)
            return X
        missing = [name for name in self.names if name not in names]
        foreign = [name for name in names if name not in self.names]
        if missing or foreign:
            parts = [f"lack {quoted(missing)}"] if missing else []
            parts += (
                [f"have {quoted(foreign)}, which training had not"] if foreign else []
            )
            message = (
                f"The columns {' and '.join(parts)}; pass exactly those that the "
                f"model was trained on: {quoted(self.names)}."
            )
            raise InputError(message)
        return X if tuple(names) == self.names else X[list(self.names)]


def special_name(name: str) -> str:
    """The name of the component of a column's special values."""
    return f"{name}: special values"


def numeric_values(X: Any, categorical: Iterable[str]) -> Iterator[tuple[str, Floats]]:
    """The columns that are not categorical, each with its name, NaN where missing.

    Raises:
        InputError: If cells are no numbers, or infinite.
    """
    names, _ = column_names(X)
    chosen = set(categorical)
    for position, name in enumerate(names):
        if name not in chosen:
            yield name, numbers_with_gaps(column(X, position), f"column {name!r}")


def is_clean(X: Any) -> bool:
    """Whether X is an array of finite floats, which needs no look at its columns."""
    return (
        isinstance(X, np.ndarray) and X.dtype.kind == "f" and bool(np.isfinite(X).all())
    )


def _distinct(cells: Any, name: str) -> tuple[Any, ...]:
    categories = distinct_categories(cells, f"column {name!r}")
    if len(categories) > _MOST_CATEGORIES:
        message = (
            f"The categorical column {name!r} has {len(categories):,} categories; at "
            f"most {_MOST_CATEGORIES:,} are allowed: join the rare ones, or leave the "
            "column out if it is an identifier."
        )
        raise InputError(message)
    if categories == (None,):
        message = f"The column {name!r} is missing in every training row; leave it out."
        raise InputError(message)
    return categories
