"""Training's state in a file, so that an interrupted fit goes on where it was.

A checkpoint belongs to one problem: rows, start, penalties and schedule are hashed into
it, and a file with another hash is ignored. The file is a plain archive of arrays,
written whole or not at all, and read without pickle.
"""

import hashlib
import json
import logging
import zipfile
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ridgeline.files import replace_file

__all__ = ["Checkpoint", "Moment", "fingerprint"]

logger = logging.getLogger(__name__)


class Moment(NamedTuple):
    """Where training stands between two calls of the compiled program."""

    state: dict[str, NDArray[Any]]  # the fields of `sos_bp.State`
    losses: NDArray[np.float32]  # objective and validation loss, (2, epochs)
    generator: dict[str, Any]  # state of the generator that shuffles


class Checkpoint:
    """One file that holds the last moment of a training run."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def load(self, problem: str) -> Moment | None:
        """The last moment of this problem, or None to start from the beginning."""
        try:
            with self._path.open("rb") as file:
                arrays = dict(np.load(file, allow_pickle=False))
        except (OSError, ValueError, EOFError, zipfile.BadZipFile):
            return None  # not there, or not one of ours
        if str(arrays.pop("problem", "")) != problem:
            return None
        generator = json.loads(str(arrays.pop("generator")))
        moment = Moment(arrays, arrays.pop("losses"), generator)
        epochs = moment.losses.shape[1]
        logger.info("Going on after epoch %d of a fit that was interrupted.", epochs)
        return moment

    def save(self, problem: str, moment: Moment) -> None:
        """Replaces the file by this moment."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        content = BytesIO()
        np.savez(
            content,
            allow_pickle=False,
            problem=np.array(problem),
            generator=np.array(json.dumps(moment.generator)),
            losses=moment.losses,
            **moment.state,
        )
        replace_file(self._path, content.getvalue())

    def remove(self) -> None:
        """Forgets the run: it is finished."""
        self._path.unlink(missing_ok=True)


def fingerprint(*parts: Any) -> str:
    """A hash of nested structures of arrays and plain values."""
    digest = hashlib.sha256()
    _add(digest, parts)
    return digest.hexdigest()


def _add(digest: Any, part: Any) -> None:
    if isinstance(part, np.ndarray):
        digest.update(f"{part.dtype}{part.shape}".encode())
        digest.update(np.ascontiguousarray(part).data)
    elif isinstance(part, tuple | list):
        digest.update(f"{type(part).__name__}{len(part)}".encode())
        for one in part:
            _add(digest, one)
    else:
        digest.update(repr(part).encode())
