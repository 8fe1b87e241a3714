"""What the columns of a table are, by rules that need no name of any of them.

- constant: one value and no gap, or nothing but gaps;
- identifier: text of which no two rows share a value (from 20 rows on); whole numbers
  that are all different and count up without holes; or all different and called an id;
- date: what the engine reads as a date or a moment;
- numeric: numbers; few different whole numbers among them are asked about;
- categorical: other text with at most `max_levels` different values, and booleans;
- text: what has more of them, or cannot be put into words (lists, bytes).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

import ibis
import ibis.expr.types as ir
import pandas as pd

from ridgeline.errors import InputError
from ridgeline.tables.settings import Kind

__all__ = ["Column", "columns_text", "infer_columns", "typed"]

InferredKind = Literal[
    "numeric", "categorical", "date", "identifier", "constant", "text"
]
_FEWEST_IDENTIFIERS: Final = 20  # rows below which different texts are no surprise
_FEW: Final = 10  # different whole numbers that may be codes
_MOST_LEVELS: Final = 2_000  # of a column that the user calls categorical
_NUMBERS: Final = 0.9  # share of a text's cells that are numbers, from which it is said
_WIDTHS: Final = (24, 12, 11, 8, 8)  # of the columns of the log's table
_LONGEST_NOTE: Final = 60


@dataclass(frozen=True)
class Column:
    """One column: what it is, and what it is used for."""

    name: str
    kind: InferredKind
    missing: int
    distinct: int
    whole: bool = False  # numbers, all of them whole
    use: str = ""
    note: str = ""


def infer_columns(
    rows: ir.Table, types: Mapping[str, Kind], max_levels: int
) -> tuple[list[Column], int]:
    """What each column is, and how many rows there are.

    Args:
        types: What the user says that columns are.
        max_levels: More different texts than this are no category.

    Raises:
        InputError: If there are no rows, or a column cannot be what the user says.
    """
    facts = rows.aggregate(_facts(rows)).execute().iloc[0]
    count = int(facts["rows"])
    if not count:
        message = "The table has no rows; it needs a header and at least a few rows."
        raise InputError(message)
    found = []
    for place, name in enumerate(rows.columns):
        own = {
            key: facts[f"{place}_{key}"]
            for key in _KEYS
            if f"{place}_{key}" in facts.index and not pd.isna(facts[f"{place}_{key}"])
        }
        column = _infer(name, rows[name], own, count, max_levels)
        if name in types:
            column = _as_told(column, rows, types[name], count)
        found.append(column)
    return found, count


def typed(cells: ir.Column, kind: Kind) -> ir.Value:
    """The cells of a column as models take them; those that cannot be are gaps."""
    if kind == "numeric":
        numbers = _numbers(cells)
        return ibis.ifelse(numbers.isnan() | numbers.isinf(), ibis.null(), numbers)
    if kind == "date":
        return _decimal_year(cells)
    if cells.type().is_floating() or cells.type().is_decimal():
        # Whole numbers that a gap has made decimal: "3" and not "3.0".
        number = _numbers(cells)
        whole = (number % 1 == 0) & (number.abs() < 2**53)
        text = ibis.ifelse(
            whole, number.try_cast("int64").cast("string"), number.cast("string")
        )
        return ibis.ifelse(number.isnan(), ibis.null(), text)
    return cells.cast("string")


def columns_text(columns: list[Column]) -> str:
    """The columns as a table for a terminal, 71 columns wide: a log has 9 before it."""
    lines = [_row(("column", "kind", "used as", "missing", "distinct"))]
    for column in columns:
        cells = (
            _cut(column.name, _WIDTHS[0]),
            column.kind,
            column.use,
            f"{column.missing:,}",
            f"{column.distinct:,}",
        )
        lines.append(_row(cells))
        if column.note:
            lines.append(f"  {column.note}")
    return "\n".join(line.rstrip() for line in lines)


_KEYS: Final = ("missing", "distinct", "low", "high", "whole", "numbers")


def _facts(rows: ir.Table) -> dict[str, ir.Value]:
    """One query for all columns."""
    asked: dict[str, ir.Value] = {"rows": rows.count()}
    for place, name in enumerate(rows.columns):
        cells = rows[name]
        kind = cells.type()
        asked[f"{place}_missing"] = cells.isnull().sum()
        if kind.is_nested() or kind.is_binary():
            continue
        asked[f"{place}_distinct"] = cells.nunique()
        if kind.is_numeric():
            numbers = typed(cells, "numeric")
            asked[f"{place}_missing"] = numbers.isnull().sum()
            asked[f"{place}_distinct"] = numbers.nunique()
            asked[f"{place}_low"] = numbers.min()
            asked[f"{place}_high"] = numbers.max()
            asked[f"{place}_whole"] = (numbers % 1 == 0).all()
        elif kind.is_string():
            asked[f"{place}_numbers"] = cells.try_cast("float64").notnull().mean()
    return asked


def _infer(
    name: str, cells: ir.Column, facts: Mapping[str, Any], count: int, max_levels: int
) -> Column:
    missing, distinct = int(facts.get("missing", 0)), int(facts.get("distinct", 0))
    kind, there = cells.type(), count - missing
    column = Column(name, "text", missing, distinct)
    if not there or (distinct == 1 and not missing):
        return replace(column, kind="constant")
    if kind.is_nested() or kind.is_binary() or kind.is_time() or kind.is_interval():
        return replace(column, note=f"of the type {kind}, which no model takes")
    if kind.is_numeric():
        return _infer_number(column, facts, there)
    if kind.is_string():
        return _infer_text(column, facts, there, max_levels)
    is_date = kind.is_date() or kind.is_timestamp()
    return replace(column, kind="date" if is_date else "categorical")


def _infer_text(
    column: Column, facts: Mapping[str, Any], there: int, max_levels: int
) -> Column:
    column = replace(column, note=_of_numbers(facts))
    if column.distinct == there and there >= _FEWEST_IDENTIFIERS:
        return replace(column, kind="identifier")
    if column.distinct > max_levels:
        note = column.note or f"more than {max_levels} different texts"
        return replace(column, note=note)
    return replace(column, kind="categorical")


def _infer_number(column: Column, facts: Mapping[str, Any], there: int) -> Column:
    whole, distinct = bool(facts.get("whole", False)), column.distinct
    column = replace(column, kind="numeric", whole=whole)
    if distinct == 1:  # and gaps: there or not is all that it says
        return replace(column, kind="categorical")
    if whole and distinct == there and there >= _FEWEST_IDENTIFIERS:
        counts_up = float(facts["high"]) - float(facts["low"]) + 1 == there
        if counts_up or _is_called_id(column.name):
            return replace(column, kind="identifier")
    if whole and 2 < distinct <= _FEW:  # noqa: PLR2004
        note = "few whole numbers: if they are codes, set types to categorical"
        return replace(column, note=note)
    return column


def _is_called_id(name: str) -> bool:
    lower = name.lower().strip()
    # As people and databases call them: id, loan_id, loan id, loanId.
    return (
        lower in {"id", "index", "key"}
        or lower.endswith(("_id", " id", ".id"))
        or (name.endswith(("Id", "ID")))
    )


def _of_numbers(facts: Mapping[str, Any]) -> str:
    """Says so where a text is mostly numbers: a few odd cells have made it text."""
    share = float(facts.get("numbers", 0.0))
    if share < _NUMBERS:
        return ""
    return f"{100 * share:.1f} % of the cells are numbers: set types to numeric?"


def _as_told(column: Column, rows: ir.Table, kind: Kind, count: int) -> Column:
    """A column as the user says, if it can be."""
    cells = rows[column.name]
    if kind == "date" and not _can_be_date(cells):
        message = (
            f"types: the column {column.name!r} is of the type {cells.type()}, which "
            "is no date; leave it out of types, or store dates as 2026-01-31."
        )
        raise InputError(message)
    taken = typed(cells, kind)
    facts = rows.aggregate(gaps=taken.isnull().sum(), distinct=taken.nunique())
    gaps, distinct = (int(each) for each in facts.execute().iloc[0])
    if gaps == count:
        message = (
            f"types: no cell of the column {column.name!r} can be read as {kind}; "
            "leave it out of types, or mend the column."
        )
        raise InputError(message)
    if kind == "categorical" and distinct > _MOST_LEVELS:
        message = (
            f"types: the column {column.name!r} has {distinct:,} different values; a "
            f"category has at most {_MOST_LEVELS:,}, so leave it out."
        )
        raise InputError(message)
    lost = gaps - column.missing
    note = "as set in types"
    if lost > 0:
        note += f"; {lost:,} cells that are no {kind} are taken as missing"
    return replace(column, kind=kind, missing=gaps, distinct=distinct, note=note)


def _can_be_date(cells: ir.Column) -> bool:
    kind = cells.type()
    return bool(kind.is_date() or kind.is_timestamp() or kind.is_string())


def _numbers(cells: ir.Column) -> ir.FloatingValue:
    kind = cells.type()
    if kind.is_string():
        return cells.try_cast("float64")
    if kind.is_boolean():
        return cells.cast("int8").cast("float64")
    if not kind.is_numeric():
        message = (
            f"types: a column of the type {kind} cannot be numeric; take date or "
            "categorical, or leave it out of types."
        )
        raise InputError(message)
    return cells.cast("float64")


def _decimal_year(cells: ir.Column) -> ir.FloatingValue:
    """A day as 2015.0, 2015.083, ...: a number whose axis can be read."""
    if cells.type().is_string():
        cells = cells.try_cast("timestamp")
    months = (cells.month() - 1).cast("float64") + (cells.day() - 1).cast(
        "float64"
    ) / 31
    return cells.year() + months / 12


def _row(cells: tuple[str, ...]) -> str:
    first, kind, use, missing, distinct = cells
    return (
        f"{first:<{_WIDTHS[0]}} {kind:<{_WIDTHS[1]}} {use:<{_WIDTHS[2]}} "
        f"{missing:>{_WIDTHS[3]}} {distinct:>{_WIDTHS[4]}}"
    )


def _cut(name: str, width: int) -> str:
    return name if len(name) <= width else f"{name[: width - 1]}…"
