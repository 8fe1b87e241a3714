"""From tables as people pass them to the rows of a fit: checks, split, encoding.

The estimator is asked for its parameters and whether it classifies, and is told the
names of the columns, as scikit-learn's own `validate_data` does. Nothing is trained.
"""

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import is_classifier
from sklearn.model_selection import train_test_split
from sklearn.utils import column_or_1d
from sklearn.utils.validation import check_consistent_length, validate_data

from ridgeline.errors import InputError
from ridgeline.private_names.sklearn import check_sample_weight, safe_indexing
from ridgeline.xnn.architecture import Rows
from ridgeline.xnn.column_kinds import column, warn_of_codes
from ridgeline.xnn.columns import AVERAGE, REFUSED, Unseen, category_codes
from ridgeline.xnn.extremes import warn_of_extremes
from ridgeline.xnn.features import Features, is_frame, numeric_values
from ridgeline.xnn.response import (
    Response,
    class_targets,
    learn_classes,
    numeric_targets,
)
from ridgeline.xnn.scorer import BeyondRangeWarning, Scorer
from ridgeline.xnn.special_values import (
    asked_specials,
    point_masses,
    warn_of_absent,
)

if TYPE_CHECKING:
    from ridgeline.xnn.estimator import BaseXNN

__all__ = [
    "Prepared",
    "RowLosses",
    "checked_table",
    "encode_rows",
    "prepare",
    "row_losses",
    "unseen_of",
    "validation_losses",
    "validation_parts",
]

Floats = NDArray[np.float64]
ValidationData = tuple[Any, ...] | None
_LARGEST_WEIGHT: Final = 1e100


class Prepared(NamedTuple):
    """Everything a fit needs to know about the data."""

    features: Features
    response: Response
    training: Rows
    validation: Rows
    classes: NDArray[Any] | None = None  # of a classifier, as the labels' own type


class RowLosses(NamedTuple):
    """Squared error or cross-entropy of each row, and its weight."""

    loss: Floats
    weight: Floats

    @property
    def mean(self) -> float:
        """The weighted mean."""
        return float(np.average(self.loss, weights=self.weight))


class _Observations(NamedTuple):
    """Checked rows of a table, those of positive weight."""

    X: Any
    target: Floats
    weight: Floats
    positions: NDArray[np.intp]  # in the table that the user passed

    def take(self, chosen: NDArray[np.intp]) -> "_Observations":
        """The chosen rows alone."""
        return _Observations(
            safe_indexing(self.X, chosen),
            self.target[chosen],
            self.weight[chosen],
            self.positions[chosen],
        )


def prepare(
    model: "BaseXNN",
    X: Any,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    validation_data: ValidationData = None,
    *,
    seed: int,
    fitted: Scorer | None = None,
    unseen: Unseen | None = None,
) -> Prepared:
    """Checks the data of a fit, makes the validation split and encodes both sides.

    Args:
        model: The estimator, whose `n_features_in_` and `feature_names_in_` are set
            unless it is fitted.
        X: The rows to fit on, a data frame or an array.
        y: Their responses or labels.
        sample_weight: The weight of each row.
        validation_data: The validation rows, as (X, y) or (X, y, sample_weight).
            Without them a share of the rows is split off.
        seed: The seed of that split.
        fitted: The network whose columns, ranges and categories are kept, to refine
            it. Without it they are learnt from the training rows.
        unseen: What to do with strange cells of the validation rows, instead of what
            the estimator does.

    Raises:
        InputError: If the data cannot be used.
    """
    classes = None if fitted is None else getattr(model, "classes_", None)
    rows, classes = _observations(
        model, X, y, sample_weight, classes, reset=fitted is None
    )
    known = fitted.features if fitted else _known_columns(model, rows)
    training, held, own = _sides(model, rows, validation_data, classes, seed)
    features = known if fitted else _learn_columns(model, training, known)
    response = (
        Response.learn(training.target)
        if classes is None
        else Response.of_classes(classes)
    )
    encoded = encode_rows(features, response, *training[:3])
    trained = _with_rows(encoded, features)
    if fitted is not None:
        trained |= np.concatenate([np.zeros(0), *fitted.effects]) != 0
    validation = encode_rows(
        features, response, *held[:3], unseen=unseen or own, trained=trained
    )
    return Prepared(features, response, encoded, validation, classes)


def encode_rows(
    features: Features,
    response: Response,
    X: Any,
    target: Floats,
    weight: Floats,
    *,
    unseen: Unseen = REFUSED,
    trained: NDArray[np.bool_] | None = None,
) -> Rows:
    """Rows as the network takes them, in single precision.

    Args:
        features: Names, scaling and categories of the columns.
        response: Scaling of the response.
        X: The rows, a data frame or an array.
        target: Their responses, or zero and one for the classes.
        weight: The weight of each row.
        unseen: What to do with cells whose like training has not seen.
        trained: Which categories, side by side, have an effect; the others count as
            the average. By default all of them have.
    """
    encoded = features.encode(X, unseen, dtype=np.float32)
    counts = np.array([len(known) for known in features.groups.values()], dtype=int)
    starts = (np.cumsum(counts) - counts).astype(np.int32)
    # One place behind all categories stands for the average.
    average = int(counts.sum())
    places = np.where(encoded.codes == AVERAGE, average, encoded.codes + starts)
    if trained is not None:
        places = np.where(np.append(trained, False)[places], places, average)
    return Rows(
        np.ascontiguousarray(encoded.numeric[:, features.varying]),
        places.astype(np.int32),
        response.scale(target).astype(np.float32),
        # Shares count alone; about 1 they neither vanish nor overflow.
        (weight / weight.mean()).astype(np.float32),
    )


def row_losses(
    model: "BaseXNN", X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None
) -> RowLosses:
    """The loss of each of these rows under a fitted model."""
    rows, _ = _observations(model, X, y, sample_weight, _classes(model))
    return _losses(model.scorer_, rows, unseen_of(model))


def validation_losses(
    model: "BaseXNN",
    X: Any,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    validation_data: ValidationData = None,
    *,
    seed: int,
) -> RowLosses:
    """The loss of each validation row of the fit with these data and this seed."""
    if validation_data is not None:
        return row_losses(model, *validation_parts(validation_data))
    rows, classes = _observations(model, X, y, sample_weight, _classes(model))
    _, held, unseen = _sides(model, rows, None, classes, seed)
    return _losses(model.scorer_, held, unseen)


def checked_table(model: "BaseXNN", X: Any, reset: bool = False) -> Any:
    """X as a frame, or as an array with the columns of the fit.

    Args:
        model: The estimator.
        X: The rows as they were passed.
        reset: Whether the estimator is to learn the columns, before a fit.

    Raises:
        InputError: If X is not a table, or has too few rows.
    """
    if hasattr(X, "collect") and not hasattr(X, "__len__"):
        message = (
            f"X is a {type(X).__name__}, whose rows are not computed yet; collect "
            "them into a data frame first."
        )
        raise InputError(message)
    _refuse_complex(X, "X")
    if is_frame(X):
        if len(X) < 1 + reset:
            message = (
                f"Found array with {len(X)} sample(s) while a minimum of "
                f"{1 + reset} is required; pass more rows."
            )
            raise InputError(message)
        if reset:
            validate_data(model, X, skip_check_array=True)
        # Later frames are compared with the training columns when encoded.
        return X
    return validate_data(
        model,
        X,
        reset=reset,
        dtype=None,
        ensure_all_finite=False,
        ensure_min_samples=1 + reset,
    )


def unseen_of(model: "BaseXNN") -> Unseen:
    """What an estimator does with cells whose like training has not seen."""
    return Unseen(model.unknown_category, model.unknown_missing, model.beyond_range)


def _known_columns(model: "BaseXNN", rows: _Observations) -> Features:
    """The columns of all rows of a fit; what is odd about them is said here."""
    features = Features.learn(
        rows.X,
        model.categorical_features,
        scaling="minmax",
        project_flags=model.project_flags and model.projection != "identity",
    )
    columns = dict(numeric_values(rows.X, features.categories))
    if model.categorical_features is None:
        warn_of_codes(columns)
    warn_of_absent(model.special_values, columns)
    if model.scaling == "minmax":
        warn_of_extremes(rows.X, columns, rows.positions)
    return features


def _learn_columns(
    model: "BaseXNN", training: _Observations, known: Features
) -> Features:
    """What the training rows alone say: ranges, and values that are special.

    A category, or a gap, may be in none but the rows set aside: the model knows it yet.
    """
    columns = dict(numeric_values(training.X, known.categories))
    asked = asked_specials(model.special_values, tuple(columns))
    codes = {
        name: tuple(code for code in values if _known_code(model, columns[name], code))
        for name, values in asked.codes.items()
    }
    masses = {}
    if asked.auto:
        quantities = {
            name: np.where(np.isin(values, codes.get(name, ())), np.nan, values)
            for name, values in columns.items()
        }
        masses = point_masses(
            quantities,
            [_factorised(training.X, known, name) for name in known.categories],
            training.target,
            classify=is_classifier(model),
            among=asked.auto,
        )
    learnt = Features.learn(
        training.X,
        tuple(known.categories),
        scaling=model.scaling,
        codes=codes,
        masses=masses,
    )
    numbers = {
        name: replace(number, missing=known.numbers[name].missing)
        for name, number in learnt.numbers.items()
    }
    return replace(known, numbers=numbers)


def _known_code(model: "BaseXNN", values: Floats, code: float) -> bool:
    """Whether a column has a code, or was said to have it."""
    by_column = isinstance(model.special_values, Mapping)
    return by_column or bool((values == code).any())


def _factorised(X: Any, features: Features, name: str) -> NDArray[Any]:
    cells = column(X, features.names.index(name))
    categories = features.categories[name]
    return category_codes(cells, f"column {name!r}", categories, REFUSED)


def _sides(
    model: "BaseXNN",
    rows: _Observations,
    validation_data: ValidationData,
    classes: NDArray[Any] | None,
    seed: int,
) -> tuple[_Observations, _Observations, Unseen]:
    """Training rows, validation rows, and what strange cells of these mean."""
    if validation_data is not None:
        parts = validation_parts(validation_data)
        return rows, _observations(model, *parts, classes)[0], unseen_of(model)
    count = len(rows.target)
    share = model.validation_fraction
    training, held = train_test_split(
        np.arange(count),
        test_size=min(max(1, round(share * count)), count - 1),
        stratify=None if classes is None else _strata(rows.target, share),
        random_state=seed,
    )
    return rows.take(training), rows.take(held), Unseen("average", "average")


def _strata(target: Floats, share: float) -> Floats | None:
    """The classes, which the split keeps in proportion if both sides can have both."""
    smallest = min(target.sum(), len(target) - target.sum())
    both = 2
    return target if smallest > 1 and share * len(target) >= both else None


def _losses(scorer: Scorer, rows: _Observations, unseen: Unseen) -> RowLosses:
    with warnings.catch_warnings():
        # Rows that choose need not lie within the range of those that train.
        warnings.simplefilter("ignore", BeyondRangeWarning)
        decision = scorer.decision_function(rows.X, unseen)
    if scorer.classes is None:
        return RowLosses((decision - rows.target) ** 2, rows.weight)
    loss = np.logaddexp(0, decision) - rows.target * decision
    return RowLosses(loss, rows.weight)


def _classes(model: "BaseXNN") -> NDArray[Any] | None:
    return getattr(model, "classes_", None)


def _observations(
    model: "BaseXNN",
    X: Any,
    y: Any,
    sample_weight: Any,
    classes: NDArray[Any] | None,
    *,
    reset: bool = False,
) -> tuple[_Observations, NDArray[Any] | None]:
    """Checked rows, and the classes, learnt from the labels where there are none."""
    X = checked_table(model, X, reset=reset)
    if y is None:
        message = (
            f"{type(model).__name__} requires y to be passed, but the target y is None."
        )
        raise InputError(message)
    _refuse_complex(y, "y")
    y = column_or_1d(y, warn=True)
    check_consistent_length(X, y, sample_weight)
    if not is_classifier(model):
        target = numeric_targets(y)
    else:
        classes = learn_classes(y) if classes is None else classes
        target = class_targets(y, classes)
    weight = _checked_weight(sample_weight, X)
    # Those that count: single precision tells their weight from 0.
    used = np.flatnonzero(weight > np.finfo(np.float32).tiny * weight.max())
    if len(used) < 1 + reset:
        message = (
            f"sample_weight leaves {len(used)} row of a positive weight that "
            "counts beside the largest; a fit needs at least two."
        )
        raise InputError(message)
    rows = _Observations(X, target, weight, np.arange(len(weight)))
    return rows if len(used) == len(weight) else rows.take(used), classes


def _with_rows(rows: Rows, features: Features) -> NDArray[np.bool_]:
    """Which categories, side by side, have rows."""
    count = sum(map(len, features.groups.values()))
    return np.bincount(rows.codes.ravel(), minlength=count) > 0


def _checked_weight(sample_weight: Any, X: Any) -> Floats:
    """Weights of the rows, ones by default."""
    weight = check_sample_weight(
        sample_weight, X, dtype=np.float64, ensure_non_negative=True
    )
    if weight.max() > _LARGEST_WEIGHT:
        message = (
            f"sample_weight goes up to {weight.max():g}, and must not exceed "
            f"{_LARGEST_WEIGHT:g}, so that sums are finite; divide all weights by the "
            "largest, as only their ratios count."
        )
        raise InputError(message)
    return np.asarray(weight)


def _refuse_complex(values: Any, name: str) -> None:
    if isinstance(values, list | tuple):
        try:
            values = np.asarray(values)
        except ValueError:  # rows of unequal lengths; scikit-learn says so
            return
    if getattr(getattr(values, "dtype", None), "kind", "") == "c":
        # The first words are what scikit-learn's own estimators say.
        message = f"Complex data not supported: {name} must hold real numbers."
        raise InputError(message)


def validation_parts(data: tuple[Any, ...]) -> tuple[Any, Any, Any]:
    """Features, responses and weights of the validation rows."""
    if not isinstance(data, tuple | list) or len(data) not in {2, 3}:
        parts = f" of {len(data)} parts" if isinstance(data, tuple | list) else ""
        message = (
            f"validation_data is {type(data).__name__}{parts}; it must be (X, y) or "
            "(X, y, sample_weight)."
        )
        raise InputError(message)
    return data[0], data[1], data[2] if len(data) > 2 else None  # noqa: PLR2004
