"""The explanation as data: it says what the network computes, and what is ambiguous."""

import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from ridgeline.errors import InputError
from ridgeline.xnn.columns import Unseen
from ridgeline.xnn.components import CategoryComponent, RidgeComponent
from ridgeline.xnn.explanation import contributions_frame, explain
from ridgeline.xnn.scorer import Scorer

MakeScorer = Callable[..., Scorer]
Function = Callable[[np.ndarray], np.ndarray]
CATEGORIES = {"purpose": ("card", "home", "other"), "term": (36, 60)}


@dataclass
class Functions:
    """Ridge functions given as such, in the place of subnetworks."""

    functions: list[Function]

    def __call__(self, z: np.ndarray) -> np.ndarray:
        """Return each function of its row."""
        pairs = zip(self.functions, z, strict=True)
        return np.stack([function(row) for function, row in pairs])

    def take(self, chosen: list[int]) -> "Functions":
        """Return the chosen functions."""
        return Functions([self.functions[place] for place in chosen])


def line(slope: float) -> Function:
    """Return a straight line."""
    return lambda z: slope * z - 0.1


def parabola(coefficient: float, slope: float = 0.0) -> Function:
    """Return a parabola."""
    return lambda z: coefficient * z**2 + slope * z


def wave(z: np.ndarray) -> np.ndarray:
    """Return what is neither a line nor a parabola."""
    return np.sin(4 * z)


@pytest.fixture
def with_functions(make_scorer: MakeScorer) -> Callable[..., Scorer]:
    """Return a maker of scorers with the given ridge functions, all of scale 1."""

    def make(*functions: Function) -> Scorer:
        k = len(functions)
        scorer = make_scorer(n_features=k + 1, n_subnetworks=k)
        return replace(
            scorer, subnetworks=Functions(list(functions)), scales=np.ones(k)
        )

    return make


def rows(scorer: Scorer, n: int = 30, seed: int = 0) -> pd.DataFrame:
    """Return rows that the scorer takes."""
    rng = np.random.default_rng(seed)
    columns = {
        name: rng.choice(np.array(scorer.features.categories[name], dtype=object), n)
        if name in scorer.features.categories
        else rng.normal(size=n)
        for name in scorer.features.names
    }
    return pd.DataFrame(columns, index=[f"loan {i}" for i in range(n)])


def forward(scorer: Scorer, place: int, z: float) -> float:
    """Return scale * h(z), unit by unit."""
    units = [z]
    layers = list(
        zip(scorer.subnetworks.kernels, scorer.subnetworks.biases, strict=True)
    )
    for depth, (kernel, bias) in enumerate(layers):
        units = [
            sum(
                weight * unit
                for weight, unit in zip(kernel[place, out], units, strict=True)
            )
            + bias[place, out, 0]
            for out in range(kernel.shape[1])
        ]
        if depth < len(layers) - 1:
            units = [np.tanh(unit) for unit in units]
    return scorer.scales[place] * units[0]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("categories", [{}, CATEGORIES])
def test_contributions_add_up_to_the_decision(
    make_scorer: MakeScorer, seed: int, categories: dict
) -> None:
    scorer = make_scorer(seed=seed, categories=categories)
    X = rows(scorer, seed=seed)
    frame = contributions_frame(scorer, X)
    parts = frame.drop(columns="decision").sum(axis=1)
    np.testing.assert_allclose(parts, frame["decision"], rtol=0, atol=1e-9)
    np.testing.assert_allclose(
        frame["decision"], scorer.decision_function(X), rtol=0, atol=1e-9
    )
    assert (frame["intercept"] == scorer.intercept).all()
    assert frame.index.equals(X.index)
    by_importance = [component.name for component in explain(scorer).components]
    assert list(frame) == ["intercept", *by_importance, "decision"]


def test_contributions_are_the_curves_at_the_projected_values(
    make_scorer: MakeScorer,
) -> None:
    scorer = make_scorer(categories=CATEGORIES)
    X = rows(scorer, n=5)
    frame = contributions_frame(scorer, X)
    z = scorer.project(X)
    for place in range(3):
        expected = [forward(scorer, place, value) for value in z[:, place]]
        np.testing.assert_allclose(frame[f"ridge {place + 1}"], expected, atol=1e-12)
    (purpose,) = (c for c in explain(scorer).components if c.name == "purpose")
    effects = dict(zip(purpose.categories, purpose.effects, strict=True))
    np.testing.assert_allclose(frame["purpose"], X["purpose"].map(effects))


def test_contributions_of_arrays_and_of_single_rows(make_scorer: MakeScorer) -> None:
    scorer = make_scorer()
    X = rows(scorer)
    whole = contributions_frame(scorer, X)
    from_array = contributions_frame(scorer, X.to_numpy())
    assert list(from_array.index) == list(range(30))
    np.testing.assert_array_equal(from_array, whole)
    single = contributions_frame(scorer, X.iloc[[7]])
    assert list(single.index) == ["loan 7"]
    np.testing.assert_allclose(single, whole.iloc[[7]])
    assert contributions_frame(scorer, X.iloc[:0]).shape == (0, 5)


def test_an_unknown_category_is_refused_or_average(make_scorer: MakeScorer) -> None:
    scorer = make_scorer(categories=CATEGORIES)
    X = rows(scorer, n=2).assign(purpose=["card", "yacht"])
    with pytest.raises(InputError, match="yacht"):
        contributions_frame(scorer, X)
    frame = contributions_frame(scorer, X, Unseen(category="average"))
    assert frame["purpose"].iloc[1] == 0


@pytest.mark.parametrize("name", ["intercept", "decision", "ridge 2"])
def test_a_category_with_a_taken_name_is_refused(
    make_scorer: MakeScorer, name: str
) -> None:
    scorer = make_scorer(categories={name: ("a", "b")})
    with pytest.raises(InputError, match=f"'{name}'.*rename"):
        contributions_frame(scorer, rows(scorer))


@pytest.mark.parametrize("hidden", [(), (4,), (5, 3)])
def test_curves_are_the_networks_functions(
    make_scorer: MakeScorer, hidden: tuple[int, ...]
) -> None:
    scorer = make_scorer(hidden=hidden)
    explanation = explain(scorer, points=17)
    assert len(explanation.ridges) == 3
    for place, ridge in enumerate(explanation.ridges):
        edges = scorer.spread.edges[place]
        np.testing.assert_allclose(ridge.z, np.linspace(edges[0], edges[-1], 17))
        expected = [forward(scorer, place, z) for z in ridge.z]
        np.testing.assert_allclose(ridge.curve, expected, atol=1e-12)
        np.testing.assert_array_equal(ridge.weights, scorer.projection[:, place])
        assert ridge.feature_names == scorer.features.projected_names


@pytest.mark.parametrize("seed", range(4))
def test_components_are_sorted_and_importance_adds_up(
    make_scorer: MakeScorer, seed: int
) -> None:
    explanation = explain(make_scorer(seed=seed, categories=CATEGORIES))
    importance = [component.importance for component in explanation.components]
    assert importance == sorted(importance, reverse=True)
    assert sum(importance) == pytest.approx(1)
    assert len(explanation.components) == 5
    assert explanation.pruned == 0
    for component in explanation.components:
        assert component.importance == pytest.approx(
            component.scale / sum(c.scale for c in explanation.components)
        )


def test_pruned_components_are_left_out_and_counted(make_scorer: MakeScorer) -> None:
    scorer = make_scorer(categories=CATEGORIES)
    scorer = replace(
        scorer, scales=np.array([0.5, 0, 0]), category_scales=np.array([0, 0.7])
    )
    explanation = explain(scorer)
    assert [c.name for c in explanation.components] == ["term", "ridge 1"]
    assert explanation.pruned == 3
    frame = contributions_frame(scorer, rows(scorer))
    assert list(frame) == ["intercept", "term", "ridge 1", "decision"]
    assert list(explanation.projections) == ["ridge 1"]


def test_a_network_without_components_is_its_intercept(make_scorer: MakeScorer) -> None:
    scorer = replace(make_scorer(), scales=np.zeros(3))
    explanation = explain(scorer)
    assert explanation.components == ()
    assert explanation.warnings == ()
    frame = contributions_frame(scorer, rows(scorer))
    assert (frame["decision"] == scorer.intercept).all()
    assert len(explanation.importance) == 0
    assert explanation.projections.shape == (4, 0)
    columns = ["component", "feature", "x", "z", "value", "density"]
    assert list(explanation.curves) == columns
    assert len(explanation.categories) == 0


def test_categories_alone(make_scorer: MakeScorer) -> None:
    scorer = make_scorer(n_features=0, n_subnetworks=0, categories=CATEGORIES)
    explanation = explain(scorer)
    assert all(isinstance(c, CategoryComponent) for c in explanation.components)
    frame = contributions_frame(scorer, rows(scorer))
    np.testing.assert_allclose(
        frame["decision"], scorer.decision_function(rows(scorer))
    )


def test_frames_hold_what_the_components_hold(make_scorer: MakeScorer) -> None:
    explanation = explain(make_scorer(categories=CATEGORIES), points=50)
    importance = explanation.importance.set_index("component")
    projection = explanation.projections
    curves = explanation.curves.set_index("component")
    categories = explanation.categories.set_index("component")
    assert projection.index.name == "feature"
    assert list(projection.index) == list(explanation.feature_names)
    for component in explanation.components:
        assert importance.loc[component.name, "importance"] == component.importance
        assert importance.loc[component.name, "kind"] == component.kind
        if isinstance(component, RidgeComponent):
            np.testing.assert_array_equal(projection[component.name], component.weights)
            curve = curves.loc[component.name]
            np.testing.assert_array_equal(curve["z"], component.z)
            np.testing.assert_array_equal(curve["value"], component.curve)
        else:
            effects = categories.loc[component.name]
            assert tuple(effects["category"]) == component.categories
            np.testing.assert_array_equal(effects["effect"], component.effects)
            assert effects["share"].sum() == pytest.approx(1)


def test_density_is_the_share_of_rows_for_each_unit_of_z(
    make_scorer: MakeScorer,
) -> None:
    scorer = make_scorer()
    uneven = np.array([-2.0, -1.0, 0.0, 4.0])
    spread = replace(
        scorer.spread,
        edges=np.tile(uneven, (3, 1)),
        heights=np.tile([0.2, 0.4, 0.4], (3, 1)),
    )
    (ridge, *_) = explain(replace(scorer, spread=spread), points=7).ridges
    np.testing.assert_allclose(ridge.z, [-2, -1, 0, 1, 2, 3, 4])
    np.testing.assert_allclose(ridge.bin_density, [0.2, 0.4, 0.1])
    np.testing.assert_allclose(ridge.density, [0.2, 0.4, 0.1, 0.1, 0.1, 0.1, 0.1])


def test_networks_without_hidden_layers_are_lines(make_scorer: MakeScorer) -> None:
    explanation = explain(make_scorer(hidden=()))
    assert [ridge.kind for ridge in explanation.ridges] == ["linear"] * 3
    assert [ridge.quadratic for ridge in explanation.ridges] == pytest.approx([0] * 3)
    (warning,) = explanation.warnings
    assert warning.startswith(
        "Components ridge 1, ridge 2 and ridge 3 are all straight"
    )


def test_two_tanh_units_make_a_parabola(make_scorer: MakeScorer) -> None:
    # tanh(b + ez) + tanh(b - ez) = 2 tanh b + tanh''(b) (ez)^2 + O(e^4)
    scorer = make_scorer(n_subnetworks=1, hidden=(2,))
    e, b = 0.01, 0.5
    second = -2 * np.tanh(b) * (1 - np.tanh(b) ** 2)
    subnetworks = replace(
        scorer.subnetworks,
        kernels=(np.array([[[e], [-e]]]), np.full((1, 1, 2), 3 / (second * e**2))),
        biases=(np.full((1, 2, 1), b), np.zeros((1, 1, 1))),
    )
    (ridge,) = explain(replace(scorer, subnetworks=subnetworks)).ridges
    assert ridge.kind == "quadratic"
    assert ridge.quadratic == pytest.approx(3 * ridge.scale, rel=1e-3)


@pytest.mark.parametrize(
    ("function", "kind"),
    [
        (line(2), "linear"),
        (line(-1e-6), "linear"),
        (lambda z: np.full_like(z, 0.7), "linear"),
        (parabola(1), "quadratic"),
        (parabola(-20, slope=3), "quadratic"),
        (parabola(0.01, slope=1), "linear"),
        (lambda z: 1e6 + 1e3 * z**2, "quadratic"),
        (wave, "other"),
        (np.abs, "other"),
        (lambda z: z**3, "other"),
    ],
)
def test_kinds(
    with_functions: Callable[..., Scorer], function: Function, kind: str
) -> None:
    (ridge,) = explain(with_functions(function)).ridges
    assert ridge.kind == kind


def test_a_curve_is_judged_where_the_rows_are(
    with_functions: Callable[..., Scorer],
) -> None:
    scorer = with_functions(lambda z: np.maximum(z, 0))
    mids = (scorer.spread.edges[:, 1:] + scorer.spread.edges[:, :-1]) / 2
    kinds = []
    for heights in (mids > 0, np.abs(mids) < 1):
        spread = replace(scorer.spread, heights=heights / heights.sum())
        kinds.append(explain(replace(scorer, spread=spread)).ridges[0].kind)
    assert kinds == ["linear", "other"]


@pytest.mark.parametrize(
    ("functions", "expected"),
    [
        ([line(1)], []),
        ([line(1), wave], []),
        ([line(1), parabola(1)], []),
        ([wave, np.abs, np.exp], []),
        ([line(1), wave, line(-3)], ["ridge 1 and ridge 3 are both straight lines"]),
        ([line(1)] * 3, ["ridge 1, ridge 2 and ridge 3 are all straight lines"]),
        ([parabola(1), parabola(1.5)], []),
        ([parabola(1), parabola(-1)], []),
        ([parabola(1), wave, parabola(1)], ["ridge 1 and ridge 3 are both parabolas"]),
        (
            [parabola(1), parabola(1.05, 0.5)],
            ["ridge 1 and ridge 2 are both parabolas"],
        ),
        ([parabola(-1), parabola(-1.05)], ["ridge 1 and ridge 2 are both parabolas"]),
        (
            [parabola(1), parabola(-4), parabola(1.02), parabola(-4), parabola(9)],
            [
                "ridge 2 and ridge 4 are both parab",
                "ridge 1 and ridge 3 are both parab",
            ],
        ),
        (
            [line(1), parabola(2), line(2), parabola(2)],
            [
                "ridge 1 and ridge 3 are both straight",
                "ridge 2 and ridge 4 are both par",
            ],
        ),
    ],
)
def test_warnings_name_what_the_theorem_excludes(
    with_functions: Callable[..., Scorer],
    functions: list[Function],
    expected: list[str],
) -> None:
    warnings = explain(with_functions(*functions)).warnings
    assert len(warnings) == len(expected)
    for warning, part in zip(warnings, expected, strict=True):
        assert f"Components {part}" in warning
        assert warning.endswith("read their projections together, not one by one.")


@pytest.mark.parametrize(
    "functions", [[line(1), line(-3)], [parabola(2, 1), parabola(2, -1)]]
)
def test_what_is_warned_about_is_true(
    with_functions: Callable[..., Scorer], functions: list[Function]
) -> None:
    scorer = with_functions(*functions)
    assert explain(scorer).warnings
    X = rows(scorer)
    angle = 0.7
    rotation = np.array(
        [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    )
    # The quadratic parts are equal, so that the rotation leaves them; slopes follow it.
    curvature = [(f(1.0) + f(-1.0) - 2 * f(0.0)) / 2 for f in functions]
    slopes = np.array([(f(1.0) - f(-1.0)) / 2 for f in functions]) @ rotation
    levels = [f(0.0) for f in functions]
    turned = [
        lambda z, a=a, b=b, c=c: a * z**2 + b * z + c
        for a, b, c in zip(curvature, slopes, levels, strict=True)
    ]
    other = replace(
        scorer,
        projection=scorer.projection @ rotation,
        subnetworks=Functions(turned),
    )
    np.testing.assert_allclose(other.decision_function(X), scorer.decision_function(X))


def test_tiny_components_are_not_warned_about(
    with_functions: Callable[..., Scorer],
) -> None:
    scorer = with_functions(line(1), wave, line(1))
    assert explain(replace(scorer, scales=np.array([1, 1, 0.03]))).warnings
    assert not explain(replace(scorer, scales=np.array([1, 1, 0.01]))).warnings


@pytest.mark.parametrize("function", [line(1), parabola(1)])
def test_functions_of_one_feature_each_are_not_warned_about(
    with_functions: Callable[..., Scorer], function: Function
) -> None:
    scorer = with_functions(function, function)
    assert not explain(replace(scorer, projection=np.eye(3)[:, :2])).warnings
    half = np.sqrt(0.5)
    mixed = np.array([[1, 0], [0, half], [0, half]])
    assert explain(replace(scorer, projection=mixed)).warnings


def test_an_estimator_is_explained_through_its_scorer(make_scorer: MakeScorer) -> None:
    scorer = make_scorer(classes=("rejected", "approved"))
    estimator = SimpleNamespace(scorer_=scorer)
    explanation = explain(estimator)
    assert explanation.task == "classification"
    assert explanation.unit == "log-odds of approved"
    assert [c.name for c in explanation.components] == list(scorer.component_names)
    X = rows(scorer)
    pd.testing.assert_frame_equal(
        explanation.contributions(X), contributions_frame(scorer, X)
    )
    assert explain(make_scorer()).task == "regression"
    with pytest.raises(InputError, match="SimpleNamespace.*fit it first"):
        explain(SimpleNamespace())


def test_a_curve_needs_two_points(make_scorer: MakeScorer) -> None:
    assert len(explain(make_scorer(), points=2).ridges[0].z) == 2
    with pytest.raises(InputError, match="points is 1"):
        explain(make_scorer(), points=1)


def test_a_projection_without_spread_is_level(make_scorer: MakeScorer) -> None:
    scorer = make_scorer()
    spread = replace(scorer.spread, edges=np.zeros_like(scorer.spread.edges))
    (ridge, *_) = explain(replace(scorer, spread=spread)).ridges
    assert ridge.kind == "linear"
    assert np.isfinite(ridge.density).all()


def test_the_explanation_is_a_copy(make_scorer: MakeScorer) -> None:
    scorer = make_scorer(categories=CATEGORIES)
    before = contributions_frame(scorer, rows(scorer))
    for component in explain(scorer).components:
        for value in vars(component).values():
            if isinstance(value, np.ndarray):
                value[...] = np.nan
    pd.testing.assert_frame_equal(contributions_frame(scorer, rows(scorer)), before)
    assert np.isfinite(scorer.spread.heights).all()
    assert all(np.isfinite(shares).all() for shares in scorer.spread.shares)


def test_unknown_categories_are_treated_as_the_estimator_treats_them(
    make_scorer: MakeScorer,
) -> None:
    scorer = make_scorer(categories=CATEGORIES)
    lenient = SimpleNamespace(scorer_=scorer, unknown_category="average")
    X = rows(scorer).assign(purpose="boat")
    assert (explain(lenient).contributions(X)["purpose"] == 0).all()
    with pytest.raises(InputError, match="'boat', which training had not"):
        explain(scorer).contributions(X)


def test_one_feature_is_shown_in_its_own_unit(make_scorer: MakeScorer) -> None:
    scorer = make_scorer(n_features=3, n_subnetworks=2)
    # The projection is that feature alone, which is scaled to [-1, 1].
    edges = np.tile(np.linspace(-1, 1, 21), (2, 1))
    scorer = replace(scorer, spread=replace(scorer.spread, edges=edges))
    half = np.sqrt(0.5)
    weights = np.array([[0.0, half], [1.0, 0.0], [0.0, half]])
    explanation = explain(replace(scorer, projection=weights))
    alone, mixed = explanation.ridges
    assert (alone.feature, mixed.feature) == ("feature 1", None)
    assert alone.function_of == "feature 1"
    assert mixed.function_of == "feature 0 (+0.71), feature 2 (+0.71)"
    np.testing.assert_array_equal(mixed.x, mixed.z)
    # A row at x, wherever the other features are, has the component's value there.
    at = np.tile(scorer.features.centre, (len(alone.x), 1))
    at[:, 1] = alone.x
    names = list(scorer.features.names)
    parts = explanation.contributions(pd.DataFrame(at, columns=names))
    np.testing.assert_allclose(parts[alone.name], alone.curve, atol=1e-12)
    curves = explanation.curves
    assert set(curves.loc[curves["component"] == alone.name, "feature"]) == {
        "feature 1"
    }
    shares = np.interp(alone.x_edges, alone.x, np.linspace(0, 1, len(alone.x)))
    np.testing.assert_allclose(shares, np.linspace(0, 1, len(shares)), atol=1e-12)


@pytest.mark.parametrize("components", [0, 3, 40])
def test_repr_fits_ten_lines(make_scorer: MakeScorer, components: int) -> None:
    scorer = make_scorer(
        n_features=50, n_subnetworks=components, categories=CATEGORIES, classes=(0, 1)
    )
    for text in (repr(scorer), repr(scorer.explain())):
        lines = text.splitlines()
        assert len(lines) <= 10
        assert max(map(len, lines)) <= 160
    shown = repr(scorer.explain())
    first = scorer.explain().components[0]
    assert first.name in shown
    assert f"{first.importance:.1%}" in shown
    assert f"{components + 2} components in use" in shown
    assert f"{components + 2} of {components + 2} components in use" in repr(scorer)


def test_html_has_every_component_and_runs_no_name(make_scorer: MakeScorer) -> None:
    scorer = make_scorer(categories={"<script>": ("a", "b")})
    shown = scorer.explain()._repr_html_()
    for component in scorer.explain().components:
        assert f"{component.importance:.1%}" in shown
    assert "<script>" not in shown
    assert "&lt;script&gt;" in shown


def test_importing_needs_numpy_alone() -> None:
    script = (
        "import sys, ridgeline.xnn.explanation; "
        "heavy = {'tensorflow', 'pandas', 'sklearn', 'matplotlib', 'kedro', 'mlflow'}; "
        "sys.exit(', '.join(heavy & set(sys.modules)) or 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
