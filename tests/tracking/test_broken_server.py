"""Without a working MLflow a run goes on after one warning, or stops if strict."""

import subprocess
import sys

import ibis
import pandas as pd
import pytest
from kedro.io import DataCatalog, MemoryDataset
from kedro.pipeline import Pipeline, node
from kedro_datasets.pandas import CSVDataset
from mlflow import MlflowClient

from ridgeline.hooks import PlainError
from ridgeline.tracking import TrackingError

OFF = "MLflow tracking is off for the rest of this run: "


def _three_nodes(between=lambda: None) -> Pipeline:  # noqa: ANN001
    def second(scores: dict[str, int]) -> pd.DataFrame:
        between()
        return pd.DataFrame({"n": [scores["n"] + 1]})

    return Pipeline(
        [
            node(lambda: {"n": 1}, None, "scores", name="first"),
            node(second, "scores", "table", name="second"),
            node(lambda table: table * 2, "table", "doubled", name="third"),
        ]
    )


def _catalog(project) -> DataCatalog:
    def csv(name: str) -> CSVDataset:
        return CSVDataset(filepath=str(project.path / f"{name}.csv"))

    return DataCatalog({"table": csv("table"), "doubled": csv("doubled")})


def _doubled(project) -> int:
    return int(pd.read_csv(project.path / "doubled.csv")["n"].item())


def test_absent_server_is_one_warning(project, free_port, warnings_of) -> None:
    project.settings = {"tracking_uri": f"http://me:secret@127.0.0.1:{free_port}"}
    project.run(_three_nodes(), _catalog(project))
    (warning,) = warnings_of()
    assert warning.startswith(f"{OFF}nothing answers at 127.0.0.1:")
    assert "strict: true" in warning
    assert "secret" not in warning
    assert _doubled(project) == 4


def test_absent_server_stops_a_strict_run(project, free_port) -> None:
    uri = f"http://127.0.0.1:{free_port}"
    project.settings = {"tracking_uri": uri, "strict": True}
    with pytest.raises(PlainError, match=r"failed: nothing answers .*strict: false"):
        project.run(_three_nodes(), _catalog(project))
    assert not (project.path / "table.csv").exists()


@pytest.mark.parametrize("content", ["this is not a database", None])
def test_broken_database_is_one_warning(project, warnings_of, content) -> None:
    database = project.path / "broken.db"
    database.mkdir() if content is None else database.write_text(content * 100)
    project.settings = {"tracking_uri": "sqlite:///broken.db"}
    project.run(_three_nodes(), _catalog(project))
    (warning,) = warnings_of()
    assert warning.startswith(OFF)
    assert _doubled(project) == 4


def test_server_that_is_no_mlflow_is_one_warning(project, warnings_of) -> None:
    command = [sys.executable, "-m", "http.server", "--bind", "127.0.0.1", "0"]
    other = subprocess.Popen(
        [command[0], "-u", *command[1:]],
        cwd=project.path,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert other.stdout is not None
        port = other.stdout.readline().split(" port ")[1].split()[0]
        project.settings = {"tracking_uri": f"http://127.0.0.1:{port}"}
        project.run(_three_nodes(), _catalog(project))
    finally:
        other.kill()
        other.communicate()
    (warning,) = warnings_of()
    assert warning.startswith(OFF)
    assert _doubled(project) == 4


def test_server_records_a_run_and_dies_in_the_next(
    project, server, warnings_of
) -> None:
    project.settings = {"tracking_uri": server.uri}
    project.run(_three_nodes(), _catalog(project))
    assert warnings_of() == []
    client = MlflowClient(tracking_uri=server.uri)
    whole = project.only_run()
    assert whole.info.status == "FINISHED"
    (listed,) = client.list_artifacts(whole.info.run_id, "first")
    assert listed.path == "first/scores.json"

    (project.path / "doubled.csv").unlink()
    project.run(_three_nodes(between=server.kill), _catalog(project))
    (warning,) = warnings_of()
    assert warning.startswith(OFF)
    assert _doubled(project) == 4
    # What it had been told before is in its database.
    (torn,) = (run for run in project.runs() if run.info.run_id != whole.info.run_id)
    assert torn.data.metrics["scores.n"] == 1
    assert "second.duration_seconds" not in torn.data.metrics


def test_database_breaking_half_way(project, warnings_of) -> None:
    def spoil() -> None:
        (project.path / "mlflow.db").write_text("this is not a database" * 100)

    project.run(_three_nodes(between=spoil), _catalog(project))
    (warning,) = warnings_of()
    assert warning.startswith(OFF)
    assert _doubled(project) == 4


def test_database_breaking_half_way_stops_a_strict_run(project) -> None:
    def spoil() -> None:
        (project.path / "mlflow.db").write_text("this is not a database" * 100)

    project.settings = {"strict": True}
    with pytest.raises(PlainError, match="MLflow tracking failed") as caught:
        project.run(_three_nodes(between=spoil), _catalog(project))
    assert isinstance(caught.value.__cause__, TrackingError)
    assert (project.path / "table.csv").exists()
    assert not (project.path / "doubled.csv").exists()


def test_output_that_cannot_be_described_is_a_warning(project, warnings_of) -> None:
    """A lazy table that fails when looked at; nothing in the run looks at it."""
    connection = ibis.duckdb.connect()
    table = connection.create_table("gone", {"a": [1]})
    connection.drop_table("gone")
    catalog = DataCatalog({"odd": MemoryDataset(copy_mode="assign")})
    project.run(
        Pipeline([node(lambda: (table, {"n": 2}), None, ["odd", "fine"], name="x")]),
        catalog,
    )
    (warning,) = warnings_of()
    assert warning.startswith("Output 'odd' is not logged to MLflow: ")
    assert "gone" in warning
    run = project.only_run()
    assert run.info.status == "FINISHED"
    assert run.data.metrics["fine.n"] == 2
