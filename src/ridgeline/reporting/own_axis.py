"""A ridge function on its leading feature's own axis, where that feature dominates."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ridgeline.errors import InputError
from ridgeline.xnn.components import DOMINATES, RidgeComponent
from ridgeline.xnn.features import Features

__all__ = ["OwnAxis", "own_axis"]

Floats = NDArray[np.float64]


class OwnAxis(NamedTuple):
    """A ridge function on the axis that people read it on, from left to right.

    That axis is the leading feature's own unit where it dominates the projection, and
    the projected value z otherwise.
    """

    feature: str  # that with the largest weight
    weight: float
    dominated: bool
    x: Floats
    curve: Floats
    edges: Floats  # of the bins of the training rows
    heights: Floats  # share of the training rows in each bin
    limits: tuple[float, float]  # of the feature, or of z, in the training rows
    levels: Floats  # all values of the feature, where they are few whole numbers
    level_curve: Floats  # the function there

    def core(self, share: float) -> tuple[float, float]:
        """The range that holds the middle share of the training rows."""
        tail = (1 - share) / 2
        reached = np.concatenate([[0.0], np.cumsum(self.heights)])
        low, high = np.interp((tail, 1 - tail), reached / reached[-1], self.edges)
        return max(float(low), self.limits[0]), min(float(high), self.limits[1])


def own_axis(
    component: RidgeComponent, features: Features, means: Mapping[str, float]
) -> OwnAxis:
    """Puts a ridge function on its leading feature's own axis, if one dominates.

    The other features, whose weights are small then, are held at their means.

    Raises:
        InputError: If a column has no mean.
    """
    missing = [name for name in features.numbers if name not in means]
    if missing:
        message = (
            f"The means lack {missing[0]!r}; pass one for each numeric feature: "
            f"{', '.join(features.numbers)}."
        )
        raise InputError(message)
    weights = component.weights
    lead = int(np.abs(weights).argmax())
    weight = float(weights[lead])
    length = float(np.linalg.norm(weights))
    dominated = length > 0 and abs(weight) / length > DOMINATES
    x, edges = component.z, component.edges
    limits = (float(edges[0]), float(edges[-1]))
    name = component.feature_names[lead]
    levels = level_curve = np.empty(0)
    if dominated:
        at = [
            float(number.scale(np.array([means[column]]))[0])
            for column, number in features.numbers.items()
        ]
        # Flags are held between their two categories.
        scaled = np.array(at + [0.0] * len(features.flags))
        rest = float(weights @ scaled) - weight * scaled[lead]
        x, edges = (
            features.to_own_unit(lead, (part - rest) / weight) for part in (x, edges)
        )
        limits = features.limits(lead)
        if name in features.numbers and features.numbers[name].levels:
            levels = np.array(features.numbers[name].levels)
            z = rest + weight * features.numbers[name].scale(levels)
            level_curve = np.interp(z, component.z, component.curve)
    # A weight below zero turns the axis round.
    way = slice(None, None, -1 if dominated and weight < 0 else 1)
    return OwnAxis(
        name,
        weight,
        dominated,
        x[way],
        component.curve[way],
        edges[way],
        component.heights[way],
        limits,
        levels,
        level_curve,
    )
