"""Kedro datasets that nobody else provides."""

from ridgeline.datasets.parquet_table import ParquetTableDataset
from ridgeline.datasets.published_csv import PublishedCsvDataset
from ridgeline.datasets.simulated_csv import SimulatedCsvDataset
from ridgeline.datasets.small_files import AtomicCsvDataset, AtomicJsonDataset

__all__ = [
    "AtomicCsvDataset",
    "AtomicJsonDataset",
    "ParquetTableDataset",
    "PublishedCsvDataset",
    "SimulatedCsvDataset",
]
