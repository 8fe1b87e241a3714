"""scikit-learn models in the catalog: whole files, of trusted types alone."""

from pathlib import Path

import numpy as np
import pytest
import skops.io
from kedro.io import DataCatalog, DatasetError, Version
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KDTree
from sklearn.preprocessing import FunctionTransformer

from ridgeline.datasets import SkopsModelDataset
from ridgeline.errors import InputError

X = np.random.default_rng(0).normal(size=(100, 2))
MODEL = LogisticRegression().fit(X, X[:, 0] > 0)


def test_model_comes_back_through_a_catalog(tmp_path: Path) -> None:
    entry = {
        "type": "ridgeline.datasets.SkopsModelDataset",
        "filepath": str(tmp_path / "deep" / "logr.skops"),
        "metadata": {"kedro-viz": {"layer": "models"}},
    }
    catalog = DataCatalog.from_config({"logr.model": entry})
    assert not catalog.exists("logr.model")
    catalog.save("logr.model", MODEL)
    assert catalog.exists("logr.model")
    again = catalog.load("logr.model")
    np.testing.assert_array_equal(again.predict_proba(X), MODEL.predict_proba(X))
    assert catalog["logr.model"].metadata == entry["metadata"]
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["logr.skops"]


def test_foreign_file_is_refused_in_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "foreign.skops"
    skops.io.dump(FunctionTransformer(func=np.testing.assert_allclose), path)
    with pytest.raises(DatasetError, match="does not trust") as failure:
        SkopsModelDataset(filepath=str(path)).load()
    assert isinstance(failure.value.__cause__, InputError)


def test_failed_save_keeps_the_former_file(tmp_path: Path) -> None:
    dataset = SkopsModelDataset(filepath=str(tmp_path / "model.skops"))
    dataset.save(MODEL)
    with pytest.raises(DatasetError):
        dataset.save(KDTree(X))
    np.testing.assert_array_equal(dataset.load().coef_, MODEL.coef_)
    assert [path.name for path in tmp_path.iterdir()] == ["model.skops"]


def test_versions_are_kept_apart(tmp_path: Path) -> None:
    path = str(tmp_path / "model.skops")
    other = LogisticRegression().fit(X, X[:, 1] > 0)
    for stamp, model in (("1", MODEL), ("2", other)):
        SkopsModelDataset(filepath=path, version=Version(None, stamp)).save(model)
    latest = SkopsModelDataset(filepath=path, version=Version(None, None)).load()
    np.testing.assert_array_equal(latest.coef_, other.coef_)
    first = SkopsModelDataset(filepath=path, version=Version("1", None)).load()
    np.testing.assert_array_equal(first.coef_, MODEL.coef_)
