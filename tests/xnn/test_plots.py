"""The pictures show the explanation's own numbers and names, and leave no state."""

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from ridgeline.errors import InputError
from ridgeline.xnn.components import RidgeComponent
from ridgeline.xnn.explanation import contributions_frame, explain
from ridgeline.xnn.features import Direction
from ridgeline.xnn.plots import plot_contributions, plot_explanation, plot_importance
from ridgeline.xnn.scorer import Scorer

MakeScorer = Callable[..., Scorer]
CATEGORIES = {"purpose": ("card", "home", "other"), "term": (36, 60)}


def drawn(figure: Figure) -> dict[str, Axes]:
    """Render, so that what cannot be drawn or laid out fails; return axes by label."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    box = figure.bbox
    for axes in figure.axes:
        inside = axes.get_tightbbox(canvas.get_renderer())
        assert inside.x0 >= box.x0 - 1
        assert inside.x1 <= box.x1 + 1
        assert inside.y0 >= box.y0 - 1
        assert inside.y1 <= box.y1 + 1
    return {str(axes.get_label()): axes for axes in figure.axes}


def widths(axes: Axes) -> list[float]:
    """Return the lengths of horizontal bars, from the top down."""
    return [bar.get_width() for bar in axes.patches]


def names(axes: Axes) -> list[str]:
    """Return the names of the bars."""
    return [label.get_text() for label in axes.get_yticklabels()]


def row_of(scorer: Scorer) -> pd.DataFrame:
    """Return one row that the scorer takes."""
    rng = np.random.default_rng(0)
    features = scorer.features
    return pd.DataFrame(
        {
            name: [features.categories[name][0]]
            if name in features.categories
            else rng.normal(size=1)
            for name in features.names
        },
        index=["loan 7"],
    )


@pytest.fixture(autouse=True)
def _no_state() -> object:
    """Fail where a figure is left to pyplot."""
    before = plt.get_fignums(), dict(plt.rcParams)
    yield
    assert (plt.get_fignums(), dict(plt.rcParams)) == before


def test_a_monotone_feature_is_marked(make_scorer: MakeScorer) -> None:
    scorer = make_scorer(n_features=3, n_subnetworks=3)
    monotone: dict[str, Direction] = {"feature 1": "decreasing"}
    features = replace(scorer.features, monotone=monotone)
    scorer = replace(scorer, features=features, projection=np.eye(3))
    axes = drawn(plot_explanation(scorer))
    titles = [axes[f"ridge {rank}: curve"].get_title(loc="left") for rank in (1, 2, 3)]
    assert ["decreasing" in title for title in titles] == [False, True, False]


def test_ridge_components_are_drawn_as_they_are(make_scorer: MakeScorer) -> None:
    explanation = explain(make_scorer(n_features=4, n_subnetworks=3), points=20)
    axes = drawn(plot_explanation(explanation))
    assert len(axes) == 9
    for component in explanation.ridges:
        curve = axes[f"{component.name}: curve"]
        ((x, y),) = (
            line.get_data() for line in curve.lines if len(line.get_xdata()) > 2
        )
        np.testing.assert_array_equal(x, component.z)
        np.testing.assert_array_equal(y, component.curve)
        title = curve.get_title(loc="left")
        assert title == f"{component.name} (IR {100 * component.importance:.1f}%)"
        (steps,) = axes[f"{component.name}: density"].patches
        values, edges, _ = steps.get_data()
        np.testing.assert_array_equal(edges, component.edges)
        np.testing.assert_allclose(values * np.diff(edges), component.heights)
        assert curve.get_xlim() == axes[f"{component.name}: density"].get_xlim()
        projection = axes[f"{component.name}: projection"]
        np.testing.assert_array_equal(widths(projection), component.weights)
        assert names(projection) == list(component.feature_names)


def test_components_are_drawn_by_importance_from_the_top(
    make_scorer: MakeScorer,
) -> None:
    explanation = explain(make_scorer(categories=CATEGORIES, seed=2))
    axes = drawn(plot_explanation(explanation))
    tops = [
        axes[f"{c.name}: {'curve' if isinstance(c, RidgeComponent) else 'effects'}"]
        .get_position()
        .y1
        for c in explanation.components
    ]
    assert tops == sorted(tops, reverse=True)


def test_projections_share_their_axis(make_scorer: MakeScorer) -> None:
    axes = drawn(plot_explanation(explain(make_scorer())))
    limits = {a.get_xlim() for label, a in axes.items() if label.endswith("projection")}
    assert len(limits) == 1


def test_many_features_show_the_largest_weights(make_scorer: MakeScorer) -> None:
    explanation = explain(make_scorer(n_features=40, n_subnetworks=2))
    axes = drawn(plot_explanation(explanation, max_bars=10))
    for component in explanation.ridges:
        projection = axes[f"{component.name}: projection"]
        largest = np.argsort(-np.abs(component.weights))[:10]
        np.testing.assert_array_equal(widths(projection), component.weights[largest])
        assert names(projection) == [component.feature_names[i] for i in largest]
        assert "30 others" in projection.get_xlabel()


def test_weights_left_out_may_all_be_zero(make_scorer: MakeScorer) -> None:
    scorer = make_scorer(n_features=6, n_subnetworks=2)
    scorer = replace(scorer, projection=np.eye(6)[:, :2])
    axes = drawn(plot_explanation(explain(scorer), max_bars=3))
    assert "3 others, all zero" in axes["ridge 1: projection"].get_xlabel()


@pytest.mark.parametrize("n_subnetworks", [0, 2])
def test_categories_are_drawn_with_their_shares(
    make_scorer: MakeScorer, n_subnetworks: int
) -> None:
    scorer = make_scorer(n_subnetworks=n_subnetworks, categories=CATEGORIES)
    explanation = explain(scorer)
    axes = drawn(plot_explanation(explanation))
    assert len(axes) == 3 * n_subnetworks + 4
    for component in explanation.category_effects:
        effects = axes[f"{component.name}: effects"]
        np.testing.assert_array_equal(widths(effects), component.effects)
        shares = axes[f"{component.name}: shares"]
        np.testing.assert_allclose(widths(shares), 100 * component.shares)
        assert names(shares) == [str(category) for category in component.categories]
        assert component.name in effects.get_title(loc="left")


def test_many_categories_show_the_largest_effects(make_scorer: MakeScorer) -> None:
    states = {"state": tuple(f"S{place}" for place in range(50))}
    explanation = explain(make_scorer(n_subnetworks=0, categories=states))
    axes = drawn(plot_explanation(explanation))
    (component,) = explanation.category_effects
    largest = np.argsort(-np.abs(component.effects))[:12]
    effects, shares = axes["state: effects"], axes["state: shares"]
    np.testing.assert_array_equal(widths(effects), component.effects[largest])
    np.testing.assert_allclose(widths(shares), 100 * component.shares[largest])
    assert names(shares) == [component.categories[i] for i in largest]
    assert "38 others" in effects.get_xlabel()


def test_long_and_odd_names_are_drawn(make_scorer: MakeScorer) -> None:
    long = "the purpose of the loan, in the words of the application form itself"
    scorer = make_scorer(
        categories={long: ("$ from $", "a\nline", long)},
        classes=("rejected", "approved after a long time"),
    )
    odd = ("amount ($) of $", "_under^score_", long + " 2", "", long)
    numbers = dict(zip(odd, scorer.features.numbers.values(), strict=False))
    features = replace(scorer.features, names=odd, numbers=numbers)
    scorer = replace(scorer, features=features)
    explanation = explain(scorer)
    axes = drawn(plot_explanation(explanation))
    drawn(plot_importance(explanation))
    drawn(plot_contributions(contributions_frame(scorer, row_of(scorer))))
    shown = names(axes["ridge 1: projection"])
    assert shown[0] == r"amount (\$) of \$"
    assert shown[1] == "_under^score_"
    assert shown[2].startswith("the purpose")
    assert shown[2].endswith("itself 2")
    assert all(len(name) < 32 for name in shown)
    assert "log-odds" in axes["ridge 1: curve"].get_ylabel()


def test_a_single_component_and_a_single_feature(make_scorer: MakeScorer) -> None:
    explanation = explain(make_scorer(n_features=1, n_subnetworks=1))
    axes = drawn(plot_explanation(explanation))
    assert set(axes) == {"ridge 1: curve", "ridge 1: density", "ridge 1: projection"}
    assert widths(drawn(plot_importance(explanation))["importance"]) == [100]


def test_only_the_most_important_components(make_scorer: MakeScorer) -> None:
    explanation = explain(make_scorer(categories=CATEGORIES))
    figure = plot_explanation(explanation, max_components=2)
    shown = {label.rpartition(": ")[0] for label in drawn(figure)}
    assert shown == {component.name for component in explanation.components[:2]}
    note = figure.get_supxlabel()
    assert all(component.name in note for component in explanation.components[2:])
    assert plot_explanation(explanation).get_supxlabel() == ""


def test_nothing_in_use_is_said(make_scorer: MakeScorer) -> None:
    explanation = explain(replace(make_scorer(), scales=np.zeros(3)))
    figure = plot_explanation(explanation)
    assert drawn(figure) == {}
    assert "intercept" in figure.texts[0].get_text()
    drawn(plot_importance(explanation))


def test_a_projection_without_spread_is_drawn(make_scorer: MakeScorer) -> None:
    scorer = make_scorer()
    spread = replace(scorer.spread, edges=np.zeros_like(scorer.spread.edges))
    drawn(plot_explanation(explain(replace(scorer, spread=spread))))


def test_importance_bars(make_scorer: MakeScorer) -> None:
    explanation = explain(make_scorer(categories=CATEGORIES))
    axes = drawn(plot_importance(explanation))["importance"]
    expected = [100 * component.importance for component in explanation.components]
    np.testing.assert_allclose(widths(axes), expected)
    assert names(axes) == [component.name for component in explanation.components]
    low, high = axes.get_ylim()
    assert low > high  # the first bar is on top


@pytest.mark.parametrize("as_series", [False, True])
def test_contributions_lead_from_intercept_to_decision(
    make_scorer: MakeScorer, as_series: bool
) -> None:
    scorer = make_scorer(categories=CATEGORIES)
    frame = contributions_frame(scorer, row_of(scorer))
    row = frame.iloc[0]
    axes = drawn(plot_contributions(row if as_series else frame, unit="log-odds"))
    axes = axes["contributions"]
    shown = names(axes)
    assert (shown[0], shown[-1]) == ("intercept", "decision")
    np.testing.assert_allclose(widths(axes), row[shown[1:-1]])
    sizes = np.abs(widths(axes))
    assert (np.diff(sizes) <= 0).all()
    starts = row["intercept"] + np.cumsum([0, *row[shown[1:-2]]])
    np.testing.assert_allclose([bar.get_x() for bar in axes.patches], starts)
    (ends,) = (line.get_xdata() for line in axes.lines)
    np.testing.assert_allclose(ends, [row["intercept"], row["decision"]])
    assert axes.get_xlabel() == "log-odds"


def test_small_contributions_become_one(make_scorer: MakeScorer) -> None:
    scorer = make_scorer(n_features=8, n_subnetworks=7)
    frame = contributions_frame(scorer, row_of(scorer))
    axes = drawn(plot_contributions(frame, max_components=3))["contributions"]
    assert len(axes.patches) == 4
    assert names(axes)[-2] == "4 others"
    row = frame.iloc[0]
    assert sum(widths(axes)) == pytest.approx(row["decision"] - row["intercept"])


def test_a_decision_without_components(make_scorer: MakeScorer) -> None:
    scorer = replace(make_scorer(), scales=np.zeros(3))
    frame = contributions_frame(scorer, row_of(scorer))
    axes = drawn(plot_contributions(frame))["contributions"]
    assert names(axes) == ["intercept", "decision"]


def test_one_row_is_asked_for(make_scorer: MakeScorer) -> None:
    scorer = make_scorer()
    frame = contributions_frame(scorer, row_of(scorer))
    for wrong in (pd.concat([frame, frame]), frame.iloc[:0], frame["ridge 1"]):
        with pytest.raises(InputError, match="one row of Explanation.contributions"):
            plot_contributions(wrong)
    with pytest.raises(InputError, match="max_components is 0"):
        plot_contributions(frame, max_components=0)
    with pytest.raises(InputError, match="max_bars is -1"):
        plot_explanation(explain(scorer), max_bars=-1)


def test_what_is_drawn_is_not_altered(make_scorer: MakeScorer) -> None:
    scorer = make_scorer(categories=CATEGORIES)
    explanation, again = explain(scorer), explain(scorer)
    frame = contributions_frame(scorer, row_of(scorer))
    before = frame.copy()
    for figure in (
        plot_explanation(explanation, max_bars=2),
        plot_importance(explanation),
        plot_contributions(frame, max_components=1),
    ):
        drawn(figure)
    pd.testing.assert_frame_equal(frame, before)
    for left, right in (
        (explanation.importance, again.importance),
        (explanation.projections, again.projections),
        (explanation.curves, again.curves),
        (explanation.categories, again.categories),
    ):
        pd.testing.assert_frame_equal(left, right)


def test_one_feature_has_its_own_unit_on_the_axis(make_scorer: MakeScorer) -> None:
    scorer = make_scorer(n_features=3, n_subnetworks=2)
    half = np.sqrt(0.5)
    weights = np.array([[0.0, half], [1.0, 0.0], [0.0, half]])
    scorer = replace(scorer, projection=weights)
    axes = drawn(plot_explanation(scorer))
    alone, mixed = explain(scorer).ridges
    curve = axes[f"{alone.name}: curve"].lines[-1]
    np.testing.assert_array_equal(curve.get_xdata(), alone.x)
    assert axes[f"{alone.name}: density"].get_xlabel().startswith("feature 1 (")
    below = axes[f"{mixed.name}: density"].get_xlabel()
    assert below.startswith("projected value z")


def test_a_model_is_drawn_as_its_explanation(make_scorer: MakeScorer) -> None:
    scorer = make_scorer(categories=CATEGORIES)
    estimator = SimpleNamespace(scorer_=scorer)
    for plot in (plot_explanation, plot_importance):
        pictures = [
            FigureCanvasAgg(plot(model)).print_to_buffer()
            for model in (explain(scorer), scorer, estimator)
        ]
        assert pictures[0] == pictures[1] == pictures[2]
    with pytest.raises(InputError, match="fit it first"):
        plot_explanation(SimpleNamespace())
    options = {"max_components": 1}
    shown = drawn(explain(scorer).plot(**options))
    assert shown.keys() == drawn(plot_explanation(scorer, **options)).keys()
