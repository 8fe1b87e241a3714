"""A run and its children in MLflow, behind a guard: a failure switches tracking off."""

import logging
import os
import re
import socket
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import time
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from ridgeline.errors import RidgelineError
from ridgeline.tracking.champion import crown
from ridgeline.tracking.config import TrackingConfig
from ridgeline.tracking.models import register_model, upload_model

__all__ = ["Client", "Number", "TrackingError"]

# MLflow's limits of text length, and of entries in one request.
_PARAMETER_LENGTH = 6000
_TAG_LENGTH = 5000
_BATCHES = {"params": 100, "metrics": 1000, "tags": 100}
_NOTHING: Mapping[str, str] = {}

_PARENT_TAG = "mlflow.parentRunId"  # by which MLflow's pages nest runs
# Tags of the run that say where a model comes from; its children have them too.
_LINEAGE = ("pipeline", "kedro_env", "git_commit", "git_dirty", "data_fingerprint")
_SOURCE = ("mlflow.source.name", "mlflow.source.git.commit")

_REASON_LENGTH = 300  # of a warning; some errors of MLflow quote whole requests
_PROBE_SECONDS = 3.0
_PORTS = {"http": 80, "https": 443, "postgresql": 5432, "mysql": 3306, "mssql": 1433}

logger = logging.getLogger(__name__)

Number = tuple[str, float, int]  # a metric: its name, its value and its step


class TrackingError(RidgelineError):
    """MLflow failed and mlflow.yml says `strict: true`."""


@dataclass
class _Run:
    """A run in MLflow, and what it cannot be told twice."""

    run_id: str
    parameters: set[str] = field(default_factory=set)
    metrics: dict[str, Any] = field(default_factory=dict)  # the last of each name


class Client:
    """The run in MLflow, by explicit run id: no global state of MLflow is used.

    Every method is safe to call at any time: before the start and after a failure it
    does nothing. Where a method takes `child`, it writes to the child run of that name,
    which begins with its first use.
    """

    def __init__(self, config: TrackingConfig, project_path: Path) -> None:
        self._config = config
        self._project_path = project_path
        self._mlflow: Any = None  # an MlflowClient, once connected
        self._experiment = ""
        self._runs: dict[str | None, _Run] = {}  # None: the run itself
        self._tags: dict[str, str] = {}
        # Whether calls are recorded: not before the start, nor after a failure.
        self.active = self._failed = False

    def start(self, name: str) -> None:
        """Create the run, and the database and the experiment if they are absent."""
        with self.guard():
            self._connect()
            self._experiment = self._experiment_id()
            run = self._mlflow.create_run(self._experiment, run_name=name)
            self._runs[None] = _Run(run.info.run_id)
            self.active = True

    def log(
        self,
        child: str | None = None,
        *,
        parameters: Mapping[str, str] = _NOTHING,
        metrics: Iterable[Number] = (),
        tags: Mapping[str, str] = _NOTHING,
        files: Path | None = None,
    ) -> None:
        """Record anything about a run.

        Of each parameter the first value stays, and long texts are cut. Everything in
        the folder `files` is an artifact under the same name.
        """
        if not self.active:
            return
        with self.guard():
            from mlflow.entities import Metric, Param, RunTag

            run = self._run(child)
            now = int(time() * 1000)
            # MLflow refuses a second value, and nodes of one child share parameters.
            new = {k: v for k, v in parameters.items() if k not in run.parameters}
            short = {k: _cut(v, _TAG_LENGTH) for k, v in tags.items()}
            entities: dict[str, list[Any]] = {
                "params": [Param(k, _cut(new[k], _PARAMETER_LENGTH)) for k in new],
                "metrics": [Metric(key, value, now, at) for key, value, at in metrics],
                "tags": [RunTag(k, v) for k, v in short.items()],
            }
            run.parameters |= set(new)
            run.metrics |= {metric.key: metric for metric in entities["metrics"]}
            if child is None:
                self._tags |= short
            for kind, size in _BATCHES.items():
                for start in range(0, len(entities[kind]), size):
                    batch = {kind: entities[kind][start : start + size]}
                    self._mlflow.log_batch(run.run_id, **batch)
            if files is not None:
                self._mlflow.log_artifacts(run.run_id, str(files))

    def log_model(
        self, folder: Path, name: str, child: str | None, register: str | None
    ) -> str | None:
        """Record a folder of `write_model` as a model of a run, and register it.

        Unlike the other methods it raises whatever goes wrong: a store without models
        or without a registry is no reason to leave the run unfinished. With a name to
        `register` it gets a version in the registry, whose number is returned.
        """
        if not self.active:
            return None
        run = self._run(child)
        origin = self._tags_among(_LINEAGE)
        origin |= {"parent_run_id": self._runs[None].run_id, "run_id": run.run_id}
        logged = upload_model(
            self._mlflow,
            self._mlflow.get_run(run.run_id),
            folder,
            name=name,
            metrics=run.metrics.values(),
            tags=origin,
        )
        if register is None:
            return None
        return register_model(self._mlflow, logged, register, origin)

    def crown(
        self, name: str, version: str, losses: Callable[[Any], Any], weight: Any
    ) -> str:
        """Let a version be the champion if it is better; return what was decided."""
        return crown(self._mlflow, name, version, losses, weight)

    def end(self, status: str) -> bool:
        """Close the run and its children, and tell whether MLflow has it complete.

        The status is FINISHED, FAILED or KILLED.
        """
        if self.active:
            with self.guard():
                for run in reversed(self._runs.values()):  # the run itself last
                    self._mlflow.set_terminated(run.run_id, status)
        recorded, self.active = self.active, False
        return recorded

    @contextmanager
    def guard(self) -> Iterator[None]:
        """Turn any failure of the block into the end of tracking, not of the run."""
        try:
            yield
        except TrackingError:
            raise
        except Exception as error:
            first = not self._failed
            self._failed, self.active = True, False
            if first:  # a block in this block may have said it already
                self._give_up(error)

    def _run(self, child: str | None) -> _Run:
        """The run itself, or a child, which is created on first use."""
        if child not in self._runs:
            parent = {_PARENT_TAG: self._runs[None].run_id}
            created = self._mlflow.create_run(
                self._experiment,
                run_name=child,
                tags=self._tags_among((*_LINEAGE, *_SOURCE)) | parent,
            )
            self._runs[child] = _Run(created.info.run_id)
        return self._runs[child]

    def _tags_among(self, names: Iterable[str]) -> dict[str, str]:
        return {name: self._tags[name] for name in names if name in self._tags}

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
        # A run has many children; where to look is said once, at its end.
        os.environ.setdefault("MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT", "true")
        from mlflow import MlflowClient  # two seconds, only for a run

        for chatty in ("alembic", "mlflow.store.db.utils", "mlflow.pyfunc"):
            logging.getLogger(chatty).setLevel(logging.WARNING)
        # One failure is one warning, and it is ours: not one for each retry too.
        logging.getLogger("urllib3.connectionpool").setLevel(logging.ERROR)
        uri = self._config.store_uri(self._project_path)
        self._mlflow = MlflowClient(tracking_uri=uri)

    def _experiment_id(self) -> str:
        name = self._config.experiment
        found = self._mlflow.get_experiment_by_name(name)
        if found is None:
            root = self._config.artifact_root(self._project_path)
            try:
                return str(self._mlflow.create_experiment(name, artifact_location=root))
            except Exception:
                # Another run may have created it since; if not, the error stands.
                found = self._mlflow.get_experiment_by_name(name)
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
