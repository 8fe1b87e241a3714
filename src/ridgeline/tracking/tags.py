"""What identifies a run: code, data, versions, parameters, as flat text."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import logging
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from ridgeline.provenance import git_state, package_versions

if TYPE_CHECKING:
    from kedro.io import CatalogProtocol

__all__ = [
    "fingerprint_tags",
    "flatten",
    "git_tags",
    "parameter_texts",
    "run_parameters",
    "runner_name",
    "valid_name",
    "version_tags",
]

logger = logging.getLogger(__name__)


def git_tags(project_path: Path) -> dict[str, str]:
    """Commit and cleanliness of the project; empty outside a git repository."""
    state = git_state(project_path)
    if state is None:
        return {}
    return {
        "git_commit": state.commit,
        "git_dirty": str(state.dirty).lower(),
        # MLflow's pages show this one as the version of the source.
        "mlflow.source.git.commit": state.commit,
    }


def version_tags() -> dict[str, str]:
    """Versions of Python and of the packages that shape the results."""
    return {f"version.{name}": number for name, number in package_versions().items()}


def runner_name(runner: str) -> str:
    """Class name of the runner from Kedro's `run_params["runner"]`."""
    found = re.search(r"(\w+) object at", runner)
    if found:
        return found[1]
    return "SequentialRunner" if runner == "None" else runner


def fingerprint_tags(
    catalog: CatalogProtocol[Any, Any], names: Iterable[str]
) -> dict[str, str]:
    """Fingerprints of the run's input data.

    Args:
        catalog: The run's catalog.
        names: Free inputs of the pipeline; those without a `fingerprint()` method
            are left out.

    Returns:
        One tag for each dataset and one for all of them together.
    """
    prints: dict[str, str] = {}
    for name in sorted(names):
        try:
            fingerprint = getattr(catalog.get(name), "fingerprint", None)
            if fingerprint is not None:
                prints[name] = str(fingerprint())
        except Exception as error:
            # A missing file is reported by the node that loads it, and better.
            logger.debug("No fingerprint of '%s': %s", name, error)
    if not prints:
        return {}
    combined = hashlib.sha256(json.dumps(prints, sort_keys=True).encode()).hexdigest()
    single = {f"data_fingerprint.{name}": value for name, value in prints.items()}
    return {"data_fingerprint": combined, **single}


def run_parameters(
    catalog: CatalogProtocol[Any, Any], names: Iterable[str]
) -> dict[str, str]:
    """Parameters that the pipeline uses, flattened with dots.

    Args:
        catalog: The run's catalog.
        names: Free inputs of the pipeline, parameters or not.

    Returns:
        Name to text, for instance `cleaning.max_amount` to `40000`.
    """
    found: dict[str, str] = {}
    for name in sorted(names):
        if name != "parameters" and not name.startswith("params:"):
            continue
        dataset = catalog.get(name)
        if dataset is not None:
            prefix = "" if name == "parameters" else name.removeprefix("params:")
            found |= parameter_texts(dataset.load(), prefix)
    return found


def parameter_texts(value: Any, prefix: str = "") -> dict[str, str]:
    """A value, or nested values, as flat parameters for MLflow."""
    leaves = flatten(value, prefix)
    return {valid_name(name): _text(leaf) for name, leaf in leaves.items()}


def flatten(value: Any, prefix: str = "") -> dict[str, Any]:
    """Turn nested mappings, Pydantic models and dataclasses into dotted names."""
    value = _plain(value)
    if not isinstance(value, Mapping) or (not value and prefix):
        return {prefix or "value": value}
    leaves: dict[str, Any] = {}
    for key, item in value.items():
        leaves |= flatten(item, f"{prefix}.{key}" if prefix else str(key))
    return leaves


def valid_name(name: str) -> str:
    """A name that MLflow accepts for a metric or a parameter."""
    return re.sub(r"[^\w\-./ ]", "_", name, flags=re.ASCII)


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    return value


def _text(value: Any) -> str:
    if isinstance(value, list | dict):
        return json.dumps(value, default=str)
    return str(value)
