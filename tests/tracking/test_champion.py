"""The champion: the first version, then who clearly beats it on the same rows."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from example_models import applications, make_scorer
from hypothesis import given, settings
from hypothesis import strategies as st
from mlflow import MlflowClient
from scipy import stats

from ridgeline.evaluation.paired import paired_gain, row_losses
from ridgeline.tracking.champion import CHAMPION, crown

NAME = "some-model"


@pytest.fixture
def client(tmp_path: Path) -> MlflowClient:
    """Return a client of a store with four versions of a model, by their seeds."""
    client = MlflowClient(f"sqlite:///{tmp_path}/mlflow.db")
    client.create_registered_model(NAME)
    for seed in range(4):
        folder = tmp_path / "a store" / f"version-{seed}" / "artifacts"
        folder.mkdir(parents=True)
        make_scorer(seed).save(folder / "model.json")
        client.create_model_version(NAME, folder.parent.as_uri())
    return client


def losses_for(seed: int) -> Any:
    """Return losses on rows whose labels are drawn from one of the models."""
    rows = applications(2_000)
    probability = make_scorer(seed).predict_proba(rows)[:, 1]
    labels = (np.random.default_rng(0).uniform(size=len(rows)) < probability) * 1
    return lambda model: row_losses(model, rows, labels)


def champion(client: MlflowClient) -> str:
    """Return the number of the champion."""
    return str(client.get_model_version_by_alias(NAME, CHAMPION).version)


def test_the_first_is_crowned_and_a_better_one_takes_its_place(client):
    losses = losses_for(seed=2)  # of the third version
    said = crown(client, NAME, "1", losses)
    assert said == "Version 1 of some-model is the champion: there was none."
    assert crown(client, NAME, "1", losses).endswith("champion already.")
    assert "is the champion, as it beats version 1" in crown(client, NAME, "3", losses)
    assert champion(client) == "3"
    for worse in ("1", "2", "4"):
        assert "stays the champion" in crown(client, NAME, worse, losses)
    assert champion(client) == "3"
    tags = client.get_model_version(NAME, "3").tags
    assert tags["champion_rule"].startswith("Version 3 of some-model is the champion")


def test_an_equal_one_stays_behind(client):
    rows = applications(500)
    same = row_losses(make_scorer(0), rows, np.arange(500) % 2)
    crown(client, NAME, "1", lambda _: same)
    assert "stays the champion" in crown(client, NAME, "2", lambda _: same)
    assert champion(client) == "1"


def test_a_hand_decides_until_a_candidate_is_better(client):
    losses = losses_for(seed=2)
    crown(client, NAME, "3", losses)
    client.set_registered_model_alias(NAME, CHAMPION, "1")
    assert "stays" in crown(client, NAME, "2", losses) or champion(client) == "2"
    assert "beats" in crown(client, NAME, "3", losses)
    assert champion(client) == "3"


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10_000), st.integers(3, 200))
def test_a_gain_is_that_of_a_paired_t_test(seed, count):
    rng = np.random.default_rng(seed)
    before, after = rng.exponential(size=(2, count))
    gain = paired_gain(before, after)
    wanted = stats.ttest_rel(before, after).statistic
    # The error divides by the count, the t-test by one less.
    found = gain.mean / gain.standard_error * np.sqrt((count - 1) / count)
    assert found == pytest.approx(wanted)
    doubled = paired_gain(before, after, np.full(count, 2.0))
    assert doubled == pytest.approx(gain)
    assert paired_gain(after, before).mean == pytest.approx(-gain.mean)
