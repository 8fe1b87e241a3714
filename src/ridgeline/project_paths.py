"""Paths mean the same wherever a person stands when the run starts.

Those of the configuration are relative to the project, as in every Kedro project; Kedro
itself sees to `filepath` and `path` of the catalog alone. Those that are typed on the
command line are relative to where they are typed.
"""

from collections.abc import Mapping
from copy import deepcopy
from glob import glob
from pathlib import Path
from typing import Any, Final

from kedro.config import MissingConfigException
from kedro.framework.context import KedroContext
from kedro.framework.hooks import hook_impl

__all__ = ["ProjectPathsHook"]

# Parameters that are paths, by their groups.
_PARAMETERS: Final = (("xnn", "training", "checkpoint"), ("study", "results"))
# Parameters of the command line that the catalog reads as paths, by its entries.
_FILES: Final = {
    "accepted_raw": "accepted",
    "rejected_raw": "rejected",
    "table_raw": "table",
}
_SPILL: Final = ("connection", "temp_directory")


class ProjectPathsHook:
    """Makes the paths of the configuration absolute in runs from another folder."""

    @hook_impl
    def after_context_created(self, context: KedroContext) -> None:
        """Set the parameters and the catalog with absolute paths."""
        here, project = Path.cwd(), context.project_path
        if here == project:
            return
        loader = context.config_loader
        typed = loader.runtime_params or {}
        try:
            parameters = deepcopy(loader["parameters"])
            catalog = deepcopy(loader["catalog"])
        except (KeyError, MissingConfigException):
            return  # Kedro says so
        for keys in _PARAMETERS:
            base = project if _of(typed, keys) is None else here
            _make_absolute(parameters, keys, base)
        for entry in catalog.values():
            _make_absolute(entry, _SPILL, project)
        for name, parameter in _FILES.items():
            pattern = _of(catalog, (name, "filepath"))
            # What is not here may be meant as in the configuration: Kedro sees to it.
            if pattern and pattern == typed.get(parameter) and glob(pattern):  # noqa: PTH207
                _make_absolute(catalog, (name, "filepath"), here)
        loader["parameters"], loader["catalog"] = parameters, catalog


def _of(values: Any, keys: tuple[str, ...]) -> Any:
    for key in keys:
        values = values.get(key) if isinstance(values, Mapping) else None
    return values


def _make_absolute(values: Any, keys: tuple[str, ...], base: Path) -> None:
    """Put a folder before a relative path, where there is one; absolute ones stay."""
    path = _of(values, keys)
    if isinstance(path, str):
        *groups, last = keys
        _of(values, tuple(groups))[last] = str(base / path)
