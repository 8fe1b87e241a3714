"""The one-standard-error rule: which of several fits is chosen by validation.

A few hundred validation rows cannot tell good models apart: the smallest loss is often
luck. So the choice is the rule of Breiman et al. (1984): among the fits whose loss is
within one standard error of the smallest, the simplest. The error is that of the
difference, row by row, so that it shrinks with the rows and with how alike two models
are.

The tables are those of `ridgeline.xnn.search`, a row for each fit.
"""

import logging
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

__all__ = [
    "best_of_all_rows",
    "errors_of_differences",
    "say_if_at_the_end",
    "simplest",
    "smoothest",
    "strictest",
]

logger = logging.getLogger(__name__)

_WORTH_SAYING: Final = 0.01  # of the loss, by which the end of a range is better


def errors_of_differences(
    losses: NDArray[np.float32], weights: NDArray[np.float64], best: int
) -> NDArray[np.float64]:
    """Standard error of each point's mean loss less the best one's, row by row."""
    share = weights / weights.sum()
    errors = np.zeros(len(losses))
    for point, loss in enumerate(losses):
        gap = loss - losses[best]
        errors[point] = np.sqrt(share**2 @ (gap - share @ gap) ** 2)
    return errors


def _near(standard_errors: float, table: pd.DataFrame) -> NDArray[np.bool_]:
    """Points within so many standard errors of the smallest validation loss."""
    loss = table["validation_loss"].to_numpy()
    reach = standard_errors * table["standard_error"].to_numpy()
    return np.asarray(loss - loss.min() <= reach)


def best_of_all_rows(standard_errors: float, table: pd.DataFrame) -> int:
    """The smallest loss over all rows among the near points."""
    loss = table["all_rows_loss"].to_numpy()
    return int(np.where(_near(standard_errors, table), loss, np.inf).argmin())


def smoothest(standard_errors: float, table: pd.DataFrame) -> int:
    """The largest lambda3 among the near points."""
    roughness = table["roughness"].to_numpy()
    return int(np.where(_near(standard_errors, table), roughness, -np.inf).argmax())


def strictest(standard_errors: float, table: pd.DataFrame) -> int:
    """The largest price of overlap among the near points."""
    coherence = table["coherence"].to_numpy()
    return int(np.where(_near(standard_errors, table), coherence, -np.inf).argmax())


def say_if_at_the_end(table: pd.DataFrame) -> None:
    """Tells that a better lambda3 may lie beyond those that were tried."""
    tried = table.sort_values("roughness", ignore_index=True)
    best = int(tried["validation_loss"].to_numpy().argmin())
    if len(tried) == 1 or best not in {0, len(tried) - 1}:
        return
    beside = tried.iloc[1 if best == 0 else len(tried) - 2]
    gain = beside["validation_loss"] - tried["validation_loss"][best]
    if gain > max(beside["standard_error"], _WORTH_SAYING * beside["validation_loss"]):
        logger.warning(
            "The best lambda3 is the %s that was tried, %.3g: try %s ones too.",
            *("smallest", tried["roughness"][best], "smaller")
            if best == 0
            else ("largest", tried["roughness"][best], "larger"),
        )


def simplest(
    standard_errors: float, table: pd.DataFrame, by: str = "components"
) -> int:
    """The fewest components among the near points, and of these the smallest loss.

    Args:
        standard_errors: How many standard errors of the difference are near.
        table: A row for each point.
        by: The column that says how simple a point is; small is simple.
    """
    loss = table["validation_loss"].to_numpy()
    size = table[by].to_numpy()
    near = _near(standard_errors, table)
    simple = near & (size == size[near].min())
    return int(np.where(simple, loss, np.inf).argmin())
