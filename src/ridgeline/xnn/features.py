"""Columns as the model sees them: names, scaling to [-1, 1] and categories.

NumPy alone: a data frame is used through its columns, whoever made it.
"""

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ridgeline.errors import InputError
from ridgeline.xnn.columns import (
    AVERAGE,
    Integers,
    Unknown,
    category_codes,
    distinct_labels,
    quoted,
    real_numbers,
)

__all__ = [
    "AVERAGE",
    "FARTHEST",
    "Encoded",
    "Features",
    "Unknown",
    "is_clean",
    "is_frame",
]

Floats = NDArray[np.float64]
# A scaled value beyond this counts as this: farther away no curve has anything to say,
# and the products of a network with it do not overflow.
FARTHEST: Final = 1e30
# Below the smallest normal number a range has no inverse: the column is constant.
_TINY: Final = np.finfo(np.float64).tiny


class Encoded(NamedTuple):
    """Rows ready for the network."""

    numeric: NDArray[Any]  # scaled, (n, numeric features)
    codes: Integers  # position among the feature's categories, (n, categorical)

    def take(self, part: slice) -> "Encoded":
        """Some of the rows."""
        return Encoded(self.numeric[part], self.codes[part])


@dataclass(frozen=True, eq=False)
class Features:
    """What was learnt about the columns of the training rows."""

    names: tuple[str, ...]  # all columns, in their order
    categories: dict[str, tuple[Any, ...]]  # by name of the categorical column
    centre: Floats  # of the numeric columns
    factor: Floats  # zero where a column is constant
    named: bool  # whether the names came with the data

    @property
    def numeric_names(self) -> tuple[str, ...]:
        """Names of the columns that are projected."""
        return tuple(name for name in self.names if name not in self.categories)

    @property
    def varying(self) -> NDArray[np.bool_]:
        """Which numeric columns are not constant."""
        return self.factor > 0

    @classmethod
    def learn(
        cls, X: Any, categorical: Iterable[str | int] | None = None
    ) -> "Features":
        """Learns names, categories and ranges from training rows.

        Args:
            X: Data frame or array, shape (n, columns).
            categorical: Names or positions of categorical columns, or a mask with one
                boolean for each column; without it, those of the pandas type
                `category`.

        Raises:
            InputError: If a column is unknown, holds anything but numbers, or has
                missing or infinite values.
        """
        names, named = _names(X)
        chosen = _categorical_names(X, names, categorical)
        categories = {
            name: distinct_labels(_column(X, position), f"column {name!r}")
            for position, name in enumerate(names)
            if name in chosen
        }
        low, high = [], []
        for _, values in _numeric_columns(X, names, categories):
            low.append(values.min())
            high.append(values.max())
        # Halves first: the largest floats would overflow.
        half = np.asarray(high, dtype=np.float64) / 2 - np.asarray(low) / 2
        centre = np.asarray(low, dtype=np.float64) / 2 + np.asarray(high) / 2
        with np.errstate(divide="ignore", over="ignore"):
            factor = np.where(half > _TINY, 1 / half, 0.0)
        return cls(tuple(names), categories, centre, factor, named)

    def encode(
        self, X: Any, unknown: Unknown = "error", dtype: DTypeLike = np.float64
    ) -> Encoded:
        """Scales the numeric columns and looks categories up.

        Args:
            X: Data frame or array with the columns of the training rows.
            unknown: What to do with a category that training has not seen: refuse it,
                or let it have the average effect.
            dtype: Of the scaled columns.

        Raises:
            InputError: If columns or values are not those of the training rows.
        """
        X = self.in_order(X)
        rows = len(X)
        numeric = np.empty((rows, len(self.centre)), dtype=dtype)
        codes = np.empty((rows, len(self.categories)), dtype=np.int32)
        feature: Iterator[int] = iter(range(len(self.categories)))
        for position, name in enumerate(self.names):
            if name in self.categories:
                codes[:, next(feature)] = category_codes(
                    _column(X, position),
                    f"column {name!r}",
                    self.categories[name],
                    unknown,
                )
        for index, (_, values) in enumerate(self.numeric_columns(X)):
            numeric[:, index] = _scaled(values, self.centre[index], self.factor[index])
        return Encoded(numeric, codes)

    def numeric_columns(self, X: Any) -> Iterator[tuple[str, Floats]]:
        """The columns that are projected, each with its name, as floats."""
        return _numeric_columns(X, self.names, self.categories)

    def scale(self, X: NDArray[Any]) -> Encoded:
        """Scales clean rows of a table without categories."""
        scaled = _scaled(X, self.centre, self.factor)
        return Encoded(scaled, np.empty((len(X), 0), dtype=np.int32))

    def in_order(self, X: Any) -> Any:
        """The rows with the columns of the training rows, in their order.

        Named columns are put in order by their names.

        Raises:
            InputError: If columns are missing or too many.
        """
        names, named = _names(X)
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


def is_frame(X: Any) -> bool:
    """Whether the rows come with named columns."""
    return hasattr(X, "columns") and hasattr(X, "__getitem__")


def is_clean(X: Any) -> bool:
    """Whether X is an array of finite floats, which needs no look at its columns."""
    return (
        isinstance(X, np.ndarray) and X.dtype.kind == "f" and bool(np.isfinite(X).all())
    )


def _scaled(values: NDArray[Any], centre: Any, factor: Any) -> NDArray[Any]:
    """Values on the scale of the training rows, [-1, 1], or at most very far off."""
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = (values - centre) * factor
    # Unlike np.clip these let no NaN through, which is infinity times zero here.
    np.fmax(scaled, -FARTHEST, out=scaled)
    return np.asarray(np.fmin(scaled, FARTHEST, out=scaled))


def _numeric_columns(
    X: Any, names: Sequence[str], categories: Container[str]
) -> Iterator[tuple[str, Floats]]:
    for position, name in enumerate(names):
        if name not in categories:
            yield name, real_numbers(_column(X, position), f"column {name!r}")


def _names(X: Any) -> tuple[list[str], bool]:
    """Names of the columns, and whether they came with the data."""
    if is_frame(X):
        _refuse_odd_names(X)
        if all(isinstance(name, str) for name in X.columns):
            return list(X.columns), True
    if len(X.shape) != 2:  # noqa: PLR2004
        message = (
            f"X has {len(X.shape)} dimensions; it must have two: rows and columns."
        )
        raise InputError(message)
    return [f"x{position}" for position in range(X.shape[1])], False


def _refuse_odd_names(X: Any) -> None:
    """Refuses a frame whose columns cannot be told by one name each."""
    names = list(X.columns)
    odd = [name for name in names if not isinstance(name, str | Integral)]
    if odd:
        kind = type(odd[0]).__name__
        message = (
            f"X is a {type(X).__name__} with a column name of the type {kind}; pass a "
            "data frame of pandas or polars in which each column has a text as its "
            "name."
        )
        raise InputError(message)
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        message = f"The column {twice!r} is there twice; names must be unique."
        raise InputError(message)


def _column(X: Any, position: int) -> Any:
    if not is_frame(X):
        return X[:, position]
    if hasattr(X, "iloc"):
        return X.iloc[:, position]
    return X[X.columns[position]]


def _categorical_names(
    X: Any, names: Sequence[str], categorical: Iterable[str | int] | None
) -> set[str]:
    """Names of the categorical columns."""
    if categorical is None:
        if not hasattr(X, "dtypes"):
            return set()
        kinds = [str(kind) for kind in X.dtypes]
        return {
            name for name, kind in zip(names, kinds, strict=True) if kind == "category"
        }
    given = list(categorical)
    if any(isinstance(one, bool | np.bool_) for one in given):
        return _masked_names(names, given)
    return {_named_column(names, one) for one in given}


def _masked_names(names: Sequence[str], mask: Sequence[Any]) -> set[str]:
    """Names of the columns that a mask chooses."""
    whole = all(isinstance(one, bool | np.bool_) for one in mask)
    if not whole or len(mask) != len(names):
        got = f"{len(mask)} booleans" if whole else "booleans and other values"
        message = (
            f"categorical_features has {got}; as a mask it must have one boolean for "
            f"each of the {len(names)} columns, otherwise names or positions."
        )
        raise InputError(message)
    return {name for name, chosen in zip(names, mask, strict=True) if chosen}


def _named_column(names: Sequence[str], given: Any) -> str:
    """The name of a column that is given by its name or position."""
    if isinstance(given, str) and given in names:
        return given
    if isinstance(given, Integral) and -len(names) <= int(given) < len(names):
        return names[int(given)]
    message = (
        f"The categorical feature {given!r} is not a column; the columns are "
        f"{quoted(names)}."
    )
    raise InputError(message)
