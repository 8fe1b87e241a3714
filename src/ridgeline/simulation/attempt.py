"""What a process of the study is asked to do, in plain types.

A Dask scheduler unpacks what it passes on to its workers: with the types of the study
it would import scikit-learn, and answer nobody for seconds. So nothing heavy is
imported here before a task runs.
"""

from typing import TYPE_CHECKING, NamedTuple

from ridgeline.errors import RidgelineError

if TYPE_CHECKING:
    from ridgeline.simulation.tasks import TaskResult

__all__ = ["Call", "Outcome", "attempt", "check_origin"]

# A task is (scenario, n, repetition, model).
PlainTask = tuple[str, int, int, str]


class Call(NamedTuple):
    """One task, with all that it needs."""

    task: PlainTask
    settings: str  # of the study, as JSON
    seed: int
    made_by: dict[str, str]  # the code and libraries of the run, as `origin` tells


# A task, and its result or what went wrong.
Outcome = tuple[PlainTask, "TaskResult | Exception"]


def attempt(call: Call) -> Outcome:
    """Runs a task; an error comes back as a value, so that its task is known."""
    from ridgeline.simulation.settings import StudySettings
    from ridgeline.simulation.tasks import Task, run_task

    try:
        check_origin(call.made_by)
        settings = StudySettings.model_validate_json(call.settings)
        return call.task, run_task(Task(*call.task), settings, call.seed)
    except Exception as error:
        return call.task, error


def check_origin(expected: dict[str, str]) -> None:
    """Refuses to compute what would be stored as the work of other code.

    Raises:
        RidgelineError: If this process is not of the run's code and libraries.
    """
    from ridgeline.simulation.origin import origin

    found = origin()
    differing = [name for name in expected if found.get(name) != expected[name]]
    if differing:
        names = ", ".join(differing).replace("code", "Ridgeline")
        message = (
            f"the process that was to run it has another {names} than the run; install "
            "the same everywhere, and start its processes again"
        )
        raise RidgelineError(message)
