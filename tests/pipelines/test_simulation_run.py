"""`kedro run --pipeline simulation` as a person types it, in a copy of the project."""

import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from projects import copy_project, kedro_run, kedro_runs

from ridgeline.simulation.report.tables import SUMMARY_COLUMNS
from ridgeline.xnn.storage import load_model

OUTPUT = "data/smoke/07_model_output"
STUDY = ("--pipeline", "simulation", "--env", "smoke")
MODELS = ("xnn", "naive_xnn", "svm", "rf", "mlp", "elm", "lasso")
CELLS = [(scenario, n) for scenario in ("S1", "S4") for n in (100, 200)]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory, migrated_database: Path) -> Path:
    """Return a project in which the study was run."""
    project = copy_project(tmp_path_factory.mktemp("study") / "project")
    shutil.copy(migrated_database, project)
    done = kedro_run(project, *STUDY, quick=True)
    assert done.returncode == 0, done.stdout + done.stderr
    said = " ".join(done.stdout.split())
    assert "56 tasks, 56 of them computed now" in said
    assert "Report: open data/smoke/08_reporting/study_report.html in a browser" in said
    return project


def reported(project: Path, name: str) -> Path:
    return project / "data" / "smoke" / "08_reporting" / name


def test_every_cell_is_summed_up(project: Path) -> None:
    results = pd.read_csv(project / OUTPUT / "study_results.csv")
    assert len(results) == len(CELLS) * len(MODELS) * 2
    summary = pd.read_csv(reported(project, "study_summary.csv"))
    assert tuple(summary.columns) == SUMMARY_COLUMNS
    assert {
        *summary[["scenario", "n", "model"]].itertuples(index=False, name=None)
    } == {(*cell, model) for cell in CELLS for model in MODELS}
    own = results[(results["scenario"] == "S4") & (results["n"] == 200)]
    mean = own[own["model"] == "xnn"]["mse"].mean()
    row = summary[(summary["scenario"] == "S4") & (summary["n"] == 200)]
    assert row[row["model"] == "xnn"]["mse_mean"].item() == pytest.approx(mean)


def test_tables_figures_and_networks_are_there(project: Path) -> None:
    assert "### S1" in reported(project, "study_table.md").read_text()
    for name in ("table", "against_paper", "recovery", "overlap"):
        pd.read_csv(reported(project, f"study_{name}.csv"))
    for name in ("study_errors_plot.png", "study_networks/S1.png"):
        assert reported(project, name).read_bytes().startswith(b"\x89PNG")
    page = reported(project, "study_report.html").read_text()
    assert page.count("data:image/png;base64,") == 3
    assert "kedro run --pipeline simulation --env smoke" in page
    network = (
        project
        / "data"
        / "smoke"
        / "07_model_output"
        / "study_networks"
        / "S4_xnn.json"
    )
    assert load_model(network).task == "regression"


def test_each_model_is_a_child_run_with_its_cells(project: Path) -> None:
    summary = pd.read_csv(reported(project, "study_summary.csv"))
    with sqlite3.connect(project / "mlflow.db") as database:
        found = database.execute(
            "SELECT name, metrics.key, metrics.value FROM latest_metrics AS metrics"
            " JOIN runs USING (run_uuid) JOIN tags USING (run_uuid)"
            " WHERE tags.key = 'mlflow.parentRunId'"
        ).fetchall()
    metrics = {(name, key): value for name, key, value in found}
    assert {name for name, _ in metrics} == set(MODELS)
    for row in summary.itertuples():
        key = (str(row.model), f"{row.scenario}_n{row.n}.mse")
        assert metrics[key] == pytest.approx(row.mse_mean)


SENTENCES = {
    "study.sizes=[30]": "n is 30, but must be at least 50",
    "study.scenarios=[S9]": "there is no scenario 'S9': known are S1, S2",
    "study.repetition=2": "did you mean 'repetitions'?",
    "study.scheduler=tcp://127.0.0.1:1,study.models=[lasso],study.sizes=[60]": (
        "The scheduler 'tcp://127.0.0.1:1' did not answer"
    ),
}


def test_what_is_stored_is_not_computed_again_and_bad_input_is_one_sentence(
    project: Path, tmp_path: Path
) -> None:
    before = pd.read_csv(project / OUTPUT / "study_results.csv")
    once = ("--nodes", "run_tasks", "--params", "study.repetitions=1")
    bad = [(project, *STUDY, "--params", parameters) for parameters in SENTENCES]
    again, *refused = kedro_runs(tmp_path, (project, *STUDY, *once), *bad)
    assert again.returncode == 0, again.stdout + again.stderr
    said = " ".join(again.stdout.split())
    assert "28 tasks, 0 of them computed now" in said
    after = pd.read_csv(project / OUTPUT / "study_results.csv")
    pd.testing.assert_frame_equal(
        after, before[before["repetition"] == 0].reset_index(drop=True)
    )
    for done, sentence in zip(refused, SENTENCES.values(), strict=True):
        assert done.returncode == 1
        said = " ".join((done.stdout + done.stderr).split())
        assert sentence in said
        assert "Traceback" not in said


def test_looking_at_the_pipeline_imports_no_tensorflow() -> None:
    code = (
        "import sys; from ridgeline.pipelines.simulation import create_pipeline; "
        "create_pipeline(); sys.exit('tensorflow' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
