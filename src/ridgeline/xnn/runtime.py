"""TensorFlow's start: late, quiet and on one core.

The arrays of a step are too small to share: one thread was faster than two, and two
processes side by side lose nothing. So a process trains on one core, and many fits are
spread over processes (`ridgeline.xnn.search`).
"""

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["start_tensorflow"]


def start_tensorflow() -> None:
    """Imports TensorFlow for training, unless someone else has done so already.

    A process that has imported TensorFlow before keeps its own settings.
    """
    if "tensorflow" in sys.modules:
        return
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    with _quiet():
        import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)


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
