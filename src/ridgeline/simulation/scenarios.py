"""The paper's six scenarios: features, noise-free truth and noise (Section 4.2)."""

from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ridgeline.errors import InputError

__all__ = ["PROJECTIONS_S1", "SCENARIOS", "Sample", "draw"]

Floats = NDArray[np.float64]

_N_FEATURES: Final = 10
# The true projections of S1, one in a row, before they are brought to length one.
PROJECTIONS_S1: Final = np.array(
    [
        [1, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        [0, 1, 0, 0, 0, 0, 0, 0, 0, 0],
        [0, 0, 0.5, 0.5, 0, 0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0.2, 0.3, 0.5, 0, 0, 0],
    ]
)


class Sample(NamedTuple):
    """Rows drawn from a scenario."""

    features: Floats  # (n, 10)
    response: Floats  # truth and noise, (n,)
    truth: Floats  # (n,)


def draw(scenario: str, n: int, rng: np.random.Generator) -> Sample:
    """Draws rows of a scenario.

    Args:
        scenario: A key of `SCENARIOS`.
        n: Rows.
        rng: Where the randomness comes from.

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
    return Sample(features, truth + rng.standard_normal(n), truth)


def _s1(x: Floats) -> Floats:
    z = PROJECTIONS_S1 @ x
    return np.asarray(
        2 * z[0] + 0.2 * np.exp(-4 * z[1]) + 3 * z[2] ** 2 + 2.5 * np.sin(np.pi * z[3])
    )


def _s2(x: Floats) -> Floats:
    first, second, third = (0.1 * x[j] + 0.9 * x[j + 1] for j in range(3))
    wave = np.sin(np.pi * second)
    return np.asarray(3 + 0.5 * first + 4 * wave / (2 - wave) - 4 * np.exp(-(third**2)))


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
