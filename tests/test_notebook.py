"""The notebook as a person opens it, run on the results of the smoke run."""

import json
import os
import re
import shutil
from base64 import b64decode
from io import BytesIO
from tempfile import TemporaryDirectory

import nbformat
import numpy as np
import pandas as pd
import pytest
from matplotlib.image import imread
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from projects import PROJECT, copy_project, environment
from traitlets.config import Config

from ridgeline.lendingclub.modelling import model_sample
from ridgeline.xnn.storage import load_model

NOTEBOOK = PROJECT / "notebooks" / "read_the_model.ipynb"
# At the end it hands over what it has computed.
HAND_OVER = """
import json
display({"application/json": {
    "place": place,
    "contributions": contributions.iloc[0].to_dict(),
    "served": served.iloc[0].to_dict(),
    "aucs": children["metrics.auc"].to_dict(),
    "differences": differences.to_dict(),
}}, raw=True)
"""


def execute(folder, env, more=()):
    """Run the notebook with its kernel in a folder; return it with its outputs."""
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    notebook.cells += [nbformat.v4.new_code_cell(source) for source in more]
    variables = environment() | {
        "KEDRO_ENV": env,
        "IPYTHONDIR": str(folder / ".ipython"),
        # The models' code lies in the finished project, which stays as it is.
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    # By sockets in files: a port could be taken by the kernel of another worker. Their
    # paths must be short.
    with TemporaryDirectory() as sockets:
        manager = {"transport": "ipc", "ip": f"{sockets}/kernel"}
        client = NotebookClient(
            notebook,
            timeout=300,
            resources={"metadata": {"path": str(folder)}},
            config=Config({"KernelManager": manager}),
        )
        client.execute(env=variables)
    return notebook


@pytest.fixture(scope="module")
def opened(finished, tmp_path_factory):
    """Return the copy of a finished project, and the notebook run in it."""
    project = tmp_path_factory.mktemp("notebook") / "project"
    # MLflow knows by their full path where its models are: in the original.
    heavy = shutil.ignore_patterns("01_raw", "02_intermediate", "mlartifacts", ".viz")
    shutil.copytree(finished[0], project, ignore=heavy)
    (project / "notebooks").mkdir(exist_ok=True)
    return project, execute(project / "notebooks", "smoke", [HAND_OVER])


@pytest.fixture(scope="module")
def found(opened):
    """Return what the notebook has computed."""
    return outputs(opened[1], "application/json")[-1]


@pytest.fixture(scope="module")
def model(opened):
    """Return the refined network of the run."""
    return load_model(opened[0] / "data/smoke/06_models/xnn_refined.json")


@pytest.fixture(scope="module")
def applicant(opened, found):
    """Return the row that the notebook explains."""
    test = pd.read_parquet(opened[0] / "data/smoke/05_model_input/test.parquet")
    return model_sample(test).features.iloc[[found["place"]]]


def outputs(notebook, kind):
    """All outputs of a kind, in order."""
    return [
        output.data[kind]
        for cell in notebook.cells
        for output in cell.get("outputs", ())
        if kind in output.get("data", ())
    ]


def test_is_committed_without_traces_of_a_run():
    text = NOTEBOOK.read_text(encoding="utf-8")
    notebook = nbformat.reads(text, as_version=4)
    nbformat.validate(notebook)
    assert notebook.metadata.kernelspec.name == "python3"
    for cell in notebook.cells:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None
    assert str(PROJECT) not in text
    assert os.path.expanduser("~") + "/" not in text  # noqa: PTH111


def test_every_cell_runs_in_order_and_says_nothing_to_stderr(opened):
    cells = [cell for cell in opened[1].cells if cell.cell_type == "code"]
    counts = [cell.execution_count for cell in cells]
    assert counts == list(range(1, len(cells) + 1))
    streams = [out for cell in cells for out in cell.outputs if "text" in out]
    assert streams == []


def test_shows_the_runs_own_comparison_and_sentences(opened):
    project, notebook = opened
    reports = project / "data" / "smoke" / "08_reporting"
    tables = "".join(outputs(notebook, "text/html"))
    texts = "".join(outputs(notebook, "text/markdown"))
    comparison = pd.read_csv(reports / "comparison_table.csv")
    assert len(comparison) > 5
    for row in comparison.itertuples():
        assert row.title in tables
        assert f">{row.auc:.4f}<" in tables
    for name in ("findings", "limits"):
        sentences = json.loads((reports / f"{name}.json").read_text())
        assert sentences
        assert all(sentence in texts for sentence in sentences)
    left_out = json.loads((reports / "svm_metrics.json").read_text())
    assert left_out["not_applicable"] in texts


def test_shows_the_runs_figures_and_draws_two_more(opened):
    project, notebook = opened
    pictures = [b64decode(picture) for picture in outputs(notebook, "image/png")]
    stored = [
        (project / "data/smoke/08_reporting" / f"{name}_plot.png").read_bytes()
        for name in ("roc", "calibration", "explanation")
    ]
    assert set(stored) < set(pictures)
    drawn = [picture for picture in pictures if picture not in stored]
    assert len(drawn) == 2
    for picture in drawn:
        pixels = imread(BytesIO(picture))
        assert min(pixels.shape[:2]) > 100
        assert np.ptp(pixels[..., :3]) > 0.5


def test_a_reader_meets_few_imports_of_ridgeline():
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    lines = "\n".join(cell.source for cell in notebook.cells).splitlines()
    own = [line for line in lines if re.match(r"(from|import) ridgeline", line)]
    assert 1 <= len(own) <= 3


def test_contributions_of_the_applicant_add_up(found, model, applicant):
    parts = dict(found["contributions"])
    decision = model.decision_function(applicant)[0]
    assert parts.pop("decision") == pytest.approx(decision, abs=1e-12)
    assert sum(parts.values()) == pytest.approx(decision, abs=1e-12)
    assert parts.pop("intercept") == model.intercept
    used = np.count_nonzero(model.all_scales)
    assert len(parts) == used > 1


def test_model_of_mlflow_gives_the_same_score_and_reasons(found, model, applicant):
    served = dict(found["served"])
    probability = served.pop("probability")
    assert probability == pytest.approx(model.predict_proba(applicant)[0, 1])
    decision = model.decision_function(applicant)[0]
    assert served["log_odds"] == pytest.approx(decision)
    assert served["decision"] == ("approved" if probability >= 0.5 else "declined")
    parts = {
        name: value
        for name, value in served.items()
        if name.startswith("contribution_") and name != "contribution_decision"
    }
    assert sum(parts.values()) == pytest.approx(decision, abs=1e-9)
    assert parts["contribution_intercept"] == pytest.approx(model.intercept)


def test_all_models_of_mlflow_are_those_of_the_catalog(opened, found):
    table = pd.read_csv(opened[0] / "data/smoke/08_reporting/comparison_table.csv")
    aucs = table.set_index("model")["auc"].to_dict()
    assert found["aucs"] == pytest.approx(aucs)
    assert list(found["differences"]) == list(aucs)
    assert max(found["differences"].values()) < 1e-9


def test_without_a_run_it_says_what_to_do(tmp_path):
    project = copy_project(tmp_path / "project")
    with pytest.raises(CellExecutionError) as failure:
        execute(project, "smoke")
    assert failure.value.evalue == (
        "The results of a run are not there yet "
        "(test, xnn.refined, comparison_table, model_report); "
        "run `kedro run --pipeline lendingclub` first."
    )
    assert not (project / "mlflow.db").exists()


def test_outside_a_project_it_says_where_to_start(tmp_path):
    with pytest.raises(CellExecutionError) as failure:
        execute(tmp_path, "smoke")
    assert "start Jupyter in the project" in failure.value.evalue
