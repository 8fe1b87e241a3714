"""Values that are special: codes that a user names, point masses that the rows show.

A point mass is a value that many rows share, such as exactly 0 or a round sum. Being
frequent is no reason for an effect of its own: whole numbers are all frequent. It must
also differ from its neighbours, by more than chance, once the other columns have had
their say.
"""

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ridgeline.errors import InputError, warn_user
from ridgeline.xnn.column_kinds import named_column
from ridgeline.xnn.columns import quoted
from ridgeline.xnn.first_look import FirstLook, Residuals
from ridgeline.xnn.numeric_column import FEW_LEVELS

__all__ = [
    "Asked",
    "SpecialValues",
    "asked_specials",
    "frequent_values",
    "point_masses",
    "warn_of_absent",
]

Floats = NDArray[np.float64]
SpecialValues = (
    Mapping[str, Sequence[float] | Literal["auto"]]
    | Sequence[float]
    | Literal["auto"]
    | None
)

# A candidate has this share of the rows, and at least so many.
_FREQUENT: Final = 0.0003
_FEWEST: Final = 10
_MOST_IN_COLUMN: Final = 50
# Rows that a point mass is compared with: as many as it has itself, within limits.
_FEWEST_NEIGHBOURS: Final = 800
_MOST_NEIGHBOURS: Final = 4000
_FEWEST_BESIDE: Final = 25
# Of the values that a column is found to have, the share that may be there by luck.
# Where many values differ this asks less of each than where one or two do.
_BY_LUCK: Final = 0.05


class Asked(NamedTuple):
    """What the parameter `special_values` says, by column."""

    codes: dict[str, tuple[float, ...]]
    auto: tuple[str, ...]  # columns whose point masses are looked for


def asked_specials(given: Any, columns: Sequence[str]) -> Asked:
    """Reads the parameter.

    Args:
        given: Values by column, values of all columns, "auto", or None.
        columns: Names of the numeric columns.

    Raises:
        InputError: If a column is unknown, or a value is no finite number.
    """
    if given is None:
        return Asked({}, ())
    if isinstance(given, str):
        _check_auto(given)
        return Asked({}, tuple(columns))
    if not isinstance(given, Mapping):
        codes = _values(given, "all columns")
        return Asked(dict.fromkeys(columns, codes), ())
    codes_of, auto = {}, []
    for name, values in given.items():
        known = named_column(columns, name, "numeric column of special_values")
        if isinstance(values, str):
            _check_auto(values)
            auto.append(known)
        else:
            codes_of[known] = _values(values, f"column {known!r}")
    return Asked(codes_of, tuple(auto))


def warn_of_absent(given: Any, columns: Mapping[str, Floats]) -> None:
    """Warns of a special value of a column that no row has."""
    if not isinstance(given, Mapping):
        return
    for name, codes in asked_specials(given, list(columns)).codes.items():
        absent = [code for code in codes if not (columns[name] == code).any()]
        if absent:
            message = (
                f"special_values names {quoted(absent)} for the column {name!r}, which "
                "no row has; a later row with that value gets the average effect."
            )
            warn_user(message)


def point_masses(
    columns: Mapping[str, Floats], first: FirstLook
) -> dict[str, tuple[float, ...]]:
    """Point masses of the training rows that differ from their neighbours.

    Args:
        columns: Those to look at, NaN where they have no quantity.
        first: What was seen of these rows.

    Returns:
        The point masses by column, rising; columns without any are left out.
    """
    found = {}
    for name, cells in columns.items():
        candidates = frequent_values(cells)
        if not len(candidates):
            continue
        left = first.residuals()
        order = np.argsort(cells, kind="stable")[: np.count_nonzero(~np.isnan(cells))]
        ordered = cells[order], left.take(order)
        scores = {
            value: abs(_difference(*ordered, value)) for value in candidates.tolist()
        }
        # The strongest, where there are many.
        best = sorted(scores, key=lambda value: -scores[value])[:_MOST_IN_COLUMN]
        real = _beyond_luck(np.array(list(scores.values())))
        kept = {value for value, is_real in zip(scores, real, strict=True) if is_real}
        masses = sorted(value for value in best if value in kept)
        if masses:
            found[name] = tuple(masses)
    return found


def frequent_values(cells: Floats) -> Floats:
    """Values that many rows share, where there are others."""
    values, counts = np.unique(cells[~np.isnan(cells)], return_counts=True)
    if len(values) <= FEW_LEVELS:  # a curve can bend at each of them
        return np.empty(0)
    return np.asarray(values[counts >= max(_FEWEST, _FREQUENT * len(cells))])


def _beyond_luck(scores: Floats) -> NDArray[np.bool_]:
    """Which differences, in standard errors, are not by luck (Benjamini-Hochberg)."""
    from scipy.stats import false_discovery_control, norm

    return np.asarray(false_discovery_control(2 * norm.sf(scores)) <= _BY_LUCK)


def _difference(cells: Floats, left: Residuals, value: float) -> float:
    """By how many standard errors the rows of a value differ from their neighbours.

    Args:
        cells: Sorted.
        left: What is left of the target, in the same order.
        value: The point mass.
    """
    first, last = np.searchsorted(cells, (value, np.nextafter(value, np.inf)))
    near = int(np.clip(last - first, _FEWEST_NEIGHBOURS, _MOST_NEIGHBOURS))
    if min(first, len(cells) - last) >= _FEWEST_BESIDE:
        near //= 2
    sides = [slice(max(0, first - near), first), slice(last, last + near)]
    sides = [side for side in sides if len(cells[side]) >= _FEWEST_BESIDE]
    if not sides:
        return 0.0
    means = [left.values[side].mean() for side in sides]
    # The middle of both sides: a slope is no reason to stand out.
    gap = left.values[first:last].mean() - np.mean(means)
    errors = [_squared_error(left.variance[side], left.event) for side in sides]
    own = _squared_error(left.variance[first:last], left.event)
    return float(gap / np.sqrt(own + np.mean(errors) / len(sides)))


def _squared_error(variance: Floats, event: float) -> float:
    """Of the mean of rows, with one more: a handful of rare events is no normal sum."""
    return float(variance.sum() + event) / len(variance) ** 2


def _values(given: Any, where: str) -> tuple[float, ...]:
    values = [given] if isinstance(given, Real) else list(given)
    for value in values:
        number = isinstance(value, Real) and not isinstance(value, bool | np.bool_)
        if not number or not np.isfinite(float(value)):
            message = (
                f"special_values has {value!r} for {where}; a special value must be a "
                "finite number: missing values are special without being named."
            )
            raise InputError(message)
    return tuple(dict.fromkeys(float(value) for value in values))


def _check_auto(given: str) -> None:
    if given != "auto":
        message = (
            f"special_values is {given!r}; as a text it must be 'auto', otherwise "
            "numbers, or numbers by column."
        )
        raise InputError(message)
