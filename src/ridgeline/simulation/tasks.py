"""One task of the study: a model on one repetition of a scenario at one size.

Everything random in a task comes from the study's seed, the scenario, the size and the
repetition, so that any task can be run again alone and gives the same numbers.
"""

import json
import time
from typing import Any, Final, NamedTuple

import numpy as np
from joblib import parallel_config
from threadpoolctl import threadpool_limits

from ridgeline.baselines.fitting import NotApplicable, fit_baseline
from ridgeline.baselines.settings import BaselineSettings
from ridgeline.baselines.sizes import explainable_network
from ridgeline.simulation.recovery import describe_projections, recovered
from ridgeline.simulation.scenarios import SCENARIOS, Draw, draw
from ridgeline.simulation.settings import NETWORKS, NetworkSearch, StudySettings
from ridgeline.xnn.estimator import XNNRegressor
from ridgeline.xnn.scorer import Scorer, scoring_threads, without_range_warnings
from ridgeline.xnn.search import coherence_search, grid_search, start_search
from ridgeline.xnn.stages import refine
from ridgeline.xnn.storage import model_document

__all__ = [
    "RECORD_COLUMNS",
    "Record",
    "TaskData",
    "Task",
    "TaskResult",
    "draw_data",
    "run_task",
]

Record = dict[str, Any]

# Columns of the study's long table; a model leaves empty what it does not have.
RECORD_COLUMNS: Final = (
    "scenario n repetition model mse excess excess_all_rows n_components n_parameters "
    "orthogonality_error overlap_mean overlap_max correlation_mean cosine_mean "
    "cosine_min curve_error validation_loss chosen fits seconds not_applicable"
).split()


class Task(NamedTuple):
    """What is computed at once, and stored."""

    scenario: str
    n: int
    repetition: int
    model: str

    def __str__(self) -> str:
        """For people: progress and messages."""
        return f"{self.scenario} n={self.n:,} no. {self.repetition + 1} {self.model}"


class TaskData(NamedTuple):
    """The data of a task, the same for every model."""

    train: Draw
    validation: Draw
    test: Draw
    model_seed: int


class TaskResult(NamedTuple):
    """What a task leaves."""

    record: Record  # one row of the study's long table
    network: dict[str, Any] | None  # the fitted network as a document, if it is one


def draw_data(task: Task, settings: StudySettings, seed: int) -> TaskData:
    """Draws the data of a task."""
    root = np.random.SeedSequence(
        [seed, list(SCENARIOS).index(task.scenario), task.n, task.repetition]
    )
    for_sample, for_test, for_model = root.spawn(3)
    sample = draw(task.scenario, task.n, np.random.default_rng(for_sample))
    # At least one row chooses and at least one trains, however small n is.
    held = min(task.n - 1, max(1, round(settings.validation_share * task.n)))
    return TaskData(
        train=Draw(*(part[:-held] for part in sample)),
        validation=Draw(*(part[-held:] for part in sample)),
        test=draw(task.scenario, settings.test_rows, np.random.default_rng(for_test)),
        model_seed=int(for_model.generate_state(1)[0] % 2**31),
    )


def run_task(task: Task, settings: StudySettings, seed: int) -> TaskResult:
    """Tunes, fits and judges one model.

    Returns:
        The record: test error and the excess over the noise, how the model was chosen,
        by how many fits and in how many seconds of the processor, and for networks how
        their projections lie; and the network itself.
    """
    rows = draw_data(task, settings, seed)
    # Of the processor: other work on the machine, or a pause, does not count.
    began = time.process_time()
    # One core for a task, wherever it runs and whatever n_jobs a model is set to: cores
    # are shared out by tasks.
    with (
        threadpool_limits(1),
        scoring_threads(1),
        without_range_warnings(),
        parallel_config(backend="sequential"),
    ):
        if task.model in NETWORKS:
            model, facts = _fit_network(settings.network(task.model), rows)
        else:
            own = settings.baseline(task.model)
            model, facts = _fit_baseline(task.model, own, rows)
        seconds = time.process_time() - began
        record: Record = {**task._asdict(), "seconds": seconds, **facts}
        if model is None:
            return TaskResult(record, None)
        record |= _errors(model, rows.test)
        scorer = getattr(model, "scorer_", None)
        if not isinstance(scorer, Scorer):
            return TaskResult(record, None)
        if task.model in NETWORKS:
            record["excess_all_rows"] = _excess_all_rows(model, rows)
        record |= describe_projections(scorer, rows.test.features)
        record |= recovered(scorer, task.scenario, rows.test.features)
    return TaskResult(record, model_document(scorer))


def _fit_network(search: NetworkSearch, rows: TaskData) -> tuple[Any, Record]:
    """A network: the grid, lambda3 and overlap at its choice, and starts at all."""
    data = *rows.train.observed, None, rows.validation.observed
    given = {"random_state": rows.model_seed, "roughness": search.roughness[0]}
    model = XNNRegressor(**given | search.settings)
    found = grid_search(model, *data, grid=search.points, n_jobs=1)
    fits = len(found.table)
    if len(search.roughness) > 1:
        # The smallest loss: a smoother curve has no fewer components to choose it for.
        roughness = {"roughness": search.roughness}
        found = grid_search(
            found.model, *data, grid=roughness, standard_errors=0, n_jobs=1
        )
        fits += len(found.table)
    if search.coherence:
        found = coherence_search(
            found.model, *data, coherence=search.coherence, n_jobs=1
        )
        fits += len(found.table)
    if search.n_starts > 1:
        found = start_search(found.model, *data, n_starts=search.n_starts, n_jobs=1)
        fits += len(found.table)
    overlap = ["coherence"] if search.coherence else []
    model, chosen = found.model, [*search.points, "roughness", *overlap]
    facts = {
        "validation_loss": model.validation_loss_,
        "n_parameters": explainable_network(model.scorer_),
        "n_components": int(np.count_nonzero(model.scales_)),
        "orthogonality_error": model.orthogonality_error_,
        "chosen": json.dumps({name: getattr(model, name) for name in chosen}),
        "fits": fits,
    }
    return model, facts


def _excess_all_rows(model: XNNRegressor, rows: TaskData) -> float:
    """What the rows that chose are worth, free for training once the choice is made."""
    pairs = zip(rows.train.observed, rows.validation.observed, strict=True)
    X, y = (np.concatenate(pair) for pair in pairs)
    refined = refine(model, X, y, validation_data=(X, y))
    return float(_errors(refined, rows.test)["excess"])


def _fit_baseline(
    name: str, settings: BaselineSettings, rows: TaskData
) -> tuple[Any, Record]:
    """The model, if the method applies, and what is known about how it was fitted."""
    sets = rows.train.observed, rows.validation.observed
    try:
        fitted = fit_baseline(
            name, "regression", settings, *sets, rows.model_seed, n_jobs=1
        )
    except NotApplicable as reason:
        return None, {"not_applicable": str(reason), "fits": 0}
    losses = fitted.tuning_table["validation_loss"]
    facts = {
        "validation_loss": None if losses.isna().all() else float(losses.min()),
        "n_parameters": fitted.n_parameters,
        "n_components": fitted.n_components,
        "orthogonality_error": getattr(fitted.model, "orthogonality_error_", None),
        "chosen": json.dumps(fitted.best),
        "fits": fitted.n_fits,
    }
    return fitted.model, facts


def _errors(model: Any, test: Draw) -> Record:
    predicted = model.predict(test.features)
    return {
        "mse": float(np.mean((predicted - test.response) ** 2)),
        "excess": float(np.mean((predicted - test.truth) ** 2)),
    }
