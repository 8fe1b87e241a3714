"""Checked rows of a table as a user passes them: features, targets and weights.

The estimator is asked whether it classifies, and is told the names of the columns, as
scikit-learn's own `validate_data` does.
"""

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.utils import column_or_1d
from sklearn.utils.validation import check_consistent_length, validate_data

from ridgeline.errors import InputError
from ridgeline.private_names.sklearn import check_sample_weight, safe_indexing
from ridgeline.xnn.column_kinds import is_frame
from ridgeline.xnn.response import class_targets, learn_classes, numeric_targets

if TYPE_CHECKING:
    from ridgeline.xnn.estimator import BaseXNN

__all__ = ["Observations", "checked_table", "observations"]

Floats = NDArray[np.float64]
_LARGEST_WEIGHT: Final = 1e100


class Observations(NamedTuple):
    """Checked rows of a table, those of positive weight."""

    X: Any
    target: Floats
    weight: Floats
    positions: NDArray[np.intp]  # in the table that the user passed

    def take(self, chosen: NDArray[np.intp]) -> "Observations":
        """The chosen rows alone."""
        return Observations(
            safe_indexing(self.X, chosen),
            self.target[chosen],
            self.weight[chosen],
            self.positions[chosen],
        )


def observations(
    model: "BaseXNN",
    X: Any,
    y: Any,
    sample_weight: Any,
    classes: NDArray[Any] | None,
    *,
    reset: bool = False,
) -> tuple[Observations, NDArray[Any] | None]:
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
    rows = Observations(X, target, weight, np.arange(len(weight)))
    return rows if len(used) == len(weight) else rows.take(used), classes


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
