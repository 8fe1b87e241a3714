"""Fixtures for all tests: published files, an engine, the real samples, a run."""

import csv
import os
from collections.abc import Callable, Iterable
from pathlib import Path

import ibis
import numpy as np
import pandas as pd
import pytest
from hypothesis import settings
from known_model import evenly
from projects import QUICK_TO_COMPILE, copy_project, find_real_samples, kedro_run
from sharing import made_once

from ridgeline.lendingclub.modelling import NUMERIC, PURPOSE
from ridgeline.lendingclub.schema import (
    COLUMNS,
    PURPOSES,
    SOURCES,
    RawFile,
)
from ridgeline.xnn.features import Features
from ridgeline.xnn.scorer import Scorer, Spread, Subnetworks

# Tests compile many programs and run each for a moment: a third of the time with fewer
# optimisations. Runs that are typed as a person does compile as a person's do, and
# `make test-compiled` tests the algorithm so.
os.environ.setdefault("XLA_FLAGS", QUICK_TO_COMPILE)

# How long an example takes is a matter of the machine.
settings.register_profile("any machine", deadline=None)
settings.load_profile("any machine")

# One good application of each kind, as published.
GOOD: dict[RawFile, dict[str, str]] = {
    "accepted": {
        "amount": "12000.0",
        "application_date": "Dec-2015",
        "title": "credit_card",
        "score_low": "690.0",
        "score_high": "694.0",
        "dti": "18.24",
        "employment_length": "10+ years",
    },
    "rejected": {
        "amount": "15000.0",
        "application_date": "2015-10-29",
        "title": "debt_consolidation",
        "risk_score": "633.0",
        "dti": "54.58%",
        "employment_length": "< 1 year",
    },
}

# Where the numbers of clean applications lie.
RANGES = {
    "application_date": (2015.0, 2018.5),
    "amount": (1_000.0, 40_000.0),
    "risk_score": (550.0, 850.0),
    "dti": (0.0, 60.0),
    "employment_length": (0.0, 11.0),
}

WritePublished = Callable[..., Path]
MakeApplications = Callable[[int, int], pd.DataFrame]


@pytest.fixture
def write_published(tmp_path: Path) -> WritePublished:
    """Write a published file from rows that say how they differ from a good one."""

    def write(
        kind: RawFile, rows: Iterable[dict[str, str]] = ({},), name: str = ""
    ) -> Path:
        path = tmp_path / (name or f"{kind}.csv")
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS[kind], lineterminator="\n")
            writer.writeheader()
            for row in rows:
                cells = GOOD[kind] | row
                writer.writerow(
                    {SOURCES[kind][meaning]: text for meaning, text in cells.items()}
                )
        return path

    return write


@pytest.fixture
def duckdb() -> ibis.BaseBackend:
    """Return an engine of its own for each test."""
    return ibis.duckdb.connect(preserve_insertion_order=False)


@pytest.fixture
def real_samples() -> dict[RawFile, Path]:
    """Return the two real samples, where they are at hand."""
    samples = find_real_samples()
    if not samples:
        pytest.skip("RIDGELINE_REAL_DATA does not name the folder with the samples")
    return samples


@pytest.fixture(scope="session")
def make_applications() -> MakeApplications:
    """Return a maker of clean applications, as each set of the split has them."""

    def make(count: int, seed: int) -> pd.DataFrame:
        rng = np.random.default_rng(seed)
        numbers = {name: rng.uniform(*limits, count) for name, limits in RANGES.items()}
        purposes = np.array(PURPOSES)[rng.integers(len(PURPOSES), size=count)]
        rows = pd.DataFrame(numbers).assign(purpose=purposes)
        score, dti = (rows["risk_score"] - 700) / 50, (rows["dti"] - 30) / 15
        log_odds = 2 * np.tanh(2 * score) - dti**2 + (rows["purpose"] == "Credit Card")
        drawn = rng.uniform(size=count) < 1 / (1 + np.exp(-log_odds))
        return rows.assign(approved=drawn.astype(np.int32))

    return make


@pytest.fixture(scope="session")
def known_network() -> Scorer:
    """Return a network that is known: the score, debt-to-income and the purpose.

    Log-odds = -1 + 3 tanh(2 score) - dti + effect, with both scaled to [-1, 1].
    """
    projection = np.zeros((len(NUMERIC), 2))
    projection[NUMERIC.index("risk_score"), 0] = 1.0
    projection[NUMERIC.index("dti"), 1] = 1.0
    line = np.array([[[1.0]], [[-1.0]]])  # of dti: a small slope has no curvature
    return Scorer(
        features=Features(
            (*NUMERIC, PURPOSE),
            named=True,
            numbers={name: evenly(*RANGES[name]) for name in NUMERIC},
            categories={PURPOSE: PURPOSES},
        ),
        classes=(0, 1),
        projection=projection,
        subnetworks=Subnetworks(
            (np.array([[[2.0]], [[1e-4]]]), line * np.array([[[1.0]], [[1e4]]])),
            (np.zeros((2, 1, 1)), np.zeros((2, 1, 1))),
            "tanh",
        ),
        scales=np.array([3.0, 1.0]),
        effects=(np.array([1.0, 0.5, 0.0, -0.5, -1.0]),),
        category_scales=np.array([0.5]),
        intercept=-1.0,
        spread=Spread(
            np.tile(np.linspace(-1, 1, 21), (2, 1)),
            np.full((2, 20), 0.05),
            (np.full(len(PURPOSES), 1 / len(PURPOSES)),),
        ),
    )


@pytest.fixture(scope="session")
def migrated_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an MLflow database with its tables, which take seconds to make."""

    def make(folder: Path) -> Path:
        from mlflow import MlflowClient

        path = folder / "mlflow.db"
        MlflowClient(tracking_uri=f"sqlite:///{path}").search_experiments()
        return path

    return made_once(tmp_path_factory, "migrated_database", make)


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Return a project in which the smoke run was done, and what the console said.

    One run serves all tests, those of other worker processes too: do not change it.
    """

    def make(folder: Path) -> tuple[Path, int, str]:
        project = copy_project(folder / "project")
        done = kedro_run(project, "--pipeline", "lendingclub", "--env", "smoke")
        return project, done.returncode, done.stdout + done.stderr

    project, code, said = made_once(tmp_path_factory, "finished", make)
    assert code == 0, said
    return project, said
