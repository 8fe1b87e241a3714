"""A fitted explainable network in its JSON file."""

from copy import deepcopy
from pathlib import Path
from typing import Any

from kedro.io import AbstractDataset

from ridgeline.private_names.kedro import JSONPreview
from ridgeline.xnn.scorer import Scorer
from ridgeline.xnn.storage import load_model, save_model

__all__ = ["XnnModelDataset"]


class XnnModelDataset(AbstractDataset[Scorer, Scorer]):
    """A `Scorer` kept as JSON: no pickle, written whole or not at all.

    Example:
        ```yaml
        xnn.refined:
          type: ridgeline.datasets.XnnModelDataset
          filepath: data/06_models/xnn_refined.json
        ```
    """

    def __init__(
        self, *, filepath: str, metadata: dict[str, Any] | None = None
    ) -> None:
        """Name the file.

        Args:
            filepath: A local path.
            metadata: Ignored by Kedro; read by Kedro-Viz and the tracking hook.
        """
        self._filepath = Path(filepath)
        self.metadata = deepcopy(metadata)

    def load(self) -> Scorer:
        """Read the model."""
        return load_model(self._filepath)

    def save(self, data: Scorer) -> None:
        """Write the model, replacing the former file."""
        self._filepath.parent.mkdir(parents=True, exist_ok=True)
        save_model(data, self._filepath)

    def preview(self) -> JSONPreview:
        """Return what Kedro-Viz shows: the components and their importance."""
        import json

        model = self.load()
        ratios = zip(model.component_names, model.importance_ratios, strict=True)
        shown = {name: round(float(ratio), 4) for name, ratio in ratios if ratio > 0}
        return JSONPreview(json.dumps({"importance_ratios": shown}))

    def _exists(self) -> bool:
        return self._filepath.exists()

    def _describe(self) -> dict[str, Any]:
        return {"filepath": str(self._filepath)}
