"""Which model is meant: a file, a folder, or a registered model of MLflow."""

import json
import logging
from pathlib import Path
from typing import Any, Final

from ridgeline.errors import InputError, MissingPackageError
from ridgeline.xnn.scorer import Scorer
from ridgeline.xnn.storage import load_model

__all__ = ["find_model", "open_model"]

_REGISTERED: Final = "models:/"
_USUAL: Final = "model.json"
_HEAD: Final = 200  # bytes that tell whether a file is a model


def open_model(name: str) -> Scorer:
    """Reads a model.

    Args:
        name: A file, a folder that holds one model file, or models:/name@alias.

    Raises:
        InputError: If there is no such model, or it is damaged.
    """
    return load_model(find_model(name))


def find_model(name: str) -> Path:
    """The file of a model.

    Raises:
        InputError: If there is none, or a folder has several.
    """
    path = _downloaded(name) if name.startswith(_REGISTERED) else Path(name)
    if not path.is_dir():
        return path
    if (path / _USUAL).is_file():
        return path / _USUAL
    found = [file for file in sorted(path.rglob("*.json")) if _is_model(file)]
    if len(found) == 1:
        return found[0]
    what = f"{len(found)} model files" if found else "no model file"
    message = f"The folder {name!r} holds {what}; pass the path of one file."
    raise InputError(message)


def _is_model(file: Path) -> bool:
    try:
        with file.open("rb") as opened:
            return b'"ridgeline-xnn"' in opened.read(_HEAD)
    except OSError:
        return False


def _downloaded(name: str) -> Path:
    """The folder of a registered model."""
    try:
        import mlflow
        from mlflow.artifacts import download_artifacts
        from mlflow.exceptions import MlflowException
    except ImportError:
        message = (
            f"The model {name!r} is in MLflow, which is not installed; pip install "
            "'ridgeline[pipeline]', or pass the path of a model file."
        )
        raise MissingPackageError(message) from None
    # It tells of the tables of its database, where one line is to tell all.
    logging.getLogger("mlflow").setLevel(logging.ERROR)
    logging.getLogger("alembic").setLevel(logging.ERROR)
    try:
        return Path(download_artifacts(artifact_uri=name))
    except (MlflowException, OSError, json.JSONDecodeError) as error:
        first: Any = str(error).strip().splitlines() or [type(error).__name__]
        message = (
            f"MLflow has no model {name!r} at {mlflow.get_tracking_uri()!r} "
            f"({first[0]:.200}); check the name, the alias and MLFLOW_TRACKING_URI."
        )
        raise InputError(message) from None
