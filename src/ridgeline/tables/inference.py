"""A table described: task and columns inferred, what the user says checked.

The task: a target of two values is a classification, one of more numbers a regression.
The positive class is 1, true or yes where there is such a class, else the rarer one.
Every refusal is one sentence.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final, NamedTuple

import ibis.expr.types as ir
import pandas as pd

from ridgeline.errors import InputError
from ridgeline.parameters import close_match
from ridgeline.tables.columns import Column, infer_columns, typed
from ridgeline.tables.description import ColumnLabel, TableDescription, Task, Value
from ridgeline.tables.settings import TabularSettings

__all__ = ["Described", "describe_table"]

_YES: Final = ("1", "1.0", "true", "yes", "y")
_TWO: Final = 2
_SHOWN: Final = 8  # names in a sentence
# Uses of a column, in the words of the log.
_TARGET, _WEIGHT, _SENSITIVE, _SPLIT = "target", "weight", "sensitive", "split"
_FEATURE, _LEFT_OUT = "feature", "left out"


class Described(NamedTuple):
    """What was found, and what to do with it."""

    table: TableDescription
    columns: list[Column]
    rows: int


def describe_table(
    rows: ir.Table, name: str, settings: TabularSettings, *, simulated: bool = False
) -> Described:
    """Says what a table is, as inferred and as the user has set.

    Raises:
        InputError: If something is missing or cannot be; one sentence says what.
    """
    _check_names(rows.columns, settings)
    target = str(settings.target)
    columns, count = infer_columns(rows, settings.types, settings.max_levels)
    by_name = {column.name: column for column in columns}
    task, classes = _task(rows, by_name[target], settings)
    used = [replace(each, use=_use(each, settings)) for each in columns]
    features = [column for column in used if column.use == _FEATURE]
    if not features:
        message = (
            f"No column is left to predict {target!r} from: of {len(columns)} columns "
            "the others are constant, identifiers, left out or have another use; set "
            "types for what is a feature."
        )
        raise InputError(message)
    numeric = [each for each in features if each.kind in ("numeric", "date")]
    _check_numeric(settings, [column.name for column in numeric])
    _check_weight(rows, by_name, settings)
    dates = [column.name for column in numeric if column.kind == "date"]
    words = _words(name, target, classes, settings)
    table = TableDescription(
        name=name,
        task=task,
        target=target,
        classes=classes,
        numeric=tuple(column.name for column in numeric),
        categorical=tuple(each.name for each in features if each not in numeric),
        weight=settings.weight,
        sensitive=tuple(settings.sensitive),
        special_values={
            key: tuple(own) for key, own in settings.special_values.items()
        },
        monotone=settings.monotone,
        labels=_labels(dates, settings),
        row=settings.row,
        rows=settings.rows,
        simulated=simulated,
        notes=tuple(settings.notes),
        **words,
    )
    return Described(table, used, count)


def _check_names(columns: Iterable[str], settings: TabularSettings) -> None:
    """Every column that is named is there, and has one use."""
    known = list(columns)
    if settings.target is None:
        message = (
            f"No target is set: pass --params target=COLUMN, one of {_listed(known)}."
        )
        raise InputError(message)
    uses = _named(settings)
    for use, names in uses.items():
        for name in names:
            if name not in known:
                message = (
                    f"{use}: there is no column {name!r} in the table: "
                    f"{close_match(name, known[:50])}"
                )
                raise InputError(message)
    # A group or a date may be a feature, or sensitive, as well.
    alone = ("target", "weight", "leave_out", "sensitive")
    for place, first in enumerate(alone):
        for second in alone[place + 1 :]:
            both = set(uses[first]) & set(uses[second])
            if both:
                message = (
                    f"The column {min(both)!r} is named in {first} and in {second}; "
                    "name it in one of them."
                )
                raise InputError(message)
    if settings.split.column == settings.target:
        message = f"The target {settings.target!r} cannot be what the split goes by."
        raise InputError(message)


def _named(settings: TabularSettings) -> dict[str, list[str]]:
    return {
        "target": [str(settings.target)],
        "weight": [settings.weight] if settings.weight else [],
        "leave_out": list(settings.leave_out),
        "sensitive": list(settings.sensitive),
        "types": list(settings.types),
        "special_values": list(settings.special_values),
        "monotone": list(settings.monotone),
        "labels": list(settings.labels),
        "split.column": [settings.split.column] if settings.split.column else [],
    }


def _use(column: Column, settings: TabularSettings) -> str:
    name = column.name
    if name == settings.target:
        return _TARGET
    if name == settings.weight:
        return _WEIGHT
    if name in settings.sensitive:
        return _SENSITIVE
    if name in settings.leave_out:
        return _LEFT_OUT
    if name == settings.split.column and name not in settings.types:
        return _SPLIT  # what tells sets apart must not tell rows apart
    usable = column.kind in ("numeric", "categorical", "date")
    return _FEATURE if usable else _LEFT_OUT


def _task(
    rows: ir.Table, column: Column, settings: TabularSettings
) -> tuple[Task, tuple[Value, Value] | None]:
    """What the target asks for, and its classes."""
    name, kind = column.name, rows[column.name].type()
    if not (kind.is_numeric() or kind.is_string() or kind.is_boolean()):
        message = (
            f"The target {name!r} is of the type {kind}; Ridgeline predicts two "
            "classes or a number, so choose another column."
        )
        raise InputError(message)
    if column.distinct == 0:
        message = f"The target {name!r} has no value in any row; choose another column."
        raise InputError(message)
    if column.distinct == 1:
        message = (
            f"The target {name!r} has the same value in all rows that have one; there "
            "is nothing to predict, so choose another column."
        )
        raise InputError(message)
    is_number = bool(kind.is_numeric()) or settings.types.get(name) == "numeric"
    if settings.task == "regression" or (
        settings.task is None and is_number and column.distinct > _TWO
    ):
        if not is_number:
            message = (
                f"The target {name!r} is of the type {kind}, and a regression needs "
                "numbers; set task to classification, or choose another column."
            )
            raise InputError(message)
        return "regression", None
    if column.distinct > _TWO:
        what = "classes of text" if kind.is_string() else f"values ({kind})"
        message = (
            f"The target {name!r} has {column.distinct:,} {what}; Ridgeline predicts "
            "two classes or a number, so join the classes or choose another column."
        )
        raise InputError(message)
    return "classification", _classes(rows, name, settings.positive)


def _classes(rows: ir.Table, name: str, positive: Value | None) -> tuple[Value, Value]:
    """The two classes, the positive one second."""
    cells = target_cells(rows, name)
    counted = rows.select(value=cells).filter(cells.notnull())
    found = counted.group_by("value").agg(count=counted.count()).execute()
    counts = {
        getattr(value, "item", lambda value=value: value)(): int(count)
        for value, count in zip(found["value"], found["count"], strict=True)
    }
    values = sorted(counts, key=str)
    if positive is None:
        yes = [value for value in values if _plain(value) in _YES]
        # Of two that are as rare, the last by name.
        chosen = yes[0] if len(yes) == 1 else min(reversed(values), key=counts.get)  # type: ignore[arg-type]
    else:
        named = [value for value in values if _plain(value) == _plain(positive)]
        if len(named) != 1:
            listed = " and ".join(repr(value) for value in values)
            message = (
                f"positive is {positive!r}, but the classes of the target {name!r} are "
                f"{listed}; name one of them."
            )
            raise InputError(message)
        chosen = named[0]
    (other,) = [value for value in values if value != chosen]
    return other, chosen


def target_cells(rows: ir.Table, name: str) -> ir.Value:
    """Classes as they are kept: text, booleans, or numbers without a gap's decimals."""
    cells = rows[name]
    if cells.type().is_floating():
        return typed(cells, "numeric")
    return cells.cast("float64") if cells.type().is_decimal() else cells


def _plain(value: Value) -> str:
    text = str(value).strip().lower()
    try:
        return f"{float(text):g}"
    except ValueError:
        return text


def _check_numeric(settings: TabularSettings, numeric: list[str]) -> None:
    for key in ("special_values", "monotone"):
        for name in getattr(settings, key):
            if name not in numeric:
                message = (
                    f"{key}: {name!r} is no numeric feature: "
                    f"{close_match(name, numeric) if numeric else 'there is none.'}"
                )
                raise InputError(message)


def _check_weight(
    rows: ir.Table, columns: Mapping[str, Column], settings: TabularSettings
) -> None:
    if settings.weight is None:
        return
    if columns[settings.weight].kind not in ("numeric", "constant", "identifier") or (
        not rows[settings.weight].type().is_numeric()
    ):
        message = (
            f"weight: the column {settings.weight!r} is "
            f"{rows[settings.weight].type()}, and weights are numbers; name another "
            "column, or none."
        )
        raise InputError(message)


def _words(
    name: str,
    target: str,
    classes: tuple[Value, Value] | None,
    settings: TabularSettings,
) -> dict[str, Any]:
    title = settings.title or f"Ridgeline: {target} of {name}, and why"
    if classes is None:
        return {"title": title}
    happened = _plain(classes[1]) in {_plain(value) for value in _YES}
    event = settings.event or (target if happened else f"{target} = {classes[1]}")
    names = tuple(f"{target} = {value}" for value in classes)
    return {"title": title, "event": event, "class_names": names}


def _labels(dates: list[str], settings: TabularSettings) -> dict[str, ColumnLabel]:
    usual = {
        name: ColumnLabel(title=name.replace("_", " "), unit="year") for name in dates
    }
    return usual | settings.labels


def _listed(names: list[str]) -> str:
    shown = ", ".join(map(repr, names[:_SHOWN]))
    more = len(names) - _SHOWN
    return f"{shown} and {more:,} more" if more > 0 else shown


def columns_frame(columns: list[Column]) -> pd.DataFrame:
    """The columns as a table to keep."""
    return pd.DataFrame(
        [
            {
                "column": each.name,
                "kind": each.kind,
                "used_as": each.use,
                "missing": each.missing,
                "distinct": each.distinct,
                "note": each.note,
            }
            for each in columns
        ]
    )
