"""SOS-BP, the paper's Algorithm 1, as one compiled program.

The Cayley step moves the projection, Adam everything else. A call of the program trains
several epochs; penalties, masks and step sizes are arguments, and so is the number of
rows up to a padded size, so that a grid, its pruning and its refinement compile once.
"""

import math
from functools import cache
from typing import Any, Final, NamedTuple

import tensorflow as tf

from ridgeline.xnn import network, ridge, stiefel
from ridgeline.xnn.architecture import (
    Architecture,
    Problem,
    Rows,
    Weights,
    constrained,
)

__all__ = [
    "EpochLosses",
    "PaddedRows",
    "PaddedSets",
    "State",
    "Steps",
    "epochs_program",
    "initial_state",
]

Tensor = Any

# Adam's constants, as published (Kingma and Ba, 2014). Keras has an Adam of its own,
# but with variables, which a compiled loop over epochs cannot carry along.
_BETA1: Final = 0.9
_BETA2: Final = 0.999
_EPSILON: Final = 1e-7


class PaddedRows(NamedTuple):
    """Padded rows, and how many of them are real."""

    rows: Rows
    count: Tensor  # ()


class PaddedSets(NamedTuple):
    """The rows that train and those that choose the epoch."""

    training: PaddedRows
    validation: PaddedRows


class Steps(NamedTuple):
    """Step sizes of each epoch of a call, and when to stop."""

    epochs: Tensor  # (), how many of the call's epochs are to be run
    cayley: Tensor  # tau, (epochs,)
    adam: Tensor  # eta, (epochs,)
    adaptive: Tensor  # (), whether tau is divided by the gradient's usual size
    relaxed: Tensor  # (), whether orthogonal projections may overlap
    patience: Tensor  # ()
    batch_rows: Tensor  # ()


class EpochLosses(NamedTuple):
    """Losses by epoch of a call, and how many epochs were run."""

    epochs: Tensor  # ()
    objective: Tensor  # (epochs,)
    validation: Tensor  # (epochs,)


class _StepSizes(NamedTuple):
    """The step sizes of one epoch."""

    cayley: Tensor  # tau, ()
    adam: Tensor  # eta, ()
    adaptive: Tensor  # ()
    relaxed: Tensor  # ()


class _BatchPlace(NamedTuple):
    """Where the rows of a batch stand in an epoch's order."""

    start: Tensor  # ()
    count: Tensor  # ()


class State(NamedTuple):
    """All that training changes; weights are packed (`network.pack`).

    One vector instead of a dozen arrays halves the time that compiling takes.
    """

    weights: Tensor
    first: Tensor  # Adam's moments
    second: Tensor
    cayley_square: Tensor  # running mean of the squared size of the Cayley direction
    step: Tensor
    best: Tensor
    best_loss: Tensor
    waited: Tensor  # epochs since the best
    diverged: Tensor


def initial_state(weights: Tensor) -> State:
    """Training that has not begun, from packed weights."""
    return State(
        weights=weights,
        first=tf.zeros_like(weights),
        second=tf.zeros_like(weights),
        cayley_square=tf.constant(0.0),
        step=tf.constant(0.0),
        best=weights,
        best_loss=tf.constant(float("inf")),
        waited=tf.constant(0),
        diverged=tf.constant(False),
    )


@cache
def epochs_program(shape: Architecture, batch_size: int, epochs: int) -> Any:
    """The compiled program that trains up to `epochs` epochs.

    Args:
        shape: The architecture.
        batch_size: Rows that a batch has room for.
        epochs: Epochs that a call has room for.

    Returns:
        A function of (state, sets, orders, steps, problem) that returns the new state
        and the losses. `orders` has a permutation of the training rows for each epoch,
        shape (epochs, padded rows + batch_size).
    """

    def run(
        state: State,
        sets: PaddedSets,
        orders: Tensor,
        steps: Steps,
        problem: Problem,
    ) -> tuple[State, EpochLosses]:
        train = sets.training
        batches = -(-train.count // steps.batch_rows)

        def epoch(
            index: Tensor, state: State, losses: EpochLosses
        ) -> tuple[Tensor, State, EpochLosses]:
            sizes = _StepSizes(
                steps.cayley[index], steps.adam[index], steps.adaptive, steps.relaxed
            )

            def step(
                number: Tensor, state: State, total: Tensor
            ) -> tuple[Tensor, State, Tensor]:
                place = _BatchPlace(number * steps.batch_rows, steps.batch_rows)
                batch = _take(train, orders[index], place, batch_size)
                state, value = _step(shape, state, batch, problem, sizes)
                return number + 1, state, total + value

            start = tf.constant(0), state, tf.constant(0.0)
            _, state, total = tf.while_loop(lambda n, *_: n < batches, step, start)
            value = total / tf.cast(batches, tf.float32)
            weights = network.unpack(shape, state.weights)
            weights = constrained(shape, weights, problem)
            loss = _validation_loss(shape, weights, sets, problem, batch_size)
            finite = tf.math.is_finite(value) & tf.math.is_finite(loss)
            state = _keep_best(state, loss)._replace(diverged=~finite)
            losses = EpochLosses(
                index + 1,
                _put(losses.objective, index, value),
                _put(losses.validation, index, loss),
            )
            return index + 1, state, losses

        def goes_on(index: Tensor, state: State, _: EpochLosses) -> Tensor:
            patient = state.waited < steps.patience
            return (index < steps.epochs) & patient & ~state.diverged

        empty = tf.zeros([epochs])
        start = tf.constant(0), state, EpochLosses(tf.constant(0), empty, empty)
        _, state, losses = tf.while_loop(goes_on, epoch, start)
        return state, losses

    # All control flow is written out: to look for more takes longer than to compile.
    return tf.function(run, jit_compile=True, autograph=False)


def _take(data: PaddedRows, order: Tensor, place: _BatchPlace, size: int) -> Rows:
    """A batch, from its start on; places beyond its rows get weight zero."""
    places = tf.range(size)
    # A slice would put its start into the program and compile it anew for another.
    index = tf.gather(order, place.start + places)
    batch = Rows(*(tf.gather(column, index) for column in data.rows))
    real = (places < place.count) & (place.start + places < data.count)
    return batch._replace(weight=tf.where(real, batch.weight, 0.0))


def _step(
    shape: Architecture,
    state: State,
    batch: Rows,
    problem: Problem,
    sizes: _StepSizes,
) -> tuple[State, Tensor]:
    """One step of Algorithm 1; returns the state and the objective before it."""
    weights = network.unpack(shape, state.weights)
    with tf.GradientTape() as tape:
        tape.watch(weights)
        value = network.objective(
            shape, constrained(shape, weights, problem), problem, batch
        )
    gradients = tape.gradient(value, weights, unconnected_gradients="zero")
    state = _adam_step(state, network.pack(gradients), sizes.adam)
    projection = moved = weights.projection
    if shape.projection == "free":
        moved = _within(shape, problem, network.unpack(shape, state.weights).projection)
    elif shape.projection == "near":
        moved = network.unpack(shape, state.weights).projection
        moved = _unit_columns(_within(shape, problem, moved), projection)
    elif shape.projection == "orthogonal":
        moved, square = _orthogonal_step(
            shape, state, problem, sizes, before=(projection, gradients.projection)
        )
        state = state._replace(cayley_square=square)
    # A step of zero leaves every bit as it is: refinement fixes the projection.
    projection = tf.where(sizes.cayley > 0, moved, projection)
    rest = state.weights[math.prod(projection.shape) :]
    packed = tf.concat([tf.reshape(projection, [-1]), rest], axis=0)
    return state._replace(weights=packed), value


def _orthogonal_step(
    shape: Architecture,
    state: State,
    problem: Problem,
    sizes: _StepSizes,
    *,
    before: tuple[Tensor, Tensor],
) -> tuple[Tensor, Tensor]:
    """The moved projection: by the Cayley transform, or by Adam while it is relaxed.

    Args:
        shape: The architecture.
        state: After Adam's step, which has moved the projection without constraint.
        problem: Has the limits of monotone features.
        sizes: Of the steps.
        before: The projection before the step, and its gradient.
    """
    point, gradient = before
    if shape.monotone:
        # Columns that stay, and rows that are theirs alone, have no part in the move.
        gradient = tf.where(problem.lowest < problem.highest, gradient, 0.0)

    def strict() -> tuple[Tensor, Tensor]:
        moved, square = _cayley_step(state, point, gradient, sizes)
        # What stays does so to the last bit, whatever a solver leaves of a zero.
        return _within(shape, problem, moved), square

    def relaxed() -> tuple[Tensor, Tensor]:
        moved = _within(shape, problem, network.unpack(shape, state.weights).projection)
        return _unit_columns(moved, point), state.cayley_square

    return tf.cond(sizes.relaxed, relaxed, strict) if shape.relaxed else strict()


def _within(shape: Architecture, problem: Problem, projection: Tensor) -> Tensor:
    """Weights that keep monotone features monotone."""
    if not shape.monotone:
        return projection
    return tf.clip_by_value(projection, problem.lowest, problem.highest)


def _unit_columns(projection: Tensor, before: Tensor) -> Tensor:
    """Columns of length one; one that limits left without length stays as before."""
    square = tf.reduce_sum(tf.square(projection), axis=0)
    unit = projection * tf.math.rsqrt(tf.maximum(square, _EPSILON))
    return tf.where(square > _EPSILON, unit, before)


def _adam_step(state: State, gradient: Tensor, rate: Tensor) -> State:
    count = state.step + 1
    first = _BETA1 * state.first + (1 - _BETA1) * gradient
    second = _BETA2 * state.second + (1 - _BETA2) * tf.square(gradient)
    rate = rate * tf.sqrt(1 - _BETA2**count) / (1 - _BETA1**count)
    moved = state.weights - rate * first / (tf.sqrt(second) + _EPSILON)
    return state._replace(weights=moved, first=first, second=second, step=count)


def _cayley_step(
    state: State, point: Tensor, gradient: Tensor, sizes: _StepSizes
) -> tuple[Tensor, Tensor]:
    """The moved projection, and the running square of the direction's size."""
    size = stiefel.riemannian_norm(point, gradient)
    square = _BETA2 * state.cayley_square + (1 - _BETA2) * size * size
    usual = tf.sqrt(square / (1 - _BETA2**state.step)) + _EPSILON
    tau = tf.where(sizes.adaptive, sizes.cayley / usual, sizes.cayley)
    return stiefel.polish(stiefel.cayley_step(point, gradient, tau)), square


def _validation_loss(
    shape: Architecture,
    weights: Weights,
    sets: PaddedSets,
    problem: Problem,
    size: int,
) -> Tensor:
    """Loss of the validation rows, normalised by all training rows."""
    by = _training_moments(shape, weights, sets.training, size)

    def add(number: Tensor, total: Tensor, weight: Tensor) -> tuple[Tensor, ...]:
        block = _block(sets.validation, number, size)
        outputs = network.raw_outputs(shape, weights, block.numeric)
        outputs = ridge.normalise(outputs, by)
        predicted = network.decision(shape, weights, problem, outputs, block.codes)
        if shape.offset:
            predicted += block.offset
        losses = network.data_loss(shape, predicted, block.target)
        return (
            number + 1,
            total + tf.reduce_sum(block.weight * losses),
            weight + tf.reduce_sum(block.weight),
        )

    blocks = -(-sets.validation.count // size)
    start = tf.constant(0), tf.constant(0.0), tf.constant(0.0)
    _, total, weight = tf.while_loop(lambda n, *_: n < blocks, add, start)
    return total / weight


def _training_moments(
    shape: Architecture, weights: Weights, train: PaddedRows, size: int
) -> ridge.Moments:
    """Moments of the subnetworks' outputs over the whole training set."""
    zeros = tf.zeros([shape.n_subnetworks, 1])
    if not shape.normalised:
        return ridge.Moments(tf.constant(0.0), zeros, zeros + 1)

    def add(number: Tensor, so_far: ridge.Moments) -> tuple[Tensor, ridge.Moments]:
        block = _block(train, number, size)
        outputs = network.raw_outputs(shape, weights, block.numeric)
        these = ridge.moments(outputs, block.weight)
        return number + 1, ridge.merge_moments(so_far, these)

    blocks = -(-train.count // size)
    start = tf.constant(0), ridge.Moments(tf.constant(0.0), zeros, zeros)
    _, by = tf.while_loop(lambda n, _: n < blocks, add, start)
    return ridge.Moments(*by)


def _block(data: PaddedRows, number: Tensor, size: int) -> Rows:
    """Contiguous rows; the padding behind the last ones has weight zero."""
    columns = []
    for column in data.rows:
        start = [number * size] + [0] * (len(column.shape) - 1)
        columns.append(tf.slice(column, start, [size, *column.shape[1:]]))
    return Rows(*columns)


def _keep_best(state: State, loss: Tensor) -> State:
    better = loss < state.best_loss
    return state._replace(
        best=tf.where(better, state.weights, state.best),
        best_loss=tf.where(better, loss, state.best_loss),
        waited=tf.where(better, 0, state.waited + 1),
    )


def _put(values: Tensor, index: Tensor, value: Tensor) -> Tensor:
    """A vector with one entry set, without a scatter."""
    return tf.where(tf.range(values.shape[0]) == index, value, values)
