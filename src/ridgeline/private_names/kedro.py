"""Kedro: where a dataset has its file, and what a session and a runner were told."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kedro.io import AbstractVersionedDataset, CachedDataset
from kedro_datasets._typing import JSONPreview, TablePreview

if TYPE_CHECKING:
    from kedro.framework.session import KedroSession
    from kedro.runner import AbstractRunner

__all__ = [
    "JSONPreview",
    "TablePreview",
    "conf_source",
    "connection_config",
    "connection_config_replaced",
    "is_async",
    "is_local",
    "load_path",
    "local_file",
    "metadata_of",
    "save_path",
]


def local_file(dataset: Any) -> Path | None:
    """Return the single local file behind a dataset; None if it has none, or none yet.

    Raises:
        AttributeError: If the dataset takes the path of a file, and has it no more
            under the name that Kedro's datasets give it.
    """
    dataset = _unwrapped(dataset)
    if isinstance(dataset, AbstractVersionedDataset):
        path = load_path(dataset) if is_local(dataset) else None
    elif dataset is not None and "filepath" in signature(type(dataset)).parameters:
        path = Path(dataset._filepath)
    else:
        path = None
    return path if path is not None and path.is_file() else None


def is_local(dataset: Any) -> bool:
    """Return whether a dataset with a file has it on this machine.

    Raises:
        AttributeError: If it does not say so as Kedro's datasets do.
    """
    if hasattr(dataset, "_fs_prefix"):  # those that an engine reads and writes
        return not dataset._fs_prefix
    return bool(dataset._protocol == "file")


def load_path(dataset: Any) -> Path:
    """Return the path that a dataset reads: of its version, where it has versions."""
    return Path(dataset._get_load_path())


def save_path(dataset: Any) -> Path:
    """Return the path that a dataset writes: of its version, where it has versions."""
    return Path(dataset._get_save_path())


def metadata_of(dataset: Any) -> Mapping[str, Any]:
    """Return what the catalog notes about a dataset, also about one that is cached."""
    own = getattr(dataset, "metadata", None)
    return own or getattr(_unwrapped(dataset), "metadata", None) or {}


def connection_config(dataset: Any) -> dict[str, Any]:
    """Return the backend, and its arguments, of one of Kedro's datasets for Ibis."""
    config: dict[str, Any] = dataset._connection_config
    return config


@contextmanager
def connection_config_replaced(dataset: Any, config: dict[str, Any]) -> Iterator[None]:
    """Let a dataset for Ibis connect by other arguments, for the time of a block."""
    former = dataset._connection_config
    dataset._connection_config = config
    try:
        yield
    finally:
        dataset._connection_config = former


def conf_source(session: KedroSession) -> str:
    """Return the folder of the configuration that a session reads."""
    return str(session._conf_source)


def is_async(runner: AbstractRunner) -> bool:
    """Return whether a runner loads and saves in other threads."""
    return bool(runner._is_async)


def _unwrapped(dataset: Any) -> Any:
    return dataset._dataset if isinstance(dataset, CachedDataset) else dataset
