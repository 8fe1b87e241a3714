"""Training's state in a file, so that an interrupted fit goes on where it was.

A checkpoint belongs to one problem: rows, start, penalties, schedule and release are
hashed into it, and a file with another hash is ignored. The file is a plain archive of
arrays with a checksum behind it, written whole or not at all, and read without pickle.
One that was damaged is set aside: the fit begins again, and ends with the model that it
should.
"""

import hashlib
import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ridgeline.errors import RidgelineError
from ridgeline.files import replace_file

__all__ = ["Checkpoint", "Snapshot", "fingerprint"]

logger = logging.getLogger(__name__)

_CHECKSUM_BYTES: Final = hashlib.sha256().digest_size


class Snapshot(NamedTuple):
    """Where training stands between two calls of the compiled program."""

    state: dict[str, NDArray[Any]]  # the fields of `sos_bp.State`
    losses: NDArray[np.float32]  # objective and validation loss, (2, epochs)
    generator: dict[str, Any]  # state of the generator that shuffles


class Checkpoint:
    """One file that holds the last snapshot of a training run."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def load(self, problem: str) -> Snapshot | None:
        """The last snapshot of this problem, or None to start from the beginning.

        Raises:
            RidgelineError: If there is a file that cannot be read.
        """
        with self._explained():
            if not self._path.exists():
                return None
            content = self._path.read_bytes()
        archive, checksum = content[:-_CHECKSUM_BYTES], content[-_CHECKSUM_BYTES:]
        if _checksum(archive) != checksum:
            self._set_aside()
            return None
        arrays = dict(np.load(BytesIO(archive), allow_pickle=False))
        if str(arrays.pop("problem")) != problem:
            return None
        generator = json.loads(str(arrays.pop("generator")))
        snapshot = Snapshot(arrays, arrays.pop("losses"), generator)
        epochs = snapshot.losses.shape[1]
        logger.info("Going on after epoch %d of a fit that was interrupted.", epochs)
        return snapshot

    def save(self, problem: str, snapshot: Snapshot) -> None:
        """Replaces the file by this snapshot.

        Raises:
            RidgelineError: If it cannot be written; the former snapshot is still there.
        """
        content = BytesIO()
        np.savez(
            content,
            allow_pickle=False,
            problem=np.array(problem),
            generator=np.array(json.dumps(snapshot.generator)),
            losses=snapshot.losses,
            **snapshot.state,
        )
        archive = content.getvalue()
        with self._explained():
            self._path.parent.mkdir(parents=True, exist_ok=True)
            replace_file(self._path, archive + _checksum(archive))

    def remove(self) -> None:
        """Forgets the run: it is finished."""
        self._path.unlink(missing_ok=True)

    def _set_aside(self) -> None:
        aside = self._path.with_name(f"{self._path.name}.damaged")
        with self._explained():
            self._path.replace(aside)
        logger.warning(
            "The checkpoint %s is damaged, or of another release; it is now %s, and "
            "the fit starts from the beginning.",
            self._path,
            aside.name,
        )

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Says in a sentence what the system does not let us do."""
        try:
            yield
        except OSError as error:
            message = (
                f"The checkpoint {self._path} cannot be read or written "
                f"({error.strerror}); make room or give access to its folder, or set "
                "checkpoint to another one."
            )
            raise RidgelineError(message) from error


def _checksum(archive: bytes) -> bytes:
    return hashlib.sha256(archive).digest()


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
