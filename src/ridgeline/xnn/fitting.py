"""A whole fit: rows from tables, SOS-BP, pruning and refinement, in plain values."""

import math
import warnings
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from ridgeline.errors import InputError, RidgelineError
from ridgeline.xnn.architecture import Architecture, Problem, Rows, Weights
from ridgeline.xnn.assembly import (
    Response,
    fitted_model,
    initial_weights,
    trained_weights,
)
from ridgeline.xnn.checkpoint import Checkpoint
from ridgeline.xnn.features import AVERAGE, Features, Unknown
from ridgeline.xnn.progress import Progress
from ridgeline.xnn.runtime import start_tensorflow
from ridgeline.xnn.schedules import (
    ADAPTIVE_STEP,
    Schedule,
    ScheduleName,
    named_schedule,
    refinement,
)
from ridgeline.xnn.scorer import Scorer

__all__ = ["Fitted", "Prepared", "Settings", "prepare_rows", "refine", "train"]

Floats = NDArray[np.float64]

_LARGEST_BATCH = 1000
_BATCH_SHARE = 0.2
_MOST_SUBNETWORKS = 10


class Prepared(NamedTuple):
    """Everything a fit needs to know about the data."""

    features: Features
    response: Response
    training: Rows
    validation: Rows


class Fitted(NamedTuple):
    """A fitted model and how it came about."""

    scorer: Scorer
    history: dict[str, NDArray[Any]]  # stage, epoch, objective, validation_loss
    validation_loss: float  # squared error of the response, or cross-entropy
    orthogonality_error: float  # largest |W'W - I| as trained, in single precision
    stop_reason: str  # why the last stage ended, in words


@dataclass(frozen=True)
class Settings:
    """How to fit; the fields are the estimators' parameters of the same names."""

    n_subnetworks: int | None
    hidden: tuple[int, ...]
    activation: str
    projection: Literal["orthogonal", "free", "identity"]
    normalise: bool
    l1_projection: float
    l1_scales: float
    roughness: float
    schedule: ScheduleName
    cayley_step: float | Literal["adaptive"] | None
    learning_rate: float | None
    max_epochs: int | None
    patience: int | None
    refine_epochs: int | None
    batch_size: int | None

    def architecture(self, data: Prepared) -> Architecture:
        """The network for these data."""
        p = data.training.numeric.shape[1]
        return Architecture(
            n_features=p,
            n_subnetworks=self._subnetworks(p),
            category_counts=tuple(map(len, data.features.categories.values())),
            hidden=self.hidden,
            activation=self.activation,
            projection=self.projection,
            normalised=self.normalise,
            # Without hidden layers the ridge functions are straight.
            smooth=self.roughness > 0 and bool(self.hidden),
            loss="squared" if data.response.classes is None else "logistic",
        )

    def rows_in_batch(self, rows: Rows) -> int:
        """Rows in a batch, the paper's min(1000, 0.2 n) unless it is set."""
        count = len(rows.target)
        size = self.batch_size or min(_LARGEST_BATCH, math.ceil(_BATCH_SHARE * count))
        return min(size, count)

    def training_schedule(self, rows: Rows) -> Schedule:
        """The named schedule, with what is set instead."""
        batches = math.ceil(len(rows.target) / self.rows_in_batch(rows))
        chosen = named_schedule(self.schedule, batches)
        if self.max_epochs is not None:
            patience = self.max_epochs if chosen.cosine else chosen.patience
            chosen = replace(chosen, max_epochs=self.max_epochs, patience=patience)
        if self.patience is not None:
            chosen = replace(chosen, patience=self.patience)
        if self.learning_rate is not None:
            chosen = replace(chosen, learning_rate=self.learning_rate)
        if self.cayley_step == "adaptive":
            return replace(chosen, cayley_step=ADAPTIVE_STEP, adaptive=True)
        if self.cayley_step is not None:
            return replace(chosen, cayley_step=self.cayley_step)
        return chosen

    def refinement_schedule(self, rows: Rows) -> Schedule:
        """Training's schedule with the projection fixed, and epochs of its own."""
        return refinement(self.training_schedule(rows), self.refine_epochs)

    def _subnetworks(self, p: int) -> int:
        if self.projection == "identity":
            if self.n_subnetworks not in {None, p}:
                message = (
                    f"n_subnetworks is {self.n_subnetworks}, but identity projections "
                    f"have one for each of the {p} numeric features that vary; leave "
                    "it at None."
                )
                raise InputError(message)
            return p
        if self.n_subnetworks is None:
            return min(p, _MOST_SUBNETWORKS)
        if self.n_subnetworks > p and self.projection == "orthogonal":
            message = (
                f"n_subnetworks is {self.n_subnetworks}, but orthogonal projections "
                f"cannot be more than the {p} numeric features that vary; set it to "
                f"{p} or less."
            )
            raise InputError(message)
        return self.n_subnetworks


def prepare_rows(
    features: Features,
    response: Response,
    X: Any,
    target: Floats,
    weight: Floats,
    *,
    unknown: Unknown,
    trained: NDArray[np.bool_] | None = None,
) -> Rows:
    """Rows as the network takes them, in single precision.

    Args:
        features: Names, scaling and categories of the columns.
        response: Scaling of the response.
        X: Data frame or array.
        target: Responses, or zero and one for the classes.
        weight: Of each row.
        unknown: What to do with categories that training has not seen.
        trained: Which categories, side by side, have an effect; the others count as
            the average. By default all of them have.
    """
    encoded = features.encode(X, unknown, dtype=np.float32)
    counts = np.array([len(known) for known in features.categories.values()], dtype=int)
    starts = (np.cumsum(counts) - counts).astype(np.int32)
    # One place behind all categories stands for the average.
    average = int(counts.sum())
    places = np.where(encoded.codes == AVERAGE, average, encoded.codes + starts)
    if trained is not None:
        places = np.where(np.append(trained, False)[places], places, average)
    return Rows(
        np.ascontiguousarray(encoded.numeric[:, features.varying]),
        places.astype(np.int32),
        response.scale(target).astype(np.float32),
        # Shares count alone; about 1 they neither vanish nor overflow.
        (weight / weight.mean()).astype(np.float32),
    )


def train(
    settings: Settings,
    data: Prepared,
    rng: np.random.Generator,
    *,
    progress: Progress,
    checkpoint: Checkpoint | None = None,
) -> Fitted:
    """Algorithm 1: all components, both l1 penalties, the projection free to move."""
    shape = settings.architecture(data)
    problem = Problem(
        settings.l1_projection,
        settings.l1_scales,
        settings.roughness,
        np.ones(shape.n_subnetworks),
        np.ones(len(shape.category_counts)),
        _category_shares(shape, data.training),
    )
    start = initial_weights(shape, data.training, rng)
    schedule = settings.training_schedule(data.training)
    stage = _Stage("training", start, problem, schedule)
    return _run(stage, settings, data, rng, progress=progress, checkpoint=checkpoint)


def refine(
    settings: Settings,
    data: Prepared,
    fitted: Fitted,
    rng: np.random.Generator,
    *,
    progress: Progress,
    checkpoint: Checkpoint | None = None,
) -> Fitted:
    """Trains the components in use once more: projection fixed, no l1 penalties."""
    scorer = fitted.scorer
    problem = Problem(
        0.0,
        0.0,
        settings.roughness,
        (scorer.scales > 0).astype(np.float64),
        (scorer.category_scales > 0).astype(np.float64),
        _category_shares(settings.architecture(data), data.training),
    )
    start = trained_weights(scorer, data.response)
    schedule = settings.refinement_schedule(data.training)
    stage = _Stage("refinement", start, problem, schedule)
    refined = _run(stage, settings, data, rng, progress=progress, checkpoint=checkpoint)
    history = {
        name: np.concatenate([fitted.history[name], refined.history[name]])
        for name in refined.history
    }
    return refined._replace(history=history)


class _Stage(NamedTuple):
    """What distinguishes training from refinement."""

    name: str
    start: Weights
    problem: Problem
    schedule: Schedule


def _run(
    stage: _Stage,
    settings: Settings,
    data: Prepared,
    rng: np.random.Generator,
    *,
    progress: Progress,
    checkpoint: Checkpoint | None,
) -> Fitted:
    """One stage of training, and the model that it leaves."""
    start_tensorflow()
    from ridgeline.xnn import training

    shape = settings.architecture(data)
    with progress.stage(stage.name, stage.schedule.max_epochs) as report:
        outcome = training.train(
            shape,
            stage.start,
            (data.training, data.validation),
            stage.problem,
            stage.schedule,
            rng=rng,
            batch_size=settings.rows_in_batch(data.training),
            report=report,
            checkpoint=checkpoint,
        )
    if outcome.diverged:
        _say_diverged(stage, outcome.best_epoch, len(outcome.validation))
    weights = outcome.weights._replace(
        scales=outcome.weights.scales * stage.problem.used,
        category_scales=outcome.weights.category_scales * stage.problem.used_categories,
    )
    scorer = fitted_model(weights, shape, data.training, data.features, data.response)
    loss = outcome.validation * data.response.half**2
    history = {
        "stage": np.full(len(loss), stage.name),
        "epoch": np.arange(1, len(loss) + 1),
        "objective": outcome.objective,
        "validation_loss": loss,
    }
    drift = outcome.orthogonality_error
    why = _why_stopped(outcome.diverged, len(loss), stage.schedule)
    return Fitted(scorer, history, float(np.nanmin(loss)), drift, why)


def _why_stopped(diverged: bool, epochs: int, schedule: Schedule) -> str:
    if diverged:
        return "the loss was not finite"
    if epochs == schedule.max_epochs:
        return "the schedule ended"
    return f"no better validation loss in {schedule.patience} epochs"


def _category_shares(shape: Architecture, rows: Rows) -> Floats:
    """Weighted share of each category among the training rows, side by side."""
    total = np.zeros(sum(shape.category_counts))
    for feature in range(rows.codes.shape[1]):
        total += np.bincount(rows.codes[:, feature], rows.weight, len(total))
    return np.asarray(total / rows.weight.sum(dtype=np.float64))


def _say_diverged(stage: _Stage, best: int, epoch: int) -> None:
    schedule = stage.schedule
    advice = f"lower learning_rate ({schedule.learning_rate:g})"
    if schedule.cayley_step:
        advice += f" or cayley_step ({schedule.cayley_step:g})"
    if best == 0:
        message = (
            f"The loss of the {stage.name} was not finite in its first epoch, so that "
            f"there is no model; {advice}, or look for extreme values in the data."
        )
        raise RidgelineError(message)
    message = (
        f"The {stage.name} diverged in epoch {epoch}: the loss is not finite. The "
        f"weights of epoch {best} are kept; to go further, {advice}."
    )
    warnings.warn(message, ConvergenceWarning, stacklevel=2)
