"""What takes long to make, made once for the processes that run the tests."""

import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

__all__ = ["made_once"]


def made_once(
    factory: pytest.TempPathFactory, name: str, make: Callable[[Path], Any]
) -> Any:
    """Return what the first process that asks has made; the others wait for it.

    Args:
        factory: Knows the folder of this run of the tests.
        name: What is made, with a name of its own.
        make: Is given a folder that stays; returns what can be pickled.
    """
    root = factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        root = root.parent  # each process has a folder of its own in a common one
    folder, made = root / name, root / f"{name}.pickle"
    with FileLock(root / f"{name}.lock"):
        if not made.exists():
            folder.mkdir()
            made.write_bytes(pickle.dumps(make(folder)))
    return pickle.loads(made.read_bytes())
