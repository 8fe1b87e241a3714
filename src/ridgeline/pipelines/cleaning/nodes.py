"""Nodes of the cleaning pipeline."""

import logging

import ibis.expr.types as ir
import pandas as pd

from ridgeline.lendingclub import auditing, cleaning, validation

# Kedro reads the type of a parameter group from the node's signature.
from ridgeline.lendingclub.cleaning import CleaningRules

__all__ = ["audit_cleaning", "clean_applications"]

logger = logging.getLogger(__name__)


def audit_cleaning(
    applications: ir.Table, malformed: ir.Table, rules: CleaningRules
) -> tuple[pd.DataFrame, dict[str, float]]:
    """Count what each filter removes, as a table and as metrics; log the table."""
    validation.validate_typed(applications)
    audit = auditing.audit_cleaning(applications, malformed, rules)
    logger.info("Cleaning audit\n%s", auditing.audit_text(audit))
    return audit, auditing.audit_metrics(audit)


def clean_applications(
    applications: ir.Table, audit: pd.DataFrame, rules: CleaningRules
) -> ir.Table:
    """Keep the rows that pass every filter, as numbers.

    The audit is an input because it comes first: it validates the typed table, and
    shows what was lost even if nothing is left to clean.
    """
    auditing.require_both_classes(audit)
    return cleaning.clean_applications(applications, rules)
