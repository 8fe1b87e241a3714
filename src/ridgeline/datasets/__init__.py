"""Kedro datasets that nobody else provides."""

from ridgeline.datasets.optional_model import OptionalModelDataset
from ridgeline.datasets.parquet_table import ParquetFrameDataset, ParquetTableDataset
from ridgeline.datasets.partitions import PartitionsDataset
from ridgeline.datasets.published_csv import PublishedCsvDataset
from ridgeline.datasets.simulated_csv import SimulatedCsvDataset
from ridgeline.datasets.skops_model import SkopsModelDataset
from ridgeline.datasets.small_files import (
    AtomicCsvDataset,
    AtomicJsonDataset,
    AtomicTextDataset,
)
from ridgeline.datasets.truth_curves import TruthCurvesDataset
from ridgeline.datasets.xnn_model import XnnModelDataset

__all__ = [
    "AtomicCsvDataset",
    "AtomicJsonDataset",
    "AtomicTextDataset",
    "OptionalModelDataset",
    "ParquetFrameDataset",
    "ParquetTableDataset",
    "PartitionsDataset",
    "PublishedCsvDataset",
    "SimulatedCsvDataset",
    "SkopsModelDataset",
    "TruthCurvesDataset",
    "XnnModelDataset",
]
