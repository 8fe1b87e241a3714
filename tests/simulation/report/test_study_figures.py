"""The study's figures show the numbers that they are given, and leave no state."""

import numpy as np
import pandas as pd
import pytest
from drawn_figures import drawn, no_state  # noqa: F401
from known_model import evenly

from ridgeline.errors import InputError
from ridgeline.simulation.paper import PAPER_MSE
from ridgeline.simulation.report.figures import RidgePicture, plot_errors, plot_networks
from ridgeline.simulation.report.tables import summarise
from ridgeline.simulation.report.truth import true_components
from ridgeline.simulation.scenarios import SCENARIOS, TRUE_COMPONENTS, draw
from ridgeline.xnn.features import Features
from ridgeline.xnn.scorer import Scorer, Spread, Subnetworks


def network(directions, scales, factor=1.0, centre=0.0):
    """A network of hyperbolic tangents of the given directions."""
    directions = np.asarray(directions, dtype=float)
    k, p = directions.shape
    names = tuple(f"x{place}" for place in range(p))
    column = evenly(centre - 1 / factor, centre + 1 / factor)
    return Scorer(
        features=Features(
            names, named=False, numbers=dict.fromkeys(names, column), categories={}
        ),
        classes=None,
        projection=directions.T,
        subnetworks=Subnetworks(
            (np.ones((k, 1, 1)),) * 2, (np.zeros((k, 1, 1)),) * 2, "tanh"
        ),
        scales=np.asarray(scales, dtype=float),
        effects=(),
        category_scales=np.empty(0),
        intercept=0.0,
        spread=Spread(
            np.tile(np.linspace(-1, 1, 21), (k, 1)), np.full((k, 20), 0.05), ()
        ),
    )


def truth(*directions):
    """True components that rise by one over their range."""
    z = np.linspace(-1, 1, 50)
    return [
        RidgePicture(f"h{place}", 0.5, np.array(weights), z, z / 2, np.ones(50))
        for place, weights in enumerate(directions, start=1)
    ]


def curve_of(axes):
    """The network's or the truth's own curve, which is drawn over all others."""
    return max((line for line in axes.lines), key=lambda line: line.get_zorder())


def bars_of(axes):
    return [bar.get_height() for bar in axes.patches]


class TestNetworks:
    def test_components_stand_beside_their_truth_and_point_the_same_way(self):
        # The more important one is the second true component, turned round.
        found = network([[0, -1, 0], [0.8, 0, 0.6], [0, 0, 1]], [3, 2, 1])
        figure = plot_networks(truth([1.0, 0, 0], [0, 1.0, 0]), None, found, "S1")
        axes = drawn(figure)
        name = "xNN (enhanced): ridge {}: {}".format
        tops = [axes[name(i, "curve")].get_position().y1 for i in (2, 1, 3)]
        assert tops == sorted(tops, reverse=True)
        for number, true in ((2, "h1"), (1, "h2")):
            row = axes[f"Truth: {true}: curve"].get_position()
            assert axes[name(number, "curve")].get_position().y0 == row.y0
        np.testing.assert_allclose(bars_of(axes[name(1, "projection")]), [0, 1, 0])
        turned = axes[name(1, "curve")]
        z, height = curve_of(turned).get_data()
        assert (np.diff(z) > 0).all()
        np.testing.assert_allclose(height, -3 * np.tanh(z))
        assert turned.get_title(loc="left") == "IR 50.0%, cosine 1.000"
        assert axes[name(3, "curve")].get_title(loc="left") == "ridge 3, IR 16.7%"

    def test_truth_lies_behind_a_curve_of_nearly_the_same_projection_only(self):
        found = network([[1, 0, 0], [0, 0.6, 0.8]], [1, 1])
        figure = plot_networks(truth([1.0, 0, 0], [0, 1.0, 0]), found, None)
        axes = drawn(figure)
        counts = [
            len([line for line in axes[label].lines if len(line.get_xdata()) > 2])
            for label in ("xNN (naive): ridge 1: curve", "xNN (naive): ridge 2: curve")
        ]
        assert counts == [2, 1]

    def test_without_a_truth_the_most_important_is_first(self):
        axes = drawn(
            plot_networks(
                None,
                network([[1, 0], [0, 1]], [1, 3]),
                network([[0, 1]], [1]),
                "S4: \\$",
            )
        )
        assert not any(label.startswith("Truth") for label in axes)
        tops = [
            axes[f"xNN (naive): ridge {number}: curve"].get_position().y1
            for number in (2, 1)
        ]
        assert tops[0] > tops[1]
        assert axes["xNN (enhanced): ridge 1: curve"].get_position().y1 == tops[0]

    def test_scales_are_the_same_in_all_panels(self):
        figure = plot_networks(
            truth([1.0, 0]), network([[1, 0]], [5]), network([[0, 1]], [1])
        )
        axes = drawn(figure)
        for part, get in (
            ("curve", lambda a: (*a.get_xlim(), *a.get_ylim())),
            ("projection", lambda a: (*a.get_xlim(), *a.get_ylim())),
        ):
            limits = {get(a) for label, a in axes.items() if label.endswith(part)}
            assert len(limits) == 1
        low, high = axes["xNN (naive): ridge 1: curve"].get_ylim()
        assert low < -5 * np.tanh(0.98)
        assert high > 5 * np.tanh(0.98)

    def test_projections_are_in_the_units_of_the_features(self):
        # Scaled by two round 0.5: z = 2 (x - 0.5), so x goes from 0 to 1.
        axes = drawn(plot_networks(None, None, network([[1.0]], [1], 2.0, 0.5)))
        z, height = curve_of(axes["xNN (enhanced): ridge 1: curve"]).get_data()
        np.testing.assert_allclose(height, np.tanh(2 * (z - 0.5)))
        assert z.min() == pytest.approx(0, abs=0.02)
        assert z.max() == pytest.approx(1, abs=0.02)
        assert bars_of(axes["xNN (enhanced): ridge 1: projection"]) == [1]

    def test_a_true_component_without_a_match_is_said(self):
        figure = plot_networks(
            truth([1.0, 0], [0, 1.0]), network([[1, 0]], [1]), network([[0, 1]], [0])
        )
        drawn(figure)
        texts = [text.get_text() for axes in figure.axes for text in axes.texts]
        assert texts.count("no match") == 3  # one of the naive, both of the enhanced

    def test_nothing_to_draw_is_refused(self):
        with pytest.raises(InputError, match="pass one that has"):
            plot_networks(None, None, network([[0, 1]], [0]))


class TestTruth:
    @pytest.mark.parametrize("scenario", list(TRUE_COMPONENTS))
    def test_the_components_add_up_to_the_scenario(self, scenario):
        sample = draw(scenario, 2_000, np.random.default_rng(0))
        parts = true_components(scenario, sample.features)
        total = sum(
            np.interp(sample.features @ part.weights, part.z, part.curve)
            for part in parts
        )
        centred = sample.truth - sample.truth.mean()
        np.testing.assert_allclose(total, centred, atol=0.02)
        assert sum(part.importance for part in parts) == pytest.approx(1)
        shares = [part.importance for part in parts]
        assert shares == sorted(shares, reverse=True)
        for part in parts:
            assert np.linalg.norm(part.weights) == pytest.approx(1)

    def test_the_paper_s_order_of_importance_in_s1(self):
        features = draw("S1", 5_000, np.random.default_rng(0)).features
        names = [part.name for part in true_components("S1", features)]
        assert names == ["h4", "h2", "h1", "h3"]  # sine, exponential, line, square

    def test_other_scenarios_have_none(self):
        for scenario in SCENARIOS.keys() - TRUE_COMPONENTS.keys():
            assert true_components(scenario, np.zeros((2, 10))) is None


def errors_table(scenarios=("S1", "S3"), models=("xnn", "rf"), repetitions=2):
    rows = [
        (scenario, n, number, model, 1.0, 1 + excess, excess)
        for scenario in scenarios
        for n in (1000, 2000)
        for place, model in enumerate(models)
        for number in range(repetitions)
        for excess in [(place + 1) * (100 + 20 * number) / n]
    ]
    columns = "scenario n repetition model seconds mse excess".split()
    return summarise(pd.DataFrame(rows, columns=columns).assign(fits=1))


class TestErrors:
    def test_panels_show_means_and_deviations(self):
        axes = drawn(plot_errors(errors_table()))
        panel = axes["S1: errors"]
        title = panel.get_title(loc="left")
        assert title == "S1: additive, orthogonal projections"
        assert (panel.get_xscale(), panel.get_yscale()) == ("log", "log")
        forest = panel.containers[1]
        assert forest.get_label() == "RF"
        n, means = forest[0].get_xydata().T
        np.testing.assert_allclose(means, [0.22, 0.11])
        np.testing.assert_allclose(n, [1000, 2000], rtol=0.1)  # moved aside a little
        (bars,) = forest[2]
        lengths = [np.ptp(segment[:, 1]) for segment in bars.get_segments()]
        deviation = np.std([0.2, 0.24], ddof=1)
        np.testing.assert_allclose(lengths, [2 * deviation, deviation])
        network = panel.containers[0][0]
        assert network.get_linewidth() > forest[0].get_linewidth()

    def test_the_paper_is_drawn_where_it_compares(self):
        figure = plot_errors(errors_table())
        axes = drawn(figure)
        marks = {
            name: next(
                line
                for line in axes[f"{name}: errors"].lines
                if line.get_label() == "xNN (enhanced), paper"
            )
            for name in ("S1", "S3")
        }
        own = PAPER_MSE[(PAPER_MSE["scenario"] == "S1") & (PAPER_MSE["model"] == "xnn")]
        expected = own[["n", "mse"]] - [0, 1]
        np.testing.assert_allclose(marks["S1"].get_xydata(), expected)
        assert len(marks["S3"].get_xdata()) == 0
        (legend,) = figure.legends
        texts = [text.get_text() for text in legend.get_texts()]
        assert texts == ["xNN (enhanced)", "RF", "xNN (enhanced), paper"]
        assert axes["S1: errors"].get_ylim()[0] < expected["mse"].min()

    def test_a_part_of_the_study_is_drawn(self):
        scenarios = ("S1", "S2", "S3", "S4")
        table = errors_table(scenarios, repetitions=1)
        absent = (table["scenario"] == "S1") & (table["model"] == "rf")
        figure = plot_errors(table[~absent])
        axes = drawn(figure)
        assert {f"{name}: errors" for name in scenarios} <= axes.keys()
        assert axes["S1: errors"].containers[1][0].get_xdata().size == 0
        texts = [text.get_text() for text in figure.legends[0].get_texts()]
        assert texts == ["xNN (enhanced)", "RF", "xNN (enhanced), paper"]
        # Of the second and third column the upper panel is the lowest.
        ticks = [
            axes[f"{name}: errors"].xaxis.get_tick_params()["labelbottom"]
            for name in scenarios
        ]
        assert ticks == [False, True, True, True]
