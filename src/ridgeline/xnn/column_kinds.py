"""Which columns a table has, by name, and which of them are categories.

NumPy alone: a data frame is used through its columns, whoever made it.
"""

from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ridgeline.errors import InputError, warn_user
from ridgeline.xnn.columns import is_text, quoted

__all__ = [
    "CodedColumnWarning",
    "categorical_names",
    "column",
    "column_names",
    "is_frame",
    "named_column",
    "warn_of_codes",
]

Floats = NDArray[np.float64]
# Whole numbers with so many distinct values may be codes of categories. Two values are
# the same as a number and as a category.
_FEWEST_CODES: Final = 3
_MOST_CODES: Final = 12


class CodedColumnWarning(UserWarning):
    """A column of few whole numbers, which may be categories, is taken as a number."""


def is_frame(X: Any) -> bool:
    """Whether the rows come with named columns."""
    return hasattr(X, "columns") and hasattr(X, "__getitem__")


def column(X: Any, position: int) -> Any:
    """A column by its position."""
    if not is_frame(X):
        return X[:, position]
    if hasattr(X, "iloc"):
        return X.iloc[:, position]
    return X[X.columns[position]]


def column_names(X: Any) -> tuple[list[str], bool]:
    """Names of the columns, and whether they came with the data.

    Raises:
        InputError: If X is no table, or columns cannot be told by one name each.
    """
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


def categorical_names(
    X: Any, names: Sequence[str], categorical: Iterable[str | int] | None
) -> set[str]:
    """Names of the categorical columns.

    Args:
        X: Data frame or array.
        names: Of its columns.
        categorical: Names or positions, or a mask; None takes those of a frame that
            hold text or are of a categorical type.

    Raises:
        InputError: If a column is unknown, or a mask does not fit.
    """
    if categorical is None:
        if not is_frame(X):
            return set()
        return {
            name
            for position, name in enumerate(names)
            if _is_categorical(column(X, position))
        }
    given = list(categorical)
    if any(isinstance(one, bool | np.bool_) for one in given):
        return _masked_names(names, given)
    return {named_column(names, one, "categorical feature") for one in given}


def named_column(names: Sequence[str], given: Any, what: str) -> str:
    """The name of a column that is given by its name or position.

    Raises:
        InputError: If there is none.
    """
    if isinstance(given, str) and given in names:
        return given
    whole = isinstance(given, Integral) and not isinstance(given, bool)
    if whole and -len(names) <= int(given) < len(names):
        return names[int(given)]
    message = f"The {what} {given!r} is not a column; the columns are {quoted(names)}."
    raise InputError(message)


def warn_of_codes(columns: Mapping[str, Floats]) -> None:
    """Asks about numeric columns that hold few whole numbers.

    Args:
        columns: Those that are taken as numbers, though nobody said so.
    """
    found = {}
    for name, values in columns.items():
        distinct = np.unique(values[~np.isnan(values)])
        if (
            _FEWEST_CODES <= len(distinct) <= _MOST_CODES
            and (distinct == np.round(distinct)).all()
        ):
            found[name] = len(distinct)
    if not found:
        return
    each = ", ".join(f"{name!r} ({count} values)" for name, count in found.items())
    message = (
        f"Whole numbers with few values are taken as quantities: {each}; name those "
        "that are codes of categories in categorical_features, which may be an empty "
        "list if none is."
    )
    warn_user(message, CodedColumnWarning)


def _is_categorical(cells: Any) -> bool:
    kind = str(getattr(cells, "dtype", "")).lower()
    return kind.startswith(("categor", "enum")) or is_text(cells)


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
