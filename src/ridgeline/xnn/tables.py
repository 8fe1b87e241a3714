"""From tables as people pass them to the rows of a fit: checks, split, encoding."""

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any, Final, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.model_selection import train_test_split
from sklearn.utils import _safe_indexing, column_or_1d
from sklearn.utils.validation import (
    _check_sample_weight,
    check_consistent_length,
    validate_data,
)

from ridgeline.errors import InputError
from ridgeline.xnn import fitting
from ridgeline.xnn.architecture import Rows
from ridgeline.xnn.assembly import Response
from ridgeline.xnn.extremes import warn_of_extremes
from ridgeline.xnn.features import Features, Unknown, is_frame
from ridgeline.xnn.scorer import Scorer

__all__ = ["TableChecks"]

Floats = NDArray[np.float64]
_Rows = tuple[Any, Floats, Floats]  # features, responses, weights
_LARGEST_WEIGHT: Final = 1e100


class TableChecks(BaseEstimator, ABC):  # type: ignore[misc]
    """The part of the estimators that looks at tables; subclasses know the response."""

    scorer_: Scorer
    validation_fraction: float
    categorical_features: Any
    unknown_category: str

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True  # as categories
        return tags

    @abstractmethod
    def _target(self, y: NDArray[Any], reset: bool) -> Floats:
        """Responses as numbers, checked."""

    @abstractmethod
    def _response(self, target: Floats) -> Response:
        """How responses are scaled."""

    @abstractmethod
    def _strata(self, target: Floats) -> Floats | None:
        """What a split keeps in proportion."""

    def _prepared(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None,
        validation_data: tuple[Any, ...] | None,
        *,
        seed: int,
        features: Features | None = None,
    ) -> fitting.Prepared:
        """Training and validation rows, and what was learnt from the training rows."""
        first = features is None
        rows = self._checked_rows(X, y, sample_weight, reset=first)
        if features is None:
            # Bad values are counted in all rows; ranges come from training rows alone.
            everything = Features.learn(rows[0], self.categorical_features)
            used = _used_rows(_checked_weight(sample_weight, X))
            warn_of_extremes(rows[0], everything, used)
        rows, validation, unknown = self._sides(rows, validation_data, seed)
        if features is None:
            learnt = Features.learn(rows[0], self.categorical_features)
            # A category may be in none but the rows set aside; the model knows it yet.
            features = replace(learnt, categories=everything.categories)
        response = self._response(rows[1])
        training = fitting.prepare_rows(features, response, *rows, unknown="error")
        trained = _with_rows(training, features)
        if not first:
            trained |= np.concatenate([np.zeros(0), *self.scorer_.effects]) != 0
        held = fitting.prepare_rows(
            features, response, *validation, unknown=unknown, trained=trained
        )
        return fitting.Prepared(features, response, training, held)

    def _sides(
        self, rows: _Rows, validation_data: tuple[Any, ...] | None, seed: int
    ) -> tuple[_Rows, _Rows, Unknown]:
        """Training rows, validation rows, and what unknown categories of these mean."""
        if validation_data is None:
            training, held = self._split(rows[1], seed)
            return _take(rows, training), _take(rows, held), "average"
        validation = self._checked_rows(*_validation_parts(validation_data))
        return rows, validation, cast(Unknown, self.unknown_category)

    def _held_losses(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        validation_data: tuple[Any, ...] | None,
        *,
        seed: int,
    ) -> tuple[Floats, Floats]:
        """Loss and weight of each validation row of the fit with these data."""
        rows = self._checked_rows(X, y, sample_weight)
        _, held, unknown = self._sides(rows, validation_data, seed)
        table, target, weight = held
        decision = self.scorer_.decision_function(table, unknown)
        if self.scorer_.classes is None:
            return (decision - target) ** 2, weight
        return np.logaddexp(0, decision) - target * decision, weight

    def _checked_rows(
        self, X: Any, y: Any, sample_weight: Any, reset: bool = False
    ) -> _Rows:
        """Rows of positive weight, with numbers for the responses."""
        X = self._checked_table(X, reset=reset)
        if y is None:
            message = (
                f"{type(self).__name__} requires y to be passed, but the target y is "
                "None."
            )
            raise InputError(message)
        _refuse_complex(y, "y")
        y = column_or_1d(y, warn=True)
        check_consistent_length(X, y, sample_weight)
        target = self._target(y, reset=reset)
        weight = _checked_weight(sample_weight, X)
        used = _used_rows(weight)
        if len(used) < 1 + reset:
            message = (
                f"sample_weight leaves {len(used)} row of a positive weight that "
                "counts beside the largest; a fit needs at least two."
            )
            raise InputError(message)
        rows = X, target, weight
        return rows if len(used) == len(weight) else _take(rows, used)

    def _checked_table(self, X: Any, reset: bool = False) -> Any:
        """X as a frame or an array of the columns of the fit."""
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
                validate_data(self, X, skip_check_array=True)
            # Later frames are compared with the training columns when encoded.
            return X
        return validate_data(
            self,
            X,
            reset=reset,
            dtype=None,
            ensure_all_finite=False,
            ensure_min_samples=1 + reset,
        )

    def _split(
        self, target: Floats, seed: int
    ) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Positions of the training rows and of those that are set aside."""
        strata = self._strata(target)
        rows = np.arange(len(target))
        held = max(1, round(self.validation_fraction * len(rows)))
        return tuple(
            train_test_split(
                rows,
                test_size=min(held, len(rows) - 1),
                stratify=strata,
                random_state=seed,
            )
        )


def _take(rows: _Rows, chosen: NDArray[np.intp]) -> _Rows:
    """Features, responses and weights of the chosen rows."""
    X, target, weight = rows
    return _safe_indexing(X, chosen), target[chosen], weight[chosen]


def _with_rows(rows: Rows, features: Features) -> NDArray[np.bool_]:
    """Which categories, side by side, have rows."""
    count = sum(map(len, features.categories.values()))
    return np.bincount(rows.codes.ravel(), minlength=count) > 0


def _checked_weight(sample_weight: Any, X: Any) -> Floats:
    """Weights of the rows, ones by default."""
    weight = _check_sample_weight(
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


def _used_rows(weight: Floats) -> NDArray[np.intp]:
    """Positions of the rows that count: single precision tells their weight from 0."""
    return np.flatnonzero(weight > np.finfo(np.float32).tiny * weight.max())


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


def _validation_parts(data: tuple[Any, ...]) -> tuple[Any, Any, Any]:
    """Features, responses and weights of the validation rows."""
    if not isinstance(data, tuple | list) or len(data) not in {2, 3}:
        parts = f" of {len(data)} parts" if isinstance(data, tuple | list) else ""
        message = (
            f"validation_data is {type(data).__name__}{parts}; it must be (X, y) or "
            "(X, y, sample_weight)."
        )
        raise InputError(message)
    return data[0], data[1], data[2] if len(data) > 2 else None  # noqa: PLR2004
