"""Ridgeline: an explainable neural network for credit decisions."""

from typing import Any

__version__ = "0.1.0"
__all__ = ["XNNClassifier", "XNNRegressor", "__version__"]


def __getattr__(name: str) -> Any:
    """Imports the estimators when asked for: scikit-learn takes a second."""
    if name in {"XNNClassifier", "XNNRegressor"}:
        from ridgeline.xnn import estimator

        return getattr(estimator, name)
    message = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(message)
