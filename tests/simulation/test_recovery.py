"""What networks with known components have found of the truth, and how they overlap."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from known_model import evenly

from ridgeline.simulation.recovery import (
    describe_projections,
    recovered,
    used_directions,
)
from ridgeline.simulation.scenarios import TRUE_COMPONENTS, draw
from ridgeline.xnn.features import Features
from ridgeline.xnn.scorer import Scorer, Spread, Subnetworks

Curve = Callable[[np.ndarray], np.ndarray]
FEATURES = draw("S1", 400, np.random.default_rng(0)).features


@dataclass(frozen=True, eq=False)
class Curves(Subnetworks):
    """Ridge functions that are given, where a network would have learnt them."""

    functions: tuple[Curve, ...] = ()

    def __call__(self, z: np.ndarray) -> np.ndarray:
        """Return values of the shape of z, (k, rows)."""
        pairs = zip(self.functions, z, strict=True)
        return np.array([curve(values) for curve, values in pairs]).reshape(z.shape)

    def take(self, chosen: Any) -> "Curves":
        """Return the chosen functions."""
        return replace(self, functions=tuple(self.functions[j] for j in chosen))


def network(
    weights: Sequence[np.ndarray],
    curves: Sequence[Curve],
    scales: Sequence[float],
    factor: np.ndarray | float = 1.0,
) -> Scorer:
    """Return a network whose weights are those of the features in their own units."""
    k = len(weights)
    factors = np.broadcast_to(factor, 10)
    return Scorer(
        features=Features(
            tuple(f"x{j + 1}" for j in range(10)),
            named=False,
            numbers={
                f"x{j + 1}": evenly(-1 / factor, 1 / factor)
                for j, factor in enumerate(factors)
            },
            categories={},
        ),
        classes=None,
        projection=np.stack(weights, axis=1) / factors[:, None],
        subnetworks=Curves((), (), "tanh", tuple(curves)),
        scales=np.array(scales, dtype=float),
        effects=(),
        category_scales=np.empty(0),
        intercept=0.0,
        spread=Spread(np.empty((k, 1)), np.empty((k, 0)), ()),
    )


def exact(scenario: str, scales: Sequence[float] | None = None, **more: Any) -> Scorer:
    """Return a network of a scenario's true components, of length one if scaled."""
    truth = TRUE_COMPONENTS[scenario]
    scales = [1.0] * len(truth) if scales is None else scales
    return network(
        [part.weights for part in truth], [part.curve for part in truth], scales, **more
    )


def axis(j: int) -> np.ndarray:
    """Return the direction of one feature."""
    return np.eye(10)[j]


@pytest.mark.parametrize("scenario", list(TRUE_COMPONENTS))
@pytest.mark.parametrize("factor", [1.0, np.linspace(0.1, 0.9, 10)])
def test_the_truth_is_found(scenario: str, factor: np.ndarray | float) -> None:
    found = recovered(exact(scenario, factor=factor), scenario, FEATURES)
    assert found == {
        "cosine_mean": pytest.approx(1.0, abs=1e-12),
        "cosine_min": pytest.approx(1.0, abs=1e-12),
        "curve_error": pytest.approx(0.0, abs=1e-12),
    }


def test_order_sign_length_and_level_do_not_matter() -> None:
    truth = TRUE_COMPONENTS["S1"][::-1]
    scorer = network(
        [-2 * part.weights for part in truth],
        [lambda z, part=part: part.curve(-z / 2) / 3 + 7 for part in truth],
        [3.0] * 4,
    )
    found = recovered(scorer, "S1", FEATURES)
    assert found["cosine_min"] == pytest.approx(1.0, abs=1e-12)
    assert found["curve_error"] == pytest.approx(0.0, abs=1e-12)


def test_curves_of_half_the_height() -> None:
    found = recovered(exact("S2", [0.5] * 3), "S2", FEATURES)
    assert found["cosine_min"] == pytest.approx(1.0, abs=1e-12)
    assert found["curve_error"] == pytest.approx(0.5, abs=1e-12)


def test_a_component_that_was_pruned() -> None:
    # The first, so that the places of the others among those in use are not their own.
    found = recovered(exact("S1", [0, 1, 1, 1]), "S1", FEATURES)
    assert found == {
        "cosine_mean": pytest.approx(3 / 4, abs=1e-12),
        "cosine_min": 0.0,
        "curve_error": pytest.approx(1 / 4, abs=1e-12),
    }


def test_components_that_nothing_is_like_stay_out() -> None:
    truth = TRUE_COMPONENTS["S1"]
    scorer = network(
        [axis(9), *(part.weights for part in truth), axis(8)],
        [np.tanh, *(part.curve for part in truth), np.tanh],
        [1.0] * 6,
    )
    found = recovered(scorer, "S1", FEATURES)
    assert found["cosine_min"] == pytest.approx(1.0, abs=1e-12)
    assert found["curve_error"] == pytest.approx(0.0, abs=1e-12)


def test_a_projection_that_is_turned() -> None:
    truth = TRUE_COMPONENTS["S1"]
    turned = math.cos(0.3) * axis(0) + math.sin(0.3) * axis(9)
    scorer = network(
        [turned, *(part.weights for part in truth[1:])],
        [part.curve for part in truth],
        [1.0] * 4,
    )
    found = recovered(scorer, "S1", FEATURES)
    assert found["cosine_min"] == pytest.approx(math.cos(0.3))
    assert found["cosine_mean"] == pytest.approx((3 + math.cos(0.3)) / 4)
    gap = 2 * (FEATURES @ turned - FEATURES[:, 0])
    share = gap.std() / (2 * FEATURES[:, 0]).std()
    assert found["curve_error"] == pytest.approx(share / 4)


def test_no_component_at_all() -> None:
    scorer = exact("S2", [0, 0, 0])
    assert used_directions(scorer).shape == (0, 10)
    assert describe_projections(scorer, FEATURES) == {}
    assert recovered(scorer, "S2", FEATURES) == {
        "cosine_mean": 0.0,
        "cosine_min": 0.0,
        "curve_error": 1.0,
    }


def test_one_component_has_nothing_to_overlap_with() -> None:
    scorer = exact("S2", [0, 1, 0])
    assert describe_projections(scorer, FEATURES) == {}
    expected = TRUE_COMPONENTS["S2"][1].weights
    np.testing.assert_allclose(
        used_directions(scorer), [expected / np.linalg.norm(expected)]
    )


@pytest.mark.parametrize("scenario", ["S3", "S4", "S5", "S6"])
def test_scenarios_without_components(scenario: str) -> None:
    assert recovered(exact("S1"), scenario, FEATURES) == {}


def test_overlaps() -> None:
    # Angles of 60, 90 and 30 degrees; the fourth is pruned, and overlaps with all.
    between = 0.5 * axis(0) + math.sqrt(0.75) * axis(1)
    scorer = network(
        [axis(0), -3 * between, axis(1), np.ones(10)],
        [np.tanh] * 4,
        [1.0, 1.0, 1.0, 0.0],
    )
    found = describe_projections(scorer, FEATURES)
    cosines = [0.5, math.sqrt(0.75), 0.0]
    assert found["overlap_mean"] == pytest.approx(np.mean(cosines))
    assert found["overlap_max"] == pytest.approx(math.sqrt(0.75))
    x1, x2 = FEATURES[:, 0], FEATURES[:, 1]
    values = [(x1, FEATURES @ between), (FEATURES @ between, x2), (x1, x2)]
    correlations = [abs(np.corrcoef(*pair)[0, 1]) for pair in values]
    assert found["correlation_mean"] == pytest.approx(np.mean(correlations))


def test_orthogonal_projections_may_be_correlated() -> None:
    found = describe_projections(exact("S1"), FEATURES)
    assert found["overlap_max"] == pytest.approx(0.0, abs=1e-15)
    assert found["correlation_mean"] > 0.4


def test_overlaps_are_of_the_weights_as_trained() -> None:
    # In units of the data these are orthogonal; of the scaled features they are not.
    factor = np.ones(10)
    factor[0] = 2.0
    scorer = network(
        [axis(0) + axis(1), axis(0) - axis(1)], [np.tanh] * 2, [1.0, 1.0], factor
    )
    directions = used_directions(scorer)
    assert directions[0] @ directions[1] == pytest.approx(0.0, abs=1e-15)
    # (1/2, 1) and (1/2, -1).
    assert describe_projections(scorer, FEATURES)["overlap_max"] == pytest.approx(0.6)
