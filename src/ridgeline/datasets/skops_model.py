"""A fitted scikit-learn model in a file of skops, which holds no code."""

from pathlib import Path, PurePosixPath
from typing import Any

from kedro.io import AbstractVersionedDataset, Version

from ridgeline.baselines.storage import load_model, save_model

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
        super().__init__(PurePosixPath(filepath), version)

    def load(self) -> Any:
        """Read the model."""
        return load_model(Path(self._get_load_path()))

    def save(self, data: Any) -> None:
        """Write the model; a former file stays until all is written."""
        target = Path(self._get_save_path())
        target.parent.mkdir(parents=True, exist_ok=True)
        save_model(data, target)

    def _exists(self) -> bool:
        return Path(self._get_load_path()).exists()

    def _describe(self) -> dict[str, Any]:
        return {"filepath": str(self._filepath), "version": self._version}
