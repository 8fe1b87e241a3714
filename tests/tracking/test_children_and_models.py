"""Child runs and models as MLflow has them after a run, and as others load them."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mlflow
import numpy as np
import pandas as pd
import pytest
from example_models import NUMERIC, applications, make_scorer
from kedro.io import DataCatalog, MemoryDataset
from kedro.pipeline import Pipeline, node
from mlflow.entities import Run, ViewType
from mlflow.exceptions import MlflowException
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from ridgeline.baselines.boosting import LightGBMClassifier
from ridgeline.baselines.elm import ELMClassifier
from ridgeline.datasets import (
    OptionalModelDataset,
    SkopsModelDataset,
    XnnModelDataset,
)
from ridgeline.errors import InputError
from ridgeline.hooks import PlainError
from ridgeline.tracking.config import OutputRecord, read_outputs
from ridgeline.tracking.models import MODULES

CONFIG: dict[str, Any] = {
    "{namespace}.metrics": {
        "type": "json.JSONDataset",
        "filepath": "{namespace}.metrics.json",
        "metadata": {"mlflow": {"run": "{namespace}"}},
    },
    "{namespace}.history": {
        "type": "pandas.CSVDataset",
        "filepath": "{namespace}.history.csv",
        "metadata": {"mlflow": {"run": "{namespace}", "steps": "epoch"}},
    },
}


def catalog_in(folder: Path, config: dict[str, Any] = CONFIG) -> DataCatalog:
    """Return a catalog whose files are in a folder."""
    placed = {
        name: entry | {"filepath": f"{folder}/{entry['filepath']}"}
        for name, entry in config.items()
    }
    return DataCatalog.from_config(placed)


def evaluation(name: str, outputs: Any) -> Pipeline:
    """Return a node in a method's namespace that saves its metrics."""
    made = node(lambda _: outputs, "params:settings", "metrics", name="evaluate")
    return Pipeline([made], namespace=name)


def by_name(project) -> dict[str, Run]:  # noqa: ANN001
    """Return the runs, a child by its name and the parent as 'parent'."""
    return {
        run.info.run_name if "mlflow.parentRunId" in run.data.tags else "parent": run
        for run in project.runs()
    }


def one_node(outputs: Any, names: Any, namespace: str | None = None) -> Pipeline:
    """Return a pipeline of a node that returns what is given."""
    made = node(lambda: outputs, None, names, name="make_thing")
    return Pipeline([made], namespace=namespace)


def test_children_have_the_same_metric_names(project, tmp_path) -> None:
    scores = {"rf": 0.8, "logr": 0.7}
    catalog = catalog_in(tmp_path)
    catalog["params:rf.settings"] = {"depth": 3}
    catalog["params:logr.settings"] = {"penalty": {"l1": 0.5}}
    pipeline = Pipeline(
        evaluation(name, {"auc": auc, "parameters": {"n": {"best": name}}})
        for name, auc in scores.items()
    )
    project.run(pipeline, catalog, pipeline_names=["baselines"], env="smoke")

    runs = by_name(project)
    assert set(runs) == {"parent", "rf", "logr"}
    for name in ("rf", "logr"):
        run = runs[name]
        assert run.info.status == "FINISHED"
        assert run.data.metrics == {"auc": scores[name]}
        assert run.data.tags["mlflow.parentRunId"] == runs["parent"].info.run_id
        assert run.data.tags["pipeline"] == "baselines"
        assert run.data.tags["kedro_env"] == "smoke"
        assert run.data.params["n.best"] == name
    assert runs["rf"].data.params["rf.settings.depth"] == "3"
    assert runs["logr"].data.params["logr.settings.penalty.l1"] == "0.5"
    assert "rf.settings.depth" not in runs["logr"].data.params
    own = runs["parent"].data.metrics
    assert own["rf.evaluate.duration_seconds"] > 0
    assert not [name for name in own if "auc" in name]
    (listed,) = project.client.list_artifacts(runs["rf"].info.run_id, "rf.evaluate")
    assert listed.path == "rf.evaluate/rf.metrics.json"
    assert not project.client.list_artifacts(runs["parent"].info.run_id)


def test_a_history_is_metrics_by_step(project, tmp_path) -> None:
    table = pd.DataFrame(
        {
            "epoch": [1, 2, 5],
            "loss": [3.0, 2.0, 1.5],
            "validation loss": [4.0, np.nan, 2.5],
            "note": ["a", "b", "c"],
        }
    )
    project.run(one_node(table, "history", "xnn"), catalog_in(tmp_path))
    run = by_name(project)["xnn"]
    assert set(run.data.metrics) == {"loss", "validation loss"}

    def history(name: str) -> list[tuple[int, float]]:
        found = project.client.get_metric_history(run.info.run_id, name)
        return sorted((metric.step, metric.value) for metric in found)

    assert history("loss") == [(1, 3.0), (2, 2.0), (5, 1.5)]
    assert history("validation loss") == [(1, 4.0), (5, 2.5)]


def test_a_history_without_its_column_is_a_warning(
    project, tmp_path, warnings_of
) -> None:
    table = pd.DataFrame({"loss": [1.0]})
    project.run(one_node(table, "history", "xnn"), catalog_in(tmp_path))
    (warning,) = warnings_of()
    assert warning.startswith("Output 'xnn.history' is not logged to MLflow: ")
    assert "no column 'epoch' of integers" in warning
    assert by_name(project)["xnn"].info.status == "FINISHED"


def test_outputs_of_one_node_may_belong_to_several_runs(project) -> None:
    catalog = DataCatalog(
        {
            name: MemoryDataset(metadata={"mlflow": {"run": name}})
            for name in ("rf", "logr")
        }
    )
    outputs = {"auc": 0.1}, {"auc": 0.2}, {"auc": 0.3}
    names = ["rf", "logr", "best"]
    project.run(one_node(outputs, names), catalog)
    runs = by_name(project)
    assert runs["rf"].data.metrics == {"auc": 0.1}
    assert runs["logr"].data.metrics == {"auc": 0.2}
    assert runs["parent"].data.metrics["best.auc"] == 0.3


def test_a_failing_node_ends_the_children_as_failed(project, tmp_path) -> None:
    def fail(metrics: dict[str, float]) -> None:
        message = "no report today"
        raise ValueError(message)

    pipeline = Pipeline(
        [
            node(lambda: {"auc": 0.5}, None, "metrics", name="evaluate"),
            node(fail, "metrics", None, name="report"),
        ],
        namespace="rf",
    )
    with pytest.raises(ValueError, match="no report"):
        project.run(pipeline, catalog_in(tmp_path))
    runs = by_name(project)
    assert runs["rf"].info.status == runs["parent"].info.status == "FAILED"
    assert runs["rf"].data.metrics == {"auc": 0.5}


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"rum": "a"}, r"'rum': did you mean 'run'\?"),
        ({"model": True}, "a model needs 'example'"),
        ({"register": "a"}, "add 'model: true'"),
        ({"run": ""}, "'run' is '', but"),
        (True, "it is True, but"),
    ],
)
def test_mistakes_in_the_catalog_are_said_before_the_run(
    project, values, sentence
) -> None:
    catalog = DataCatalog({"d": MemoryDataset(metadata={"mlflow": values})})
    with pytest.raises(InputError, match=sentence) as caught:
        read_outputs(catalog, ["d"])
    assert "catalog entry 'd'" in str(caught.value)
    ran: list[int] = []
    with pytest.raises(PlainError, match=sentence):
        project.run(
            Pipeline([node(lambda: ran.append(1) or 1, None, "d", name="n")]), catalog
        )
    assert not ran


def test_entries_without_metadata_have_no_record(tmp_path) -> None:
    catalog = catalog_in(tmp_path)
    catalog["plain"] = MemoryDataset(1)
    found = read_outputs(catalog, ["plain", "unknown", "rf.history"])
    assert found == {"rf.history": OutputRecord(run="rf", steps="epoch")}


# Models.


@pytest.fixture
def make_models(project, tmp_path) -> Callable[..., None]:
    """Run a pipeline that saves two xNNs, one of them to be registered."""

    def run(example: pd.DataFrame, **settings: Any) -> None:
        project.settings = settings
        entries = {}
        for name in ("trained", "refined"):
            told = {"run": f"xnn.{name}", "model": True, "example": "input_example"}
            if name == "refined":
                told["register"] = "some-model"
            entries[name] = XnnModelDataset(
                filepath=str(tmp_path / f"{name}.json"), metadata={"mlflow": told}
            )
        metrics = MemoryDataset(metadata={"mlflow": {"run": "xnn.refined"}})
        catalog = DataCatalog(
            {
                **entries,
                "refined_metrics": metrics,
                "input_example": MemoryDataset(example),
                "params:epochs": MemoryDataset(7),
            }
        )
        pipeline = Pipeline(
            [
                node(
                    lambda epochs: (make_scorer(1), make_scorer(2)),
                    "params:epochs",
                    ["trained", "refined"],
                    name="train",
                ),
                node(
                    lambda model: {"auc": 0.75},
                    "refined",
                    "refined_metrics",
                    name="evaluate",
                ),
            ]
        )
        project.run(pipeline, catalog, pipeline_names=["lendingclub"])

    return run


ELSEWHERE = """
import json
import mlflow, pandas as pd
mlflow.set_tracking_uri(sys.argv[1])
columns, data, calls = json.loads(sys.argv[2])
rows = pd.DataFrame(data, columns=columns)
for address, params, unwanted in calls:
    model = mlflow.pyfunc.load_model(address)
    scores = model.predict(rows, params=params) if params else model.predict(rows)
    unwanted = {"kedro", "tensorflow", *unwanted} & set(sys.modules)
    assert not unwanted, unwanted
    print(scores.to_json(orient="split", double_precision=15))
import ridgeline
assert "/code/" in ridgeline.__file__, ridgeline.__file__
own = [m for name, m in sys.modules.items() if name.split(".")[0] == "ridgeline"]
print(json.dumps(sorted(m.__file__.rpartition("/ridgeline/")[2] for m in own)))
"""


def scored_elsewhere(
    project,  # noqa: ANN001
    rows: pd.DataFrame,
    *calls: Any,
) -> tuple[list[pd.DataFrame], list[str]]:
    """Score rows in a new process that does not know this package.

    Each call is a model's address, its params and the packages it must not import.
    Returned are the scores of each, and the modules of this package that were needed.
    """
    # -I ignores PYTHONPATH; -S leaves out .pth files, by which this package is found.
    start = "import sys; sys.path += " + repr(
        [path for path in sys.path if path.endswith("site-packages")]
    )
    given = [list(rows), rows.to_numpy().tolist(), calls]
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", start + ELSEWHERE]
        + [f"sqlite:///{project.path}/mlflow.db", json.dumps(given)],
        capture_output=True,
        text=True,
        cwd=project.path,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    *printed, modules = map(json.loads, done.stdout.splitlines()[-len(calls) - 1 :])
    scores = [pd.DataFrame(each["data"], columns=each["columns"]) for each in printed]
    return scores, modules


def test_models_are_logged_and_registered(project, make_models, warnings_of) -> None:
    before = mlflow.get_tracking_uri(), mlflow.get_registry_uri()
    make_models(applications())
    assert warnings_of() == []
    assert (mlflow.get_tracking_uri(), mlflow.get_registry_uri()) == before
    assert mlflow.active_run() is None

    client, runs = project.client, by_name(project)
    child = runs["xnn.refined"]
    (output,) = child.outputs.model_outputs
    logged = client.get_logged_model(output.model_id)
    assert str(logged.status) == "READY"
    assert logged.name == "xnn-refined"
    assert logged.source_run_id == child.info.run_id
    assert logged.params == {"epochs": "7"}
    assert [(m.key, m.value) for m in logged.metrics] == [("auc", 0.75)]
    assert len(client.get_metric_history(child.info.run_id, "auc")) == 1

    version = client.get_model_version_by_alias("some-model", "latest-run")
    assert int(version.version) == 1
    assert version.run_id == child.info.run_id
    assert version.tags["parent_run_id"] == runs["parent"].info.run_id
    assert version.tags["run_id"] == child.info.run_id
    assert version.tags["model_id"] == logged.model_id
    (link,) = json.loads(logged.tags["mlflow.modelVersions"])
    assert link == {"name": "some-model", "version": version.version}
    assert version.tags["pipeline"] == "lendingclub"
    assert version.tags["kedro_env"] == "local"
    assert len(client.search_registered_models()) == 1


def test_models_load_elsewhere(project, tmp_path, make_models) -> None:
    rows, scorer = applications(40), make_scorer(2)
    labels = (rows["risk_score"] > 650).astype(int)
    transform = make_column_transformer(
        (StandardScaler(), NUMERIC), (OneHotEncoder(), ["purpose"])
    )
    catalog = DataCatalog({"rows": MemoryDataset(rows[:5])})
    machines = {"elm": ELMClassifier(random_state=0), "lightgbm": LightGBMClassifier()}
    for name, estimator in machines.items():
        machine = make_pipeline(clone(transform), estimator).fit(rows, labels)
        told = {"run": name, "model": True, "example": "rows"}
        catalog[name] = SkopsModelDataset(
            filepath=str(tmp_path / f"{name}.skops"), metadata={"mlflow": told}
        )
        machines[name] = machine
    project.run(one_node(tuple(machines.values()), list(machines)), catalog)
    make_models(applications())

    runs = by_name(project)
    models = [runs[name].outputs.model_outputs[0].model_id for name in machines]
    (reasons, *scores), modules = scored_elsewhere(
        project,
        rows,
        (
            "models:/some-model@latest-run",
            {"contributions": True},
            ["sklearn", "skops"],
        ),
        (f"models:/{models[0]}", None, ["lightgbm"]),
        (f"models:/{models[1]}", None, []),
    )
    # What fills gaps and scales targets is for models of other tables.
    others = {"baselines/gaps.py", "baselines/targets.py"}
    needed = sorted(set(MODULES) - others)
    assert modules == needed, "MLflow copies what models import, and no more"
    for machine, each in zip(machines.values(), scores, strict=True):
        assert list(each) == ["probability", "decision"]
        expected = machine.predict_proba(rows)[:, 1]
        np.testing.assert_allclose(each["probability"], expected)
    for model, needed in zip(models, (False, True), strict=True):
        address = project.client.get_logged_model(model).artifact_location
        folder = Path(address.removeprefix("file:"))
        packages = (folder / "requirements.txt").read_text()
        assert "scikit-learn==" in packages
        assert ("lightgbm==" in packages) == needed

    expected = scorer.predict_proba(rows)[:, 1]
    np.testing.assert_allclose(reasons["probability"], expected, rtol=1e-12)
    parts = [name for name in reasons if name.startswith("contribution_")]
    assert set(parts) == {
        f"contribution_{name}"
        for name in ("intercept", *NUMERIC, "purpose", "decision")
    }
    inner = [name for name in parts if not name.endswith("decision")]
    np.testing.assert_allclose(reasons[inner].sum(axis=1), reasons["log_odds"])
    odds = np.exp(reasons["contribution_decision"])
    np.testing.assert_allclose(odds / (1 + odds), reasons["probability"])
    expected = np.where(reasons["probability"] < 0.5, "declined", "approved")
    assert reasons["decision"].tolist() == expected.tolist()


@pytest.fixture
def loaded(project, make_models, monkeypatch) -> Any:
    """Return the model of the first child, loaded by its own address."""
    make_models(applications())
    (output,) = by_name(project)["xnn.trained"].outputs.model_outputs
    before = mlflow.get_tracking_uri()
    mlflow.set_tracking_uri(f"sqlite:///{project.path}/mlflow.db")
    monkeypatch.setattr(sys, "path", [*sys.path])  # MLflow adds the model's code
    yield mlflow.pyfunc.load_model(f"models:/{output.model_id}")
    mlflow.set_tracking_uri(before)


def test_model_says_what_it_takes_and_needs(loaded) -> None:
    meta = loaded.metadata
    # The network looks at every cell itself: whole numbers do, and so do raw rows.
    assert meta.signature.inputs.input_names() == [*NUMERIC, "purpose"]
    outputs = meta.signature.outputs.input_names()
    assert outputs[:3] == ["probability", "decision", "log_odds"]
    assert set(meta.signature.params.to_dict()[0]) >= {"name", "default"}
    assert loaded.input_example is None  # rows of the data stay where they are
    root = Path(mlflow.artifacts.download_artifacts(f"models:/{meta.model_id}"))
    needed = (root / "requirements.txt").read_text().split()
    assert {line.partition("==")[0] for line in needed} == {"mlflow", "numpy", "pandas"}
    assert f"numpy=={np.__version__}" in needed
    assert not list(root.rglob("*.pkl"))


def test_model_takes_rows_as_people_have_them(loaded) -> None:
    # MLflow's signatures know text; they refuse the categories of pandas.
    rows = applications(10).astype({"purpose": "str"})
    expected = make_scorer(1).predict_proba(rows)[:, 1]
    for given in (rows, rows[rows.columns[::-1]], rows.astype({"purpose": object})):
        np.testing.assert_allclose(loaded.predict(given)["probability"], expected)
    scores = loaded.predict(rows.set_index(pd.Index(range(5, 15))))
    assert list(scores.index) == list(range(5, 15))
    with pytest.raises(MlflowException, match="Row 1 .* purpose has .*'Yacht'"):
        loaded.predict(rows.assign(purpose="Yacht"))
    whole = rows.astype(dict.fromkeys(NUMERIC, "int64"))
    expected = make_scorer(1).predict_proba(whole)[:, 1]
    np.testing.assert_allclose(loaded.predict(whole)["probability"], expected)


def test_a_second_run_is_a_second_version(project, make_models) -> None:
    make_models(applications())
    make_models(applications())
    version = project.client.get_model_version_by_alias("some-model", "latest-run")
    assert int(version.version) == 2


@pytest.mark.parametrize("strict", [False, True])
def test_a_model_that_cannot_be_logged(
    project, make_models, warnings_of, strict
) -> None:
    wrong = applications().drop(columns="dti")
    if strict:
        with pytest.raises(PlainError, match="'trained' is not logged as a model"):
            make_models(wrong, strict=True)
        return
    make_models(wrong)
    warnings = warnings_of()
    assert len(warnings) == 2
    for warning, name in zip(warnings, ("trained", "refined"), strict=True):
        assert warning.startswith(f"Output '{name}' is not logged as a model: ")
        assert "dti" in warning
    runs = by_name(project)
    assert {run.info.status for run in runs.values()} == {"FINISHED"}
    assert runs["xnn.refined"].data.metrics["auc"] == 0.75


def test_models_of_a_failed_run_are_kept_but_not_registered(project, tmp_path) -> None:
    def fail(model: Any) -> None:
        raise ValueError("no report today")

    told = {"run": "xnn", "model": True, "example": "rows", "register": "some-model"}
    dataset = XnnModelDataset(
        filepath=str(tmp_path / "50% #1 model.json"), metadata={"mlflow": told}
    )
    catalog = DataCatalog({"model": dataset, "rows": MemoryDataset(applications())})
    pipeline = one_node(make_scorer(), "model") + Pipeline(
        [node(fail, "model", None, name="report")]
    )
    with pytest.raises(ValueError, match="no report"):
        project.run(pipeline, catalog)
    child = by_name(project)["xnn"]
    assert child.info.status == "FAILED"
    assert len(child.outputs.model_outputs) == 1
    assert project.client.search_registered_models() == []


@pytest.mark.parametrize("made", [0, 1])
def test_a_method_that_does_not_apply_has_no_model(
    project, tmp_path, warnings_of, made
) -> None:
    told = {"run": "gam", "model": True, "example": "rows"}
    model = OptionalModelDataset(
        dataset="ridgeline.datasets.XnnModelDataset",
        filepath=str(tmp_path / "gam.json"),
        metadata={"mlflow": told},
    )
    report = MemoryDataset(metadata={"mlflow": {"run": "gam"}})
    catalog = DataCatalog(
        {"model": model, "report": report, "rows": MemoryDataset(applications())}
    )
    outputs = [make_scorer()] * made, {"fits": 3}
    project.run(one_node(outputs, ["model", "report"]), catalog)
    assert warnings_of() == []
    child = by_name(project)["gam"]
    assert child.data.metrics == {"fits": 3}
    assert len(child.outputs.model_outputs if child.outputs else []) == made
    assert (tmp_path / "gam.json").exists() == bool(made)


def test_no_model_has_no_row_of_its_own(project, tmp_path) -> None:
    told = {"run": "gam", "model": True, "example": "rows"}
    model = OptionalModelDataset(
        dataset="ridgeline.datasets.XnnModelDataset",
        filepath=str(tmp_path / "gam.json"),
        metadata={"mlflow": told},
    )
    project.run(one_node([], "model"), DataCatalog({"model": model}))
    assert set(by_name(project)) == {"parent"}


def test_nothing_is_logged_when_switched_off(project, make_models) -> None:
    make_models(applications(), enabled=False)
    assert project.client.get_experiment_by_name("ridgeline") is None
    found = project.client.search_registered_models()
    assert found == []
    assert project.client.search_experiments(ViewType.ALL)[0].name == "Default"
