"""A study that takes seconds, and what its results are compared by."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ridgeline.parameters import checked
from ridgeline.simulation.settings import StudySettings

__all__ = ["PAPER_MODELS", "numbers", "once_stored", "stored", "tiny"]

PAPER_MODELS = ("xnn", "naive_xnn", "svm", "rf", "mlp", "elm", "lasso")
# Compiled for a few rows and one size, whichever test comes first.
_NETWORK = {"hidden": [4], "max_epochs": 5, "refine_epochs": 5}


def tiny(results: Path | str, **changes: Any) -> StudySettings:
    """Return the settings of a tiny study, as a user's file would give them."""
    values: dict[str, Any] = {
        "scenarios": ["S1", "S2"],
        "sizes": [60],
        "repetitions": 1,
        "models": ["lasso", "rf", "xnn"],
        "test_rows": 500,
        "xnn": {
            "grid": {"l1_projection": [1e-3], "l1_scales": [1e-3]},
            "roughness": [1e-6],
            "n_starts": 2,
            "settings": _NETWORK,
        },
        "baselines": {
            "naive_xnn": {"grid": {}, "settings": _NETWORK},
            "rf": {"grid": {"max_depth": [3, 5]}},
            "elm": {"grid": {"n_nodes": [20, 50]}},
            "svm": {"grid": {"C": [1.0, 10.0]}},
        },
        "results": str(results),
        "n_jobs": 1,
    }
    return checked(StudySettings, values | changes, "parameters 'study'")


def stored(results: Path) -> list[str]:
    """Return the names of the results that a study has stored."""
    return sorted(path.name for path in results.glob("*.json"))


def numbers(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return records without how long they took."""
    return [
        {name: value for name, value in record.items() if name != "seconds"}
        for record in records
    ]


@contextmanager
def once_stored(results: Path, act: Callable[[], object]) -> Iterator[None]:
    """Acts in the background as soon as the first result is stored."""
    over, acted = threading.Event(), threading.Event()

    def watch() -> None:
        while not stored(results):
            if over.wait(0.01):
                return
        act()
        acted.set()

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()
    assert acted.is_set()
