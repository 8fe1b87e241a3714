"""Step sizes by epoch: our short cosine schedule, and the paper's constant one."""

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from ridgeline.xnn.architecture import Projection
    from ridgeline.xnn.settings import Settings

__all__ = [
    "ADAPTIVE_STEP",
    "Parts",
    "Schedule",
    "ScheduleName",
    "adjustment_schedule",
    "refinement_schedule",
    "relaxed_schedules",
    "training_schedule",
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
# With training's large first steps it would leave the optimum that it starts at.
_REFINEMENT_RATE: Final = 0.01
# Of training's step of the projection: fewer rows had left it near its place. With all
# of that step models with little noise lost theirs.
_ADJUSTMENT_STEP: Final = 1 / 40
# After a relaxed part the projections are near their places; those that may overlap
# again have further to go from an orthogonal start.
_LATER_STEPS: Final = {"orthogonal": 1 / 4, "near": 1 / 2}


@dataclass(frozen=True)
class Schedule:
    """How far each epoch's steps go, and when to stop."""

    learning_rate: float  # eta, Adam's
    cayley_step: float  # tau; zero fixes the projection
    max_epochs: int
    patience: int  # epochs without a better validation loss
    cosine: bool  # whether steps fall to zero by the last epoch
    adaptive: bool = False  # whether tau is relative to the gradient's usual size
    relaxed: bool = False  # whether orthogonal projections may overlap

    def factor(self, epochs: NDArray[np.intp]) -> NDArray[np.float64]:
        """Share of the first step sizes that the epochs (from 0) have."""
        if not self.cosine:
            return np.ones(len(epochs))
        done = np.minimum(epochs / self.max_epochs, 1)
        return np.asarray(0.5 + 0.5 * np.cos(np.pi * done))


def training_schedule(settings: "Settings", batches: int) -> Schedule:
    """The schedule that the settings name, with what they set instead.

    Args:
        settings: The estimator's parameters.
        batches: The number of batches in an epoch.
    """
    chosen = _named(settings.schedule, batches)
    if settings.max_epochs is not None:
        patience = settings.max_epochs if chosen.cosine else chosen.patience
        chosen = replace(chosen, max_epochs=settings.max_epochs, patience=patience)
    if settings.patience is not None:
        chosen = replace(chosen, patience=settings.patience)
    if settings.learning_rate is not None:
        chosen = replace(chosen, learning_rate=settings.learning_rate)
    if settings.cayley_step == "adaptive":
        return replace(chosen, cayley_step=ADAPTIVE_STEP, adaptive=True)
    if settings.cayley_step is not None:
        return replace(chosen, cayley_step=settings.cayley_step, adaptive=False)
    return chosen


class Parts(NamedTuple):
    """A training in two parts."""

    relaxed: Schedule  # projections may overlap
    later: Schedule  # they are orthogonal, or start there


def relaxed_schedules(
    projection: "Projection", whole: Schedule, share: float
) -> Parts | None:
    """The parts of a training, with as many epochs as it has in one part.

    Args:
        projection: What constrains it.
        whole: The schedule of a training in one part.
        share: Of its epochs, that the first part has.

    Returns:
        Nothing where there is no room for two, or where the projection is fixed, or
        has no constraint to relax.
    """
    if projection not in _LATER_STEPS:
        return None
    steps = _LATER_STEPS[projection]
    epochs = min(math.ceil(share * whole.max_epochs), whole.max_epochs - 1)
    if epochs < 1 or whole.cayley_step == 0:
        return None
    rest = whole.max_epochs - epochs
    first = replace(
        whole, relaxed=True, max_epochs=epochs, patience=min(epochs, whole.patience)
    )
    second = replace(
        whole,
        learning_rate=steps * whole.learning_rate,
        cayley_step=steps * whole.cayley_step,
        max_epochs=rest,
        patience=min(rest, whole.patience),
    )
    return Parts(first, second)


def refinement_schedule(settings: "Settings", batches: int) -> Schedule:
    """Training's schedule with the projection fixed, for fewer epochs.

    Args:
        settings: The estimator's parameters.
        batches: The number of batches in an epoch.
    """
    training = training_schedule(settings, batches)
    share = math.ceil(_REFINEMENT_SHARE * training.max_epochs)
    epochs = settings.refine_epochs or share
    return replace(
        training,
        learning_rate=min(training.learning_rate, _REFINEMENT_RATE),
        cayley_step=0.0,
        adaptive=False,
        max_epochs=epochs,
        patience=min(epochs, training.patience),
    )


def adjustment_schedule(settings: "Settings", batches: int) -> Schedule:
    """A refinement's schedule that moves the projection too, by smaller steps.

    Args:
        settings: The estimator's parameters.
        batches: The number of batches in an epoch.
    """
    training = training_schedule(settings, batches)
    return replace(
        refinement_schedule(settings, batches),
        cayley_step=_ADJUSTMENT_STEP * training.cayley_step,
        adaptive=training.adaptive,
    )


def _named(name: ScheduleName, batches: int) -> Schedule:
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
        learning_rate=0.03,
        cayley_step=ADAPTIVE_STEP,
        max_epochs=epochs,
        # Steps are large until late: only the whole schedule shows what it reaches.
        patience=epochs,
        cosine=True,
        adaptive=True,
    )
