"""Each table keeps its own folder: runs of two tables cannot mix."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import PurePosixPath
from typing import Any, Final

from kedro.config import OmegaConfigLoader

from ridgeline.tables.reading import table_name

__all__ = ["TableConfigLoader", "run_of_a_table"]

# Kedro makes the loader before it looks at the pipeline's name, and hands nothing on.
_OF_A_TABLE: Final = ContextVar("run_of_a_table", default=False)


@contextmanager
def run_of_a_table(is_one: bool) -> Iterator[None]:
    """Loaders made here are of a table, also where the command line names none."""
    token = _OF_A_TABLE.set(is_one)
    try:
        yield
    finally:
        _OF_A_TABLE.reset(token)


class TableConfigLoader(OmegaConfigLoader):
    """Reads the configuration of a run, whose table decides where its data lie.

    Of a run with `--params table=PATH`, or of the pipeline `tabular`, `data` of
    globals.yml is the folder `tables/<name>` below what it was, and the model is
    registered under the table's name. All other runs are LendingClub's, or the study's.
    """

    @property
    def of_a_table(self) -> bool:
        """Whether the run is one of a table."""
        return bool((self.runtime_params or {}).get("table")) or _OF_A_TABLE.get()

    def __getitem__(self, key: str) -> dict[str, Any]:
        """Get the configuration of a kind; globals with the folder of the table."""
        found: dict[str, Any] = super().__getitem__(key)
        if key != "globals" or key in self or "data" not in found:
            return found
        if not self.of_a_table:
            return found
        named = (self.runtime_params or {}).get("table")
        name = table_name(str(named or found.get("table")))
        folder = PurePosixPath(str(found["data"])) / "tables" / name
        return found | {"data": str(folder), "registered": f"ridgeline-{name}"}
