"""The report's figures show the numbers that they are given, and leave no state."""

import numpy as np
import pandas as pd
import pytest
from drawn_figures import drawn, no_state  # noqa: F401
from known_model import make_known, make_rows
from special_model import (
    EFFECTS,
    LEVELS,
    make_levelled,
    make_special,
    special_rows,
    special_truth,
)

from ridgeline.errors import InputError
from ridgeline.lendingclub.modelling import describe_applications
from ridgeline.tables.report.figures import (
    plot_explanation_beside_marginals,
    plot_marginals,
)
from ridgeline.tables.report.labels import labels_of
from ridgeline.tables.report.marginals import marginal_rates, special_rates
from ridgeline.tables.report.truth import compare_with_truth

TABLE = describe_applications()


def test_marginal_rates_are_means_of_the_label(rows, labels, marginals):
    for name, marginal in marginals.items():
        table = marginal.table
        assert table["count"].sum() == len(rows)
        assert table["rate"] @ table["count"] == pytest.approx(labels.sum())
        if marginal.numeric:
            assert (table["low"] <= table["value"]).all()
            assert (table["low"].to_numpy()[1:] > table["high"].to_numpy()[:-1]).all()
            inside = rows[name].between(table["low"][3], table["high"][3])
            assert labels[inside].mean() == pytest.approx(table["rate"][3])
        else:
            by_hand = pd.Series(labels).groupby(rows[name].astype(str)).mean()
            found = table.set_index(table["value"].astype(str))["rate"]
            pd.testing.assert_series_equal(
                found.sort_index(), by_hand, check_names=False, check_index_type=False
            )


def test_a_feature_of_few_values_has_a_rate_for_each():
    X = pd.DataFrame({"years": [0.0, 0.0, 1.0, 11.0], "same": 5.0})
    found = marginal_rates(X, [0, 1, 1, 0])
    assert found["years"].table["value"].tolist() == [0, 1, 11]
    assert found["years"].table["rate"].tolist() == [0.5, 1, 0]
    drawn(plot_marginals(found, TABLE))
    with pytest.raises(InputError, match="4 rows and 3 targets"):
        marginal_rates(X, [0, 1, 1])


def test_marginals_are_drawn(marginals):
    axes = drawn(plot_marginals(marginals, TABLE))
    table = marginals["amount"].table
    (line,) = axes["amount: rates"].lines
    np.testing.assert_array_equal(line.get_xdata(), table["value"])
    np.testing.assert_array_equal(line.get_ydata(), table["rate"])
    (steps,) = axes["amount: counts"].patches
    values, edges, _ = steps.get_data()
    np.testing.assert_allclose(values * np.diff(edges), table["count"])
    assert axes["amount: counts"].get_xlabel() == r"Amount requested (\$)"
    bars = axes["purpose: rates"].patches
    expected = marginals["purpose"].table["rate"].tolist()
    assert [bar.get_width() for bar in bars] == expected


def test_explanation_is_beside_its_marginals_and_over_its_truth(
    known, marginals, truth
):
    axes = drawn(plot_explanation_beside_marginals(known, marginals, truth, TABLE))
    score = axes["ridge 1: curve"]
    curve = next(line for line in score.lines if len(line.get_xdata()) > 2)
    x, y = curve.get_data()
    rows = make_rows(len(x)).assign(risk_score=x)
    np.testing.assert_allclose(known.contributions(rows)[:, 0], y, atol=1e-9)
    (dots,) = score.collections
    table = truth.curves["risk_score"]
    seen = table[table["share"] > 0][["value", "log_odds"]]
    np.testing.assert_allclose(dots.get_offsets(), seen)
    assert score.get_title(loc="left") == "Risk score, IR 66.7%"
    assert score.get_title(loc="right") == "truth: r = 1.000"
    assert axes["ridge 1: density"].get_xlabel() == "Risk score (points)"
    (line,) = axes["ridge 2: rates"].lines
    np.testing.assert_array_equal(line.get_xdata(), marginals["amount"].table["value"])
    weights = [bar.get_width() for bar in axes["ridge 1: projection"].patches]
    assert weights == pytest.approx([1, 0])
    effects = [bar.get_width() for bar in axes["purpose: effects"].patches]
    assert effects == pytest.approx([0.5, 0, -0.5])
    tops = [
        axes[label].get_position().y1
        for label in ("ridge 1: curve", "ridge 2: curve", "purpose: effects")
    ]
    assert tops == sorted(tops, reverse=True)


def test_a_mixture_keeps_the_projected_axis_and_has_no_truth(marginals, truth):
    figure = plot_explanation_beside_marginals(
        make_known(mixed=0.7), marginals, truth, TABLE
    )
    axes = drawn(figure)
    assert axes["ridge 1: density"].get_xlabel() == "projected value z"
    assert not axes["ridge 1: curve"].collections
    with pytest.raises(InputError, match="lack 'amount'"):
        plot_explanation_beside_marginals(
            make_known(), {"risk_score": marginals["risk_score"]}, None, TABLE
        )


def test_special_values_are_bars_with_rates_and_shares_of_their_own(labels):
    scorer, rows = make_special(), special_rows()
    name = "amount: special values"
    special = special_rates(scorer.features, rows, labels, labels_of(TABLE))
    assert list(special) == [name]
    table = special[name].table.set_index("value")
    sums = ["\\$10,000", "\\$20,000", "\\$30,000"]
    assert [str(value) for value in table.index] == ["any other value"] + [
        each.replace("\\", "") for each in sums
    ]
    at = (rows["amount"] == 20_000).to_numpy()
    assert table["rate"]["$20,000"] == pytest.approx(labels[at].mean())
    assert table["count"].sum() == len(rows)

    marginals = marginal_rates(rows, labels)
    with pytest.raises(InputError, match=f"lack '{name}'"):
        plot_explanation_beside_marginals(scorer, marginals, None, TABLE)
    truth = compare_with_truth(scorer, rows, special_truth())
    axes = drawn(
        plot_explanation_beside_marginals(scorer, marginals | special, truth, TABLE)
    )
    bars = [bar.get_width() for bar in axes[f"{name}: effects"].patches]
    np.testing.assert_allclose(bars, EFFECTS)
    named = [text.get_text() for text in axes[f"{name}: rates"].get_yticklabels()]
    assert named == ["any other value", *sums]
    title = axes[f"{name}: effects"].get_title("left")
    assert title == "Amount requested: special values, IR 18.2%"
    noted = axes["ridge 2: curve"].get_title("right")
    assert noted == "truth: r = 1.000"


def test_a_feature_of_few_levels_is_drawn_as_points(marginals):
    figure = plot_explanation_beside_marginals(make_levelled(), marginals, None, TABLE)
    axes = drawn(figure)["ridge 1: curve"]
    line = max(axes.lines, key=lambda line: line.get_zorder())
    assert tuple(line.get_xdata()) == LEVELS
    assert line.get_marker() == "o"
