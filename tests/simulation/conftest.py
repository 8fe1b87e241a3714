"""Fixtures for the study's tests: one tiny study that others must equal."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from sharing import made_once
from tiny_study import PAPER_MODELS, tiny

from ridgeline.simulation.study import StudyResult, run_study

# One task of each model, and the modules that they have loaded.
_ELSEWHERE = """
import json, sys
from ridgeline.simulation.settings import StudySettings
from ridgeline.simulation.tasks import Task, run_task
settings = StudySettings.model_validate_json(sys.argv[1])
tasks = [Task("S1", 60, 0, model) for model in settings.models]
records = [run_task(task, settings, seed=0).record for task in tasks]
loaded = [name for name in sys.modules if name.split(".")[0] == "ridgeline"]
print(json.dumps({"records": records, "loaded": loaded}))
"""


@pytest.fixture(scope="session")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return what tasks leave in another process, in another folder."""

    def make(folder: Path) -> dict[str, Any]:
        models = [model for model in PAPER_MODELS if model != "naive_xnn"]
        settings = tiny("unused", models=models)
        done = subprocess.run(
            [sys.executable, "-c", _ELSEWHERE, settings.model_dump_json()],
            cwd=folder,
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        )
        return json.loads(done.stdout)

    return made_once(tmp_path_factory, "elsewhere", make)


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, StudyResult]:
    """Return a tiny study of all models, made in one process, and its folder."""

    def make(folder: Path) -> tuple[Path, StudyResult]:
        settings = tiny(folder, models=list(PAPER_MODELS))
        return folder, run_study(settings, seed=0, shown=False)

    return made_once(tmp_path_factory, "whole_study", make)


@pytest.fixture(scope="session")
def folder(undisturbed: tuple[Path, StudyResult]) -> Path:
    """Return the folder of the study that was not disturbed: do not change it."""
    return undisturbed[0]


@pytest.fixture(scope="session")
def whole(undisturbed: tuple[Path, StudyResult]) -> StudyResult:
    """Return a tiny study of all models that was not disturbed."""
    return undisturbed[1]
