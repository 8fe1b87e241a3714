"""LendingClub's published files without a download: simulated once, then read."""

import logging
from pathlib import Path
from typing import Any

from filelock import FileLock

from ridgeline.datasets.engine import table_preview
from ridgeline.datasets.published_csv import PublishedCsvDataset
from ridgeline.lendingclub.schema import RawFile
from ridgeline.private_names.kedro import TablePreview, load_path

__all__ = ["SimulatedCsvDataset"]

logger = logging.getLogger(__name__)

# Part of the file's name: raise it when the simulator draws other rows for a seed, so
# that no file of the former simulator is taken for one of the new.
_SIMULATOR_VERSION = 2


class SimulatedCsvDataset(PublishedCsvDataset):
    """A simulated file in the published format, written when it is first needed.

    The folder `path` keeps it; the same seed gives the same file.

    Example:
        ```yaml
        rejected_raw:
          type: ridgeline.datasets.SimulatedCsvDataset
          path: data/01_raw
          kind: rejected
          rows: 277000
          seed: 0
        ```
    """

    def __init__(
        self,
        *,
        path: str,
        kind: RawFile,
        rows: int,
        seed: int,
        connection: dict[str, Any] | None = None,
        metadata: dict[str, Any] | None = None,
    ) -> None:
        name = f"simulated_{kind}_{rows}_seed_{seed}_v{_SIMULATOR_VERSION}.csv"
        super().__init__(
            filepath=str(Path(path) / name),
            kind=kind,
            connection=connection,
            metadata=metadata,
        )
        self._rows = rows
        self._seed = seed

    def preview(self, nrows: int = 5) -> TablePreview:
        """Return the first rows for Kedro-Viz, without writing the file for it."""
        from ridgeline.lendingclub.simulator import simulate

        batches = simulate(self._kind, max(nrows, 1), self._seed)
        return table_preview(next(batches).to_pandas().head(nrows))

    def _files(self) -> list[str]:
        path = load_path(self)
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            # Of two runs that start at once, the second waits for the first one's file.
            with FileLock(path.with_name(f".{path.name}.lock")):
                if not path.exists():
                    self._simulate(path)
        return super()._files()

    def _simulate(self, path: Path) -> None:
        from ridgeline.lendingclub.simulator import write_published

        logger.info(
            "Simulating %s rows of LendingClub's %s file into %s (once)...",
            f"{self._rows:,}",
            self._kind,
            path.name,
        )
        write_published(self._kind, path, self._rows, self._seed)

    def _exists(self) -> bool:
        return True  # it can always be made

    def _describe(self) -> dict[str, Any]:
        return {**super()._describe(), "rows": self._rows, "seed": self._seed}
