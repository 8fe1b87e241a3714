"""Each node's time, memory and outputs, from its first input to its last save."""

from __future__ import annotations

import inspect
import logging
import threading
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING, Any

from ridgeline.tracking.artifacts import write_output
from ridgeline.tracking.client import Tracker, TrackingError
from ridgeline.tracking.config import TrackingConfig
from ridgeline.tracking.memory import PeakMemory
from ridgeline.tracking.tags import valid_name

if TYPE_CHECKING:
    from kedro.io import CatalogProtocol
    from kedro.pipeline.node import Node

__all__ = ["NodeRecorder"]

logger = logging.getLogger(__name__)


@dataclass
class _Visit:
    """A node under way."""

    node: Node
    started: float
    ended: float | None = None  # None: not yet
    outputs: dict[str, Any] = field(default_factory=dict)


class NodeRecorder:
    """Follows the nodes of one run; several may be under way at once.

    An Ibis table is computed when Kedro saves it, after the node's function has
    returned. So a node lasts from the loading of its first input to the saving of
    its last output.
    """

    def __init__(
        self,
        tracker: Tracker,
        catalog: CatalogProtocol[Any, Any],
        config: TrackingConfig,
    ) -> None:
        self._tracker = tracker
        self._catalog = catalog
        self._config = config
        self._memory = PeakMemory()
        self._lock = threading.Lock()
        self._visits: dict[str, _Visit] = {}

    def begin(self, node: Node) -> None:
        """Start the clock of a node; calls after the first change nothing."""
        if not self._tracker.active:
            return
        with self._lock:
            if node.name in self._visits:
                return
            self._visits[node.name] = _Visit(node, perf_counter())
            self._memory.start(node.name)

    def ran(self, node: Node) -> None:
        """A node's function returned: the end for a node without outputs."""
        if not node.outputs:
            self.finish(node)

    def saved(self, node: Node, name: str, data: Any) -> None:
        """One output was saved; after the last one the node is logged."""
        if not self._tracker.active:
            return
        with self._lock:
            visit = self._visits.get(node.name)
            if visit is None:
                return
            if inspect.isgeneratorfunction(node.func):
                # Saved chunk by chunk, and nobody says which is the last one:
                # `finish_all` logs it. A chunk does not stand for the output.
                visit.outputs[name] = None
                visit.ended = perf_counter()
                return
            visit.outputs[name] = data
            complete = set(visit.outputs) == set(node.outputs)
        if complete:
            self.finish(node)

    def failed(self, node: Node) -> None:
        """A node's function raised: the clock stops, `finish_all` logs the rest."""
        if not self._tracker.active:
            return
        with self._lock:
            visit = self._visits.get(node.name)
            if visit is not None:
                visit.ended = perf_counter()

    def finish(self, node: Node) -> None:
        """Log a node's metrics and the outputs that it saved."""
        now = perf_counter()
        if not self._tracker.active:
            return
        with self._lock:
            visit = self._visits.pop(node.name, None)
        if visit is None:
            return
        ended = now if visit.ended is None else visit.ended
        name = valid_name(node.name)
        metrics = {
            f"{name}.duration_seconds": ended - visit.started,
            f"{name}.peak_memory_mb": self._memory.stop(node.name),
        }
        # A full disk is one more failure that must not stop the run.
        with self._tracker.guard(), TemporaryDirectory(prefix="ridgeline-") as folder:
            target = Path(folder) / name.replace("/", "_").replace(" ", "_")
            target.mkdir()
            for output, data in visit.outputs.items():
                metrics |= self._write(target, output, data)
            self._tracker.log_metrics(metrics)
            if any(target.iterdir()):
                self._tracker.log_folder(Path(folder))

    def finish_all(self) -> list[str]:
        """Log the nodes still under way.

        Returns:
            Names of those that did not save all their outputs.
        """
        with self._lock:
            visits = list(self._visits.values())
        for visit in visits:
            self.finish(visit.node)
        return [v.node.name for v in visits if set(v.outputs) != set(v.node.outputs)]

    def _write(self, folder: Path, name: str, data: Any) -> dict[str, float]:
        try:
            dataset = self._catalog.get(name)
            return write_output(folder, name, data, dataset, self._config)
        except Exception as error:
            message = f"Output '{name}' is not logged to MLflow: {error}"
            if self._config.strict:
                raise TrackingError(message) from error
            logger.warning("%s", message)
            return {}
