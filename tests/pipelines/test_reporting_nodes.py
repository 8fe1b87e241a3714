"""The explanation in figures and words, the limits, and the page that has them all."""

import html
import io
import logging
import re

import pandas as pd
import pytest
from matplotlib.figure import Figure

from ridgeline.evaluation.metrics import EvaluationSettings
from ridgeline.lendingclub.modelling import describe_applications
from ridgeline.lendingclub.notes import application_notes
from ridgeline.pipelines.evaluation.nodes import compare_models, evaluate_model
from ridgeline.pipelines.reporting.nodes import (
    explain_network,
    list_limits,
    write_report,
)
from ridgeline.tables.identity import identify_split

TABLE = describe_applications()
SETTINGS = EvaluationSettings(bootstrap_samples=50, calibration_bins=5)
REASON = "There are too many rows."
AUDIT = pd.DataFrame(
    [
        ["filter", "missing_value", "no cell", "accepted", 100, 10, 90, ""],
        ["filter", "missing_value", "no cell", "rejected", 1000, 600, 400, ""],
    ],
    columns="section step rule class rows_in removed kept examples".split(),
)


@pytest.fixture(scope="module")
def held_out(make_applications):
    return make_applications(400, 3)


@pytest.fixture(scope="module")
def of_one_split(held_out):
    """Return what tells that model, metrics and rows are of the same data."""
    identity = identify_split({"test": held_out})
    same = {"data_identity": identity["split"]}
    return {"identity": identity, "refinement": same, "metrics": same}


@pytest.fixture(scope="module")
def comparison(known_network, held_out, of_one_split):
    identity = of_one_split["identity"]
    metrics, _ = evaluate_model(
        "xnn.refined",
        model=known_network,
        report={"fit_seconds": 1.0, "n_parameters": 9} | of_one_split["refinement"],
        test=held_out,
        identity=identity,
        table=TABLE,
        settings=SETTINGS,
        seed=1,
    )
    judged = {"xnn.refined": metrics, "rf": metrics | {"auc": 0.6}}
    return compare_models(TABLE, identity, **judged)[0]


@pytest.fixture(scope="module")
def truth():
    """Curves that the known network follows but for dti, which goes the other way."""
    from ridgeline.lendingclub.simulator.truth import COMPONENTS, component_curve

    curves = {name: component_curve(name, 2_000, 20_000) for name in COMPONENTS}
    score = curves["risk_score"]
    curves["risk_score"] = score.assign(log_odds=score["value"] / 100)
    curves["dti"] = curves["dti"].assign(log_odds=curves["dti"]["value"] / 100)
    return curves


@pytest.fixture(scope="module")
def evidence(known_network, held_out, truth, of_one_split):
    """Return what both nodes of the model take."""
    rows = {"model": known_network, "test": held_out, "truth": truth, "table": TABLE}
    return rows | of_one_split


@pytest.fixture(scope="module")
def explained(evidence, held_out, comparison):
    before = held_out.copy(deep=True)
    found = explain_network(**evidence, comparison=comparison)
    pd.testing.assert_frame_equal(held_out, before)
    return found


def picture(figure):
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=40)
    return buffer.getvalue()


def test_explanation_is_two_figures_numbers_and_sentences(explained):
    beside, alone, numbers, sentences = explained
    assert isinstance(beside, Figure)
    assert isinstance(alone, Figure)
    assert sentences[0].startswith("Risk score matters most")
    assert numbers["correlation"]["ridge 1"] > 0.9
    assert numbers["correlation"]["ridge 2"] < -0.9
    assert set(numbers["model_importance"]) == set(numbers["true_importance"])


def test_without_a_truth_nothing_is_said_about_it(evidence, comparison):
    *_, numbers, sentences = explain_network(
        **evidence | {"truth": {}}, comparison=comparison
    )
    assert numbers == {}
    assert not any("truth" in sentence for sentence in sentences)


def test_small_numbers_are_warned_of_and_listed(known_network, held_out, caplog):
    arguments = {"table": TABLE, "evaluation": SETTINGS, "model": known_network}
    few = list_limits(test=held_out, **arguments)
    warned = [r.getMessage() for r in caplog.records if r.levelno == logging.WARNING]
    assert len(warned) == 3  # approved, declined, rows in a bin
    assert set(warned) <= set(few)
    caplog.clear()
    many = pd.concat([held_out] * 10)
    assert not set(warned) & set(list_limits(test=many, **arguments))
    assert not caplog.records


def test_limits_follow_the_grid_and_the_source(known_network, held_out):
    arguments = {"test": held_out, "evaluation": SETTINGS, "model": known_network}
    listed = {
        (one_grid, simulated): list_limits(
            table=describe_applications(
                simulated=simulated, notes=application_notes(AUDIT, one_grid=one_grid)
            ),
            **arguments,
        )
        for one_grid in (True, False)
        for simulated in (True, False)
    }
    assert len({tuple(sentences) for sentences in listed.values()}) == 4


def test_cells_beyond_the_range_are_a_limit(known_network, held_out):
    far = held_out.copy()
    far.iloc[:3, far.columns.get_loc("dti")] = 150.0
    far.iloc[:1, far.columns.get_loc("risk_score")] = 2_000.0
    arguments = {"table": TABLE, "evaluation": SETTINGS}
    inside, outside = (
        list_limits(model=known_network, test=rows, **arguments)
        for rows in (held_out, far)
    )
    [said] = set(outside) - set(inside)
    assert said == (
        "4 cells of the test rows lie beyond the range of the training rows: "
        "debt-to-income ratio (3) and risk score (1). There the curves stay at their "
        "edges."
    )


@pytest.fixture(scope="module")
def page(evidence, comparison, explained):
    beside, alone, _, sentences = explained
    return write_report(
        **evidence,
        found=sentences,
        bounds=["A limit that nobody expected."],
        audit=AUDIT,
        comparison=comparison,
        training={"rows": {"train": 1_234, "validation": 567}},
        seed=4_321,
        roc=picture(alone),
        calibration=picture(alone),
        explanation=picture(beside),
        marginals=picture(alone),
        missing={"Some method": REASON},
    )


def test_report_has_findings_limits_counts_and_reasons(page, explained):
    text = html.unescape(re.sub(r"<[^>]+>", "", page))
    for sentence in explained[-1]:
        assert sentence in text
    for piece in ("A limit that nobody expected.", "1,234", "567", "400", "4321"):
        assert piece in text
    assert REASON in text
    assert page.count("data:image/png;base64,") == 4


def test_report_knows_its_test_rows(page, of_one_split):
    assert of_one_split["identity"]["test"] in page
