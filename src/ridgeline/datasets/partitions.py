"""A folder of files of one kind, by name."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from kedro.io import AbstractDataset, DatasetError

from ridgeline.errors import InputError

__all__ = ["PartitionsDataset"]


class PartitionsDataset(AbstractDataset[dict[str, Any], dict[str, Callable[[], Any]]]):
    """Kedro's `partitions.PartitionedDataset` that loses nothing on the way.

    Each file is replaced by its new one; those of a former save that were not saved
    again are removed when all is written, and not before. Names here are without
    `filename_suffix`.

    Example:
        ```yaml
        study_networks:
          type: ridgeline.datasets.PartitionsDataset
          path: data/07_model_output/study_networks
          dataset: ridgeline.datasets.XnnModelDataset
          filename_suffix: .json
        ```
    """

    def __init__(
        self,
        *,
        path: str,
        dataset: str,
        filename_suffix: str,
        metadata: dict[str, Any] | None = None,
    ) -> None:
        self._folder = Path(path)
        self._dataset_type = dataset
        self._suffix = filename_suffix
        self.metadata = metadata

    def load(self) -> dict[str, Callable[[], Any]]:
        """Return a function for each name that reads the file."""
        files = self._files()
        if not files:
            message = f"No partitions found in '{self._folder}'"
            raise DatasetError(message)
        return {
            file.name.removesuffix(self._suffix): self._one(file).load for file in files
        }

    def save(self, data: dict[str, Any]) -> None:
        """Save the files, then remove those of other names.

        Raises:
            InputError: If a name is not a plain one, such as one that leads elsewhere.
        """
        for name in data:
            if name != Path(name).name or name.startswith("."):
                message = (
                    f"The name {name!r} leads out of the folder "
                    f"{str(self._folder)!r}, or is hidden in it; take one without "
                    "slashes and leading dots."
                )
                raise InputError(message)
        former = self._files()
        saved = {self._folder / f"{name}{self._suffix}": data[name] for name in data}
        for file, content in saved.items():
            self._one(file).save(content)
        for file in former:
            if file not in saved:
                file.unlink(missing_ok=True)

    def _files(self) -> list[Path]:
        return sorted(self._folder.glob(f"*{self._suffix}"))

    def _one(self, file: Path) -> AbstractDataset[Any, Any]:
        config = {"type": self._dataset_type, "filepath": str(file)}
        return AbstractDataset.from_config(file.name, config)

    def _exists(self) -> bool:
        return bool(self._files())

    def _describe(self) -> dict[str, Any]:
        return {"path": str(self._folder), "dataset": self._dataset_type}
