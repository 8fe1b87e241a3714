"""The table that models read: five numbers and the purpose, and the decision.

The clean table has the purpose one-hot, as the paper describes it. Models take it as
one categorical column: the network has one effect for each category, and baselines
encode it themselves, so that all models take the same columns.
"""

from typing import Final, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ridgeline.lendingclub.schema import NUMERIC, PURPOSE_COLUMNS, PURPOSES

__all__ = ["NUMERIC", "PURPOSE", "Sample", "model_sample"]

PURPOSE: Final = "purpose"


class Sample(NamedTuple):
    """Applications and their decisions."""

    features: pd.DataFrame  # `NUMERIC` and `PURPOSE`
    approved: NDArray[np.int8]

    def head(self, rows: int) -> "Sample":
        """The first rows. Rows are in the order of a hash: a random sample."""
        return Sample(self.features.head(rows), self.approved[:rows])


def model_sample(applications: pd.DataFrame) -> Sample:
    """Takes a set of the split as models do."""
    purposes = applications[list(PURPOSE_COLUMNS.values())].to_numpy()
    codes = purposes.argmax(axis=1).astype(np.int8)
    features = applications[list(NUMERIC)].assign(
        **{PURPOSE: pd.Categorical.from_codes(codes, categories=pd.Index(PURPOSES))}
    )
    return Sample(features, applications["approved"].to_numpy(dtype=np.int8))
