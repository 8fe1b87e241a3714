"""No or one fitted model in a file, for a method that may not apply to the data."""

from copy import deepcopy
from pathlib import Path
from typing import Any

from kedro.io import AbstractDataset, DatasetError

__all__ = ["OptionalModelDataset"]


class OptionalModelDataset(AbstractDataset[list[Any], list[Any]]):
    """A list of no or one model: no file is no model.

    Saving an empty list removes the file of a former run, so that no model of other
    data is taken for one of these.

    Example:
        ```yaml
        svm.model:
          type: ridgeline.datasets.OptionalModelDataset
          dataset: ridgeline.datasets.SkopsModelDataset
          filepath: data/06_models/svm.skops
        ```
    """

    def __init__(
        self, *, dataset: str, filepath: str, metadata: dict[str, Any] | None = None
    ) -> None:
        """Name the file and its format.

        Args:
            dataset: The type of the dataset that reads and writes one model.
            filepath: A local path, which that dataset takes.
            metadata: Ignored by Kedro; read by Kedro-Viz and the tracking hook.
        """
        self._filepath = Path(filepath)
        self._model = AbstractDataset.from_config(
            dataset, {"type": dataset, "filepath": filepath}
        )
        self.metadata = deepcopy(metadata)
        if hasattr(self._model, "preview"):
            self.preview = self._model.preview  # Kedro-Viz reads its signature

    def load(self) -> list[Any]:
        """Return the model in a list, which is empty if there is no file."""
        return [self._model.load()] if self._exists() else []

    def save(self, data: list[Any]) -> None:
        """Write the model, or remove the file if there is none.

        Raises:
            DatasetError: If it is not a list of at most one model.
        """
        if not isinstance(data, list) or len(data) > 1:
            got = len(data) if isinstance(data, list) else type(data).__name__
            message = f"a list of no or one model is needed, got {got}."
            raise DatasetError(message)
        for model in data:
            self._model.save(model)
        if not data:
            self._filepath.unlink(missing_ok=True)

    def _exists(self) -> bool:
        return self._filepath.exists()

    def _describe(self) -> dict[str, Any]:
        return {
            "filepath": str(self._filepath),
            "dataset": type(self._model).__name__,
        }
