"""Tells MLflow about a run, from before its first node to its end, good or bad."""

import atexit
import logging
from datetime import datetime
from pathlib import Path
from typing import Any, cast

from kedro.config import OmegaConfigLoader
from kedro.framework.context import KedroContext
from kedro.framework.hooks import hook_impl
from kedro.io import CatalogProtocol
from kedro.pipeline import Pipeline
from kedro.pipeline.node import Node

from ridgeline.hooks.configuration import configured
from ridgeline.hooks.sentences import as_sentence
from ridgeline.interruption import was_interrupted
from ridgeline.provenance import how_to_call
from ridgeline.tracking import Recorder, TrackingError, read_config, read_outputs
from ridgeline.tracking.recorder import runner_name

__all__ = ["TrackingHook"]

# Of Kedro's options those that say which part of a pipeline ran, and how.
_OPTIONS = ("node_names", "from_nodes", "to_nodes", "tags", "runtime_params")

logger = logging.getLogger(__name__)


class TrackingHook:
    """Records a run in MLflow; mlflow.yml configures it."""

    _context: KedroContext  # Kedro makes it before any run

    def __init__(self) -> None:
        self._recorder: Recorder | None = None  # None: no run, or one not tracked
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
        self.close_interrupted()  # in a notebook, say
        with as_sentence():
            config = read_config(configured(self._context.config_loader, "mlflow"))
            if not config.enabled:
                return
            records = read_outputs(catalog, pipeline.all_outputs())
            project_path = Path(run_params["project_path"]).resolve()
            names = ", ".join(run_params.get("pipeline_names") or ["__default__"])
            run_name = f"{names} {datetime.now():%Y-%m-%d %H:%M}"
            how = how_to_call(config.how_to_look(project_path))
            self._farewell = f"Tracked as '{run_name}'; models side by side: {how}"
            # Before the start: an interruption right after it finds what to close.
            self._recorder = Recorder(config, project_path, catalog, records)
            atexit.register(self.close_interrupted)
            tags = {"pipeline": names} | _run_tags(run_params, self._context)
            self._recorder.start(run_name, tags, pipeline.inputs())

    @hook_impl
    def before_dataset_loaded(self, node: Node) -> None:
        """A node begins with the loading of its first input."""
        if self._recorder is not None:
            self._recorder.begin(node)

    @hook_impl
    def before_node_run(self, node: Node) -> None:
        """A node without inputs begins here."""
        if self._recorder is not None:
            self._recorder.begin(node)

    @hook_impl
    def after_node_run(self, node: Node) -> None:
        """A node without outputs ends here."""
        if self._recorder is not None:
            self._recorder.ran(node)

    @hook_impl
    def after_dataset_saved(self, dataset_name: str, data: Any, node: Node) -> None:
        """Any other node ends with the saving of its last output."""
        if self._recorder is not None:
            self._recorder.saved(node, dataset_name, data)

    @hook_impl
    def on_node_error(self, node: Node) -> None:
        """Stop the clock; `on_pipeline_error` records the failure."""
        if self._recorder is not None:
            self._recorder.failed(node)

    @hook_impl
    def after_pipeline_run(self) -> None:
        """Close the run and say where to look."""
        with as_sentence():
            if self._recorder is not None and self._recorder.end():
                logger.info("%s", self._farewell)
        self._forget()

    @hook_impl
    def on_pipeline_error(self, error: Exception) -> None:
        """Close the run as failed; the run's own error is the one to show."""
        if self._recorder is None or was_interrupted():
            return  # the session closes a run that was interrupted
        try:
            self._recorder.end_with(error)
            self._forget()
        except TrackingError as failure:
            logger.warning("%s", failure)

    def close_interrupted(self) -> None:
        """Close a run that nobody closed: Kedro has no hook for an interruption."""
        recorder = self._forget()
        try:
            if recorder is not None:
                recorder.end_interrupted()
        except TrackingError as failure:
            logger.warning("%s", failure)

    def _forget(self) -> Recorder | None:
        """Leave the run, so that it is closed once, and return its recorder."""
        recorder, self._recorder = self._recorder, None
        atexit.unregister(self.close_interrupted)
        return recorder


def _run_tags(run_params: dict[str, Any], context: KedroContext) -> dict[str, str]:
    loader = cast("OmegaConfigLoader", context.config_loader)
    return {
        "kedro_env": run_params.get("env") or loader.default_run_env or "base",
        "runner": runner_name(str(run_params.get("runner"))),
    } | {
        option: str(run_params[option]) for option in _OPTIONS if run_params.get(option)
    }
