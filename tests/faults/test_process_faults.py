"""What a run says, what it sends to whom, and what it leaves when it is ended."""

import ast
import json
import os
import re
import shlex
import signal
import sqlite3
import subprocess
import sys
import time

import click
import pandas as pd
import psutil
import pytest
from projects import PROJECT, command
from trial_project import FORMULA, SECRET, make_trial

from ridgeline.errors import InputError
from ridgeline.hooks import PlainErrorHook

# MLflow is silent in tests and on build machines; these runs are as at home.
_AT_HOME = {
    name: value
    for name, value in os.environ.items()
    if name not in ("CI", "GITHUB_ACTIONS", "DO_NOT_TRACK", "PYTEST_CURRENT_TEST")
    and not name.startswith("MLFLOW_")
} | {"COLUMNS": "1000"}
_TELEMETRY = "from mlflow.telemetry.utils import is_telemetry_disabled as off; "


def start(folder, *arguments):
    """Start a run in a folder; what it says goes to a file."""
    # Tests that nohup has started are deaf to this one, and so would be the run.
    former = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    try:
        # Not through a pipe, which a process that is left behind would hold open.
        with (folder / "said.txt").open("w") as said:
            return subprocess.Popen(
                command(*arguments),
                cwd=folder,
                env=_AT_HOME,
                stdout=said,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
    finally:
        signal.signal(signal.SIGHUP, former)


def said_in(folder):
    return (folder / "said.txt").read_text()


def rows(project, statement):
    with sqlite3.connect(project / "mlflow.db") as database:
        return database.execute(statement).fetchall()


_DEADLINE = 120  # seconds, after which a run does not end any more


@pytest.fixture(scope="module")
def ended(tmp_path_factory, migrated_database):
    """Return what became of runs that were signalled, by signal and pipeline."""
    asked = [("SIGTERM", "wait", 2), ("SIGHUP", "query", 1)]
    runs = {}
    for name, pipeline, workers in asked:
        folder = tmp_path_factory.mktemp("ended")
        project = make_trial(folder / "project", migrated_database)
        process = start(project, "--pipelines", pipeline, "--env", "smoke")
        ready = [project / f"ready-{number}" for number in range(workers)]
        runs[name, pipeline] = project, process, ready
    found = {}
    try:
        # Whichever is ready first is ended first, so that none computes in vain.
        while waiting := runs.keys() - found.keys():
            time.sleep(0.05)
            for case in waiting:
                project, process, ready = runs[case]
                assert process.poll() is None, said_in(project)
                if all(path.exists() for path in ready):
                    found[case] = end(process, project, case[0])
    finally:
        # Where a signal did nothing, these would compute for ever.
        for _, process, _ in runs.values():
            process.kill()
            process.wait()
    return found


def end(process, project, name):
    """Send a signal; return the code, what is left, the statuses and what was said."""
    children = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(getattr(signal, name))
    code = process.wait(_DEADLINE)
    _, left = psutil.wait_procs(children, timeout=10)
    for child in left:
        child.kill()
    statuses = rows(project, "SELECT status FROM runs")
    return code, len(left), statuses, said_in(project)


@pytest.mark.parametrize(
    ("case", "code"),
    [
        (("SIGTERM", "wait"), 128 + signal.SIGTERM),
        (("SIGHUP", "query"), 128 + signal.SIGHUP),  # DuckDB makes an error of it
    ],
)
def test_run_that_is_asked_to_end_is_killed_and_leaves_no_process(ended, case, code):
    returned, left, statuses, said = ended[case]
    assert (statuses, left, returned) == ([("KILLED",)], 0, code), said


@pytest.fixture(scope="module")
def finished_small(tmp_path_factory, migrated_database):
    """Return a project with a small smoke run from a folder of it, and what it said."""
    project = make_trial(
        tmp_path_factory.mktemp("finished") / "project", migrated_database
    )
    folder = project / "notebooks"
    folder.mkdir()
    process = start(folder, "--pipelines", "results,show", "--env", "smoke")
    assert process.wait() == 0, said_in(folder)
    return project, said_in(folder)


def artifacts(project):
    return [path for path in (project / "mlartifacts").rglob("*") if path.is_file()]


def test_printed_command_opens_the_runs_database_without_telemetry(finished_small):
    project, said = finished_small
    printed = re.search(r"side by side: (.*?)\S*mlflow ui (\S+\s+\S+)", said)
    variables, arguments = printed.groups()
    code = f"import sys; {_TELEMETRY}print(off(), sys.argv[-1])"
    shown = subprocess.run(
        f"{variables} {shlex.quote(sys.executable)} -c '{code}' {arguments}",
        shell=True,
        cwd=project / "notebooks",
        env=_AT_HOME,
        capture_output=True,
        text=True,
        check=True,
    )
    silent, uri = shown.stdout.split()
    assert silent == "True"
    opened = project / "notebooks" / uri.removeprefix("sqlite:///")
    assert opened.resolve() == (project / "mlflow.db").resolve()


def test_notebook_switches_telemetry_off_before_it_imports_mlflow():
    notebook = json.loads((PROJECT / "notebooks/read_the_model.ipynb").read_text())
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    lines = "\n".join("".join(cell["source"]) for cell in cells).splitlines()
    plain = [line for line in lines if not line.startswith("%")]
    steps = ast.parse("\n".join(plain)).body
    kept = [
        ast.unparse(step)
        for step in steps
        if isinstance(step, ast.Import) or ast.unparse(step).startswith("os.environ[")
    ]
    code = "\n".join([*kept, f"{_TELEMETRY}print(off())"])
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=_AT_HOME,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "True\n"


def test_report_is_named_as_it_opens_from_a_folder_of_the_project(finished_small):
    project, said = finished_small
    (named,) = re.findall(r"Report: open (\S+) in a browser", said)
    report = (project / "notebooks" / named).resolve()
    assert SECRET in report.read_text()
    assert report.is_relative_to(project.resolve())


def test_smoke_run_registers_no_version_and_moves_no_alias(finished_small):
    project, _ = finished_small
    logged = rows(project, "SELECT name FROM logged_models")
    assert logged == [("xnn-refined",)]
    assert rows(project, "SELECT * FROM model_versions") == []
    assert rows(project, "SELECT * FROM registered_model_aliases") == []


def test_no_applicants_row_is_in_mlflow(finished_small):
    project, _ = finished_small
    logged = artifacts(project)
    for path in logged:
        assert SECRET.encode() not in path.read_bytes(), path
    assert {"malformed_lines.json", "input_example.json"} <= {p.name for p in logged}
    example = pd.read_csv(next(project.glob("data/**/input_example.csv")))
    amount = str(example["amount"][0])[:8]
    assert [p for p in logged if amount.encode() in p.read_bytes()] == []
    # The signature needs the types alone.
    (model,) = (path for path in logged if path.name == "MLmodel")
    assert "risk_score" in model.read_text()


def test_no_cell_in_mlflow_is_a_formula(finished_small):
    (audit,) = (
        p for p in artifacts(finished_small[0]) if p.name == "cleaning_audit.csv"
    )
    assert pd.read_csv(audit)["step"].tolist() == [f"'{FORMULA}"]


def test_cells_are_shown_and_do_not_act_on_the_console(finished_small):
    _, said = finished_small
    shown = r"A cell: [/x] [bold]b[/bold] \x1b[31mred \x07 \u202eleft"
    assert shown in said
    assert not re.search("[\x07\x1b\u202e]", said)
    assert "--async" not in said  # which would be refused


def test_errors_are_shown_and_do_not_act_on_the_console():
    cell = "\x1b[31mred \x07\u202e"
    shown = r"\x1b[31mred \x07\u202e"
    with pytest.raises(click.ClickException) as caught:
        PlainErrorHook().on_pipeline_error(InputError(f"got {cell},\nuse another"))
    assert caught.value.format_message() == f"got {shown},\nuse another"
    foreign = RuntimeError(f"cannot convert {cell}", 3)
    PlainErrorHook().on_pipeline_error(foreign)
    assert foreign.args == (f"cannot convert {shown}", 3)
