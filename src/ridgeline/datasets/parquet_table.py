"""Tables in Parquet, atomically written by an Ibis backend; read lazily, or whole."""

from collections.abc import Callable
from typing import Any

import pandas as pd

from ridgeline.datasets.atomic import AtomicSave
from ridgeline.datasets.engine import EngineDataset, table_preview
from ridgeline.errors import InputError
from ridgeline.private_names.kedro import TablePreview, load_path

__all__ = ["ParquetFrameDataset", "ParquetTableDataset"]


class ParquetTableDataset(AtomicSave, EngineDataset):
    """An Ibis table kept as Parquet.

    Example:
        ```yaml
        applications_clean:
          type: ridgeline.datasets.ParquetTableDataset
          filepath: data/03_primary/applications_clean.parquet
          connection: {backend: duckdb, memory_limit: 1GB}
        ```
    """

    def __init__(self, **arguments: Any) -> None:
        """Take the arguments of `ibis.FileDataset` but for the file's format."""
        super().__init__(file_format="parquet", **arguments)

    def load(self) -> Any:
        """Open the table; its rows are read where they are needed.

        Raises:
            InputError: If the file is damaged.
        """
        return self._whole(super().load)

    def content_hash(self) -> str:
        """Return a hash of the saved rows, whatever their order.

        Several threads write the file, so two runs give the same rows but not always
        the same bytes.
        """
        import duckdb

        path = load_path(self)
        pattern = f"{path}/*.parquet" if path.is_dir() else str(path)
        query = "SELECT count(*), sum(hash(t)::HUGEINT) FROM read_parquet($path) t"
        with duckdb.connect() as connection:
            rows = connection.execute(query, {"path": pattern})
            count, total = rows.fetchone() or (0, 0)
        return f"{count:x}-{total or 0:x}"

    def preview(self, nrows: int = 5) -> TablePreview:
        """Return the first rows for Kedro-Viz."""
        table = ParquetTableDataset.load(self)  # lazily, also for a frame
        return table_preview(table.head(nrows).execute())

    def _whole(self, read: Callable[[], Any]) -> Any:
        """Read, or say which file cannot be read: libraries fail in many ways there."""
        path = load_path(self)
        try:
            return read()
        except Exception as error:
            if not path.exists():
                raise
            message = (
                f"The table {str(path)!r} cannot be read, or was damaged "
                f"({type(error).__name__}); delete it and run the pipeline that makes "
                "it again."
            )
            raise InputError(message) from error


class ParquetFrameDataset(ParquetTableDataset):
    """An Ibis table kept as Parquet and read back as a pandas frame.

    The frame has the rows in the order of the file, which several threads of an engine
    would not keep; a fit with the same seed needs the same order.
    """

    def load(self) -> pd.DataFrame:
        """Read the whole file, or the files of a folder in the order of their names.

        Raises:
            InputError: If the file is damaged. Rows that a fault has only changed are
                found by `ridgeline.tables.identity`.
        """
        path = load_path(self)
        frame: pd.DataFrame = self._whole(lambda: pd.read_parquet(path))
        return frame
