"""Kedro hooks: parameters checked, MLflow told, errors in a sentence, what is next."""

import atexit
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import IO, Any

import click
from kedro.config import MissingConfigException
from kedro.framework.cli.utils import KedroCliError
from kedro.framework.context import KedroContext
from kedro.framework.hooks import hook_impl
from kedro.framework.project import pipelines
from kedro.io import CatalogProtocol
from kedro.pipeline import Pipeline
from kedro.pipeline.node import Node
from kedro.validation.exceptions import DataValidationError
from kedro.validation.type_extractor import TypeExtractor
from pydantic import BaseModel

from ridgeline.errors import InputError, RidgelineError
from ridgeline.parameters import checked, close_match
from ridgeline.provenance import command_line, how_to_call
from ridgeline.tracking import NodeRecorder, Tracker, TrackingError, read_config
from ridgeline.tracking.outputs import read_outputs
from ridgeline.tracking.tags import (
    fingerprint_tags,
    git_tags,
    run_parameters,
    runner_name,
    version_tags,
)

__all__ = [
    "NextStepsHook",
    "ParametersHook",
    "PlainError",
    "PlainErrorHook",
    "TrackingHook",
]

logger = logging.getLogger(__name__)

# Parameters of the command line that the catalog reads, and no node.
_CATALOG_PARAMETERS = ("accepted", "rejected")
_REPORTS = ("model_report", "study_report")


class ParametersHook:
    """Checks all parameters before anything runs.

    Kedro checks them as well, but before any hook could turn its traceback into a
    sentence, and it does not mind a key that nobody reads.
    """

    @hook_impl
    def after_context_created(self, context: KedroContext) -> None:
        """Refuse unknown keys and values that are not allowed."""
        try:
            values = context.config_loader["parameters"]
        except (KeyError, MissingConfigException):
            return  # Kedro says so
        with _as_sentence():
            _check_parameters(values, _parameter_types())

    @hook_impl
    def before_pipeline_run(
        self, pipeline: Pipeline, catalog: CatalogProtocol[Any, Any]
    ) -> None:
        """Refuse settings that the estimators of the baselines do not have."""
        prefix = "params:baselines."
        names = [name for name in pipeline.inputs() if name.startswith(prefix)]
        if not names:
            return
        from ridgeline.baselines.settings import check_settings

        with _as_sentence():
            for name in sorted(names):
                settings = catalog.load(name)
                check_settings(name.removeprefix(prefix), "classification", settings)


class NextStepsHook:
    """Says at the end where the report is and how to look at the lineage."""

    @hook_impl
    def after_pipeline_run(
        self, pipeline: Pipeline, catalog: CatalogProtocol[Any, Any]
    ) -> None:
        """Print a line each; the tracking hook has the third."""
        written = [name for name in _REPORTS if name in pipeline.all_outputs()]
        for name in written:
            path = Path(str(getattr(catalog.get(name), "_filepath", "")))
            if path.is_relative_to(Path.cwd()):
                path = path.relative_to(Path.cwd())
            logger.info("Report: open %s in a browser", path)
        if written:
            logger.info("Lineage: %s", how_to_call("kedro viz run"))


class TrackingHook:
    """Records a run in MLflow; mlflow.yml configures it.

    Under SequentialRunner and ThreadRunner every node is recorded. ParallelRunner
    runs nodes in other processes, which do not share the connection to MLflow: the
    run, its parameters, tags and result are recorded then, its nodes are not.
    """

    def __init__(self) -> None:
        self._context: KedroContext | None = None
        self._tracker: Tracker | None = None
        self._nodes: NodeRecorder | None = None
        self._farewell = ""

    @hook_impl
    def after_context_created(self, context: KedroContext) -> None:
        """Keep the context: it knows the project and its configuration."""
        self._context = context

    @hook_impl
    def before_pipeline_run(
        self,
        run_params: dict[str, Any],
        pipeline: Pipeline,
        catalog: CatalogProtocol[Any, Any],
    ) -> None:
        """Open the run and record what is known before the first node."""
        self._kill()  # a run that was interrupted in a notebook
        with _as_sentence():
            self._start(run_params, pipeline, catalog)

    @hook_impl
    def before_dataset_loaded(self, node: Node) -> None:
        """A node begins with the loading of its first input."""
        if self._nodes is not None:
            self._nodes.begin(node)

    @hook_impl
    def before_node_run(self, node: Node) -> None:
        """A node without inputs begins here."""
        if self._nodes is not None:
            self._nodes.begin(node)

    @hook_impl
    def after_node_run(self, node: Node) -> None:
        """A node without outputs ends here."""
        if self._nodes is not None:
            self._nodes.ran(node)

    @hook_impl
    def after_dataset_saved(self, dataset_name: str, data: Any, node: Node) -> None:
        """Any other node ends with the saving of its last output."""
        if self._nodes is not None:
            self._nodes.saved(node, dataset_name, data)

    @hook_impl
    def on_node_error(self, node: Node) -> None:
        """Stop the clock; `on_pipeline_error` records the failure."""
        if self._nodes is not None:
            self._nodes.failed(node)

    @hook_impl
    def after_pipeline_run(self) -> None:
        """Close the run and say where to look."""
        with _as_sentence():
            if self._nodes is not None:
                self._nodes.finish_all()
                self._nodes.log_models(register=True)
            if self._end("FINISHED"):
                logger.info("%s", self._farewell)

    @hook_impl
    def on_pipeline_error(self, error: Exception) -> None:
        """Close the run as failed; the run's own error is the one to show."""
        if self._tracker is None or self._nodes is None:
            return
        try:
            self._tracker.set_tags({"error": _first_line(error)})
            unfinished = self._nodes.finish_all()
            if unfinished:
                self._tracker.set_tags({"failed_node": ", ".join(unfinished)})
            # Models that were saved are worth keeping, but not worth recommending.
            self._nodes.log_models(register=False)
            self._end("FAILED")
        except TrackingError as failure:
            logger.warning("%s", failure)

    def _start(
        self,
        run_params: dict[str, Any],
        pipeline: Pipeline,
        catalog: CatalogProtocol[Any, Any],
    ) -> None:
        config = read_config(_mlflow_yml(self._context))
        if not config.enabled:
            return
        records = read_outputs(catalog, pipeline.all_outputs())
        project_path = Path(run_params["project_path"]).resolve()
        names = ", ".join(run_params.get("pipeline_names") or ["__default__"])
        run_name = f"{names} {datetime.now():%Y-%m-%d %H:%M}"
        tracker = Tracker(config, project_path)
        tracker.start(run_name)
        if not tracker.active:
            return
        self._tracker = tracker
        atexit.register(self._kill)
        self._nodes = NodeRecorder(tracker, catalog, config, records)
        how = how_to_call(config.how_to_look())
        self._farewell = f"Tracked as '{run_name}'; models side by side: {how}"
        inputs = pipeline.inputs()
        with tracker.guard():
            tracker.set_tags(
                _run_tags(run_params, names, self._context)
                | git_tags(project_path)
                | version_tags()
                | fingerprint_tags(catalog, inputs)
            )
            tracker.log_parameters(run_parameters(catalog, inputs))

    def _end(self, status: str) -> bool:
        """Close the open run, if any, and tell whether MLflow has it complete."""
        tracker, self._tracker, self._nodes = self._tracker, None, None
        atexit.unregister(self._kill)
        return tracker is not None and tracker.end(status)

    def _kill(self) -> None:
        """Close a run that nobody closed: Kedro has no hook for an interruption."""
        try:
            self._end("KILLED")
        except TrackingError as failure:
            logger.warning("%s", failure)


class PlainError(KedroCliError):
    """An error that the command line shows as its sentence alone.

    Kedro's own display asks Python for the exception being handled; click 8.5 shows
    errors after that moment, so it would read "NoneType: None".
    """

    def show(self, file: IO[Any] | None = None) -> None:
        """Print the sentence."""
        click.ClickException.show(self, file)


class PlainErrorHook:
    """Shows an error that was written for the user as a sentence, not a traceback.

    The original error stays chained for Python code, and goes to the debug log:
    `kedro run` has no option to show it.
    """

    # Last, because raising here keeps the hooks after this one from being called.
    @hook_impl(trylast=True)
    def on_pipeline_error(self, error: Exception) -> None:
        """Raise the sentence, if the chain of causes holds one."""
        cause: BaseException | None = error
        seen: set[int] = set()
        while cause is not None and id(cause) not in seen:
            if isinstance(cause, RidgelineError | DataValidationError):
                logger.debug("The error in full:", exc_info=error)
                raise PlainError(str(cause)) from error
            seen.add(id(cause))
            cause = cause.__cause__ or cause.__context__


@contextmanager
def _as_sentence() -> Iterator[None]:
    """For hooks outside Kedro's own error handling, where PlainErrorHook is deaf."""
    try:
        yield
    except RidgelineError as error:
        raise PlainError(str(error)) from error


def _parameter_types() -> dict[str, type[Any] | None]:
    """Every parameter that a node takes, by its dotted name, with its type if known."""
    registered = dict(pipelines)
    inputs = {name for pipeline in registered.values() for name in pipeline.inputs()}
    names = sorted(name for name in inputs if name.startswith("params:"))
    types = TypeExtractor(registered).extract_types_from_pipelines()
    plain = [name.removeprefix("params:") for name in names]
    return {name: types.get(name) for name in plain}


def _check_parameters(
    values: Mapping[str, Any], types: Mapping[str, type[Any] | None], path: str = ""
) -> None:
    """Check a level of the parameters, and the levels below it."""
    names = [key.removeprefix(path).split(".")[0] for key in types]
    known = list(dict.fromkeys(names if path else [*names, *_CATALOG_PARAMETERS]))
    for key, value in values.items():
        if key not in known:
            hint = close_match(str(key), known)
            message = f"unknown parameter '{path}{key}': {hint}"
            raise InputError(message)
        kind = types.get(f"{path}{key}")
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            checked(kind, value, f"parameters '{path}{key}'")
        elif isinstance(value, Mapping):
            below = f"{path}{key}."
            inner = {key: kind for key, kind in types.items() if key.startswith(below)}
            _check_parameters(value, inner, below)


def _mlflow_yml(context: KedroContext | None) -> Mapping[str, Any]:
    if context is None:
        return {}
    try:
        found: Mapping[str, Any] = context.config_loader["mlflow"]
    except (KeyError, MissingConfigException):
        return {}  # no such file, no such pattern: the defaults
    return found


def _run_tags(
    run_params: dict[str, Any], pipelines: str, context: KedroContext | None
) -> dict[str, str]:
    loader = None if context is None else context.config_loader
    environment = run_params.get("env") or getattr(loader, "default_run_env", None)
    runner = runner_name(str(run_params.get("runner")))
    if runner == "ParallelRunner":
        logger.info("MLflow records the run but not its nodes under ParallelRunner.")
    command = command_line()
    return {
        "pipeline": pipelines,
        "kedro_env": environment or "base",
        "runner": runner,
        "command": command,
        # MLflow's pages show this one as the source of the run.
        "mlflow.source.name": command,
    } | {
        option: str(run_params[option])
        for option in ("node_names", "from_nodes", "to_nodes", "tags", "runtime_params")
        if run_params.get(option)
    }


def _first_line(error: BaseException) -> str:
    text = str(error).strip()
    first = text.splitlines()[0] if text else ""
    return f"{type(error).__name__}: {first}"
