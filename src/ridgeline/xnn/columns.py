"""One column of a table as numbers or as categories, or a sentence that names it.

NumPy alone: a column is taken by what it can do, whoever made it.
"""

import datetime
import math
from collections.abc import Iterable
from decimal import Decimal
from numbers import Complex, Real
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from ridgeline.errors import InputError

__all__ = [
    "AVERAGE",
    "Integers",
    "Unknown",
    "category_codes",
    "distinct_labels",
    "quoted",
    "real_numbers",
]

Floats = NDArray[np.float64]
Integers = NDArray[np.int32]
Unknown = Literal["error", "average"]
# A code of its own for a category that training has not seen: it adds nothing.
AVERAGE: Final = -1
_SHOWN: Final = 5
_LONGEST: Final = 60  # characters of a value that a sentence quotes
_LABELS: Final = (str, int, float, bool)
_NUMBERS: Final = (Real, Decimal, np.bool_)
_FOR_TEXT: Final = "name it in categorical_features, or turn it into numbers"
_DATES: Final = (
    datetime.date,
    datetime.time,
    datetime.timedelta,
    np.datetime64,
    np.timedelta64,
)


def real_numbers(column: Any, what: str, for_text: str = _FOR_TEXT) -> Floats:
    """A column as floats.

    Args:
        column: Of a data frame or an array.
        what: How sentences call it, such as "column 'dti'".
        for_text: What to do with text.

    Raises:
        InputError: If cells are no numbers, or missing or infinite.
    """
    values = _cells(column)
    if values.dtype.kind in "mM":
        _refuse_dates(str(values.dtype), what)
    if values.ndim != 1 or values.dtype.kind not in "biuf":
        values = _from_objects(values, what, for_text)
    numbers = values.astype(np.float64, copy=False)
    if not np.isfinite(numbers).all():
        wrong = numbers[~np.isfinite(numbers)]
        kind = "NaN" if np.isnan(wrong[0]) else "infinite (inf)"
        message = (
            f"The {what} has {len(wrong)} values that are missing or not finite, the "
            f"first is {kind}; fill or drop these rows."
        )
        raise InputError(message)
    return numbers


def distinct_labels(column: Any, what: str) -> tuple[Any, ...]:
    """The distinct values of a categorical column, sorted.

    Args:
        column: Of a data frame or an array.
        what: How sentences call it.

    Raises:
        InputError: If values are missing, or neither text, numbers nor booleans.
    """
    distinct = set(_labels(column, what).tolist())
    _refuse_missing(distinct, what)
    kinds = {isinstance(value, str) for value in distinct}
    return tuple(sorted(distinct, key=str if len(kinds) > 1 else None))


def category_codes(
    column: Any, what: str, categories: tuple[Any, ...], unknown: Unknown
) -> Integers:
    """Positions of the values of a column among the categories.

    Args:
        column: Of a data frame or an array.
        what: How sentences call it.
        categories: Those of the training rows.
        unknown: What to do with others: refuse them, or code them as the average.

    Raises:
        InputError: As for `distinct_labels`, or for a category that is unknown.
    """
    values = _labels(column, what)
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
    _refuse_missing(strangers, what)
    if unknown == "error" and strangers:
        one = min(strangers, key=str)
        message = (
            f"The {what} has the category {one!r}, which training had not; it must be "
            f"one of {quoted(categories)}, or set unknown_category='average'."
        )
        raise InputError(message)
    return codes


def quoted(names: Iterable[Any]) -> str:
    """Names in quotes, the first few of many."""
    each = [repr(name) for name in names]
    more = f" and {len(each) - _SHOWN} more" if len(each) > _SHOWN + 1 else ""
    return ", ".join(each[:_SHOWN] if more else each) + more


def _cells(column: Any) -> NDArray[Any]:
    """The values of a column as an array, numbers with NaN where they are missing."""
    dtype = getattr(column, "dtype", None)
    if isinstance(dtype, np.dtype):
        return np.asarray(column)
    if hasattr(column, "iloc"):  # a type of pandas' own, or Arrow's within pandas
        if getattr(dtype, "kind", "O") in "biuf":
            return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
        return np.asarray(column, dtype=object)
    if hasattr(column, "to_numpy"):  # polars, and others
        return np.asarray(column.to_numpy())
    return np.asarray(column, dtype=object)


def _from_objects(values: NDArray[Any], what: str, for_text: str) -> Floats:
    """Numbers that are stored as objects, decimals and fractions too."""
    cells = [*values] if values.ndim > 1 else values.tolist()
    missing = {kind for kind in set(map(type, cells)) if _is_nothing(kind)}
    for kind in set(map(type, cells)) - missing:
        if not issubclass(kind, _NUMBERS):
            first = next(value for value in cells if type(value) is kind)
            _refuse_kind(first, what, for_text)
    return np.array(
        [np.nan if type(value) in missing else _float(value) for value in cells]
    )


def _float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:  # a whole number of hundreds of digits
        return math.inf


def _labels(column: Any, what: str) -> NDArray[Any]:
    """The values of a categorical column; each has a type that a model file keeps."""
    dtype = getattr(column, "dtype", None)
    # Not `_cells`: whole numbers stay whole beside missing ones.
    values = np.asarray(column) if hasattr(dtype, "kind") else _cells(column)
    if values.dtype.kind in "mM":
        _refuse_dates(str(values.dtype), what)
    # The cells of other arrays are all of one type.
    some = values if values.dtype.kind == "O" else values[:1]
    cells = [*some] if values.ndim > 1 else some.tolist()
    for kind in set(map(type, cells)):
        if kind not in _LABELS and not _is_nothing(kind):
            first = next(value for value in cells if type(value) is kind)
            message = (
                f"The {what} has the category {_short(first)} of type "
                f"{kind.__name__}; a category must be text, a number or a boolean: "
                "turn these into text."
            )
            raise InputError(message)
    return values


def _is_nothing(kind: type) -> bool:
    """Whether a type stands for a missing value: None, and pandas' NA."""
    return kind is type(None) or kind.__name__ == "NAType"


def _refuse_missing(values: Iterable[Any], what: str) -> None:
    # NaN does not equal itself.
    if any(_is_nothing(type(value)) or value != value for value in values):  # noqa: PLR0124
        message = (
            f"The {what} has missing values (NaN or None); fill them, drop these rows, "
            "or give missing a category of its own."
        )
        raise InputError(message)


def _refuse_kind(value: Any, what: str, for_text: str) -> None:
    """Refuses a cell that is no number, by what it is."""
    kind = type(value).__name__
    if isinstance(value, _DATES) or kind == "Period":
        _refuse_dates(kind, what)
    if isinstance(value, str):
        message = f"The {what} holds text, such as {_short(value)}; {for_text}."
        raise InputError(message)
    if isinstance(value, Complex):
        message = (
            f"The {what} holds complex numbers, such as {value}; pass their real or "
            "imaginary parts."
        )
        raise InputError(message)
    message = (
        f"The {what} holds values of the type {kind}, such as {_short(value)}; each "
        "cell must be one number."
    )
    raise InputError(message)


def _refuse_dates(kind: str, what: str) -> None:
    message = (
        f"The {what} holds dates or durations ({kind}); turn them into numbers, such "
        "as decimal years."
    )
    raise InputError(message)


def _short(value: Any) -> str:
    """A value in one line, cut where it is long."""
    text = " ".join(repr(value).split())
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
