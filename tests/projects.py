"""Copies of the project, and `kedro run` in them as a person types it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

__all__ = [
    "PROJECT",
    "command",
    "copy_data",
    "copy_project",
    "environment",
    "kedro_run",
    "turn_tracking_off",
]

PROJECT = Path(__file__).parents[1]


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


def turn_tracking_off(project, env):
    """Let an environment's runs go without MLflow."""
    (project / "conf" / env / "mlflow.yml").write_text("enabled: false\n")


def command(*arguments):
    """The command line of a run."""
    return [sys.executable, "-m", "kedro", "run", *arguments]


def environment():
    """Variables of a run: a wide console, and nothing is reported to anybody."""
    return os.environ | {"DO_NOT_TRACK": "true", "COLUMNS": "200"}


def kedro_run(project, *arguments):
    """Run in a copy of the project and wait for the end, good or bad."""
    return subprocess.run(
        command(*arguments),
        cwd=project,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
