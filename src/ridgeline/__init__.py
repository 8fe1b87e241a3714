"""Ridgeline: an explainable neural network for credit decisions.

    from ridgeline import XNNClassifier

    model = XNNClassifier().fit(X, y)
    model.explain()        # importance, curves, projections, contributions, plot
    model.save("model.json")
    ridgeline.load("model.json").predict_proba(X)

What is listed in `__all__` is the public interface. Everything else may change;
docs/architecture.md says where it is.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ridgeline.errors import InputError, RidgelineError
    from ridgeline.xnn.estimator import XNNClassifier, XNNRegressor
    from ridgeline.xnn.explanation import Explanation, explain
    from ridgeline.xnn.plots import (
        plot_contributions,
        plot_explanation,
        plot_importance,
    )
    from ridgeline.xnn.scorer import Scorer
    from ridgeline.xnn.search import (
        SearchResult,
        grid_search,
        penalty_search,
        random_search,
        start_search,
    )
    from ridgeline.xnn.stages import prune, refine
    from ridgeline.xnn.storage import load_model as load
    from ridgeline.xnn.storage import save_model

__version__ = "0.1.0"

__all__ = [
    "Explanation",
    "InputError",
    "RidgelineError",
    "Scorer",
    "SearchResult",
    "XNNClassifier",
    "XNNClassifierCV",
    "XNNRegressor",
    "XNNRegressorCV",
    "__version__",
    "explain",
    "grid_search",
    "load",
    "penalty_search",
    "plot_contributions",
    "plot_explanation",
    "plot_importance",
    "prune",
    "random_search",
    "refine",
    "save_model",
    "start_search",
]

# Where names come from when somebody asks for them. What nobody asks for is not
# imported: scikit-learn takes a second, and a stored model needs NumPy alone.
_MODULES = {
    "errors": ("InputError", "RidgelineError"),
    "xnn.cv": ("XNNClassifierCV", "XNNRegressorCV"),
    "xnn.estimator": ("XNNClassifier", "XNNRegressor"),
    "xnn.explanation": ("Explanation", "explain"),
    "xnn.plots": ("plot_contributions", "plot_explanation", "plot_importance"),
    "xnn.scorer": ("Scorer",),
    "xnn.search": (
        *("SearchResult", "grid_search", "penalty_search"),
        *("random_search", "start_search"),
    ),
    "xnn.stages": ("prune", "refine"),
    "xnn.storage": ("load", "save_model"),
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is asked for."""
    for module, names in _MODULES.items():
        if name in names:
            home = import_module(f"{__name__}.{module}")
            return getattr(home, "load_model" if name == "load" else name)
    message = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(message)


def __dir__() -> list[str]:
    """The public names, for completion."""
    return __all__
