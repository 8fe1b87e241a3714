"""One template serves every method of the registry."""

import time

import pandas as pd
import pytest

from ridgeline.baselines.fitting import NotApplicable
from ridgeline.baselines.settings import BaselineSettings
from ridgeline.errors import InputError
from ridgeline.lendingclub.identity import identify_split
from ridgeline.lendingclub.modelling import model_sample
from ridgeline.pipelines.baselines.nodes import fitting_node


@pytest.fixture(scope="module")
def sets(make_applications):
    rows = {"train": make_applications(200, 0), "validation": make_applications(100, 1)}
    return rows | {"identity": identify_split(rows)}


def test_method_is_fitted_and_reported(sets):
    settings = BaselineSettings(grid={"C": [0.1, 10.0]})
    before = {name: sets[name].copy(deep=True) for name in ("train", "validation")}
    began = time.perf_counter()
    model, report, table = fitting_node("logr")(**sets, settings=settings, seed=0)
    spent = time.perf_counter() - began
    rows = model_sample(sets["train"])
    assert model.predict_proba(rows.features).shape == (200, 2)
    assert report["parameters"]["C"] in (0.1, 10.0)
    assert report["n_parameters"] == 5 + 5 + 1  # numbers, purposes, intercept
    assert 0 < report["fit_seconds"] < spent
    assert "n_components" not in report
    assert sorted(table["C"]) == [0.1, 10.0]
    assert report["parameters"]["C"] == table["C"].iloc[0]
    for name, rows in before.items():
        pd.testing.assert_frame_equal(rows, sets[name])


def test_method_that_is_not_applicable_says_so_in_its_report(sets):
    settings = BaselineSettings(max_rows=50)
    model, report, table = fitting_node("svm")(**sets, settings=settings, seed=0)
    assert isinstance(model, NotApplicable)
    assert report["not_applicable"] == model.reason
    assert set(report) == {"not_applicable", "data_identity"}
    assert "200" in model.reason
    assert table.empty


def test_unknown_parameter_is_one_sentence(sets):
    settings = BaselineSettings(settings={"max_deph": 3})
    with pytest.raises(InputError, match="did you mean 'max_depth'"):
        fitting_node("rf")(**sets, settings=settings, seed=0)
