"""Private names of other packages: each is there, does what it did, and is used once.

When one of these tests fails after an update, the other package has renamed something
that it never promised; the module of `ridgeline.private_names` is the place to mend.
"""

import ast
import json
import zipfile
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from importlib.metadata import version
from numbers import Real
from pathlib import Path
from typing import Any

import ibis
import numpy as np
import pandas as pd
import pytest
import skops.io
from kedro.framework.session import KedroSession
from kedro.io import (
    AbstractDataset,
    AbstractVersionedDataset,
    CachedDataset,
    MemoryDataset,
    Version,
)
from kedro.runner import SequentialRunner
from kedro_datasets.ibis import FileDataset
from kedro_datasets.json import JSONDataset
from kedro_datasets.matplotlib import MatplotlibDataset
from kedro_datasets.pandas import CSVDataset
from kedro_datasets.text import TextDataset
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier

from ridgeline.baselines.storage import TRUSTED_TYPES
from ridgeline.datasets import (
    OptionalModelDataset,
    ParquetTableDataset,
    SkopsModelDataset,
    XnnModelDataset,
)
from ridgeline.private_names import kedro as kedro_names
from ridgeline.private_names import sklearn as sklearn_names
from ridgeline.private_names import skops as skops_names

SOURCE = Path(__file__).parents[1] / "src/ridgeline"
PROJECT = SOURCE.parents[1]
X = np.random.default_rng(0).normal(size=(60, 2))
Y = (X[:, 0] > 0).astype(int)
TEXTS = np.array([["a"], ["b"]])
DUCKDB = {"backend": "duckdb", "database": ":memory:"}


@cache
def machine() -> SVC:
    return SVC().fit(X, Y)


@cache
def encoder() -> OneHotEncoder:
    return OneHotEncoder().fit(TEXTS)


def table_file(path: str) -> FileDataset:
    return FileDataset(path, "parquet", connection=DUCKDB)


# By the package and the name: something that has it.
NAMES: dict[tuple[str, str], Callable[[], Any]] = {
    ("kedro", "_get_load_path"): lambda: AbstractVersionedDataset,
    ("kedro", "_get_save_path"): lambda: AbstractVersionedDataset,
    ("kedro", "_dataset"): lambda: CachedDataset(MemoryDataset(1)),
    ("kedro", "_conf_source"): lambda: KedroSession("id", project_path=PROJECT),
    ("kedro", "_is_async"): SequentialRunner,
    ("kedro-datasets", "_filepath"): lambda: CSVDataset(filepath="a.csv"),
    ("kedro-datasets", "_protocol"): lambda: CSVDataset(filepath="a.csv"),
    ("kedro-datasets", "_fs_prefix"): lambda: table_file("a.parquet"),
    ("kedro-datasets", "_connection_config"): lambda: table_file("a.parquet"),
    ("kedro-datasets", "_typing"): lambda: import_module("kedro_datasets._typing"),
    ("scikit-learn", "_parameter_constraints"): LogisticRegression,
    ("scikit-learn", "_validate_params"): LogisticRegression,
    ("scikit-learn", "_safe_indexing"): lambda: import_module("sklearn.utils"),
    ("scikit-learn", "_param_validation"): lambda: import_module("sklearn.utils"),
    ("scikit-learn", "_check_sample_weight"): lambda: import_module(
        "sklearn.utils.validation"
    ),
    ("scikit-learn", "_tree"): lambda: import_module("sklearn.tree"),
    **{
        ("scikit-learn", name): machine
        for name in (
            "_n_support",
            "_dual_coef_",
            "_intercept_",
            "_probA",
            "_probB",
            "_effective_probability",
            "_sparse",
            "_impl",
        )
    },
    ("scikit-learn", "_n_features_outs"): encoder,
    ("scikit-learn", "_drop_idx_after_grouping"): encoder,
    ("scikit-learn", "_infrequent_enabled"): encoder,
    **{("skops", name): lambda: skops.io for name in ("_audit", "_protocol", "_utils")},
}
# What classes of this project define for their base classes to find.
OVERRIDDEN: dict[tuple[str, str], type[Any]] = {
    ("kedro", "_exists"): AbstractDataset,
    ("kedro", "_describe"): AbstractDataset,
    ("kedro", "_get_save_path"): AbstractVersionedDataset,
    ("kedro-datasets", "_connect"): FileDataset,
    ("scikit-learn", "_parameter_constraints"): LogisticRegression,
}


@pytest.mark.parametrize(("package", "name"), NAMES)
def test_the_name_is_still_there(package: str, name: str) -> None:
    owner = NAMES[package, name]()
    if name == "_typing":
        assert {"JSONPreview", "TablePreview"} <= set(dir(owner))
        return
    assert hasattr(owner, name), (
        f"{package} {version(package)} has renamed or removed '{name}' of {owner!r}: "
        "mend ridgeline.private_names, the one place that uses it"
    )


@pytest.mark.parametrize(("package", "name"), OVERRIDDEN)
def test_what_is_overridden_is_still_asked_for(package: str, name: str) -> None:
    assert hasattr(OVERRIDDEN[package, name], name), (
        f"{package} {version(package)} asks for '{name}' no more: find the classes in "
        "src/ that define it"
    )


# Kedro: where a file is.


def test_every_kind_of_file_dataset_tells_its_file(tmp_path: Path) -> None:
    """Those of the catalog, and those that others have in theirs."""
    kinds = {
        "a.csv": CSVDataset,
        "a.txt": TextDataset,
        "a.json": JSONDataset,
        "a.png": MatplotlibDataset,
        "b.json": XnnModelDataset,
        "b.skops": SkopsModelDataset,
    }
    for name, kind in kinds.items():
        path = tmp_path / name
        dataset = kind(filepath=str(path))
        assert kedro_names.local_file(dataset) is None, "nothing is saved yet"
        path.write_text("content")
        for told in (dataset, CachedDataset(dataset)):
            assert kedro_names.local_file(told) == path, kind.__name__
    path = tmp_path / "c.json"
    path.write_text("content")
    kind = "ridgeline.datasets.XnnModelDataset"
    optional = OptionalModelDataset(dataset=kind, filepath=str(path))
    assert kedro_names.local_file(optional) == path


def test_engine_and_version_tell_their_file(tmp_path: Path) -> None:
    table = ParquetTableDataset(filepath=str(tmp_path / "a.parquet"), connection=DUCKDB)
    table.save(ibis.memtable({"a": [1]}))
    assert kedro_names.local_file(table) == tmp_path / "a.parquet"
    texts = TextDataset(filepath=str(tmp_path / "note.md"), version=Version(None, None))
    texts.save("# hi")
    file = kedro_names.local_file(texts)
    assert file is not None
    assert file.read_text() == "# hi"
    assert file != tmp_path / "note.md"


def test_what_has_no_local_file_has_none(tmp_path: Path) -> None:
    (tmp_path / "bucket").mkdir()
    for dataset in (None, MemoryDataset(1), CachedDataset(MemoryDataset(1))):
        assert kedro_names.local_file(dataset) is None
    remote = CSVDataset(filepath="memory://bucket/a.csv")
    assert not kedro_names.is_local(remote)
    assert kedro_names.local_file(remote) is None
    assert not kedro_names.is_local(table_file("s3://bucket/a.parquet"))
    assert kedro_names.is_local(table_file("bucket/a.parquet"))


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (CSVDataset, "_filepath"),
        (CSVDataset, "_protocol"),
        (SkopsModelDataset, "_filepath"),
        (XnnModelDataset, "_filepath"),
    ],
)
def test_a_renamed_attribute_is_an_error_and_not_no_file(
    tmp_path: Path, make: Callable[..., Any], name: str
) -> None:
    path = tmp_path / "a"
    path.write_text("content")
    dataset = make(filepath=str(path))
    setattr(dataset, f"{name}_renamed", getattr(dataset, name))
    delattr(dataset, name)
    with pytest.raises(AttributeError, match=name):
        kedro_names.local_file(dataset)


def test_metadata_is_found_behind_a_cache() -> None:
    noted = MemoryDataset(1, metadata={"mlflow": {"run": "a"}})
    assert kedro_names.metadata_of(noted) == {"mlflow": {"run": "a"}}
    assert kedro_names.metadata_of(CachedDataset(noted)) == noted.metadata
    assert kedro_names.metadata_of(None) == {}


def test_session_and_runner_tell_what_they_were_told(tmp_path: Path) -> None:
    session = KedroSession("id", project_path=PROJECT, conf_source=str(tmp_path))
    assert kedro_names.conf_source(session) == str(tmp_path)
    session = KedroSession("id", project_path=PROJECT)
    assert kedro_names.conf_source(session) == str(PROJECT / "conf")
    for chosen in (True, False):
        assert kedro_names.is_async(SequentialRunner(is_async=chosen)) is chosen


def test_an_engine_connects_by_the_replaced_arguments(tmp_path: Path) -> None:
    dataset = FileDataset(
        str(tmp_path / "a.parquet"),
        "parquet",
        connection=DUCKDB | {"threads": 1, "memory_limit": "1GB"},
    )
    before = kedro_names.connection_config(dataset)
    with kedro_names.connection_config_replaced(dataset, before | {"threads": 2}):
        connection = dataset.connection
    (threads,) = connection.raw_sql("SELECT current_setting('threads')").fetchone()
    assert threads == 2
    assert kedro_names.connection_config(dataset) == before


# scikit-learn and skops.


class _Constrained(BaseEstimator):
    _parameter_constraints = {  # noqa: RUF012
        "share": [sklearn_names.Interval(Real, 0, 1, closed="both")],
        "kind": [sklearn_names.StrOptions({"a", "b"})],
    }

    def __init__(self, share: float = 0.5, kind: str = "a") -> None:
        self.share = share
        self.kind = kind


def test_parameters_are_checked() -> None:
    assert sklearn_names.has_constraints(_Constrained)
    assert not sklearn_names.has_constraints(BaseEstimator)
    sklearn_names.validate_params(_Constrained(share=1.0, kind="b"))
    for wrong in ({"share": 1.5}, {"kind": "c"}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            sklearn_names.validate_params(_Constrained(**wrong))


def test_rows_and_weights_are_taken_as_they_come() -> None:
    frame = pd.DataFrame({"a": [1, 2, 3]}, index=[7, 8, 9])
    chosen = sklearn_names.safe_indexing(frame, np.array([2, 0]))
    pd.testing.assert_frame_equal(chosen, frame.iloc[[2, 0]])
    weight = sklearn_names.check_sample_weight(None, X)
    np.testing.assert_array_equal(weight, np.ones(len(X)))
    with pytest.raises(ValueError, match=r"(?i)negative"):
        sklearn_names.check_sample_weight(-np.ones(len(X)), X, ensure_non_negative=True)


def test_state_of_a_support_vector_machine() -> None:
    state = sklearn_names.support_vector_state(machine())
    assert np.sum(state.n_support) == len(machine().support_)
    np.testing.assert_array_equal(np.abs(state.dual_coef), np.abs(machine().dual_coef_))
    np.testing.assert_array_equal(np.abs(state.intercept), np.abs(machine().intercept_))
    assert not state.has_probabilities
    assert len(state.prob_a) == len(state.prob_b) == 0
    assert state.is_sparse is False
    assert state.is_own_kind
    other = SVR().fit(X, X[:, 0])
    other._impl = "c_svc"  # as a file might say
    assert not sklearn_names.support_vector_state(other).is_own_kind


def test_state_of_an_encoder() -> None:
    state = sklearn_names.encoder_state(encoder())
    assert state.n_columns == [len(TEXTS)]
    assert state.dropped is None
    assert state.groups_infrequent is False
    rare = OneHotEncoder(min_frequency=2, drop="first").fit([["a"], ["a"], ["b"]])
    assert sklearn_names.encoder_state(rare).groups_infrequent is True
    assert sklearn_names.encoder_state(rare).dropped is not None


def test_nodes_of_a_tree_are_of_the_type() -> None:
    tree = DecisionTreeClassifier().fit(X, Y).tree_
    assert tree.__getstate__()["nodes"].dtype == sklearn_names.tree_node_type()


def test_skops_tells_its_nodes_before_it_makes_them(tmp_path: Path) -> None:
    path = tmp_path / "model.skops"
    skops.io.dump(LogisticRegression().fit(X, Y), path)
    with zipfile.ZipFile(path) as archive:
        schema = json.loads(archive.read("schema.json"))
        assert schema["protocol"] == skops_names.PROTOCOL
        node = skops_names.audited_nodes(schema, archive, [])
        assert isinstance(node.construct(), LogisticRegression)
        assert node.children


@pytest.mark.parametrize("name", TRUSTED_TYPES)
def test_a_trusted_type_is_where_files_say(name: str) -> None:
    """skops writes the module that a class is in, which is a private one for most."""
    module, _, kind = name.rpartition(".")
    found = getattr(import_module(module), kind, None)
    assert found is not None, f"'{kind}' has moved from '{module}': see TRUSTED_TYPES"
    assert f"{found.__module__}.{found.__qualname__}" == name


# No other place.

# Of tuples with names; the underscore keeps them apart from the fields.
_OF_NAMED_TUPLES = {"_asdict", "_replace", "_make", "_fields"}


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


@cache
def trees() -> dict[str, ast.Module]:
    """Return the modules of the package, by their files."""
    return {
        path.relative_to(SOURCE).as_posix(): ast.parse(path.read_bytes())
        for path in SOURCE.rglob("*.py")
    }


@cache
def imports(file: str) -> list[tuple[str, str]]:
    """Return each module that is imported with the name that is taken from it."""
    found = []
    for node in ast.walk(trees()[file]):
        if isinstance(node, ast.Import):
            found += [(alias.name, "") for alias in node.names]
        if isinstance(node, ast.ImportFrom):
            found += [(node.module or "", alias.name) for alias in node.names]
    return found


@cache
def own_names(file: str) -> set[str]:
    """Return the private names that a module defines or sets on `self`."""
    found = set()
    for node in ast.walk(trees()[file]):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            found.add(node.attr)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
    return set(filter(is_private, found))


def known_to(file: str, seen: set[str]) -> set[str]:
    """Return the private names of a module and of those of ours that it imports."""
    seen.add(file)
    names = own_names(file)
    for module, name in imports(file):
        for each in (module, f"{module}.{name}"):
            path = each.removeprefix("ridgeline.").replace(".", "/") + ".py"
            private = path.startswith("private_names/")
            if path in trees() and path not in seen and not private:
                names |= known_to(path, seen)
    return names


def asked_for(node: ast.AST) -> list[str]:
    """Return the texts in a call of `getattr` and the like."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        return []
    if node.func.id not in {"getattr", "hasattr", "setattr", "delattr"}:
        return []
    return [str(each.value) for each in node.args if isinstance(each, ast.Constant)]


def foreign_names(file: str) -> Iterator[str]:
    """Yield the private names of other packages that a module uses."""
    anywhere = set().union(*map(own_names, trees()))
    foreign = {name for _, name in NAMES}
    known = known_to(file, set()) | (anywhere - foreign) | _OF_NAMED_TUPLES
    for module, name in imports(file):
        parts = [part for part in (*module.split("."), name) if is_private(part)]
        if parts and module.split(".")[0] != "ridgeline":
            yield parts[0]
    for node in ast.walk(trees()[file]):
        used = [node.attr] if isinstance(node, ast.Attribute) else asked_for(node)
        yield from (name for name in used if is_private(name) and name not in known)


def test_private_names_are_used_in_their_place_alone() -> None:
    files = [file for file in trees() if not file.startswith("private_names/")]
    found = {(file, name) for file in files for name in foreign_names(file)}
    assert not found, "use a public name, or give it a place in private_names/"


def test_the_walk_finds_what_it_is_for() -> None:
    """Else the test above could only pass."""
    used = {
        name
        for file in trees()
        if file.startswith("private_names/")
        for name in foreign_names(file)
    }
    tried = {name for _, name in NAMES}
    # Set and restored there, which looks like a name of our own.
    assert used | {"_connection_config"} == tried, "each name is tried above"
