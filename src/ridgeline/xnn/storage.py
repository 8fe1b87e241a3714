"""A fitted network as one small JSON file, for any language that reads JSON.

The file holds no code: reading one cannot run anything. Numbers have as many digits as
it takes to read the same bits back.
"""

import hashlib
import json
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from ridgeline import __version__
from ridgeline.errors import InputError
from ridgeline.files import replace_file
from ridgeline.xnn.features import Features
from ridgeline.xnn.scorer import ACTIVATIONS, Scorer, Spread, Subnetworks

__all__ = ["load_model", "model_document", "read_document", "save_model"]

Floats = NDArray[np.float64]
_Kind = TypeVar("_Kind")
_FORMAT: Final = "ridgeline-xnn"
_VERSION: Final = 1
_CLASSES: Final = 2
_LABELS: Final = (str, int, float, bool)


def save_model(scorer: Scorer, path: str | Path) -> None:
    """Writes a fitted network to a file; a former file stays until all is written.

    Args:
        scorer: The fitted network.
        path: Of the file, in a folder that exists.

    Raises:
        InputError: If a label or category is not text, a number or a boolean, if
            weights are not finite or do not fit together, or if the folder is missing.
    """
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
        model = _model(scorer)
        _scorer(model)  # nothing is written that would not be read
    except ValueError as error:
        message = f"The model cannot be saved, as {error}; change that and fit again."
        raise InputError(message) from None
    header = {"format": _FORMAT, "version": _VERSION, "written_by": __version__}
    return header | {"sha256": _checksum(model), "model": model}


def load_model(path: str | Path) -> Scorer:
    """Reads a fitted network that `save_model` wrote.

    Args:
        path: Of the file.

    Raises:
        InputError: If the file is missing, damaged, of something else, or of a newer
            Ridgeline.
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
    if document.get("sha256") != _checksum(model):
        message = (
            f"{name} has changed since it was saved: its content does not give its "
            "checksum; restore the file from a copy, or save the model again."
        )
        raise InputError(message)
    try:
        return _scorer(model)
    except (TypeError, ValueError) as error:
        message = f"{name} holds no whole model, as {error}; save the model again."
        raise InputError(message) from None


def _document(path: Path, name: str) -> dict[str, Any]:
    """The JSON object in a file of this format."""
    try:
        document = json.loads(path.read_bytes().decode())
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


def _check_version(document: dict[str, Any], name: str) -> None:
    version = document.get("version")
    if type(version) is int and version == _VERSION:
        return
    newer = type(version) is int and version > _VERSION
    advice = "upgrade Ridgeline" if newer else "save the model again"
    message = (
        f"{name} has the format version {version!r}, written by Ridgeline "
        f"{document.get('written_by')}; this is Ridgeline {__version__}, which reads "
        f"version {_VERSION}: {advice}."
    )
    raise InputError(message)


def _checksum(model: Any) -> str:
    """Of the content, not the layout: spaces and the order of keys do not count."""
    canonical = json.dumps(model, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def _model(scorer: Scorer) -> dict[str, Any]:
    """The content of a network in the types of JSON."""
    features, networks, spread = scorer.features, scorer.subnetworks, scorer.spread
    # A list, because the order counts and that of a JSON object does not.
    categories = [
        {"name": str(name), "values": _labels(values, f"category of {name!r}")}
        for name, values in features.categories.items()
    ]
    classes = scorer.classes
    return {
        "features": {
            "names": [str(name) for name in features.names],
            "named": features.named,
            "categories": categories,
            "centre": features.centre.tolist(),
            "factor": features.factor.tolist(),
        },
        "classes": None if classes is None else _labels(classes, "class label"),
        "projection": scorer.projection.tolist(),
        "subnetworks": {
            # Lists of no subnetworks would not tell the units of their layers.
            "units": [kernel.shape[1] for kernel in networks.kernels],
            "activation": networks.activation,
            "kernels": [kernel.tolist() for kernel in networks.kernels],
            "biases": [bias.tolist() for bias in networks.biases],
        },
        "scales": scorer.scales.tolist(),
        "effects": [effects.tolist() for effects in scorer.effects],
        "category_scales": scorer.category_scales.tolist(),
        "intercept": float(scorer.intercept),
        "spread": {
            "bins": spread.heights.shape[1],
            "edges": spread.edges.tolist(),
            "heights": spread.heights.tolist(),
            "shares": [shares.tolist() for shares in spread.shares],
        },
    }


def _labels(values: Iterable[Any], what: str) -> list[Any]:
    """Labels in the types that JSON keeps apart, those of NumPy as Python's own."""
    labels = []
    for value in values:
        # By the kind, because the item of a date in nanoseconds is an integer.
        scalar = isinstance(value, np.generic) and value.dtype.kind in "biufU"
        label = value.item() if scalar else value
        # Not isinstance: a member of an enumeration would come back as another type.
        finite = type(label) is not float or math.isfinite(label)
        if type(label) not in _LABELS or not finite:
            message = (
                f"the {what} {value!r} is of the type {type(value).__name__} and not "
                "text, a finite number or a boolean"
            )
            raise ValueError(message)
        labels.append(label)
    return labels


def _scorer(model: Any) -> Scorer:
    """The network of a file's content; a ValueError says what does not fit."""
    features = _features(_part(model, "features", dict))
    p, k = len(features.centre), len(_part(model, "scales", list))
    counts = [(len(values),) for values in features.categories.values()]
    spread = _part(model, "spread", dict)
    bins = _part(spread, "bins", int)
    return Scorer(
        features=features,
        classes=_classes(model),
        projection=_array(model, "projection", (p, k)),
        subnetworks=_subnetworks(_part(model, "subnetworks", dict), k),
        scales=_array(model, "scales", (k,)),
        effects=_arrays(model, "effects", counts),
        category_scales=_array(model, "category_scales", (len(counts),)),
        intercept=float(_array(model, "intercept", ())),
        spread=Spread(
            _array(spread, "edges", (k, bins + 1)),
            _array(spread, "heights", (k, bins)),
            _arrays(spread, "shares", counts),
        ),
    )


def _classes(model: dict[str, Any]) -> tuple[Any, Any] | None:
    if model.get("classes") is None:
        return None
    labels = _labels(_part(model, "classes", list), "class label")
    _demand(len(labels) == _CLASSES, f"'classes' has {len(labels)} labels, not two")
    return labels[0], labels[1]


def _features(part: dict[str, Any]) -> Features:
    names, categories = tuple(_part(part, "names", list)), {}
    for column in _part(part, "categories", list):
        values = _labels(_part(column, "values", list), "category")
        categories[_part(column, "name", str)] = tuple(values)
    texts = all(isinstance(name, str) for name in names)
    _demand(texts and len(set(names)) == len(names), "'names' are not unique texts")
    ordered = [name for name in names if name in categories] == list(categories)
    _demand(ordered, "'categories' are not of columns in the order of 'names'")
    shape = (len(names) - len(categories),)
    centre, factor = _array(part, "centre", shape), _array(part, "factor", shape)
    return Features(names, categories, centre, factor, _part(part, "named", bool))


def _subnetworks(part: dict[str, Any], k: int) -> Subnetworks:
    units, activation = _part(part, "units", list), _part(part, "activation", str)
    known = list(ACTIVATIONS)
    _demand(activation in known, f"'activation' is {activation!r}, not one of {known}")
    _demand(units[-1:] == [1], f"'units' is {units}, which does not end in one value")
    layers = list(zip(units, [1, *units[:-1]], strict=True))
    kernels = _arrays(part, "kernels", [(k, out, into) for out, into in layers])
    biases = _arrays(part, "biases", [(k, out, 1) for out, _ in layers])
    return Subnetworks(kernels, biases, activation)


def _part(part: Any, key: str, kind: type[_Kind]) -> _Kind:
    value = part.get(key) if isinstance(part, dict) else None
    if type(value) is kind:
        return value
    message = f"{key!r} is missing or not of the type {kind.__name__}"
    raise ValueError(message)


def _arrays(
    part: dict[str, Any], key: str, shapes: Sequence[tuple[int, ...]]
) -> tuple[Floats, ...]:
    values = _part(part, key, list)
    fit = len(values) == len(shapes)
    _demand(fit, f"{key!r} has {len(values)} arrays where {len(shapes)} fit")
    pairs = zip(values, shapes, strict=True)
    return tuple(_array({key: value}, key, shape) for value, shape in pairs)


def _array(part: dict[str, Any], key: str, shape: tuple[int, ...]) -> Floats:
    """Nested lists as an array of the shape that fits the other parts."""
    try:
        array = np.array(part.get(key))
    except ValueError:  # rows of unequal lengths
        array = np.array(None)
    # Empty lists do not tell how many columns their rows would have had.
    if array.size == 0 and 0 in shape:
        return np.empty(shape)
    finite = array.dtype.kind in "iuf" and bool(np.isfinite(array).all())
    _demand(finite, f"{key!r} is not an array of finite numbers")
    fit = array.shape == shape
    _demand(fit, f"{key!r} has the shape {array.shape} where {shape} fits")
    return array.astype(np.float64)


def _demand(holds: bool, otherwise: str) -> None:
    if not holds:
        raise ValueError(otherwise)
