"""A fit as a straight line: prepared rows -> train -> prune -> refine -> model.

The estimators' `fit`, `ridgeline.prune`, `ridgeline.refine` and, through these, the
searches and the pipeline all call the functions here. Each takes plain values and
returns a new `FitResult`; TensorFlow is imported when something is trained.
"""

import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from ridgeline.errors import RidgelineError, warn_user
from ridgeline.xnn.architecture import (
    Architecture,
    Problem,
    Rows,
    Weights,
    constrained,
)
from ridgeline.xnn.assembly import fitted_model, pair_part, trained_weights
from ridgeline.xnn.checkpoint import Checkpoint
from ridgeline.xnn.pair_fitting import Penalty
from ridgeline.xnn.progress import stage_progress
from ridgeline.xnn.pruning import prune_scorer
from ridgeline.xnn.response import Response
from ridgeline.xnn.runtime import start_tensorflow
from ridgeline.xnn.schedules import (
    Schedule,
    adjustment_schedule,
    refinement_schedule,
    relaxed_schedules,
    training_schedule,
)
from ridgeline.xnn.scorer import Scorer
from ridgeline.xnn.settings import Settings
from ridgeline.xnn.shapes import directions_of, network_shape
from ridgeline.xnn.starts import (
    Limits,
    initial_weights,
    orthogonal_weights,
    projection_limits,
)
from ridgeline.xnn.tables import Prepared

if TYPE_CHECKING:
    from ridgeline.xnn.training import Outcome

__all__ = [
    "FitResult",
    "StageName",
    "adjust",
    "draw_seed",
    "fit",
    "forget_checkpoint",
    "network_shape",
    "refine",
    "train",
    "training_epochs",
]

Floats = NDArray[np.float64]
StageName = Literal["relaxation", "training", "refinement"]

_STAGES: Final[tuple[StageName, ...]] = ("training", "refinement")
_LARGEST_BATCH: Final = 1000
_BATCH_SHARE: Final = 0.2
# A larger price holds projections where they start: by validation rows of S3, S5, S6.
_RELAXED_COHERENCE: Final = 0.1


class FitResult(NamedTuple):
    """A fitted model and how it came about."""

    scorer: Scorer
    history: dict[str, NDArray[Any]]  # stage, epoch, objective, validation_loss
    validation_loss: float  # squared error of the response, or cross-entropy
    orthogonality_error: float  # largest |W'W - I| as trained, in single precision
    stop_reason: str  # why the last stage ended, in words
    pair_penalty: Penalty | None = None  # what surfaces of pairs paid, if there are any

    @classmethod
    def of_stored(cls, scorer: Scorer) -> "FitResult":
        """A model whose training nobody recorded."""
        nothing = np.zeros(0)
        history: dict[str, NDArray[Any]] = {
            "stage": nothing.astype(str),
            "epoch": nothing.astype(np.intp),
            "objective": nothing,
            "validation_loss": nothing,
        }
        return cls(scorer, history, math.nan, math.nan, "")


class _Stage(NamedTuple):
    """What distinguishes training from refinement, and one start from another."""

    name: StageName
    start: Weights
    problem: Problem
    schedule: Schedule
    rng: np.random.Generator
    checkpoint: Checkpoint | None


def draw_seed(random_state: Any) -> int:
    """A seed for a fit, the same for the same whole number."""
    largest = np.iinfo(np.int32).max
    return int(check_random_state(random_state).randint(largest))


def fit(settings: Settings, data: Prepared, seed: int) -> FitResult:
    """Trains from each start, prunes and refines; the smallest validation loss wins."""
    fits = [_fit_start(settings, data, seed, at) for at in range(settings.n_starts)]
    stages = _STAGES if settings.prune_share is not None else _STAGES[:1]
    # A stage that has ended is forgotten; another's state may still be needed.
    for stage in stages:
        for start in range(settings.n_starts):
            forget_checkpoint(settings, stage, start)
    return min(fits, key=lambda each: each.validation_loss)


def train(settings: Settings, data: Prepared, seed: int, start: int = 0) -> FitResult:
    """Algorithm 1: all components, both L1 penalties, the projection free to move."""
    shape = network_shape(settings, data)
    # A generator for each stage: stages that run one by one equal a whole fit.
    rng = np.random.default_rng([seed, _STAGES.index("training"), start])
    directions = directions_of(data)
    first = initial_weights(shape, data.training, rng, settings.init, directions)
    limits = projection_limits(shape, first.projection, directions)
    problem = Problem(
        settings.l1_projection,
        settings.l1_scales,
        settings.roughness,
        np.ones(shape.n_subnetworks),
        np.ones(len(shape.category_counts)),
        _category_shares(shape, data.training),
        data.category_priors,
        coherence=_coherence(settings),
        **_of_limits(shape, limits),
    )
    stage = _Stage(
        "training",
        first,
        problem,
        training_schedule(settings, _batches(settings, data)),
        rng,
        _checkpoint(settings, "training", start),
    )
    share = settings.relaxation
    parts = relaxed_schedules(shape.projection, stage.schedule, share)
    if parts is None or not shape.relaxed:
        return _run(stage, settings, shape, data)
    relaxed = stage._replace(
        name="relaxation",
        schedule=parts.relaxed,
        problem=problem._replace(coherence=_relaxed_coherence(settings)),
        checkpoint=_checkpoint(settings, "relaxation", start),
    )
    loose = _trained(relaxed, settings, shape, data)
    later = stage._replace(
        start=orthogonal_weights(loose.weights, shape, rng, limits),
        schedule=parts.later,
    )
    return _run(later, settings, shape, data, before=loose)


def refine(
    settings: Settings, data: Prepared, result: FitResult, seed: int, start: int = 0
) -> FitResult:
    """Trains the components in use once more: projection fixed, no L1 penalties."""
    batches = _batches(settings, data)
    refined = _go_on(
        settings,
        data,
        result,
        refinement_schedule(settings, batches),
        rng=np.random.default_rng([seed, _STAGES.index("refinement"), 0]),
        checkpoint=_checkpoint(settings, "refinement", start),
    )
    history = {
        name: np.concatenate([result.history[name], refined.history[name]])
        for name in refined.history
    }
    return refined._replace(history=history)


def adjust(
    settings: Settings, data: Prepared, result: FitResult, seed: int
) -> FitResult:
    """A refinement on more rows that moves the projection too, by small steps."""
    schedule = adjustment_schedule(settings, _batches(settings, data))
    rng = np.random.default_rng([seed, len(_STAGES)])
    return _go_on(settings, data, result, schedule, rng=rng)


def forget_checkpoint(settings: Settings, stage: StageName, start: int = 0) -> None:
    """Removes the state of a stage that has ended, where one was kept."""
    # The relaxed part is one of training's: what comes after it begins at its end.
    parts: tuple[StageName, ...] = (stage,)
    if stage == "training":
        parts = ("relaxation", "training")
    for part in parts:
        if kept := _checkpoint(settings, part, start):
            kept.remove()


def training_epochs(settings: Settings, data: Prepared) -> int:
    """The largest number of epochs of a training with these data."""
    return training_schedule(settings, _batches(settings, data)).max_epochs


def _fit_start(settings: Settings, data: Prepared, seed: int, start: int) -> FitResult:
    """One start: training, and with a share to prune, pruning and refinement."""
    trained = train(settings, data, seed, start)
    if settings.prune_share is None:
        return trained
    pruned = prune_scorer(trained.scorer, settings.prune_share)
    return refine(settings, data, trained._replace(scorer=pruned), seed, start)


def _go_on(
    settings: Settings,
    data: Prepared,
    before: FitResult,
    schedule: Schedule,
    *,
    rng: np.random.Generator,
    checkpoint: Checkpoint | None = None,
) -> FitResult:
    """Trains the components in use from where a model stands, without L1 penalties.

    Pairs of columns stay as they are: the rows bring their part of the decision along.
    """
    scorer = before.scorer
    shape = network_shape(settings, data)
    if scorer.pairs:
        shape = replace(shape, offset=True)
        data = data._replace(
            training=_with_offset(data.training, scorer, data.response),
            validation=_with_offset(data.validation, scorer, data.response),
        )
    start = trained_weights(scorer, data.response)
    limits = projection_limits(shape, start.projection, directions_of(data))
    problem = Problem(
        0.0,
        0.0,
        settings.roughness,
        (scorer.scales > 0).astype(np.float64),
        (scorer.category_scales > 0).astype(np.float64),
        _category_shares(shape, data.training),
        data.category_priors,
        # Projections that move keep their distance; with fixed ones the price would
        # only shrink scales.
        coherence=_coherence(settings) if schedule.cayley_step > 0 else 0.0,
        **_of_limits(shape, limits),
    )
    stage = _Stage("refinement", start, problem, schedule, rng, checkpoint)
    result = _run(stage, settings, shape, data)
    whole = replace(result.scorer, pairs=scorer.pairs, pair_scales=scorer.pair_scales)
    return result._replace(scorer=whole, pair_penalty=before.pair_penalty)


def _with_offset(rows: Rows, scorer: Scorer, response: Response) -> Rows:
    """Rows with what the pairs of a model add, in the unit of training."""
    part = pair_part(scorer, rows) / response.half
    return rows._replace(offset=part.astype(np.float32))


def _trained(
    stage: _Stage, settings: Settings, shape: Architecture, data: Prepared
) -> "Outcome":
    """One stage of training."""
    start_tensorflow()
    from ridgeline.xnn import training

    shown = bool(settings.verbose)
    with stage_progress(stage.name, stage.schedule.max_epochs, shown) as report:
        outcome = training.train(
            shape,
            stage.start,
            training.Sets(data.training, data.validation),
            stage.problem,
            stage.schedule,
            rng=stage.rng,
            batch_size=_batch_size(settings, data),
            other_rows=data.other_rows,
            report=report,
            checkpoint=stage.checkpoint,
        )
    if outcome.diverged:
        _say_diverged(stage, outcome.best_epoch, len(outcome.validation))
    return outcome


def _run(
    stage: _Stage,
    settings: Settings,
    shape: Architecture,
    data: Prepared,
    before: "Outcome | None" = None,
) -> FitResult:
    """One stage of training, and the model that it leaves.

    Args:
        stage: What to train.
        settings: The estimator's parameters.
        shape: The architecture.
        data: The rows.
        before: The stage that led to this one, for the history.
    """
    outcome = _trained(stage, settings, shape, data)
    weights = constrained(shape, outcome.weights, stage.problem)
    weights = weights._replace(
        scales=weights.scales * stage.problem.used,
        category_scales=weights.category_scales * stage.problem.used_categories,
    )
    scorer = fitted_model(weights, shape, data.training, data.features, data.response)
    parts = [outcome] if before is None else [before, outcome]
    half = data.response.half
    loss = outcome.validation * half**2
    history = {
        "stage": np.concatenate(
            [np.full(len(part.validation), stage.name) for part in parts]
        ),
        "epoch": np.arange(1, sum(len(part.validation) for part in parts) + 1),
        "objective": np.concatenate([part.objective for part in parts]),
        "validation_loss": np.concatenate([part.validation for part in parts])
        * half**2,
    }
    return FitResult(
        scorer,
        history,
        validation_loss=float(np.nanmin(loss)),
        orthogonality_error=outcome.orthogonality_error,
        stop_reason=_why_stopped(outcome.diverged, len(loss), stage.schedule),
    )


def _coherence(settings: Settings) -> float:
    """What projections pay for their overlap; orthogonal ones only while relaxed."""
    return settings.coherence if settings.projection == "near" else 0.0


def _relaxed_coherence(settings: Settings) -> float:
    """What projections pay while they are relaxed, however strict they are to be."""
    if settings.projection == "near":
        return min(settings.coherence, _RELAXED_COHERENCE)
    return settings.coherence


def _of_limits(shape: Architecture, limits: Limits) -> dict[str, Any]:
    """The part of a problem that monotone features make, where there are any."""
    return limits._asdict() if shape.monotone else {}


def _batch_size(settings: Settings, data: Prepared) -> int:
    """Rows in a batch, as the estimator's parameter or the paper says."""
    count = len(data.training.target)
    # Fits that share a program have batches of one size.
    fewest = min(count, data.other_rows or count)
    size = settings.batch_size or min(_LARGEST_BATCH, math.ceil(_BATCH_SHARE * fewest))
    return min(size, fewest)


def _batches(settings: Settings, data: Prepared) -> int:
    """Batches in an epoch."""
    return math.ceil(len(data.training.target) / _batch_size(settings, data))


def _checkpoint(settings: Settings, stage: StageName, start: int) -> Checkpoint | None:
    if settings.checkpoint is None:
        return None
    return Checkpoint(Path(settings.checkpoint) / f"{stage}-{start}.npz")


def _category_shares(shape: Architecture, rows: Rows) -> Floats:
    """Weighted share of each category among the training rows, side by side."""
    total = np.zeros(sum(shape.category_counts))
    for feature in range(rows.codes.shape[1]):
        total += np.bincount(rows.codes[:, feature], rows.weight, len(total))
    return np.asarray(total / rows.weight.sum(dtype=np.float64))


def _why_stopped(diverged: bool, epochs: int, schedule: Schedule) -> str:
    if diverged:
        return "the loss was not finite"
    if epochs == schedule.max_epochs:
        return "the schedule ended"
    return f"no better validation loss in {schedule.patience} epochs"


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
    warn_user(message, ConvergenceWarning)
