"""How many parameters a fitted model has: the numbers that its predictions need."""

from typing import Any

import numpy as np

__all__ = [
    "boosted_trees",
    "explainable_network",
    "extreme_learning_machine",
    "forest",
    "linear",
    "perceptron",
    "support_vectors",
]


def linear(model: Any) -> int:
    """Coefficients, those that are zero too, and the intercept."""
    return int(np.size(model.coef_) + np.size(model.intercept_))


def perceptron(model: Any) -> int:
    """Weights and biases."""
    return sum(weights.size for weights in [*model.coefs_, *model.intercepts_])


def forest(model: Any) -> int:
    """Nodes of all trees; each has a variable and a threshold, or a value."""
    return sum(tree.tree_.node_count for tree in model.estimators_)


def boosted_trees(model: Any) -> int:
    """Splits and leaves of all trees, as `forest` counts them."""
    return int(model.split_features_.size + model.leaf_values_.size)


def support_vectors(model: Any) -> int:
    """Coordinates of the support vectors, their weights and the intercept."""
    return int(
        model.support_vectors_.size + model.dual_coef_.size + model.intercept_.size
    )


def extreme_learning_machine(model: Any) -> int:
    """Centres, exponents and radii of the nodes, output weights and the intercept."""
    layer = model.centres_.size + model.exponents_.size + model.radii_.size
    return int(layer + model.coef_.size + 1)


def explainable_network(model: Any) -> int:
    """Of the components in use: projections, subnetworks, effects; the intercept.

    For an estimator or its scorer.
    A scale is a factor of the function's last layer, and not counted beside it. With
    projections onto one feature each only the weight that is not zero counts.
    """
    scorer = getattr(model, "scorer_", model)
    used = np.flatnonzero(scorer.scales)
    networks = scorer.subnetworks.take(used)
    layers = sum(layer.size for layer in [*networks.kernels, *networks.biases])
    projections = np.count_nonzero(scorer.projection[:, used])
    effects = sum(
        len(effects)
        for scale, effects in zip(scorer.category_scales, scorer.effects, strict=True)
        if scale
    )
    pairs = zip(scorer.pair_scales, scorer.pairs, strict=True)
    surfaces = sum(surface.table.size for scale, surface in pairs if scale)
    return int(layers + projections + effects + surfaces + 1)
