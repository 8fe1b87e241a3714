"""Previews of tables for Kedro-Viz."""

import pandas as pd

from ridgeline.private_names.kedro import TablePreview

__all__ = ["table_preview"]


def table_preview(rows: pd.DataFrame) -> TablePreview:
    """Return a few rows as Kedro-Viz shows them: text in cells, blank for missing."""
    return TablePreview(rows.astype(object).fillna("").astype(str).to_dict("split"))
