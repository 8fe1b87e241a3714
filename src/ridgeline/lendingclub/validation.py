"""What the typed and the clean table must look like, column by column.

The typed table is checked for signs of a misread file (a score of 15,000 is a shifted
column, not a score); the clean table for exactly what the cleaning promises.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

import ibis
import ibis.expr.types as ir
import pandas as pd

from ridgeline.errors import InputError
from ridgeline.lendingclub.cleaning import CleaningRules
from ridgeline.lendingclub.line_counting import LineCount
from ridgeline.lendingclub.raw_text import printable
from ridgeline.lendingclub.schema import EMPLOYMENT_LEVELS, LABELS, PURPOSE_COLUMNS

__all__ = ["validate_clean", "validate_kept", "validate_lines", "validate_typed"]

_ROWS_SHOWN = 5


@dataclass(frozen=True)
class _Rule:
    """What one column may hold: a type, a range or a few values, and null or not."""

    dtype: str
    lowest: Any = None
    highest: Any = None
    allowed: tuple[Any, ...] | None = None
    nullable: bool = False

    def breaches(self, column: ir.Column) -> dict[str, ir.BooleanValue]:
        """Whether a row breaks the rule, by what it breaks of it."""
        found = {}
        if not self.nullable:
            found["not_nullable"] = column.isnull()
        if self.allowed is not None:
            found[f"isin({self.allowed})"] = column.notin(self.allowed)
        if self.lowest is not None:
            outside = (column < self.lowest) | (column > self.highest)
            found[f"in_range({self.lowest}, {self.highest})"] = outside
        return {what: breaks.fill_null(False) for what, breaks in found.items()}


_LABEL = _Rule("int32", allowed=(0, 1))
_TYPED = {
    "approved": _LABEL,
    "application_date": _Rule(
        "date", date(2000, 1, 1), date(2099, 12, 31), nullable=True
    ),
    "amount": _Rule("float64", 0, 1e8, nullable=True),
    "risk_score": _Rule("float64", 0, 1_000, nullable=True),
    "dti": _Rule("float64", -100, 1e7, nullable=True),
    "employment_length": _Rule(
        "int32", allowed=tuple(EMPLOYMENT_LEVELS.values()), nullable=True
    ),
    "title": _Rule("string", nullable=True),
}


def validate_lines(
    applications: ir.Table, malformed: ir.Table, lines: Mapping[str, LineCount]
) -> None:
    """Stop unless rows and lines set aside are all the lines that begin a row.

    Args:
        malformed: `class` and `text` of the lines that are no rows.
        lines: The lines of both files, as counted apart from the engine.

    Raises:
        InputError: If lines are missing or too many, or no line of a file is a row.
    """
    rows, aside = (
        dict(column.value_counts(name="n").execute().itertuples(index=False))
        for column in (applications.approved, malformed["class"])
    )
    for name, label in LABELS.items():
        n_lines, n_rows = lines[name].rows, rows.get(label, 0)
        n_aside = aside.get(name, 0)
        if n_rows + n_aside != n_lines:
            message = (
                f"The {name} file has {n_lines:,} lines that begin a row, but "
                f"{n_rows:,} rows were read and {n_aside:,} lines set aside. Look for "
                f"quotes in odd places, mend or take out these lines, and run again."
            )
            raise InputError(message)
        if n_rows == 0:
            first = malformed.filter(malformed["class"] == name).text.min().execute()
            message = (
                f"None of the {n_lines:,} lines of the {name} file has as many fields "
                f"as its header, e.g. '{printable(first[:80])}'. Give header and "
                f"lines the same number of commas, and run again."
            )
            raise InputError(message)


def validate_kept(audit: pd.DataFrame) -> None:
    """Stop where the filters leave nothing of a class, and say at which step.

    Raises:
        InputError: With the step that removed most, and cells that were unreadable.
    """
    for name, of_class in audit.groupby("class"):
        filters = of_class[of_class.section == "filter"]
        if filters.kept.iloc[-1] > 0:
            continue
        worst = filters.sort_values("removed").iloc[-1]
        bad = of_class[(of_class.section == "unparseable") & (of_class.removed > 0)]
        cells = [
            f"{row.removed:,} of {row.step}, e.g. {row.examples}"
            for _, row in bad.iterrows()
        ]
        unreadable = f" Unreadable cells: {'; '.join(cells)}." if cells else ""
        message = (
            f"No {name} application passes the filters: '{worst.step}' ({worst.rule}) "
            f"removes {worst.removed:,} of {filters.rows_in.iloc[0]:,}.{unreadable} "
            f"Published dates read Dec-2015 (accepted) and 2015-10-29 (rejected); "
            f"cleaning_audit has every step."
        )
        raise InputError(message)


def validate_typed(applications: ir.Table) -> None:
    """Stop at a typed table that no LendingClub file gives.

    Raises:
        InputError: With the failed checks and the first offending rows.
    """
    _validate(applications, "applications_typed", _TYPED)


def validate_clean(applications: ir.Table, rules: CleaningRules) -> None:
    """Stop at a clean table that is not as clean as the rules say.

    Raises:
        InputError: With the failed checks and the first offending rows.
    """
    schema = {
        "row_key": _Rule("string"),
        "application_date": _Rule(
            "float64", rules.first_date.year, rules.last_date.year + 1
        ),
        "amount": _Rule("float64", 0, rules.max_amount),
        "risk_score": _Rule("float64", 0, rules.max_score),
        "dti": _Rule("float64", rules.min_dti, rules.max_dti),
        "employment_length": _Rule(
            "float64", allowed=tuple(float(n) for n in EMPLOYMENT_LEVELS.values())
        ),
        **dict.fromkeys(PURPOSE_COLUMNS.values(), _Rule("float64", allowed=(0.0, 1.0))),
        "approved": _LABEL,
    }
    _validate(applications, "applications_clean", schema)


def _validate(table: ir.Table, name: str, rules: dict[str, _Rule]) -> None:
    failures, breaches = [], dict[str, ir.BooleanValue]()
    for column, rule in rules.items():
        if column not in table.columns:
            failures.append(f"{column}: column missing")
        elif table[column].type() != ibis.dtype(rule.dtype):
            failures.append(f"{column}: dtype('{rule.dtype}')")
        else:
            found = rule.breaches(table[column])
            breaches |= {f"{column}: {what}": breaks for what, breaks in found.items()}
    failures += _broken(table, breaches)
    if failures:
        message = (
            f"{name} is not as it must be: {'; '.join(sorted(failures))}.\n"
            f"{_offending_rows(table, list(rules), list(breaches.values()))}\n"
            f"Check that the raw files are LendingClub's, unchanged."
        )
        raise InputError(message)


def _broken(table: ir.Table, breaches: dict[str, ir.BooleanValue]) -> list[str]:
    """Return what some row breaks, found in one scan of thirty million rows."""
    checks = {what: breaks.any().fill_null(False) for what, breaks in breaches.items()}
    if "approved" in table.columns:
        alone = table.approved.min() == table.approved.max()
        checks["approved: one class is missing"] = alone.fill_null(True)
    scan = table.aggregate(
        **{f"check_{n}": check for n, check in enumerate(checks.values())}
    )
    found = scan.execute().iloc[0]
    return [what for what, fails in zip(checks, found, strict=True) if fails]


def _offending_rows(
    table: ir.Table, columns: list[str], breaches: list[ir.BooleanValue]
) -> str:
    rows = table.filter(ibis.or_(*breaches)).limit(_ROWS_SHOWN).execute()
    if rows.empty:
        return "No single row is at fault."
    shown = rows[[column for column in columns if column in rows]]
    shown = shown.map(lambda cell: printable(cell) if isinstance(cell, str) else cell)
    return f"The first offending rows:\n{shown.to_string(index=False)}"
