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
    audit = auditing.audit_cleaning(applications, malformed, rules)
    logger.info("Cleaning audit\n%s", auditing.audit_text(audit))
    return audit, auditing.audit_metrics(audit)


def clean_applications(applications: ir.Table, rules: CleaningRules) -> ir.Table:
    """Validate the typed table and keep the rows that pass every filter, as numbers."""
    validation.validate_typed(applications)
    return cleaning.clean_applications(applications, rules)
