"""Results of the study, one small file for each task.

A file's name carries a hash of everything that the result depends on: the task, the
seed, the model's settings and grid, and the version of Ridgeline. So a finished task is
found again, one whose parameters changed is not, and former results stay.
"""

import hashlib
import json
import logging
from pathlib import Path
from typing import Any, Final

from ridgeline import __version__
from ridgeline.baselines.registry import BASELINES
from ridgeline.errors import InputError
from ridgeline.files import replace_file
from ridgeline.simulation.settings import StudySettings
from ridgeline.simulation.tasks import Task, TaskResult

__all__ = ["ResultStore"]

logger = logging.getLogger(__name__)

_HASH_DIGITS: Final = 12


class ResultStore:
    """A folder of results."""

    def __init__(self, settings: StudySettings, seed: int) -> None:
        """Opens the folder of a study, and makes it if it is not there.

        Args:
            settings: Of the study.
            seed: Of the study.

        Raises:
            InputError: If the folder cannot be made.
        """
        self._settings = settings
        self._seed = seed
        self._folder = Path(settings.results)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            message = (
                f"The folder of the study's results, {settings.results!r}, cannot be "
                f"made ({error.strerror}); set study.results to one that can."
            )
            raise InputError(message) from error

    def load(self, task: Task) -> TaskResult | None:
        """The result of a task, or None if it is still to be computed."""
        path = self._path(task)
        try:
            document = json.loads(path.read_bytes())
            result = TaskResult(document["record"], document["network"])
            whole = Task(*(result.record[name] for name in Task._fields)) == task
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError):
            whole = False
        if whole:
            return result
        logger.warning("The result %s is damaged and computed again.", path.name)
        return None

    def save(self, task: Task, result: TaskResult) -> None:
        """Stores the result of a task, whole or not at all.

        Raises:
            InputError: If the folder cannot be written to.
        """
        document = {"parameters": self._parameters(task), **result._asdict()}
        content = json.dumps(document).encode() + b"\n"
        try:
            replace_file(self._path(task), content)
        except OSError as error:
            message = (
                f"The result of the task {task} cannot be written to the folder "
                f"{self._settings.results!r} ({error.strerror}); what was done before "
                "is stored: mend the cause and start again."
            )
            raise InputError(message) from error

    def _path(self, task: Task) -> Path:
        text = json.dumps(self._parameters(task), sort_keys=True)
        digest = hashlib.sha256(text.encode()).hexdigest()[:_HASH_DIGITS]
        name = f"{task.scenario}-{task.n}-{task.repetition}-{task.model}-{digest}.json"
        return self._folder / name

    def _parameters(self, task: Task) -> dict[str, Any]:
        """What the result depends on, in the types of JSON."""
        settings = self._settings
        return {
            "task": list(task),
            "seed": self._seed,
            "validation_share": settings.validation_share,
            "test_rows": settings.test_rows,
            "model": _model_parameters(task.model, settings),
            "ridgeline": __version__,
        }


def _model_parameters(model: str, settings: StudySettings) -> dict[str, Any]:
    if model == "xnn":
        return settings.network.model_dump(mode="json")
    method = BASELINES[model]
    registered = {"grid": dict(method.grid), "settings": dict(method.settings)}
    own = settings.baseline(model).model_dump(mode="json")
    return own | {"registered": registered}
