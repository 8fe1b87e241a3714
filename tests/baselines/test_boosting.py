"""LightGBM as an estimator: scikit-learn's checks, its own trees, and their checks."""

import builtins
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import lightgbm
import numpy as np
import pytest
from sklearn.metrics import log_loss, r2_score, roc_auc_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from ridgeline.baselines import sizes
from ridgeline.baselines.boosted_trees import BoostedTrees
from ridgeline.baselines.boosting import LightGBMClassifier, LightGBMRegressor
from ridgeline.baselines.fitting import NotApplicable, fit_baseline
from ridgeline.baselines.settings import BaselineSettings
from ridgeline.errors import InputError, RidgelineError

RNG = np.random.default_rng(0)
X = RNG.uniform(-1, 1, size=(900, 3))
Y = np.sin(3 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.05 * RNG.normal(size=900)
LABELS = np.where(RNG.uniform(size=900) < 0.1, X[:, 2] > 0, X[:, 0] * X[:, 1] > 0) * 1
TRAIN, VALIDATION, TEST = slice(0, 500), slice(500, 700), slice(700, 900)
HELD = X[VALIDATION], LABELS[VALIDATION]


@parametrize_with_checks(
    [LightGBMRegressor(n_estimators=10), LightGBMClassifier(n_estimators=10)]
)
def test_check(estimator: Any, check: Callable[[Any], None]) -> None:
    """Run one of scikit-learn's checks; there are no deviations."""
    check(estimator)


def classifier(**settings: Any) -> LightGBMClassifier:
    """Return a classifier that was stopped by the validation rows."""
    given = {"num_leaves": 8, "n_estimators": 500, "random_state": 0} | settings
    return LightGBMClassifier(**given).fit(X[TRAIN], LABELS[TRAIN], HELD)


FITTED = classifier(subsample=0.8, colsample_bytree=0.7)


def test_learns_what_is_not_linear() -> None:
    assert roc_auc_score(LABELS[TEST], FITTED.predict_proba(X[TEST])[:, 1]) > 0.9
    regressor = LightGBMRegressor(8).fit(X[TRAIN], Y[TRAIN])
    assert r2_score(Y[TEST], regressor.predict(X[TEST])) > 0.9


def test_predictions_are_those_of_lightgbm_itself() -> None:
    """Also the number of trees at which it stops."""
    own = lightgbm.LGBMClassifier(
        num_leaves=8, n_estimators=500, n_jobs=1, verbosity=-1,
        deterministic=True, force_row_wise=True,
    )  # fmt: skip
    stop = lightgbm.early_stopping(50, verbose=False)
    own.fit(X[TRAIN], LABELS[TRAIN], eval_X=HELD[0], eval_y=HELD[1], callbacks=[stop])
    ours = classifier()
    assert len(ours.leaf_counts_) == own.best_iteration_
    assert 1 < own.best_iteration_ < 500
    theirs = own.booster_.predict(X[TEST])
    np.testing.assert_array_equal(ours.predict_proba(X[TEST])[:, 1], theirs)
    nodes = own.booster_.trees_to_dataframe()
    used = nodes[nodes["tree_index"] < own.best_iteration_]
    assert sizes.boosted_trees(ours) == len(used)


def test_validation_rows_stop_at_the_smallest_loss() -> None:
    stopped = classifier()
    loss = log_loss(HELD[1], stopped.predict_proba(HELD[0]))
    for more in (1, 10, 50):
        rounds = len(stopped.leaf_counts_) + more
        longer = LightGBMClassifier(8, n_estimators=rounds, random_state=0)
        longer.fit(X[TRAIN], LABELS[TRAIN])
        assert len(longer.leaf_counts_) == rounds
        assert log_loss(HELD[1], longer.predict_proba(HELD[0])) >= loss


def test_seed_repeats_bit_for_bit_whatever_the_threads() -> None:
    def fit(**settings: Any) -> np.ndarray:
        model = classifier(subsample=0.8, colsample_bytree=0.7, **settings)
        return model.decision_function(X)

    first = FITTED.decision_function(X)
    for threads in (None, 2, 3, -1):
        np.testing.assert_array_equal(first, fit(n_jobs=threads))
    assert not np.array_equal(first, fit(random_state=1))


def test_says_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    """Neither in Python nor from its compiled code."""
    deepcopy(classifier()).predict(X)
    LightGBMRegressor(n_estimators=3).fit(np.ones((10, 2)), np.arange(10.0))
    assert capfd.readouterr() == ("", "")


def test_columns_that_say_nothing_give_the_mean() -> None:
    y = np.arange(10.0)
    model = LightGBMRegressor(n_estimators=3).fit(np.ones((10, 2)), y)
    assert model.leaf_counts_.tolist() == [1]
    np.testing.assert_allclose(model.predict(np.zeros((2, 2))), y.mean())


def test_trees_are_those_of_the_text() -> None:
    """Written and read again, every number is the same."""
    trees = FITTED._trees
    again = BoostedTrees.of_text(trees.text(3, "binary sigmoid:1"))
    for one, other in zip(trees, again, strict=True):
        np.testing.assert_array_equal(one, other)


def test_bad_input_is_one_sentence() -> None:
    with pytest.raises(InputError, match="one class only, 1; a classifier needs"):
        LightGBMClassifier().fit(X, np.ones(len(X), dtype=int))
    with pytest.raises(InputError, match="the label 2, which the training rows"):
        LightGBMClassifier().fit(X, LABELS, (X[:2], np.array([1, 2])))
    with pytest.raises(ValueError, match="3 features"):
        LightGBMClassifier().fit(X, LABELS, (X[:2, :2], LABELS[:2]))
    with pytest.raises(ValueError, match="'num_leaves' parameter .* must be an int"):
        LightGBMClassifier(1).fit(X, LABELS)
    with pytest.raises(ValueError, match="contains NaN"):
        FITTED.predict(np.full((2, 3), np.nan))


def spoil(name: str, place: Any, value: Any) -> Callable[[Any], None]:
    """Return what changes one number of a model."""

    def change(model: Any) -> None:
        array = getattr(model, name).copy()
        array[place] = value
        setattr(model, name, array)

    return change


def cut(name: str) -> Callable[[Any], None]:
    """Return what cuts the last number off."""
    return lambda model: setattr(model, name, getattr(model, name)[:-1])


ARRAYS = [
    "leaf_counts_", "split_features_", "thresholds_",
    "left_children_", "right_children_", "leaf_values_",
]  # fmt: skip


@pytest.mark.parametrize(
    "damage",
    [
        spoil("left_children_", 0, 0),
        spoil("right_children_", 0, 7),
        spoil("right_children_", 2, -9),
        spoil("left_children_", 1, -(2**63)),
        spoil("left_children_", 6, -1),
        spoil("split_features_", 3, 3),
        spoil("split_features_", 3, -1),
        spoil("leaf_counts_", 0, 0),
        spoil("leaf_counts_", 0, 9),
        spoil("leaf_counts_", slice(0, 2), 2**62),
        spoil("leaf_values_", 5, np.nan),
        spoil("thresholds_", 5, np.inf),
        lambda model: setattr(model, "n_features_in_", 2),
        *(cut(name) for name in ARRAYS),
        *(
            lambda model, name=name: setattr(model, name, np.array(7.0))
            for name in ARRAYS
        ),
        *(
            lambda model, name=name: setattr(
                model, name, getattr(model, name).astype(np.float32)
            )
            for name in ARRAYS
        ),
    ],
)
def test_trees_that_lead_outside_never_reach_compiled_code(
    damage: Callable[[Any], None],
) -> None:
    model = deepcopy(FITTED)
    assert model.has_sound_trees()
    damage(model)
    assert not model.has_sound_trees()
    with pytest.raises(InputError, match="lead outside of it: .* was damaged; fit"):
        _ = model._booster


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (OSError("libgomp.so.1: cannot open"), r"apt-get install libgomp1"),
        (ImportError("No module"), "install the package lightgbm"),
    ],
)
def test_missing_library_is_said_and_nothing_else_fails(
    error: Exception, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = builtins.__import__

    def without(name: str, *arguments: Any, **options: Any) -> Any:
        if name == "lightgbm":
            raise error
        return real(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(NotApplicable, match=sentence) as found:
        fit_baseline(
            "lightgbm", "regression", BaselineSettings(), (X, Y), (X, Y), 0, n_jobs=1
        )
    reason = str(found.value)
    assert reason.startswith("not applicable, because LightGBM")
    assert reason.endswith(".")
    with pytest.raises(RidgelineError, match=sentence):
        deepcopy(FITTED).predict(X)
