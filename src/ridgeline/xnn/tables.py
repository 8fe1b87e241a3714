"""From tables as people pass them to the rows of a fit: checks, split, encoding.

The estimator is asked for its parameters and whether it classifies, and is told the
names of the columns, as scikit-learn's own `validate_data` does. Nothing is trained.
"""

import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import train_test_split

from ridgeline.errors import InputError
from ridgeline.xnn.architecture import Rows
from ridgeline.xnn.column_learning import (
    category_priors,
    first_look,
    known_columns,
    learn_columns,
)
from ridgeline.xnn.columns import AVERAGE, REFUSED, Unseen
from ridgeline.xnn.features import Features
from ridgeline.xnn.monotone import refuse_other_directions
from ridgeline.xnn.observations import Observations, observations
from ridgeline.xnn.response import Response
from ridgeline.xnn.scorer import BeyondRangeWarning, Scorer

if TYPE_CHECKING:
    from ridgeline.xnn.estimator import BaseXNN

__all__ = [
    "Prepared",
    "RowLosses",
    "encode_rows",
    "prepare",
    "row_losses",
    "unseen_of",
    "validation_losses",
    "validation_parts",
]

Floats = NDArray[np.float64]
ValidationData = tuple[Any, ...] | None


class Prepared(NamedTuple):
    """Everything a fit needs to know about the data."""

    features: Features
    response: Response
    training: Rows
    validation: Rows
    category_priors: Floats  # price of each effect's square, side by side
    classes: NDArray[Any] | None = None  # of a classifier, as the labels' own type
    # Training rows of another fit that is to share the compiled program.
    other_rows: int | None = None


class RowLosses(NamedTuple):
    """Squared error or cross-entropy of each row, and its weight."""

    loss: Floats
    weight: Floats

    @property
    def mean(self) -> float:
        """The weighted mean."""
        return float(np.average(self.loss, weights=self.weight))


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
    rows, classes = observations(
        model, X, y, sample_weight, classes, reset=fitted is None
    )
    if fitted:
        refuse_other_directions(model.monotone, fitted.features)
    known = fitted.features if fitted else known_columns(model, rows)
    training, held, own = _sides(model, rows, validation_data, classes, seed)
    seen = first_look(model, training, known)
    features = known if fitted else learn_columns(model, training, known, seen)
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
    priors = category_priors(features, encoded, seen)
    return Prepared(features, response, encoded, validation, priors, classes)


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
        np.zeros(len(weight), dtype=np.float32),
    )


def row_losses(
    model: "BaseXNN", X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None
) -> RowLosses:
    """The loss of each of these rows under a fitted model."""
    rows, _ = observations(model, X, y, sample_weight, _classes(model))
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
    rows, classes = observations(model, X, y, sample_weight, _classes(model))
    _, held, unseen = _sides(model, rows, None, classes, seed)
    return _losses(model.scorer_, held, unseen)


def unseen_of(model: "BaseXNN") -> Unseen:
    """What an estimator does with cells whose like training has not seen."""
    return Unseen(model.unknown_category, model.unknown_missing, model.beyond_range)


def _sides(
    model: "BaseXNN",
    rows: Observations,
    validation_data: ValidationData,
    classes: NDArray[Any] | None,
    seed: int,
) -> tuple[Observations, Observations, Unseen]:
    """Training rows, validation rows, and what strange cells of these mean."""
    if validation_data is not None:
        parts = validation_parts(validation_data)
        return rows, observations(model, *parts, classes)[0], unseen_of(model)
    count = len(rows.target)
    share = model.validation_fraction
    training, held = train_test_split(
        np.arange(count),
        test_size=min(max(1, round(share * count)), count - 1),
        stratify=None if classes is None else _strata(rows.target, share),
        random_state=seed,
    )
    # Rows of the same table are not refused for what they are alone in.
    beyond = "edge" if model.beyond_range == "error" else model.beyond_range
    unseen = Unseen("average", "average", beyond)
    return rows.take(training), rows.take(held), unseen


def _strata(target: Floats, share: float) -> Floats | None:
    """The classes, which the split keeps in proportion if both sides can have both."""
    smallest = min(target.sum(), len(target) - target.sum())
    both = 2
    return target if smallest > 1 and share * len(target) >= both else None


def _losses(scorer: Scorer, rows: Observations, unseen: Unseen) -> RowLosses:
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


def _with_rows(rows: Rows, features: Features) -> NDArray[np.bool_]:
    """Which categories, side by side, have rows."""
    count = sum(map(len, features.groups.values()))
    return np.bincount(rows.codes.ravel(), minlength=count) > 0


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
