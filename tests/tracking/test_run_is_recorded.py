"""A run as MLflow has it afterwards: parameters, tags, metrics, artifacts."""

import hashlib
import json
import logging
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from time import sleep

import ibis
import numpy as np
import pandas as pd
import pytest
from kedro.io import DataCatalog, MemoryDataset, Version
from kedro.pipeline import Pipeline, node
from kedro_datasets.ibis import FileDataset, TableDataset
from kedro_datasets.pandas import CSVDataset, ParquetDataset
from kedro_datasets.text import TextDataset
from matplotlib.figure import Figure
from pydantic import BaseModel

from ridgeline.hooks import TrackingHook
from ridgeline.tracking import TrackingConfig
from ridgeline.tracking.outputs import write_output


class _Limits(BaseModel):
    max_amount: int
    purposes: list[str]


class _PrintedDataset(CSVDataset):
    def fingerprint(self) -> str:
        return "abc"


def _one(func, inputs, outputs, name="make_thing") -> Pipeline:  # noqa: ANN001
    return Pipeline([node(func, inputs, outputs, name=name)])


def test_parameters_are_flat_and_only_those_in_use(project) -> None:
    catalog = DataCatalog(
        {
            "params:cleaning": MemoryDataset(
                {"limits": _Limits(max_amount=40000, purposes=["car"]), "none": {}}
            ),
            "params:seed": MemoryDataset(7),
            "params:essay": MemoryDataset("x" * 7000),
            "params:unused": MemoryDataset(1),
            **{f"params:p{i}": MemoryDataset(i) for i in range(150)},
        }
    )
    inputs = ["params:cleaning", "params:seed", "params:essay"]
    inputs += [f"params:p{i}" for i in range(150)]
    project.run(_one(lambda *_: None, inputs, None), catalog)

    params = project.only_run().data.params
    assert params["cleaning.limits.max_amount"] == "40000"
    assert params["cleaning.limits.purposes"] == '["car"]'
    assert params["cleaning.none"] == "{}"
    assert params["seed"] == "7"
    assert len(params["essay"]) == 6000
    assert params["p149"] == "149"
    assert "unused" not in params


def test_tags_tell_code_data_and_versions(project, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(sys, "argv", ["/some/where/bin/kedro", "run", "--env", "x"])
    pd.DataFrame({"a": [1]}).to_csv(tmp_path / "a.csv", index=False)
    catalog = DataCatalog(
        {
            "raw": _PrintedDataset(filepath=str(tmp_path / "a.csv")),
            "other": MemoryDataset(1),
        }
    )
    pipeline = _one(lambda a, b: None, ["raw", "other"], None)
    project.run(pipeline, catalog, pipeline_names=["cleaning", "splitting"], env="x")

    run = project.only_run()
    assert run.info.status == "FINISHED"
    assert run.info.run_name.startswith("cleaning, splitting 20")
    tags = run.data.tags
    assert tags["pipeline"] == "cleaning, splitting"
    assert tags["kedro_env"] == "x"
    assert tags["runner"] == "SequentialRunner"
    assert tags["command"] == "kedro run --env x"
    assert tags["data_fingerprint.raw"] == "abc"
    combined = hashlib.sha256(b'{"raw": "abc"}').hexdigest()
    assert tags["data_fingerprint"] == combined
    assert "data_fingerprint.other" not in tags
    assert tags["version.pandas"] == pd.__version__
    assert "version.tensorflow" in tags
    assert "git_commit" not in tags  # tmp_path is no repository


def test_every_node_has_duration_and_memory(project) -> None:
    def allocate() -> int:
        return int(np.ones(25_000_000).sum())  # 200 MB for a moment

    catalog = DataCatalog({})
    pipeline = Pipeline(
        [
            node(allocate, None, "n", name="allocate"),
            node(lambda n: n, "n", "m", name="pass_on"),
            node(lambda m: None, "m", None, name="end"),
        ]
    )
    project.run(pipeline, catalog)
    metrics = project.only_run().data.metrics
    for name in ("allocate", "pass_on", "end"):
        assert metrics[f"{name}.duration_seconds"] > 0
        assert metrics[f"{name}.peak_memory_mb"] > 10
    if sys.platform == "linux":
        difference = metrics["allocate.peak_memory_mb"] - metrics["end.peak_memory_mb"]
        assert difference > 150


def test_duration_includes_saving(project) -> None:
    """Ibis computes a table while Kedro saves it, after the node's function."""

    class SlowDataset(MemoryDataset):
        def save(self, data: object) -> None:
            sleep(0.3)
            super().save(data)

    project.run(_one(lambda: 1, None, "slow"), DataCatalog({"slow": SlowDataset()}))
    metrics = project.only_run().data.metrics
    assert metrics["make_thing.duration_seconds"] >= 0.3


def test_generator_node_is_logged_once_at_the_end(project, tmp_path) -> None:
    def chunks() -> Iterator[pd.DataFrame]:
        yield pd.DataFrame({"a": [1]})
        yield pd.DataFrame({"a": [2]})

    dataset = CSVDataset(
        filepath=str(tmp_path / "out.csv"), save_args={"mode": "a", "index": False}
    )
    project.run(_one(chunks, None, "out"), DataCatalog({"out": dataset}))
    assert project.only_run().data.metrics["make_thing.duration_seconds"] > 0
    logged = project.artifacts("make_thing")["out.csv"]
    assert logged.read_bytes() == (tmp_path / "out.csv").read_bytes()


def test_numbers_of_a_dict_are_metrics(project) -> None:
    scores = {
        "auc": np.float64(0.7),
        "rows": {"train": 3, "test": np.int64(2)},
        "ok": True,
        "method": "xnn",
    }
    pipeline = Pipeline(
        [node(lambda: scores, None, "metrics", name="make_thing")], namespace="xnn"
    )
    project.run(pipeline, DataCatalog({}))
    metrics = project.only_run().data.metrics
    own = {k: value for k, value in metrics.items() if k.startswith("xnn.metrics")}
    assert own == {
        "xnn.metrics.auc": 0.7,
        "xnn.metrics.rows.train": 3,
        "xnn.metrics.rows.test": 2,
    }
    (logged,) = project.artifacts("xnn.make_thing").values()
    assert logged.name == "xnn.metrics.json"
    assert json.loads(logged.read_text()) == scores


def test_small_frame_is_logged_whole(project) -> None:
    frame = pd.DataFrame({"a": [1, 2], "b": ["x", None]})
    project.run(_one(lambda: frame, None, "table"), DataCatalog({}))
    logged = project.artifacts("make_thing")
    assert list(logged) == ["table.csv"]
    pd.testing.assert_frame_equal(pd.read_csv(logged["table.csv"]), frame)


def test_large_frame_becomes_a_summary(project) -> None:
    project.settings = {"full_table_rows": 5, "preview_rows": 2}
    frame = pd.DataFrame({"a": range(6), "b": "x"})
    changed = frame.assign(a=frame["a"].replace(5, 6))
    pipeline = Pipeline(
        [
            node(lambda: (frame, frame.copy(), changed), None, ["t", "same", "other"])
        ]  # no name: Kedro makes one with brackets and arrows
    )
    project.run(pipeline, DataCatalog({}))
    (folder,) = project.client.list_artifacts(project.only_run().info.run_id)
    logged = project.artifacts(folder.path)
    summary = json.loads(logged["t.json"].read_text())
    assert summary["schema"] == {"a": "int64", "b": "str"}
    assert summary["rows"] == 6
    assert summary == json.loads(logged["same.json"].read_text())
    assert summary["sha256"] != json.loads(logged["other.json"].read_text())["sha256"]
    preview = pd.read_csv(logged["t_preview.csv"])
    pd.testing.assert_frame_equal(preview, frame.head(2).astype({"b": "str"}))


@pytest.mark.parametrize("file_format", ["parquet", "csv"])
def test_lazy_table_is_described_from_its_file(project, tmp_path, file_format) -> None:
    """The expression counts its evaluations: saving is the only one."""
    project.settings = {"full_table_rows": 10, "preview_rows": 3}
    own = {"backend": "duckdb", "database": str(tmp_path / "duck.db")}
    path, small_path = tmp_path / f"big.{file_format}", tmp_path / f"s.{file_format}"
    dataset = FileDataset(str(path), file_format, connection=own)
    small = FileDataset(str(small_path), file_format, connection=own)
    evaluations: list[int] = []

    def count(value: int) -> int:
        evaluations.append(value)
        return value + 1

    dataset.connection.con.create_function("counted", count, ["BIGINT"], "BIGINT")

    @ibis.udf.scalar.builtin
    def counted(value: int) -> int: ...

    def make() -> tuple[ibis.Table, ibis.Table]:
        base = dataset.connection.create_table("base", {"a": list(range(11))})
        big = base.mutate(b=counted(base.a))
        return big, base.limit(2)

    project.run(
        _one(make, None, ["big", "small"]),
        DataCatalog({"big": dataset, "small": small}),
    )
    assert sorted(evaluations) == list(range(11))
    logged = project.artifacts("make_thing")
    assert set(logged) == {"big.json", "big_preview.csv", "small.csv"}
    summary = json.loads(logged["big.json"].read_text())
    assert summary["schema"] == {"a": "int64", "b": "int64"}
    assert summary["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    assert summary.get("rows") == (11 if file_format == "parquet" else None)
    assert len(pd.read_csv(logged["big_preview.csv"])) == 3
    assert len(pd.read_csv(logged["small.csv"])) == 2


def test_lazy_table_without_a_file_is_only_previewed(project) -> None:
    project.settings = {"preview_rows": 2}
    table = ibis.memtable({"a": [1, 2, 3]})
    catalog = DataCatalog({"table": MemoryDataset(copy_mode="assign")})
    project.run(_one(lambda: table, None, "table"), catalog)
    logged = project.artifacts("make_thing")
    assert json.loads(logged["table.json"].read_text()) == {"schema": {"a": "int64"}}
    assert len(pd.read_csv(logged["table_preview.csv"])) == 2


def test_lazy_table_of_a_database_is_read_from_there(project, tmp_path) -> None:
    """The first table is gone after saving: computing again would fail."""
    project.settings = {"preview_rows": 2}

    class DroppingDataset(TableDataset):
        def save(self, data: ibis.Table) -> None:
            super().save(data)
            self.connection.drop_table("source")

    own = {"backend": "duckdb", "database": str(tmp_path / "duck.db")}
    dataset = DroppingDataset(
        table_name="kept", connection=own, save_args={"materialized": "table"}
    )
    source = dataset.connection.create_table("source", {"a": [1, 2, 3]})
    project.run(_one(lambda: source, None, "t"), DataCatalog({"t": dataset}))
    logged = project.artifacts("make_thing")
    assert set(logged) == {"t.json", "t_preview.csv"}
    assert len(pd.read_csv(logged["t_preview.csv"])) == 2


def test_dataset_may_hash_its_rows_itself(tmp_path) -> None:
    class Hashing(CSVDataset):
        def content_hash(self) -> str:
            return "rows, whatever their order"

    frame = pd.DataFrame({"a": [1, 2]})
    dataset = Hashing(filepath=str(tmp_path / "t.csv"))
    for table in (frame, ibis.memtable(frame)):
        dataset.save(frame)
        (tmp_path / "out").mkdir()
        config = TrackingConfig(full_table_rows=1)
        write_output(tmp_path / "out", "t", table, dataset, config)
        summary = json.loads((tmp_path / "out/t.json").read_text())
        assert summary["content_hash"] == "rows, whatever their order"
        assert "sha256" not in summary
        shutil.rmtree(tmp_path / "out")


def test_rows_of_many_small_row_groups(tmp_path) -> None:
    frame = pd.DataFrame({"a": range(9)})
    dataset = ParquetDataset(
        filepath=str(tmp_path / "t.parquet"), save_args={"row_group_size": 2}
    )
    dataset.save(frame)
    config = TrackingConfig(full_table_rows=8, preview_rows=5)
    write_output(tmp_path, "t", ibis.memtable(frame), dataset, config)
    assert json.loads((tmp_path / "t.json").read_text())["rows"] == 9
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "t_preview.csv"), frame[:5])

    write_output(
        tmp_path, "t", ibis.memtable(frame), dataset, TrackingConfig(full_table_rows=9)
    )
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "t.csv"), frame)


def test_empty_table_keeps_its_columns(tmp_path) -> None:
    dataset = ParquetDataset(filepath=str(tmp_path / "t.parquet"))
    dataset.save(pd.DataFrame({"a": [1]})[:0])
    table = ibis.memtable(pd.DataFrame({"a": [1]}))
    write_output(tmp_path, "t", table, dataset, TrackingConfig())
    assert (tmp_path / "t.csv").read_text() == "a\n"


def test_arrays_too_large_for_json_are_left_out(project) -> None:
    outputs = {"weights": np.zeros(20_000)}, {"weights": np.zeros(2)}
    project.run(_one(lambda: outputs, None, ["large", "small"]), DataCatalog({}))
    assert set(project.artifacts("make_thing")) == {"small.json"}


def test_figures_texts_and_files(project, tmp_path) -> None:
    figure = Figure()
    figure.subplots().plot([1, 2])
    file = str(tmp_path / "note.md")
    note = TextDataset(filepath=file, version=Version(None, None))
    catalog = DataCatalog({"note": note})
    outputs = ["plot", "page", "text", "note", "secret"]
    project.run(
        _one(lambda: (figure, "<p>hi</p>", "plain", "# hi", object()), None, outputs),
        catalog,
    )
    logged = project.artifacts("make_thing")
    assert set(logged) == {"plot.png", "page.html", "text.txt", "note.md"}
    assert logged["plot.png"].read_bytes().startswith(b"\x89PNG")
    assert logged["note.md"].read_text() == "# hi"


@pytest.mark.parametrize("strict", [False, True])
def test_attribute_that_kedro_renamed_is_said(
    project, tmp_path, warnings_of, strict
) -> None:
    """Else the artifacts of every run would be missing, and nobody would know."""
    project.settings = {"strict": strict}

    class Renamed(TextDataset):
        def save(self, data: str) -> None:
            super().save(data)
            self.protocol_renamed = self.__dict__.pop("_protocol")

    note = Renamed(filepath=str(tmp_path / "note.md"))
    pipeline = _one(lambda: ("# hi", {"n": 1}), None, ["note", "d"])
    said = "Output 'note' is not logged to MLflow: .*no attribute '_protocol'"
    if strict:
        with pytest.raises(Exception, match=said):
            project.run(pipeline, DataCatalog({"note": note}))
        return
    project.run(pipeline, DataCatalog({"note": note}))
    (warning,) = warnings_of()
    assert re.fullmatch(said, warning)
    assert set(project.artifacts("make_thing")) == {"d.json"}


def test_failing_node_is_told(project) -> None:
    def fail(one: int) -> None:
        message = "no such thing\nsecond line"
        raise ValueError(message)

    pipeline = Pipeline(
        [
            node(lambda: 1, None, "one", name="first"),
            node(fail, "one", "two", name="second"),
        ]
    )
    with pytest.raises(ValueError, match="no such thing"):
        project.run(pipeline, DataCatalog({}))
    run = project.only_run()
    assert run.info.status == "FAILED"
    assert run.data.tags["failed_node"] == "second"
    assert run.data.tags["error"] == "ValueError: no such thing"
    assert run.data.metrics["second.duration_seconds"] > 0


def test_failing_save_is_told(project, tmp_path) -> None:
    (tmp_path / "taken").write_text("a file where a folder should be")
    dataset = CSVDataset(filepath=str(tmp_path / "taken/out.csv"))
    pipeline = _one(lambda: pd.DataFrame({"a": [1]}), None, "out")
    with pytest.raises(Exception, match="out"):
        project.run(pipeline, DataCatalog({"out": dataset}))
    run = project.only_run()
    assert run.info.status == "FAILED"
    assert run.data.tags["failed_node"] == "make_thing"


def test_private_outputs_are_described_and_not_shown(project, tmp_path) -> None:
    frame = pd.DataFrame({"name": ["Ada"], "amount": [1234.5]})
    told = {"whole": True, "part": ["name"], "text": True, "lazy": True}
    catalog = DataCatalog(
        {
            name: MemoryDataset(metadata={"mlflow": {"private": private}})
            for name, private in told.items()
        }
    )
    made = frame, frame, "<p>Ada</p>", ibis.memtable(frame)
    pipeline = _one(lambda: made, None, list(told))
    project.run(pipeline, catalog)
    logged = project.artifacts("make_thing")
    assert set(logged) == {"whole.json", "part.csv", "lazy.json"}
    summary = json.loads(logged["whole.json"].read_text())
    assert list(summary["schema"]) == ["name", "amount"]
    assert summary["rows"] == 1
    pd.testing.assert_frame_equal(pd.read_csv(logged["part.csv"]), frame[["amount"]])
    assert "Ada" not in logged["lazy.json"].read_text()


def test_private_outputs_are_shown_on_demand(project) -> None:
    project.settings = {"log_examples": True}
    catalog = DataCatalog(
        {"whole": MemoryDataset(metadata={"mlflow": {"private": True}})}
    )
    frame = pd.DataFrame({"name": ["Ada"]})
    project.run(_one(lambda: frame, None, "whole"), catalog)
    assert set(project.artifacts("make_thing")) == {"whole.csv"}


def test_one_hook_serves_several_runs(project) -> None:
    project.hooks = (TrackingHook(),)
    for _ in range(2):
        project.run(_one(lambda: {"n": 1}, None, "d"), DataCatalog({}))
    assert [run.info.status for run in project.runs()] == ["FINISHED"] * 2


def test_interrupted_run_is_closed_as_killed(project) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    hook = TrackingHook()
    project.hooks = (hook,)
    with pytest.raises(KeyboardInterrupt):
        project.run(_one(interrupt, None, "d"), DataCatalog({}))
    assert project.only_run().info.status == "RUNNING"
    project.run(_one(lambda: 1, None, "d"), DataCatalog({}))
    statuses = sorted(run.info.status for run in project.runs())
    assert statuses == ["FINISHED", "KILLED"]


def test_new_database_is_announced_in_one_line(project, caplog, capfd) -> None:
    (project.path / "mlflow.db").unlink()
    caplog.set_level(logging.INFO)
    project.run(_one(lambda: {"n": 1}, None, "d"), DataCatalog({}))
    said = [r.getMessage() for r in caplog.records if "the MLflow" in r.getMessage()]
    assert said == ["Creating the MLflow database mlflow.db (once)..."]
    assert "INFO mlflow" not in capfd.readouterr().err
    assert project.only_run().info.status == "FINISHED"


def test_odd_project_folder(project) -> None:
    folder = project.path / "50% #1 of my projects"
    folder.mkdir()
    (project.path / "mlflow.db").rename(folder / "mlflow.db")
    project.path = folder
    project.run(_one(lambda: {"n": 1}, None, "d"), DataCatalog({}))
    assert set(project.artifacts("make_thing")) == {"d.json"}


def test_switched_off(project) -> None:
    project.settings = {"enabled": False}
    project.run(_one(lambda: {"n": 1}, None, "d"), DataCatalog({}))
    assert project.client.get_experiment_by_name("ridgeline") is None


def test_the_next_step_is_said(project, caplog) -> None:
    caplog.set_level(logging.INFO, logger="ridgeline")
    project.run(_one(lambda: 1, None, "d"), DataCatalog({}))
    database = project.path / "mlflow.db"
    assert f"mlflow ui --backend-store-uri sqlite:///{database}" in caplog.text
    assert f"'{project.only_run().info.run_name}'" in caplog.text


def test_data_are_the_same_with_and_without(project, tmp_path) -> None:
    frame = pd.DataFrame({"a": [2, 1], "b": ["x", "y"]})

    def data(tracked: bool) -> bytes:
        project.settings = {"enabled": tracked}
        path = Path(tmp_path / f"{tracked}.csv")
        catalog = DataCatalog({"out": CSVDataset(filepath=str(path))})
        pipeline = Pipeline(
            [
                node(lambda: frame, None, "table", name="make"),
                node(lambda table: table.sort_values("a"), "table", "out", name="sort"),
            ]
        )
        project.run(pipeline, catalog)
        return path.read_bytes()

    assert data(tracked=True) == data(tracked=False)
