"""The labels of a classifier of two classes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from ridgeline.errors import InputError

__all__ = ["two_classes"]


def two_classes(y: NDArray[Any], used: NDArray[np.bool_] | None = None) -> NDArray[Any]:
    """The two labels in order.

    Args:
        y: Labels, shape (n,).
        used: Which rows count; None takes all.

    Raises:
        InputError: If there are not two.
    """
    check_classification_targets(y)
    kind = type_of_target(y, input_name="y", raise_unknown=True)
    classes = np.unique(y if used is None else y[used])
    if len(classes) == 1:
        message = (
            f"y has one class only, {classes.tolist()[0]!r}; a classifier needs rows "
            "of two classes."
        )
        raise InputError(message)
    if kind != "binary":
        message = (
            "Only binary classification is supported. The type of the target is "
            f"{kind}, with {len(classes)} classes."
        )
        raise InputError(message)
    return classes
