"""Pruning and refinement of a fitted model (paper, Section 3.1).

Each takes a fitted model and returns a new one; what was passed stays as it was.
"""

import copy
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from ridgeline.errors import InputError
from ridgeline.xnn.scorer import Scorer

__all__ = ["leading_components", "prune", "prune_scorer", "refine"]

Floats = NDArray[np.float64]
Model = TypeVar("Model")


def leading_components(importance_ratios: Floats, share: float) -> NDArray[np.bool_]:
    """The smallest leading set whose importance ratios add up to more than a share.

    Args:
        importance_ratios: Of all components, in any order; they add up to one.
        share: Between 0 and 1; with 1 every component that counts is kept.

    Returns:
        Which components are in the set.
    """
    if not 0 < share <= 1:
        message = f"The share to keep is {share}; it must be above 0 and at most 1."
        raise InputError(message)
    order = np.argsort(-importance_ratios, kind="stable")
    before = np.cumsum(importance_ratios[order]) - importance_ratios[order]
    chosen = np.zeros(len(order), dtype=np.bool_)
    # A component is kept while those before it do not exceed the share.
    chosen[order] = before <= share
    return chosen & (importance_ratios > 0)


def prune_scorer(scorer: Scorer, share: float) -> Scorer:
    """The same model with the scales of the components beyond the share at zero."""
    kept = leading_components(scorer.importance_ratios, share)
    k = len(scorer.scales)
    return replace(
        scorer,
        scales=np.where(kept[:k], scorer.scales, 0.0),
        category_scales=np.where(kept[k:], scorer.category_scales, 0.0),
    )


def prune(
    model: Model,
    share: float | None = None,
    validation_data: tuple[Any, ...] | None = None,
) -> Model:
    """Keeps the leading components of a fitted estimator.

    Args:
        model: A fitted `XNNRegressor` or `XNNClassifier`.
        share: Share of the importance to exceed; by default the estimator's
            `prune_share`, or 95 % where that is None.
        validation_data: Rows that `validation_loss_` is of, as for `fit`; without it
            the loss is NaN, because that of all components is not that of these.

    Returns:
        A new estimator; `refine` adjusts what is left to the loss of the others.
    """
    check_is_fitted(model)
    pruned: Any = copy.copy(model)
    if share is None:
        share = 0.95 if pruned.prune_share is None else pruned.prune_share
    pruned.scorer_ = prune_scorer(pruned.scorer_, share)
    pruned.validation_loss_ = pruned._validation_loss(validation_data)
    return pruned  # type: ignore[no-any-return]


def refine(
    model: Model,
    X: Any,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    validation_data: tuple[Any, ...] | None = None,
) -> Model:
    """Trains the components in use once more, projections fixed, without l1 penalties.

    Args:
        model: A fitted `XNNRegressor` or `XNNClassifier`.
        X: Rows to train on, as for `fit`.
        y: Their responses or labels.
        sample_weight: Of each row.
        validation_data: Rows that choose the best epoch, as for `fit`.

    Returns:
        A new estimator with the same projections.
    """
    check_is_fitted(model)
    refined: Any = copy.copy(model)
    refined._refine(X, y, sample_weight, validation_data)
    return refined  # type: ignore[no-any-return]
