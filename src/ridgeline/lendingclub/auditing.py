"""Count what cleaning removed, by step and class, and what could not be read."""

from collections.abc import Mapping
from typing import Final, NamedTuple

import ibis.expr.types as ir
import pandas as pd

from ridgeline.lendingclub.cleaning import (
    CleaningRules,
    Step,
    cleaning_steps,
    mark_removed,
)
from ridgeline.lendingclub.line_counting import LineCount
from ridgeline.lendingclub.parsing import unparsed_text
from ridgeline.lendingclub.raw_text import printable
from ridgeline.lendingclub.schema import LABELS, NUMERIC

__all__ = ["audit_cleaning", "audit_metrics", "audit_text"]

_COLUMNS: Final = "section step rule class rows_in removed kept examples".split()
_SECTIONS: Final = ("lines", "malformed", "unparseable", "filter")
_LABELS: Final = {"malformed": "malformed ", "unparseable": "bad ", "filter": ""}
_MAX_EXAMPLES = 3
_EXAMPLE_LENGTH = 80


class _Count(NamedTuple):
    """What one step does with the rows of one class."""

    section: str
    step: str
    rule: str
    rows_in: int
    removed: int
    examples: str = ""

    @property
    def kept(self) -> int:
        return self.rows_in - self.removed


def audit_cleaning(
    applications: ir.Table,
    malformed: ir.Table,
    lines: Mapping[str, LineCount],
    rules: CleaningRules,
) -> pd.DataFrame:
    """Return one row for each step and class.

    Sections: `lines` (lines of the file that begin no row), `malformed` (lines with
    too few or too many fields: never rows), `unparseable` (cells with text that is no
    such value; their rows fall to `missing_value`), `filter` (the paper's steps, in
    order).

    Args:
        malformed: `class` and `text` of the lines that are no rows.
        lines: The lines of both files, as counted apart from the engine.
    """
    counts, unparsed = _counts(applications, rules), _unparsed(applications)
    steps = cleaning_steps(applications, rules)
    rows = []
    for name, label in LABELS.items():
        of_class = counts[counts.approved == label]
        n_rows = int(of_class.n_rows.sum())
        found = [
            *_lines(lines[name]),
            _malformed(malformed.filter(malformed["class"] == name), n_rows),
            *_unparseable(applications, unparsed, label, n_rows),
            *_filtered(of_class, steps),
        ]
        rows += [{**one._asdict(), "class": name, "kept": one.kept} for one in found]
    return pd.DataFrame(rows)[_COLUMNS].sort_values(
        "section",
        key=lambda names: names.map(_SECTIONS.index),
        kind="stable",
        ignore_index=True,
    )


def audit_metrics(audit: pd.DataFrame) -> dict[str, float]:
    """Return the audit as flat numbers: `rejected.missing_value.removed`, ..."""
    metrics = {}
    for _, row in audit.iterrows():
        prefix = f"{row['class']}.{row.step}"
        if row.section == "filter":
            for value in ("rows_in", "removed", "kept"):
                metrics[f"{prefix}.{value}"] = float(row[value])
        else:
            metrics[f"{prefix}.{row.section}"] = float(row.removed)
    return metrics


def audit_text(audit: pd.DataFrame) -> str:
    """Return the audit for a console: the filters, and what could not be read."""
    is_filter, is_bad = audit.section == "filter", audit.section.isin(_LABELS)
    shown = audit[is_filter | (is_bad & (audit.removed > 0))]
    label = shown.section.map(_LABELS) + shown.step
    wide = shown.assign(label=label).pivot_table(
        index="label", columns="class", values=["removed", "kept"], sort=False
    )
    columns = [(name, value) for name in LABELS for value in ("removed", "kept")]
    table = wide.swaplevel(axis=1)[columns].map(
        lambda count: "" if pd.isna(count) else f"{count:,.0f}"
    )
    lines = [
        f"{_LABELS[row.section]}{row.step} ({row['class']}), e.g. {row.examples}"
        for _, row in shown[shown.examples != ""].iterrows()
    ]
    text = table.to_string(index_names=False)
    return "\n".join([text, *lines])


def _counts(applications: ir.Table, rules: CleaningRules) -> pd.DataFrame:
    """Count rows by class and removing step, in one scan."""
    groups = mark_removed(applications, rules).group_by("approved", "removed_by")
    counts: pd.DataFrame = groups.aggregate(n_rows=lambda t: t.count()).execute()
    return counts


def _unparsed(applications: ir.Table) -> pd.DataFrame:
    """Count unreadable cells by class and column."""
    bad = applications.filter(applications.unparsed.notnull())
    counts: pd.DataFrame = (
        bad.group_by("approved")
        .aggregate(**{name: unparsed_text(bad, name).count() for name in NUMERIC})
        .execute()
    )
    return counts.set_index("approved")


def _lines(lines: LineCount) -> list[_Count]:
    blank = _Count(
        "lines", "blank_line", "the line is not empty", lines.lines, lines.blank
    )
    rule = "the line is not inside a quoted cell"
    return [blank, _Count("lines", "continued_line", rule, blank.kept, lines.continued)]


def _malformed(lines: ir.Table, n_rows: int) -> _Count:
    bad = int(lines.count().execute())
    examples = _examples(lines.text) if bad else ""
    rule = "as many fields as the header"
    return _Count("malformed", "line", rule, n_rows + bad, bad, examples)


def _unparseable(
    applications: ir.Table, unparsed: pd.DataFrame, label: int, n_rows: int
) -> list[_Count]:
    found = []
    for column in NUMERIC:
        bad = int(unparsed[column].get(label, 0))
        of_class = applications.filter(applications.approved == label)
        examples = _examples(unparsed_text(of_class, column)) if bad else ""
        rule = "empty or readable"
        found.append(_Count("unparseable", column, rule, n_rows, bad, examples))
    return found


def _filtered(counts: pd.DataFrame, steps: list[Step]) -> list[_Count]:
    removed_by = counts.groupby("removed_by").n_rows.sum()
    found: list[_Count] = []
    left = int(counts.n_rows.sum())
    for step in steps:
        removed = int(removed_by.get(step.name, 0))
        found.append(_Count("filter", step.name, step.rule, left, removed))
        left = found[-1].kept
    return found


def _examples(texts: ir.StringColumn) -> str:
    table = texts.name("text").as_table()
    distinct = table.filter(table.text.notnull()).distinct().order_by("text")
    shown = distinct.limit(_MAX_EXAMPLES).execute().text.str.slice(0, _EXAMPLE_LENGTH)
    return "; ".join(printable(text) for text in shown)
