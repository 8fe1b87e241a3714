"""Every baseline learns, repeats, is chosen by validation, and refuses bad rows."""

import logging
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pydantic import ValidationError
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import Lasso
from sklearn.metrics import log_loss, r2_score, roc_auc_score
from sklearn.preprocessing import MinMaxScaler

from ridgeline.baselines.fitting import FittedBaseline, NotApplicable, fit_baseline
from ridgeline.baselines.observations import Observations, some
from ridgeline.baselines.registry import BASELINES, Columns
from ridgeline.baselines.settings import BaselineSettings
from ridgeline.errors import InputError

# Rows of a test may lie beyond the range of those that a network was trained on.
pytestmark = pytest.mark.filterwarnings("ignore:.* beyond the range")
RNG = np.random.default_rng(0)
ROWS = 900
KINDS = np.array(["Housing", "Others", "Purchase"])
TRAIN, VALIDATION, TEST = slice(0, 400), slice(400, 500), slice(500, 900)
# Small grids and short fits; what is left out is the registry's.
FAST: dict[str, dict[str, Any]] = {
    "svm": {"grid": {"C": [1.0, 10.0], "gamma": [0.1, 1.0]}},
    "rf": {"grid": {"max_depth": [3, 8]}},
    "lightgbm": {"grid": {"num_leaves": [4, 15]}},
    "elm": {"grid": {"n_nodes": [20, 100], "rbf_width": [0.1, 1.0]}},
    "mlp": {"settings": {"learning_rate_init": 0.01}},
    "naive_xnn": {"grid": {}, "settings": {"max_epochs": 60, "refine_epochs": 20}},
    "gam": {"grid": {}, "settings": {"max_epochs": 60, "refine_epochs": 20}},
}
CLASSIFIERS = [name for name, one in BASELINES.items() if "classification" in one.tasks]
# Networks have tests of their own; compiling one takes longer than all the others.
REGRESSORS = ["lasso", "svm", "rf", "lightgbm", "mlp", "elm"]


def frame() -> pd.DataFrame:
    """Return rows of numbers in their own units and one category."""
    return pd.DataFrame(
        {
            "amount": RNG.uniform(1000, 40_000, ROWS),
            "score": RNG.uniform(600, 850, ROWS),
            "purpose": pd.Categorical(RNG.choice(KINDS, ROWS)),
        }
    )


def scaled(X: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Return the two numeric columns from -1 to 1."""
    amount = (X["amount"] - 20_500) / 19_500
    score = (X["score"] - 725) / 125
    return amount.to_numpy(), score.to_numpy()


FRAME = frame()
AMOUNT, SCORE = scaled(FRAME)
HOUSING = (FRAME["purpose"] == "Housing").to_numpy()
ADDITIVE = 4 * SCORE - 3 * AMOUNT + 2 * HOUSING
LABELS = (RNG.uniform(size=ROWS) < 1 / (1 + np.exp(-ADDITIVE))).astype(int)
XOR = (AMOUNT * SCORE > 0).astype(int)
ARRAY = RNG.uniform(-1, 1, size=(ROWS, 4))
RESPONSE = 2 * ARRAY[:, 0] + ARRAY[:, 1] ** 2 + 0.1 * RNG.normal(size=ROWS)


def fit(
    name: str,
    task: Any = "classification",
    X: Any = FRAME,
    y: np.ndarray = LABELS,
    seed: int = 0,
    **settings: Any,
) -> FittedBaseline:
    """Fit a baseline fast."""
    return fit_baseline(
        name,
        task,
        BaselineSettings(**FAST.get(name, {}) | settings),
        (X[TRAIN], y[TRAIN]),
        (X[VALIDATION], y[VALIDATION]),
        seed,
        n_jobs=1,
    )


@cache
def classifier(name: str) -> FittedBaseline:
    """Return a baseline that several tests look at, fitted once."""
    return fit(name)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classifiers_learn_from_mixed_columns(name: str) -> None:
    fitted = classifier(name)
    chances = fitted.model.predict_proba(FRAME[TEST])
    assert chances.shape == (400, 2)
    best = roc_auc_score(LABELS[TEST], ADDITIVE[TEST])
    assert roc_auc_score(LABELS[TEST], chances[:, 1]) > best - 0.05
    share = LABELS[TRAIN].mean()
    constant = log_loss(LABELS[TEST], np.full(400, share))
    assert log_loss(LABELS[TEST], chances) < 0.75 * constant
    assert fitted.n_parameters > 0
    assert (fitted.n_components is not None) == BASELINES[name].is_xnn


@pytest.mark.parametrize("name", ["svm", "rf", "lightgbm", "mlp", "elm"])
def test_flexible_classifiers_learn_an_exclusive_or(name: str) -> None:
    chances = fit(name, y=XOR).model.predict_proba(FRAME[TEST])[:, 1]
    assert roc_auc_score(XOR[TEST], chances) > 0.95


def test_straight_lines_do_not() -> None:
    """So that the test before can fail."""
    chances = fit("logr", y=XOR).model.predict_proba(FRAME[TEST])[:, 1]
    assert roc_auc_score(XOR[TEST], chances) < 0.65


@pytest.mark.parametrize("name", REGRESSORS)
def test_regressors_learn_from_arrays(name: str) -> None:
    fitted = fit(name, "regression", ARRAY, RESPONSE)
    predicted = fitted.model.predict(ARRAY[TEST])
    # A straight line reaches 0.93 here.
    assert r2_score(RESPONSE[TEST], predicted) > (0.85 if name == "lasso" else 0.9)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_seed_repeats_bit_for_bit(name: str) -> None:
    first = classifier(name).model.predict_proba(FRAME[TEST])
    again = fit(name).model.predict_proba(FRAME[TEST])
    np.testing.assert_array_equal(first, again)
    if name not in {"logr", "svm"}:  # nothing in these is random
        other = fit(name, seed=1).model.predict_proba(FRAME[TEST])
        assert not np.array_equal(first, other)


def test_text_and_categories_are_the_same() -> None:
    texts = FRAME.assign(purpose=FRAME["purpose"].astype(str))
    for name in ("logr", "gam"):
        as_text = fit(name, X=texts).model.predict_proba(texts[TEST])
        as_category = classifier(name).model.predict_proba(FRAME[TEST])
        np.testing.assert_array_equal(as_text, as_category)


def test_validation_chooses_among_forests() -> None:
    """Losses and choice equal those of plain scikit-learn, written out by hand."""
    fitted = fit("rf", grid={"max_depth": [1, 3, 12]})
    dummies = pd.get_dummies(FRAME, columns=["purpose"]).astype(float)
    scale = MinMaxScaler((-1, 1)).fit(dummies[TRAIN])
    losses = {}
    for depth in (1, 3, 12):
        # One-hot columns of 0 and 1 only move when scaled: trees do not care.
        forest = RandomForestClassifier(100, max_depth=depth, random_state=0)
        forest.fit(scale.transform(dummies[TRAIN]), LABELS[TRAIN])
        chances = forest.predict_proba(scale.transform(dummies[VALIDATION]))
        losses[depth] = log_loss(LABELS[VALIDATION], chances)
    table = fitted.tuning_table
    assert table["max_depth"].to_list() == sorted(losses, key=losses.__getitem__)
    np.testing.assert_allclose(table["validation_loss"], sorted(losses.values()))
    assert fitted.best == {"max_depth": table["max_depth"].iloc[0]}
    assert fitted.model[-1].max_depth == fitted.best["max_depth"]
    assert fitted.n_parameters == sum(
        tree.tree_.node_count for tree in fitted.model[-1].estimators_
    )


def test_validation_chooses_among_lassos() -> None:
    fitted = fit("lasso", "regression", ARRAY, RESPONSE)
    scale = MinMaxScaler((-1, 1)).fit(ARRAY[TRAIN])
    losses = []
    for alpha in (0.01, 0.1, 1, 10, 100):
        lasso = Lasso(alpha).fit(scale.transform(ARRAY[TRAIN]), RESPONSE[TRAIN])
        gaps = lasso.predict(scale.transform(ARRAY[VALIDATION])) - RESPONSE[VALIDATION]
        losses.append(np.mean(gaps**2))
    np.testing.assert_allclose(fitted.tuning_table["validation_loss"], sorted(losses))
    assert fitted.best == {"alpha": 0.01}
    assert fitted.n_parameters == 5


def test_final_model_is_the_table_s_first_row() -> None:
    """The loss that chose is that of the model, where both are fitted on all rows."""
    for name in ("svm", "elm"):
        fitted = classifier(name)
        chances = fitted.model.predict_proba(FRAME[VALIDATION])
        loss = log_loss(LABELS[VALIDATION], chances)
        first = fitted.tuning_table.iloc[0]
        assert first["validation_loss"] == pytest.approx(loss, rel=1e-6)
        assert {key: first[key] for key in fitted.best} == fitted.best
        assert fitted.tuning_table["validation_loss"].is_monotonic_increasing
        assert fitted.tuning_seconds > 0


def test_network_is_chosen_by_its_own_search() -> None:
    grid = {"l1_scales": [1e-3, 1.0]}
    fitted = fit("gam", grid=grid)
    assert fitted.best == {"l1_scales": 1e-3}
    assert fitted.tuning_table["chosen"].sum() == 1
    alone = clone(fitted.model).fit(
        FRAME[TRAIN], LABELS[TRAIN], None, (FRAME[VALIDATION], LABELS[VALIDATION])
    )
    np.testing.assert_array_equal(
        alone.predict_proba(FRAME[TEST]), fitted.model.predict_proba(FRAME[TEST])
    )
    sampled = fit("gam", grid=grid, tuning_rows=390)
    assert len(sampled.tuning_table) == 2
    assert sampled.best == {"l1_scales": 1e-3}
    # Refitted on all rows with the same penalty, it is the same model.
    np.testing.assert_array_equal(
        sampled.model.predict_proba(FRAME[TEST]),
        fitted.model.predict_proba(FRAME[TEST]),
    )


def test_naive_network_is_free_and_an_additive_one_is_not() -> None:
    naive, gam = classifier("naive_xnn").model, classifier("gam").model
    assert (naive.projection, naive.normalise, naive.roughness) == ("free", False, 0)
    assert (np.count_nonzero(gam.projection_, axis=0) == 1).all()


def test_processes_give_the_same_table() -> None:
    columns = ["n_nodes", "rbf_width", "validation_loss"]
    settings = BaselineSettings(**FAST["elm"])
    alone = classifier("elm").tuning_table
    both = fit_baseline(
        "elm",
        "classification",
        settings,
        (FRAME[TRAIN], LABELS[TRAIN]),
        (FRAME[VALIDATION], LABELS[VALIDATION]),
        0,
        n_jobs=2,
    )
    assert isinstance(both, FittedBaseline)
    pd.testing.assert_frame_equal(both.tuning_table[columns], alone[columns], rtol=1e-3)


def test_perceptron_sees_training_and_validation_rows() -> None:
    """It sets the same share aside as the validation rows are."""
    fitted = classifier("mlp")
    assert fitted.model[-1].validation_fraction == pytest.approx(0.2)
    assert fitted.model[-1].early_stopping
    assert fitted.tuning_table["validation_loss"].isna().all()
    low, high = FRAME[:500]["amount"].min(), FRAME[:500]["amount"].max()
    scale = fitted.model[0].named_transformers_["numeric"]
    assert (scale.data_min_[0], scale.data_max_[0]) == (low, high)
    assert fitted.n_parameters == 5 * 100 + 100 + 100 * 60 + 60 + 60 + 1
    tuned = fit("mlp", grid={"alpha": [1e-4, 100.0]})
    assert tuned.best == {"alpha": 1e-4}
    assert tuned.tuning_table["validation_loss"].notna().all()


def test_too_many_rows_are_not_applicable(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="ridgeline")
    arguments = (FRAME[TRAIN], LABELS[TRAIN]), (FRAME[VALIDATION], LABELS[VALIDATION])
    limited = BaselineSettings(max_rows=399)
    above = "400 training rows are above its limit of 399"
    with pytest.raises(NotApplicable, match=above) as reason:
        fit_baseline("svm", "classification", limited, *arguments, seed=0)
    assert str(reason.value) in caplog.text
    assert BASELINES["svm"].max_rows == 20_000
    fit("svm", max_rows=400)


def test_sample_has_every_category_and_class() -> None:
    """Also a category of one row, in as many rows as were asked for."""
    X = FRAME[["amount", "purpose"]].astype({"purpose": str})
    X.loc[17, "purpose"] = "Rare"
    y = np.zeros(ROWS, dtype=int)
    y[33] = 1
    columns = Columns.of(X)
    assert columns == (("amount",), ("purpose",), False)
    for seed in range(20):
        sample = some(Observations(X, y), 50, columns, "classification", seed)
        assert len(sample.X) == len(sample.y) == 50
        assert set(sample.X["purpose"]) == {*KINDS, "Rare"}
        assert set(sample.y) == {0, 1}
        assert sample.X.index.is_unique
        np.testing.assert_array_equal(sample.y, y[sample.X.index])


@pytest.mark.parametrize(
    ("name", "task", "settings", "sentence"),
    [
        ("forest", "classification", {}, "no baseline 'forest'; known are logr"),
        ("logr", "regression", {}, "'logr' does classification, not 'regression'"),
        ("elm", "classification", {"settings": {"nodes": 5}}, "mean 'n_nodes'"),
        ("rf", "classification", {"grid": {"max_dept": [3]}}, "mean 'max_depth'"),
        ("rf", "classification", {"grid": {"max_depth": []}}, "no value for"),
        (
            "rf",
            "classification",
            {"grid": {"max_depth": [3]}, "settings": {"max_depth": 3}},
            "in its settings and in its grid",
        ),
    ],
)
def test_bad_settings_are_one_sentence(
    name: str, task: str, settings: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(InputError, match=sentence) as failure:
        fit(name, task, **settings)
    assert "\n" not in str(failure.value)


def test_unknown_keys_of_a_baseline_are_refused() -> None:
    with pytest.raises(ValidationError, match="did you mean 'tuning_rows'"):
        BaselineSettings(tuning_row=5)  # type: ignore[call-arg]
    with pytest.raises(ValidationError, match="greater than or equal to 1"):
        BaselineSettings(max_rows=0)


@pytest.mark.parametrize("name", ["logr", "rf", "gam"])
@pytest.mark.parametrize(
    ("row", "which"),
    [(7, "training"), (407, "validation")],
    ids=["training", "validation"],
)
@pytest.mark.parametrize("column", ["amount", "purpose"])
def test_missing_cells_are_one_sentence(
    name: str, column: str, row: int, which: str
) -> None:
    spoilt = FRAME.copy()
    spoilt.loc[row, column] = None
    with pytest.raises(InputError, match=f"The column '{column}' has") as found:
        fit(name, X=spoilt)
    assert f"missing values in 1 of the {which} rows" in str(found.value)
    assert "\n" not in str(found.value)


@pytest.mark.parametrize("name", ["logr", "rf", "gam"])
@pytest.mark.parametrize("row", [7, 407], ids=["training", "validation"])
def test_infinite_cells_are_one_sentence(name: str, row: int) -> None:
    spoilt = FRAME.copy()
    spoilt.loc[row, "amount"] = np.inf
    with pytest.raises(InputError, match="'amount' has 1 values that are inf") as found:
        fit(name, X=spoilt)
    assert "\n" not in str(found.value)


def test_bad_responses_are_one_sentence() -> None:
    with pytest.raises(InputError, match=r"values \[0\]; classification needs both"):
        fit("logr", y=np.zeros(ROWS, dtype=int))
    with pytest.raises(InputError, match="needs both 0 and 1, and nothing else"):
        fit("logr", y=LABELS + 1)
    with pytest.raises(InputError, match="missing or no finite"):
        fit("lasso", "regression", ARRAY, np.where(RESPONSE > 1, np.nan, RESPONSE))
    with pytest.raises(InputError, match="400 rows of features"):
        fit_baseline(
            "logr",
            "classification",
            BaselineSettings(),
            (FRAME[TRAIN], LABELS[:10]),
            (FRAME[VALIDATION], LABELS[VALIDATION]),
            0,
        )


def test_rows_are_left_as_they_were() -> None:
    before = FRAME.copy(), LABELS.copy()
    fit("mlp")
    pd.testing.assert_frame_equal(FRAME, before[0])
    np.testing.assert_array_equal(LABELS, before[1])


def test_set_values_are_not_tuned() -> None:
    fitted = fit("rf", grid=None, settings={"max_depth": 2, "n_estimators": 3})
    assert fitted.best == {}
    assert len(fitted.model[-1].estimators_) == 3
    assert fitted.model[-1].max_depth == 2
    assert len(fitted.tuning_table) == 1


def test_fits_are_counted() -> None:
    """The grid's points, lambda3 before them, and the final fit where it is another."""
    assert fit("logr").n_fits == 1
    forest = fit("rf", grid={"max_depth": [2, 3]}, settings={"n_estimators": 5})
    assert forest.n_fits == len(forest.tuning_table) + 1 == 3
    grid = {"roughness": [1e-6, 1e-7], "l1_scales": [1e-3, 1e-2]}
    once = fit("gam", grid=grid)
    assert once.n_fits == len(once.tuning_table) == 4
    assert set(once.best) == {"roughness", "l1_scales"}
    sampled = fit("gam", grid=grid, tuning_rows=390)
    assert sampled.n_fits == len(sampled.tuning_table) + 1 == 5


def test_settings_of_the_tuning_are_not_those_of_the_final_fit() -> None:
    """Points are compared in short fits; the chosen one has its own length."""
    values = {"settings": {"max_epochs": 12}, "tuning_settings": {"max_epochs": 8}}
    fitted = fit("gam", grid={"l1_scales": [1e-3, 1e-2]}, **values)
    assert fitted.model.max_epochs == 12
    assert (fitted.tuning_table["epochs"] < fitted.model.n_iter_).all()
    with pytest.raises(InputError, match="no parameter 'max_epoch'"):
        fit("gam", tuning_settings={"max_epoch": 8})
