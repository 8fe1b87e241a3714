"""Whether the parts of a model that came from a file fit each other.

What compiled code would follow is checked number by number. All else is Python, which
fails in an orderly way: a prediction of a few made-up rows shows whether it does.
"""

from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ridgeline.baselines.archive import UnsoundError, is_array

__all__ = ["check_model"]

_KERNELS: Final = {"linear", "poly", "rbf", "sigmoid"}
_TWO: Final = 2  # classes
_MOST_JOBS: Final = 256
_LAST_STATE: Final = 624  # of the numbers that the Mersenne twister draws from
_TRIALS: Final = 16


def check_model(model: Any) -> None:
    """Refuses a model whose predictions would end the process or fail.

    Raises:
        UnsoundError: If parts do not fit each other.
        Exception: Any other that a prediction ends with.
    """
    for part in _parts(model, set()):
        _check_common(part)
        kind = type(part).__name__
        # A part that was not fitted, such as a copy that others were made of, has
        # nothing for compiled code to follow.
        fitted, check = _CHECKS.get(kind, ("", bool))
        if fitted and hasattr(part, fitted) and not check(part):
            message = f"holds a part ({kind}) that contradicts itself"
            raise UnsoundError(message)
    _try(model)


def _parts(thing: Any, seen: set[int]) -> Iterator[Any]:
    """The objects inside a model, and itself."""
    if id(thing) in seen or isinstance(thing, type):
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


def _check_common(part: Any) -> None:
    """What holds for every part: its own class, no crowd of threads, two classes."""
    own = getattr(part, "__dict__", {})
    for name in own:
        if hasattr(type(part), name):
            message = f"sets {name!r}, which is the class's own to say"
            raise UnsoundError(message)
    jobs, classes = own.get("n_jobs"), own.get("classes_")
    many = jobs is not None and not (type(jobs) is int and -1 <= jobs <= _MOST_JOBS)
    if many or (type(part).__name__ == "ColumnTransformer" and jobs is not None):
        message = f"asks for {jobs!r} processes"
        raise UnsoundError(message)
    if classes is not None and (
        not isinstance(classes, np.ndarray)
        or classes.shape != (_TWO,)
        or classes[0] == classes[1]
    ):
        message = "has other than two classes"
        raise UnsoundError(message)


def _is_forest(forest: Any) -> bool:
    kind = "Classifier" if hasattr(forest, "classes_") else "Regressor"
    trees = forest.estimators_
    return bool(trees) and all(
        type(tree).__name__ == f"DecisionTree{kind}"
        and tree.n_features_in_ == forest.n_features_in_
        for tree in trees
    )


def _is_tree(tree: Any) -> bool:
    """The tree itself was looked at before it was made."""
    compiled = tree.tree_
    counts = _TWO if hasattr(tree, "classes_") else 1
    return bool(
        type(compiled).__name__ == "Tree"
        and compiled.n_features == tree.n_features_in_
        and compiled.n_outputs == tree.n_outputs_ == 1
        and compiled.max_n_classes == counts
    )


def _are_support_vectors(machine: Any) -> bool:
    from ridgeline.private_names.sklearn import support_vector_state

    classifies = type(machine).__name__ == "SVC"
    vectors = machine.support_vectors_
    if not isinstance(vectors, np.ndarray) or vectors.ndim != _TWO:
        return False
    count = len(vectors)
    state = support_vector_state(machine)
    probabilities = 1 if state.has_probabilities else 0
    arrays = (
        (machine.support_, np.int32, (count,)),
        (vectors, np.float64, (count, machine.n_features_in_)),
        (state.n_support, np.int32, (_TWO,)),
        (machine.dual_coef_, np.float64, (1, count)),
        (state.dual_coef, np.float64, (1, count)),
        (machine.intercept_, np.float64, (1,)),
        (state.intercept, np.float64, (1,)),
        (state.prob_a, np.float64, (probabilities,)),
        (state.prob_b, np.float64, (probabilities,)),
    )
    counts = np.asarray(state.n_support)
    adds_up = counts.min() >= 0 and counts.astype(np.int64).sum() == count
    return bool(
        all(is_array(*expected) for expected in arrays)
        and (adds_up or not classifies)
        and state.is_sparse is False
        and state.is_own_kind
        and isinstance(machine.kernel, str)
        and machine.kernel in _KERNELS
    )


def _is_encoder(encoder: Any) -> bool:
    """Whether every category has the column that the encoder counts for it."""
    from ridgeline.private_names.sklearn import encoder_state

    categories, state = encoder.categories_, encoder_state(encoder)
    return bool(
        len(categories) == encoder.n_features_in_
        and state.n_columns == [len(each) for each in categories]
        and encoder.dtype is np.float64
        and encoder.drop is None
        and encoder.drop_idx_ is None
        and state.dropped is None
        and state.groups_infrequent is False
        and encoder.handle_unknown in {"error", "ignore"}
        and all(map(_are_in_order, categories))
    )


def _are_in_order(values: Any) -> bool:
    """Distinct and sorted, as the search among them needs."""
    if not isinstance(values, np.ndarray) or values.ndim != 1 or not len(values):
        return False
    listed = values.tolist()
    kinds = {type(value) for value in listed}
    return kinds in ({str}, {int}, {float}, {bool}) and listed == sorted(set(listed))


def _is_random_state(state: Any) -> bool:
    return bool(0 <= state.get_state(legacy=False)["state"]["pos"] <= _LAST_STATE)


def _is_boosted(model: Any) -> bool:
    return type(model.n_features_in_) is int and bool(model.has_sound_trees())


# By name, as the classes are imported where a file needs them: what a part has once it
# is fitted, and whether it is sound.
_CHECKS: Final[dict[str, tuple[str, Callable[[Any], bool]]]] = {
    "RandomForestClassifier": ("estimators_", _is_forest),
    "RandomForestRegressor": ("estimators_", _is_forest),
    "DecisionTreeClassifier": ("tree_", _is_tree),
    "DecisionTreeRegressor": ("tree_", _is_tree),
    "SVC": ("support_vectors_", _are_support_vectors),
    "SVR": ("support_vectors_", _are_support_vectors),
    "OneHotEncoder": ("categories_", _is_encoder),
    "RandomState": ("get_state", _is_random_state),
    "LightGBMClassifier": ("leaf_counts_", _is_boosted),
    "LightGBMRegressor": ("leaf_counts_", _is_boosted),
}


def _try(model: Any) -> None:
    """Predicts a few rows."""
    rows = _made_up_rows(model)
    with np.errstate(over="raise", invalid="raise"):
        found = np.asarray(model.predict(rows))
        sound = found.shape == (_TRIALS,)
        if hasattr(model, "classes_"):
            chances = np.asarray(model.predict_proba(rows))
            sound &= bool(np.isin(found, model.classes_).all())
            sound &= chances.shape == (_TRIALS, _TWO)
            sound = sound and np.allclose(chances.sum(axis=1), 1)
            sound &= bool((chances >= 0).all())
        else:
            sound = sound and bool(np.isfinite(found).all())
    if not sound:
        message = "makes predictions that are none"
        raise UnsoundError(message)


def _made_up_rows(model: Any) -> Any:
    """Rows of the columns that a model asks for, within what it has seen of them."""
    rng = np.random.default_rng(0)
    names = getattr(model, "feature_names_in_", None)
    width = len(names) if names is not None else model.n_features_in_
    values = rng.uniform(-1, 1, size=(_TRIALS, width))
    if names is None:
        return values
    import pandas as pd

    rows = pd.DataFrame(values, columns=names)
    for part in _parts(model, set()):
        if type(part).__name__ == "ColumnTransformer":
            for _, transformer, columns in part.transformers_:
                _fill(rows, transformer, columns, rng)
    return rows


def _fill(rows: Any, transformer: Any, columns: Any, rng: np.random.Generator) -> None:
    # What fills gaps stands before what scales or encodes.
    transformer = getattr(transformer, "steps", [("", transformer)])[-1][1]
    for place, name in enumerate(columns if isinstance(columns, list) else []):
        if hasattr(transformer, "categories_"):
            known: NDArray[Any] = transformer.categories_[place]
            rows[name] = known[rng.integers(len(known), size=len(rows))]
        elif hasattr(transformer, "data_min_"):
            low, high = transformer.data_min_[place], transformer.data_max_[place]
            rows[name] = rng.uniform(low, high, size=len(rows))
