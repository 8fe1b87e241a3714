"""What `training.py` measures: each task runs in a process of its own.

    python benchmarks/training_tasks.py step_ridgeline '{"seconds": 2}'

prints what it measured as one line of JSON.
"""

import json
import math
import resource
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import joblib
import numpy as np

SEED = 0
CORES = joblib.cpu_count()
P, K, HIDDEN, BATCH = 10, 10, (10, 6), 1000
ROWS = {"training": 8_000, "validation": 2_000, "test": 10_000}
# Rows of a batch that carry second derivatives, as `ridgeline.xnn.network` has it.
JET_ROWS = 250
Answer = dict[str, Any]

# --- Data ---


def draw_s1() -> dict[str, Any]:
    """Draw the rows of S1 by their use: training, validation, test."""
    from ridgeline.simulation.scenarios import draw

    rng = np.random.default_rng(SEED)
    return {name: draw("S1", count, rng) for name, count in ROWS.items()}


def scale(samples: dict[str, Any]) -> tuple[dict[str, Any], float, float]:
    """Bring features and responses to [-1, 1] by the training rows, as the paper does.

    Returns the arrays by use, and the response's centre and half range.
    """
    training = samples["training"]
    low, high = training.features.min(axis=0), training.features.max(axis=0)
    bottom, top = training.response.min(), training.response.max()
    centre, half = (top + bottom) / 2, (top - bottom) / 2
    arrays = {
        name: (
            ((2 * one.features - high - low) / (high - low)).astype(np.float32),
            ((one.response - centre) / half).astype(np.float32),
        )
        for name, one in samples.items()
    }
    return arrays, centre, half


def draw_wide(n: int, p: int) -> tuple[Any, Any]:
    """Draw rows of any width, for times alone."""
    rng = np.random.default_rng(SEED)
    X = rng.uniform(-1, 1, size=(n, p))
    return X, np.sin(np.pi * X[:, 0]) + X[:, 1:].sum(axis=1) / p + rng.normal(size=n)


# --- Tasks: each runs in a process of its own, and returns what it measured ---


def step_ridgeline(seconds: float) -> Answer:
    """Time a step alone, and a step with its share of the epoch's evaluations."""
    from ridgeline.xnn.runtime import start_tensorflow

    start_tensorflow()
    import tensorflow as tf

    from ridgeline.xnn import network, sos_bp, training
    from ridgeline.xnn.architecture import Architecture, Problem, Rows
    from ridgeline.xnn.schedules import Schedule
    from ridgeline.xnn.starts import initial_weights

    rng = np.random.default_rng(SEED)
    train, held = (
        Rows(
            x,
            np.zeros((len(y), 0), np.int32),
            y,
            np.ones_like(y),
            np.zeros_like(y),
        )
        for x, y in list(scale(draw_s1())[0].values())[:2]
    )
    shape = Architecture(P, K, (), HIDDEN, "tanh", "orthogonal", True, True, "squared")
    start = initial_weights(shape, train, rng)
    nothing = np.zeros(0)
    problem = Problem(1e-3, 1e-3, 1e-6, np.ones(K), nothing, nothing, nothing)
    schedule = Schedule(0.001, 0.1, max_epochs=50, patience=50, cosine=False)
    batches = len(train.target) // BATCH
    calls = 25 * batches

    @tf.function(jit_compile=True)
    def many_steps(state: Any, data: Any, order: Any, problem: Any) -> Any:
        sizes = sos_bp._StepSizes(*map(tf.constant, (0.1, 0.001, False, False)))

        def step(number: Any, state: Any) -> Any:
            where = sos_bp._BatchPlace(number % batches * BATCH, BATCH)
            batch = sos_bp._take(data, order, where, BATCH)
            return number + 1, sos_bp._step(shape, state, batch, problem, sizes)[0]

        begin = tf.constant(0), state
        return tf.while_loop(lambda number, _: number < calls, step, begin)[1]

    def tensors(values: Any) -> Any:
        return tf.nest.map_structure(lambda a: tf.constant(a, tf.float32), values)

    state = sos_bp.initial_state(network.pack(tensors(start)))
    strengths = tensors(problem)
    data = sos_bp.PaddedRows(
        Rows(*map(tf.constant, train)), tf.constant(len(train.target))
    )
    order = tf.constant(rng.permutation(len(train.target)).astype(np.int32))

    def run_steps() -> int:
        return int(many_steps(state, data, order, strengths).step)

    def run_epochs() -> int:
        both = training.Sets(train, held)
        outcome = training.train(
            shape, start, both, problem, schedule, rng=rng, batch_size=BATCH
        )
        return len(outcome.validation) * batches

    return _step_times(run_steps, run_epochs, seconds)


def step_keras(seconds: float, threads: int) -> Answer:
    """Time the same of the Keras model; with 0 threads TensorFlow chooses."""
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(threads)
    tf.config.threading.set_inter_op_parallelism_threads(threads)
    from keras_xnn import Trainer

    arrays, _, _ = scale(draw_s1())
    trainer = Trainer(arrays["training"], arrays["validation"], k=K, batch_size=BATCH)

    def run_epoch() -> int:
        trainer.run_epoch()
        return ROWS["training"] // BATCH

    return _step_times(trainer.run_steps, run_epoch, seconds)


def _step_times(
    run_steps: Callable[[], int], run_epochs: Callable[[], int], seconds: float
) -> Answer:
    run_steps(), run_epochs()  # compiles
    _wait_for_the_others()
    step = _median_seconds(run_steps, seconds)
    return {"step": step, "in_epoch": _median_seconds(run_epochs, seconds)}


def _median_seconds(call: Callable[[], int], seconds: float) -> float:
    """Time one piece of work, by a call that says how many it did."""
    times: list[float] = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        count = call()
        times.append((time.perf_counter() - start) / count)
    return statistics.median(times)


def _wait_for_the_others() -> None:
    print("ready", flush=True)
    sys.stdin.readline()


def matmul(seconds: float, size: int = 512) -> Answer:
    """Measure the rate of one core at float32 products."""
    from threadpoolctl import threadpool_limits

    a, b = np.random.default_rng(SEED).random((2, size, size), dtype=np.float32)

    def products() -> int:
        for _ in range(20):
            a @ b
        return 20

    with threadpool_limits(1):
        products()
        _wait_for_the_others()
        return {"flops": 2 * size**3 / _median_seconds(products, seconds)}


def grid_ridgeline(settings: Answer, points: int) -> Answer:
    """Search a grid on all cores; test the chosen model."""
    from ridgeline import XNNRegressor
    from ridgeline.xnn.search import PAPER_GRID, grid_search

    samples = draw_s1()
    train, held, test = samples.values()
    found = grid_search(
        XNNRegressor(random_state=SEED, **settings),
        train.features,
        train.response,
        validation_data=(held.features, held.response),
        grid={name: values[:points] for name, values in PAPER_GRID.items()},
    )
    finished = time.time()
    table, predicted = found.table, found.model.predict(test.features)
    counts = {"fits": len(table), "epochs": int(table["epochs"].sum())}
    return counts | {"finished": finished} | _test_errors(predicted, test)


def grid_keras(max_epochs: int) -> Answer:
    """Fit the Keras model once, to its early stop."""
    from keras_xnn import Trainer

    samples = draw_s1()
    arrays, centre, half = scale(samples)
    trainer = Trainer(arrays["training"], arrays["validation"], k=K, batch_size=BATCH)
    epochs = trainer.fit(max_epochs, patience=500)
    finished = time.time()
    predicted = centre + half * trainer.model(arrays["test"][0]).numpy()
    counts = {"fits": 1, "epochs": epochs, "finished": finished}
    return counts | _test_errors(predicted, samples["test"])


def _test_errors(predicted: Any, test: Any) -> Answer:
    return {
        "excess error": float(np.mean((predicted - test.truth) ** 2)),
        "test MSE": float(np.mean((predicted - test.response) ** 2)),
    }


def growth(n: int, p: int, k: int, steps: int) -> Answer:
    """Time an epoch, and what a fit needs besides its epochs."""
    from ridgeline import XNNRegressor
    from ridgeline.xnn.schedules import named_schedule, refinement

    X, y = draw_wide(n, p)
    batches = math.ceil(0.8 * n / BATCH)
    schedule = named_schedule("cosine", batches)
    epochs = max(2, math.ceil(steps / batches))

    def fit(epochs: int) -> float:
        model = XNNRegressor(
            n_subnetworks=k, max_epochs=epochs, prune_share=None, random_state=SEED
        )
        start = time.perf_counter()
        model.fit(X, y)
        return time.perf_counter() - start

    first, one, more = fit(1), fit(1), fit(1 + epochs)
    return {
        "compile": first - one,
        "epoch": (more - one) / epochs,
        "besides": max(0.0, one - (more - one) / epochs),
        "epochs": schedule.max_epochs,
        "refine_epochs": refinement(schedule).max_epochs,
    }


def write_rows(n: int, folder: str) -> Answer:
    """Write rows to files, so that drawing them costs the next process no memory."""
    for name, array in zip("Xy", draw_wide(n, P), strict=True):
        np.save(Path(folder) / f"{name}.npy", array)
    return {}


def memory(folder: str) -> Answer:
    """Measure the peak memory of a fit, and of what comes before it."""
    from ridgeline import XNNRegressor
    from ridgeline.xnn.runtime import start_tensorflow

    start_tensorflow()
    started = _peak_mb()
    X, y = (np.load(Path(folder) / f"{name}.npy") for name in "Xy")
    loaded = _peak_mb()
    XNNRegressor(random_state=SEED, max_epochs=2, refine_epochs=1).fit(X, y)
    size = (X.nbytes + y.nbytes) / 1e6
    before = {"TensorFlow": started, "input": size, "with input": loaded}
    return before | {"fitted": _peak_mb()}


def _peak_mb() -> float:
    unit = 1024 if sys.platform == "linux" else 1
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def compile_once(settings: Answer) -> Answer:
    """Time fits one after the other in one process, and count the programs traced."""
    from ridgeline import XNNRegressor
    from ridgeline.xnn.runtime import start_tensorflow

    start = time.perf_counter()
    start_tensorflow()
    from ridgeline.xnn import sos_bp, training

    imported = time.perf_counter() - start
    programs = set()

    def remember(*arguments: Any) -> Any:
        program = sos_bp.epochs_program(*arguments)
        programs.add(program)
        return program

    training.epochs_program = remember
    rows = draw_s1()["test"]

    def fit(count: int, changed: Answer) -> float:
        model = XNNRegressor(random_state=SEED, **settings | changed)
        start = time.perf_counter()
        model.fit(rows.features[:count], rows.response[:count])
        return time.perf_counter() - start

    fits, traced = {}, 0
    for name, count, changed in (
        ("10,000 rows", 10_000, {}),
        ("other l1 penalties", 10_000, {"l1_projection": 1e-2, "l1_scales": 1e-4}),
        ("other roughness and steps", 10_000, {"roughness": 1e-5, "cayley_step": 5.0}),
        ("50 rows less", 9_950, {}),
        ("2,000 rows less", 8_000, {}),
    ):
        seconds = fit(count, changed), fit(count, changed)
        total = sum(one.experimental_get_tracing_count() for one in programs)
        fits[name] = *seconds, total - traced
        traced = total
    return {"import": imported, "fits": fits}


def predict(n: int, repetitions: int, settings: Answer) -> Answer:
    """Time the prediction of many rows: best of several repetitions."""
    from sklearn.neural_network import MLPRegressor

    from ridgeline import XNNRegressor
    from ridgeline.simulation.scenarios import draw

    rows = draw_s1()["training"]
    X = draw("S1", n, np.random.default_rng(SEED + 1)).features
    few = {"hidden_layer_sizes": (100, 60), "max_iter": 5}
    models = {
        "MLPRegressor (100, 60), relu": MLPRegressor(**few),
        "MLPRegressor (100, 60), tanh": MLPRegressor(activation="tanh", **few),
        "XNNRegressor, all components": XNNRegressor(**settings, prune_share=None),
        "XNNRegressor, pruned": XNNRegressor(**settings),
    }
    answer = {}
    for name, model in models.items():
        model.set_params(random_state=SEED).fit(rows.features, rows.response)
        times = []
        for _ in range(repetitions):
            start = time.perf_counter()
            model.predict(X)
            times.append(time.perf_counter() - start)
        used = np.count_nonzero(getattr(model, "scales_", ()))
        answer[name] = min(times), str(used or "")
    return {"models": answer}


TASKS: dict[str, Callable[..., Answer]] = {
    task.__name__: task
    for task in (
        [step_ridgeline, step_keras, matmul, grid_ridgeline, grid_keras]
        + [growth, write_rows, memory, compile_once, predict]
    )
}


def main() -> None:
    """Run one task."""
    name, settings = sys.argv[1:]
    print(json.dumps(TASKS[name](**json.loads(settings)), default=float))


if __name__ == "__main__":
    main()
