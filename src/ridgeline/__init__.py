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
    from ridgeline.decisions.drift import Drift, drift
    from ridgeline.decisions.policy import PointScale, Policy, load_policy
    from ridgeline.decisions.reasons import reasons
    from ridgeline.decisions.scoring import score_table
    from ridgeline.decisions.what_if import what_if
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
    "Drift",
    "Explanation",
    "InputError",
    "PointScale",
    "Policy",
    "RidgelineError",
    "Scorer",
    "SearchResult",
    "XNNClassifier",
    "XNNClassifierCV",
    "XNNRegressor",
    "XNNRegressorCV",
    "__version__",
    "drift",
    "explain",
    "grid_search",
    "load",
    "load_policy",
    "penalty_search",
    "plot_contributions",
    "plot_explanation",
    "plot_importance",
    "prune",
    "random_search",
    "reasons",
    "refine",
    "save_model",
    "score_table",
    "start_search",
    "what_if",
]

# Where names come from when somebody asks for them. What nobody asks for is not
# imported: scikit-learn takes a second, and a stored model needs NumPy alone.
_MODULES = {
    "decisions.drift": ("Drift", "drift"),
    "decisions.policy": ("PointScale", "Policy", "load_policy"),
    "decisions.reasons": ("reasons",),
    "decisions.scoring": ("score_table",),
    "decisions.what_if": ("what_if",),
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
