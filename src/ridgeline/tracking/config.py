"""The keys of mlflow.yml, checked, and its relative addresses made absolute."""

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import Field

from ridgeline.parameters import Parameters, checked
from ridgeline.provenance import from_here

__all__ = ["TrackingConfig", "read_config"]

_SQLITE = "sqlite:///"
_MEMORY = ":memory:"
# Without the variable MLflow reports the use of its pages to its makers.
_PAGES = "DO_NOT_TRACK=true mlflow ui --backend-store-uri"


class TrackingConfig(Parameters):
    """What mlflow.yml may say; conf/base/mlflow.yml explains every key."""

    enabled: bool = True
    strict: bool = False
    tracking_uri: str = Field("sqlite:///mlflow.db", min_length=1)
    artifact_location: str | None = None
    experiment: str = Field("ridgeline", min_length=1)
    register_models: bool = True
    log_examples: bool = False
    preview_rows: int = Field(20, ge=0)
    full_table_rows: int = Field(1000, ge=0)

    def database(self, project_path: Path) -> Path | None:
        """Path of the SQLite file; None for a server or another database."""
        if not self.tracking_uri.startswith(_SQLITE):
            return None
        name = self.tracking_uri.removeprefix(_SQLITE)
        return None if name in ("", _MEMORY) else project_path / name

    def store_uri(self, project_path: Path) -> str:
        """The tracking address, with a relative SQLite path put in the project."""
        database = self.database(project_path)
        return self.tracking_uri if database is None else f"{_SQLITE}{database}"

    def artifact_root(self, project_path: Path) -> str | None:
        """Where a new experiment keeps its files; None leaves it to the server."""
        if self.artifact_location is not None:
            if "://" in self.artifact_location:
                return self.artifact_location
            return (project_path / self.artifact_location).as_uri()
        if self.tracking_uri.startswith(_SQLITE):
            # MLflow's own default is relative to wherever the command was typed.
            return (project_path / "mlartifacts").as_uri()
        return None

    def how_to_look(self, project_path: Path) -> str:
        """One phrase on opening the MLflow pages from here; never shows a password."""
        if self.tracking_uri.startswith(("http://", "https://")):
            scheme, _, rest = self.tracking_uri.partition("://")
            return f"open {scheme}://{rest.rpartition('@')[2]}"
        database = self.database(project_path)
        if database is None:
            return f"{_PAGES} <tracking_uri of mlflow.yml>"
        return f"{_PAGES} {shlex.quote(_SQLITE + from_here(database))}"


def read_config(values: Mapping[str, Any]) -> TrackingConfig:
    """Check the content of mlflow.yml.

    Args:
        values: The merged mlflow.yml of the run's environments.

    Returns:
        The configuration.

    Raises:
        InputError: If a key is unknown or a value is not allowed.
    """
    return checked(TrackingConfig, dict(values), "mlflow.yml")
