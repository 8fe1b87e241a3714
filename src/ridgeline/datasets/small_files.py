"""Kedro's small-file datasets: written atomically, and in UTF-8 in every locale."""

from typing import Any, ClassVar

import pandas as pd
from kedro_datasets.json import JSONDataset
from kedro_datasets.pandas import CSVDataset
from kedro_datasets.text import TextDataset

from ridgeline.datasets.atomic import AtomicSave
from ridgeline.spreadsheet import spreadsheet_plain, spreadsheet_safe

__all__ = ["AtomicCsvDataset", "AtomicJsonDataset", "AtomicTextDataset"]

_UTF8: dict[str, Any] = {
    "open_args_load": {"mode": "r", "encoding": "utf-8"},
    "open_args_save": {"mode": "w", "encoding": "utf-8"},
}


class AtomicCsvDataset(AtomicSave, CSVDataset):  # type: ignore[misc]
    """`pandas.CSVDataset` that never leaves half a file, nor a formula in a cell."""

    DEFAULT_FS_ARGS: ClassVar[dict[str, Any]] = _UTF8

    def load(self) -> pd.DataFrame:
        """Read the table as it was before it was made safe for spreadsheets."""
        return spreadsheet_plain(super().load())

    def save(self, data: pd.DataFrame) -> None:
        """Save the table; text that a spreadsheet would run gets an apostrophe."""
        super().save(spreadsheet_safe(data))


class AtomicJsonDataset(AtomicSave, JSONDataset):  # type: ignore[misc]
    """`json.JSONDataset` that never leaves half a file."""

    DEFAULT_FS_ARGS: ClassVar[dict[str, Any]] = _UTF8


class AtomicTextDataset(AtomicSave, TextDataset):  # type: ignore[misc]
    """`text.TextDataset` that never leaves half a file."""

    DEFAULT_FS_ARGS: ClassVar[dict[str, Any]] = _UTF8
