"""The network's parts as plain structures: sizes, weights, rows and the problem.

The structures hold NumPy arrays outside of training and tensors inside it.
"""

import math
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

__all__ = [
    "VARIANCE_FLOOR",
    "Activation",
    "Architecture",
    "Init",
    "Problem",
    "Projection",
    "Rows",
    "Weights",
    "constrained",
    "weight_shapes",
]

Array = Any
Activation = Literal["tanh", "sigmoid", "softplus"]
Projection = Literal["orthogonal", "near", "identity", "free"]
Init = Literal["random", "features"]

# Keeps a subnetwork whose output has become constant from dividing by zero.
VARIANCE_FLOOR: Final = 1e-8


@dataclass(frozen=True)
class Architecture:
    """What is fixed before training; equal ones share one compiled program."""

    n_features: int  # p
    n_subnetworks: int  # k
    category_counts: tuple[
        int, ...
    ]  # of each group: a column's categories, or specials
    hidden: tuple[int, ...]  # units of each hidden layer of a subnetwork
    activation: Activation
    projection: Projection
    normalised: bool
    smooth: bool  # whether there is a roughness penalty
    loss: Literal["squared", "logistic"]
    # Whether projections may overlap at first as they like: see `Problem.coherence`.
    relaxed: bool = False
    monotone: bool = False  # whether some features are: see `Problem.rising`
    offset: bool = False  # whether rows bring a part of the decision along


class Weights(NamedTuple):
    """Everything that is trained."""

    projection: Array  # W, (p, k)
    kernels: tuple[Array, ...]  # of the subnetworks' layers, (k, units out, units in)
    biases: tuple[Array, ...]  # (k, units out, 1)
    scales: Array  # beta, (k,)
    effects: Array  # one bias for each category of each feature, side by side
    category_scales: Array  # gamma, (c,)
    intercept: Array  # mu, ()


class Rows(NamedTuple):
    """Rows of the scaled data; a row of weight zero is padding."""

    numeric: Array  # (rows, p)
    codes: Array  # position of each category in `Weights.effects`, (rows, groups)
    target: Array  # (rows,)
    weight: Array  # (rows,)
    offset: Array  # what pairs of columns add to the decision, (rows,)


class Problem(NamedTuple):
    """What the objective needs beside weights and rows: arguments, not constants."""

    l1_projection: Array
    l1_scales: Array
    roughness: Array
    used: Array  # one or zero for each ridge function, (k,)
    used_categories: Array  # one or zero for each group, (c,)
    category_shares: Array  # of the training rows, side by side like the effects
    category_priors: Array  # price of an effect's square, side by side like the effects
    coherence: Array = 0.0  # price of projections that overlap
    rising: Array = 0.0  # one for each ridge function that must rise, (k,)
    lowest: Array = -math.inf  # that a weight of the projection may be, (p, k)
    highest: Array = math.inf


def constrained(shape: Architecture, weights: Weights, problem: Problem) -> Weights:
    """The weights as the network takes them, arrays or tensors.

    A ridge function rises if none of its kernels is negative, because all activations
    do. Its scale is not negative either.
    """
    if not shape.monotone:
        return weights
    rising = problem.rising
    layers = rising[:, None, None]
    return weights._replace(
        kernels=tuple(layers * abs(k) + (1 - layers) * k for k in weights.kernels),
        scales=rising * abs(weights.scales) + (1 - rising) * weights.scales,
    )


def weight_shapes(shape: Architecture) -> Weights:
    """The shape of each array of the weights."""
    k = shape.n_subnetworks
    sizes = (1, *shape.hidden, 1)
    layers = list(zip(sizes[1:], sizes[:-1], strict=True))
    return Weights(
        projection=(shape.n_features, k),
        kernels=tuple((k, out, into) for out, into in layers),
        biases=tuple((k, out, 1) for out, _ in layers),
        scales=(k,),
        effects=(sum(shape.category_counts),),
        category_scales=(len(shape.category_counts),),
        intercept=(),
    )
