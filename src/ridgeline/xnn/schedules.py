"""Step sizes by epoch: our short cosine schedule, and the paper's constant one."""

import math
from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "ADAPTIVE_STEP",
    "Schedule",
    "ScheduleName",
    "named_schedule",
    "refinement",
]

ScheduleName = Literal["cosine", "paper"]

# The adaptive step: how far a gradient of the usual size moves the projection, as a
# Frobenius norm. Between 0.1 and 0.3 it measured the same.
ADAPTIVE_STEP: Final = 0.2
# The cosine schedule's steps grow with the root of an epoch's: 247 epochs for the 8
# batches of 8,000 rows, 14 for the 2,400 of 2.4 million.
_ROOT_EPOCHS: Final = 700
_FEWEST_EPOCHS: Final = 10
_MOST_EPOCHS: Final = 300
# Refinement starts near its end; longer ones only fitted the noise.
_REFINEMENT_SHARE: Final = 1 / 5


@dataclass(frozen=True)
class Schedule:
    """How far each epoch's steps go, and when to stop."""

    learning_rate: float  # eta, Adam's
    cayley_step: float  # tau; zero fixes the projection
    max_epochs: int
    patience: int  # epochs without a better validation loss
    cosine: bool  # whether steps fall to zero by the last epoch
    adaptive: bool = False  # whether tau is relative to the gradient's usual size

    def factor(self, epochs: NDArray[np.intp]) -> NDArray[np.float64]:
        """Share of the first step sizes that the epochs (from 0) have."""
        if not self.cosine:
            return np.ones(len(epochs))
        done = np.minimum(epochs / self.max_epochs, 1)
        return np.asarray(0.5 + 0.5 * np.cos(np.pi * done))


def named_schedule(name: ScheduleName, batches: int) -> Schedule:
    """A schedule by name.

    Args:
        name: `"cosine"`, large steps that fall to zero, or `"paper"`, the paper's
            small constant ones with thousands of epochs.
        batches: Batches in an epoch.
    """
    if name == "paper":
        return Schedule(
            learning_rate=0.001,
            cayley_step=0.1,
            max_epochs=10_000,
            patience=500,
            cosine=False,
        )
    epochs = round(_ROOT_EPOCHS / math.sqrt(batches))
    epochs = min(_MOST_EPOCHS, max(_FEWEST_EPOCHS, epochs))
    return Schedule(
        learning_rate=0.01,
        cayley_step=10.0,
        max_epochs=epochs,
        # Steps are large until late: only the whole schedule shows what it reaches.
        patience=epochs,
        cosine=True,
    )


def refinement(schedule: Schedule, epochs: int | None = None) -> Schedule:
    """A schedule's steps with the projection fixed, for fewer epochs."""
    epochs = epochs or math.ceil(_REFINEMENT_SHARE * schedule.max_epochs)
    return replace(
        schedule,
        cayley_step=0.0,
        adaptive=False,
        max_epochs=epochs,
        patience=min(epochs, schedule.patience),
    )
