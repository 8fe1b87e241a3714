"""What decides the architecture of a network: the parameters and the columns."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ridgeline.errors import InputError
from ridgeline.xnn.architecture import Architecture
from ridgeline.xnn.settings import Settings
from ridgeline.xnn.tables import Prepared

__all__ = ["directions_of", "network_shape"]

Floats = NDArray[np.float64]

_MOST_SUBNETWORKS: Final = 20


def network_shape(settings: Settings, data: Prepared) -> Architecture:
    """The network for these data."""
    p = data.training.numeric.shape[1]
    hidden = _hidden_layers(settings.hidden)
    monotone = int(np.count_nonzero(directions_of(data)))
    return Architecture(
        n_features=p,
        n_subnetworks=_subnetworks(settings, p, monotone),
        category_counts=tuple(map(len, data.features.groups.values())),
        hidden=hidden,
        activation=settings.activation,
        projection=settings.projection,
        normalised=settings.normalise,
        # Without hidden layers the ridge functions are straight.
        smooth=settings.roughness > 0 and bool(hidden),
        loss="squared" if data.response.classes is None else "logistic",
        # Without numeric features there is no projection.
        relaxed=p > 0
        and settings.projection in {"orthogonal", "near"}
        and settings.relaxation > 0
        and settings.schedule != "paper",
        monotone=monotone > 0,
        offset=settings.max_pairs > 0,
    )


def directions_of(data: Prepared) -> Floats:
    """Directions of the columns that the network is given."""
    return np.asarray(data.features.directions[data.features.varying])


def _subnetworks(settings: Settings, p: int, monotone: int) -> int:
    """How many ridge functions p numeric features that vary are given.

    Args:
        settings: The estimator's parameters.
        p: Features that vary.
        monotone: How many of them are monotone.
    """
    asked = settings.n_subnetworks
    if settings.projection == "identity":
        if asked not in {None, p}:
            message = (
                f"n_subnetworks is {asked}, but identity projections "
                f"have one for each of the {p} numeric features that vary; leave "
                "it at None."
            )
            raise InputError(message)
        return p
    if settings.projection == "orthogonal" and monotone:
        return _beside_monotone(asked, p, monotone)
    if asked is None:
        return min(p, _MOST_SUBNETWORKS)
    if asked > p and settings.projection == "orthogonal":
        message = (
            f"n_subnetworks is {asked}, but orthogonal projections "
            f"cannot be more than the {p} numeric features that vary; set it to "
            f"{p} or less."
        )
        raise InputError(message)
    return asked


def _beside_monotone(asked: int | None, p: int, monotone: int) -> int:
    """Ridge functions where each monotone feature has one of its own."""
    others = p - monotone
    fewest, most = monotone + min(others, 1), p
    if asked is None:
        return monotone + min(others, max(1, _MOST_SUBNETWORKS - monotone))
    if not fewest <= asked <= most:
        message = (
            f"n_subnetworks is {asked}, but with orthogonal projections each of the "
            f"{monotone} monotone features has a ridge function of its own; set it to "
            f"a number from {fewest} to {most}, or projection to 'near'."
        )
        raise InputError(message)
    return asked


def _hidden_layers(hidden: Any) -> tuple[int, ...]:
    units = tuple(np.asarray(hidden).tolist())
    if not all(isinstance(count, int) and count > 0 for count in units):
        message = (
            f"hidden is {hidden!r}; it must have the units of each hidden "
            "layer as whole numbers above zero, such as (10, 6)."
        )
        raise InputError(message)
    return units
