"""Each node's time, memory and outputs, from its first input to its last save."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from ridgeline.tracking.artifacts import (
    local_file,
    numbers,
    step_values,
    write_output,
)
from ridgeline.tracking.client import Tracker, TrackingError
from ridgeline.tracking.config import TrackingConfig
from ridgeline.tracking.memory import PeakMemory
from ridgeline.tracking.models import write_model
from ridgeline.tracking.outputs import OutputRecord
from ridgeline.tracking.tags import parameter_texts, run_parameters, valid_name

if TYPE_CHECKING:
    from kedro.io import CatalogProtocol
    from kedro.pipeline.node import Node

__all__ = ["NodeRecorder"]

_PLAIN = OutputRecord()
_CHOSEN = "parameters"  # key of a mapping under which a child's chosen parameters are

logger = logging.getLogger(__name__)


@dataclass
class _Visit:
    """A node under way."""

    node: Node
    started: float
    ended: float | None = None  # None: not yet
    outputs: dict[str, Any] = field(default_factory=dict)


class NodeRecorder:
    """Follows the nodes of one run.

    An Ibis table is computed when Kedro saves it, after the node's function has
    returned. So a node lasts from the loading of its first input to the saving of
    its last output.
    """

    def __init__(
        self,
        tracker: Tracker,
        catalog: CatalogProtocol[Any, Any],
        config: TrackingConfig,
        records: Mapping[str, OutputRecord],
    ) -> None:
        self._tracker = tracker
        self._catalog = catalog
        self._config = config
        self._records = records
        self._memory = PeakMemory()
        self._visits: dict[str, _Visit] = {}
        self._models: list[str] = []  # outputs to log as models

    def begin(self, node: Node) -> None:
        """Start the clock of a node; calls after the first change nothing."""
        if not self._tracker.active or node.name in self._visits:
            return
        self._visits[node.name] = _Visit(node, perf_counter())
        self._memory.start(node.name)

    def ran(self, node: Node) -> None:
        """A node's function returned: the end for a node without outputs."""
        if not node.outputs:
            self.finish(node)

    def saved(self, node: Node, name: str, data: Any) -> None:
        """One output was saved; after the last one the node is logged."""
        visit = self._visits.get(node.name)
        if visit is None or not self._tracker.active:
            return
        if inspect.isgeneratorfunction(node.func):
            # Saved chunk by chunk, and nobody says which is the last one:
            # `finish_all` logs it. A chunk does not stand for the output.
            visit.outputs[name] = None
            visit.ended = perf_counter()
            return
        visit.outputs[name] = data
        if set(visit.outputs) == set(node.outputs):
            self.finish(node)

    def failed(self, node: Node) -> None:
        """A node's function raised: the clock stops, `finish_all` logs the rest."""
        visit = self._visits.get(node.name)
        if visit is not None:
            visit.ended = perf_counter()

    def finish(self, node: Node) -> None:
        """Log a node's metrics and the outputs that it saved."""
        now = perf_counter()
        visit = self._visits.pop(node.name, None)
        if visit is None or not self._tracker.active:
            return
        ended = now if visit.ended is None else visit.ended
        name = valid_name(node.name)
        metrics = {
            f"{name}.duration_seconds": ended - visit.started,
            f"{name}.peak_memory_mb": self._memory.stop(node.name),
        }
        self._tracker.log_metrics(metrics)
        children: dict[str | None, dict[str, Any]] = {}
        for output, data in visit.outputs.items():
            child = self._record(output).run
            children.setdefault(child, {})[output] = data
        for child, outputs in children.items():
            if child is None or not all(map(_is_empty, outputs.values())):
                self._log_outputs(node, child, outputs)

    def finish_all(self) -> list[str]:
        """Log the nodes still under way.

        Returns:
            Names of those that did not save all their outputs.
        """
        visits = list(self._visits.values())
        for visit in visits:
            self.finish(visit.node)
        return [v.node.name for v in visits if set(v.outputs) != set(v.node.outputs)]

    def log_models(self, register: bool) -> None:
        """Log the models that were saved, after all nodes.

        By then the example is saved, whichever node made it, and the metrics that
        MLflow shows with a model are known.

        Args:
            register: Whether models may become versions in the registry.
        """
        for output in self._models:
            record = self._record(output)
            with TemporaryDirectory(prefix="ridgeline-") as folder:
                target = Path(folder) / "model"
                if not self._write_model(target, output, record):
                    continue
                name = record.register if register else None
                try:
                    self._tracker.log_model(
                        target, record.run or output, record.run, name
                    )
                except Exception as error:
                    self._warn(f"Model '{output}' is not complete in MLflow", error)
                    return  # the next one would fail in the same way

    def _record(self, output: str) -> OutputRecord:
        return self._records.get(output, _PLAIN)

    def _log_outputs(
        self, node: Node, child: str | None, outputs: Mapping[str, Any]
    ) -> None:
        """Log outputs of a node that belong to one run."""
        name = valid_name(node.name).replace("/", "_").replace(" ", "_")
        # A full disk is one more failure that must not stop the run.
        with self._tracker.guard(), TemporaryDirectory(prefix="ridgeline-") as folder:
            target = Path(folder) / name
            target.mkdir()
            if child is not None:
                parameters = run_parameters(self._catalog, node.inputs)
                self._tracker.log_parameters(parameters, child)
            for output, data in outputs.items():
                if self._record(output).model:
                    if data != []:  # of a method that is not applicable
                        self._models.append(output)
                else:
                    self._log_output(target, output, data)
            if any(target.iterdir()):
                self._tracker.log_folder(Path(folder), child)

    def _log_output(self, folder: Path, output: str, data: Any) -> None:
        record = self._record(output)
        # In a child the same numbers have the same names, to be compared.
        prefix = "" if record.run else output
        try:
            dataset = self._catalog.get(output)
            private = False if self._config.log_examples else record.private
            write_output(folder, output, data, dataset, self._config, private=private)
            if record.steps is not None:
                values = step_values(data, record.steps, prefix)
                self._tracker.log_steps(values, record.run)
        except TrackingError:
            raise
        except Exception as error:
            self._warn(f"Output '{output}' is not logged to MLflow", error)
            return
        if record.run:
            data, chosen = _without_parameters(data)
            self._tracker.log_parameters(parameter_texts(chosen), record.run)
        self._tracker.log_metrics(numbers(data, prefix), record.run)

    def _write_model(self, folder: Path, output: str, record: OutputRecord) -> bool:
        """Write an output as an MLflow model, and tell whether that went well."""
        try:
            example = self._catalog.get(str(record.example))
            if example is None:
                message = f"the catalog has no dataset '{record.example}'"
                raise LookupError(message)
            file = local_file(self._catalog.get(output))
            keep = self._config.log_examples
            write_model(folder, file, example.load(), keep_example=keep)
        except Exception as error:
            self._warn(f"Output '{output}' is not logged as a model", error)
            return False
        return True

    def _warn(self, what: str, error: Exception) -> None:
        message = f"{what}: {error}"
        if self._config.strict:
            raise TrackingError(message) from error
        logger.warning("%s", message)


def _is_empty(data: Any) -> bool:
    """Whether a method was not part of the run: its child would be an empty row."""
    return isinstance(data, Mapping) and not data


def _without_parameters(data: Any) -> tuple[Any, Mapping[str, Any]]:
    """A mapping without its entry for parameters, and that entry."""
    if isinstance(data, BaseModel):
        data = data.model_dump(mode="json")
    chosen = data.get(_CHOSEN) if isinstance(data, Mapping) else None
    if not isinstance(chosen, Mapping | BaseModel):
        return data, {}
    return {key: data[key] for key in data if key != _CHOSEN}, chosen  # type: ignore[return-value]
