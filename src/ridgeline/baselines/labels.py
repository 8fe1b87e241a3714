"""What classifiers of two classes share."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin

__all__ = ["BinaryClassifierMixin"]


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
