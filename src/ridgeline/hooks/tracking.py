"""Tells MLflow about a run, from before its first node to its end, good or bad."""

import atexit
import logging
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from kedro.config import MissingConfigException
from kedro.framework.context import KedroContext
from kedro.framework.hooks import hook_impl
from kedro.io import CatalogProtocol
from kedro.pipeline import Pipeline
from kedro.pipeline.node import Node

from ridgeline.hooks.sentences import as_sentence
from ridgeline.interruption import was_interrupted
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

__all__ = ["TrackingHook"]

logger = logging.getLogger(__name__)


class TrackingHook:
    """Records a run in MLflow; mlflow.yml configures it."""

    def __init__(self) -> None:
        self._context: KedroContext | None = None
        self._tracker: Tracker | None = None
        self._nodes: NodeRecorder | None = None
        self._farewell = ""
        self._register = False

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
        self.close_interrupted()  # in a notebook, say
        with as_sentence():
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
        with as_sentence():
            if self._nodes is not None:
                self._nodes.finish_all()
                self._nodes.log_models(register=self._register)
            if self._end("FINISHED"):
                logger.info("%s", self._farewell)

    @hook_impl
    def on_pipeline_error(self, error: Exception) -> None:
        """Close the run as failed; the run's own error is the one to show."""
        if self._tracker is None or self._nodes is None or was_interrupted():
            return  # the session closes a run that was interrupted
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

    def close_interrupted(self) -> None:
        """Close a run that nobody closed: Kedro has no hook for an interruption."""
        try:
            self._end("KILLED")
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
        # Before the start: an interruption right after it finds what to close.
        self._tracker = tracker
        atexit.register(self.close_interrupted)
        tracker.start(run_name)
        if not tracker.active:
            self._end("FAILED")
            return
        self._register = config.register_models
        self._nodes = NodeRecorder(tracker, catalog, config, records)
        how = how_to_call(config.how_to_look(project_path))
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
        atexit.unregister(self.close_interrupted)
        return tracker is not None and tracker.end(status)


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
