"""One training run: batches, schedules and early stopping around the compiled program.

Python prepares the data once and shuffles; everything else is in `sos_bp`. Sizes are
rounded up and padded with rows of weight zero, so that data of nearly the same size
share one compiled program.
"""

import math
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
import tensorflow as tf
from numpy.typing import NDArray

from ridgeline import __version__
from ridgeline.xnn.architecture import Architecture, Problem, Rows, Weights
from ridgeline.xnn.checkpoint import Checkpoint, Snapshot, fingerprint
from ridgeline.xnn.network import pack, unpack
from ridgeline.xnn.programs import drop_programs, kept_programs
from ridgeline.xnn.progress import Report
from ridgeline.xnn.schedules import Schedule
from ridgeline.xnn.sos_bp import (
    EpochLosses,
    PaddedRows,
    PaddedSets,
    State,
    Steps,
    epochs_program,
    initial_state,
)
from ridgeline.xnn.stiefel import orthogonality_error

__all__ = ["Outcome", "Sets", "train"]

# Steps in a call: enough to keep Python out, few enough to show progress.
_CALL_STEPS: Final = 200
_CALL_EPOCHS: Final = 40
# The smallest padded sizes, below which all data share one program.
_SMALLEST_BATCH: Final = 40
_SMALLEST_ROWS: Final = 64


class Sets(NamedTuple):
    """The rows that train and those that choose the epoch, as arrays."""

    training: Rows
    validation: Rows


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a training run leaves."""

    weights: Weights  # the best by validation loss, as arrays
    objective: NDArray[np.float64]  # by epoch
    validation: NDArray[np.float64]  # by epoch
    diverged: bool
    orthogonality_error: float  # of the weights' projection: largest |W'W - I|

    @property
    def best_epoch(self) -> int:
        """The epoch whose weights are kept, from 1; 0 if there is none."""
        if not np.isfinite(self.validation).any():
            return 0
        return int(np.nanargmin(self.validation)) + 1


def train(
    shape: Architecture,
    start: Weights,
    sets: Sets,
    problem: Problem,
    schedule: Schedule,
    *,
    rng: np.random.Generator,
    batch_size: int,
    other_rows: int | None = None,
    report: Report | None = None,
    checkpoint: Checkpoint | None = None,
) -> Outcome:
    """Runs SOS-BP to the end of its schedule, or until validation stops improving.

    Args:
        shape: The architecture.
        start: Weights to start from, arrays.
        sets: Training and validation rows.
        problem: Strengths of the penalties, and which components are in use.
        schedule: Step sizes by epoch, and patience. A Cayley step of zero fixes the
            projection.
        rng: Shuffles the rows of every epoch.
        batch_size: Rows in a batch, at most all.
        other_rows: Training rows of another run that is to share the program.
        report: Called as training goes on.
        checkpoint: Where to keep the state, and to go on from after an interruption.

    Returns:
        The best weights by validation loss, and the losses.
    """
    count = len(sets.training.target)
    fewest, most = sorted((count, other_rows or count))
    # Batches of equal size: a last one of a few rows could not normalise.
    largest_batch = math.ceil(fewest / math.ceil(fewest / batch_size))
    batch_rows = math.ceil(count / math.ceil(count / largest_batch))
    size = max(_SMALLEST_BATCH, 8 * math.ceil(largest_batch / 8))
    steps = math.ceil(fewest / largest_batch)
    room = min(_CALL_EPOCHS, max(1, _CALL_STEPS // steps))
    data = PaddedSets(
        _padded(sets.training, size, most), _padded(sets.validation, size)
    )
    padded = tuple(len(part.rows.target) for part in data)
    places = padded[0] + size
    key = fingerprint(shape, size, room, padded)[:16]
    program = _Program(shape, size, room, key)
    identity = ""
    if checkpoint:
        # Another release may go on in another way.
        plan = __version__, schedule, batch_size, rng.bit_generator.state
        identity = fingerprint(shape, start, sets, problem, plan)
    problem = tf.nest.map_structure(_float, problem)
    state = initial_state(pack(tf.nest.map_structure(_float, start)))
    losses = np.empty((2, 0), dtype=np.float32)
    if checkpoint and (snapshot := checkpoint.load(identity)):
        state, losses = State(**_tensors(snapshot.state)), snapshot.losses
        rng.bit_generator.state = snapshot.generator
    while losses.shape[1] < schedule.max_epochs and not _is_over(state, schedule):
        done = losses.shape[1]
        epochs = np.arange(done, min(done + room, schedule.max_epochs))
        orders = _orders(rng, count, len(epochs), (room, places))
        sizes = _steps(schedule, epochs, room, batch_rows)
        state, epoch_losses = program.run(state, data, orders, sizes, problem)
        losses = np.concatenate([losses, _losses(epoch_losses)], axis=1)
        if checkpoint:
            arrays = {name: part.numpy() for name, part in state._asdict().items()}
            snapshot = Snapshot(arrays, losses, dict(rng.bit_generator.state))
            checkpoint.save(identity, snapshot)
        if report:
            report(losses.shape[1], *losses[:, -1].tolist())
    objective, loss = losses.astype(np.float64)
    best = unpack(shape, state.best)
    return Outcome(
        weights=tf.nest.map_structure(lambda tensor: tensor.numpy(), best),
        objective=objective,
        validation=loss,
        diverged=bool(state.diverged),
        orthogonality_error=max(0.0, float(orthogonality_error(best.projection))),
    )


class _Program(NamedTuple):
    """The compiled program for one network and one size of the data."""

    shape: Architecture
    batch_size: int
    epochs: int
    key: str  # of what is kept on disk

    def run(self, *arguments: Any) -> Any:
        """Runs it; a new one TensorFlow compiles, or has from the disk."""
        try:
            return self._run(arguments)
        except tf.errors.OpError:
            if not drop_programs(self.key):
                raise
        # The one on disk may not be what TensorFlow expects. It keeps a failure in
        # mind: only a new function is compiled again.
        epochs_program.cache_clear()
        return self._run(arguments)

    def _run(self, arguments: tuple[Any, ...]) -> Any:
        program = epochs_program(self.shape, self.batch_size, self.epochs)
        with kept_programs(self.key):
            # To call the function itself would be the same, but after tables of five
            # shapes TensorFlow would warn of a loop that traces in vain.
            return program.get_concrete_function(*arguments)(*arguments)


def _is_over(state: State, schedule: Schedule) -> bool:
    return bool(state.diverged) or int(state.waited) >= schedule.patience


def _tensors(arrays: dict[str, NDArray[Any]]) -> dict[str, Any]:
    return {name: tf.constant(array) for name, array in arrays.items()}


def _float(array: Any) -> Any:
    return tf.constant(array, dtype=tf.float32)


def _padded(rows: Rows, size: int, most: int = 0) -> PaddedRows:
    """Rows on the device, padded to a size that similar data share, or so many."""
    count = len(rows.target)
    most = max(count, most)
    # Steps of an eighth of the next power of two below: little is wasted.
    step = 2 ** max(0, int(math.log2(most)) - 3)
    room = max(_SMALLEST_ROWS, step * math.ceil(most / step))
    room = size * math.ceil(room / size)
    columns = []
    for column in rows:
        padded = np.zeros((room, *column.shape[1:]), dtype=column.dtype)
        padded[:count] = column
        columns.append(tf.constant(padded))
    return PaddedRows(Rows(*columns), tf.constant(count))


def _orders(
    rng: np.random.Generator, count: int, epochs: int, room: tuple[int, int]
) -> Any:
    """A permutation of the rows for each epoch; the places behind it stay zero."""
    orders = np.zeros(room, dtype=np.int32)
    orders[:epochs, :count] = np.arange(count, dtype=np.int32)
    for order in orders[:epochs, :count]:
        rng.shuffle(order)
    return tf.constant(orders)


def _steps(
    schedule: Schedule, epochs: NDArray[np.intp], room: int, batch_rows: int
) -> Steps:
    factor = np.zeros(room)
    factor[: len(epochs)] = schedule.factor(epochs)
    return Steps(
        epochs=tf.constant(len(epochs)),
        cayley=_float(schedule.cayley_step * factor),
        adam=_float(schedule.learning_rate * factor),
        adaptive=tf.constant(schedule.adaptive),
        relaxed=tf.constant(schedule.relaxed),
        patience=tf.constant(schedule.patience),
        batch_rows=tf.constant(batch_rows),
    )


def _losses(run: EpochLosses) -> NDArray[np.float32]:
    """Objective and validation loss of the epochs that were run, shape (2, epochs)."""
    both = np.stack([run.objective.numpy(), run.validation.numpy()])
    return np.asarray(both[:, : int(run.epochs)])
