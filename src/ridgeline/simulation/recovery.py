"""What a network found of the truth, and how far its projections overlap.

With the truth, projections are compared in the units of the data; with each other, as
the network trains them, on features scaled to [-1, 1].
"""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from ridgeline.simulation.scenarios import TRUE_COMPONENTS
from ridgeline.xnn.scorer import Scorer

__all__ = ["describe_projections", "recovered", "used_directions"]

Floats = NDArray[np.float64]
_FEWEST: Final = 2  # components that can overlap


def used_directions(scorer: Scorer) -> Floats:
    """Projections of the components in use, of length one, shape (components, p)."""
    used = scorer.projection[:, np.flatnonzero(scorer.scales)]
    raw = (used * scorer.features.factor[:, None]).T
    return np.asarray(raw / np.linalg.norm(raw, axis=1, keepdims=True))


def describe_projections(scorer: Scorer, features: Floats) -> dict[str, Any]:
    """How far the projections of a network overlap, two at a time.

    Returns:
        Mean and largest absolute cosine between two projections, as the network
        trains them, and the mean absolute correlation between their values; nothing
        for fewer than two components.
    """
    used = np.flatnonzero(scorer.scales)
    if len(used) < _FEWEST:
        return {}
    weights = scorer.projection[:, used]
    weights = weights / np.linalg.norm(weights, axis=0)
    pairs = np.triu_indices(len(used), k=1)
    cosines = np.abs(weights.T @ weights)[pairs]
    values = scorer.project(features)[:, used]
    correlations = np.abs(np.corrcoef(values.T))[pairs]
    return {
        "overlap_mean": float(cosines.mean()),
        "overlap_max": float(cosines.max()),
        "correlation_mean": float(correlations.mean()),
    }


def recovered(scorer: Scorer, scenario: str, features: Floats) -> dict[str, Any]:
    """How near a network's components are to those of the truth.

    Each true component is matched with one of the network's, so that the absolute
    cosines of their projections are as large as can be in all.

    Returns:
        Mean and smallest cosine (zero for one that has no match), and the mean error of
        the curves: root mean square of the gap between contributions, both with mean
        0, as a share of the true one's standard deviation (one for no match).
    """
    truth = TRUE_COMPONENTS.get(scenario)
    if truth is None:
        return {}
    directions = np.stack([part.weights for part in truth])
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    cosines = np.abs(directions @ used_directions(scorer).T)
    places, matches = linear_sum_assignment(cosines, maximize=True)
    found = np.zeros(len(truth))
    found[places] = cosines[places, matches]
    errors = np.ones(len(truth))
    used = np.flatnonzero(scorer.all_scales)
    contributions = scorer.contributions(features)[:, used]
    for place, match in zip(places, matches, strict=True):
        true_part = truth[place](features)
        gap = _centred(contributions[:, match]) - _centred(true_part)
        errors[place] = np.sqrt(np.mean(gap**2)) / true_part.std()
    return {
        "cosine_mean": float(found.mean()),
        "cosine_min": float(found.min()),
        "curve_error": float(errors.mean()),
    }


def _centred(values: Floats) -> Floats:
    return np.asarray(values - values.mean())
