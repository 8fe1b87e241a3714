"""The study's tables hold what can be computed by hand from its long table."""

import numpy as np
import pandas as pd
import pytest

from ridgeline.errors import InputError
from ridgeline.simulation.paper import NOT_COMPARABLE_REASON, PAPER_MSE
from ridgeline.simulation.report.judgement import against_paper
from ridgeline.simulation.report.tables import (
    SUMMARY_COLUMNS,
    collect_cells,
    compared,
    fits_sentence,
    markdown_table,
    overlap_table,
    recovery_table,
    study_models,
    study_text,
    summarise,
    table_cells,
)

FITS = {"xnn": 34, "rf": 7}


def long_table(cells):
    """A row for each of the errors in `{(scenario, n, model): [mse, ...]}`."""
    rows = [
        (*cell, number, FITS.get(cell[2], 1), 2.0 * number, mse, mse - 1)
        for cell, errors in cells.items()
        for number, mse in enumerate(errors)
    ]
    columns = "scenario n model repetition fits seconds mse excess".split()
    return pd.DataFrame(rows, columns=columns)


@pytest.fixture
def results():
    """Two scenarios; in S3 the forest has one repetition, and SVR does not apply."""
    return long_table(
        {
            ("S3", 1000, "rf"): [1.5],
            ("S1", 2000, "xnn"): [1.03, 1.05],
            ("S1", 1000, "rf"): [1.2, 1.6],
            ("S1", 1000, "aaa"): [1.9, 2.1],
            ("S1", 1000, "xnn"): [1.08, 1.1, 1.12],
            ("S3", 1000, "svm"): [np.nan, np.nan],
            ("S3", 1000, "xnn"): [1.7, 1.9],
        }
    )


class TestSummary:
    def test_means_and_deviations_are_those_by_hand(self, results):
        table = summarise(results)
        assert tuple(table.columns) == SUMMARY_COLUMNS
        first = table.iloc[0]
        assert first[["scenario", "n", "model", "repetitions"]].tolist() == [
            *("S1", 1000, "xnn", 3)
        ]
        assert first["mse_mean"] == pytest.approx(1.1)
        assert first["mse_sd"] == pytest.approx(0.02)
        assert first["excess_mean"] == pytest.approx(0.1)
        assert first["excess_sd"] == pytest.approx(0.02)
        assert first["seconds"] == pytest.approx((0 + 2 + 4) / 3)

    def test_order_is_that_of_the_paper_and_unknown_models_are_last(self, results):
        table = summarise(results.sample(frac=1, random_state=0))
        found = list(table[["scenario", "n", "model"]].itertuples(index=False))
        assert found == [
            *[("S1", 1000, model) for model in ("xnn", "rf", "aaa")],
            ("S1", 2000, "xnn"),
            *[("S3", 1000, model) for model in ("xnn", "rf")],
        ]
        assert study_models(table) == ["xnn", "rf", "aaa"]

    def test_one_repetition_has_no_deviation_and_none_has_no_row(self, results):
        table = summarise(results).set_index(["scenario", "n", "model"])
        assert np.isnan(table.loc[("S3", 1000, "rf"), "mse_sd"])
        assert table.loc[("S3", 1000, "rf"), "repetitions"] == 1
        assert ("S3", 1000, "svm") not in table.index

    def test_what_cannot_be_summarised_is_refused(self, results):
        with pytest.raises(InputError, match="lacks the column 'excess'"):
            summarise(results.drop(columns="excess"))
        with pytest.raises(InputError, match="no result to summarise"):
            summarise(results[results["mse"].isna()])

    def test_the_long_table_stays_as_it_is(self, results):
        before = results.copy()
        summarise(results)
        recovery_table(results)
        pd.testing.assert_frame_equal(results, before)


class TestCompared:
    def test_our_figures_are_beside_those_of_the_paper(self, results):
        table = compared(summarise(results))
        assert len(table) == 3  # scenarios and sizes
        row = table.iloc[0]
        assert row["xnn mean"] == pytest.approx(1.1)
        assert row["xnn sd"] == pytest.approx(0.02)
        assert row["xnn paper"] == 1.086
        assert row["rf paper"] == 1.415
        assert np.isnan(row["aaa paper"])
        assert table["best"].tolist() == ["xnn", "xnn", "rf"]
        assert table["comparable"].tolist() == [True, True, False]

    def test_a_cell_that_was_not_run_has_the_figure_of_the_paper_alone(self, results):
        row = compared(summarise(results)).iloc[1]
        assert np.isnan(row["rf mean"])
        assert row["rf paper"] == 1.308

    def test_markdown_is_as_expected_to_the_letter(self, results):
        text = markdown_table(summarise(results[results["model"] != "aaa"]))
        assert text.splitlines() == [
            "Fits of one task: xNN (enhanced) 34, RF 7.",
            "",
            "### S1: additive, orthogonal projections",
            "",
            "| n | xNN (enhanced) | RF |",
            "| ---: | ---: | ---: |",
            "| 1,000 | **1.100** (0.020) / 1.086 | 1.400 (0.283) / 1.415 |",
            "| 2,000 | **1.040** (0.014) / 1.039 | – / 1.308 |",
            "",
            "### S3: not additive, exponential of products",
            "",
            "| n | xNN (enhanced) | RF |",
            "| ---: | ---: | ---: |",
            "| 1,000 | 1.800 (0.141) | **1.500** |",
            "",
            NOT_COMPARABLE_REASON,
        ]

    def test_means_that_look_the_same_are_both_the_best(self):
        cells = {("S1", 1000, "xnn"): [1.0021], ("S1", 1000, "rf"): [1.0024]}
        cells[("S1", 1000, "mlp")] = [1.0026]
        found = table_cells(summarise(long_table(cells)))["S1"][1000]
        assert [cell.best for cell in found] == [True, True, False]


class TestAgainstPaper:
    def judged(self, cells):
        table = against_paper(summarise(long_table(cells)))
        return table.set_index(["scenario", "n"])

    def test_gaps_are_in_standard_errors_of_our_mean(self):
        # Deviation 0.02 of four: the standard error is 0.01, the paper has 1.086.
        deviations = 0.01 * np.sqrt(3) * np.array([1, 1, -1, -1])
        cells = {
            ("S1", 1000, "xnn"): 1.1 + deviations,
            ("S1", 1000, "mlp"): [1.07, 1.09],
            ("S1", 1000, "rf"): [1.085, 1.097],
        }
        row = self.judged(cells).loc[("S1", 1000)]
        assert row["standard_error"] == pytest.approx(0.01)
        assert row["paper"] == 1.086
        assert row["paper_gap"] == pytest.approx(1.4)
        assert not row["meets_paper"]
        assert row["best_other"] == "mlp"
        assert row["other_mean"] == pytest.approx(1.08)
        assert row["other_gap"] == pytest.approx(2)
        assert not row["meets_others"]
        assert row["better"] == "mlp"  # the forest is within one standard error
        assert row["better_unlike_paper"] == "mlp"

    def test_within_one_standard_error_is_enough(self):
        deviations = 0.02 * np.sqrt(3) * np.array([1, 1, -1, -1])
        row = self.judged({("S1", 1000, "xnn"): 1.1 + deviations}).loc[("S1", 1000)]
        assert row["paper_gap"] == pytest.approx(0.7)
        assert row["meets_paper"]
        assert row["meets_others"]
        assert row["best_other"] == ""

    @pytest.mark.parametrize(("mse", "meets"), [(1.085, True), (1.087, False)])
    def test_one_repetition_has_no_error_to_allow_for(self, mse, meets):
        row = self.judged({("S1", 1000, "xnn"): [mse]}).loc[("S1", 1000)]
        assert np.isnan(row["paper_gap"])
        assert row["meets_paper"] == meets

    def test_noise_that_all_models_of_the_paper_share_is_told_apart(self):
        # The paper's rows are luckier by 0.02 for two of three, whatever the network.
        others = {"rf": 1.251 + 0.02, "mlp": 1.043 + 0.02, "lasso": 2.0}
        cells = {("S1", 5000, model): [mse] for model, mse in others.items()}
        row = self.judged(cells | {("S1", 5000, "xnn"): [1.03]}).loc[("S1", 5000)]
        assert row["paper"] == 1.007
        assert row["excess_mean"] == pytest.approx(0.03)
        assert row["paper_shift"] == pytest.approx(-0.02)
        assert row["gap_without_noise"] == pytest.approx(0.003)

    def test_our_own_noise_is_no_gap(self):
        table = long_table(
            {("S1", 5000, "xnn"): [1.057], ("S1", 5000, "rf"): [1.251 + 0.05]}
        )
        table["excess"] -= 0.05  # the noise of our rows
        row = against_paper(summarise(table)).iloc[0]
        assert not row["meets_paper"]
        assert row["gap_without_noise"] == pytest.approx(0)

    def test_alone_it_shows_no_noise(self):
        row = self.judged({("S1", 1000, "xnn"): [1.1]}).loc[("S1", 1000)]
        assert np.isnan(row["paper_shift"])
        assert np.isnan(row["gap_without_noise"])

    def test_a_model_that_the_paper_has_better_too_is_told_apart(self):
        models = {"xnn": 1.2, "naive_xnn": 1.0, "mlp": 1.1, "rf": 1.1, "gam": 1.1}
        cells = {("S6", 5000, model): [mse] for model, mse in models.items()}
        row = self.judged(cells).loc[("S6", 5000)]
        assert row["better"] == "naive_xnn, rf, mlp, gam"
        assert row["better_unlike_paper"] == "rf, gam"

    def test_only_what_compares_is_judged(self):
        cells = {
            ("S1", 1000, "rf"): [1.2],  # without the network
            ("S1", 300, "xnn"): [1.2],  # not in the paper
            ("S3", 1000, "xnn"): [1.2],
            ("S4", 1000, "xnn"): [1.2],
        }
        found = self.judged(cells)
        assert list(found.index) == [("S4", 1000)]
        nothing = self.judged({("S1", 300, "xnn"): [1.2]})
        assert nothing.empty
        assert "meets_paper" in nothing


class TestNetworks:
    def test_recovery_is_the_mean_where_there_is_a_truth(self):
        cells = {("S2", 1000, "naive_xnn"): [1, 1], ("S2", 1000, "xnn"): [1, 1]}
        results = long_table(cells | {("S3", 1000, "xnn"): [1]})
        results["cosine_mean"] = [0.5, 0.7, 0.9, 1.0, np.nan]
        results["cosine_min"] = [0.1, 0.3, 0.8, 0.9, np.nan]
        results["curve_error"] = [1.0, 0.5, 0.2, 0.4, np.nan]
        table = recovery_table(results)
        assert table["model"].tolist() == ["xnn", "naive_xnn"]
        assert table["repetitions"].tolist() == [2, 2]
        numbers = table[["cosine_mean", "cosine_min", "curve_error"]]
        np.testing.assert_allclose(numbers, [[0.95, 0.85, 0.3], [0.6, 0.2, 0.75]])

    def test_overlap_leaves_out_what_one_component_cannot_have(self):
        cells = {("S1", 1000, "xnn"): [1, 1], ("S1", 1000, "rf"): [1]}
        results = long_table(cells)
        results["n_components"] = [1, 4, 9]
        results["overlap_mean"] = results["overlap_max"] = [np.nan, 0.25, 0.5]
        results["orthogonality_error"] = [1e-8, 3e-8, np.nan]
        (row,) = overlap_table(results).to_dict("records")
        assert row["model"] == "xnn"
        assert row["repetitions"] == 2
        assert row["n_components"] == 2.5
        assert row["overlap_max"] == 0.25
        assert row["orthogonality_error"] == pytest.approx(2e-8)
        assert np.isnan(row["correlation_mean"])  # a column that is not there

    def test_a_study_without_networks_has_empty_tables(self):
        results = long_table({("S1", 1000, "rf"): [1.2]})
        assert recovery_table(results).empty
        assert overlap_table(results).empty


class TestCells:
    def test_metrics_are_those_of_the_summary(self, results):
        found = collect_cells("xnn", summary=summarise(results))
        assert list(found) == ["S1_n1000", "S1_n2000", "S3_n1000"]
        assert found["S1_n1000"] == pytest.approx(
            {
                "mse": 1.1,
                "mse_sd": 0.02,
                "excess": 0.1,
                "excess_sd": 0.02,
                "fits": 34,
                "seconds": 2.0,
            }
        )

    def test_what_is_not_a_number_is_left_out(self, results):
        assert collect_cells("rf", summary=summarise(results))["S3_n1000"] == {
            "mse": 1.5,
            "excess": 0.5,
            "fits": 7,
            "seconds": 0.0,
        }
        assert collect_cells("svm", summary=summarise(results)) == {}


class TestText:
    def test_lines_mark_the_smallest_error_and_gaps(self, results):
        lines = study_text(summarise(results)).splitlines()
        assert lines[1].split() == ["xNN", "RF", "aaa"]
        assert [line.split() for line in lines[2:]] == [
            ["S1", "1000", "0.1000*", "0.4000", "1.0000"],
            ["S1", "2000", "0.0400*", "–", "–"],
            ["S3", "1000", "0.8000", "0.5000*", "–"],
            ["fits", "34", "7", "1"],
        ]

    def test_eight_models_fit_a_terminal_and_stand_in_columns(self):
        models = "xnn naive_xnn svm rf mlp elm lasso gam".split()
        cells = {("S1", 10_000, model): [12.3456] for model in models}
        lines = study_text(summarise(long_table(cells))).splitlines()
        assert max(map(len, lines)) <= 80
        assert lines[2].split()[2:] == ["11.345*"] * 8
        assert lines[1].rindex("GAM") + 3 == lines[2].rindex("*") == len(lines[3])


class TestFits:
    def test_every_model_is_named_with_its_fits(self, results):
        assert fits_sentence(summarise(results)) == (
            "Fits of one task: xNN (enhanced) 34, RF 7, aaa 1."
        )

    def test_cells_may_differ(self, results):
        results.loc[results["n"] == 2000, "fits"] = 25
        assert "xNN (enhanced) 25–34, RF" in fits_sentence(summarise(results))

    def test_what_is_not_known_is_not_said(self, results):
        results["fits"] = results["fits"].where(results["model"] == "rf")
        summary = summarise(results)
        assert fits_sentence(summary) == "Fits of one task: RF 7."
        assert study_text(summary).splitlines()[-1].split() == ["fits", "–", "7", "–"]
        nothing = summary.assign(fits=np.nan)
        assert fits_sentence(nothing) == ""
        assert "fits" not in study_text(nothing)
        assert markdown_table(nothing).startswith("### S1")


def test_the_paper_s_table_is_whole():
    assert len(PAPER_MSE) == 6 * 4 * 7
    assert not PAPER_MSE.duplicated(["scenario", "n", "model"]).any()
    wide = PAPER_MSE.pivot_table(index=["scenario", "n"], columns="model", values="mse")
    # Corners of the printed table, and one from its middle.
    assert wide.loc[("S1", 1000), "xnn"] == 1.086
    assert wide.loc[("S1", 1000), "lasso"] == 2.584
    assert wide.loc[("S6", 10_000), "xnn"] == 1.027
    assert wide.loc[("S6", 10_000), "lasso"] == 1.287
    assert wide.loc[("S4", 2000), "svm"] == 1.127
    assert wide.loc[("S4", 2000), "naive_xnn"] == 1.068
