"""Missing cells, for methods that cannot take them: filled, and flagged.

scikit-learn's own imputer holds types of NumPy, which the files of models do not.
"""

from typing import Any, Final, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin

__all__ = ["CategoryGaps", "NumberGaps"]

_MISSING: Final = "missing"


class NumberGaps(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Fills with the median, and adds a column of 0 and 1 where training had gaps."""

    medians_: NDArray[np.float64]
    flagged_: NDArray[np.bool_]
    n_features_in_: int

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learns the medians; a column without any number has 0."""
        values = _numbers(X)
        gaps = np.isnan(values)
        empty = gaps.all(axis=0)
        known = np.where(empty, 0.0, values)
        self.medians_ = np.nanmedian(known, axis=0)
        self.flagged_ = np.asarray(gaps.any(axis=0))
        self.n_features_in_ = values.shape[1]
        return self

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Numbers without gaps, and the flags after them."""
        values = _numbers(X)
        gaps = np.isnan(values)
        flags = gaps[:, self.flagged_].astype(np.float64)
        return np.hstack([np.where(gaps, self.medians_, values), flags])


class CategoryGaps(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Makes a missing category one of its own."""

    n_features_in_: int

    def fit(self, X: Any, y: Any = None) -> Self:
        """Counts the columns."""
        self.n_features_in_ = pd.DataFrame(X).shape[1]
        return self

    def transform(self, X: Any) -> NDArray[Any]:
        """Texts, without gaps."""
        cells = pd.DataFrame(X).astype(object)
        return np.asarray(cells.where(cells.notna(), _MISSING).to_numpy(dtype=object))


def _numbers(X: Any) -> NDArray[np.float64]:
    return np.asarray(pd.DataFrame(X).to_numpy(dtype=np.float64))
