"""One template serves every method of the registry."""

import inspect
import time
from typing import get_type_hints

import pandas as pd
import pytest
from kedro.config import OmegaConfigLoader
from projects import PROJECT

from ridgeline.baselines.settings import BaselineSettings
from ridgeline.errors import InputError
from ridgeline.lendingclub.modelling import describe_applications, model_sample
from ridgeline.pipelines.baselines.nodes import fit_method
from ridgeline.pipelines.models import for_model
from ridgeline.settings import CONFIG_LOADER_ARGS
from ridgeline.tables.identity import identify_split
from ridgeline.xnn.search import PAPER_GRID


@pytest.fixture(scope="module")
def sets(make_applications):
    rows = {"train": make_applications(200, 0), "validation": make_applications(100, 1)}
    table = describe_applications().to_json()
    return rows | {"identity": identify_split(rows), "table": table}


def test_method_is_fitted_and_reported(sets):
    settings = BaselineSettings(grid={"C": [0.1, 10.0]})
    before = {name: sets[name].copy(deep=True) for name in ("train", "validation")}
    began = time.perf_counter()
    [model], report, table = fit_method("logr", **sets, settings=settings, seed=0)
    spent = time.perf_counter() - began
    rows = model_sample(sets["train"])
    assert model.predict_proba(rows.features).shape == (200, 2)
    assert report["parameters"]["C"] in (0.1, 10.0)
    assert report["n_parameters"] == 5 + 5 + 1  # numbers, purposes, intercept
    assert report["fits"] == 3
    assert 0 < report["fit_seconds"] < spent
    assert 0 < report["tuning_seconds"] < spent
    assert "n_components" not in report
    assert sorted(table["C"]) == [0.1, 10.0]
    assert report["parameters"]["C"] == table["C"].iloc[0]
    for name, rows in before.items():
        pd.testing.assert_frame_equal(rows, sets[name])


def test_method_that_is_not_applicable_says_so_in_its_report(sets):
    settings = BaselineSettings(max_rows=50)
    models, report, table = fit_method("svm", **sets, settings=settings, seed=0)
    assert models == []
    assert set(report) == {"not_applicable", "data_identity"}
    assert "200 training rows are above its limit of 50" in report["not_applicable"]
    assert table.empty


def test_unknown_parameter_is_one_sentence(sets):
    settings = BaselineSettings(settings={"max_deph": 3})
    with pytest.raises(InputError, match="did you mean 'max_depth'"):
        fit_method("rf", **sets, settings=settings, seed=0)


def test_networks_of_the_base_environment_are_tuned_alike():
    loader = OmegaConfigLoader(str(PROJECT / "conf"), env="base", **CONFIG_LOADER_ARGS)
    parameters = loader["parameters"]
    network = parameters["xnn"]["tuning"]
    naive, gam = (
        parameters["baselines"][name]["grid"] for name in ("naive_xnn", "gam")
    )
    for name in PAPER_GRID:
        assert naive[name] == network[name]
    assert gam["l1_scales"] == network["l1_scales"] == list(PAPER_GRID["l1_scales"])
    # As many values of lambda1 as the paper's, from its smallest to beyond its largest.
    paper = PAPER_GRID["l1_projection"]
    tried = network["l1_projection"]
    assert len(tried) == len(paper)
    assert min(tried) == min(paper)
    assert max(paper) in tried


def test_function_for_a_model_has_the_inputs_and_their_types():
    bound = for_model(fit_method, "svm")
    inputs = ["train", "validation", "table", "identity", "settings", "seed"]
    assert list(inspect.signature(bound).parameters) == inputs
    assert get_type_hints(bound)["settings"] is BaselineSettings
    assert (bound.__name__, bound.__doc__) == ("fit_method", fit_method.__doc__)
