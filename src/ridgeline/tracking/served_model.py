"""A model as MLflow serves it: rows of features in, predictions and reasons out.

MLflow copies this script into every model that it keeps, beside the few modules that it
imports, and runs it to load the model: neither Kedro nor Ridgeline need be installed.
"""

from pathlib import Path
from typing import Any

import pandas as pd
from mlflow.models import set_model
from mlflow.pyfunc.model import PythonModel

from ridgeline.xnn.explanation import contributions_frame
from ridgeline.xnn.storage import load_model

__all__ = ["ServedModel"]


class ServedModel(PythonModel):
    """A fitted classifier or regression from a `.json` (xNN) or a `.skops` file."""

    def load_context(self, context: Any) -> None:
        """Read the model's file."""
        self.read(Path(context.artifacts["model"]))

    def read(self, file: Path) -> None:
        """Read a file, by its ending."""
        if file.suffix == ".json":
            self.model: Any = load_model(file)
            return
        # An xNN is served where scikit-learn is not installed.
        from ridgeline.baselines.storage import load_model as load_baseline

        self.model = load_baseline(file)

    def predict(
        self,
        context: Any,
        model_input: pd.DataFrame,
        params: dict[str, Any] | None = None,
    ) -> pd.DataFrame:
        """Score rows.

        Args:
            context: MLflow's; not used.
            model_input: Rows of features, under the names of the training rows.
            params: `contributions: true` adds the reasons, which an xNN has: the
                intercept, what each component adds to it, and the decision (log-odds,
                or the predicted number).

        Returns:
            Column `probability`, of the second class, or `prediction` of a number, and
            the reasons.
        """
        scores = pd.DataFrame(self._scores(model_input), index=model_input.index)
        if not (params or {}).get("contributions"):
            return scores
        return scores.join(contributions_frame(self.model, model_input))

    def _scores(self, rows: pd.DataFrame) -> dict[str, Any]:
        # A network has the method for both tasks, and classes for one.
        regression = getattr(self.model, "classes", ()) is None
        if regression or not hasattr(self.model, "predict_proba"):
            return {"prediction": self.model.predict(rows)}
        return {"probability": self.model.predict_proba(rows)[:, 1]}


set_model(ServedModel())
