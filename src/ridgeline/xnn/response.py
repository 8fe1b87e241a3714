"""The response as the network sees it: a scaled number, or the log-odds of a class."""

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import assert_all_finite

from ridgeline.errors import InputError
from ridgeline.xnn.columns import distinct_labels, quoted, real_numbers

__all__ = ["Response", "class_targets", "learn_classes", "numeric_targets"]

Floats = NDArray[np.float64]
# Of a response: squares stay far from overflow and underflow.
_SMALLEST_SPAN: Final = 1e-100


class Response(NamedTuple):
    """How the response is scaled: y = centre + half * target."""

    centre: float
    half: float
    classes: tuple[Any, Any] | None = None  # of a classifier, whose half is 1

    @classmethod
    def learn(cls, y: Floats) -> "Response":
        """The scaling of a response to [-1, 1], as the paper's penalties expect."""
        low, high = float(y.min()), float(y.max())
        return cls(low / 2 + high / 2, (high / 2 - low / 2) or 1.0)

    @classmethod
    def of_classes(cls, classes: NDArray[Any]) -> "Response":
        """Two classes, whose targets are 0 and 1 already."""
        first, second = classes.tolist()
        return cls(0.0, 1.0, (first, second))

    def scale(self, y: Floats) -> Floats:
        """Targets of the network."""
        return (y - self.centre) / self.half


def numeric_targets(y: NDArray[Any]) -> Floats:
    """The responses of a regression as numbers.

    Raises:
        InputError: If they are no numbers, or too large or too close to be squared.
    """
    if y.dtype.kind == "f":
        assert_all_finite(y, input_name="y")
    numbers = real_numbers(y, "response y", "turn it into numbers, or classify it")
    size, span = float(np.abs(numbers).max()), float(np.ptp(numbers))
    if size > 1 / _SMALLEST_SPAN or 0 < span < _SMALLEST_SPAN:
        message = (
            f"The response y goes from {numbers.min():g} to {numbers.max():g}; its "
            f"size must not exceed {1 / _SMALLEST_SPAN:g}, nor its range be below "
            f"{_SMALLEST_SPAN:g}, so that squared errors are numbers: change its "
            "unit."
        )
        raise InputError(message)
    return numbers


def learn_classes(y: NDArray[Any]) -> NDArray[Any]:
    """The two classes of the labels.

    Raises:
        InputError: If there are more or fewer than two.
    """
    _checked_labels(y)
    kind = type_of_target(y, input_name="y", raise_unknown=True)
    classes = np.unique(y)
    if len(classes) == 1:
        message = (
            f"y has one class only, {classes.tolist()[0]!r}; a classifier "
            "needs rows of two classes."
        )
        raise InputError(message)
    if kind != "binary":
        message = (
            "Only binary classification is supported. The type of the target "
            f"is {kind}, with {len(classes)} classes."
        )
        raise InputError(message)
    return classes


def class_targets(y: NDArray[Any], classes: NDArray[Any]) -> Floats:
    """One for the second class, zero for the first.

    Raises:
        InputError: If there is another label.
    """
    known = classes.tolist()
    strangers = [label for label in _checked_labels(y) if label not in known]
    if strangers:
        message = (
            f"The validation data have the class {strangers[0]!r}; it must be one "
            f"of {known}."
        )
        raise InputError(message)
    return np.asarray(y == classes[1], dtype=np.float64)


def _checked_labels(y: NDArray[Any]) -> tuple[Any, ...]:
    """The distinct labels."""
    if y.dtype.kind == "f":
        assert_all_finite(y, input_name="y")
    labels = distinct_labels(y, "response y")
    if len({isinstance(label, str) for label in labels}) > 1:
        message = (
            f"The response y mixes text and numbers: {quoted(labels)}; use labels "
            "of one kind."
        )
        raise InputError(message)
    check_classification_targets(y)
    return labels
