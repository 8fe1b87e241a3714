"""From a table as it was read to rows that models take; no bad row is lost."""

from typing import Final, NamedTuple

import ibis
import ibis.expr.types as ir
import pandas as pd

from ridgeline.errors import InputError
from ridgeline.tables.columns import Column, typed
from ridgeline.tables.description import TableDescription
from ridgeline.tables.inference import target_cells
from ridgeline.tables.settings import TabularSettings
from ridgeline.tables.splitting import split_rows

__all__ = [
    "REASON",
    "SetAside",
    "audit_rows",
    "check_split",
    "set_aside",
    "split_table",
]

REASON: Final = "set_aside_because"
_RULES: Final = {
    "missing_target": "the target has a value",
    "missing_weight": "the weight is a number of 0 or more",
    "missing_group": "the group of the split has a value",
    "missing_date": "the date of the split has a value",
}
_LINES: Final = "bad_line"
_AUDIT: Final = "section step rule class rows_in removed kept examples".split()


class SetAside(NamedTuple):
    """Rows to go on with, and those that are kept for a look."""

    kept: ir.Table
    aside: ir.Table  # with the reason in the column `REASON`


def set_aside(
    rows: ir.Table, table: TableDescription, settings: TabularSettings
) -> SetAside:
    """Keeps rows without target, weight, group or date aside, with the reason.

    Raises:
        InputError: If the table has a column of the name that the reason gets.
    """
    if REASON in rows.columns:
        message = f"The table has a column {REASON!r}, which Ridgeline adds; rename it."
        raise InputError(message)
    target = _target(rows, table)
    failed = [(target.isnull(), "missing_target")]
    if table.weight is not None:
        weight = typed(rows[table.weight], "numeric")
        failed.append((weight.isnull() | (weight < 0), "missing_weight"))
    if settings.split.column is not None:
        step = "missing_group" if settings.split.by == "group" else "missing_date"
        failed.append((_split_cells(rows, settings).isnull(), step))
    marked = rows.mutate(**{REASON: ibis.cases(*failed)})
    is_good = marked[REASON].isnull()
    return SetAside(marked.filter(is_good).drop(REASON), marked.filter(~is_good))


def audit_rows(
    parts: SetAside,
    malformed: ir.Table,
    count: int,
    table: TableDescription,
) -> pd.DataFrame:
    """Counts what was kept aside, step by step, as the report shows it.

    Raises:
        InputError: If no row is left.
    """
    bad = parts.aside
    found = bad.group_by(REASON).agg(rows=bad.count()).execute()
    removed = dict(zip(found[REASON], found["rows"], strict=True))
    lines = int(malformed.count().execute())
    left = count + lines
    steps = {_LINES: ("the line has as many cells as the header", lines)}
    steps |= {step: (rule, int(removed.get(step, 0))) for step, rule in _RULES.items()}
    rows = []
    for step, (rule, gone) in steps.items():
        if step not in removed and step not in (_LINES, "missing_target"):
            continue
        counts = (left, gone, left - gone)
        rows.append(("filter", step, rule, table.rows, *counts, ""))
        left -= gone
    if not left:
        message = (
            f"No row is left: of {count:,} all lack the target {table.target!r}, the "
            "weight, or what the split goes by; look at rows_aside.parquet."
        )
        raise InputError(message)
    return pd.DataFrame(rows, columns=_AUDIT)


def check_split(columns: list[Column], settings: TabularSettings) -> None:
    """Refuses to split by time where there is no time.

    Raises:
        InputError: If the column is neither a date nor a number.
    """
    if settings.split.by != "time":
        return
    (column,) = [each for each in columns if each.name == settings.split.column]
    if column.kind not in ("date", "numeric"):
        message = (
            f"split: the column {column.name!r} is {column.kind} and no date; name a "
            "date, or set types: {" + column.name + ": date} if its text is one."
        )
        raise InputError(message)


def split_table(
    rows: ir.Table, table: TableDescription, settings: TabularSettings, seed: int
) -> dict[str, ir.Table]:
    """The three sets with the columns of the description, in the order of a hash."""
    cells = [name for name in rows.columns if _has_text(rows[name])]
    if settings.split.by == "time":
        name = str(settings.split.column)
        rows = rows.mutate(**{name: _split_cells(rows, settings)})
    sets = split_rows(rows, settings.split, seed, cells)
    return {name: _in_model_form(part, table, settings) for name, part in sets.items()}


def _in_model_form(
    rows: ir.Table, table: TableDescription, settings: TabularSettings
) -> ir.Table:
    dates = {
        name
        for name, label in table.labels.items()
        if label.unit == "year" and not rows[name].type().is_numeric()
    }
    dates |= {name for name, kind in settings.types.items() if kind == "date"}
    taken: dict[str, ir.Value] = {}
    for name in table.numeric:
        taken[name] = typed(rows[name], "date" if name in dates else "numeric")
    for name in table.categorical:
        taken[name] = typed(rows[name], "categorical")
    for name in table.sensitive:
        is_number = rows[name].type().is_numeric()
        taken[name] = typed(rows[name], "numeric" if is_number else "categorical")
    taken[table.target] = _target(rows, table)
    if table.weight is not None:
        taken[table.weight] = typed(rows[table.weight], "numeric")
    return rows.select(**taken)


def _target(rows: ir.Table, table: TableDescription) -> ir.Value:
    if table.is_regression:
        return typed(rows[table.target], "numeric")
    return target_cells(rows, table.target)


def _split_cells(rows: ir.Table, settings: TabularSettings) -> ir.Value:
    """What the split goes by; a text that is a date, as a date."""
    cells = rows[settings.split.column]
    if settings.split.by == "time" and cells.type().is_string():
        return cells.try_cast("timestamp")
    return cells


def _has_text(cells: ir.Column) -> bool:
    kind = cells.type()
    return not (kind.is_nested() or kind.is_binary())
