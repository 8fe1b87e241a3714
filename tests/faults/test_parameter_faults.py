"""What cannot work is refused in a sentence before anything runs."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from projects import copy_project

# Runs cases one after another in one process, each with files of its own.
_SCRIPT = """
import json, sys
from pathlib import Path
import click
import kedro.runner
from kedro.framework.project import settings
from kedro.framework.startup import bootstrap_project

project = Path.cwd()
bootstrap_project(project)
outcomes = {}
for name, case in json.load(sys.stdin).items():
    former = {}
    for file, text in case.get("files", {}).items():
        path = project / "conf" / file
        path.parent.mkdir(exist_ok=True)
        former[path] = path.read_text() if path.exists() else None
        path.write_text(text)
    runner = getattr(kedro.runner, case.get("runner", "SequentialRunner"))
    try:
        with settings.SESSION_CLASS.create(
            project, env=case.get("env"), runtime_params=case.get("params")
        ) as session:
            session.run(
                pipeline_names=[case.get("pipeline", "data")],
                runner=runner(is_async=case.get("is_async", False)),
            )
        outcome = "it ran"
    except click.ClickException as error:
        outcome = error.format_message()
    except Exception as error:
        outcome = f"a traceback of {type(error).__name__}: {error}"
    outcomes[name] = outcome
    for path, text in former.items():
        path.unlink() if text is None else path.write_text(text)
print("OUTCOMES", json.dumps(outcomes))
"""
_ROWS = "simulated_rows: {{accepted: {}, rejected: 5}}\n"
_GLOBALS = "seed: 0\nconnection: {{backend: duckdb}}\n" + _ROWS
_CATALOG = """
accepted_raw:
  type: ridgeline.datasets.PublishedCsvDataset
  filepath: ${runtime_params:accepted}
  kind: accepted
"""
_SPACES = "YAML is indented by spaces, and has each key once."
_SEED = "parameters 'seed': it is "


def _xnn(group, **values):
    return {"params": {"xnn": {group: values}}}


_CASES = {
    # The seed.
    "negative": ({"params": {"seed": -1}}, f"{_SEED}-1, but input should be greater"),
    "half": ({"params": {"seed": 1.5}}, f"{_SEED}1.5, but input should be a valid int"),
    "text": ({"params": {"seed": "x"}}, f"{_SEED}'x', but input should be a valid int"),
    "large": ({"params": {"seed": 2**64}}, f"{_SEED}{2**64}, but input should be less"),
    "null": ({"params": {"seed": None}}, f"{_SEED}None, but input should be a valid"),
    # Values that would be refused late, or never.
    "step": (
        _xnn("training", cayley_step=-5),
        "parameters 'xnn': 'training.cayley_step' is -5, but input should be greater "
        "than or equal to 0 or input should be 'adaptive'.",
    ),
    "infinite": (
        _xnn("tuning", roughness=[float("inf")]),
        "'tuning.roughness.0' is inf, but input should be a finite number.",
    ),
    "nan": (
        {"params": {"cleaning": {"max_amount": float("nan")}}},
        "parameters 'cleaning': 'max_amount' is nan, but input should be a finite",
    ),
    "grid": (
        _xnn("tuning", l1_scales=[0.1, -0.1]),
        "'tuning.l1_scales.1' is -0.1, but input should be greater than or equal to 0.",
    ),
    "jobs": (_xnn("tuning", n_jobs=0), "'tuning.n_jobs': it is 0, but must be 1"),
    "components": (
        _xnn("network", n_subnetworks=6),
        "n_subnetworks is 6, but orthogonal projections are at most as many as the 5",
    ),
    "baseline": (
        {
            "params": {"baselines": {"rf": {"grid": {"max_depth": [4, -4]}}}},
            "pipeline": "baselines",
        },
        "parameters 'baselines.rf': The 'max_depth' parameter of RandomForest",
    ),
    "study": (
        {
            "params": {"study": {"xnn": {"settings": {"learning_rate": -1}}}},
            "pipeline": "simulation",
        },
        "parameters 'study.xnn': The 'learning_rate' parameter of XNNRegressor",
    ),
    # globals.yml.
    "no rows": (
        {"files": {"local/globals.yml": _ROWS.format(-5)}},
        "globals.yml: 'simulated_rows.accepted' is -5, but input should be greater",
    ),
    "rows of text": (
        {"files": {"local/globals.yml": _ROWS.format("many")}},
        "globals.yml: 'simulated_rows.accepted' is 'many', but input should be a valid",
    ),
    "seed of text": (
        {"files": {"local/globals.yml": "seed: one\n"}},
        "globals.yml: 'seed' is 'one', but input should be a valid integer.",
    ),
    "half of the rows": (
        {"files": {"local/globals.yml": "simulated_rows: {accepted: 5}\n"}},
        "globals.yml: 'simulated_rows.rejected' is missing.",
    ),
    # Files that are no YAML.
    "tab": (
        {"files": {"local/parameters.yml": "cleaning:\n\tmax_amount: 1\n"}},
        "conf/local/parameters.yml cannot be read at line 2, column 1: found character "
        f"'\\t' that cannot start any token. Mend it: {_SPACES}",
    ),
    "indentation": (
        {"files": {"local/globals.yml": "seed: 0\n  more: 1\n"}},
        "conf/local/globals.yml cannot be read at line 2, column 7: mapping values are",
    ),
    "key twice": (
        {"files": {"local/parameters.yml": "seed: 1\nseed: 2\n"}},
        "conf/local/parameters.yml cannot be read at line 2, column 1: found duplicate "
        "key seed.",
    ),
    "key in two files": (
        {
            "files": {
                "local/parameters.yml": "seed: 1\n",
                "local/parameters_more.yml": "seed: 2\n",
            }
        },
        "Keep each key in one of the files.",
    ),
    "list": (
        {"files": {"local/catalog.yml": "- 1\n"}},
        "conf/local/catalog.yml cannot be read: it is a list where keys and values are",
    ),
    "no such value": (
        {"files": {"local/parameters.yml": "seed: ${globals:sed}\n"}},
        "conf: seed: Globals key 'sed' not found and no default value provided.",
    ),
    "environment": (
        {"env": "smke"},
        "there is no environment 'smke' in conf: did you mean 'smoke'?",
    ),
    # Files that the catalog does not read.
    "own file": (
        {"params": {"accepted": "mine.csv"}},
        "parameter 'accepted' needs --env files: the environment 'local' does not read",
    ),
    "own file in smoke": (
        {"params": {"rejected": "mine.csv"}, "env": "smoke"},
        "parameter 'rejected' needs --env files: the environment 'smoke' does not read",
    ),
    "one of two": (
        {
            "params": {"accepted": "mine.csv", "rejected": "mine.csv"},
            "env": "mine",
            "files": {"mine/catalog.yml": _CATALOG},
        },
        "parameter 'rejected' needs --env files: the environment 'mine' does not read",
    ),
    "own file in a file": (
        {"files": {"files/parameters.yml": "accepted: mine.csv\n"}, "env": "files"},
        "parameter 'accepted' is for the command line, --params accepted=PATH; in a",
    ),
    # Runners.
    "threads": (
        {"runner": "ThreadRunner"},
        "the runner is ThreadRunner, but all tables share one connection",
    ),
    "processes": (
        {"runner": "ParallelRunner"},
        "the runner is ParallelRunner, but all tables share one connection",
    ),
    "asynchronous": (
        {"is_async": True},
        "leave the option out, for SequentialRunner. Queries and fits use all cores",
    ),
}


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    """Return the project and what became of every case."""
    project = copy_project(tmp_path_factory.mktemp("refused") / "project")
    (project / "conf/local/mlflow.yml").write_text("enabled: false\n")
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT],
        cwd=project,
        env=os.environ | {"DO_NOT_TRACK": "true"},
        input=json.dumps({name: case for name, (case, _) in _CASES.items()}),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    _, _, found = done.stdout.partition("OUTCOMES ")
    return project, json.loads(found)


@pytest.mark.parametrize("name", _CASES)
def test_is_refused_in_a_sentence(outcomes, name):
    said = outcomes[1][name]
    assert _CASES[name][1] in said
    assert not said.startswith("a traceback of")


def test_nothing_ran(outcomes):
    project, _ = outcomes
    written = [path for path in Path(project, "data").rglob("*") if path.is_file()]
    assert written == []
    assert not (project / "mlflow.db").exists()
