"""The true log-odds of the simulated files, as curves of each feature."""

from typing import Any, NoReturn

import pandas as pd
from kedro.io import AbstractDataset, DatasetError

__all__ = ["TruthCurvesDataset"]


class TruthCurvesDataset(AbstractDataset[NoReturn, dict[str, pd.DataFrame]]):
    """What the simulator draws from; nothing where the files are real.

    It depends on the numbers of simulated rows; without them the truth is not known.

    Example:
        ```yaml
        truth_curves:
          type: ridgeline.datasets.TruthCurvesDataset
          accepted_rows: 22700
          rejected_rows: 277300
        ```
    """

    def __init__(
        self,
        *,
        accepted_rows: int | None = None,
        rejected_rows: int | None = None,
        metadata: dict[str, Any] | None = None,
    ) -> None:
        self._rows = accepted_rows, rejected_rows
        self.metadata = metadata

    def load(self) -> dict[str, pd.DataFrame]:
        """Return `value` and `log_odds` by feature; empty for real files."""
        accepted, rejected = self._rows
        if accepted is None or rejected is None:
            return {}
        from ridgeline.lendingclub.simulator import truth

        return {
            name: truth.component_curve(name, accepted, rejected)
            for name in truth.COMPONENTS
        }

    def save(self, data: NoReturn) -> NoReturn:
        """Refuse: the truth is what the simulator draws from."""
        message = "The truth is computed and never written."
        raise DatasetError(message)

    def _exists(self) -> bool:
        return True

    def _describe(self) -> dict[str, Any]:
        accepted, rejected = self._rows
        return {"accepted_rows": accepted, "rejected_rows": rejected}
