"""Copies of the project, and `kedro run` in them as a person types it."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

__all__ = [
    "PROJECT",
    "QUICK_TO_COMPILE",
    "command",
    "copy_data",
    "copy_project",
    "environment",
    "find_real_samples",
    "kedro_run",
    "kedro_runs",
    "turn_tracking_off",
]

PROJECT = Path(__file__).parents[1]
# For XLA, in the processes of the tests.
QUICK_TO_COMPILE = (
    "--xla_backend_optimization_level=0 --xla_cpu_use_fusion_emitters=false"
)


def copy_project(target):
    """Copy what a checkout has; data and runs of this folder stay where they are."""
    target.mkdir()
    for name in ("conf", "src"):
        shutil.copytree(PROJECT / name, target / name)
    for name in ("pyproject.toml", ".telemetry"):
        shutil.copy(PROJECT / name, target / name)
    return target


def copy_data(source, target, *folders):
    """Copy folders of a project's data, as smoke/05_model_input, to another one."""
    for folder in folders:
        shutil.copytree(source / "data" / folder, target / "data" / folder)


def find_real_samples():
    """The two real samples by their kind; none where they are not at hand."""
    folder = os.environ.get("RIDGELINE_REAL_DATA")
    kinds = ("accepted", "rejected") if folder else ()
    return {kind: Path(folder) / f"{kind}_sample.csv" for kind in kinds}


def turn_tracking_off(project, env):
    """Let an environment's runs go without MLflow."""
    (project / "conf" / env / "mlflow.yml").write_text("enabled: false\n")


def command(*arguments):
    """The command line of a run."""
    return [sys.executable, "-m", "kedro", "run", *arguments]


def environment(*, quick=False):
    """Variables of a run: a wide console, and nothing is reported to anybody.

    Its programs are compiled as a person's are, or as quickly as those of the tests.
    """
    mine = os.environ | {"DO_NOT_TRACK": "true", "COLUMNS": "200"}
    if mine.get("XLA_FLAGS") == QUICK_TO_COMPILE and not quick:
        del mine["XLA_FLAGS"]
    return mine


def kedro_run(project, *arguments, quick=False):
    """Run in a copy of the project and wait for the end, good or bad."""
    return subprocess.run(
        command(*arguments),
        cwd=project,
        env=environment(quick=quick),
        capture_output=True,
        text=True,
        check=False,
    )


# The same in one process, which imports Kedro once: folders and what is typed there.
_IN_TURN = """
import json, os, sys
from kedro.framework.cli.cli import main
for folder, typed, said in json.load(sys.stdin):
    os.chdir(folder)
    sys.argv = ["kedro", "run", *typed]
    streams = [os.open(f"{said}.{name}", os.O_CREAT | os.O_WRONLY) for name in "oe"]
    os.dup2(streams[0], 1)
    os.dup2(streams[1], 2)
    try:
        main()
    except SystemExit as end:
        code = end.code
    sys.stdout.flush()
    sys.stderr.flush()
    for stream in streams:
        os.close(stream)
    with open(f"{said}.code", "w") as file:
        json.dump(code, file)
"""


def kedro_runs(folder, *runs):
    """Run one after the other, each a project and its arguments, in one process.

    For what a run says; a few tests type the whole command, as a person does.

    Returns:
        What `kedro_run` returns for each.
    """
    said = [str(folder / f"said-{number}") for number in range(len(runs))]
    cases = [
        (str(project), arguments, path)
        for (project, *arguments), path in zip(runs, said, strict=True)
    ]
    done = subprocess.run(
        [sys.executable, "-c", _IN_TURN],
        input=json.dumps(cases),
        env=environment(),
        text=True,
        check=False,
    )
    assert done.returncode == 0
    return [
        subprocess.CompletedProcess(
            arguments,
            json.loads(Path(f"{path}.code").read_text()),
            *(Path(f"{path}.{name}").read_text() for name in "oe"),
        )
        for (_, *arguments), path in zip(runs, said, strict=True)
    ]
