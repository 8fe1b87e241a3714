"""Each model judged by the same code, and all of them side by side."""

import logging

import numpy as np
import pandas as pd
import pytest
from kedro.io import DataCatalog, MemoryDataset
from kedro.runner import SequentialRunner
from matplotlib.figure import Figure
from sklearn.metrics import log_loss, roc_auc_score

from ridgeline.baselines.titles import TITLES
from ridgeline.errors import InputError
from ridgeline.evaluation.metrics import EvaluationSettings, evaluate
from ridgeline.lendingclub.modelling import describe_applications, model_sample
from ridgeline.pipeline_registry import register_pipelines
from ridgeline.pipelines.evaluation.nodes import (
    compare_models,
    evaluate_model,
    plot_curves,
)
from ridgeline.tables.identity import identify_split

TABLE = describe_applications()
SETTINGS = EvaluationSettings(bootstrap_samples=50, calibration_bins=5)
OF_THE_FIT = {
    **{"fits": 31, "fit_seconds": 1.5, "n_parameters": 9, "n_components": 3},
    "epochs": 7,
}
REASON = "There are too many rows."


@pytest.fixture(scope="module")
def held_out(make_applications):
    return make_applications(300, 3)


def judge(model, test, report):
    """Judge a model that was fitted on the same data."""
    identity = identify_split({"test": test})
    return evaluate_model(
        "rf",
        model=model,
        report=report | {"data_identity": identity["split"]},
        test=test,
        identity=identity,
        table=TABLE,
        settings=SETTINGS,
        seed=1,
    )


@pytest.fixture(scope="module")
def judged(known_network, held_out):
    return judge([known_network], held_out, OF_THE_FIT)


def compare(table=TABLE, **metrics):
    """Compare models that were judged on the same data."""
    identity = {"split": next(iter(metrics.values()))["data_identity"]}
    return compare_models(table, identity, **metrics)


def test_metrics_are_those_of_the_probabilities(judged, known_network, held_out):
    metrics, _ = judged
    sample = model_sample(held_out)
    probability = known_network.predict_proba(sample.features)[:, 1]
    assert metrics["auc"] == pytest.approx(
        roc_auc_score(held_out["approved"], probability)
    )
    assert metrics["log_loss"] == pytest.approx(
        log_loss(held_out["approved"], probability)
    )
    expected = evaluate(sample.target, probability, SETTINGS, 1)
    assert expected.metrics.items() <= metrics.items()
    assert metrics["n_test"] == 300


def test_metrics_have_the_agreed_names(judged):
    metrics, _ = judged
    assert set(metrics) == {
        *("auc", "auc_low", "auc_high", "ks", "log_loss", "brier"),
        *("calibration_error", "accuracy", "threshold", "n_test"),
        *("fits", "fit_seconds", "predict_seconds", "n_parameters", "n_components"),
        *("cells_beyond_range", "data_identity"),
    }
    taken = {name: metrics[name] for name in OF_THE_FIT if name in metrics}
    assert taken == {name: OF_THE_FIT[name] for name in OF_THE_FIT if name != "epochs"}


@pytest.mark.filterwarnings("error")
def test_cells_beyond_the_range_are_counted_in_silence(known_network, held_out):
    far = held_out.copy()
    far.iloc[:7, far.columns.get_loc("dti")] = 150.0
    metrics, _ = judge([known_network], far, OF_THE_FIT)
    assert metrics["cells_beyond_range"] == 7
    assert judge([known_network], held_out, {})[0]["cells_beyond_range"] == 0


def test_model_without_components_has_no_such_metric(known_network, held_out):
    report = {"fit_seconds": 1.0, "n_parameters": 2}
    metrics, _ = judge([known_network], held_out, report)
    assert "n_components" not in metrics


def test_curves_are_plain_lists_that_make_the_same_tables(
    judged, known_network, held_out
):
    _, curves = judged
    sample = model_sample(held_out)
    probability = known_network.predict_proba(sample.features)[:, 1]
    expected = evaluate(sample.target, probability, SETTINGS, 1)
    for kind in ("roc", "calibration"):
        found = pd.DataFrame(curves[kind])
        pd.testing.assert_frame_equal(found, getattr(expected, kind))
        assert all(isinstance(column, list) for column in curves[kind].values())


def test_rows_are_not_changed(known_network, held_out):
    before = held_out.copy(deep=True)
    judge([known_network], held_out, OF_THE_FIT)
    pd.testing.assert_frame_equal(held_out, before)


def test_reason_why_there_is_no_model_goes_through(judged, held_out, caplog):
    caplog.set_level(logging.INFO, logger="ridgeline")
    metrics, curves = judge([], held_out, {"not_applicable": REASON})
    assert metrics["not_applicable"] == REASON
    assert set(metrics) == {"not_applicable", "data_identity"}
    assert curves == {}
    table, missing = compare(**{"svm": metrics, "xnn.refined": judged[0]})
    assert table["model"].to_list() == ["xnn.refined"]
    assert missing == {TITLES["svm"]: REASON}
    assert TITLES["svm"] in caplog.text
    assert REASON in caplog.text


def test_model_whose_file_is_gone_is_one_sentence(held_out):
    with pytest.raises(InputError, match="rf was fitted, but .* --pipeline baselines"):
        judge([], held_out, OF_THE_FIT)


def test_stage_of_the_network_is_judged_as_any_model(judged, known_network, held_out):
    metrics, curves = judge(known_network, held_out, OF_THE_FIT)
    timed = {"predict_seconds": judged[0]["predict_seconds"]}
    assert (metrics | timed, curves) == judged


def test_comparison_is_by_auc_and_has_titles(judged):
    aucs = {"rf": 0.7, "xnn.refined": 0.9, "logr": 0.8}
    metrics = {name: judged[0] | {"auc": auc} for name, auc in aucs.items()}
    table, missing = compare(**metrics)
    assert missing == {}
    assert table["model"].to_list() == ["xnn.refined", "logr", "rf"]
    assert table["auc"].to_list() == [0.9, 0.8, 0.7]
    assert table["title"].to_list() == [TITLES[name] for name in table["model"]]


def test_curves_of_the_compared_models_are_drawn(judged):
    metrics, curves = judged
    table, _ = compare(**{"xnn.refined": metrics, "rf": metrics | {"auc": 0.5}})
    drawn = plot_curves(
        TABLE, table, **{"xnn.refined": curves, "rf": curves, "svm": {}}
    )
    for figure in drawn:
        assert isinstance(figure, Figure)
        texts = {text.get_text() for text in figure.findobj(match=_is_text)}
        assert any(TITLES["xnn.refined"] in text for text in texts)
        assert any(TITLES["rf"] in text for text in texts)
        assert not any(TITLES["svm"] in text for text in texts)


def _is_text(artist):
    return hasattr(artist, "get_text")


def test_one_method_is_judged_by_its_node_alone(judged, known_network, held_out):
    pipeline = register_pipelines()["evaluation"].filter(
        node_names=["gam.evaluate_model"]
    )
    identity = identify_split({"test": held_out})
    given = {
        "gam.model": [known_network],
        "gam.report": OF_THE_FIT | {"data_identity": identity["split"]},
        "test": held_out,
        "data_identity": identity,
        "table_description": TABLE.to_json(),
        "params:evaluation": SETTINGS,
        "params:seed": 1,
    }
    catalog = DataCatalog({name: MemoryDataset(data) for name, data in given.items()})
    found = SequentialRunner().run(pipeline, catalog)
    assert set(found) == {"gam.metrics", "gam.curves"}
    metrics = found["gam.metrics"].load()
    assert np.isclose(metrics["auc_low"], judged[0]["auc_low"])
    assert set(metrics) == set(judged[0])


def test_a_network_that_nothing_was_pruned_of_is_not_shown_twice(judged, caplog):
    """Pruning that keeps everything is said; pruning that prunes has its line."""
    metrics, _ = judged
    stages = {"xnn.trained": metrics, "xnn.pruned": metrics, "xnn.refined": metrics}
    with caplog.at_level(logging.INFO):
        table, missing = compare(describe_applications(simulated=True), **stages)
    assert table["model"].tolist() == ["xnn.trained", "xnn.refined"]
    reason = "is xNN trained, as pruning kept all 3 components."
    assert missing == {"xNN pruned": reason}
    assert "Models on the test rows (simulated data)" in caplog.text
    stages["xnn.pruned"] = metrics | {"n_components": 2}
    table, missing = compare(**stages)
    assert len(table) == 3
    assert not missing


def test_every_method_s_fits_are_counted_beside_its_figures(judged, caplog):
    metrics, _ = judged
    with caplog.at_level(logging.INFO):
        table, _ = compare(**{"rf": metrics, "mlp": metrics | {"fits": 5}})
    assert table.set_index("model")["fits"].to_dict() == {"rf": 31, "mlp": 5}
    header, *lines = caplog.messages[-1].splitlines()[1:]
    column = header.split().index("fits")
    # Titles have blanks of their own: columns are counted from the right.
    from_the_right = column - len(header.split())
    assert [line.split()[from_the_right] for line in lines] == ["31", "5"]
