"""A list of no or one model: what was saved comes back, and no file is no model."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from kedro.io import DataCatalog, DatasetError
from sklearn.linear_model import LogisticRegression

from ridgeline.datasets import OptionalModelDataset
from ridgeline.errors import InputError

X = np.random.default_rng(0).normal(size=(100, 2))
MODEL = LogisticRegression().fit(X, X[:, 0] > 0)
SKOPS = "ridgeline.datasets.SkopsModelDataset"


@pytest.fixture
def dataset(tmp_path: Path) -> OptionalModelDataset:
    """Return one in a folder that does not exist yet."""
    path = tmp_path / "deep" / "svm.skops"
    return OptionalModelDataset(dataset=SKOPS, filepath=str(path))


def test_one_model_comes_back_through_a_catalog(tmp_path: Path) -> None:
    entry = {
        "type": "ridgeline.datasets.OptionalModelDataset",
        "dataset": SKOPS,
        "filepath": str(tmp_path / "{method}.skops"),
        "metadata": {"kedro-viz": {"layer": "models"}},
    }
    catalog = DataCatalog.from_config({"{method}.model": entry})
    catalog.save("svm.model", [MODEL])
    assert catalog.exists("svm.model")
    [again] = catalog.load("svm.model")
    np.testing.assert_array_equal(again.coef_, MODEL.coef_)
    assert catalog.get("svm.model").metadata == entry["metadata"]
    assert [path.name for path in tmp_path.iterdir()] == ["svm.skops"]


def test_no_file_is_no_model(dataset: OptionalModelDataset) -> None:
    assert not dataset.exists()
    assert dataset.load() == []


def test_no_model_removes_the_former_one(
    dataset: OptionalModelDataset, tmp_path: Path
) -> None:
    dataset.save([])  # nothing to remove yet
    dataset.save([MODEL])
    dataset.save([])
    assert dataset.load() == []
    assert not dataset.exists()
    assert not list((tmp_path / "deep").iterdir())


@pytest.mark.parametrize("data", [[MODEL, MODEL], MODEL, {}])
def test_anything_else_is_refused_and_the_former_model_stays(
    dataset: OptionalModelDataset, data: Any
) -> None:
    dataset.save([MODEL])
    with pytest.raises(DatasetError, match="a list of no or one model is needed"):
        dataset.save(data)
    assert len(dataset.load()) == 1


def test_damaged_model_is_an_error_and_not_no_model(
    dataset: OptionalModelDataset, tmp_path: Path
) -> None:
    dataset.save([MODEL])
    (tmp_path / "deep" / "svm.skops").write_bytes(b"cut off")
    with pytest.raises(DatasetError) as failure:
        dataset.load()
    causes = failure.value, failure.value.__cause__, failure.value.__cause__.__cause__
    assert any(isinstance(cause, InputError) for cause in causes)


def test_preview_is_that_of_the_model(tmp_path: Path, known_network: Any) -> None:
    network = OptionalModelDataset(
        dataset="ridgeline.datasets.XnnModelDataset",
        filepath=str(tmp_path / "gam.json"),
    )
    network.save([known_network])
    assert set(json.loads(network.preview())) == {"importance_ratios"}
    skops = OptionalModelDataset(dataset=SKOPS, filepath=str(tmp_path / "svm.skops"))
    assert not hasattr(skops, "preview")
