"""The true ridge functions of a scenario, as the study's figures draw them."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from ridgeline.simulation.report.figures import RidgePicture
from ridgeline.simulation.scenarios import TRUE_COMPONENTS

__all__ = ["true_components"]

Floats = NDArray[np.float64]

_BINS: Final = 50
_POINTS: Final = 200


def true_components(scenario: str, features: Floats) -> tuple[RidgePicture, ...] | None:
    """The components that a scenario is made of, the most important first.

    Projections have length one, as those of a network, and curves have mean zero over
    the rows. Importance is the share of a component's standard deviation over the rows
    in the sum of all, which is what the scales of a network are.

    Returns:
        None for a scenario that is not a sum of ridge functions.
    """
    parts = TRUE_COMPONENTS.get(scenario)
    if parts is None:
        return None
    total = sum(float(part(features).std()) for part in parts)
    pictures = []
    for number, part in enumerate(parts, start=1):
        values = part(features)
        length = float(np.linalg.norm(part.weights))
        projected = features @ part.weights / length
        density, edges = np.histogram(projected, bins=_BINS, density=True)
        z = np.linspace(edges[0], edges[-1], _POINTS)
        bins = np.searchsorted(edges, z, side="right") - 1
        picture = RidgePicture(
            name=f"h{number}",
            importance=float(values.std()) / total,
            weights=part.weights / length,
            z=z,
            curve=part.curve(z * length) - values.mean(),
            density=density[bins.clip(0, _BINS - 1)],
        )
        pictures.append(picture)
    return tuple(sorted(pictures, key=lambda picture: -picture.importance))
