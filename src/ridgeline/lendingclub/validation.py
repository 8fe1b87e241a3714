"""What the typed and the clean table must look like, as Pandera schemas.

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
from ridgeline.lendingclub.schema import EMPLOYMENT_LEVELS, PURPOSE_COLUMNS

__all__ = ["validate_clean", "validate_kept", "validate_lines", "validate_typed"]

_CLASSES = {"accepted": 1, "rejected": 0}
_ROWS_SHOWN = 5


@dataclass(frozen=True)
class _Rule:
    """What one column may hold: a type, a range or a few values, and null or not."""

    dtype: str
    lowest: Any = None
    highest: Any = None
    allowed: tuple[Any, ...] | None = None
    nullable: bool = False

    def violated(self, column: ir.Column) -> ir.BooleanValue:
        wrong = ibis.literal(False) if self.nullable else column.isnull()
        if self.allowed is not None:
            wrong = wrong | column.notin(self.allowed)
        if self.lowest is not None:
            wrong = wrong | (column < self.lowest) | (column > self.highest)
        return wrong.fill_null(False)


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
        applications: The typed table.
        malformed: `class` and `text` of the lines that are no rows.
        lines: The lines of both files, as counted apart from the engine.

    Raises:
        InputError: If lines are missing or too many, or no line of a file is a row.
    """
    rows, aside = (
        dict(column.value_counts(name="n").execute().itertuples(index=False))
        for column in (applications.approved, malformed["class"])
    )
    for name, label in _CLASSES.items():
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

    Args:
        audit: What `audit_cleaning` returned.

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
    # A second of import that listing the pipelines should not take.
    import pandera.errors

    failures = [] if _has_both_classes(table) else ["approved: one class is missing"]
    suspects = _suspects(table, rules)
    try:
        # Pandera checks row by row and numbers the rows for it, which at thirty
        # million takes longer than reading them; so one scan finds the rows that
        # break any rule, and Pandera says which rule it was.
        _pandera_schema(rules).validate(_sample(table, suspects), lazy=True)
    except pandera.errors.SchemaErrors as errors:
        failures += sorted({_failure(error) for error in errors.schema_errors})
    if failures:
        shown = suspects[[column for column in rules if column in suspects]]
        shown = shown.map(
            lambda cell: printable(cell) if isinstance(cell, str) else cell
        )
        rows = f"The first offending rows:\n{shown.to_string(index=False)}"
        message = (
            f"{name} is not as it must be: {'; '.join(failures)}.\n"
            f"{'No single row is at fault.' if suspects.empty else rows}\n"
            f"Check that the raw files are LendingClub's, unchanged."
        )
        raise InputError(message)


def _has_both_classes(table: ir.Table) -> bool:
    if "approved" not in table.columns:
        return True  # Pandera names the missing column
    return bool(table.approved.nunique().execute() == len(_LABEL.allowed or ()))


def _suspects(table: ir.Table, rules: dict[str, _Rule]) -> pd.DataFrame:
    """Return the first rows that break a rule on a column of the right type."""
    violated = [
        rule.violated(table[name])
        for name, rule in rules.items()
        if name in table.columns and table[name].type() == ibis.dtype(rule.dtype)
    ]
    rows: pd.DataFrame = table.filter(ibis.or_(*violated)).limit(_ROWS_SHOWN).execute()
    return rows


def _sample(table: ir.Table, suspects: pd.DataFrame) -> ir.Table:
    """Return what Pandera looks at; never no row at all, which fails every check."""
    rows = table.limit(1).execute() if suspects.empty else suspects
    return ibis.memtable(rows, schema=table.schema())


def _pandera_schema(rules: dict[str, _Rule]) -> Any:
    import pandera.ibis as pa

    def column(rule: _Rule) -> Any:
        checks = []
        if rule.allowed is not None:
            checks.append(pa.Check.isin(rule.allowed))
        if rule.lowest is not None:
            checks.append(pa.Check.in_range(rule.lowest, rule.highest))
        return pa.Column(ibis.dtype(rule.dtype), checks, nullable=rule.nullable)

    return pa.DataFrameSchema({name: column(rule) for name, rule in rules.items()})


def _failure(error: Any) -> str:
    if error.reason_code.name == "COLUMN_NOT_IN_DATAFRAME":
        return f"{error.failure_cases}: column missing"
    return f"{error.schema.name}: {getattr(error.check, 'error', None) or error.check}"
