"""Damaged model files end in a sentence, never the process.

The files are read in processes of their own, which say what is next before they do it:
one that ends a process is known by its name.
"""

import io
import json
import subprocess
import sys
import zipfile
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from skops_mutants import Members, packed, unpacked

from ridgeline.baselines import archive
from ridgeline.baselines.registry import BASELINES, Columns
from ridgeline.baselines.storage import load_model, save_model
from ridgeline.errors import InputError

MUTANTS = 1_000
RNG = np.random.default_rng(0)
NUMBERS = RNG.uniform(-1, 1, (80, 5))
FRAME = pd.DataFrame(NUMBERS[:, :3], columns=["a", "b", "c"])
FRAME["purpose"] = RNG.choice(["Housing", "Others"], 80)
Y = NUMBERS[:, 0] + 0.3 * RNG.normal(size=80)
SMALL: dict[str, dict[str, Any]] = {
    "rf": {"n_estimators": 3, "max_depth": 3},
    "lightgbm": {"n_estimators": 5, "num_leaves": 4},
    "mlp": {"hidden_layer_sizes": (4, 3), "tol": 10.0, "n_iter_no_change": 2},
    "elm": {"n_nodes": 10},
    "lasso": {"alpha": 0.01},
}
KINDS = [
    (name, task)
    for name, one in BASELINES.items()
    if not one.is_xnn
    for task in one.tasks
]


def fitted(name: str, task: Any, *, whole: bool) -> Any:
    """Return a small model: the whole of it, or without the preparation of columns."""
    X = FRAME if whole else NUMBERS
    y = (Y > 0).astype(int) if task == "classification" else Y
    columns = Columns.of(X)
    model = BASELINES[name].build(task, columns, 0, **SMALL.get(name, {}))
    model = model if whole else model[-1]
    model.fit(X, y)
    if (name, task) == ("svm", "classification"):
        return CalibratedClassifierCV(FrozenEstimator(model), cv=2).fit(X, y)
    return model


@cache
def members(name: str, task: str = "classification", *, whole: bool = False) -> Members:
    """Return the members of a model's file."""
    return unpacked(skops.io.dumps(fitted(name, task, whole=whole)))


@pytest.fixture(scope="module")
def endings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return how each file ended by its name, all of them used in one process."""
    folder = tmp_path_factory.mktemp("damaged")
    for name, (make, _) in MADE.items():
        (folder / f"{name}.made").write_bytes(make())
    for whole in (False, True):
        for name, task in KINDS:
            if whole and task == "regression":
                continue
            kind = "whole" if whole else "bare"
            content = packed(members(name, task, whole=whole))
            (folder / f"{kind}-{name}-{task}.base").write_bytes(content)
    FRAME[:20].to_json(folder / "rows.json", orient="split")
    script = Path(__file__).with_name("skops_mutants.py")
    done = subprocess.run(
        [sys.executable, script, folder, str(MUTANTS)],
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    lines = done.stdout.splitlines()
    assert done.returncode == 0, f"the process ended at {lines[-1:]}"
    return dict(line.split(" ", 1) for line in lines)


def test_mutants_are_refused_or_predict(endings: dict[str, str]) -> None:
    """Whatever is changed in schema, arrays or bytes."""
    found = {name: end for name, end in endings.items() if name not in MADE}
    assert len(found) == MUTANTS
    fine = ("refused: ", "predicts", "other rows", "no model")
    assert not {n: end for n, end in found.items() if not end.startswith(fine)}
    # Both happen, or the changes are too wild or too tame to tell anything.
    refused = sum(end.startswith("refused") for end in found.values())
    assert 0.3 * MUTANTS < refused < 0.9 * MUTANTS


# Files that were made on purpose: what they are changed from and how.

Change = Callable[[Any], None]


def found_objects(schema: Any, kind: str) -> list[Any]:
    """Return a schema's objects of a class."""
    if isinstance(schema, list):
        return [one for each in schema for one in found_objects(each, kind)]
    if not isinstance(schema, dict):
        return []
    own = [schema] if schema.get("__class__") == kind else []
    return own + found_objects(list(schema.values()), kind)


def with_array(
    made: Members, kind: str, name: str, change: Callable[[np.ndarray], Any]
) -> bytes:
    """Return a file with one array of an object changed."""
    (node, *_) = [
        one["content"]["content"][name]
        for one in found_objects(json.loads(made["schema.json"]), kind)
        if name in one["content"]["content"]
    ]
    target = io.BytesIO()
    np.save(target, change(np.load(io.BytesIO(made[node["file"]]))))
    return packed(made | {node["file"]: target.getvalue()})


def with_value(made: Members, kind: str, name: str, value: str) -> bytes:
    """Return a file with one plain attribute of an object changed or added."""
    schema = json.loads(made["schema.json"])
    for one in found_objects(schema, kind):
        attributes = one["content"]
        if name not in attributes["content"]:
            kinds = attributes["key_types"]["content"]
            kinds.append(kinds[0])
        attributes["content"][name] = {
            "__class__": "str",
            "__module__": "builtins",
            "__loader__": "JsonNode",
            "content": value,
            "is_json": True,
        }
    return packed(made | {"schema.json": json.dumps(schema).encode()})


def with_tree_outputs(made: Members) -> bytes:
    """Return a forest whose trees have more outputs than counts of classes."""
    schema = json.loads(made["schema.json"])
    for tree in found_objects(schema, "Tree"):
        tree["__reduce__"]["args"]["content"][2] = {
            "__class__": "str",
            "__module__": "builtins",
            "__loader__": "JsonNode",
            "content": "100000000",
            "is_json": True,
        }
    return packed(made | {"schema.json": json.dumps(schema).encode()})


def nested(made: Members, levels: int, *, parsed: bool) -> bytes:
    """Return a file with lists in lists, of nodes or in a plain value."""
    if parsed:
        return with_value(made, "LogisticRegression", "C", "[" * levels + "]" * levels)
    schema = made["schema.json"].decode()
    opening = (
        '{"__class__": "list", "__module__": "builtins", "__loader__": "ListNode", '
        '"content": ['
    )
    place = schema.index('"C": ') + len('"C": ')
    end = schema.index("}", place) + 1
    value = opening * levels + schema[place:end] + "]}" * levels
    return packed(
        made | {"schema.json": (schema[:place] + value + schema[end:]).encode()}
    )


def bomb(made: Members) -> bytes:
    """Return a small file that unpacks to many bytes."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file:
        for name, content in made.items():
            file.writestr(name, content)
        with file.open("zeros.npy", "w", force_zip64=True) as member:
            for _ in range(300):
                member.write(bytes(2**20))
    return target.getvalue()


def of_objects(array: np.ndarray) -> np.ndarray:
    """Return an array that NumPy would load by pickle."""
    return array.astype(object)


def opposed(counts: np.ndarray) -> np.ndarray:
    """Return counts of the same sum, one of them below zero."""
    return (counts + [10**6, -(10**6)]).astype(counts.dtype)


FOREST, SUPPORT, LOGR = "RandomForestClassifier", "SVC", "LogisticRegression"
OUTSIDE, CONTRADICTS = "branches lead outside", "contradicts itself"
SHADOWS = "is the class's own to say"
DAMAGED, DEEP, NO_ARRAY = "was damaged", "nested too deeply", "that is none"
forest, machine = partial(members, "rf"), partial(members, "svm")
linear, whole = partial(members, "logr"), partial(members, "logr", whole=True)
MADE: dict[str, tuple[Callable[[], bytes], str]] = {
    "nodes-as-one-number": (
        lambda: with_array(forest(), "Tree", "nodes", lambda a: a[0]), OUTSIDE
    ),
    "nodes-as-a-number": (
        lambda: with_array(forest(), "Tree", "nodes", lambda a: np.array(7.0)), OUTSIDE
    ),
    "nodes-too-few": (
        lambda: with_array(forest(), "Tree", "nodes", lambda a: a[:1]), OUTSIDE
    ),
    "node-values-too-few": (
        lambda: with_array(forest(), "Tree", "values", lambda a: a[:1]), OUTSIDE
    ),
    "tree-of-many-outputs": (lambda: with_tree_outputs(forest()), OUTSIDE),
    "node-count-too-large": (
        lambda: with_value(forest(), "Tree", "node_count", "1000000"), OUTSIDE
    ),
    "forest-of-many-threads": (
        lambda: with_value(forest(), FOREST, "n_jobs", "100000"), "100000 processes"
    ),
    "support-counts-too-large": (
        lambda: with_array(machine(), SUPPORT, "_n_support", lambda a: a + 10**6),
        CONTRADICTS,
    ),
    "support-counts-negative": (
        lambda: with_array(machine(), SUPPORT, "_n_support", opposed), CONTRADICTS
    ),
    "support-counts-of-many-classes": (
        lambda: with_array(machine(), SUPPORT, "_n_support", lambda a: a.repeat(999)),
        CONTRADICTS,
    ),
    "support-vectors-too-few": (
        lambda: with_array(machine(), SUPPORT, "support_vectors_", lambda a: a[:1]),
        CONTRADICTS,
    ),
    "support-vectors-narrow": (
        lambda: with_array(machine(), SUPPORT, "support_vectors_", lambda a: a[:, :1]),
        CONTRADICTS,
    ),
    "support-weights-too-few": (
        lambda: with_array(machine(), SUPPORT, "_dual_coef_", lambda a: a[:, :1]),
        CONTRADICTS,
    ),
    "support-intercepts-none": (
        lambda: with_array(machine(), SUPPORT, "_intercept_", lambda a: a[:0]),
        CONTRADICTS,
    ),
    "support-kernel-of-training-rows": (
        lambda: with_value(machine(), SUPPORT, "kernel", '"precomputed"'), CONTRADICTS
    ),
    "support-of-another-kind": (
        lambda: with_value(machine(), SUPPORT, "_impl", '"nu_svr"'), SHADOWS
    ),
    "perceptron-layers-apart": (
        lambda: with_value(members("mlp"), "MLPClassifier", "n_layers_", "9"), DAMAGED
    ),
    "perceptron-layers-left-out": (
        lambda: with_value(members("mlp"), "MLPClassifier", "n_layers_", "3"),
        "predictions that are none",
    ),
    "extreme-weights-too-few": (
        lambda: with_array(members("elm"), "ELMClassifier", "coef_", lambda a: a[:-1]),
        DAMAGED,
    ),
    "boosted-trees-in-a-loop": (
        lambda: with_array(
            members("lightgbm"), "LightGBMClassifier", "left_children_", lambda a: a * 0
        ),
        CONTRADICTS,
    ),
    "boosted-trees-of-other-columns": (
        lambda: with_array(
            members("lightgbm"), "LightGBMClassifier", "split_features_",
            lambda a: a + 10**6,
        ),
        CONTRADICTS,
    ),
    "boosted-trees-of-other-text": (
        lambda: with_value(
            members("lightgbm"), "LightGBMClassifier", "_written_objective",
            '"binary\\nTree=0\\nnum_leaves=9"',
        ),
        SHADOWS,
    ),
    "slope-of-calibration-missing": (
        lambda: with_value(machine(), "_SigmoidCalibration", "a_", "null"), DAMAGED
    ),
    "columns-of-many-processes": (
        lambda: with_value(whole(), "ColumnTransformer", "n_jobs", "-1"), "processes"
    ),
    "scaler-too-narrow": (
        lambda: with_array(whole(), "MinMaxScaler", "scale_", lambda a: a[:2]),
        DAMAGED,
    ),
    "coefficients-not-finite": (
        lambda: with_array(linear(), LOGR, "coef_", lambda a: a * np.nan), "not finite"
    ),
    "coefficients-complex": (
        lambda: with_array(linear(), LOGR, "coef_", lambda a: a * 1j), NO_ARRAY
    ),
    "coefficients-by-pickle": (
        lambda: with_array(linear(), LOGR, "coef_", of_objects), NO_ARRAY
    ),
    "coefficients-overflowing": (
        lambda: with_array(linear(), LOGR, "coef_", lambda a: a * 0 + 1e308), DAMAGED
    ),
    "one-class": (
        lambda: with_array(linear(), LOGR, "classes_", lambda a: a[:1]), "two classes"
    ),
    "nested-200-deep": (lambda: nested(linear(), 200, parsed=False), DEEP),
    "nested-100000-deep": (lambda: nested(linear(), 100_000, parsed=False), DEEP),
    "nested-value": (lambda: nested(linear(), 900, parsed=True), "no number and no"),
    "unpacks-to-a-lot": (lambda: bomb(linear()), "far more than a model is"),
    "of-an-older-protocol": (
        lambda: packed(
            linear()
            | {
                "schema.json": linear()["schema.json"].replace(
                    b'"protocol": 2', b'"protocol": 0'
                )
            }
        ),
        "protocol 0, not 2",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MADE)
def test_made_files_are_refused_in_a_sentence(
    name: str, endings: dict[str, str]
) -> None:
    assert endings[name].startswith("refused: The model file '")
    assert MADE[name][1] in endings[name]


def test_crowds_of_members_and_two_of_a_name_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "model.skops"
    path.write_bytes(packed(linear()))
    count = len(linear())
    monkeypatch.setattr(archive, "_MOST_MEMBERS", count)
    load_model(path)
    monkeypatch.setattr(archive, "_MOST_MEMBERS", count - 1)
    with pytest.raises(InputError, match=f"has {count} members, where {count - 1} are"):
        load_model(path)
    monkeypatch.undo()
    with (
        zipfile.ZipFile(path, "a") as file,
        pytest.warns(UserWarning, match="Duplicate name"),
    ):
        file.writestr("schema.json", b"{}")
    with pytest.raises(InputError, match="has two members of one name"):
        load_model(path)


def test_arrays_that_are_named_many_times_count_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each name is read anew, so that a small file could fill the memory."""
    path = tmp_path / "model.skops"
    model = fitted("rf", "classification", whole=False)
    model.estimators_ = model.estimators_ * 100
    save_model(model, path)
    load_model(path)
    monkeypatch.setattr(archive, "_SMALL", 200_000)
    monkeypatch.setattr(archive, "_MOST_EXPANSION", 1)
    with pytest.raises(InputError, match="would unpack to .* far more"):
        load_model(path)
