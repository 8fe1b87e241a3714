"""One MLflow run behind a guard: the first failure switches tracking off."""

import logging
import os
import re
import socket
import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from itertools import islice
from pathlib import Path
from time import time
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from ridgeline.errors import RidgelineError
from ridgeline.tracking.config import TrackingConfig

__all__ = ["Tracker", "TrackingError"]

# MLflow's limits of text length, and of entries in one request.
_PARAMETER_LENGTH = 6000
_TAG_LENGTH = 5000
_PARAMETER_BATCH = 100
_METRIC_BATCH = 1000

_REASON_LENGTH = 300  # of a warning; some errors of MLflow quote whole requests
_PROBE_SECONDS = 3.0
_PORTS = {"http": 80, "https": 443, "postgresql": 5432, "mysql": 3306, "mssql": 1433}

logger = logging.getLogger(__name__)


class TrackingError(RidgelineError):
    """MLflow failed and mlflow.yml says `strict: true`."""


class Tracker:
    """The run in MLflow, by explicit run id: no global state of MLflow is used.

    Every method is safe to call at any time and from any thread: before the start,
    after a failure and in a forked process it does nothing.
    """

    def __init__(self, config: TrackingConfig, project_path: Path) -> None:
        self._config = config
        self._project_path = project_path
        self._client: Any = None
        self._run_id: str | None = None
        self._failed = False
        self._pid = os.getpid()
        self._lock = threading.Lock()

    @property
    def active(self) -> bool:
        """Whether calls are recorded, which they are in the starting process only.

        A forked process shares the parent's database connection, which SQLite forbids.
        """
        return self._run_id is not None and os.getpid() == self._pid

    @property
    def run_id(self) -> str | None:
        """MLflow's id of the run; None before the start and after a failure."""
        return self._run_id

    def start(self, name: str) -> None:
        """Create the run, and the database and the experiment if they are absent."""
        with self.guard():
            self._connect()
            experiment = self._experiment_id()
            run = self._client.create_run(experiment, run_name=name)
            self._run_id = run.info.run_id

    def log_parameters(self, values: Mapping[str, str]) -> None:
        """Record parameters; long values are cut to MLflow's limit."""

        def work(client: Any, run_id: str) -> None:
            from mlflow.entities import Param

            params = [Param(k, _cut(v, _PARAMETER_LENGTH)) for k, v in values.items()]
            for batch in _batches(params, _PARAMETER_BATCH):
                client.log_batch(run_id, params=batch)

        self._call(work)

    def log_metrics(self, values: Mapping[str, float]) -> None:
        """Record numbers."""

        def work(client: Any, run_id: str) -> None:
            from mlflow.entities import Metric

            now = int(time() * 1000)
            metrics = [Metric(k, v, now, 0) for k, v in values.items()]
            for batch in _batches(metrics, _METRIC_BATCH):
                client.log_batch(run_id, metrics=batch)

        self._call(work)

    def set_tags(self, values: Mapping[str, str]) -> None:
        """Record tags; long values are cut."""

        def work(client: Any, run_id: str) -> None:
            from mlflow.entities import RunTag

            tags = [RunTag(k, _cut(v, _TAG_LENGTH)) for k, v in values.items()]
            for batch in _batches(tags, _PARAMETER_BATCH):
                client.log_batch(run_id, tags=batch)

        self._call(work)

    def log_folder(self, folder: Path) -> None:
        """Record everything in a folder as artifacts, under the same names."""
        self._call(lambda client, run_id: client.log_artifacts(run_id, str(folder)))

    def end(self, status: str) -> bool:
        """Close the run.

        Args:
            status: FINISHED, FAILED or KILLED.

        Returns:
            Whether MLflow has the run complete.
        """
        self._call(lambda client, run_id: client.set_terminated(run_id, status))
        recorded = self.active
        self._run_id = None
        return recorded

    @contextmanager
    def guard(self) -> Iterator[None]:
        """Turn any failure of the block into the end of tracking, not of the run."""
        try:
            yield
        except TrackingError:
            raise
        except Exception as error:
            with self._lock:
                first = not self._failed
                self._failed, self._run_id = True, None
            # Threads that failed together with the first have nothing to add.
            if first:
                self._give_up(error)

    def _call(self, work: Callable[[Any, str], None]) -> None:
        run_id = self._run_id
        if run_id is not None and self.active:
            with self.guard():
                work(self._client, run_id)

    def _give_up(self, error: Exception) -> None:
        reason = _reason(error)
        if self._config.strict:
            message = (
                f"MLflow tracking failed: {reason}. Start or repair the tracking "
                "server, or set strict: false in mlflow.yml to run without it."
            )
            raise TrackingError(message) from error
        logger.warning(
            "MLflow tracking is off for the rest of this run: %s. The run goes on; "
            "set strict: true in mlflow.yml to stop instead.",
            reason,
        )

    def _connect(self) -> None:
        database = self._config.database(self._project_path)
        if database is not None:
            _probe_database(database)
        else:
            _probe_server(self._config.tracking_uri)
        # MLflow's defaults (7 retries, 120 s each) would hold a run up for minutes
        # when the server goes away; a user's own setting wins.
        os.environ.setdefault("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "1")
        os.environ.setdefault("MLFLOW_HTTP_REQUEST_TIMEOUT", "10")
        # Nothing about a run goes to anyone but the user's own store.
        os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
        from mlflow import MlflowClient  # two seconds, only for a run

        for chatty in ("alembic", "mlflow.store.db.utils"):
            logging.getLogger(chatty).setLevel(logging.WARNING)
        # One failure is one warning, and it is ours: not one for each retry too.
        logging.getLogger("urllib3.connectionpool").setLevel(logging.ERROR)
        uri = self._config.store_uri(self._project_path)
        self._client = MlflowClient(tracking_uri=uri)

    def _experiment_id(self) -> str:
        name = self._config.experiment
        found = self._client.get_experiment_by_name(name)
        if found is None:
            root = self._config.artifact_root(self._project_path)
            try:
                return str(self._client.create_experiment(name, artifact_location=root))
            except Exception:
                # Another run may have created it since; if not, the error stands.
                found = self._client.get_experiment_by_name(name)
                if found is None:
                    raise
        return str(found.experiment_id)


def _probe_database(path: Path) -> None:
    """Fail at once where MLflow would retry for a minute."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        logger.info("Creating the MLflow database %s (once)...", path.name)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA schema_version")


def _probe_server(uri: str) -> None:
    """Fail within seconds when nobody answers at the address."""
    parts = urlsplit(uri)
    scheme = parts.scheme.partition("+")[0]
    port = parts.port or _PORTS.get(scheme)
    if parts.hostname is None or port is None:
        return
    if scheme in getproxies() and not proxy_bypass(parts.hostname):
        return  # only the proxy can reach the server
    try:
        socket.create_connection((parts.hostname, port), _PROBE_SECONDS).close()
    except OSError as error:
        message = f"nothing answers at {parts.hostname}:{port} ({error})"
        raise ConnectionError(message) from error


def _reason(error: Exception) -> str:
    """First line of an error, without the login that MLflow quotes with a URL."""
    line = (str(error).strip() or type(error).__name__).splitlines()[0]
    line = re.sub(r"//[^/@\s]*@", "//", line)
    return _cut(line, _REASON_LENGTH).rstrip(".")


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 3]}..."


def _batches(items: list[Any], size: int) -> Iterator[list[Any]]:
    rest = iter(items)
    while batch := list(islice(rest, size)):
        yield batch
