"""Estimators that choose their penalties by themselves."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import KFold
from tests.sharing import made_once

import ridgeline
from ridgeline import InputError, XNNClassifierCV, XNNRegressorCV
from ridgeline.xnn import training
from ridgeline.xnn.candidates import terms
from ridgeline.xnn.settings import PENALTIES

QUICK = {"random_state": 0, "max_epochs": 40, "n_candidates": 6, "n_jobs": 1}


def rows(n=800, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.uniform(-1, 1, (n, 4)), columns=list("abcd"))
    y = np.sin(3 * X["a"]) + X["b"] ** 2 + 0.2 * rng.normal(size=n)
    return X, y.to_numpy()


@pytest.fixture(scope="module")
def chosen(tmp_path_factory):
    """A regressor that has chosen among six candidates."""
    return made_once(
        tmp_path_factory,
        "cv-regressor",
        lambda _: XNNRegressorCV(**QUICK).fit(*rows()),
    )


def test_every_candidate_is_in_the_table_and_one_is_chosen(chosen):
    table = chosen.results_
    assert len(table) == 6
    assert table["chosen"].sum() == 1
    assert table["validation_loss"].is_monotonic_increasing
    row = table[table["chosen"]].iloc[0]
    assert {name: row[name] for name in PENALTIES} == {
        name: getattr(chosen, f"{name}_") for name in PENALTIES
    }


def test_penalties_stay_within_their_ranges(chosen):
    for name in PENALTIES:
        low, high = getattr(chosen, name)
        assert chosen.results_[name].between(low, high).all()
        assert chosen.results_[name].nunique() > 3


def test_terms_count_the_features_that_have_to_be_read(chosen):
    scorer = chosen.scorer_
    k, used = len(scorer.scales), np.zeros(len(scorer.scales))
    used[:2] = 1.0
    of_one = np.eye(4, k)
    assert terms(replace(scorer, projection=of_one, scales=used)) == pytest.approx(2)
    of_four = np.full((4, k), 0.5)
    of_four[:2, 1] = -0.5
    assert terms(replace(scorer, projection=of_four, scales=used)) == pytest.approx(8)
    # The same four twice: both have to be read again, together.
    twice = np.full((4, k), 0.5)
    assert terms(replace(scorer, projection=twice, scales=used)) == pytest.approx(16)
    almost_one = of_one + 0.01
    assert 2 < terms(replace(scorer, projection=almost_one, scales=used)) < 2.01


def test_the_best_short_fits_are_tried_with_all_epochs():
    # A patience that stops none.
    rounds = {"n_candidates": 8, "max_epochs": 60, "patience": 60}
    model = XNNRegressorCV(**QUICK | rounds)
    table = model.fit(*rows()).results_
    short, longer = 15 + 3, 60 + 12  # training and refinement
    assert sorted(table["epochs"])[:4] == [short] * 4
    long = table[table["epochs"] == longer]
    assert len(long) >= 2
    shorts = table[table["epochs"] == short]
    assert set(shorts["start"]) & set(long["start"])


def test_the_fewest_terms_within_one_standard_error_are_chosen(chosen):
    table = chosen.results_
    gap = table["validation_loss"] - table["validation_loss"].min()
    near = table[gap <= table["standard_error"]]
    assert table[table["chosen"]].iloc[0]["terms"] == near["terms"].min()


def test_without_the_rule_the_smallest_loss_is():
    model = XNNRegressorCV(standard_errors=0, **QUICK).fit(*rows())
    assert model.results_["chosen"][0]


def test_the_same_seed_gives_the_same_model_on_any_number_of_processes(chosen):
    X, y = rows()
    again = XNNRegressorCV(**QUICK | {"n_jobs": 2}).fit(X, y)
    assert np.array_equal(again.predict(X), chosen.predict(X))
    columns = [*PENALTIES, "validation_loss", "components"]
    assert again.results_[columns].equals(chosen.results_[columns])


def test_all_rows_are_used_in_the_end():
    X, y = rows()
    few = QUICK | {"n_candidates": 2, "max_epochs": 100}
    part = XNNRegressorCV(use_all_rows=False, **few).fit(X, y)
    whole = XNNRegressorCV(**few).fit(X, y)
    np.testing.assert_allclose(
        part.results_["validation_loss"], whole.results_["validation_loss"], rtol=1e-2
    )
    assert np.mean((whole.predict(X) - y) ** 2) < np.mean((part.predict(X) - y) ** 2)
    best = whole.results_["chosen"].idxmax()
    # The loss of rows that were trained on says nothing; it stays what chose.
    assert whole.validation_loss_ == pytest.approx(
        whole.results_["validation_loss"][best], rel=1e-5
    )


def test_all_rows_move_the_projections_a_little_and_keep_them_orthonormal(chosen):
    part = XNNRegressorCV(use_all_rows=False, **QUICK).fit(*rows())
    used = part.scales_ > 0
    assert np.array_equal(chosen.scales_ > 0, used)
    before, after = part.projection_[:, used], chosen.projection_[:, used]
    assert not np.array_equal(before, after)
    assert (np.sum(before * after, axis=0) > 0.95).all()
    np.testing.assert_allclose(after.T @ after, np.eye(used.sum()), atol=1e-5)


def test_half_of_the_starts_are_single_features_unless_one_kind_is_asked_for(chosen):
    assert set(chosen.results_["init"]) == {"features", "random"}
    alone = XNNRegressorCV(init="features", **QUICK | {"n_candidates": 3}).fit(*rows())
    assert set(alone.results_["init"]) == {"features"}
    with pytest.raises(ValueError, match="'init' parameter"):
        XNNRegressorCV(init="feature", **QUICK).fit(*rows())


def test_validation_rows_choose_where_they_are_given():
    X, y = rows()
    held = rows(seed=1)
    model = XNNRegressorCV(**QUICK).fit(X, y, validation_data=held)
    best = model.results_["chosen"].idxmax()
    loss = np.mean((model.predict(held[0]) - held[1]) ** 2)
    assert model.results_["validation_loss"][best] == pytest.approx(loss, rel=1e-5)


def test_folds_choose_where_they_are_asked_for():
    X, y = rows(n=400)
    model = XNNRegressorCV(cv=KFold(3), **QUICK | {"n_candidates": 2}).fit(X, y)
    assert len(model.results_) == 2
    assert model.score(X, y) > 0.5
    with pytest.raises(InputError, match="cv and validation_data are both given"):
        model.fit(X, y, validation_data=(X, y))


def test_time_ends_the_search():
    model = XNNRegressorCV(max_seconds=1e-6, **QUICK).fit(*rows())
    assert len(model.results_) == 1


def test_a_classifier_chooses_and_is_stored(tmp_path):
    X, y = rows()
    model = XNNClassifierCV(**QUICK | {"n_candidates": 3}).fit(X, y > 0.3)
    assert model.score(X, y > 0.3) > 0.8
    model.save(tmp_path / "model.json")
    stored = ridgeline.load(tmp_path / "model.json")
    assert np.array_equal(stored.predict_proba(X), model.predict_proba(X))


def test_a_clone_has_the_parameters_and_no_results(chosen):
    again = clone(chosen)
    assert again.get_params() == chosen.get_params()
    assert not hasattr(again, "results_")


def test_the_plot_shows_error_against_simplicity(chosen):
    axes = chosen.plot_candidates().axes[0]
    assert "terms" in axes.get_xlabel()
    assert "validation loss" in axes.get_ylabel()
    points = sum(len(line.get_xdata()) for line in axes.get_lines())
    assert points >= 6


@pytest.mark.parametrize("given", [(1e-2, 1e-4), (0.0, 1e-3), (1e-3, 1e-2, 1e-1)])
def test_a_range_that_is_none_is_refused(given):
    with pytest.raises(InputError, match="roughness is .* smallest and the largest"):
        XNNRegressorCV(roughness=given, **QUICK).fit(*rows(n=100))


@pytest.mark.parametrize("n", [400, 6000])  # batches by share of the rows, and of 1,000
def test_all_rows_need_no_other_program_than_the_search(n, monkeypatch):
    used = []
    program = training.epochs_program

    def spy(*shapes):
        used.append(program(*shapes))
        return used[-1]

    monkeypatch.setattr(training, "epochs_program", spy)
    settings = {"n_candidates": 2, "max_epochs": 3, "hidden": (3, 2)}
    XNNRegressorCV(**QUICK | settings).fit(*rows(n))
    assert len(used) > 4  # two trainings, two refinements, and all rows
    assert len(set(map(id, used))) == 1
    assert used[0].experimental_get_tracing_count() == 1
