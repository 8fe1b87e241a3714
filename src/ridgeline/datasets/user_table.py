"""A table of the user's own, or the embedded example."""

import logging
from pathlib import Path
from typing import Any, NoReturn

from filelock import FileLock
from kedro.io import DatasetError

from ridgeline.datasets.engine import EngineDataset, table_preview
from ridgeline.files import replacing
from ridgeline.hashing import hash_of_files
from ridgeline.private_names.kedro import TablePreview, load_path
from ridgeline.tables.reading import EXAMPLE, ReadTable, read_table

__all__ = ["UserTableDataset"]

logger = logging.getLogger(__name__)

# Part of the file's name: raise it when other rows are drawn for a seed.
_EXAMPLE_VERSION = 1


class UserTableDataset(EngineDataset):
    """A CSV or Parquet file, lazily read by DuckDB; never written.

    The path `example` stands for a simulated table, which is made in `folder` when it
    is first needed.

    Example:
        ```yaml
        table_raw:
          type: ridgeline.datasets.UserTableDataset
          filepath: loans.csv
          folder: data/01_raw
          rows: 10000
          seed: 0
          connection: {backend: duckdb, memory_limit: 1GB}
        ```
    """

    def __init__(
        self,
        *,
        filepath: str,
        folder: str,
        rows: int,
        seed: int,
        connection: dict[str, Any] | None = None,
        metadata: dict[str, Any] | None = None,
    ) -> None:
        # Kedro has made the path absolute; the name alone tells the example.
        self._is_example = (
            Path(filepath).name == EXAMPLE and not Path(filepath).exists()
        )
        if self._is_example:
            name = f"{EXAMPLE}_{rows}_seed_{seed}_v{_EXAMPLE_VERSION}.parquet"
            filepath = str(Path(folder) / name)
        self._rows, self._seed = rows, seed
        super().__init__(filepath, "parquet", connection=connection, metadata=metadata)

    def load(self) -> ReadTable:
        """Open the table; of a CSV all lines are read once, to know its types.

        Raises:
            InputError: If the file is missing or cannot be read.
        """
        read = read_table(self.connection, self._file())
        if not self._is_example:
            return read
        from ridgeline.tables.example import EXAMPLE_SETTINGS

        return read._replace(name=EXAMPLE, simulated=True, settings=EXAMPLE_SETTINGS)

    def save(self, data: NoReturn) -> NoReturn:
        """Refuse: raw data are not for writing."""
        message = "The table is raw data: it is read and never written."
        raise DatasetError(message)

    def fingerprint(self) -> str:
        """Return the SHA-256 of the file's bytes."""
        return hash_of_files([self._file()])

    def preview(self, nrows: int = 5) -> TablePreview:
        """Return the first rows for Kedro-Viz, without writing the example for it."""
        if self._is_example:
            from ridgeline.tables.example import simulate_example

            return table_preview(
                simulate_example(max(nrows, 1), self._seed).head(nrows)
            )
        read = read_table(self.connection, self._file())
        return table_preview(read.rows.head(nrows).execute())

    def _file(self) -> str:
        path = Path(load_path(self))
        if self._is_example and not path.exists():
            from ridgeline.tables.example import simulate_example

            path.parent.mkdir(parents=True, exist_ok=True)
            # Of two runs that start at once, the second waits for the first one's file.
            with FileLock(path.with_name(f".{path.name}.lock")):
                if not path.exists():
                    logger.info(
                        "Simulating %s loans into %s (once)...",
                        f"{self._rows:,}",
                        path.name,
                    )
                    with replacing(path) as part:
                        simulate_example(self._rows, self._seed).to_parquet(part)
        return str(path)

    def _exists(self) -> bool:
        return self._is_example or Path(load_path(self)).exists()

    def _describe(self) -> dict[str, Any]:
        return {"filepath": str(load_path(self))}
