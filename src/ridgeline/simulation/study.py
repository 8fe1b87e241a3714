"""The study: all tasks, in processes of this machine or on a Dask cluster.

A result is stored by this process as soon as its task is done, so that nothing is lost
when the study is interrupted, and workers need no folder in common.
"""

import logging
import warnings
from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from joblib import Parallel, delayed

from ridgeline.errors import InputError, RidgelineError
from ridgeline.simulation.attempt import Call, Outcome, attempt
from ridgeline.simulation.cluster import ClusterError, cluster_results
from ridgeline.simulation.origin import origin
from ridgeline.simulation.progress import StudyProgress
from ridgeline.simulation.settings import StudySettings
from ridgeline.simulation.store import ResultStore
from ridgeline.simulation.tasks import Record, Task, TaskResult

__all__ = ["StudyError", "StudyResult", "plan", "run_study"]

logger = logging.getLogger(__name__)


class StudyError(RidgelineError):
    """A task failed, or those who did the work were lost."""


@dataclass(frozen=True)
class StudyResult:
    """All tasks of a study.

    Args:
        records: One for each task, in the order of the plan.
        networks: Documents of the networks by scenario and model, in the order of the
            plan, at the largest size and in the first repetition.
        computed: Tasks that were not stored before.
    """

    records: list[Record]
    networks: dict[str, dict[str, Any]]
    computed: int


def plan(settings: StudySettings) -> list[Task]:
    """All tasks: one repetition after the other, large samples first.

    So an interrupted study has whole repetitions, and the last tasks are short ones,
    which keeps every process busy to the end.
    """
    return [
        Task(scenario, n, repetition, model)
        for repetition in range(settings.repetitions)
        for n in sorted(settings.sizes, reverse=True)
        for model in settings.models
        for scenario in settings.scenarios
    ]


def run_study(settings: StudySettings, seed: int, *, shown: bool = True) -> StudyResult:
    """Runs all tasks that are not stored yet.

    Raises:
        InputError: If the scheduler does not answer or has no worker, results cannot
            be stored, or nothing is stored and nothing may be computed.
        StudyError: If a task fails, or a process or the cluster is lost; what was done
            is stored.
    """
    store = ResultStore(settings, seed)
    tasks = plan(settings)
    stored = {task: store.load(task) for task in tasks}
    results = {task: result for task, result in stored.items() if result is not None}
    missing = [task for task in tasks if task not in results]
    if results:
        logger.info("Stored already: %d of %d tasks", len(results), len(tasks))
    if missing and not settings.compute:
        _tell_unfinished(settings, len(tasks), len(results))
        missing = []
    if missing:
        with (
            StudyProgress(missing, shown) as progress,
            closing(_outcomes(missing, settings, seed)) as outcomes,
        ):
            for plain, outcome in outcomes:
                task = Task(*plain)
                if isinstance(outcome, Exception):
                    raise _failed(task, outcome) from outcome
                store.save(task, outcome)
                results[task] = outcome
                progress.done(task, outcome.record)
    in_order = {task: results[task] for task in tasks if task in results}
    records = [result.record for result in in_order.values()]
    return StudyResult(records, _networks(settings, in_order), len(missing))


def _tell_unfinished(settings: StudySettings, n_tasks: int, n_stored: int) -> None:
    """Says how much is stored of a study that someone else may be running."""
    if not n_stored:
        message = (
            f"None of the study's {n_tasks:,} tasks is stored in "
            f"{settings.results!r}; set study.compute to true to run them."
        )
        raise InputError(message)
    logger.warning(
        "The study is not finished: %s of %s tasks are left out",
        f"{n_tasks - n_stored:,}",
        f"{n_tasks:,}",
    )


def _outcomes(
    tasks: Sequence[Task], settings: StudySettings, seed: int
) -> Generator[Outcome]:
    """Tasks with their results or errors, as they are done."""
    text, made_by = settings.model_dump_json(), origin()
    calls = [Call(task[:], text, seed, made_by) for task in tasks]
    return (_here if settings.scheduler is None else _on_cluster)(calls, settings)


def _here(calls: Sequence[Call], settings: StudySettings) -> Generator[Outcome]:
    """Runs tasks in processes of this machine."""
    parallel = Parallel(
        n_jobs=settings.n_jobs,
        return_as="generator_unordered",
        pre_dispatch="all",
        batch_size=1,
    )
    with warnings.catch_warnings():
        # A process that compiled for many sizes may be replaced by a fresh one.
        warnings.filterwarnings("ignore", message="A worker stopped while some jobs")
        # Said when an error ends the study: there is nothing that a user could adjust.
        warnings.filterwarnings("ignore", message=r"\d+ tasks (which|have been)")
        try:
            jobs = parallel(delayed(attempt)(call) for call in calls)
            with closing(jobs):
                yield from jobs
        except Exception as error:  # of a task they are values: this is of a process
            message = (
                f"A process of the study was lost ({type(error).__name__}), perhaps "
                "for want of memory; what was done is stored: start again, with a "
                "smaller study.n_jobs if memory was short."
            )
            raise StudyError(message) from error


def _on_cluster(calls: Sequence[Call], settings: StudySettings) -> Generator[Outcome]:
    """Runs tasks on a Dask cluster."""
    address = str(settings.scheduler)
    try:
        yield from cluster_results(attempt, calls, address, settings.patience)
    except ClusterError as error:
        message = (
            f"The cluster of the scheduler {address!r} was lost, because {error}; what "
            "was done is stored: start the cluster again, or set study.scheduler to "
            "null to work here, and start the study again."
        )
        raise StudyError(message) from error


def _failed(task: Task, error: Exception) -> StudyError:
    reason = str(error).rstrip(".")
    return StudyError(
        f"The task {task} failed ({type(error).__name__}: {reason}); what was done "
        "before is stored: mend the cause and start again."
    )


def _networks(
    settings: StudySettings, results: dict[Task, TaskResult]
) -> dict[str, dict[str, Any]]:
    """The networks that are drawn, by scenario and model."""
    found: dict[str, dict[str, Any]] = {}
    for task, (_, network) in results.items():
        if network is not None and (task.n, task.repetition) == (settings.largest, 0):
            found.setdefault(task.scenario, {})[task.model] = network
    return found
