"""A run as MLflow is told about it: what it is, its nodes, their outputs, its end."""

from __future__ import annotations

import inspect
import json
import logging
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING, Any

from ridgeline.hashing import hash_of_text
from ridgeline.peak_memory import PeakMemory
from ridgeline.private_names.kedro import local_file
from ridgeline.provenance import command_line, git_state, package_versions
from ridgeline.tracking.client import Client, Number, TrackingError
from ridgeline.tracking.config import OutputRecord, TrackingConfig
from ridgeline.tracking.models import write_model
from ridgeline.tracking.outputs import (
    metrics_of,
    parameter_texts,
    valid_name,
    without_parameters,
    write_output,
)

if TYPE_CHECKING:
    from kedro.io import CatalogProtocol
    from kedro.pipeline.node import Node

__all__ = ["Recorder", "code_tags", "runner_name"]

_PLAIN = OutputRecord()
_TABLE = "table_description"  # the dataset that tells the target of the test rows

logger = logging.getLogger(__name__)


@dataclass
class _Visit:
    """A node under way."""

    node: Node
    started: float
    ended: float | None = None  # None: not yet
    outputs: dict[str, Any] = field(default_factory=dict)


class Recorder:
    """Follows one run.

    An Ibis table is computed when Kedro saves it, after the node's function has
    returned. So a node lasts from the loading of its first input to the saving of
    its last output. `records` is what the catalog says about outputs, by their names.
    """

    def __init__(
        self,
        config: TrackingConfig,
        project_path: Path,
        catalog: CatalogProtocol[Any, Any],
        records: Mapping[str, OutputRecord],
    ) -> None:
        self._client = Client(config, project_path)
        self._project_path = project_path
        self._catalog = catalog
        self._config = config
        self._records = records
        self._memory = PeakMemory()
        self._visits: dict[str, _Visit] = {}
        self._models: list[str] = []  # outputs to log as models

    def start(self, name: str, tags: Mapping[str, str], inputs: Iterable[str]) -> None:
        """Open the run and record what is known before the first node.

        That is what Kedro says in `tags`, and the free inputs of the pipeline: of data
        their fingerprints, of parameters their values.
        """
        self._client.start(name)
        if not self._client.active:
            return
        with self._client.guard():
            about = code_tags(self._project_path)
            about |= _fingerprint_tags(self._catalog, inputs)
            self._client.log(
                tags={**tags, **about}, parameters=self._parameters(inputs)
            )

    def begin(self, node: Node) -> None:
        """Start the clock of a node; calls after the first change nothing."""
        if not self._client.active or node.name in self._visits:
            return
        self._visits[node.name] = _Visit(node, perf_counter())
        self._memory.start(node.name)

    def ran(self, node: Node) -> None:
        """A node's function returned: the end for a node without outputs."""
        if not node.outputs:
            self._finish(node)

    def saved(self, node: Node, name: str, data: Any) -> None:
        """One output was saved; after the last one the node is logged."""
        visit = self._visits.get(node.name)
        if visit is None or not self._client.active:
            return
        if inspect.isgeneratorfunction(node.func):
            # Saved chunk by chunk, and nobody says which is the last one: the end of
            # the run logs it. A chunk does not stand for the output.
            visit.outputs[name] = None
            visit.ended = perf_counter()
            return
        visit.outputs[name] = data
        if set(visit.outputs) == set(node.outputs):
            self._finish(node)

    def failed(self, node: Node) -> None:
        """A node's function raised: the clock stops, the end of the run logs it."""
        visit = self._visits.get(node.name)
        if visit is not None:
            visit.ended = perf_counter()

    def end(self) -> bool:
        """Close a run that went well, and tell whether MLflow has it complete."""
        self._finish_all()
        self._log_models(register=self._config.register_models)
        return self._client.end("FINISHED")

    def end_with(self, error: Exception) -> None:
        """Close a run that an error ended."""
        text = str(error).strip().partition("\n")[0]
        self._client.log(tags={"error": f"{type(error).__name__}: {text}"})
        unfinished = self._finish_all()
        if unfinished:
            self._client.log(tags={"failed_node": ", ".join(unfinished)})
        # Models that were saved are worth keeping, but not worth recommending.
        self._log_models(register=False)
        self._client.end("FAILED")

    def end_interrupted(self) -> None:
        """Close a run that somebody stopped, as it is."""
        self._client.end("KILLED")

    def _finish(self, node: Node) -> None:
        """Log a node's metrics and the outputs that it saved."""
        now = perf_counter()
        visit = self._visits.pop(node.name, None)
        if visit is None or not self._client.active:
            return
        ended = now if visit.ended is None else visit.ended
        name = valid_name(node.name)
        peak = self._memory.stop(node.name)
        self._client.log(
            metrics=[
                (f"{name}.duration_seconds", ended - visit.started, 0),
                (f"{name}.peak_memory_mb", peak, 0),
            ]
        )
        for output, data in visit.outputs.items():
            self._log_output(node, output, data)

    def _finish_all(self) -> list[str]:
        """Log the nodes still under way, and name those that did not save it all."""
        visits = list(self._visits.values())
        for visit in visits:
            self._finish(visit.node)
        return [v.node.name for v in visits if set(v.outputs) != set(v.node.outputs)]

    def _log_output(self, node: Node, name: str, data: Any) -> None:
        record = self._records.get(name, _PLAIN)
        if record.run and isinstance(data, Mapping | list) and not data:
            return  # a method that was not part of the run, or no model: an empty row
        parameters = self._parameters(node.inputs) if record.run else {}
        if record.model:
            self._client.log(record.run, parameters=parameters)
            self._models.append(name)
            return
        metrics: list[Number] = []
        # A full disk is one more failure that must not stop the run.
        with self._client.guard(), TemporaryDirectory(prefix="ridgeline-") as root:
            folder = Path(root) / re.sub("[/ ]", "_", valid_name(node.name))
            folder.mkdir()
            try:
                dataset = self._catalog.get(name)
                private = False if self._config.log_examples else record.private
                write_output(folder, name, data, dataset, self._config, private=private)
                if record.run:
                    data, chosen = without_parameters(data)
                    parameters |= chosen
                # In a child the same numbers have the same names, to be compared.
                prefix = "" if record.run else name
                metrics = metrics_of(data, prefix, record.steps)
            except Exception as error:
                self._warn(f"Output '{name}' is not logged to MLflow", error)
            files = Path(root) if any(folder.iterdir()) else None
            self._client.log(
                record.run, parameters=parameters, metrics=metrics, files=files
            )

    def _log_models(self, register: bool) -> None:
        """Log the models that were saved, after all nodes.

        By then the example is saved, whichever node made it, and the metrics that
        MLflow shows with a model are known.
        """
        for name in self._models:
            record = self._records[name]
            with TemporaryDirectory(prefix="ridgeline-") as root:
                folder = Path(root) / "model"
                try:
                    self._write_model(folder, name, str(record.example))
                except Exception as error:
                    self._warn(f"Output '{name}' is not logged as a model", error)
                    continue
                registered = record.register if register else None
                try:
                    version = self._client.log_model(
                        folder, record.run or name, record.run, registered
                    )
                except Exception as error:
                    self._warn(f"Model '{name}' is not complete in MLflow", error)
                    return  # the next one would fail in the same way
                if version is not None and record.judge is not None:
                    self._crown(str(record.register), version, record.judge)

    def _crown(self, registered: str, version: str, rows: str) -> None:
        """Judge a new version against the champion, on the test rows of now."""
        from ridgeline.evaluation.paired import row_losses
        from ridgeline.tables.description import TableDescription
        from ridgeline.tables.sample import sample_of
        from ridgeline.xnn.scorer import without_range_warnings

        try:
            table = TableDescription.of(self._catalog.load(_TABLE))
            sample = sample_of(self._catalog.load(rows), table)

            def losses(model: Any) -> Any:
                with without_range_warnings():
                    return row_losses(model, sample.features, sample.target)

            said = self._client.crown(registered, version, losses, sample.weight)
        except Exception as error:
            self._warn(f"The champion of '{registered}' is not judged", error)
            return
        logger.info("%s", said)

    def _write_model(self, folder: Path, name: str, example: str) -> None:
        rows = self._catalog.get(example)
        if rows is None:
            message = f"the catalog has no dataset '{example}'"
            raise LookupError(message)
        file = local_file(self._catalog.get(name))
        write_model(folder, file, rows.load(), keep_example=self._config.log_examples)

    def _parameters(self, names: Iterable[str]) -> dict[str, str]:
        """The parameters among inputs, such as `cleaning.max_amount`, as texts."""
        found: dict[str, str] = {}
        for name in sorted(names):
            if name != "parameters" and not name.startswith("params:"):
                continue
            dataset = self._catalog.get(name)
            if dataset is not None:
                prefix = "" if name == "parameters" else name.removeprefix("params:")
                found |= parameter_texts(dataset.load(), prefix)
        return found

    def _warn(self, what: str, error: Exception) -> None:
        message = f"{what}: {error}"
        if self._config.strict:
            raise TrackingError(message) from error
        logger.warning("%s", message)


def code_tags(project_path: Path) -> dict[str, str]:
    """Return the command, the versions of packages, and the commit if there is one."""
    command = command_line()
    versions = package_versions().items()
    tags = {
        "command": command,
        # MLflow's pages show this one as the source of the run.
        "mlflow.source.name": command,
        **{f"version.{name}": number for name, number in versions},
    }
    state = git_state(project_path)
    if state is None:
        return tags
    return tags | {
        "git_commit": state.commit,
        "git_dirty": str(state.dirty).lower(),
        # MLflow's pages show this one as the version of the source.
        "mlflow.source.git.commit": state.commit,
    }


def runner_name(runner: str) -> str:
    """Return the class name of the runner from Kedro's `run_params["runner"]`."""
    found = re.search(r"(\w+) object at", runner)
    if found:
        return found[1]
    return "SequentialRunner" if runner == "None" else runner


def _fingerprint_tags(
    catalog: CatalogProtocol[Any, Any], names: Iterable[str]
) -> dict[str, str]:
    """A tag for each input with a method `fingerprint`, and one for all together."""
    prints: dict[str, str] = {}
    for name in sorted(names):
        try:
            dataset: Any = catalog.get(name)
            if hasattr(dataset, "fingerprint"):
                prints[name] = str(dataset.fingerprint())
        except Exception as error:
            # A missing file is reported by the node that loads it, and better.
            logger.debug("No fingerprint of '%s': %s", name, error)
    if not prints:
        return {}
    combined = hash_of_text(json.dumps(prints, sort_keys=True))
    single = {f"data_fingerprint.{name}": value for name, value in prints.items()}
    return {"data_fingerprint": combined, **single}
