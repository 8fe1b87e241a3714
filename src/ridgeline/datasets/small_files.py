"""Kedro's small-file datasets, written atomically."""

from kedro_datasets.json import JSONDataset
from kedro_datasets.pandas import CSVDataset
from kedro_datasets.text import TextDataset

from ridgeline.datasets.atomic import AtomicSave

__all__ = ["AtomicCsvDataset", "AtomicJsonDataset", "AtomicTextDataset"]


class AtomicCsvDataset(AtomicSave, CSVDataset):  # type: ignore[misc]
    """`pandas.CSVDataset` that never leaves half a file."""


class AtomicJsonDataset(AtomicSave, JSONDataset):  # type: ignore[misc]
    """`json.JSONDataset` that never leaves half a file."""


class AtomicTextDataset(AtomicSave, TextDataset):  # type: ignore[misc]
    """`text.TextDataset` that never leaves half a file."""
