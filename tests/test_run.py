"""`kedro run` as a person types it, in a copy of the project."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest

PROJECT = Path(__file__).parents[1]
SETS = ("train", "validation", "test")


def copy_project(target):
    """Copy what a checkout has; data and runs of this folder stay where they are."""
    target.mkdir()
    for name in ("conf", "src"):
        shutil.copytree(PROJECT / name, target / name)
    for name in ("pyproject.toml", ".telemetry"):
        shutil.copy(PROJECT / name, target / name)
    return target


@pytest.fixture
def project(tmp_path):
    """Return a fresh copy of the project."""
    return copy_project(tmp_path / "project")


def command(*arguments):
    return [sys.executable, "-m", "kedro", "run", *arguments]


def environment():
    return os.environ | {"DO_NOT_TRACK": "true", "COLUMNS": "200"}


def kedro_run(project, *arguments):
    return subprocess.run(
        command(*arguments),
        cwd=project,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )


def sets(project):
    folder = project / "data" / "05_model_input"
    return {name: pd.read_parquet(folder / f"{name}.parquet") for name in SETS}


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """Return a project in which the smoke run has been done; do not change it."""
    project = copy_project(tmp_path_factory.mktemp("finished") / "project")
    done = kedro_run(project, "--pipeline", "lendingclub", "--env", "smoke")
    assert done.returncode == 0, done.stdout + done.stderr
    return project, done.stdout + done.stderr


def test_smoke_run_makes_three_sets_of_numbers(finished):
    project, _ = finished
    parts = sets(project)
    counts = {name: len(rows) for name, rows in parts.items()}
    total = sum(counts.values())
    assert total > 5_000
    assert counts["train"] / total == pytest.approx(0.4, abs=0.03)
    assert counts["test"] / total == pytest.approx(0.5, abs=0.03)
    for rows in parts.values():
        assert not rows.isna().any().any()
        assert set(rows.approved) == {0, 1}
        assert "row_key" not in rows
        assert rows.filter(like="purpose_").sum(axis=1).eq(1).all()


def test_console_shows_the_audit_and_the_next_step(finished):
    project, said = finished
    audit = pd.read_csv(project / "data/08_reporting/cleaning_audit.csv")
    kept = audit[audit.step == "outside_window"].kept
    assert all(f"{count:,}" in said for count in kept)
    assert "mlflow ui --backend-store-uri sqlite:///mlflow.db" in said
    assert "WARNING" not in said


def test_mlflow_has_the_run_with_the_audit_as_metrics(finished):
    project, _ = finished
    audit = pd.read_csv(project / "data/08_reporting/cleaning_audit.csv")
    row = audit[(audit.step == "missing_value") & (audit["class"] == "rejected")]
    with sqlite3.connect(project / "mlflow.db") as database:
        metrics = dict(database.execute("SELECT key, value FROM latest_metrics"))
        tags = dict(database.execute("SELECT key, value FROM tags"))
    name = "cleaning_metrics.rejected.missing_value.removed"
    assert metrics[name] == row.removed.item()
    assert metrics["clean_applications.duration_seconds"] > 0
    assert tags["kedro_env"] == "smoke"
    assert len(tags["data_fingerprint"]) == 64
    artifacts = {
        path.relative_to(project / "mlartifacts").as_posix().split("/", 2)[2]
        for path in (project / "mlartifacts").rglob("*.*")
    }
    assert "audit_cleaning/cleaning_audit.csv" in artifacts
    assert "split_applications/train_preview.csv" in artifacts
    assert "type_applications/applications_typed.json" in artifacts


def test_same_seed_same_data_with_the_hooks_off(finished, project):
    (project / "conf" / "local").mkdir(exist_ok=True)
    (project / "conf" / "smoke" / "mlflow.yml").write_text("enabled: false\n")
    done = kedro_run(project, "--pipeline", "data", "--env", "smoke")
    assert done.returncode == 0, done.stderr
    assert not (project / "mlflow.db").exists()
    for name, rows in sets(finished[0]).items():
        pd.testing.assert_frame_equal(rows, sets(project)[name])


def test_run_killed_while_cleaning_can_be_started_again(finished, project):
    # Enough rows for the cleaning to last; every table of it is on disk and whole or
    # not there at all.
    (project / "conf/smoke/globals.yml").write_text(
        "simulated_rows: {accepted: 60000, rejected: 700000}\n"
    )
    arguments = ("--pipeline", "data", "--env", "smoke")
    typed = project / "data/02_intermediate/applications_typed.parquet"
    clean = project / "data/03_primary/applications_clean.parquet"
    process = subprocess.Popen(
        command(*arguments),
        cwd=project,
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    half_written = clean.with_name(f".{clean.name}.part")
    while process.poll() is None and not half_written.exists():
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    assert typed.exists()
    assert not clean.exists()

    done = kedro_run(project, *arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    assert sum(len(rows) for rows in sets(project).values()) > 100_000
    assert not list(project.glob("data/**/.*.part"))


def test_own_files_by_parameters(project, write_published):
    accepted = write_published("accepted", [{"amount": f"{n}000"} for n in range(1, 9)])
    rejected = write_published("rejected", [{"amount": f"{n}000"} for n in range(1, 9)])
    done = kedro_run(
        project,
        *("--pipeline", "data", "--env", "files"),
        *("--params", f"accepted={accepted},rejected={rejected}"),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert sum(len(rows) for rows in sets(project).values()) == 16


def test_own_files_by_configuration(project, write_published, tmp_path):
    write_published("accepted", name="accepted_mine.csv")
    write_published("rejected", name="rejected_mine.csv")
    (project / "conf/files/globals.yml").write_text(
        f"accepted: {tmp_path}/accepted_*.csv\nrejected: {tmp_path}/rejected_*.csv\n"
    )
    done = kedro_run(project, "--pipelines", "ingestion,cleaning", "--env", "files")
    assert done.returncode == 0, done.stdout + done.stderr
    assert (project / "data/03_primary/applications_clean.parquet").exists()


def test_missing_file_is_one_sentence_and_leaves_nothing(project):
    done = kedro_run(project, "--pipeline", "data", "--env", "files")
    assert done.returncode != 0
    assert "Error: No accepted file at" in done.stderr
    assert "wordsforthewise/lending-club" in done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    written = [path for path in (project / "data").rglob("*") if path.is_file()]
    assert written == []


def test_violation_stops_the_run_and_shows_the_rows(project, write_published):
    accepted = write_published("accepted")
    rejected = write_published(
        "rejected", [{}, {"risk_score": "15000", "dti": "7.77%"}]
    )
    done = kedro_run(
        project,
        *("--pipeline", "data", "--env", "files"),
        *("--params", f"accepted={accepted},rejected={rejected}"),
    )
    assert done.returncode != 0
    assert "risk_score: in_range" in done.stderr
    assert "7.77" in done.stderr
    assert not (project / "data/03_primary/applications_clean.parquet").exists()


def test_misspelt_parameter_names_the_close_match(project):
    done = kedro_run(project, "--env", "smoke", "--params", "cleaning.max_amont=1")
    assert done.returncode != 0
    assert "did you mean 'max_amount'?" in (done.stdout + done.stderr)
    assert not (project / "data").exists()
