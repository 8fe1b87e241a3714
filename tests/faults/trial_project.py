"""A copy of the project with pipelines of its own, small ones that show a fault."""

import re
import shutil

from projects import PROJECT, copy_project

__all__ = ["FORMULA", "SECRET", "make_trial"]

SECRET = "secret 4711"  # a cell of an application
FORMULA = "=cmd|' /C calc'!A0"

_NODES = f"""
import logging
import time
from pathlib import Path

import pandas as pd

from ridgeline.trial_models import applications, make_scorer

logger = logging.getLogger(__name__)

def results():
    import ibis

    rows = applications()
    lines = pd.DataFrame({{"text": ["{SECRET}"]}})
    audit = pd.DataFrame({{"step": ["{FORMULA}"], "examples": ["{SECRET}"]}})
    example = rows.astype({{"purpose": str}})
    report = "<html>{SECRET}</html>"
    return make_scorer(), example, ibis.memtable(lines), audit, report

def show(seed):
    logger.info("A cell: %s", "[/x] [bold]b[/bold] \\x1b[31mred \\x07 \\u202eleft")

def wait(seed):
    from joblib import Parallel, delayed

    def work(number):
        Path(f"ready-{{number}}").touch()
        time.sleep(600)

    Parallel(n_jobs=2)(delayed(work)(number) for number in range(2))

def query(seed):
    import duckdb

    duckdb.sql("SET threads = 1")
    Path("ready-0").touch()
    duckdb.sql("SELECT sum(a.range * b.range) FROM range(1000000) a, range(1000000) b"
    ).fetchall()
"""
_PIPELINES = """
        "results": Pipeline([Node(trial.results, None, trial_outputs, name="results")]),
        "show": Pipeline([Node(trial.show, "params:seed", None, name="show")]),
        "wait": Pipeline([Node(trial.wait, "params:seed", None, name="wait")]),
        "query": Pipeline([Node(trial.query, "params:seed", None, name="query")]),
"""
_IMPORTS = """
from kedro.pipeline import Node

from ridgeline import trial

trial_outputs = [
    "xnn.refined", "input_example", "malformed_lines", "cleaning_audit", "model_report"
]
"""


def make_trial(folder, database=None):
    """Make the copy, with a migrated MLflow database where one is given."""
    project = copy_project(folder)
    package = project / "src" / "ridgeline"
    models = PROJECT / "tests" / "tracking" / "example_models.py"
    shutil.copy(models, package / "trial_models.py")
    (package / "trial.py").write_text(_NODES)
    registry = package / "pipeline_registry.py"
    text = registry.read_text().replace("\n__all__", f"{_IMPORTS}\n__all__", 1)
    registry.write_text(re.sub(r"(\n +\"__default__\")", rf"{_PIPELINES}\1", text))
    if database is not None:
        shutil.copy(database, project / "mlflow.db")
    return project
