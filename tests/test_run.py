"""`kedro run` as a person types it, in a copy of the project."""

import html
import json
import re
import shutil
import signal
import sqlite3
import subprocess
import time
from pathlib import Path

import pandas as pd
import pytest
from projects import (
    command,
    copy_data,
    copy_project,
    environment,
    find_real_samples,
    kedro_run,
    kedro_runs,
    turn_tracking_off,
)

SETS = ("train", "validation", "test")
PURPOSES = ("Credit Card", "Debt Consolidation", "Housing", "Purchase", "Others")
NETWORKS = ("xnn_trained.json", "xnn_pruned.json", "xnn_refined.json")
# Every judged model has these metrics; components only where a model has any.
METRICS = {
    *("auc", "auc_low", "auc_high", "ks", "log_loss", "brier", "calibration_error"),
    *("accuracy", "threshold", "fit_seconds", "predict_seconds", "n_parameters"),
    "n_test",
}


@pytest.fixture
def project(tmp_path):
    """Return a fresh copy of the project."""
    return copy_project(tmp_path / "project")


def sets(project, env="smoke"):
    folder = project / "data" / env / "05_model_input"
    return {name: pd.read_parquet(folder / f"{name}.parquet") for name in SETS}


def reported(project, name, env="smoke"):
    """A file of the folder that people look at."""
    path = project / "data" / env / "08_reporting" / name
    return pd.read_csv(path) if path.suffix == ".csv" else path.read_text()


def in_one_line(text):
    """What a console says, wherever it breaks its lines."""
    return " ".join(text.split())


def query(project, statement):
    with sqlite3.connect(project / "mlflow.db") as database:
        return database.execute(statement).fetchall()


def child_metrics(project):
    """Metrics of each child run of MLflow, by its name."""
    parents = "SELECT run_uuid FROM tags WHERE key = 'mlflow.parentRunId'"
    found = {
        name: {}
        for (name,) in query(
            project, f"SELECT name FROM runs WHERE run_uuid IN ({parents})"
        )
    }
    for name, key, value in query(
        project,
        "SELECT name, key, value FROM latest_metrics JOIN runs USING (run_uuid)"
        f" WHERE run_uuid IN ({parents})",
    ):
        found[name][key] = value
    return found


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
        assert set(rows.purpose) == set(PURPOSES)


def test_example_for_mlflow_is_some_of_the_rows(finished):
    project, _ = finished
    example = pd.read_csv(project / "data/smoke/05_model_input/input_example.csv")
    assert len(example) == 5
    known = pd.concat(sets(project).values())
    numbers = list(example.columns.drop("purpose"))
    assert len(example.merge(known, on=numbers)) >= 5


def test_console_shows_audit_comparison_and_the_next_steps(finished):
    project, said = finished
    audit = reported(project, "cleaning_audit.csv")
    kept = audit[audit.step == "outside_window"].kept
    assert all(f"{count:,}" in said for count in kept)
    table = reported(project, "comparison_table.csv")
    # Three stages of the network and seven baselines; the SVM is not applicable. Where
    # pruning kept every component, the run says so and shows two stages.
    pruned = "xNN pruned" in set(table["title"])
    assert len(table) == 9 + pruned
    assert pruned != ("as pruning kept all" in in_one_line(said))
    assert "Models on the test rows (simulated data)" in in_one_line(said)
    for row in table.itertuples():
        numbers = (f"{value:.4f}" for value in (row.auc, row.auc_low, row.auc_high))
        assert re.search(".*".join([re.escape(row.title), *numbers]), said)
    assert "2,800 training rows are above its limit of 2,000" in in_one_line(said)
    assert "mlflow ui --backend-store-uri sqlite:///mlflow.db" in in_one_line(said)
    assert "open data/smoke/08_reporting/model_report.html in a browser" in in_one_line(
        said
    )
    assert "kedro viz run" in said


def test_good_run_warns_of_nothing(finished):
    _, said = finished
    assert "WARNING" not in said
    assert "ERROR" not in said


def test_report_is_one_file_with_findings_and_limits(finished):
    project, _ = finished
    page = reported(project, "model_report.html")
    bare = re.sub(r"data:image/png;base64,[A-Za-z0-9+/=]+", "PICTURE", page)
    assert not re.search(r"(https?:)?//\w|@import|url\(|<script|<link", bare)
    assert bare.count("PICTURE") == 4
    text = in_one_line(html.unescape(re.sub(r"<[^>]+>", "", bare)))
    for name in ("findings.json", "limits.json"):
        sentences = json.loads(reported(project, name))
        assert sentences
        assert all(in_one_line(sentence) in text for sentence in sentences)
    for title in reported(project, "comparison_table.csv")["title"]:
        assert title in text
    # Where the checkout lies is nobody's business.
    assert str(project) not in page


def test_truth_of_the_embedded_data_is_compared(finished):
    project, _ = finished
    numbers = json.loads(reported(project, "truth_metrics.json"))
    assert sum(numbers["true_importance"].values()) == pytest.approx(1)
    assert sum(numbers["model_importance"].values()) == pytest.approx(1)
    assert numbers["correlation"]


def test_mlflow_has_the_run_with_the_audit_as_metrics(finished):
    project, _ = finished
    audit = pd.read_csv(project / "data/smoke/08_reporting/cleaning_audit.csv")
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
    assert "split_applications/train.json" in artifacts
    assert "split_applications/train_preview.csv" not in artifacts
    assert "type_applications/applications_typed.json" in artifacts


def test_mlflow_has_a_child_for_each_model_with_the_same_metrics(finished):
    project, _ = finished
    children = child_metrics(project)
    table = reported(project, "comparison_table.csv").set_index("model")
    # Nothing was pruned here, so the pruned network has no line, but a run.
    assert set(children) == {*table.index, "svm", "lasso", "xnn.pruned"}
    # A method that was not applicable has no numbers to be compared by mistake.
    assert not {"auc", "rmse"} & {*children["svm"], *children["lasso"]}
    for name, row in table.iterrows():
        assert set(children[name]) >= METRICS
        for metric in METRICS:
            assert children[name][metric] == pytest.approx(row[metric], rel=1e-12)
        has_components = not pd.isna(row["n_components"])
        assert ("n_components" in children[name]) == has_components
    for stage in ("trained", "pruned", "refined"):
        assert children[f"xnn.{stage}"]["orthogonality_error"] < 1e-5


def test_mlflow_has_the_losses_by_epoch(finished):
    project, _ = finished
    for stage, history in (("trained", "training"), ("refined", "refinement")):
        path = project / f"data/smoke/06_models/xnn_{history}_history.csv"
        losses = pd.read_csv(path).set_index("epoch")["validation_loss"]
        logged = query(
            project,
            "SELECT step, value FROM metrics JOIN runs USING (run_uuid) WHERE "
            f"name = 'xnn.{stage}' AND key = 'validation_loss' AND step > 0",
        )
        assert dict(logged) == pytest.approx(losses.to_dict())


def test_refined_network_is_logged_with_its_lineage_and_not_registered(finished):
    project, _ = finished
    # A smoke run is no model to recommend.
    assert query(project, "SELECT * FROM model_versions") == []
    (model,) = query(
        project,
        "SELECT m.model_id, r.name, m.artifact_location FROM logged_models m "
        "JOIN runs r ON m.source_run_id = r.run_uuid WHERE r.name = 'xnn.refined'",
    )
    tags = dict(
        query(
            project,
            "SELECT tag_key, tag_value FROM logged_model_tags "
            f"WHERE model_id = '{model[0]}'",
        )
    )
    (parent,) = query(
        project,
        "SELECT run_uuid FROM runs WHERE run_uuid NOT IN "
        "(SELECT run_uuid FROM tags WHERE key = 'mlflow.parentRunId')",
    )
    assert tags["parent_run_id"] == parent[0]
    assert tags["pipeline"] == "lendingclub"
    assert len(tags["data_fingerprint"]) == 64
    # What was logged is the file that the run has left, byte for byte.
    left = (project / "data/smoke/06_models/xnn_refined.json").read_bytes()
    folder = Path(model[2].removeprefix("file://"))
    assert left in [path.read_bytes() for path in folder.rglob("*.json")]


def give_penalties(source, target):
    """Copy what tuning has found, so that training can begin."""
    models = Path("data/smoke/06_models")
    (target / models).mkdir(parents=True)
    for name in ("xnn_best_parameters.json", "xnn_tuning_table.csv"):
        shutil.copy(source / models / name, target / models / name)


def network(project, name):
    return (project / "data" / "smoke" / "06_models" / name).read_bytes()


# Enough epochs for the training to last some seconds after its first checkpoint.
LONG = ("--pipeline", "training", "--env", "smoke")
LONG += ("--params", "xnn.training.max_epochs=600")
CHECKPOINT = "data/smoke/06_models/.checkpoints/training-0.npz"


@pytest.fixture(scope="module")
def killed(finished, tmp_path_factory):
    """Return two projects to train in: nothing was done, and a training was killed."""
    folder = tmp_path_factory.mktemp("killed")
    whole, broken = (copy_project(folder / name) for name in ("whole", "broken"))
    for copy in (whole, broken):
        copy_data(finished[0], copy, "smoke/05_model_input")
        give_penalties(finished[0], copy)
        turn_tracking_off(copy, "smoke")
    process = started(broken, *LONG)
    checkpoint = broken / CHECKPOINT
    wait_for(checkpoint, process)
    first = checkpoint.read_bytes()
    while process.poll() is None and checkpoint.read_bytes() == first:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    assert checkpoint.exists()
    assert not (broken / "data/smoke/06_models/xnn_trained.json").exists()
    return whole, broken


@pytest.fixture(scope="module")
def untracked(finished, tmp_path_factory):
    """Return a project that is to have the data and the models of the finished one."""
    project = copy_project(tmp_path_factory.mktemp("untracked") / "project")
    give_penalties(finished[0], project)
    turn_tracking_off(project, "smoke")
    return project


@pytest.fixture(scope="module")
def with_samples(tmp_path_factory):
    """Return a project to run the real samples in."""
    project = copy_project(tmp_path_factory.mktemp("samples") / "project")
    # Settings of the smoke environment, so that it takes seconds.
    shutil.copy(project / "conf/smoke/parameters.yml", project / "conf/files")
    turn_tracking_off(project, "files")
    return project


@pytest.fixture(scope="module")
def trained(killed, untracked, with_samples, tmp_path_factory):
    """Return what trainings have said, one after the other in one process."""
    whole, broken = killed
    pipelines = "data,training,pruning,refinement"
    runs = [
        (broken, *LONG),
        (whole, *LONG),
        (untracked, "--pipelines", pipelines, "--env", "smoke"),
    ]
    if samples := find_real_samples():
        files = ",".join(f"{kind}={path}" for kind, path in samples.items())
        in_files = ("--pipeline", "lendingclub", "--env", "files", "--params", files)
        runs.append((with_samples, *in_files))
    done = kedro_runs(tmp_path_factory.mktemp("trained"), *runs)
    return dict(zip(("resumed", "whole", "untracked", "samples"), done, strict=False))


def test_training_that_was_killed_goes_on_and_ends_with_the_same_network(
    killed, trained
):
    whole, broken = killed
    again, done = trained["resumed"], trained["whole"]
    assert again.returncode == 0, again.stdout + again.stderr
    assert "Going on after epoch" in again.stdout + again.stderr
    assert not (broken / CHECKPOINT).exists()
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Going on after epoch" not in done.stdout + done.stderr
    # The history, too, has every epoch once.
    for name in ("xnn_trained.json", "xnn_training_history.csv"):
        assert network(broken, name) == network(whole, name)


def test_same_seed_same_data_and_models_with_the_hooks_off(
    finished, untracked, trained
):
    done = trained["untracked"]
    assert done.returncode == 0, done.stdout + done.stderr
    assert not (untracked / "mlflow.db").exists()
    for name, rows in sets(finished[0]).items():
        pd.testing.assert_frame_equal(rows, sets(untracked)[name])
    for name in NETWORKS:
        assert network(untracked, name) == network(finished[0], name)


def started(project, *arguments):
    """Start a run and do not wait for it."""
    return subprocess.Popen(
        command(*arguments),
        cwd=project,
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def wait_for(path, process):
    """Wait until a file is there or the process has ended."""
    while process.poll() is None and not path.exists():
        time.sleep(0.002)


def test_run_killed_while_cleaning_can_be_started_again(project):
    turn_tracking_off(project, "smoke")
    # Enough rows for the cleaning to last; every table of it is on disk and whole or
    # not there at all.
    (project / "conf/smoke/globals.yml").write_text(
        "data: data/smoke\nsimulated_rows: {accepted: 20000, rejected: 240000}\n"
    )
    arguments = ("--pipeline", "data", "--env", "smoke")
    typed = project / "data/smoke/02_intermediate/applications_typed.parquet"
    clean = project / "data/smoke/03_primary/applications_clean.parquet"
    process = started(project, *arguments)
    while process.poll() is None and not list(clean.parent.glob(".*.part")):
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    assert typed.exists()
    assert not clean.exists()

    done = kedro_run(project, *arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    assert sum(len(rows) for rows in sets(project).values()) > 30_000
    assert not list(project.glob("data/**/.*.part"))


def test_own_files_by_parameters(project, write_published, migrated_database):
    shutil.copy(migrated_database, project)
    accepted = write_published("accepted", [{"amount": f"{n}000"} for n in range(1, 9)])
    rejected = write_published("rejected", [{"amount": f"{n}000"} for n in range(1, 9)])
    done = kedro_run(
        project,
        *("--pipeline", "data", "--env", "files"),
        *("--params", f"accepted={accepted},rejected={rejected}"),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert sum(len(rows) for rows in sets(project, "files").values()) == 16


def test_missing_file_is_one_sentence_and_leaves_nothing(project, migrated_database):
    shutil.copy(migrated_database, project)
    done = kedro_run(project, "--pipeline", "data", "--env", "files")
    assert done.returncode != 0
    assert "Error: No accepted file at" in done.stderr
    assert "wordsforthewise/lending-club" in done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    written = [path for path in (project / "data").rglob("*") if path.is_file()]
    assert written == []


# A parameter as somebody mistypes it, and what the answer names.
MISTAKES = {
    "clening.max_amount=1": "'clening': did you mean 'cleaning'?",
    "sede=1": "'sede': did you mean 'seed'?",
    "xnn.trainning.max_epochs=1": "'trainning': did you mean 'training'?",
    "xnn.training.max_epoch=1": "'max_epoch': did you mean 'max_epochs'?",
    "baselines.rff.tuning_rows=9": "rff': did you mean 'rf'?",
    "baselines.rf.setings.max_depth=3": "'setings': did you mean 'settings'?",
    "baselines.rf.settings.max_deph=3": "'max_deph': did you mean 'max_depth'?",
    "evaluation.treshold=0.4": "'treshold': did you mean 'threshold'?",
    "xnn.training.max_epochs=0": "'training.max_epochs' is 0",
    "xnn.training.schedule=cosin": "'training.schedule' is 'cosin'",
    "splitting.train=0.9": "must add up to 1",
}


def test_misspelt_parameter_names_the_close_match(project):
    done = kedro_run(project, "--env", "smoke", "--params", "cleaning.max_amont=1")
    assert done.returncode == 1
    assert_one_sentence(done, "did you mean 'max_amount'?")
    assert not (project / "data").exists()
    assert not (project / "mlflow.db").exists()


def test_what_runs_say_of_files_and_mistakes(
    tmp_path, write_published, migrated_database
):
    """One process for all of them: each in a project of its own."""
    names = ("mistaken", "violated", "configured")
    mistaken, violated, configured = (copy_project(tmp_path / one) for one in names)
    for one in (violated, configured):
        shutil.copy(migrated_database, one)
    write_published("accepted", name="accepted_mine.csv")
    write_published("rejected", name="rejected_mine.csv")
    (configured / "conf/files/globals.yml").write_text(
        "data: data/files\n"
        f"accepted: {tmp_path}/accepted_*.csv\nrejected: {tmp_path}/rejected_*.csv\n"
    )
    bad = [{}, {"risk_score": "15000", "dti": "7.77%"}]
    files = f"accepted={write_published('accepted')}"
    files += f",rejected={write_published('rejected', bad)}"
    in_files = ("--pipeline", "data", "--env", "files")
    *refused, stopped, good = kedro_runs(
        tmp_path,
        *((mistaken, "--env", "smoke", "--params", one) for one in MISTAKES),
        (violated, *in_files, "--params", files),
        (configured, "--pipelines", "ingestion,cleaning", "--env", "files"),
    )
    for done, answer in zip(refused, MISTAKES.values(), strict=True):
        assert done.returncode == 1
        assert_one_sentence(done, answer)
    assert not (mistaken / "data").exists()
    assert not (mistaken / "mlflow.db").exists()

    # A row that breaks a rule stops the run and is shown.
    assert stopped.returncode == 1
    assert "risk_score: in_range" in stopped.stderr
    assert "7.77" in stopped.stderr
    clean = Path("data/files/03_primary/applications_clean.parquet")
    assert not (violated / clean).exists()

    # Own files may be named in the configuration.
    assert good.returncode == 0, good.stdout + good.stderr
    assert (configured / clean).exists()


def assert_one_sentence(done, answer):
    assert "Traceback" not in done.stdout + done.stderr
    assert done.stderr.count("Error: ") == 1
    assert answer in in_one_line(done.stderr.partition("Error: ")[2])


@pytest.mark.usefixtures("real_samples")
def test_real_samples_are_modelled_with_a_warning_of_small_numbers(
    with_samples, trained
):
    project, done = with_samples, trained["samples"]
    said = in_one_line(done.stdout + done.stderr)
    assert done.returncode == 0, said
    parts = sets(project, "files")
    assert sum(len(rows) for rows in parts.values()) == 4_240
    # Of the test rows too few are of one class.
    smaller = int(parts["test"]["approved"].value_counts().min())
    assert smaller < 500
    sentences = json.loads(reported(project, "limits.json", "files"))
    few = [one for one in sentences if f"Only {smaller:,} of" in one]
    assert len(few) == 1
    assert in_one_line(few[0]) in said.replace(" WARNING ", " ")
    page = html.unescape(reported(project, "model_report.html", "files"))
    assert few[0] in page
    # Nobody knows the truth of real files.
    assert json.loads(reported(project, "truth_metrics.json", "files")) == {}
    assert "known truth" not in page
