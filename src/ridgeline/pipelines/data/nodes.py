"""Nodes of the data: ingestion, cleaning and splitting."""

import logging
from typing import Any

import ibis
import ibis.expr.types as ir
import pandas as pd

from ridgeline.lendingclub import (
    auditing,
    cleaning,
    modelling,
    notes,
    splitting,
    validation,
)

# Kedro reads the type of a parameter group from the node's signature.
from ridgeline.lendingclub.cleaning import CleaningRules
from ridgeline.lendingclub.line_counting import LineCount
from ridgeline.lendingclub.parsing import parse_applications
from ridgeline.lendingclub.preparation import raw_preparation
from ridgeline.lendingclub.reading import PublishedTable
from ridgeline.lendingclub.splitting import SplitShares
from ridgeline.preparation.content import preparation_content
from ridgeline.tables.identity import identify_split

__all__ = [
    "audit_cleaning",
    "clean_applications",
    "describe_applications",
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
    sets = {
        name: modelling.in_model_form(rows)
        for name, rows in splitting.split_applications(
            applications, shares, seed
        ).items()
    }
    # By their hash they are rows at random, and always the same.
    some = applications.order_by("row_key").limit(_EXAMPLE_ROWS)
    example = modelling.model_sample(modelling.in_model_form(some).to_pandas()).features
    return sets["train"], sets["validation"], sets["test"], example


def describe_applications(
    audit: pd.DataFrame, truth: dict[str, pd.DataFrame], rules: CleaningRules
) -> tuple[dict[str, Any], dict[str, dict[Any, list[Any]]]]:
    """Say what the columns are and what belongs beside every result; keep the truth."""
    known = notes.application_notes(audit, one_grid=rules.one_grid)
    table = modelling.describe_applications(simulated=bool(truth), notes=known)
    recipes = preparation_content(raw_preparation(rules))
    table = table.model_copy(update=recipes)
    curves = {name: curve.to_dict("list") for name, curve in truth.items()}
    return table.to_json(), curves


def identify_data(**sets: pd.DataFrame) -> dict[str, str]:
    """Hash the sets as they were saved: models carry it, and stay with their data."""
    return identify_split(sets)
