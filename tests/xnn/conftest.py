"""Fixtures for the model's tests: networks with random weights, without training."""

from collections.abc import Callable

import numpy as np
import pytest
from known_model import evenly

from ridgeline.xnn.features import Features
from ridgeline.xnn.runtime import start_tensorflow
from ridgeline.xnn.scorer import Scorer, Spread, Subnetworks

# As an estimator starts it, before tests import it to look at tensors.
start_tensorflow()

MakeScorer = Callable[..., Scorer]


@pytest.fixture(scope="session")
def make_scorer() -> MakeScorer:
    """Return a maker of scorers with random weights."""

    def make(
        seed: int = 0,
        *,
        n_features: int = 4,
        n_subnetworks: int = 3,
        hidden: tuple[int, ...] = (5, 3),
        categories: dict[str, tuple[object, ...]] | None = None,
        classes: tuple[object, object] | None = None,
        activation: str = "tanh",
    ) -> Scorer:
        rng = np.random.default_rng(seed)
        categories = categories or {}
        k = n_subnetworks
        # So wide that rows of the standard normal distribution lie within.
        limits = rng.uniform(5, 8, size=(n_features, 2)) * [-1, 1]
        numbers = {
            f"feature {j}": evenly(*ends) for j, ends in enumerate(limits.tolist())
        }
        sizes = (1, *hidden, 1)
        pairs = list(zip(sizes[1:], sizes[:-1], strict=True))
        edges = np.linspace(-1.5, 1.5, 21)
        scales = np.sort(rng.uniform(0.1, 1, k))[::-1].copy()
        return Scorer(
            features=Features(
                (*numbers, *categories),
                named=True,
                numbers=numbers,
                categories=categories,
            ),
            classes=classes,
            projection=np.linalg.qr(rng.normal(size=(n_features, k)))[0],
            subnetworks=Subnetworks(
                tuple(rng.normal(size=(k, out, into)) for out, into in pairs),
                tuple(rng.normal(size=(k, out, 1)) for out, _ in pairs),
                activation,
            ),
            scales=scales,
            effects=tuple(rng.normal(size=len(c)) for c in categories.values()),
            category_scales=rng.uniform(0.1, 1, len(categories)),
            intercept=float(rng.normal()),
            spread=Spread(
                np.tile(edges, (k, 1)),
                rng.dirichlet(np.ones(20), size=k),
                tuple(rng.dirichlet(np.ones(len(c))) for c in categories.values()),
            ),
        )

    return make
