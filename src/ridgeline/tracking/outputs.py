"""What a catalog entry says about its output in MLflow, under `metadata: mlflow:`."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from pydantic import Field, model_validator

from ridgeline.parameters import Parameters, checked

if TYPE_CHECKING:
    from kedro.io import CatalogProtocol

__all__ = ["OutputRecord", "read_outputs"]

logger = logging.getLogger(__name__)

with warnings.catch_warnings():
    # Pydantic takes a method of Python's ABCMeta for an attribute of the parent class.
    warnings.filterwarnings("ignore", 'Field name "register"', UserWarning)

    class OutputRecord(Parameters):
        """Where and as what an output is recorded.

        Args:
            run: Name of the child run that it belongs to; None is the run itself.
            model: Whether the saved file is a model.
            example: Dataset with a few rows of features, for the model's signature.
            register: Name in the model registry for a new version of this model.
            steps: Column of a table whose other numeric columns are metrics by step.
            private: Whether it shows single rows of the data, which go to MLflow with
                `log_examples` alone; or those columns of a table that do.
        """

        run: str | None = Field(default=None, min_length=1)
        model: bool = False
        example: str | None = Field(default=None, min_length=1)
        register: str | None = Field(default=None, min_length=1)
        steps: str | None = Field(default=None, min_length=1)
        private: bool | list[str] = False

        @model_validator(mode="after")
        def _is_consistent(self) -> OutputRecord:
            if self.model and self.example is None:
                message = "a model needs 'example', a dataset with rows of features"
                raise ValueError(message)
            if not self.model and (self.example or self.register):
                message = "'example' and 'register' are for models; add 'model: true'"
                raise ValueError(message)
            return self


def read_outputs(
    catalog: CatalogProtocol[Any, Any], names: Iterable[str]
) -> dict[str, OutputRecord]:
    """Check what the catalog says about the outputs of a run.

    Args:
        catalog: The run's catalog.
        names: The outputs' dataset names.

    Returns:
        The record of each output whose entry has one.

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
        values = _metadata(dataset).get("mlflow")
        if values is not None:
            where = f"catalog entry '{name}', metadata.mlflow"
            records[name] = checked(OutputRecord, values, where)
    return records


def _metadata(dataset: Any) -> dict[str, Any]:
    inner = getattr(dataset, "_dataset", None)  # kedro.io.CachedDataset
    return getattr(dataset, "metadata", None) or getattr(inner, "metadata", None) or {}
