"""Kedro's small-file datasets, written atomically."""

from kedro_datasets.json import JSONDataset
from kedro_datasets.pandas import CSVDataset

from ridgeline.datasets.atomic import AtomicSave

__all__ = ["AtomicCsvDataset", "AtomicJsonDataset"]


class AtomicCsvDataset(AtomicSave, CSVDataset):  # type: ignore[misc]
    """`pandas.CSVDataset` that never leaves half a file."""


class AtomicJsonDataset(AtomicSave, JSONDataset):  # type: ignore[misc]
    """`json.JSONDataset` that never leaves half a file."""
