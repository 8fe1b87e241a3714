"""A regression whose target is brought to mean 0 and standard deviation 1.

Grids and steps of most methods are for targets of that size; the network scales by
itself. Predictions are in the target's own unit.
"""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, RegressorMixin

__all__ = ["ScaledTarget"]


class ScaledTarget(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """A fitted regressor with the centre and the scale of its target."""

    def __init__(
        self, model: Any = None, centre: float = 0.0, scale_factor: float = 1.0
    ) -> None:
        self.model = model
        self.centre = centre
        self.scale_factor = scale_factor

    @classmethod
    def learn(cls, target: ArrayLike) -> Self:
        """Learns centre and scale of the training rows."""
        values = np.asarray(target, dtype=np.float64)
        return cls(None, float(values.mean()), float(values.std()) or 1.0)

    def scale(self, target: ArrayLike) -> NDArray[np.float64]:
        """Brings targets to mean 0 and standard deviation 1."""
        return np.asarray(
            (np.asarray(target, dtype=np.float64) - self.centre) / self.scale_factor
        )

    def around(self, model: Any) -> Self:
        """The same scale around a regressor that was fitted on scaled targets."""
        return type(self)(model, self.centre, self.scale_factor)

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Predictions in the target's own unit, shape (n,)."""
        return np.asarray(self.centre + self.scale_factor * self.model.predict(X))

    @property
    def n_features_in_(self) -> int:
        """Number of columns of the fit."""
        return int(self.model.n_features_in_)

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """Their names, where they had any."""
        return np.asarray(self.model.feature_names_in_)

    def __sklearn_is_fitted__(self) -> bool:
        return self.model is not None
