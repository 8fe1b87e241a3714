"""The paper's six scenarios: features, noise-free truth and noise (Section 4.2)."""

from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ridgeline.errors import InputError

__all__ = ["SCENARIOS", "TRUE_COMPONENTS", "Draw", "TrueComponent", "draw"]

Floats = NDArray[np.float64]

_N_FEATURES: Final = 10


class TrueComponent(NamedTuple):
    """A ridge function that a scenario is made of."""

    weights: Floats  # of the features, as printed, (10,)
    curve: Callable[[Floats], Floats]  # of the weighted sum

    def __call__(self, features: Floats) -> Floats:
        """What the component adds to each row of features, (n,)."""
        return np.asarray(self.curve(features @ self.weights))


class Draw(NamedTuple):
    """Rows drawn from a scenario."""

    features: Floats  # (n, 10)
    response: Floats  # truth and noise, (n,)
    truth: Floats  # (n,)

    @property
    def observed(self) -> tuple[Floats, Floats]:
        """Features and responses: what a model may see."""
        return self.features, self.response


def draw(scenario: str, n: int, rng: np.random.Generator) -> Draw:
    """Draws rows of a scenario.

    Returns:
        Features whose pairs are correlated by 0.5, and responses with noise N(0, 1).

    Raises:
        InputError: If there is no such scenario.
    """
    if scenario not in SCENARIOS:
        message = f"The scenario is {scenario!r}; it must be one of {list(SCENARIOS)}."
        raise InputError(message)
    own = rng.uniform(-1, 1, size=(n, _N_FEATURES))
    common = rng.uniform(-1, 1, size=(n, 1))
    features = (own + common) / 2
    truth = SCENARIOS[scenario](features.T)
    return Draw(features, truth + rng.standard_normal(n), truth)


def _weights(**by_feature: float) -> Floats:
    """Weights of x1 to x10; those that are not named are zero."""
    weights = np.zeros(_N_FEATURES)
    for name, weight in by_feature.items():
        weights[int(name.removeprefix("x")) - 1] = weight
    return weights


# Scenarios that are sums of ridge functions, up to a constant.
TRUE_COMPONENTS: Final[dict[str, tuple[TrueComponent, ...]]] = {
    "S1": (
        TrueComponent(_weights(x1=1), lambda z: 2 * z),
        TrueComponent(_weights(x2=1), lambda z: 0.2 * np.exp(-4 * z)),
        TrueComponent(_weights(x3=0.5, x4=0.5), lambda z: 3 * z**2),
        TrueComponent(
            _weights(x5=0.2, x6=0.3, x7=0.5), lambda z: 2.5 * np.sin(np.pi * z)
        ),
    ),
    "S2": (
        TrueComponent(_weights(x1=0.1, x2=0.9), lambda z: 0.5 * z),
        TrueComponent(
            _weights(x2=0.1, x3=0.9),
            lambda z: 4 * np.sin(np.pi * z) / (2 - np.sin(np.pi * z)),
        ),
        TrueComponent(_weights(x3=0.1, x4=0.9), lambda z: -4 * np.exp(-(z**2))),
    ),
}


def _s1(x: Floats) -> Floats:
    return np.asarray(sum(part(x.T) for part in TRUE_COMPONENTS["S1"]))


def _s2(x: Floats) -> Floats:
    return np.asarray(3 + sum(part(x.T) for part in TRUE_COMPONENTS["S2"]))


def _s3(x: Floats) -> Floats:
    return np.asarray(np.exp(2 * np.tanh(x[0] * x[1] + 2 * x[2] * x[3])))


def _s4(x: Floats) -> Floats:
    return np.asarray(3 * np.pi ** (x[0] * x[1]) * np.sqrt(2 * (x[2] + 1)))


def _s5(x: Floats) -> Floats:
    spread = 1.5 + x[2] + x[4] - x[3] - x[5]
    return np.asarray(x[0] - x[1] + 2 * x[2:6].sum(axis=0) / (0.5 + spread**2))


def _s6(x: Floats) -> Floats:
    wave = np.sin(0.5 * np.pi * (-x[0] + 2 * x[2] + x[3]))
    return np.asarray(wave * np.exp(0.5 * (x[1] + x[2] - x[3])))


SCENARIOS: Final[dict[str, Callable[[Floats], Floats]]] = {
    "S1": _s1,
    "S2": _s2,
    "S3": _s3,
    "S4": _s4,
    "S5": _s5,
    "S6": _s6,
}
