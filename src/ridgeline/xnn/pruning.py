"""Pruning: which components of a fitted network are kept (paper, Section 3.1)."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ridgeline.errors import InputError
from ridgeline.xnn.scorer import Scorer

__all__ = ["leading_components", "prune_scorer"]

Floats = NDArray[np.float64]


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
    ridges, groups, pairs = np.split(
        kept, np.cumsum([len(scorer.scales), len(scorer.category_scales)])
    )
    return replace(
        scorer,
        scales=np.where(ridges, scorer.scales, 0.0),
        category_scales=np.where(groups, scorer.category_scales, 0.0),
        pair_scales=np.where(pairs, scorer.pair_scales, 0.0),
        profile=None,  # it was that of all components
    )
