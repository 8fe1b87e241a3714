"""TensorFlow's start: late, quiet and on one core.

The arrays of a step are too small to share: one thread was faster than two, and two
processes side by side lose nothing. So a process trains on one core, and many fits are
spread over processes (`ridgeline.xnn.search`).

A program takes seconds to compile, as long as some fits, so compiled ones are kept on
disk for the next process (`ridgeline.xnn.programs`). They run bit for bit as if they
were compiled again.
"""

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Final

from ridgeline.errors import MissingPackageError
from ridgeline.xnn.programs import MEMORY, compiled_programs

__all__ = ["start_tensorflow"]

_FLAGS: Final = "TF_XLA_FLAGS"
_MISSING: Final = (
    "TensorFlow is not installed, and a fit needs it; scoring and explaining do not. "
    "Install it with: pip install 'ridgeline[train]'"
)
_FOLDER_FLAG: Final = "--tf_xla_persistent_cache_directory"


def start_tensorflow() -> None:
    """Imports TensorFlow for training, unless someone else has done so already.

    A process that has imported TensorFlow before keeps its own settings.

    Raises:
        MissingPackageError: If it is not installed.
    """
    if "tensorflow" in sys.modules:
        return
    if find_spec("tensorflow") is None:
        raise MissingPackageError(_MISSING)
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    with _programs_in_memory(), _quiet():
        import tensorflow as tf

        tf.config.threading.set_intra_op_parallelism_threads(1)
        tf.config.threading.set_inter_op_parallelism_threads(1)
        tf.config.list_logical_devices()  # now the flags are read


@contextmanager
def _programs_in_memory() -> Iterator[None]:
    """Has TensorFlow keep compiled programs in memory, for `programs` to take.

    The flag is for this process alone: others that it starts do not inherit it.
    """
    flags = os.environ.get(_FLAGS)
    if compiled_programs() is None or _FOLDER_FLAG in (flags or ""):
        yield  # nothing is kept, or someone else has said where
        return
    os.environ[_FLAGS] = f"{flags or ''} {_FOLDER_FLAG}={MEMORY}".strip()
    try:
        yield
    finally:
        if flags is None:
            del os.environ[_FLAGS]
        else:
            os.environ[_FLAGS] = flags


@contextmanager
def _quiet() -> Iterator[None]:
    """Keeps what C++ writes to the terminal to itself, unless the import fails.

    TensorFlow reports missing graphics drivers before its log level takes effect.
    """
    sys.stderr.flush()
    terminal = os.dup(2)
    with tempfile.TemporaryFile() as kept:
        os.dup2(kept.fileno(), 2)
        try:
            yield
        except BaseException:
            kept.seek(0)
            os.write(terminal, kept.read())
            raise
        finally:
            os.dup2(terminal, 2)
            os.close(terminal)
