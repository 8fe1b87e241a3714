"""Kedro datasets that nobody else provides."""

from ridgeline.datasets.model_files import (
    OptionalModelDataset,
    SkopsModelDataset,
    XnnModelDataset,
)
from ridgeline.datasets.parquet_table import ParquetFrameDataset, ParquetTableDataset
from ridgeline.datasets.partitions import PartitionsDataset
from ridgeline.datasets.published_csv import PublishedCsvDataset
from ridgeline.datasets.simulated_csv import SimulatedCsvDataset
from ridgeline.datasets.small_files import (
    AtomicCsvDataset,
    AtomicJsonDataset,
    AtomicTextDataset,
)
from ridgeline.datasets.truth_curves import TruthCurvesDataset
from ridgeline.datasets.user_table import UserTableDataset

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
    "UserTableDataset",
    "XnnModelDataset",
]
