"""The hooks in a real project, from the command line."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from mlflow import MlflowClient
from mlflow.entities import Run
from projects import kedro_runs

from ridgeline.errors import InputError
from ridgeline.hooks import PlainError, PlainErrorHook

SETTINGS = """
import logging
from kedro.config import OmegaConfigLoader
from ridgeline.hooks import PlainErrorHook, TrackingHook

logging.getLogger("ridgeline").setLevel("INFO")  # as Kedro does for its own project
HOOKS = (TrackingHook(), PlainErrorHook())
CONFIG_LOADER_CLASS = OmegaConfigLoader
CONFIG_LOADER_ARGS = {
    "base_env": "base",
    "default_run_env": "local",
    "config_patterns": {"mlflow": ["mlflow*", "mlflow*/**"]},
    "merge_strategy": {"mlflow": "soft"},
}
"""
NODES = """
import os, signal
from ridgeline.errors import InputError

def count():
    return {"n": 1}

def add(scores):
    return {"n": scores["n"] + 1}

def refuse(scores):
    try:
        raise InputError("The file has no column 'Amount'; add it.")
    except InputError as error:
        raise RuntimeError("wrapped by somebody") from error

def interrupt(scores):
    os.kill(os.getpid(), signal.SIGINT)
"""
REGISTRY = """
from kedro.pipeline import Pipeline, node
from tiny import nodes

def register_pipelines():
    first = Pipeline([node(nodes.count, None, "scores", name="count")])
    def then(func):
        return first + Pipeline([node(func, "scores", "result", name=func.__name__)])
    return {
        "__default__": then(nodes.add),
        "refuse": then(nodes.refuse),
        "interrupt": then(nodes.interrupt),
    }
"""
CATALOG = """
scores: {type: kedro_datasets.json.JSONDataset, filepath: scores.json}
result: {type: kedro_datasets.json.JSONDataset, filepath: result.json}
"""
PYPROJECT = """
[tool.kedro]
package_name = "tiny"
project_name = "Tiny"
kedro_init_version = "1.7.0"
source_dir = "src"
"""


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory, migrated_database: Path) -> Path:
    """A tiny project with a migrated MLflow database."""
    root = tmp_path_factory.mktemp("tiny")
    texts = {
        "pyproject.toml": PYPROJECT,
        "src/tiny/__init__.py": "",
        "src/tiny/settings.py": SETTINGS,
        "src/tiny/nodes.py": NODES,
        "src/tiny/pipeline_registry.py": REGISTRY,
        "conf/base/catalog.yml": CATALOG,
        "conf/base/mlflow.yml": "experiment: tiny\n",
        "conf/local/mlflow.yml": "preview_rows: 3\n",
    }
    for name, text in texts.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    shutil.copy(migrated_database, root)
    return root


@pytest.fixture
def tiny(template: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(template, tmp_path / "tiny"))


def _kedro(project: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "kedro", *arguments],
        cwd=project,
        # Neither Kedro nor MLflow reports test runs; log lines are not broken.
        env=os.environ | {"DO_NOT_TRACK": "true", "COLUMNS": "400"},
        capture_output=True,
        text=True,
        check=False,
    )


def _only_run(project: Path) -> Run:
    client = MlflowClient(tracking_uri=f"sqlite:///{project}/mlflow.db")
    experiment = client.get_experiment_by_name("tiny")
    assert experiment is not None
    (run,) = client.search_runs([experiment.experiment_id])
    return run


def test_run_is_recorded_and_the_next_step_said(tiny: Path) -> None:
    done = _kedro(tiny, "run")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "mlflow ui --backend-store-uri sqlite:///mlflow.db" in done.stdout
    run = _only_run(tiny)
    assert run.info.status == "FINISHED"
    assert run.data.tags["kedro_env"] == "local"
    assert run.data.metrics["result.n"] == 2
    assert (tiny / "mlartifacts" / run.info.run_id / "artifacts/add").is_dir()


def test_own_error_and_mistake_in_mlflow_yml_are_sentences(
    template: Path, tmp_path: Path
) -> None:
    refusing, mistaken = (
        Path(shutil.copytree(template, tmp_path / name))
        for name in ("refusing", "mistaken")
    )
    (mistaken / "conf/base/mlflow.yml").write_text("experimnt: tiny\n")
    refused, unknown = kedro_runs(
        tmp_path, (refusing, "--pipelines", "refuse"), (mistaken,)
    )
    for done in (refused, unknown):
        assert done.returncode == 1
        assert "Traceback" not in done.stdout + done.stderr
    said = "Error: The file has no column 'Amount'; add it.\n"
    assert refused.stderr.endswith(said)
    run = _only_run(refusing)
    assert run.info.status == "FAILED"
    assert run.data.tags["failed_node"] == "refuse"
    assert "unknown parameter 'experimnt': did you mean 'experiment'?" in unknown.stderr
    assert not (mistaken / "result.json").exists()


def test_interrupted_process_leaves_a_killed_run(tiny: Path) -> None:
    # A shell starts its background jobs deaf to interruptions; this one must hear.
    settings = tiny / "src/tiny/settings.py"
    listening = (
        "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
    )
    settings.write_text(listening + settings.read_text())
    done = _kedro(tiny, "run", "--pipelines", "interrupt")
    assert done.returncode != 0
    assert _only_run(tiny).info.status == "KILLED"


def test_hooks_import_neither_mlflow_nor_tensorflow() -> None:
    code = (
        "import sys, ridgeline.hooks as h; h.TrackingHook(); h.PlainErrorHook();"
        "heavy = {'mlflow', 'tensorflow', 'ibis', 'pandas', 'matplotlib', 'sklearn'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.endswith("[]\n")


def test_python_code_and_the_debug_log_have_the_original_error(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("DEBUG", logger="ridgeline")
    original = InputError("say this")
    outer = RuntimeError("outer")
    outer.__cause__ = original
    with pytest.raises(PlainError, match="say this") as caught:
        PlainErrorHook().on_pipeline_error(outer)
    assert caught.value.__cause__ is outer
    assert "RuntimeError: outer" in caplog.text


def test_other_errors_are_left_alone() -> None:
    loop = RuntimeError("a chain that bites its tail")
    loop.__cause__ = ValueError("inner")
    loop.__cause__.__context__ = loop
    PlainErrorHook().on_pipeline_error(loop)
