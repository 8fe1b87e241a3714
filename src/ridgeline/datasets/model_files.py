"""Fitted models in files of their own formats, none of which holds code."""

import json
from pathlib import Path, PurePosixPath
from typing import Any

from kedro.io import AbstractDataset, AbstractVersionedDataset, DatasetError, Version

from ridgeline.baselines import storage as skops_storage
from ridgeline.private_names.kedro import JSONPreview, load_path, save_path
from ridgeline.xnn import storage as xnn_storage

__all__ = ["OptionalModelDataset", "SkopsModelDataset", "XnnModelDataset"]


class _ModelFile(AbstractVersionedDataset[Any, Any]):
    """A model in a local file, written whole or not at all."""

    _protocol = "file"  # as Kedro's own datasets say that a file is on this machine
    _storage: Any  # has `load_model` and `save_model`

    def __init__(
        self,
        *,
        filepath: str,
        version: Version | None = None,
        metadata: dict[str, Any] | None = None,
    ) -> None:
        self.metadata = metadata
        self._described = {"filepath": filepath, "version": version}
        super().__init__(PurePosixPath(filepath), version)

    def load(self) -> Any:
        """Read the model."""
        return self._storage.load_model(load_path(self))

    def save(self, data: Any) -> None:
        """Write the model; a former file stays until all is written."""
        target = save_path(self)
        target.parent.mkdir(parents=True, exist_ok=True)
        self._storage.save_model(data, target)

    def _exists(self) -> bool:
        return load_path(self).exists()

    def _describe(self) -> dict[str, Any]:
        return self._described


class XnnModelDataset(_ModelFile):
    """A `Scorer`, the fitted explainable network, kept as JSON.

    Example:
        ```yaml
        xnn.refined:
          type: ridgeline.datasets.XnnModelDataset
          filepath: data/06_models/xnn_refined.json
        ```
    """

    _storage = xnn_storage

    def preview(self) -> JSONPreview:
        """Return what Kedro-Viz shows: the components and their importance."""
        model = self.load()
        ratios = zip(model.component_names, model.importance_ratios, strict=True)
        shown = {name: round(float(ratio), 4) for name, ratio in ratios if ratio > 0}
        return JSONPreview(json.dumps({"importance_ratios": shown}))


class SkopsModelDataset(_ModelFile):
    """A scikit-learn model of the types that `ridgeline.baselines.storage` trusts.

    Example:
        ```yaml
        rf.model:
          type: ridgeline.datasets.SkopsModelDataset
          filepath: data/06_models/rf.skops
        ```
    """

    _storage = skops_storage


class OptionalModelDataset(AbstractDataset[list[Any], list[Any]]):
    """A list of no or one model: no file is no model.

    Saving an empty list removes the file of a former run, so that no model of other
    data is taken for one of these. `dataset` is the type of the dataset that reads and
    writes the one model.

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
        self._filepath = Path(filepath)
        self._model = AbstractDataset.from_config(
            dataset, {"type": dataset, "filepath": filepath}
        )
        self.metadata = metadata
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
