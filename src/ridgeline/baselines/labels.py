"""What classifiers of two classes share."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from ridgeline.errors import InputError

__all__ = ["BinaryClassifierMixin", "two_classes"]


class BinaryClassifierMixin(ClassifierMixin):  # type: ignore[misc]
    """Labels by the sign of the log-odds, which `decision_function` gives."""

    classes_: NDArray[Any]

    def predict(self, X: Any) -> NDArray[Any]:
        """Labels of the likelier class, shape (n,)."""
        decision = self.decision_function(X)
        return np.asarray(self.classes_[(decision > 0).astype(np.intp)])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


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
