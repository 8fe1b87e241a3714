"""Choosing penalties: the paper's grid, random draws, and the same on every core."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import train_test_split

from ridgeline import XNNClassifier, XNNRegressor
from ridgeline.errors import InputError
from ridgeline.xnn.fitting import draw_seed
from ridgeline.xnn.search import (
    PAPER_GRID,
    PAPER_RANGES,
    RANGES,
    ROUGHNESS,
    grid_search,
    penalty_search,
    random_search,
    start_search,
)

# Rows that a fit sets aside may lie beyond the range of the others.
pytestmark = pytest.mark.filterwarnings("ignore:.* beyond the range")
X = np.random.default_rng(0).uniform(-1, 1, size=(400, 3))
Y = np.sin(3 * X[:, 0]) + X[:, 1] + 0.1 * np.random.default_rng(1).normal(size=400)
GRID = {"l1_projection": [1e-4, 1e-2], "l1_scales": [1e-3, 1.0]}


def model(**settings: object) -> XNNRegressor:
    """Return a fast regressor of the shape that other tests compile too."""
    return XNNRegressor(max_epochs=40, refine_epochs=40, random_state=0, **settings)


def test_paper_grid() -> None:
    """Five strengths each at half powers from 10^-2 to 10^-4, and the ranges."""
    powers = [-2, -2.5, -3, -3.5, -4]
    for strengths in PAPER_GRID.values():
        np.testing.assert_allclose(np.log10(strengths), powers)
    assert set(PAPER_GRID) == {"l1_projection", "l1_scales"}
    assert PAPER_RANGES["roughness"] == (1e-7, 1e-5)


def test_what_is_tried_reaches_below_the_paper_s_range() -> None:
    """Edges of a hundredth of the range need 1e-9, as LendingClub's validation says."""
    assert min(ROUGHNESS) == RANGES["roughness"][0] == 1e-10
    assert max(ROUGHNESS) == RANGES["roughness"][1] == PAPER_RANGES["roughness"][1]


@pytest.mark.parametrize("standard_errors", [0.0, 1.0])
def test_roughness_is_chosen_before_the_grid(standard_errors: float) -> None:
    """Each stage's choice follows from predictions alone, computed here without it."""
    steep = np.tanh(40 * X[:, 0]) + 0.1 * np.random.default_rng(2).normal(size=400)
    data = X[:300], steep[:300], None, (X[300:], steep[300:])
    tried, scales = [1.0, 1e-2, 1e-6, 1e-7], [1e-2, 1e-4]
    found = penalty_search(
        model(),
        *data,
        roughness=tried,
        grid={"l1_scales": scales},
        standard_errors=standard_errors,
        n_jobs=1,
    )
    fits = [clone(model()).set_params(roughness=one).fit(*data) for one in tried]
    losses = np.stack([(fit.predict(X[300:]) - steep[300:]) ** 2 for fit in fits])
    gaps = losses - losses[losses.mean(axis=1).argmin()]
    near = gaps.mean(axis=1) <= standard_errors * gaps.std(axis=1) / 10
    chosen = max(one for one, is_near in zip(tried, near, strict=True) if is_near)
    assert found.model.roughness == chosen
    # One row for each fit, and the model is that of the grid at the chosen lambda3.
    assert len(found.table) == len(tried) + len(scales)
    assert found.table["chosen"].sum() == 1
    assert found.table["validation_loss"].is_monotonic_increasing
    grid = grid_search(
        model(roughness=chosen),
        *data,
        grid={"l1_scales": scales},
        standard_errors=standard_errors,
        n_jobs=1,
    )
    np.testing.assert_array_equal(found.model.predict(X), grid.model.predict(X))
    row = found.table[found.table["chosen"]].iloc[0]
    assert (row["roughness"], row["l1_scales"]) == (chosen, grid.model.l1_scales)


def test_one_roughness_costs_no_fit_and_no_grid_is_no_second_stage() -> None:
    fixed = penalty_search(model(), X, Y, roughness=[1e-7], grid=GRID, n_jobs=1)
    assert len(fixed.table) == 4
    assert (fixed.table["roughness"] == fixed.model.roughness).all()
    smooth = penalty_search(model(), X, Y, roughness=[1e-6, 1e-7], grid={}, n_jobs=1)
    assert len(smooth.table) == 2
    assert smooth.table["chosen"].sum() == 1


def test_the_end_of_a_range_that_is_too_short_is_said(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A better lambda3 beyond the range is not missed in silence."""
    steep = np.tanh(40 * X[:, 0])
    search = {"grid": {}, "n_jobs": 1, "standard_errors": 0}
    penalty_search(model(), X, steep, roughness=[1.0, 1e-2, 1e-3], **search)
    assert "lambda3 is the smallest that was tried, 0.001: try smaller" in caplog.text
    caplog.clear()
    # Nothing gets better any more where the penalty has stopped to matter.
    penalty_search(model(), X, steep, roughness=[1.0, 1e-11, 1e-12], **search)
    assert not caplog.text


@pytest.mark.parametrize("jobs", [1, 2])
def test_grid_search(jobs: int) -> None:
    """The best of the table is the model, equal to a fit of its own, on any cores."""
    found = grid_search(model(), X, Y, grid=GRID, standard_errors=0, n_jobs=jobs)
    assert len(found.table) == 4
    assert found.table["validation_loss"].is_monotonic_increasing
    best = found.table.iloc[0]
    assert found.model.validation_loss_ == best["validation_loss"]
    assert found.table["chosen"].tolist() == [True, False, False, False]
    assert found.model.l1_scales == best["l1_scales"] == 1e-3
    assert (found.table["epochs"] == 80).all()
    assert best["components"] == np.count_nonzero(found.model.scales_) > 0
    assert found.model.random_state == 0
    alone = clone(found.model).fit(X, Y)
    np.testing.assert_array_equal(alone.predict(X), found.model.predict(X))


@pytest.mark.parametrize("given", [True, False], ids=["given", "set aside"])
def test_fewest_components_within_a_standard_error(given: bool) -> None:
    """The choice follows from predictions alone, computed here without the search."""
    held = slice(300, 400)
    validation = (X[held], Y[held]) if given else None
    data = (X[:300], Y[:300]) if given else (X, Y)
    grid = {"l1_scales": [1e-4, 1e-2, 0.1, 0.5]}
    found = grid_search(model(), *data, None, validation, grid=grid, n_jobs=1)
    table = found.table.set_index("l1_scales")
    fits = {
        strength: clone(model())
        .set_params(l1_scales=strength)
        .fit(*data, None, validation)
        for strength in grid["l1_scales"]
    }
    if not given:
        seed = draw_seed(fits[1e-4].random_state)
        held = train_test_split(np.arange(400), test_size=80, random_state=seed)[1]
    losses = {key: (fit.predict(X[held]) - Y[held]) ** 2 for key, fit in fits.items()}
    best = min(losses, key=lambda key: losses[key].mean())
    near = []
    for key, loss in losses.items():
        gap = loss - losses[best]
        error = gap.std() / np.sqrt(len(gap))
        assert table.loc[key, "standard_error"] == pytest.approx(error, abs=1e-6)
        if gap.mean() <= error:
            near.append((np.count_nonzero(fits[key].scales_), loss.mean(), key))
    assert found.model.l1_scales == min(near)[2]
    assert table["chosen"].sum() == 1
    assert table.loc[min(near)[2], "chosen"]


@pytest.mark.parametrize("standard_errors", [0.0, 1.0, 1000.0])
def test_the_best_start_by_all_rows(standard_errors: float) -> None:
    """The choice follows from predictions alone, computed here without the search."""
    held = X[300:], Y[300:]
    found = start_search(
        model(),
        *(X[:300], Y[:300], None, held),
        n_starts=4,
        standard_errors=standard_errors,
        n_jobs=1,
    )
    assert len(found.table) == found.table["random_state"].nunique() == 4
    fits = [
        clone(model()).set_params(random_state=start).fit(X[:300], Y[:300], None, held)
        for start in found.table["random_state"].tolist()
    ]
    losses = np.stack([(Y - fit.predict(X)) ** 2 for fit in fits])
    np.testing.assert_allclose(found.table["all_rows_loss"], losses.mean(axis=1))
    gaps = losses[:, 300:] - losses[0, 300:]  # the table has the best one first
    near = gaps.mean(axis=1) <= standard_errors * gaps.std(axis=1) / 10
    expected = int(np.where(near, losses.mean(axis=1), np.inf).argmin())
    assert found.table["chosen"].to_numpy().argmax() == expected
    np.testing.assert_array_equal(found.model.predict(X), fits[expected].predict(X))


def test_the_first_start_is_the_model_s_own() -> None:
    held = X[300:], Y[300:]
    found = start_search(model(), X[:300], Y[:300], None, held, n_starts=1, n_jobs=1)
    alone = model().fit(X[:300], Y[:300], None, held)
    np.testing.assert_array_equal(found.model.predict(X), alone.predict(X))


def test_starts_need_rows_to_be_compared_on() -> None:
    with pytest.raises(InputError, match="validation_data, which is None"):
        start_search(model(), X, Y)
    with pytest.raises(InputError, match="no points"):
        start_search(model(), X, Y, None, (X, Y), n_starts=0)


def test_random_search() -> None:
    """Points lie within the ranges, and the seed fixes them."""
    found = random_search(model(), X, Y, n_points=3, n_jobs=1)
    assert len(found.table) == 3
    for name, (low, high) in RANGES.items():
        assert found.table[name].between(low, high).all()
    again = random_search(model(), X, Y, n_points=3, n_jobs=1)
    columns = [*RANGES, "validation_loss"]
    pd.testing.assert_frame_equal(found.table[columns], again.table[columns])


def test_search_of_a_classifier_with_weights() -> None:
    """Weights and validation rows reach every fit."""
    labels = Y > 0
    found = grid_search(
        XNNClassifier(max_epochs=40, refine_epochs=40, random_state=0),
        X[:300],
        labels[:300],
        np.r_[np.ones(150), np.full(150, 2.0)],
        (X[300:], labels[300:]),
        grid={"l1_scales": [1e-3, 1e-2]},
        n_jobs=1,
    )
    chances = found.model.predict_proba(X[300:])[:, 1]
    loss = -np.mean(np.log(np.where(labels[300:], chances, 1 - chances)))
    assert found.model.validation_loss_ == pytest.approx(loss, rel=1e-4)


def test_bad_searches_are_refused() -> None:
    """Nothing to try, or a range that is none, is refused in one sentence."""
    with pytest.raises(InputError, match="has no points"):
        random_search(model(), X, Y, n_points=0)
    with pytest.raises(InputError, match="range of roughness is 1 to 0.1"):
        random_search(model(), X, Y, ranges={"roughness": (1, 0.1)})


def test_search_shows_progress(capsys: pytest.CaptureFixture[str]) -> None:
    """A verbose model counts the fits of its search."""
    grid_search(model(verbose=1), X, Y, grid={"l1_scales": [1e-3, 1e-2]}, n_jobs=1)
    assert "2/2" in capsys.readouterr().out
