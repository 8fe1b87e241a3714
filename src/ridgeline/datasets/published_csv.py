"""One of LendingClub's two published CSV files, as a user has it."""

from typing import Any, NoReturn

from kedro.io import DatasetError

from ridgeline.datasets.engine import EngineDataset, table_preview
from ridgeline.hashing import hash_of_files
from ridgeline.lendingclub.reading import (
    PublishedTable,
    find_files,
    open_rows,
    read_published,
)
from ridgeline.lendingclub.schema import RawFile
from ridgeline.private_names.kedro import TablePreview, load_path

__all__ = ["PublishedCsvDataset"]


class PublishedCsvDataset(EngineDataset):
    """A published file, lazily read as text by an Ibis backend; never written.

    `filepath` is a path or a pattern of `.csv` or `.csv.gz` files. Tables that meet in
    one node need the same `connection`.

    Example:
        ```yaml
        rejected_raw:
          type: ridgeline.datasets.PublishedCsvDataset
          filepath: data/01_raw/rejected*.csv*
          kind: rejected
          connection: {backend: duckdb, memory_limit: 1GB}
        ```
    """

    def __init__(
        self,
        *,
        filepath: str,
        kind: RawFile,
        connection: dict[str, Any] | None = None,
        metadata: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(filepath, "csv", connection=connection, metadata=metadata)
        self._kind = kind

    def load(self) -> PublishedTable:
        """Read the file to its end, to prove that it is whole, and open it."""
        return read_published(self.connection, self._files(), self._kind)

    def save(self, data: NoReturn) -> NoReturn:
        """Refuse: raw data are not for writing."""
        message = f"The {self._kind} file is raw data: it is read and never written."
        raise DatasetError(message)

    def fingerprint(self) -> str:
        """Return the SHA-256 of the files' bytes."""
        return hash_of_files(self._files())

    def preview(self, nrows: int = 5) -> TablePreview:
        """Return the first rows for Kedro-Viz."""
        rows = open_rows(self.connection, self._files(), self._kind)
        return table_preview(rows.head(nrows).execute())

    def _files(self) -> list[str]:
        return find_files(str(load_path(self)), self._kind)

    def _exists(self) -> bool:
        return bool(self._files())

    def _describe(self) -> dict[str, Any]:
        return {"filepath": str(load_path(self)), "kind": self._kind}
