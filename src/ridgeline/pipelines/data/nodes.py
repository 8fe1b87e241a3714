"""Nodes of the data: ingestion, cleaning and splitting."""

import logging

import ibis
import ibis.expr.types as ir
import pandas as pd

from ridgeline.lendingclub import auditing, cleaning, splitting, validation

# Kedro reads the type of a parameter group from the node's signature.
from ridgeline.lendingclub.cleaning import CleaningRules
from ridgeline.lendingclub.identity import identify_split
from ridgeline.lendingclub.line_counting import LineCount
from ridgeline.lendingclub.modelling import model_sample
from ridgeline.lendingclub.parsing import parse_applications
from ridgeline.lendingclub.reading import PublishedTable
from ridgeline.lendingclub.splitting import SplitShares

__all__ = [
    "audit_cleaning",
    "clean_applications",
    "identify_data",
    "split_applications",
    "type_applications",
]

logger = logging.getLogger(__name__)

_EXAMPLE_ROWS = 5


def type_applications(
    accepted: PublishedTable, rejected: PublishedTable
) -> tuple[ir.Table, ir.Table, dict[str, dict[str, int]]]:
    """Bring the two published files into one typed table; drop nothing.

    Returns:
        The typed applications; the lines that are no rows (`class`, `text`); and by
        class the number of lines that these two have to account for. The second is
        filled while the first is saved, so it has to be saved after it.
    """
    tables = {"accepted": accepted, "rejected": rejected}
    malformed = ibis.union(
        *(
            table.malformed.mutate(**{"class": ibis.literal(name)})
            for name, table in tables.items()
        )
    )
    lines = {name: table.lines._asdict() for name, table in tables.items()}
    return parse_applications(accepted.rows, rejected.rows), malformed, lines


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


def split_applications(
    applications: ir.Table, rules: CleaningRules, shares: SplitShares, seed: int
) -> tuple[ir.Table, ir.Table, ir.Table, pd.DataFrame]:
    """Validate the clean table, split it by hash, and take a few rows as an example."""
    validation.validate_clean(applications, rules)
    sets = splitting.split_applications(applications, shares, seed)
    # By their hash they are rows at random, and always the same.
    some = applications.order_by("row_key").limit(_EXAMPLE_ROWS).to_pandas()
    example = model_sample(some).features
    return sets["train"], sets["validation"], sets["test"], example


def identify_data(**sets: pd.DataFrame) -> dict[str, str]:
    """Hash the sets as they were saved: models carry it, and stay with their data."""
    return identify_split(sets)
