"""What a recipe can do with cells: few steps, plain values, no code of a file's own.

Each takes the columns that the step before it left and gives columns of the same
length. A cell that is empty, or that a step cannot read, is missing after it.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["MONTHS", "OPTIONS", "beyond", "is_given", "run_step"]

Columns = list["pd.Series[Any]"]

MONTHS: Final = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
_NUMBER: Final = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_DAY: Final = r"\d{4}-\d{2}-\d{2}"
_MONTH: Final = rf"(?:{'|'.join(MONTHS)})-\d{{4}}"
# Beyond it a number is a slip of the pen, and to an engine an infinity.
_LARGEST: Final = 1e300
_MONTHS_OF_A_YEAR: Final = 12
_LONGEST_MONTH: Final = 31


def is_given(cells: "pd.Series[Any]") -> "pd.Series[bool]":
    """Which cells say something."""
    import pandas as pd

    given = cells.notna()
    if pd.api.types.is_numeric_dtype(cells):
        return given
    return given & (cells.astype("str") != "")


def run_step(name: str, options: Mapping[str, Any], columns: Columns) -> Columns:
    """Runs one step on columns of cells."""
    return _STEPS[name](columns, **options)


def _numbers(columns: Columns, *, drop: str) -> Columns:
    """Reads numbers, each cell without the signs of `drop`."""
    return [_number(cells, drop) for cells in columns]


def _number(cells: "pd.Series[Any]", drop: str) -> "pd.Series[float]":
    import pandas as pd

    if pd.api.types.is_bool_dtype(cells):
        return pd.Series(float("nan"), index=cells.index)
    if not pd.api.types.is_numeric_dtype(cells):
        text = cells.astype("str").str.strip()
        for sign in drop:
            text = text.str.replace(sign, "", regex=False)
        text = text.str.strip()
        cells = pd.to_numeric(text.where(text.str.fullmatch(_NUMBER)), errors="coerce")
    values = cells.astype("float64")
    return values.where(values.abs() < _LARGEST)


def _mean(columns: Columns) -> Columns:
    """One column: the mean of all, missing where one is."""
    return [sum(columns[1:], start=columns[0]) / len(columns)]


def _band(columns: Columns, *, width: float, top: float) -> Columns:
    """The lower end of the band of a width that holds a number; the last is `top`."""
    return [
        ((values // width) * width).clip(upper=top).where(values.notna())
        for values in columns
    ]


def _within(
    columns: Columns, *, lowest: float | None, highest: float | None
) -> Columns:
    """Numbers between two limits, of which one may be open; others are missing."""
    low = float("-inf") if lowest is None else lowest
    high = float("inf") if highest is None else highest
    return [values.where(values.between(low, high)) for values in columns]


def beyond(lowest: float | None, highest: float | None) -> str:
    """What is to be said of a number that is not within the limits."""
    ends = [f"at least {lowest:g}"] if lowest is not None else []
    ends += [f"at most {highest:g}"] if highest is not None else []
    return f"must be {' and '.join(ends)}: the model was made without other rows"


def _day(columns: Columns, *, exact: bool) -> Columns:
    """Reads `2015-10-29` as a decimal year, of its month or of the very day."""
    return [_decimal_year(cells, _DAY, "%Y-%m-%d", exact) for cells in columns]


def _month(columns: Columns) -> Columns:
    """Reads `Dec-2015` as a decimal year."""
    return [_decimal_year(cells, _MONTH, "%b-%Y", False) for cells in columns]


def _decimal_year(
    cells: "pd.Series[Any]", pattern: str, form: str, exact: bool
) -> "pd.Series[float]":
    import pandas as pd

    text = cells.astype("str").where(cells.notna())
    text = text.where(text.str.fullmatch(pattern).fillna(False).astype(bool))
    days = pd.to_datetime(text, format=form, errors="coerce")
    months = (days.dt.month - 1).astype("float64")
    if exact:
        months = months + (days.dt.day - 1) / _LONGEST_MONTH
    return (days.dt.year + months / _MONTHS_OF_A_YEAR).astype("float64")


def _lookup(
    columns: Columns, *, table: Mapping[str, Any], otherwise: Any, fold: bool
) -> Columns:
    """What a table says of a text; folded texts are small, with blanks for lines."""
    found = []
    for cells in columns:
        text = cells.astype("str").where(is_given(cells))
        if fold:
            text = text.str.lower().str.replace("_", " ", regex=False)
        values = text.map(table)
        if otherwise is not None:
            values = values.where(values.notna() | text.isna(), otherwise)
        found.append(values)
    return found


_STEPS: Final[Mapping[str, Callable[..., Columns]]] = {
    "numbers": _numbers,
    "mean": _mean,
    "band": _band,
    "within": _within,
    "day": _day,
    "month": _month,
    "lookup": _lookup,
}


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) < _LARGEST


def _is_limit(value: Any) -> bool:
    return value is None or _is_number(value)


def _is_table(value: Any) -> bool:
    if type(value) is not dict or not value:
        return False
    kinds = {type(each) for each in value.values()}
    return kinds <= {str} or all(map(_is_number, value.values()))


# Of each step its options, and what each may be.
OPTIONS: Final[Mapping[str, Mapping[str, Callable[[Any], bool]]]] = {
    "numbers": {"drop": lambda value: type(value) is str},
    "mean": {},
    "band": {"width": lambda v: _is_number(v) and v > 0, "top": _is_number},
    "within": {"lowest": _is_limit, "highest": _is_limit},
    "day": {"exact": lambda value: type(value) is bool},
    "month": {},
    "lookup": {
        "table": _is_table,
        "otherwise": lambda v: v is None or type(v) is str or _is_number(v),
        "fold": lambda value: type(value) is bool,
    },
}
