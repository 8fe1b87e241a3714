"""One column of a table as numbers or as categories, or a sentence that names it.

A gap in numbers is NaN, a gap in categories is None. NumPy alone: a column is taken by
what it can do, whoever made it.
"""

import datetime
import math
from collections.abc import Iterable
from decimal import Decimal
from numbers import Complex, Real
from typing import Any, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ridgeline.errors import InputError

__all__ = [
    "AVERAGE",
    "REFUSED",
    "Integers",
    "Unseen",
    "WhenBeyond",
    "WhenUnknown",
    "category_codes",
    "distinct_categories",
    "distinct_labels",
    "is_text",
    "new_gap",
    "numbers_with_gaps",
    "quoted",
    "real_numbers",
]

Floats = NDArray[np.float64]
Integers = NDArray[np.int32]
WhenUnknown = Literal["error", "average"]
WhenBeyond = Literal["edge", "extend", "error"]
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


class Unseen(NamedTuple):
    """What to do with a cell whose like training has not seen."""

    category: WhenUnknown = "error"
    missing: WhenUnknown = "error"  # a gap, where training had none in that column
    beyond: WhenBeyond = "edge"  # a number beyond the range of the training rows


REFUSED: Final = Unseen()


def real_numbers(column: Any, what: str, for_text: str = _FOR_TEXT) -> Floats:
    """A column as floats, all of them finite.

    Args:
        column: Of a data frame or an array.
        what: How sentences call it, such as "column 'dti'".
        for_text: What to do with text.

    Raises:
        InputError: If cells are no numbers, or missing or infinite.
    """
    numbers = numbers_with_gaps(column, what, for_text)
    gaps = np.count_nonzero(np.isnan(numbers))
    if gaps:
        message = (
            f"The {what} has {gaps} values that are missing or not finite, the first "
            "is NaN; fill or drop these rows."
        )
        raise InputError(message)
    return numbers


def numbers_with_gaps(column: Any, what: str, for_text: str = _FOR_TEXT) -> Floats:
    """A column as floats, with NaN where a cell is missing.

    Args:
        column: Of a data frame or an array.
        what: How sentences call it, such as "column 'dti'".
        for_text: What to do with text.

    Raises:
        InputError: If cells are no numbers, or infinite.
    """
    values = _cells(column)
    if values.dtype.kind in "mM":
        _refuse_dates(str(values.dtype), what)
    if values.ndim != 1 or values.dtype.kind not in "biuf":
        values = _from_objects(values, what, for_text)
    numbers = values.astype(np.float64, copy=False)
    infinite = np.count_nonzero(np.isinf(numbers))
    if infinite:
        message = (
            f"The {what} has {infinite} values that are infinite (inf), where numbers "
            "must be finite; drop these rows, or mark the cells as missing (NaN)."
        )
        raise InputError(message)
    return numbers


def distinct_labels(column: Any, what: str) -> tuple[Any, ...]:
    """The distinct values of a column without gaps, sorted.

    Args:
        column: Of a data frame or an array.
        what: How sentences call it.

    Raises:
        InputError: If values are missing, or neither text, numbers nor booleans.
    """
    distinct = distinct_categories(column, what)
    if None in distinct:
        message = (
            f"The {what} has missing values (NaN or None); fill them, or drop these "
            "rows."
        )
        raise InputError(message)
    return distinct


def distinct_categories(column: Any, what: str) -> tuple[Any, ...]:
    """The distinct values of a column, sorted, and last None if there are gaps.

    Args:
        column: Of a data frame or an array.
        what: How sentences call it.

    Raises:
        InputError: If values are neither text, numbers nor booleans.
    """
    distinct = set(_labels(column, what).tolist())
    gaps = {value for value in distinct if _is_gap(value)}
    distinct -= gaps
    kinds = {isinstance(value, str) for value in distinct}
    ordered = sorted(distinct, key=str if len(kinds) > 1 else None)
    return (*ordered, None) if gaps else tuple(ordered)


def category_codes(
    column: Any, what: str, categories: tuple[Any, ...], unseen: Unseen
) -> Integers:
    """Positions of the values of a column among the categories.

    Args:
        column: Of a data frame or an array.
        what: How sentences call it.
        categories: Those of the training rows.
        unseen: What to do with others: refuse them, or code them as the average.

    Raises:
        InputError: As for `distinct_categories`, or for a category that is unknown.
    """
    values = _labels(column, what)
    known = tuple(category for category in categories if category is not None)
    if values.dtype.kind not in "biuf" or any(isinstance(c, str) for c in known):
        positions = {category: code for code, category in enumerate(known)}
        codes = np.fromiter(
            (positions.get(value, AVERAGE) for value in values.tolist()),
            dtype=np.int32,
            count=len(values),
        )
    else:
        codes = _numeric_codes(values, known)
    if not (codes == AVERAGE).any():
        return codes
    gaps = _gaps(values)
    if None in categories:
        codes[gaps] = len(known)
    elif gaps.any() and unseen.missing == "error":
        raise InputError(new_gap(what, int(gaps.sum())))
    strangers = set(values[(codes == AVERAGE) & ~gaps].tolist())
    if unseen.category == "error" and strangers:
        one = min(strangers, key=str)
        message = (
            f"The {what} has the category {one!r}, which training had not; it must be "
            f"one of {quoted(known)}, or set unknown_category='average'."
        )
        raise InputError(message)
    return codes


def new_gap(what: str, count: int) -> str:
    """A sentence about gaps in a column that was complete in training."""
    return (
        f"The {what} has {count} missing values, and had none in training, so that the "
        "model cannot know what a gap means; fill them, drop these rows, or set "
        "unknown_missing='average'."
    )


def is_text(column: Any) -> bool:
    """Whether the first cell that is not missing is text."""
    dtype = getattr(column, "dtype", None)
    if getattr(dtype, "kind", "O") not in "OTU":
        return False
    # As an array: the column of some other library need not be iterable.
    values = _cells(column)
    cells = values.tolist() if values.dtype.kind in "OTU" else []
    return next((isinstance(cell, str) for cell in cells if not _is_gap(cell)), False)


def _numeric_codes(values: NDArray[Any], known: tuple[Any, ...]) -> Integers:
    """Positions of numbers among numbers."""
    if not known:
        return np.full(len(values), AVERAGE, dtype=np.int32)
    categories = np.asarray(known)
    order = np.argsort(categories)
    found = np.searchsorted(categories[order], values).clip(max=len(categories) - 1)
    codes = order[found].astype(np.int32)
    codes[categories[codes] != values] = AVERAGE
    return np.asarray(codes)


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


def _is_gap(value: Any) -> bool:
    if isinstance(value, float | np.floating | Decimal):
        return bool(value != value)  # noqa: PLR0124  # NaN does not equal itself
    # Others, such as arrays and frames, may not even have an answer to that.
    return _is_nothing(type(value))


def _gaps(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Which cells of a categorical column are missing."""
    if values.dtype.kind == "f":
        return np.asarray(np.isnan(values))
    if values.dtype.kind != "O":
        return np.zeros(len(values), dtype=np.bool_)
    return np.fromiter(map(_is_gap, values.tolist()), np.bool_, len(values))


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
