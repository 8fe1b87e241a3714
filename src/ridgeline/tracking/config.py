"""What mlflow.yml and the catalog's `metadata: mlflow:` may say, checked."""

from __future__ import annotations

import logging
import shlex
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, model_validator

from ridgeline.parameters import Parameters, checked
from ridgeline.private_names.kedro import metadata_of
from ridgeline.provenance import from_here

if TYPE_CHECKING:
    from kedro.io import CatalogProtocol

__all__ = ["OutputRecord", "TrackingConfig", "read_config", "read_outputs"]

_SQLITE = "sqlite:///"
# Without the variable MLflow reports the use of its pages to its makers.
_PAGES = "DO_NOT_TRACK=true mlflow ui --backend-store-uri"
_Name = Annotated[str, Field(min_length=1)] | None

logger = logging.getLogger(__name__)


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
        return None if name in ("", ":memory:") else project_path / name

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


with warnings.catch_warnings():
    # Pydantic takes a method of Python's ABCMeta for an attribute of the parent class.
    warnings.filterwarnings("ignore", 'Field name "register"', UserWarning)

    class OutputRecord(Parameters):
        """Where and as what an output is recorded."""

        # The child run that it belongs to; None is the run itself.
        run: _Name = None
        model: bool = False  # the saved file is one
        example: _Name = None  # dataset with rows of features, for a model's signature
        register: _Name = None  # in the model registry, for a new version of a model
        judge: _Name = None  # dataset of test rows, by which the champion is found
        steps: _Name = None  # column of a table whose other numbers are metrics by step
        # Whether it shows single rows of the data, which go to MLflow with
        # `log_examples` alone; or those columns of a table that do.
        private: bool | list[str] = False

        @model_validator(mode="after")
        def _is_consistent(self) -> OutputRecord:
            if self.model and self.example is None:
                message = "a model needs 'example', a dataset with rows of features"
                raise ValueError(message)
            if not self.model and (self.example or self.register):
                message = "'example' and 'register' are for models; add 'model: true'"
                raise ValueError(message)
            if self.judge and not self.register:
                message = "'judge' is for registered models; add 'register'"
                raise ValueError(message)
            return self


def read_config(values: Mapping[str, Any]) -> TrackingConfig:
    """Check the merged mlflow.yml of the run's environments.

    Raises:
        InputError: If a key is unknown or a value is not allowed.
    """
    return checked(TrackingConfig, dict(values), "mlflow.yml")


def read_outputs(
    catalog: CatalogProtocol[Any, Any], names: Iterable[str]
) -> dict[str, OutputRecord]:
    """Check what the catalog says about the outputs of a run, where it says something.

    Raises:
        InputError: If a key is unknown or a value is not allowed.
    """
    records = {}
    for name in sorted(names):
        try:
            dataset = catalog.get(name)
        except Exception as error:
            # The runner stumbles over the same entry, and says what is wrong with it.
            logger.debug("No metadata of '%s': %s", name, error)
            continue
        values = metadata_of(dataset).get("mlflow")
        if values is not None:
            where = f"catalog entry '{name}', metadata.mlflow"
            records[name] = checked(OutputRecord, values, where)
    return records
