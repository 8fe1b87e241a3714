"""A folder of files of one kind, by name."""

from pathlib import Path
from typing import Any

from kedro_datasets.partitions import PartitionedDataset

from ridgeline.errors import InputError

__all__ = ["PartitionsDataset"]


class PartitionsDataset(PartitionedDataset):  # type: ignore[misc]
    """`partitions.PartitionedDataset` on this machine that loses nothing on the way.

    Each file is replaced by its new one; those of a former save that were not saved
    again are removed when all is written, and not before.

    Example:
        ```yaml
        study_networks:
          type: ridgeline.datasets.PartitionsDataset
          path: data/07_model_output/study_networks
          dataset: ridgeline.datasets.XnnModelDataset
          filename_suffix: .json
        ```
    """

    def save(self, data: dict[str, Any]) -> None:
        """Save the files, then remove those of other names.

        Raises:
            InputError: If a name is not a plain one, such as one that leads elsewhere.
        """
        for name in data:
            if name != Path(name).name or name.startswith("."):
                message = (
                    f"The name {name!r} leads out of the folder {self._path!r}, or is "
                    "hidden in it; take one without slashes and leading dots."
                )
                raise InputError(message)
        former = set(self._list_partitions())
        super().save(data)
        for path in former - {self._partition_to_path(name) for name in data}:
            Path(path).unlink(missing_ok=True)

    def _list_partitions(self) -> list[str]:
        # Kedro's own list is empty if another process removes a temporary meanwhile.
        files = Path(self._path).glob(f"*{self._filename_suffix}")
        return sorted(str(path) for path in files)
