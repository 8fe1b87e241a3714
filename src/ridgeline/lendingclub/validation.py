"""What the typed and the clean table must look like, as Pandera schemas.

The typed table is checked for signs of a misread file (a score of 15,000 is a shifted
column, not a score); the clean table for exactly what the cleaning promises.
"""

from dataclasses import dataclass
from datetime import date
from functools import reduce
from operator import or_
from typing import Any

import ibis
import ibis.expr.types as ir

from ridgeline.errors import InputError
from ridgeline.lendingclub.cleaning import CleaningRules
from ridgeline.lendingclub.schema import EMPLOYMENT_LEVELS, PURPOSE_COLUMNS

__all__ = ["validate_clean", "validate_typed"]

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
    import pandera.errors  # a second of import, not needed to list pipelines

    try:
        _pandera_schema(rules).validate(table, lazy=True)
    except pandera.errors.SchemaErrors as errors:
        message = (
            f"{name} is not as it must be: {_failures(errors)}.\n"
            f"{_offending_rows(table, rules)}\n"
            f"Check that the raw files are LendingClub's, unchanged, and compare "
            f"them with cleaning_audit."
        )
        raise InputError(message) from errors


def _pandera_schema(rules: dict[str, _Rule]) -> Any:
    import pandera.ibis as pa

    def column(rule: _Rule) -> Any:
        # A few failing cases are enough: Pandera would fetch every one of them.
        checks = []
        if rule.allowed is not None:
            checks.append(pa.Check.isin(rule.allowed, n_failure_cases=_ROWS_SHOWN))
        if rule.lowest is not None:
            checks.append(
                pa.Check.in_range(
                    rule.lowest, rule.highest, n_failure_cases=_ROWS_SHOWN
                )
            )
        return pa.Column(ibis.dtype(rule.dtype), checks, nullable=rule.nullable)

    both_classes = pa.Check(
        lambda data: data.table.approved.nunique() == 2,  # noqa: PLR2004
        name="both classes present",
    )
    return pa.DataFrameSchema(
        {name: column(rule) for name, rule in rules.items()}, checks=both_classes
    )


def _failures(errors: Any) -> str:
    return "; ".join(sorted({_failure(error) for error in errors.schema_errors}))


def _failure(error: Any) -> str:
    if error.reason_code.name == "COLUMN_NOT_IN_DATAFRAME":
        return f"{error.failure_cases}: column missing"
    check = getattr(error.check, "error", None) or error.check
    return f"{error.schema.name}: {check}" if error.schema.name else error.check.name


def _offending_rows(table: ir.Table, rules: dict[str, _Rule]) -> str:
    readable = [name for name in rules if name in table.columns]
    violated = [
        rules[name].violated(table[name])
        for name in readable
        if table[name].type().copy(nullable=True) == ibis.dtype(rules[name].dtype)
    ]
    if not violated:
        return "No single row is at fault."
    rows = table.filter(reduce(or_, violated)).limit(_ROWS_SHOWN).execute()
    if rows.empty:
        return "No single row is at fault."
    return f"The first offending rows:\n{rows[readable].to_string(index=False)}"
