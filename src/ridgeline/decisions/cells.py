"""Rows as they come in, cell by cell: what can be scored, and why the rest cannot.

One bad cell refuses its row, never the table.
"""

from decimal import Decimal
from numbers import Real
from typing import Any, Final, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ridgeline.decisions.policy import Policy
from ridgeline.errors import InputError
from ridgeline.xnn.columns import quoted
from ridgeline.xnn.scorer import Scorer

__all__ = ["MISSING_TEXTS", "Cleaned", "clean", "clean_row"]

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
# What tables write for a cell that is missing, where it is no category.
MISSING_TEXTS: Final = (
    *("", "NA", "N/A", "n/a", "nan", "NaN", "-nan", "-NaN", "null", "NULL", "None"),
    *("#N/A", "#NA", "<NA>", "."),
)
_TRUE: Final = ("True", "TRUE", "true")
_FALSE: Final = ("False", "FALSE", "false")
_WORDS: Final[dict[str, float]] = (
    dict.fromkeys(MISSING_TEXTS, np.nan)
    | dict.fromkeys(_TRUE, 1.0)
    | dict.fromkeys(_FALSE, 0.0)
)
_LONGEST: Final = 60


class Cleaned(NamedTuple):
    """The columns of a model with blanks for bad cells, and what was bad."""

    frame: pd.DataFrame  # all rows, in the order of the model's columns
    good: Flags  # which rows can be scored
    columns: list[str]  # of each row that cannot, the column of its first bad cell
    reasons: list[str]  # and why
    beyond: NDArray[np.intp]  # cells of each row beyond the range of training


class _Column(NamedTuple):
    cells: Any
    bad: Flags
    why: Any  # a function of the place of a bad cell
    beyond: Flags | None = None


def clean(scorer: Scorer, frame: pd.DataFrame, policy: Policy) -> Cleaned:
    """Looks at every cell that the model needs.

    Args:
        scorer: The model.
        frame: Rows with at least its columns; or raw ones, where the model carries
            their preparation.
        policy: Whether strange categories and gaps are refused.

    Raises:
        InputError: If columns are missing, or one is there twice.
    """
    names = scorer.features.names
    frame, reasons = _prepared(scorer, frame)
    _check_columns(frame, names)
    columns, places = {}, np.full(len(frame), -1)
    places[list(reasons)] = 0
    beyond = np.zeros(len(frame), dtype=np.intp)
    for name in names:
        number = name in scorer.features.numbers
        found = (_numeric if number else _categorical)(
            scorer, name, frame[name], policy
        )
        columns[name] = found.cells
        if found.beyond is not None:
            beyond += found.beyond
        for place in np.flatnonzero(found.bad & (places < 0)).tolist():
            reasons[place] = name, found.why(place)
            places[place] = 0
    ordered = [reasons[place] for place in sorted(reasons)]
    return Cleaned(
        pd.DataFrame(columns, copy=False),
        places < 0,
        [column for column, _ in ordered],
        [reason for _, reason in ordered],
        beyond,
    )


def clean_row(scorer: Scorer, row: pd.DataFrame, policy: Policy) -> Cleaned:
    """One row as the model takes it.

    Raises:
        InputError: If it cannot be scored.
    """
    cleaned = clean(scorer, row, policy)
    if not cleaned.good.all():
        message = (
            f"The row cannot be scored: its {cleaned.columns[0]!r} "
            f"{cleaned.reasons[0]}; correct it."
        )
        raise InputError(message)
    return cleaned


def _prepared(
    scorer: Scorer, frame: pd.DataFrame
) -> tuple[pd.DataFrame, dict[int, tuple[str, str]]]:
    """Raw rows as the model takes them, and why some of them cannot be used.

    Those are blank in the table, so that all rows keep their places.
    """
    if scorer.preparation is None:
        return frame, {}
    places = pd.RangeIndex(len(frame))
    made = scorer.preparation.prepare(frame.set_axis(places, axis=0))
    if made.format is None:
        return frame, {}
    said = made.refused[["column", "reason"]].itertuples(name=None)
    reasons = {place: (column, reason) for place, column, reason in said}
    return made.rows.reindex(places), reasons


def _check_columns(frame: pd.DataFrame, names: tuple[str, ...]) -> None:
    there = [str(name) for name in frame.columns]
    missing = [name for name in names if name not in there]
    if missing:
        message = (
            f"The table lacks the columns {quoted(missing)} of the model; it has "
            f"{quoted(there)}."
        )
        raise InputError(message)
    twice = [name for name in names if there.count(name) > 1]
    if twice:
        message = f"The table has the column {twice[0]!r} twice; names must be unique."
        raise InputError(message)


def _numeric(scorer: Scorer, name: str, cells: Any, policy: Policy) -> _Column:
    number = scorer.features.numbers[name]
    values, text = _numbers(cells)
    infinite = np.isinf(values)
    values = np.where(infinite, np.nan, values)
    gaps = np.isnan(values) & ~infinite
    bad = infinite if text is None else infinite | text
    if policy.unknown_missing == "refuse" and not number.missing:
        bad = bad | gaps

    def why(place: int) -> str:
        if text is not None and text[place]:
            return f"holds {_short(cells.iloc[place])}, where a number is needed"
        if infinite[place]:
            return "is infinite, where a finite number is needed"
        return "is missing, and was never missing in training"

    low, high = number.seen
    outside = (values < low) | (values > high)
    if outside.any() and number.codes:
        outside &= ~np.isin(values, number.codes)
    return _Column(values, bad, why, outside)


def _categorical(scorer: Scorer, name: str, cells: Any, policy: Policy) -> _Column:
    known = scorer.features.categories[name]
    table = _table(known)
    try:
        codes, distinct = pd.factorize(cells, use_na_sentinel=True)
    except TypeError:  # cells without a hash, such as lists, are no categories
        codes, distinct = pd.factorize(cells.map(repr), use_na_sentinel=True)
    found = [_category(one, table, known) for one in np.asarray(distinct, dtype=object)]
    # The last place is that of a gap, which factorize codes as -1.
    values = np.empty(len(found) + 1, dtype=object)
    values[:-1] = [None if one is _STRANGE else one for one in found]
    strange = np.array([*(one is _STRANGE for one in found), False], dtype=np.bool_)
    gap = np.array([*(one is None for one in found), True], dtype=np.bool_)
    bad = np.zeros(len(codes), dtype=np.bool_)
    if policy.unknown_category == "refuse":
        bad |= strange[codes]
    if policy.unknown_missing == "refuse" and None not in known:
        bad |= gap[codes]

    def why(place: int) -> str:
        if strange[codes[place]]:
            one = _short(cells.iloc[place])
            return f"has the category {one}, which training had not"
        return "is missing, and was never missing in training"

    # A stranger that is not refused says nothing, where a gap may say something.
    values[:-1][strange[:-1]] = _NOBODY
    return _Column(values[codes], bad, why)


_STRANGE: Final = object()
_NOBODY: Final = "\x00no category"


def _table(known: tuple[Any, ...]) -> dict[Any, Any]:
    """Categories by themselves and, those that are no text, by their text."""
    table: dict[Any, Any] = {}
    for one in known:
        if one is None or isinstance(one, str):
            continue
        table[str(one)] = one
        if isinstance(one, bool):
            table |= dict.fromkeys(_TRUE if one else _FALSE, one)
        elif float(one).is_integer():
            table |= {str(int(one)): one, f"{float(one)}": one}
    # Last, because a category of its own counts more than another's text.
    return table | {one: one for one in known if one is not None}


def _category(cell: Any, table: dict[Any, Any], known: tuple[Any, ...]) -> Any:
    """The category of a cell, None for a gap, or a stranger."""
    try:
        if cell in table:
            return table[cell]
    except TypeError:  # a list has no hash
        return _STRANGE
    if isinstance(cell, str):
        return None if cell in MISSING_TEXTS else _STRANGE
    texts = [one for one in known if isinstance(one, str)]
    # A number in a table whose column was text in training.
    whole = isinstance(cell, Real) and float(cell).is_integer()
    for text in (str(cell), str(int(cell)) if whole else ""):
        if text in texts:
            return text
    return _STRANGE


def _numbers(cells: Any) -> tuple[Floats, Flags | None]:
    """Cells as floats with NaN where there is none, and which are no numbers."""
    kind = getattr(cells.dtype, "kind", "O")
    if kind in "biuf":
        return cells.to_numpy(dtype=np.float64, na_value=np.nan), None
    if kind in "mM":
        return np.full(len(cells), np.nan), np.ones(len(cells), dtype=np.bool_)
    found = [_number(cell) for cell in cells.tolist()]
    text = np.array([one is None for one in found], dtype=np.bool_)
    return np.array([np.nan if one is None else one for one in found]), text


def _number(cell: Any) -> float | None:
    """A cell as a number, NaN where it is missing, None where it is something else."""
    if cell is None or cell is pd.NA or cell is pd.NaT:
        return np.nan
    if isinstance(cell, str):
        text = cell.strip()
        # Python's own numbers may have underscores; those of a table have none.
        cell = _WORDS.get(text, text.replace("_", "?"))
    elif not isinstance(cell, Real | Decimal | np.bool_):
        return None
    try:
        return float(cell)
    except OverflowError:
        return np.inf
    except (TypeError, ValueError):
        return None


def _short(value: Any) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
