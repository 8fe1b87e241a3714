"""A model as MLflow serves it: rows in, scores, decisions and reasons out.

MLflow copies this script into every model that it keeps, beside the few modules that it
imports, and runs it to load the model: neither Kedro nor Ridgeline need be installed.
"""

from pathlib import Path
from typing import Any, Final, NoReturn

import numpy as np
import pandas as pd
from mlflow.exceptions import MlflowException
from mlflow.models import set_model
from mlflow.protos.databricks_pb2 import INVALID_PARAMETER_VALUE
from mlflow.pyfunc.model import PythonModel

from ridgeline.decisions.policy import Policy
from ridgeline.decisions.scoring import Decider
from ridgeline.errors import InputError
from ridgeline.xnn.contribution_frames import feature_contributions_frame
from ridgeline.xnn.scorer import Scorer, without_range_warnings
from ridgeline.xnn.storage import load_model

__all__ = ["MOST_ROWS", "PARAMETERS", "ServedModel"]

# A request is answered whole or not at all, from memory.
MOST_ROWS: Final = 10_000
# What a request may ask for, with what it gets if it does not.
PARAMETERS: Final[dict[str, Any]] = {
    "cutoff": 0.5,
    "reference": "approved",
    "contributions": False,
}


class ServedModel(PythonModel):
    """A fitted model from a `.json` (xNN) or a `.skops` file."""

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
        """Score rows, all of them or none.

        Args:
            context: MLflow's; not used.
            model_input: Rows of features under the names of the training rows; or raw
                rows, where the model carries their preparation.
            params: `cutoff`, the probability from which on a row is approved;
                `reference`, what reasons compare with (approved, cutoff or best);
                `contributions`, true adds what each feature adds to the log-odds.

        Returns:
            Columns `probability` of the second class and `decision`; of an xNN also
            `reason_1` to `reason_4` with their features, and the contributions.

        Raises:
            MlflowException: If a row cannot be scored; a server answers with 400.
        """
        if len(model_input) > MOST_ROWS:
            _refuse(
                f"The request has {len(model_input):,} rows; send at most "
                f"{MOST_ROWS:,} at a time."
            )
        asked = PARAMETERS | (params or {})
        try:
            if isinstance(self.model, Scorer):
                return self._decide(model_input, asked)
            return self._score(model_input, asked)
        except InputError as error:
            _refuse(str(error))

    def _decide(self, rows: pd.DataFrame, asked: dict[str, Any]) -> pd.DataFrame:
        """What a network answers."""
        scorer = self.model
        policy = Policy(
            cutoff=None if scorer.classes is None else float(asked["cutoff"]),
            reference=asked["reference"],
            # Without a memory of its training rows a model has nothing to compare.
            most_reasons=4 if scorer.profile is not None else 0,
        )
        scored = Decider(scorer, policy).score(rows)
        if len(scored.refused):
            number, column, reason = scored.refused.iloc[0][["row", "column", "reason"]]
            others = len(scored.refused) - 1
            more = f", and {others} more rows cannot" if others else ""
            _refuse(f"Row {number} cannot be scored: {column} {reason}{more}.")
        answer = scored.scores.drop(columns="row").set_axis(rows.index, axis=0)
        # A gap of pandas is no JSON; that an approved row has no reasons is null there.
        for name in answer.columns[answer.isna().any()]:
            cells = answer[name].astype(object)
            answer[name] = cells.where(cells.notna(), None)
        if not asked["contributions"]:
            return answer
        prepared = rows
        if scorer.preparation is not None:
            prepared = scorer.preparation.prepare(rows).rows
        with without_range_warnings():
            parts = feature_contributions_frame(scorer, prepared, policy.unseen)
        return answer.join(parts.add_prefix("contribution_"))

    def _score(self, rows: pd.DataFrame, asked: dict[str, Any]) -> pd.DataFrame:
        """What a baseline answers."""
        if not hasattr(self.model, "predict_proba"):
            values = np.asarray(self.model.predict(rows))
            return pd.DataFrame({"value": values}, index=rows.index)
        probability = self.model.predict_proba(rows)[:, 1]
        approved = probability >= asked["cutoff"]
        return pd.DataFrame(
            {
                "probability": probability,
                "decision": np.where(approved, "approved", "declined"),
            },
            index=rows.index,
        )


def _refuse(message: str) -> NoReturn:
    raise MlflowException(message, error_code=INVALID_PARAMETER_VALUE)


set_model(ServedModel())
