"""The report's sentences are of applications, models, the truth and the limits."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from known_model import make_known, true_curves
from special_model import make_special, special_rows, special_truth

from ridgeline.errors import InputError
from ridgeline.lendingclub.modelling import describe_applications
from ridgeline.lendingclub.notes import application_notes
from ridgeline.reporting.comparison import comparison_table
from ridgeline.tables.report.findings import findings
from ridgeline.tables.report.limits import limits
from ridgeline.tables.report.truth import compare_with_truth

TABLE = describe_applications()


@pytest.fixture(scope="module")
def comparison():
    metrics = {"auc": 0.9, "auc_low": 0.88, "auc_high": 0.92}
    models = {"xnn.refined": metrics, "rf": metrics | {"auc": 0.85}}
    return comparison_table(models, {"rf": "Forest"})


def test_findings_are_in_the_words_of_an_application(known, means, comparison, truth):
    text = "\n".join(findings(known, means, comparison, truth, TABLE))
    assert text.startswith("Risk score matters most")
    assert "Amount requested" in text
    assert "of the applications" in text
    assert "0.0500 above Forest" in text
    assert "ranks the features as the known truth does: risk score, amount" in text
    assert "truth" not in " ".join(findings(known, means, comparison, None, TABLE))


def test_the_truth_is_found_by_a_model_that_is_it(truth, rows):
    assert truth.same_order
    assert truth.features["feature"].tolist() == ["risk_score", "amount", "purpose"]
    assert (truth.features["correlation"] > 0.999).all()
    assert (truth.components["correlation"] > 0.999).all()
    assert (truth.components["smooth_correlation"] > 0.999).all()
    np.testing.assert_allclose(
        truth.features["true_importance"],
        truth.features["model_importance"],
        atol=0.005,
    )
    for table in truth.curves.values():
        assert table["share"].sum() == pytest.approx(1)
        assert table["share"] @ table["log_odds"] == pytest.approx(0, abs=1e-9)


def test_spikes_are_left_out_of_the_smooth_correlation(rows):
    spiked = true_curves()
    at = rows["amount"].sort_values().iloc[:: len(rows) // 40].unique()
    spikes = pd.DataFrame({"value": at, "log_odds": 1e3})
    curve = pd.concat([spiked["amount"], spikes]).drop_duplicates("value", keep="last")
    spiked["amount"] = curve.sort_values("value", ignore_index=True)
    found = compare_with_truth(make_known(), rows, spiked).components
    amount = found.set_index("feature").loc["amount"]
    assert amount["smooth_correlation"] > 2 * abs(amount["correlation"])


def test_a_wrong_model_is_found_out(rows, means, comparison):
    wrong = replace(make_known(), scales=np.array([0.1, 3.0]))
    compared = compare_with_truth(wrong, rows, true_curves())
    assert not compared.same_order
    components = compared.components["component"].tolist()
    assert components == ["ridge 2", "purpose", "ridge 1"]
    upside = true_curves()
    upside["amount"]["log_odds"] *= -1
    found = compare_with_truth(make_known(), rows, upside).components
    assert found.set_index("feature")["correlation"]["amount"] < -0.999
    text = " ".join(findings(wrong, means, comparison, compared, TABLE))
    assert "the known truth ranks them risk score" in text
    with pytest.raises(InputError, match="lacks 'amount'"):
        compare_with_truth(wrong, rows, {"risk_score": upside["risk_score"]})


def test_limits_are_counted_from_the_audit():
    audit = pd.DataFrame(
        {
            "section": "filter",
            "step": "missing_value",
            "class": ["accepted", "rejected"],
            "rows_in": [100, 200],
            "removed": [1, 50],
        }
    )
    notes = application_notes(audit, one_grid=True)
    cured = limits(describe_applications(notes=notes), warnings=["Few rows."])
    assert cured[0] == "Few rows."
    assert any("25 % of the declined" in text for text in cured)
    notes = application_notes(audit, one_grid=False)
    left = limits(describe_applications(simulated=True, notes=notes))
    assert any("flattered" in text for text in left)
    assert not any("flattered" in text for text in cured)
    assert "simulated" in left[0]


def test_special_values_count_with_the_curve_of_their_feature():
    rows = special_rows()
    truth = compare_with_truth(make_special(), rows, special_truth())
    assert (truth.features["correlation"] > 0.999).all()
    assert truth.components["component"].tolist() == ["ridge 1", "ridge 2", "purpose"]
    assert (truth.components["correlation"] > 0.999).all()
    alone = compare_with_truth(make_known(), rows, special_truth())
    amount = alone.components.set_index("feature")["correlation"]["amount"]
    assert amount < 0.95


def test_special_values_without_a_curve_have_a_line_of_their_own():
    scorer = replace(make_special(), scales=np.array([3.0, 0.0]))
    found = compare_with_truth(scorer, special_rows(), special_truth()).components
    assert found["component"].tolist()[1] == "amount: special values"
    assert found["feature"].tolist()[1] == "amount"


def test_cells_beyond_the_range_are_a_limit():
    table = describe_applications(notes=["A note."])
    said = limits(table, beyond={"dti": 1})
    assert said[0].startswith("One cell of the test rows lies beyond the range")
    assert said[1:] == limits(table) == ["A note."]
