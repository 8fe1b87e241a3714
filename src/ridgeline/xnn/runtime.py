"""TensorFlow's start: late, quiet and on one core.

The arrays of a step are too small to share: one thread was faster than two, and two
processes side by side lose nothing. So a process trains on one core, and many fits are
spread over processes (`ridgeline.xnn.search`).

A program takes seconds to compile, as long as some fits, so compiled ones are kept on
disk for the next process. They run bit for bit as if they were compiled again.
"""

import hashlib
import os
import platform
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Final

__all__ = [
    "CACHE_VARIABLE",
    "compiled_programs",
    "drop_programs",
    "start_tensorflow",
]

# Environment variable with the folder of what is kept; empty keeps nothing.
CACHE_VARIABLE: Final = "RIDGELINE_CACHE"
_FLAGS: Final = "TF_XLA_FLAGS"
_FOLDER_FLAG: Final = "--tf_xla_persistent_cache_directory"


def start_tensorflow() -> None:
    """Imports TensorFlow for training, unless someone else has done so already.

    A process that has imported TensorFlow before keeps its own settings.
    """
    if "tensorflow" in sys.modules:
        return
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    _keep_programs()
    with _quiet():
        import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)


def compiled_programs() -> Path | None:
    """The folder of compiled programs for this machine; None if none are kept."""
    chosen = os.environ.get(CACHE_VARIABLE)
    if chosen == "":
        return None
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    root = Path(chosen) if chosen else Path(home) / "ridgeline"
    # Programs are for one release, and for processors with the same instructions.
    made_by = f"{version('tensorflow')} {platform.machine()} {_instructions()}"
    return root / f"programs-{hashlib.sha256(made_by.encode()).hexdigest()[:12]}"


def drop_programs() -> bool:
    """Deletes the compiled programs of this machine, and tells if there were any."""
    folder = compiled_programs()
    kept = list(folder.glob("*.pb")) if folder else []
    for file in kept:
        file.unlink(missing_ok=True)
    return bool(kept)


def _keep_programs() -> None:
    """Tells TensorFlow where to keep compiled programs, unless someone else has."""
    flags = os.environ.get(_FLAGS, "")
    folder = compiled_programs()
    if folder is None or _FOLDER_FLAG in flags:
        return
    try:
        # What is kept will be run: nobody else may write there.
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        return  # a home that cannot be written to: every process compiles
    if os.access(folder, os.W_OK | os.X_OK):
        os.environ[_FLAGS] = f"{flags} {_FOLDER_FLAG}={folder}".strip()


def _instructions() -> str:
    """What tells processors apart that cannot run each other's programs."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line for line in lines if line.startswith(("flags", "Features"))), "")


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
