"""Fixtures for the study's tests: one tiny study that others must equal."""

from pathlib import Path

import pytest
from tiny_study import PAPER_MODELS, tiny

from ridgeline.simulation.study import StudyResult, run_study


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the study that was not disturbed: do not change it."""
    return tmp_path_factory.mktemp("whole")


@pytest.fixture(scope="session")
def whole(folder: Path) -> StudyResult:
    """Return a tiny study of all models that was not disturbed, in this process."""
    return run_study(tiny(folder, models=list(PAPER_MODELS)), seed=0, shown=False)
