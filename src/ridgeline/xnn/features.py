"""Columns as the model sees them: names, scaling to [-1, 1] and categories.

NumPy alone: a data frame is used through its columns, whoever made it.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ridgeline.errors import InputError

__all__ = ["AVERAGE", "Encoded", "Features", "Unknown", "is_clean", "is_frame"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int32]
Unknown = Literal["error", "average"]
# A code of its own for a category that training has not seen: it adds nothing.
AVERAGE: Final = -1
_SHOWN: Final = 5
_LABELS: Final = (str, int, float, bool)
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
            categorical: Names or positions of categorical columns; without it, those
                of the pandas type `category`.

        Raises:
            InputError: If a column is unknown, is text, or has missing or infinite
                values.
        """
        names, named = _names(X)
        chosen = _categorical_names(X, names, categorical)
        categories = {
            name: _categories(_column(X, position), name)
            for position, name in enumerate(names)
            if name in chosen
        }
        low, high = [], []
        for position, name in enumerate(names):
            if name not in categories:
                values = _numbers(_column(X, position), name)
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
        self.check_columns(X)
        rows = len(X)
        numeric = np.empty((rows, len(self.centre)), dtype=dtype)
        codes = np.empty((rows, len(self.categories)), dtype=np.int32)
        place: Iterator[int] = iter(range(len(self.centre)))
        feature: Iterator[int] = iter(range(len(self.categories)))
        for position, name in enumerate(self.names):
            column = _column(X, position)
            if name in self.categories:
                codes[:, next(feature)] = _codes(
                    column, name, self.categories[name], unknown
                )
            else:
                index = next(place)
                values = _numbers(column, name)
                numeric[:, index] = (values - self.centre[index]) * self.factor[index]
        return Encoded(numeric, codes)

    def scale(self, X: NDArray[Any]) -> Encoded:
        """Scales clean rows of a table without categories."""
        scaled = (X - self.centre) * self.factor
        return Encoded(scaled, np.empty((len(X), 0), dtype=np.int32))

    def check_columns(self, X: Any) -> None:
        """Refuses columns that are not those of the training rows, in their order."""
        names, named = _names(X)
        if not (named and self.named):
            if len(names) != len(self.names):
                # The first half is what scikit-learn's own estimators say.
                message = (
                    f"X has {len(names)} features, but the model is expecting "
                    f"{len(self.names)} features as input: {_list(self.names)}."
                )
                raise InputError(message)
            return
        missing = [name for name in self.names if name not in names]
        foreign = [name for name in names if name not in self.names]
        if missing or foreign:
            parts = [f"lack {_list(missing)}"] if missing else []
            parts += (
                [f"have {_list(foreign)}, which training had not"] if foreign else []
            )
            message = (
                f"The columns {' and '.join(parts)}; pass exactly those that the "
                f"model was trained on: {_list(self.names)}."
            )
            raise InputError(message)
        if tuple(names) != self.names:
            message = (
                f"The columns are in the order {_list(names)}; the model was trained "
                f"on the order {_list(self.names)}. Reorder them by these names."
            )
            raise InputError(message)


def is_frame(X: Any) -> bool:
    """Whether the rows come with named columns."""
    return hasattr(X, "columns") and hasattr(X, "__getitem__")


def is_clean(X: Any) -> bool:
    """Whether X is an array of finite floats, which needs no look at its columns."""
    return (
        isinstance(X, np.ndarray) and X.dtype.kind == "f" and bool(np.isfinite(X).all())
    )


def _names(X: Any) -> tuple[list[str], bool]:
    """Names of the columns, and whether they came with the data."""
    if is_frame(X) and all(isinstance(name, str) for name in X.columns):
        names = list(X.columns)
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            message = f"The column {twice!r} is there twice; names must be unique."
            raise InputError(message)
        return names, True
    if len(X.shape) != 2:  # noqa: PLR2004
        message = (
            f"X has {len(X.shape)} dimensions; it must have two: rows and columns."
        )
        raise InputError(message)
    return [f"x{position}" for position in range(X.shape[1])], False


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
    chosen = set()
    for given in categorical:
        if isinstance(given, str) and given in names:
            chosen.add(given)
        elif not isinstance(given, str) and -len(names) <= given < len(names):
            chosen.add(names[given])
        else:
            message = (
                f"The categorical feature {given!r} is not a column; "
                f"the columns are {_list(names)}."
            )
            raise InputError(message)
    return chosen


def _categories(column: Any, name: str) -> tuple[Any, ...]:
    """The distinct values of a categorical column, sorted."""
    distinct = set(np.asarray(column).tolist())
    _refuse_missing(distinct, name)
    odd = [value for value in distinct if type(value) not in _LABELS]
    if odd:
        message = (
            f"The column {name!r} has the category {odd[0]!r} of type "
            f"{type(odd[0]).__name__}; a category must be text, a number or a boolean."
        )
        raise InputError(message)
    kinds = {isinstance(value, str) for value in distinct}
    return tuple(sorted(distinct, key=str if len(kinds) > 1 else None))


def _refuse_missing(values: Iterable[Any], name: str) -> None:
    if any(map(_is_missing, values)):
        message = (
            f"The column {name!r} has missing values (NaN or None); fill them, or give "
            "missing a category of its own."
        )
        raise InputError(message)


def _is_missing(value: Any) -> bool:
    """Whether a value is None, pandas' NA, or NaN, which does not equal itself."""
    if value is None or type(value).__name__ == "NAType":
        return True
    return bool(value != value)  # noqa: PLR0124


def _codes(
    column: Any, name: str, categories: tuple[Any, ...], unknown: Unknown
) -> Integers:
    """Positions of the values among the categories."""
    values = np.asarray(column)
    if values.dtype.kind not in "biuf" or any(isinstance(c, str) for c in categories):
        positions = {category: code for code, category in enumerate(categories)}
        codes = np.fromiter(
            (positions.get(value, AVERAGE) for value in values.tolist()),
            dtype=np.int32,
            count=len(values),
        )
    else:
        known = np.asarray(categories)
        order = np.argsort(known)
        found = np.searchsorted(known[order], values).clip(max=len(known) - 1)
        codes = order[found].astype(np.int32)
        codes[known[codes] != values] = AVERAGE
    strangers = set(values[codes == AVERAGE].tolist())
    _refuse_missing(strangers, name)
    if unknown == "error" and strangers:
        one = min(strangers, key=str)
        message = (
            f"The column {name!r} has the category {one!r}, which training had not; it "
            f"must be one of {_list(categories)}, or set unknown_category='average'."
        )
        raise InputError(message)
    return codes


def _numbers(column: Any, name: str) -> Floats:
    """A numeric column as floats; refuses text, missing and infinite values."""
    if isinstance(column.dtype, np.dtype):
        values = np.asarray(column)
    elif str(column.dtype) in {"str", "string", "object", "category"}:
        values = np.asarray(column, dtype=object)
    else:  # a nullable type of pandas, or another library's
        values = np.asarray(column.to_numpy(), dtype=np.float64)
    if values.dtype.kind in "mM":
        message = (
            f"The column {name!r} holds dates or durations ({values.dtype}); turn them "
            "into numbers, such as decimal years."
        )
        raise InputError(message)
    if values.dtype.kind not in "biuf":
        values = _from_objects(values, name)
    numbers = values.astype(np.float64, copy=False)
    if not np.isfinite(numbers).all():
        wrong = numbers[~np.isfinite(numbers)]
        what = "NaN" if np.isnan(wrong[0]) else "infinite (inf)"
        message = (
            f"The column {name!r} has {len(wrong)} values that are missing or not "
            f"finite, the first is {what}; fill or drop these rows."
        )
        raise InputError(message)
    return numbers


def _from_objects(values: NDArray[Any], name: str) -> NDArray[Any]:
    """Numbers that are stored as objects."""
    try:
        if any(isinstance(value, str) for value in values):
            raise ValueError
        return values.astype(np.float64)
    except ValueError:
        text = next(value for value in values if isinstance(value, str))
        message = (
            f"The column {name!r} holds text, such as {text!r}; name it in "
            "categorical_features, or turn it into numbers."
        )
        raise InputError(message) from None


def _list(names: Iterable[Any]) -> str:
    """Names in quotes, the first few of many."""
    quoted = [repr(name) for name in names]
    more = f" and {len(quoted) - _SHOWN} more" if len(quoted) > _SHOWN + 1 else ""
    return ", ".join(quoted[:_SHOWN] if more else quoted) + more
