"""Baselines of any table: gaps, strange categories, weights, targets in any unit."""

import numpy as np
import pandas as pd
import pytest

from ridgeline.baselines.fitting import fit_baseline
from ridgeline.baselines.gaps import CategoryGaps, NumberGaps
from ridgeline.baselines.registry import BASELINES
from ridgeline.baselines.settings import BaselineSettings
from ridgeline.baselines.storage import load_model, save_model
from ridgeline.baselines.targets import ScaledTarget
from ridgeline.errors import InputError

RNG = np.random.default_rng(0)
X = pd.DataFrame(
    {
        "a": np.where(RNG.uniform(size=200) < 0.2, np.nan, RNG.normal(size=200)),
        "b": RNG.normal(size=200),
        "c": pd.Series(RNG.choice(["x", "y"], 200)).where(RNG.uniform(size=200) > 0.1),
    }
)
Y = (X["b"] + X["a"].isna() > 0).astype(int).to_numpy()
STRANGE = X.head(20).assign(b=np.nan, c="never seen")
PREPARED = [name for name, method in BASELINES.items() if method.prepared]


def test_gaps_are_filled_and_flagged():
    numbers = NumberGaps().fit(X[["a", "b"]])
    found = numbers.transform(X[["a", "b"]])
    assert found.shape == (200, 3)  # a, b and where a was missing
    assert not np.isnan(found).any()
    gap = X["a"].isna().to_numpy()
    np.testing.assert_array_equal(found[:, 2], gap)
    np.testing.assert_allclose(found[gap, 0], X["a"].median())
    texts = CategoryGaps().fit(X[["c"]]).transform(X[["c"]])
    assert set(texts.ravel()) == {"x", "y", "missing"}


@pytest.mark.parametrize("name", PREPARED)
def test_every_prepared_method_takes_gaps_and_strangers(name, tmp_path):
    task = BASELINES[name].tasks[0]
    rows, held = (X[:150], Y[:150]), (X[150:], Y[150:])
    settings = BaselineSettings(grid={})
    with pytest.raises(InputError, match="missing values"):
        fit_baseline(name, task, settings, rows, held, 0)
    model = fit_baseline(name, task, settings, rows, held, 0, lenient=True).model
    assert np.isfinite(model.predict(STRANGE)).all()
    save_model(model, tmp_path / "model.skops")
    again = load_model(tmp_path / "model.skops")
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


@pytest.mark.parametrize("name", ["logr", "rf", "svm", "mlp", "elm", "lightgbm"])
def test_weights_change_a_fit_or_it_says_so(name):
    weight = np.where(Y == 1, 5.0, 1.0)
    parts = [slice(0, 150), slice(150, 200)]
    settings = BaselineSettings(grid={})
    plain, heavy = (
        fit_baseline(
            name,
            "classification",
            settings,
            *((X[part], Y[part], own if own is None else own[part]) for part in parts),
            0,
            lenient=True,
        )
        for own in (None, weight)
    )
    means = [fit.model.predict_proba(X)[:, 1].mean() for fit in (plain, heavy)]
    assert not plain.remark
    if BASELINES[name].weighted:
        assert not heavy.remark
        assert means[0] != means[1]
    else:
        assert "without weights" in heavy.remark
        assert means[0] == means[1]


def test_a_target_in_any_unit_is_predicted_in_its_own(tmp_path):
    target = 1e6 + 5e4 * X["b"].to_numpy()
    scaled = ScaledTarget.learn(target[:150])
    rows, held = (
        (X[part], scaled.scale(target[part])) for part in (slice(150), slice(150, 200))
    )
    fit = fit_baseline(
        "rf", "regression", BaselineSettings(grid={}), rows, held, 0, lenient=True
    )
    model = scaled.around(fit.model)
    assert np.corrcoef(model.predict(X), target)[0, 1] > 0.95
    assert model.predict(X).mean() == pytest.approx(target.mean(), rel=0.01)
    save_model(model, tmp_path / "model.skops")
    again = load_model(tmp_path / "model.skops")
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
