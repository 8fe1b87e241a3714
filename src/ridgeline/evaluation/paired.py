"""Two models on the same rows: is the difference of their losses more than chance?"""

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["CLEARLY", "Gain", "paired_gain", "row_losses"]

Floats = NDArray[np.float64]
# Standard errors by which a gain is more than chance: 2.5 % of equal models pass.
CLEARLY: Final = 1.96


class Gain(NamedTuple):
    """By how much the losses of one model are below those of another."""

    mean: float
    standard_error: float  # of the mean, row by row

    @property
    def clear(self) -> bool:
        """Whether it is more than chance."""
        return self.mean > CLEARLY * self.standard_error

    def __str__(self) -> str:
        return f"{self.mean:.3g} with a standard error of {self.standard_error:.2g}"


def row_losses(model: Any, features: Any, target: NDArray[Any]) -> Floats:
    """The loss of each row: cross-entropy of a classifier, squared error of numbers.

    Args:
        model: A fitted network, a `Scorer`.
        features: Rows as it takes them.
        target: Zero and one for the classes, or numbers.
    """
    decision = model.decision_function(features)
    if model.classes is None:
        return np.asarray((decision - target) ** 2, dtype=np.float64)
    return np.asarray(np.logaddexp(0, decision) - target * decision, dtype=np.float64)


def paired_gain(before: Floats, after: Floats, weight: Floats | None = None) -> Gain:
    """The gain from the losses before to those after, of the same rows.

    Args:
        before: Of each row, the loss of one model.
        after: And of the other.
        weight: How much each row counts.
    """
    share = np.ones(len(before)) if weight is None else np.asarray(weight, np.float64)
    share = share / share.sum()
    gain = before - after
    mean = float(share @ gain)
    return Gain(mean, float(np.sqrt(share**2 @ (gain - mean) ** 2)))
