"""Models come back as they went, and nothing else comes in."""

import io
import json
import re
import zipfile
from collections.abc import Callable
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler
from sklearn.tree import DecisionTreeClassifier

from ridgeline.baselines.fitting import fit_baseline
from ridgeline.baselines.registry import BASELINES
from ridgeline.baselines.settings import BaselineSettings
from ridgeline.baselines.storage import TRUSTED_TYPES, load_model, save_model
from ridgeline.errors import InputError

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.uniform(-1, 1, (200, 3)), columns=["a", "b", "c"])
X["purpose"] = pd.Categorical(RNG.choice(["Housing", "Others"], 200))
Y = X["a"].to_numpy() + RNG.normal(size=200)
SMALL = {
    "svm": {"C": 1.0, "gamma": 1.0},
    "rf": {"n_estimators": 3, "max_depth": 3},
    "lightgbm": {"num_leaves": 4, "learning_rate": 0.1, "min_child_samples": 20},
    "elm": {"n_nodes": 20, "rbf_width": 0.1},
    "lasso": {"alpha": 0.01},
}
STORED = [
    (name, task)
    for name, one in BASELINES.items()
    if not one.is_xnn  # a network has a file of its own kind
    for task in one.tasks
]


@cache
def fitted(name: str, task: Any) -> Any:
    """Return a small model, fitted once."""
    y = (Y > 0).astype(int) if task == "classification" else Y
    found = fit_baseline(
        name,
        task,
        BaselineSettings(settings=SMALL.get(name, {})),
        (X[:150], y[:150]),
        (X[150:], y[150:]),
        0,
        n_jobs=1,
    )
    return found.model


@pytest.mark.parametrize(("name", "task"), STORED)
def test_every_baseline_comes_back(name: str, task: str, tmp_path: Path) -> None:
    model = fitted(name, task)
    save_model(model, tmp_path / "model.skops")
    again = load_model(tmp_path / "model.skops")
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    if task == "classification":
        np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert [path.name for path in tmp_path.iterdir()] == ["model.skops"]


def test_sgd_perceptron_comes_back(tmp_path: Path) -> None:
    """The other solver that a user may set."""
    y = (Y > 0).astype(int)
    settings = BaselineSettings(settings={"solver": "sgd", "learning_rate_init": 0.1})
    rows = (X[:150], y[:150]), (X[150:], y[150:])
    found = fit_baseline("mlp", "classification", settings, *rows, seed=0)
    save_model(found.model, tmp_path / "model.skops")
    np.testing.assert_array_equal(
        load_model(tmp_path / "model.skops").predict(X), found.model.predict(X)
    )


def test_list_names_what_the_baselines_hold_and_little_more() -> None:
    found: set[str] = set()
    for name, task in STORED:
        content = skops.io.dumps(fitted(name, task))
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            schema = archive.read("schema.json").decode()
        names = set(re.findall(r'"__class__": "(.+)",\s+"__module__": "(.+)"', schema))
        found |= {f"{module}.{name}" for name, module in names}
    # Those of tables with gaps and of targets in any unit have tests of their own.
    ours = ("gaps.CategoryGaps", "gaps.NumberGaps", "targets.ScaledTarget")
    assert set(TRUSTED_TYPES) - found == {
        *(f"ridgeline.baselines.{name}" for name in ours),
        "sklearn.neural_network._stochastic_optimizers.SGDOptimizer",
        "sklearn.preprocessing._data.StandardScaler",
    }


class Foreign(DecisionTreeClassifier):  # type: ignore[misc]
    """A model of a type that nobody trusts."""


def test_foreign_types_are_refused(tmp_path: Path) -> None:
    """On the way in and on the way out, whatever the file says about itself."""
    path = tmp_path / "foreign.skops"
    numbers = X[["a", "b", "c"]]
    foreign = Foreign(max_depth=2).fit(numbers, Y > 0)
    with pytest.raises(InputError, match=r"Foreign', which is not on the list"):
        save_model(foreign, path)
    assert not path.exists()
    skops.io.dump(foreign, path)
    with pytest.raises(InputError, match="Foreign', which Ridgeline does not trust"):
        load_model(path)


def test_functions_are_refused(tmp_path: Path) -> None:
    """A file cannot name a function of the system to be called."""
    path = tmp_path / "function.skops"
    skops.io.dump(FunctionTransformer(func=io.open_code), path)
    with pytest.raises(InputError, match="open_code', which Ridgeline does not trust"):
        load_model(path)


def test_object_that_does_not_predict_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "scaler.skops"
    skops.io.dump(MinMaxScaler().fit(X[["a"]]), path)
    with pytest.raises(InputError, match="MinMaxScaler, which does not predict"):
        load_model(path)


def damage_left_child(nodes: np.ndarray) -> None:
    """Lead the root outside of the tree."""
    nodes["left_child"][0] = 10_000


def damage_loop(nodes: np.ndarray) -> None:
    """Lead the root to itself."""
    nodes["right_child"][0] = 0


def damage_feature(nodes: np.ndarray) -> None:
    """Look at a column that is not there."""
    nodes["feature"][0] = 500


@pytest.mark.parametrize(
    "damage", [damage_left_child, damage_loop, damage_feature], ids=lambda d: d.__name__
)
def test_trees_that_lead_outside_are_refused(
    damage: Callable[[np.ndarray], None], tmp_path: Path
) -> None:
    """The files have trusted types alone; scikit-learn would read foreign memory."""
    path = tmp_path / "forest.skops"
    model = deepcopy(fitted("rf", "classification"))
    tree = model[-1].estimators_[1].tree_
    state = tree.__getstate__()
    nodes = state["nodes"].copy()
    damage(nodes)
    tree.__setstate__(state | {"nodes": nodes})
    skops.io.dump(model, path)
    with pytest.raises(InputError, match="a tree whose branches lead outside"):
        load_model(path)


def test_trees_that_do_not_fit_their_forest_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "forest.skops"
    model = deepcopy(fitted("rf", "classification"))
    model[-1].n_features_in_ = 2
    skops.io.dump(model, path)
    with pytest.raises(InputError, match="RandomForestClassifier. that contradicts"):
        load_model(path)


def test_files_that_are_none_are_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "model.skops"
    with pytest.raises(InputError, match="does not exist; pass the path"):
        load_model(path)
    with pytest.raises(InputError, match="is no file; pass the path"):
        load_model(tmp_path)
    save_model(fitted("logr", "classification"), path)
    whole = path.read_bytes()
    for content in (b"", b"no archive", whole[: len(whole) // 2]):
        path.write_bytes(content)
        with pytest.raises(InputError, match="not of this format, or was damaged"):
            load_model(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("schema.json", json.dumps({"protocol": 2}))
    with pytest.raises(InputError, match="not of this format, or was damaged"):
        load_model(path)


def test_model_that_could_not_be_read_back_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "model.skops"
    with pytest.raises(InputError, match="it does not predict when .*; fit it first"):
        save_model(LogisticRegression(), path)
    model = deepcopy(fitted("logr", "classification"))
    model[-1].coef_ = model[-1].coef_ * np.nan
    with pytest.raises(
        InputError, match="cannot be saved, .* not finite; fit it again"
    ):
        save_model(model, path)
    assert not path.exists()


def test_former_file_stays_until_all_is_written(tmp_path: Path) -> None:
    path = tmp_path / "model.skops"
    save_model(fitted("logr", "classification"), path)
    before = path.read_bytes()
    with pytest.raises(InputError):
        save_model(Foreign().fit(X[["a"]], Y > 0), path)
    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == ["model.skops"]
    with pytest.raises(InputError, match="folder .* does not exist; create it"):
        save_model(GaussianProcessClassifier(), tmp_path / "deep" / "model.skops")
