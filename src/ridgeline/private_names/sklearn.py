"""scikit-learn: what estimators of other packages check their input with."""

from types import SimpleNamespace
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.utils import _safe_indexing as safe_indexing
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _check_sample_weight as check_sample_weight

__all__ = [
    "Interval",
    "StrOptions",
    "check_sample_weight",
    "encoder_state",
    "has_constraints",
    "safe_indexing",
    "support_vector_state",
    "tree_node_type",
    "validate_params",
]


def has_constraints(estimator: type[Any]) -> bool:
    """Return whether a class says which values its parameters take."""
    return hasattr(estimator, "_parameter_constraints")


def validate_params(estimator: BaseEstimator) -> None:
    """Check the parameters of an estimator against what its class says of them.

    Raises:
        ValueError: If one has a value that it does not take.
    """
    estimator._validate_params()


def support_vector_state(machine: Any) -> SimpleNamespace:
    """Return what a fitted `SVC` or `SVR` keeps for its compiled code."""
    return SimpleNamespace(
        n_support=machine._n_support,
        dual_coef=machine._dual_coef_,
        intercept=machine._intercept_,
        prob_a=machine._probA,
        prob_b=machine._probB,
        has_probabilities=bool(machine._effective_probability),
        is_sparse=machine._sparse,
        # Fitted as what its class says that it is.
        is_own_kind=machine._impl == type(machine)._impl,
    )


def encoder_state(encoder: Any) -> SimpleNamespace:
    """Return what a fitted `OneHotEncoder` keeps beside its public attributes."""
    return SimpleNamespace(
        n_columns=encoder._n_features_outs,  # of each feature
        dropped=encoder._drop_idx_after_grouping,
        groups_infrequent=encoder._infrequent_enabled,
    )


def tree_node_type() -> Any:
    """Return NumPy's type of the nodes of a tree."""
    from sklearn.tree._tree import NODE_DTYPE

    return NODE_DTYPE
