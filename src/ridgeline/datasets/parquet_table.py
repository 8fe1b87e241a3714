"""A table in Parquet, lazily read and atomically written by an Ibis backend."""

from pathlib import Path
from typing import Any

import ibis.expr.types as ir
from kedro_datasets._typing import TablePreview
from kedro_datasets.ibis import FileDataset

from ridgeline.datasets.atomic import AtomicSave
from ridgeline.datasets.preview import table_preview

__all__ = ["ParquetTableDataset"]


class ParquetTableDataset(AtomicSave, FileDataset):  # type: ignore[misc]
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

    def content_hash(self) -> str:
        """Return a hash of the saved rows, whatever their order.

        Several threads write the file, so two runs give the same rows but not always
        the same bytes.
        """
        import duckdb

        path = Path(self._get_load_path())
        pattern = f"{path}/*.parquet" if path.is_dir() else str(path)
        query = "SELECT count(*), sum(hash(t)::HUGEINT) FROM read_parquet($path) t"
        with duckdb.connect() as connection:
            rows = connection.execute(query, {"path": pattern})
            count, total = rows.fetchone() or (0, 0)
        return f"{count:x}-{total or 0:x}"

    def preview(self, nrows: int = 5) -> TablePreview:
        """Return the first rows for Kedro-Viz."""
        table: ir.Table = self.load()
        return table_preview(table.head(nrows).execute())
