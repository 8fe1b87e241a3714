"""`kedro run --pipeline scoring` as a person types it: raw rows to decisions."""

import json
import sqlite3
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from projects import copy_data, copy_project, kedro_run
from sharing import made_once

SMOKE = ("--pipeline", "scoring", "--env", "smoke")
ROWS = 1_500


def in_one_line(text: str) -> str:
    """Return what a console says, wherever it breaks its lines."""
    return " ".join(text.split())


@pytest.fixture(scope="module")
def scored(finished, tmp_path_factory) -> tuple[Path, str]:
    """Return a project in which raw rows were scored, and what the console said."""
    source, _ = finished

    def make(folder: Path) -> tuple[Path, int, str]:
        project = copy_project(folder / "project")
        copy_data(source, project, "smoke/05_model_input", "smoke/06_models")
        (raw,) = (source / "data/smoke/01_raw").glob("*rejected*.csv")
        with raw.open() as lines:
            some = [line for line, _ in zip(lines, range(ROWS + 1), strict=False)]
        (folder / "this morning.csv").write_text("".join(some))
        path = f"applications={folder / 'this morning.csv'}"
        done = kedro_run(project, *SMOKE, "--params", path, quick=True)
        return project, done.returncode, done.stdout + done.stderr

    project, code, said = made_once(tmp_path_factory, "scored", make)
    assert code == 0, said
    return project, in_one_line(said)


def output(project: Path, name: str) -> pd.DataFrame:
    """Return a table that the run left."""
    return pd.read_csv(project / "data/smoke/07_model_output" / name)


def test_every_row_is_scored_or_refused_with_a_reason(scored):
    project, said = scored
    scores, refused = output(project, "scores.csv"), output(project, "refused_rows.csv")
    rows = sorted([*scores["row"], *refused["row"]])
    assert rows == list(range(1, ROWS + 1))
    assert refused["reason"].notna().all()
    assert f"Scored {len(scores):,} of {ROWS:,} applications" in said
    metrics = json.loads(
        (project / "data/smoke/08_reporting/scoring_metrics.json").read_text()
    )
    assert metrics["rows"] == ROWS
    assert metrics["refused"] == len(refused) > 0
    assert metrics["declined"] == (scores["decision"] == "declined").sum() > 0
    declined = scores[scores["decision"] == "declined"]
    assert declined["reason_1"].notna().all()
    assert scores.loc[scores["decision"] == "approved", "reason_1"].isna().all()
    assert "approved applications" in declined["reason_1"].iloc[0]


def test_the_command_says_the_same(scored, tmp_path):
    project, _ = scored
    model = project / "data/smoke/06_models/xnn_refined.json"
    rows, out = project.parent / "this morning.csv", tmp_path / "scores.csv"
    command = [sys.executable, "-m", "ridgeline", "score", str(model), str(rows)]
    subprocess.run([*command, "-o", str(out)], check=True, capture_output=True)
    told, scores = pd.read_csv(out), output(project, "scores.csv")
    same = ["row", "probability", "decision", "reason_1_feature", "cells_beyond_range"]
    pd.testing.assert_frame_equal(told[same], scores[same])


def test_drift_is_a_table_a_figure_and_a_page(scored):
    project, said = scored
    reporting = project / "data/smoke/08_reporting"
    drift = pd.read_csv(reporting / "drift_table.csv")
    assert {"feature", "component", "score"} == set(drift["kind"])
    assert (drift["psi"] >= 0).all()
    # Declined applications alone are no sample of both.
    verdicts = drift.set_index("name")["verdict"]
    assert verdicts["risk_score"] == "drifted"
    assert "risk_score drifted" in said
    assert (reporting / "drift_plot.png").read_bytes()[:4] == b"\x89PNG"
    assert "risk_score" in (reporting / "drift.html").read_text()


def test_mlflow_has_the_counts_and_none_of_the_rows(scored):
    project, _ = scored
    with sqlite3.connect(project / "mlflow.db") as database:
        metrics = dict(database.execute("select key, value from metrics").fetchall())
    assert metrics["scoring_metrics.rows"] == ROWS
    files = [path.name for path in (project / "mlartifacts").rglob("*")]
    assert not any(
        name.startswith(("scores.csv", "refused_rows.csv")) for name in files
    )


def test_a_file_that_is_not_there_is_one_sentence(scored):
    project, _ = scored
    done = kedro_run(project, *SMOKE, "--params", "applications=no.csv", quick=True)
    said = in_one_line(done.stdout + done.stderr)
    assert done.returncode != 0
    assert "The table 'no.csv' does not exist" in said
    assert "Traceback" not in said
