"""A fitted scikit-learn model as one file without pickle, in the format of skops.

Reading a file builds objects of the types that skops trusts (scikit-learn's public
estimators, NumPy's arrays) and of those listed here, whatever else the file names.
"""

import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np

from ridgeline.errors import InputError
from ridgeline.files import replace_file

__all__ = ["TRUSTED_TYPES", "load_model", "save_model"]

# In the place of a model that was not fitted, it says why.
_NOT_APPLICABLE: Final = "ridgeline.baselines.fitting.NotApplicable"
# What the models of `ridgeline.baselines.registry` hold beyond skops' own list. Trees
# are on it because their indices, which scikit-learn follows blindly, are checked here.
TRUSTED_TYPES: Final = (
    "ridgeline.baselines.boosting.LightGBMClassifier",
    "ridgeline.baselines.boosting.LightGBMRegressor",
    "ridgeline.baselines.elm.ELMClassifier",
    "ridgeline.baselines.elm.ELMRegressor",
    _NOT_APPLICABLE,
    "sklearn.calibration._CalibratedClassifier",
    "sklearn.calibration._SigmoidCalibration",
    "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
    "sklearn.neural_network._stochastic_optimizers.SGDOptimizer",
    "sklearn.tree._tree.Tree",
)


def save_model(model: Any, path: str | Path) -> None:
    """Writes a fitted model to a file; a former file stays until all is written.

    Args:
        model: A scikit-learn estimator of types that `load_model` reads.
        path: Of the file, in a folder that exists.

    Raises:
        InputError: If the model has a type that is not on the list, or the folder is
            missing.
    """
    import skops.io

    # Written through a link, as by any other program, not over it.
    target = Path(path).resolve()
    if not target.parent.is_dir():
        message = f"The folder {str(target.parent)!r} does not exist; create it first."
        raise InputError(message)
    content = skops.io.dumps(model, compression=zipfile.ZIP_DEFLATED)
    foreign = set(skops.io.get_untrusted_types(data=content)) - set(TRUSTED_TYPES)
    if foreign:
        message = (
            f"The model cannot be saved, as it holds the type {min(foreign)!r}, which "
            "is not on the list of types that are read back: add it to "
            "ridgeline.baselines.storage.TRUSTED_TYPES if it may be trusted."
        )
        raise InputError(message)
    replace_file(target, content)


def load_model(path: str | Path) -> Any:
    """Reads a fitted model that `save_model` wrote.

    Args:
        path: Of the file.

    Returns:
        The scikit-learn estimator, or a `NotApplicable` that was saved in its place.

    Raises:
        InputError: If the file is missing, damaged, of something else, or names a type
            that is not on the list.
    """
    name = f"The model file {str(path)!r}"
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        what = (
            "does not exist" if isinstance(error, FileNotFoundError) else "is no file"
        )
        message = f"{name} {what}; pass the path of a file that save_model wrote."
        raise InputError(message) from None
    model = _model(content, name)
    kind = f"{type(model).__module__}.{type(model).__qualname__}"
    if not hasattr(model, "predict") and kind != _NOT_APPLICABLE:
        message = (
            f"{name} holds an object of the type {type(model).__name__}, which does "
            "not predict; pass the path of a file that save_model wrote."
        )
        raise InputError(message)
    if not all(map(_is_sound, _parts(model, set()))):
        message = (
            f"{name} holds a tree whose branches lead outside of it; restore the file "
            "from a copy, or save the model again."
        )
        raise InputError(message)
    return model


def _model(content: bytes, name: str) -> Any:
    """The object of a file's content, if it is of trusted types alone."""
    import skops.io
    from skops.io.exceptions import UntrustedTypesFoundException

    try:
        return skops.io.loads(content, trusted=list(TRUSTED_TYPES))
    except UntrustedTypesFoundException:
        found = set(skops.io.get_untrusted_types(data=content)) - set(TRUSTED_TYPES)
        message = (
            f"{name} names the type {min(found)!r}, which Ridgeline does not trust; "
            "read only files that save_model wrote."
        )
        raise InputError(message) from None
    except Exception as error:  # a damaged file may fail anywhere inside
        message = (
            f"{name} is not of this format, or was damaged "
            f"({type(error).__name__}); restore it from a copy, or save the model "
            "again."
        )
        raise InputError(message) from error


def _parts(thing: Any, seen: set[int]) -> Iterator[Any]:
    """The estimators inside an estimator, and itself."""
    if id(thing) in seen:
        return
    seen.add(id(thing))
    if isinstance(thing, dict):
        inside = list(thing.values())
    elif isinstance(thing, list | tuple):
        inside = list(thing)
    elif isinstance(thing, np.ndarray):
        inside = thing.ravel().tolist() if thing.dtype == object else []
    else:
        yield thing
        inside = list(getattr(thing, "__dict__", {}).values())
    for part in inside:
        yield from _parts(part, seen)


def _is_sound(part: Any) -> bool:
    """Whether a tree's branches lead on within it, and a forest's trees fit it."""
    width = getattr(part, "n_features_in_", None)
    members = getattr(part, "estimators_", ())
    if any(getattr(one, "n_features_in_", None) != width for one in members):
        return False
    tree = getattr(part, "tree_", None)
    if tree is None:
        return True
    here = np.arange(tree.node_count)
    left, right = tree.children_left, tree.children_right
    # scikit-learn numbers children after their parent, so that every way down ends.
    within = (left > here) & (right > here) & (np.maximum(left, right) < len(here))
    known = (tree.feature >= 0) & (tree.feature < tree.n_features)
    leaf = (left == -1) & (right == -1)
    return bool(
        len(here) > 0 and tree.n_features == width and (leaf | (within & known)).all()
    )
