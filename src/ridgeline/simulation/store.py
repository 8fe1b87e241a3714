"""Results of the study, one small file for each task.

A file's name carries a hash of everything that the result depends on: the task, the
seed, the model's settings and grid, Ridgeline's code and the libraries. So a finished
task is found again, one whose parameters or code changed is not, and former results
stay. The file has a checksum of all that is in it: one that was damaged is set aside
under another name, and its task is computed again.
"""

import hashlib
import json
import logging
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Any, Final

from ridgeline.baselines.registry import BASELINES
from ridgeline.errors import InputError
from ridgeline.files import replace_file
from ridgeline.provenance import git_state
from ridgeline.simulation.origin import origin
from ridgeline.simulation.settings import NETWORKS, StudySettings
from ridgeline.simulation.tasks import Task, TaskResult

__all__ = ["ResultStore"]

logger = logging.getLogger(__name__)

_HASH_DIGITS: Final = 12


class ResultStore:
    """A folder of results."""

    def __init__(self, settings: StudySettings, seed: int) -> None:
        """Opens the folder of a study, and makes it if it is not there.

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
        """The result of a task, or None if it is still to be computed.

        A file that is damaged is set aside, and the log says under which name.
        """
        path = self._path(task)
        try:
            return self._read(task, path)
        except FileNotFoundError:
            return None
        except OSError as error:
            damage = f"cannot be read ({error.strerror})"
        except (ValueError, KeyError, RecursionError):
            damage = "is damaged"
        self._set_aside(path, damage)
        return None

    def save(self, task: Task, result: TaskResult) -> None:
        """Stores the result of a task, whole or not at all.

        Raises:
            InputError: If the folder cannot be written to.
        """
        content = {
            "parameters": self._parameters(task),
            "made_at": self._made_at,
            **result._asdict(),
        }
        document = content | {"sha256": _checksum(content)}
        try:
            replace_file(self._path(task), json.dumps(document).encode() + b"\n")
        except OSError as error:
            message = (
                f"The result of the task {task} cannot be written to the folder "
                f"{self._settings.results!r} ({error.strerror}); what was done before "
                "is stored: mend the cause and start again."
            )
            raise InputError(message) from error

    def _read(self, task: Task, path: Path) -> TaskResult:
        """The result in a file; a ValueError if it is not as it was saved."""
        document = json.loads(path.read_bytes())
        if not isinstance(document, dict):
            message = "not an object"
            raise ValueError(message)
        checksum = document.pop("sha256", None)
        whole = checksum == _checksum(document)
        # The name has a part of the hash alone, and a file may be renamed.
        if not whole or document["parameters"] != self._parameters(task):
            message = "not what was saved"
            raise ValueError(message)
        return TaskResult(document["record"], document["network"])

    def _set_aside(self, path: Path, damage: str) -> None:
        """Renames a file, so that its task is computed again and nothing is lost."""
        names = (path.with_name(f"{path.name}.damaged-{n}") for n in count(1))
        aside = next(name for name in names if not name.exists())
        try:
            path.rename(aside)
        except OSError as error:
            logger.warning(
                "The result %s %s and cannot be set aside (%s); its task is to be "
                "computed again.",
                path.name,
                damage,
                error.strerror,
            )
            return
        logger.warning(
            "The result %s %s; it is set aside as %s, and its task is to be computed "
            "again.",
            path.name,
            damage,
            aside.name,
        )

    def _path(self, task: Task) -> Path:
        digest = _checksum(self._parameters(task))[:_HASH_DIGITS]
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
            "origin": origin(),
        }

    @cached_property
    def _made_at(self) -> dict[str, Any] | None:
        """The commit of the code, for readers: the result does not depend on it."""
        state = git_state(Path(__file__).parent)
        return None if state is None else state._asdict()


def _model_parameters(model: str, settings: StudySettings) -> dict[str, Any]:
    """How a model is tuned and fitted, with what the settings leave to defaults."""
    if model in NETWORKS:
        search = settings.network(model)
        return search.model_dump(mode="json") | {"grid": _in_json(search.points)}
    own, method = settings.baseline(model), BASELINES[model]
    return own.model_dump(mode="json") | {
        "grid": _in_json(method.grid if own.grid is None else own.grid),
        "settings": _in_json(dict(method.settings) | own.settings),
        "max_rows": own.max_rows or method.max_rows,
    }


def _in_json(values: Any) -> Any:
    """Values as they come back from a file: tuples as lists."""
    return json.loads(json.dumps(dict(values)))


def _checksum(content: dict[str, Any]) -> str:
    """Of the content, not the layout."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
