"""A project folder with a migrated MLflow database, and a run as a session does it."""

import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic, sleep
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

import pytest
import yaml
from kedro.config import OmegaConfigLoader
from kedro.framework.context import KedroContext
from kedro.framework.hooks.manager import _create_hook_manager
from kedro.io import DataCatalog
from kedro.pipeline import Pipeline
from kedro.runner import AbstractRunner, SequentialRunner
from mlflow import MlflowClient
from mlflow.entities import Run

from ridgeline.hooks import PlainErrorHook, TrackingHook


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tracker may set variables, and MLflow must not report test runs."""
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    for name in (
        "MLFLOW_HTTP_REQUEST_MAX_RETRIES",
        "MLFLOW_HTTP_REQUEST_TIMEOUT",
        "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT",
    ):
        monkeypatch.setenv(name, "0")  # recorded by monkeypatch, so restored at the end
        monkeypatch.delenv(name)


@dataclass
class Project:
    """A project folder and the steps of KedroSession.run, with our hooks."""

    path: Path
    settings: dict[str, Any] = field(default_factory=dict)
    hooks: tuple[Any, ...] = ()

    def run(
        self,
        pipeline: Pipeline,
        catalog: DataCatalog,
        runner: AbstractRunner | None = None,
        **run_params: Any,
    ) -> None:
        """Run a pipeline in the order in which Kedro's session calls the hooks."""
        (self.path / "conf/base").mkdir(parents=True, exist_ok=True)
        conf = self.path / "conf/base/mlflow.yml"
        conf.write_text(yaml.safe_dump(self.settings))
        hooks = _create_hook_manager()
        for hook in self.hooks or (TrackingHook(), PlainErrorHook()):
            hooks.register(hook)
        loader = OmegaConfigLoader(
            str(self.path / "conf"),
            base_env="base",
            default_run_env="local",
            config_patterns={"mlflow": ["mlflow*"]},
        )
        (self.path / "conf/local").mkdir(exist_ok=True)
        context = KedroContext(self.path, loader, None, "some_package", hooks)
        hooks.hook.after_context_created(context=context)
        params = {"project_path": str(self.path), "runner": "None", **run_params}
        common = {"run_params": params, "pipeline": pipeline, "catalog": catalog}
        hooks.hook.before_pipeline_run(**common)
        try:
            result = (runner or SequentialRunner()).run(pipeline, catalog, hooks)
        except Exception as error:
            hooks.hook.on_pipeline_error(error=error, **common)
            raise
        hooks.hook.after_pipeline_run(run_result=result, **common)

    @property
    def client(self) -> MlflowClient:
        return MlflowClient(tracking_uri=f"sqlite:///{self.path}/mlflow.db")

    def runs(self) -> list[Run]:
        experiment = self.client.get_experiment_by_name("ridgeline")
        assert experiment is not None
        return list(self.client.search_runs([experiment.experiment_id]))

    def only_run(self) -> Run:
        (run,) = self.runs()
        return run

    def artifacts(self, folder: str) -> dict[str, Path]:
        """Files logged under a node's name, by file name."""
        root = self.client.download_artifacts(self.only_run().info.run_id, folder)
        return {path.name: path for path in Path(root).iterdir()}


@pytest.fixture
def project(tmp_path: Path, migrated_database: Path) -> Project:
    shutil.copyfile(migrated_database, tmp_path / "mlflow.db")
    return Project(tmp_path)


@pytest.fixture
def warnings_of(
    caplog: pytest.LogCaptureFixture,
) -> Callable[[], list[str]]:
    """The warnings logged so far, whoever logged them."""

    def read() -> list[str]:
        return [r.getMessage() for r in caplog.records if r.levelname == "WARNING"]

    return read


@pytest.fixture
def free_port() -> int:
    """Return a port of the loopback address at which nothing answers."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Server:
    """A real tracking server on the loopback address."""

    def __init__(self, folder: Path, port: int) -> None:
        self.uri = f"http://127.0.0.1:{port}"
        command = [sys.executable, "-m", "mlflow", "server"]
        command += ["--backend-store-uri", f"sqlite:///{folder}/mlflow.db"]
        command += ["--artifacts-destination", str(folder / "kept"), "--workers", "1"]
        command += ["--host", "127.0.0.1", "--port", self.uri.rpartition(":")[2]]
        self._process = subprocess.Popen(
            command,
            cwd=folder,
            env=os.environ | {"MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # its workers are in its group, and end with it
        )

    def wait(self) -> None:
        deadline = monotonic() + 60
        while monotonic() < deadline:
            with suppress(URLError, ConnectionError):
                urlopen(f"{self.uri}/health").close()
                return
            sleep(0.2)
        pytest.fail("the tracking server did not start within a minute")

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()


@pytest.fixture
def server(project: Project, free_port: int) -> Iterator[Server]:
    server = Server(project.path, free_port)
    try:
        server.wait()
        yield server
    finally:
        server.kill()
