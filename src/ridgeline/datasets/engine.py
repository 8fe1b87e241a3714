"""Tables of an Ibis backend, several processes of which can work side by side."""

import atexit
import shutil
from pathlib import Path
from typing import Any

import pandas as pd
from kedro_datasets.ibis import FileDataset

from ridgeline.files import temporary_folder
from ridgeline.private_names.kedro import (
    TablePreview,
    connection_config,
    connection_config_replaced,
)

__all__ = ["EngineDataset", "table_preview"]

_SPILL = "temp_directory"


class EngineDataset(FileDataset):  # type: ignore[misc]
    """`ibis.FileDataset` whose engine spills into a folder of its own.

    DuckDB gives the files that it spills to the same names in every process: two that
    share a `temp_directory` read each other's, and crash.
    """

    def _connect(self) -> Any:
        configured = connection_config(self)
        if _SPILL not in configured:
            return super()._connect()
        shared = Path(configured[_SPILL])
        shared.mkdir(parents=True, exist_ok=True)
        own = temporary_folder(shared)
        atexit.register(shutil.rmtree, own, ignore_errors=True)
        # The shared folder stays the key by which tables find their connection.
        with connection_config_replaced(self, configured | {_SPILL: str(own)}):
            return super()._connect()


def table_preview(rows: pd.DataFrame) -> TablePreview:
    """Return a few rows as Kedro-Viz shows them: text in cells, blank for missing."""
    return TablePreview(rows.astype(object).fillna("").astype(str).to_dict("split"))
