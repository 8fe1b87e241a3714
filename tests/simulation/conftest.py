"""Fixtures for the study's tests: one tiny study that others must equal."""

from pathlib import Path

import pytest
from sharing import made_once
from tiny_study import PAPER_MODELS, tiny

from ridgeline.simulation.study import StudyResult, run_study


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
