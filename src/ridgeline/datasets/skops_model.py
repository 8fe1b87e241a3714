"""A fitted scikit-learn model in a file of skops, which holds no code."""

from pathlib import PurePosixPath
from typing import Any

from kedro.io import AbstractVersionedDataset, Version

from ridgeline.baselines.storage import load_model, save_model
from ridgeline.private_names.kedro import load_path, save_path

__all__ = ["SkopsModelDataset"]


class SkopsModelDataset(AbstractVersionedDataset[Any, Any]):
    """A scikit-learn model of the types that `ridgeline.baselines.storage` trusts.

    Example:
        ```yaml
        rf.model:
          type: ridgeline.datasets.SkopsModelDataset
          filepath: data/06_models/rf.skops
        ```
    """

    _protocol = "file"  # as Kedro's own datasets say that a file is on this machine

    def __init__(
        self,
        *,
        filepath: str,
        version: Version | None = None,
        metadata: dict[str, Any] | None = None,
    ) -> None:
        """Name the file.

        Args:
            filepath: A local path, by convention ending in `.skops`.
            version: Which save to read and write, where the dataset is versioned.
            metadata: Ignored by Kedro; read by Kedro-Viz.
        """
        self.metadata = metadata
        self._described = {"filepath": filepath, "version": version}
        super().__init__(PurePosixPath(filepath), version)

    def load(self) -> Any:
        """Read the model."""
        return load_model(load_path(self))

    def save(self, data: Any) -> None:
        """Write the model; a former file stays until all is written."""
        target = save_path(self)
        target.parent.mkdir(parents=True, exist_ok=True)
        save_model(data, target)

    def _exists(self) -> bool:
        return load_path(self).exists()

    def _describe(self) -> dict[str, Any]:
        return self._described
