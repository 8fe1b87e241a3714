"""A fitted network as one small JSON file, for any language that reads JSON.

The file holds no code: reading one cannot run anything. Numbers have as many digits as
it takes to read the same bits back.
"""

import hashlib
import json
from pathlib import Path
from typing import Any, Final

from ridgeline import __version__
from ridgeline.errors import InputError
from ridgeline.files import replace_file
from ridgeline.xnn.content import model_content, read_content
from ridgeline.xnn.format_1 import upgraded
from ridgeline.xnn.scorer import HasScorer, Scorer, scorer_of

__all__ = ["load_model", "model_document", "read_document", "save_model"]

_FORMAT: Final = "ridgeline-xnn"
_VERSION: Final = 2


def save_model(model: Scorer | HasScorer, path: str | Path) -> None:
    """Write a fitted network to one JSON file; a former file stays until all is there.

    Parameters
    ----------
    model : Scorer, XNNClassifier or XNNRegressor
        A fitted estimator, or its network. An estimator's parameters and training
        history do not go along.
    path : str or path
        The file, in a folder that exists.
    """
    scorer = scorer_of(model)
    # Written through a link, as by any other program, not over it.
    target = Path(path).resolve()
    if target.is_dir() or not target.parent.is_dir():
        what = "is a folder" if target.is_dir() else "is in a missing folder"
        message = f"The path {str(path)!r} {what}; name a file in an existing folder."
        raise InputError(message)
    document = model_document(scorer)
    replace_file(target, json.dumps(document, allow_nan=False).encode() + b"\n")


def model_document(scorer: Scorer) -> dict[str, Any]:
    """A fitted network in the types of JSON, as `save_model` writes it.

    Args:
        scorer: The fitted network.

    Raises:
        InputError: As for `save_model`.
    """
    try:
        model = model_content(scorer)
        read_content(model)  # nothing is written that would not be read
    except ValueError as error:
        message = f"The model cannot be saved, as {error}; change that and fit again."
        raise InputError(message) from None
    header = {"format": _FORMAT, "version": _VERSION, "written_by": __version__}
    return header | {"sha256": _checksum(model), "model": model}


def load_model(path: str | Path) -> Scorer:
    """Read a fitted network from a file that `save_model` wrote.

    Nothing in the file is run, and neither TensorFlow nor scikit-learn is needed.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    Scorer
        The network, which predicts and explains.
    """
    name = f"The model file {str(path)!r}"
    return read_document(_document(Path(path), name), name)


def read_document(document: dict[str, Any], name: str = "The model") -> Scorer:
    """Reads a fitted network from what `model_document` gave.

    Args:
        document: In the types of JSON.
        name: What messages call it.

    Raises:
        InputError: If it is damaged or of a newer Ridgeline.
    """
    _check_version(document, name)
    model = document.get("model")
    try:
        whole = document.get("sha256") == _checksum(model)
        if whole and document["version"] == 1:
            model = upgraded(model)
        scorer = read_content(model) if whole else None
    except (TypeError, ValueError, RecursionError) as error:
        message = f"{name} holds no whole model, as {error}; save the model again."
        raise InputError(message) from None
    if scorer is None:
        message = (
            f"{name} has changed since it was saved: its content does not give its "
            "checksum; restore the file from a copy, or save the model again."
        )
        raise InputError(message)
    return scorer


def _document(path: Path, name: str) -> dict[str, Any]:
    """The JSON object in a file of this format."""
    try:
        text = path.read_bytes().decode()
        document = json.loads(text, object_pairs_hook=_without_repeats)
    except FileNotFoundError:
        what = "does not exist"
    except OSError as error:
        what = "is a folder" if path.is_dir() else f"cannot be read ({error.strerror})"
    except UnicodeDecodeError:
        what = "is binary, not JSON text"
    except (ValueError, RecursionError) as error:
        what = f"is not JSON, or was cut off ({error})"
    else:
        if isinstance(document, dict) and document.get("format") == _FORMAT:
            return document
        what = f"is JSON of something else, without the format {_FORMAT!r}"
    message = f"{name} {what}; pass the path of a whole file that save_model wrote."
    raise InputError(message)


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object, in which a later key would silently replace an equal one."""
    keys = [key for key, _ in pairs]
    if len(set(keys)) < len(keys):
        twice = next(key for key in keys if keys.count(key) > 1)
        message = f"the key {twice!r} is there twice"
        raise ValueError(message)
    return dict(pairs)


def _check_version(document: dict[str, Any], name: str) -> None:
    version = document.get("version")
    if type(version) is int and 1 <= version <= _VERSION:
        return
    newer = type(version) is int and version > _VERSION
    advice = "upgrade Ridgeline" if newer else "save the model again"
    message = (
        f"{name} has the format version {version!r}, written by Ridgeline "
        f"{document.get('written_by')}; this is Ridgeline {__version__}, which reads "
        f"versions 1 to {_VERSION}: {advice}."
    )
    raise InputError(message)


def _checksum(model: Any) -> str:
    """Of the content, not the layout: spaces and the order of keys do not count."""
    canonical = json.dumps(model, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()
