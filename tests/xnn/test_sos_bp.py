"""SOS-BP: the compiled program against Algorithm 1 by hand, and whole runs."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pytest
import tensorflow as tf
from sklearn.exceptions import ConvergenceWarning

from ridgeline.errors import RidgelineError
from ridgeline.xnn import fitting, network, sos_bp, training
from ridgeline.xnn.architecture import Architecture, Problem, Rows, Weights
from ridgeline.xnn.features import Features
from ridgeline.xnn.pruning import prune_scorer
from ridgeline.xnn.response import Response
from ridgeline.xnn.schedules import Schedule
from ridgeline.xnn.settings import Settings
from ridgeline.xnn.starts import initial_weights
from ridgeline.xnn.tables import Prepared, encode_rows

# Few shapes for all tests: each one takes seconds to compile.
ORTHOGONAL = Architecture(
    n_features=5,
    n_subnetworks=2,
    category_counts=(3,),
    hidden=(4, 3),
    activation="tanh",
    projection="orthogonal",
    normalised=True,
    smooth=True,
    loss="squared",
)
FREE = replace(
    ORTHOGONAL,
    n_features=2,
    n_subnetworks=3,
    category_counts=(),
    hidden=(3,),
    projection="free",
)
IDENTITY = replace(
    ORTHOGONAL,
    n_features=2,
    hidden=(3,),
    projection="identity",
    normalised=False,
    smooth=False,
    loss="logistic",
)
# More projections than features.
NEAR = replace(FREE, projection="near")
SHAPES = {shape.projection: shape for shape in (ORTHOGONAL, FREE, IDENTITY, NEAR)}
RELAXED = replace(ORTHOGONAL, relaxed=True)
# What training makes of 100 and 60 rows in batches of 40.
COUNTS, PADDED = (100, 60), (120, 80)
BATCH, BATCH_ROWS, ROOM = 40, 34, 40
SCHEDULE = Schedule(
    learning_rate=0.01, cayley_step=1.0, max_epochs=6, patience=6, cosine=True
)


def make_rows(shape: Architecture, count: int, seed: int = 0) -> Rows:
    """Return rows with a curved response, in single precision."""
    rng = np.random.default_rng([count, seed])
    numeric = rng.uniform(-1, 1, size=(count, shape.n_features))
    starts = np.cumsum((0, *shape.category_counts))[:-1].astype(int)
    counts = shape.category_counts
    codes = rng.integers(0, counts, size=(count, len(counts))) + starts
    target = np.sin(3 * numeric[:, 0]) + numeric[:, 1] ** 2 + codes.sum(axis=1) / 3
    target = target + rng.normal(0, 0.1, size=count)
    if shape.loss == "logistic":
        target = target > 0.5
    return Rows(
        numeric.astype(np.float32),
        codes.astype(np.int32),
        target.astype(np.float32),
        rng.uniform(0.5, 2, size=count).astype(np.float32),
        np.zeros(count, dtype=np.float32),
    )


def make_problem(shape: Architecture, rows: Rows) -> Problem:
    """Return penalties that are felt, and the shares of the categories."""
    shares = np.zeros(sum(shape.category_counts))
    for column in rows.codes.T:
        shares += np.bincount(column, rows.weight, len(shares)) / rows.weight.sum()
    return Problem(
        0.01,
        0.02,
        0.001,
        np.ones(shape.n_subnetworks),
        np.ones(len(shape.category_counts)),
        shares,
        np.full(sum(shape.category_counts), 0.003),
        coherence=0.7,
    )


def make_weights(shape: Architecture, rows: Rows, seed: int = 0) -> Weights:
    """Return weights to start from."""
    return initial_weights(shape, rows, np.random.default_rng(seed))


class Setup(NamedTuple):
    """Everything that a run needs."""

    shape: Architecture
    rows: tuple[Rows, Rows]
    problem: Problem
    start: Weights

    def train(
        self, schedule: Schedule = SCHEDULE, seed: int = 0, **changes: Any
    ) -> Any:
        """Run the library's training."""
        report = changes.pop("report", None)
        chosen = self._replace(**changes)
        return training.train(
            chosen.shape,
            chosen.start,
            training.Sets(*chosen.rows),
            chosen.problem,
            schedule,
            rng=np.random.default_rng(seed),
            batch_size=BATCH,
            report=report,
        )


def make_setup(shape: Architecture) -> Setup:
    """Return a setup with rows of the sizes that share one program."""
    rows = make_rows(shape, COUNTS[0]), make_rows(shape, COUNTS[1])
    start = make_weights(shape, rows[0])
    return Setup(shape, rows, make_problem(shape, rows[0]), start)


@pytest.fixture(scope="module")
def setup() -> Setup:
    """Return the setup that most tests share."""
    return make_setup(ORTHOGONAL)


def double(structure: Any) -> Any:
    """Return a structure with its floats as tensors of double precision."""

    def convert(array: Any) -> Any:
        array = np.asarray(array)
        return tf.constant(array if array.dtype.kind == "i" else array.astype(float))

    return tf.nest.map_structure(convert, structure)


def single(structure: Any) -> Any:
    """Return a structure with all numbers as tensors of single precision."""
    return tf.nest.map_structure(lambda a: tf.constant(a, tf.float32), structure)


def validation_loss(setup: Setup, weights: Weights) -> float:
    """Return the loss of the validation rows, with moments of all training rows."""
    train, validation = setup.rows
    weights, problem = double(weights), double(setup.problem)
    raw, outputs = (
        network.raw_outputs(setup.shape, weights, double(rows.numeric)).numpy()
        for rows in setup.rows
    )
    if setup.shape.normalised:
        mean = np.average(raw, axis=1, weights=train.weight)[:, None]
        square = np.average((raw - mean) ** 2, axis=1, weights=train.weight)[:, None]
        outputs = (outputs - mean) / np.sqrt(square + 1e-8)
    codes = tf.constant(validation.codes)
    decision = network.decision(
        setup.shape, weights, problem, tf.constant(outputs), codes
    ).numpy()
    if setup.shape.loss == "squared":
        losses = (decision - validation.target) ** 2
    else:
        losses = np.logaddexp(0, decision) - validation.target * decision
    return float(np.average(losses, weights=validation.weight))


# One call of the program against Algorithm 1 by hand.


class Hand(NamedTuple):
    """The state of training by hand: flat lists of arrays in double precision."""

    weights: list[np.ndarray]  # the projection is the first
    first: list[np.ndarray]
    second: list[np.ndarray]
    cayley_square: float
    step: int


class Sizes(NamedTuple):
    """Step sizes of one epoch."""

    cayley: float
    adam: float
    adaptive: bool = False
    relaxed: bool = False


def step_by_hand(setup: Setup, hand: Hand, batch: Rows, sizes: Sizes) -> Any:
    """Return the state after one step, and the objective before it."""
    shape = setup.shape
    weights = double(tf.nest.pack_sequence_as(setup.start, hand.weights))
    with tf.GradientTape() as tape:
        tape.watch(weights)
        value = network.objective(shape, weights, double(setup.problem), double(batch))
    gradients = tape.gradient(value, weights, unconnected_gradients="zero")
    gradients = [g.numpy() for g in tf.nest.flatten(gradients)]
    step = hand.step + 1
    first = [0.9 * m + 0.1 * g for m, g in zip(hand.first, gradients, strict=True)]
    second = [
        0.999 * v + 0.001 * g**2 for v, g in zip(hand.second, gradients, strict=True)
    ]
    moved = [
        w - sizes.adam * (m / (1 - 0.9**step)) / (np.sqrt(v / (1 - 0.999**step)) + 1e-8)
        for w, m, v in zip(hand.weights, first, second, strict=True)
    ]
    point, gradient, square = hand.weights[0], gradients[0], hand.cayley_square
    if shape.projection == "near" or sizes.relaxed:
        moved[0] = moved[0] / np.linalg.norm(moved[0], axis=0)
    elif shape.projection == "orthogonal":
        skew = gradient @ point.T - point @ gradient.T
        square = 0.999 * square + 0.001 * np.sum((skew @ point) ** 2)
        tau = sizes.cayley
        if sizes.adaptive:
            tau /= np.sqrt(square / (1 - 0.999**step))
        eye = np.eye(len(point))
        moved[0] = np.linalg.inv(eye + tau / 2 * skew) @ (eye - tau / 2 * skew) @ point
    if sizes.cayley == 0 or shape.projection == "identity":
        moved[0] = point
    return Hand(moved, first, second, square, step), float(value)


def begun_state(setup: Setup, steps: int = 12) -> tuple[sos_bp.State, Hand]:
    """Return a state in the midst of training, for the program and by hand."""
    rng = np.random.default_rng(5)
    weights = [
        np.asarray(w + 0.1 * rng.normal(size=w.shape), dtype=np.float32)
        for w in tf.nest.flatten(setup.start)
    ]
    # The projection is where it belongs.
    weights[0] = setup.start.projection.astype(np.float32)
    first = [rng.normal(0, 0.05, w.shape).astype(np.float32) for w in weights]
    second = [rng.uniform(0.001, 0.01, w.shape).astype(np.float32) for w in weights]
    parts = [
        network.pack(single(tf.nest.pack_sequence_as(setup.start, part)))
        for part in (weights, first, second)
    ]
    state = sos_bp.initial_state(parts[0])._replace(
        first=parts[1],
        second=parts[2],
        cayley_square=tf.constant(0.003),
        step=tf.constant(float(steps)),
    )
    wide = [[np.asarray(a, dtype=np.float64) for a in p] for p in (weights, first)]
    squares = [np.asarray(a, dtype=np.float64) for a in second]
    return state, Hand(wide[0], wide[1], squares, 0.003, steps)


def padded(rows: Rows, room: int) -> sos_bp.PaddedRows:
    """Return rows with garbage of weight zero behind them."""
    count = len(rows.target)
    columns = [
        np.concatenate([c, np.ones((room - count, *c.shape[1:]), c.dtype)])
        for c in rows
    ]
    columns[3][count:] = 0
    return sos_bp.PaddedRows(Rows(*map(tf.constant, columns)), tf.constant(count))


def arguments(
    setup: Setup, state: sos_bp.State, orders: list[np.ndarray], sizes: list[Sizes]
) -> Any:
    """Return the program's arguments, for as many epochs as there are orders."""
    room = np.zeros((ROOM, PADDED[0] + BATCH), dtype=np.int32)
    cayley, adam = np.zeros(ROOM), np.zeros(ROOM)
    for epoch, (order, size) in enumerate(zip(orders, sizes, strict=True)):
        room[epoch, : len(order)] = order
        cayley[epoch], adam[epoch] = size.cayley, size.adam
    steps = sos_bp.Steps(
        epochs=tf.constant(len(orders)),
        cayley=single(cayley),
        adam=single(adam),
        adaptive=tf.constant(sizes[0].adaptive),
        relaxed=tf.constant(sizes[0].relaxed),
        patience=tf.constant(1000),
        batch_rows=tf.constant(BATCH_ROWS),
    )
    pairs = zip(setup.rows, PADDED, strict=True)
    data = sos_bp.PaddedSets(*(padded(r, p) for r, p in pairs))
    return state, data, tf.constant(room), steps, single(setup.problem)


def first_rows(setup: Setup, counts: tuple[int, int]) -> Setup:
    """Return a setup with the first training and validation rows alone."""
    rows = tuple(
        Rows(*(column[:count] for column in part))
        for part, count in zip(setup.rows, counts, strict=True)
    )
    return setup._replace(rows=rows)


def check_against_hand(
    setup: Setup, counts: tuple[int, int], sizes: list[Sizes]
) -> sos_bp.State:
    """Run epochs by program and by hand, compare them, and return the state."""
    setup = first_rows(setup, counts)
    rng = np.random.default_rng(6)
    orders = [rng.permutation(counts[0]) for _ in sizes]
    start, hand = begun_state(setup)
    program = sos_bp.epochs_program(setup.shape, BATCH, ROOM)

    state, losses = program(*arguments(setup, start, orders, sizes))

    assert int(losses.epochs) == len(sizes)
    for epoch, (order, size) in enumerate(zip(orders, sizes, strict=True)):
        values = []
        for at in range(0, counts[0], BATCH_ROWS):
            chosen = order[at : at + BATCH_ROWS]
            batch = Rows(*(column[chosen] for column in setup.rows[0]))
            hand, value = step_by_hand(setup, hand, batch, size)
            values.append(value)
        expected = validation_loss(
            setup, tf.nest.pack_sequence_as(setup.start, hand.weights)
        )
        assert float(losses.objective[epoch]) == pytest.approx(np.mean(values), 1e-4)
        assert float(losses.validation[epoch]) == pytest.approx(expected, 1e-4)
    for name in ("weights", "first", "second"):
        parts = unpacked(setup, getattr(state, name)), getattr(hand, name)
        # Beside a Cayley step, Adam's moments of the projection have no reader.
        by_adam = setup.shape.projection in {"free", "near"} or sizes[0].relaxed
        skipped = name != "weights" and not by_adam
        for left, right in list(zip(*parts, strict=True))[skipped:]:
            np.testing.assert_allclose(left, right, rtol=1e-3, atol=2e-5, err_msg=name)
    assert float(state.step) == hand.step
    assert not bool(state.diverged)
    if sizes[0].adaptive:
        assert float(state.cayley_square) == pytest.approx(hand.cayley_square, 1e-4)
    return state


def unpacked(setup: Setup, vector: Any) -> list[np.ndarray]:
    """Return the arrays in a vector, the projection first."""
    weights = network.unpack(setup.shape, vector)
    return [part.numpy() for part in tf.nest.flatten(weights)]


@pytest.mark.parametrize("projection", SHAPES)
def test_one_step_is_algorithm_1(projection):
    setup = make_setup(SHAPES[projection])

    state = check_against_hand(setup, (30, 60), [Sizes(0.7, 0.02)])

    start = setup.start.projection.astype(np.float32)
    moved = not np.array_equal(unpacked(setup, state.weights)[0], start)
    assert moved == (projection != "identity")
    np.testing.assert_array_equal(state.best, state.weights)


@pytest.mark.parametrize("projection", SHAPES)
def test_epochs_of_several_batches_are_algorithm_1(projection):
    setup = make_setup(SHAPES[projection])
    sizes = [Sizes(0.5, 0.01), Sizes(0.1, 0.02), Sizes(0.2, 0.005)]

    # The last batch and the second block of validation rows are not full.
    check_against_hand(setup, (91, 55), sizes)


@pytest.mark.parametrize("relaxed", [True, False])
def test_one_program_has_relaxed_steps_and_strict_ones(relaxed):
    setup = make_setup(RELAXED)
    sizes = [Sizes(0.5, 0.01, relaxed=relaxed), Sizes(0.1, 0.02, relaxed=relaxed)]

    state = check_against_hand(setup, (91, 55), sizes)

    projection = unpacked(setup, state.weights)[0]
    gram = projection.T @ projection
    np.testing.assert_allclose(np.diag(gram), 1, atol=1e-6)
    assert (np.abs(gram[0, 1]) < 1e-6) == (not relaxed)


def test_adaptive_steps_are_relative_to_the_usual_size_of_the_direction(setup):
    check_against_hand(setup, (100, 60), [Sizes(0.05, 0.01, adaptive=True)] * 2)


def test_the_first_adaptive_step_is_as_long_as_it_says(setup):
    setup = first_rows(setup, (30, 60))
    state = sos_bp.initial_state(network.pack(single(setup.start)))
    sizes = [Sizes(0.01, 0.001, adaptive=True)]
    program = sos_bp.epochs_program(ORTHOGONAL, BATCH, ROOM)

    state, _ = program(*arguments(setup, state, [np.arange(30)], sizes))

    projection = unpacked(setup, state.weights)[0]
    length = np.linalg.norm(projection - setup.start.projection)
    assert length == pytest.approx(0.01, rel=0.01)


def test_the_program_depends_on_shapes_alone(setup):
    """Nothing that may change from run to run is compiled in.

    TensorFlow compiles anew for every value of an argument that must be a constant,
    without tracing anew.
    """
    state = sos_bp.initial_state(network.pack(single(setup.start)))
    one = arguments(setup, state, [np.arange(100)], [Sizes(0.5, 0.01)])
    begun, _ = begun_state(setup)
    changed = first_rows(setup, (91, 55))._replace(
        problem=Problem(*(0.5 * np.asarray(part) for part in setup.problem))
    )
    sizes = [Sizes(0.1, 0.2, adaptive=True)] * 3
    begun = begun._replace(waited=tf.constant(3), best_loss=tf.constant(2.0))
    other = list(arguments(changed, begun, [np.arange(91)[::-1]] * 3, sizes))
    other[3] = other[3]._replace(patience=tf.constant(5), batch_rows=tf.constant(31))
    program = sos_bp.epochs_program(ORTHOGONAL, BATCH, ROOM)

    texts = [
        program.experimental_get_compiler_ir(*given)(stage="hlo")
        for given in (one, other)
    ]

    lines = zip(*(text.splitlines() for text in texts), strict=True)
    assert [pair for pair in lines if pair[0] != pair[1]] == []


# Whole runs.


class Rising(Schedule):
    """A schedule that begins well and then takes absurd steps."""

    def factor(self, epochs: np.ndarray) -> np.ndarray:
        """Return one at first, then a large factor."""
        return np.where(epochs < 20, 1.0, 100.0)


def test_the_best_weights_are_restored(setup):
    schedule = Rising(0.02, 0.2, max_epochs=30, patience=30, cosine=False)

    outcome = setup.train(schedule)

    best = outcome.validation.min()
    assert len(outcome.validation) == len(outcome.objective) == 30
    assert outcome.best_epoch == outcome.validation.argmin() + 1 <= 20
    assert outcome.validation[-1] > 2 * best
    assert validation_loss(setup, outcome.weights) == pytest.approx(best, rel=1e-4)
    assert not outcome.diverged


def test_training_lowers_objective_and_validation_loss(setup):
    schedule = replace(SCHEDULE, max_epochs=60, patience=60)

    outcome = setup.train(schedule)

    assert outcome.objective[-1] < 0.5 * outcome.objective[0]
    assert outcome.validation.min() < 0.5 * validation_loss(setup, setup.start)


def test_patience_ends_a_run_across_calls(setup):
    reports = []
    still = Schedule(0.0, 0.0, max_epochs=200, patience=50, cosine=False)

    outcome = setup.train(still, report=lambda *values: reports.append(values))

    # The first epoch is the best one, and fifty more are not better.
    assert len(outcome.validation) == 51
    assert len(set(outcome.validation)) == 1
    assert outcome.best_epoch == 1
    last = outcome.objective[-1], outcome.validation[-1]
    assert [values[0] for values in reports] == [40, 51]
    assert reports[-1][1:] == last
    assert outcome.validation[0] == pytest.approx(
        validation_loss(setup, setup.start), rel=1e-5
    )


@pytest.mark.parametrize("shape", [ORTHOGONAL, FREE], ids=lambda s: s.projection)
def test_a_cayley_step_of_zero_leaves_every_bit_of_the_projection(shape):
    setup = make_setup(shape)

    outcome = setup.train(replace(SCHEDULE, cayley_step=0.0))

    start = single(setup.start)
    np.testing.assert_array_equal(outcome.weights.projection, start.projection)
    assert not np.array_equal(outcome.weights.kernels[0], start.kernels[0])


def test_the_identity_stays_the_identity():
    setup = make_setup(IDENTITY)

    outcome = setup.train(replace(SCHEDULE, cayley_step=20.0))

    np.testing.assert_array_equal(outcome.weights.projection, np.eye(2))
    assert not np.array_equal(outcome.weights.scales, single(setup.start).scales)


@pytest.mark.parametrize("cosine", [True, False])
def test_the_largest_step_keeps_projections_orthonormal(setup, cosine):
    schedule = Schedule(0.01, 20.0, max_epochs=60, patience=60, cosine=cosine)

    projection = setup.train(schedule).weights.projection.astype(np.float64)

    assert np.abs(projection.T @ projection - np.eye(2)).max() < 1e-6
    assert not np.allclose(projection, setup.start.projection, atol=0.1)


def test_the_same_seed_gives_the_same_bits(setup):
    one, two, other = (setup.train(seed=seed) for seed in (1, 1, 2))

    np.testing.assert_array_equal(one.objective, two.objective)
    np.testing.assert_array_equal(one.validation, two.validation)
    parts = tf.nest.flatten(one.weights), tf.nest.flatten(two.weights)
    for left, right in zip(*parts, strict=True):
        np.testing.assert_array_equal(left, right)
    assert not np.array_equal(one.objective, other.objective)


def test_the_number_of_padded_rows_does_not_matter(monkeypatch):
    setup = make_setup(FREE)
    schedule = replace(SCHEDULE, learning_rate=0.001, max_epochs=3)
    outcome = setup.train(schedule)
    monkeypatch.setattr(training, "_SMALLEST_ROWS", 200)
    monkeypatch.setattr(training, "_SMALLEST_BATCH", 56)

    wide = setup.train(schedule)

    np.testing.assert_allclose(wide.objective, outcome.objective, rtol=1e-6)
    np.testing.assert_allclose(wide.validation, outcome.validation, rtol=1e-6)
    # The last bias is normalised away: its gradient is rounding alone, of which Adam
    # makes much. That is felt a little in other small gradients, too.
    parts = (
        tf.nest.flatten(o.weights._replace(biases=o.weights.biases[:-1]))
        for o in (wide, outcome)
    )
    for left, right in zip(*parts, strict=True):
        np.testing.assert_allclose(left, right, rtol=0, atol=1e-5)


def test_rows_of_nearly_the_same_number_share_one_program(setup):
    program = sos_bp.epochs_program(ORTHOGONAL, BATCH, ROOM)
    setup.train()
    traced = program.experimental_get_tracing_count()

    for count, validation in [(101, 60), (102, 51), (100, 80)]:
        rows = make_rows(ORTHOGONAL, count), make_rows(ORTHOGONAL, validation)
        problem = make_problem(ORTHOGONAL, rows[0])
        setup.train(rows=rows, problem=problem)
    harder = setup.problem._replace(l1_projection=0.5, l1_scales=1, roughness=0.1)
    setup.train(problem=harder)
    setup.train(problem=setup.problem._replace(used=np.array([1.0, 0.0])))
    setup.train(Schedule(0.1, 0.1, max_epochs=45, patience=3, cosine=False))
    setup.train(replace(SCHEDULE, adaptive=True))
    setup.train(start=make_weights(ORTHOGONAL, setup.rows[0], seed=9))

    assert sos_bp.epochs_program(ORTHOGONAL, BATCH, ROOM) is program
    assert program.experimental_get_tracing_count() == traced == 1


def test_a_masked_component_keeps_its_scale(setup):
    masked = setup.problem._replace(
        used=np.array([0.0, 1.0]), used_categories=np.zeros(1)
    )

    outcome = setup.train(problem=masked)

    start = single(setup.start)
    assert outcome.weights.scales[0] == start.scales[0]
    assert outcome.weights.scales[1] != start.scales[1]
    np.testing.assert_array_equal(
        outcome.weights.category_scales, start.category_scales
    )


# Divergence, and what a fit says about it.


def test_absurd_steps_diverge(setup):
    outcome = setup.train(replace(SCHEDULE, learning_rate=1e30))

    assert outcome.diverged
    assert len(outcome.validation) < SCHEDULE.max_epochs
    finite = np.isfinite([outcome.objective[-1], outcome.validation[-1]])
    assert not finite.all()


def test_a_run_that_diverges_keeps_its_best_weights(setup, monkeypatch):
    monkeypatch.setattr(Schedule, "factor", begins_well)

    outcome = setup.train()

    assert outcome.diverged
    assert 1 <= outcome.best_epoch <= 3
    best = np.nanmin(outcome.validation)
    assert validation_loss(setup, outcome.weights) == pytest.approx(best, rel=1e-4)


def begins_well(_: Schedule, epochs: np.ndarray) -> np.ndarray:
    """Return three usable factors and then absurd ones."""
    return np.where(epochs < 3, 1.0, 1e34)


@pytest.fixture(scope="module")
def prepared() -> Prepared:
    """Return data for a fit, of the shape and sizes of the other tests."""
    tables = []
    for count in COUNTS:
        rows = make_rows(ORTHOGONAL, count)
        table = np.column_stack([rows.numeric, rows.codes]).astype(np.float64)
        tables.append((table, 10 * rows.target.astype(np.float64)))
    features = Features.learn(tables[0][0], [5], scaling="minmax")
    response = Response.learn(tables[0][1])
    rows = [
        encode_rows(features, response, table, y, np.ones(len(y)))
        for table, y in tables
    ]
    return Prepared(features, response, *rows, category_priors=np.full(3, 1e-3))


@pytest.fixture(scope="module")
def fit(prepared: Prepared) -> Callable[..., fitting.FitResult]:
    """Return a maker of fits that share the program of the other tests."""

    def make(**changes: Any) -> fitting.FitResult:
        chosen = replace(SETTINGS, **changes)
        assert fitting.network_shape(chosen, prepared) == ORTHOGONAL
        return fitting.train(chosen, prepared, seed=0)

    return make


SETTINGS = Settings(
    n_subnetworks=2,
    hidden=(4, 3),
    relaxation=0.0,
    max_epochs=6,
    refine_epochs=4,
    batch_size=BATCH,
)


def test_a_fit_that_diverges_at_once_is_an_error(fit):
    with pytest.raises(RidgelineError, match="training.*first epoch.*learning_rate"):
        fit(learning_rate=1e38)


def test_a_fit_that_diverges_later_warns_and_keeps_its_best(fit, prepared, monkeypatch):
    monkeypatch.setattr(Schedule, "factor", begins_well)

    with pytest.warns(ConvergenceWarning, match="training diverged in epoch"):
        fitted = fit()

    losses = fitted.history["validation_loss"]
    assert np.isfinite(fitted.validation_loss)
    assert fitted.validation_loss == np.nanmin(losses)
    assert 4 <= len(losses) <= 6
    table = prepared.features.centre + np.zeros((4, 5))
    decisions = fitted.scorer.decision_function(np.column_stack([table, np.zeros(4)]))
    assert np.isfinite(decisions).all()


def test_a_fits_validation_loss_is_that_of_its_scorer(fit, prepared):
    fitted = fit()

    # Back from the rows of the network to the columns of the table.
    rows, features = prepared.validation, prepared.features
    table = np.column_stack(
        [features.to_own_unit(j, rows.numeric[:, j]) for j in range(5)]
    )
    decisions = fitted.scorer.decision_function(np.column_stack([table, rows.codes]))
    y = rows.target * prepared.response.half + prepared.response.centre
    assert np.mean((decisions - y) ** 2) == pytest.approx(
        fitted.validation_loss, rel=1e-3
    )


def test_refinement_fixes_projections_and_leaves_out_what_was_pruned(fit, prepared):
    fitted = fit()
    pruned = prune_scorer(fitted.scorer, 0.01)
    assert np.count_nonzero(pruned.all_scales) == 1

    refined = fitting.refine(SETTINGS, prepared, fitted._replace(scorer=pruned), seed=0)

    scorer = refined.scorer
    np.testing.assert_array_equal(scorer.all_scales > 0, pruned.all_scales > 0)
    np.testing.assert_allclose(scorer.projection, pruned.projection, atol=1e-6)
    assert list(refined.history["stage"]) == ["training"] * 6 + ["refinement"] * 4


@pytest.mark.parametrize("max_epochs", [1, 2, 7])
def test_a_relaxed_fit_has_as_many_epochs_and_ends_orthogonal(prepared, max_epochs):
    chosen = replace(SETTINGS, relaxation=0.5, max_epochs=max_epochs)

    fitted = fitting.train(chosen, prepared, seed=0)

    assert list(fitted.history["stage"]) == ["training"] * max_epochs
    assert list(fitted.history["epoch"]) == list(range(1, max_epochs + 1))
    assert fitted.orthogonality_error < 1e-6
    projection = fitted.scorer.projection
    np.testing.assert_allclose(projection.T @ projection, np.eye(2), atol=1e-12)


def test_a_projection_that_is_fixed_is_not_relaxed(prepared):
    fixed = [
        fitting.train(
            replace(SETTINGS, relaxation=share, cayley_step=0.0), prepared, seed=0
        )
        for share in (0.0, 0.5)
    ]
    projections = [np.abs(each.scorer.projection) for each in fixed]
    np.testing.assert_allclose(*projections, atol=1e-7)
