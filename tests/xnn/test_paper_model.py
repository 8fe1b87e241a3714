"""The paper's model by name: what came after it changes none of its bits.

`tests/data/paper_model_predictions.json` has what the release before near-orthogonal
projections, monotone features and pairs (commit 448d7d0) predicted.
"""

import json
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

from ridgeline import XNNRegressor
from ridgeline.simulation.scenarios import Draw, draw
from ridgeline.simulation.settings import PAPER_NETWORK

DATA: Final = Path(__file__).parents[1] / "data"
OWN: Final[dict[str, dict[str, Any]]] = {
    "study": {"max_epochs": 4, "refine_epochs": 4},
    "schedule": {
        "schedule": "paper",
        "cayley_step": None,
        "learning_rate": None,
        "max_epochs": 8,
        "refine_epochs": 8,
    },
}


def rows() -> Draw:
    """Return rows of the study's first scenario."""
    return draw("S1", 400, np.random.default_rng(20))


def fitted(name: str, **changes: Any) -> XNNRegressor:
    """Return a short fit of the paper's model."""
    given = dict(PAPER_NETWORK) | OWN[name] | {"random_state": 3} | changes
    return XNNRegressor(**given).fit(*rows().observed)


@pytest.mark.parametrize("name", OWN)
def test_it_predicts_what_it_did(name):
    said = json.loads((DATA / "paper_model_predictions.json").read_text())[name]
    # Bits are equal on one kind of processor; on another the last ones of a step are
    # not, and steps add up.
    np.testing.assert_allclose(
        fitted(name).predict(rows().features[:8]), said, rtol=2e-3, atol=2e-3
    )


@pytest.mark.parametrize("name", OWN)
def test_what_is_not_the_papers_leaves_every_bit(name):
    changes: dict[str, Any] = {"coherence": 7.0, "monotone": None, "max_pairs": 0}
    if name == "schedule":
        changes["relaxation"] = 0.5  # which that schedule does not take
    one, other = fitted(name).scorer_, fitted(name, **changes).scorer_
    np.testing.assert_array_equal(one.projection, other.projection)
    np.testing.assert_array_equal(one.scales, other.scales)
    X = rows().features
    np.testing.assert_array_equal(one.decision_function(X), other.decision_function(X))


def test_the_estimators_own_training_is_another():
    paper, own = fitted("study"), fitted("study", relaxation=0.4)
    assert not np.array_equal(paper.scorer_.projection, own.scorer_.projection)
