"""Log-odds as points, as scorecards have them.

    points = base + double / log(2) * (log-odds of approval - log(odds))

Contributions by feature have the same factor, so that points add up as log-odds do.
"""

import math

import numpy as np
from numpy.typing import NDArray

from ridgeline.decisions.policy import PointScale, Policy
from ridgeline.errors import InputError

__all__ = ["point_factor", "points_of"]

Floats = NDArray[np.float64]


def point_factor(policy: Policy) -> float:
    """Points for each unit of log-odds; negative where the second class is declined.

    Raises:
        InputError: If the policy has no points.
    """
    return policy.better * _scale(policy).double / math.log(2)


def points_of(policy: Policy, log_odds: Floats) -> Floats:
    """Points of rows.

    Raises:
        InputError: If the policy has no points.
    """
    scale, each = _scale(policy), point_factor(policy)
    shift = abs(each) * math.log(scale.odds)
    return np.asarray(scale.base - shift + each * log_odds)


def _scale(policy: Policy) -> PointScale:
    if policy.points is None:
        message = "The policy has no points; give it a PointScale."
        raise InputError(message)
    return policy.points
