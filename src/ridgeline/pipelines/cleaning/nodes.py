"""Nodes of the cleaning pipeline."""

import logging

import ibis.expr.types as ir
import pandas as pd

from ridgeline.lendingclub import auditing, cleaning, validation

# Kedro reads the type of a parameter group from the node's signature.
from ridgeline.lendingclub.cleaning import CleaningRules
from ridgeline.lendingclub.line_counting import LineCount

__all__ = ["audit_cleaning", "clean_applications"]

logger = logging.getLogger(__name__)


def audit_cleaning(
    applications: ir.Table,
    malformed: ir.Table,
    lines: dict[str, dict[str, int]],
    rules: CleaningRules,
) -> tuple[pd.DataFrame, dict[str, float]]:
    """Validate the typed table; count what each filter removes and log it."""
    counts = {name: LineCount(**count) for name, count in lines.items()}
    validation.validate_lines(applications, malformed, counts)
    validation.validate_typed(applications)
    audit = auditing.audit_cleaning(applications, malformed, counts, rules)
    logger.info("Cleaning audit\n%s", auditing.audit_text(audit))
    return audit, auditing.audit_metrics(audit)


def clean_applications(
    applications: ir.Table, audit: pd.DataFrame, rules: CleaningRules
) -> ir.Table:
    """Keep the rows that pass every filter, as numbers, if both classes have some."""
    validation.validate_kept(audit)
    return cleaning.clean_applications(applications, rules)
