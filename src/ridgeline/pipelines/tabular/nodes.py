"""Nodes of any table, from the file to the three sets."""

import logging
from typing import Any

import ibis.expr.types as ir
import pandas as pd

from ridgeline.tables.columns import columns_text
from ridgeline.tables.description import TableDescription
from ridgeline.tables.inference import columns_frame, describe_table
from ridgeline.tables.preparing import (
    audit_rows,
    check_split,
    set_aside,
)
from ridgeline.tables.preparing import split_table as split_prepared
from ridgeline.tables.reading import ReadTable
from ridgeline.tables.sample import sample_of
from ridgeline.tables.settings import TabularSettings
from ridgeline.tables.splitting import check_sets

__all__ = ["describe_columns", "read_columns", "split_table"]

logger = logging.getLogger(__name__)

_EXAMPLE_ROWS = 5


def read_columns(table: ReadTable) -> tuple[ir.Table, ir.Table, dict[str, Any]]:
    """Read the table once, with types; keep lines that are no rows aside.

    Returns:
        The rows; the lines that are none, filled while the first is saved, so that it
        has to be saved after it; and what the table is called and brings along.
    """
    about = {
        "name": table.name,
        "simulated": table.simulated,
        "settings": dict(table.settings),
    }
    return table.rows, table.malformed, about


def describe_columns(
    rows: ir.Table,
    malformed: ir.Table,
    about: dict[str, Any],
    settings: TabularSettings,
) -> tuple[dict[str, Any], dict[str, Any], pd.DataFrame, ir.Table, pd.DataFrame]:
    """Infer task and columns, show them, check what was set; count unusable rows."""
    asked = settings.on_top_of(about["settings"])
    found = describe_table(rows, about["name"], asked, simulated=about["simulated"])
    check_split(found.columns, asked)
    table = found.table
    what = "regression"
    if table.classes is not None:
        what = f"classification, positive {table.classes[1]!r}"
    logger.info(
        "Table %s: %s rows, target %s (%s)\n%s",
        table.name,
        f"{found.rows:,}",
        table.target,
        what,
        columns_text(found.columns),
    )
    aside = set_aside(rows, table, asked)
    audit = audit_rows(aside, malformed, found.rows, table)
    for step in audit[audit["removed"] > 0].itertuples():
        logger.warning(
            "%s of %s %s kept aside: not so that %s",
            f"{step.removed:,}",
            f"{step.rows_in:,}",
            table.rows,
            step.rule,
        )
    truth: dict[str, Any] = {}  # of real rows nobody knows it
    return table.to_json(), truth, columns_frame(found.columns), aside.aside, audit


def split_table(
    rows: ir.Table,
    about: dict[str, Any],
    table: dict[str, Any],
    settings: TabularSettings,
    seed: int,
) -> tuple[ir.Table, ir.Table, ir.Table, pd.DataFrame]:
    """Split the rows that can be used, and take a few as an example."""
    known = TableDescription.of(table)
    asked = settings.on_top_of(about["settings"])
    kept = set_aside(rows, known, asked).kept
    sets = split_prepared(kept, known, asked, seed)
    counts = check_sets(sets, known)
    logger.info(
        "Split by %s: %s",
        asked.split.by if asked.split.column is None else asked.split.column,
        "; ".join(
            f"{name} {', '.join(f'{count:,} {what}' for what, count in own.items())}"
            for name, own in counts.items()
        ),
    )
    # Rows come in the order of a hash: a few at random, and always the same.
    example = sample_of(sets["train"].limit(_EXAMPLE_ROWS).to_pandas(), known).features
    return sets["train"], sets["validation"], sets["test"], example
