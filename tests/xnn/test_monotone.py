"""Monotone features: they hold in every stage, and the certificate is never wrong."""

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.base import clone
from test_storage import checksum

import ridgeline
from ridgeline import (
    XNNClassifier,
    XNNClassifierCV,
    XNNRegressor,
    XNNRegressorCV,
    prune,
    refine,
)
from ridgeline.errors import InputError
from ridgeline.xnn.architecture import Architecture, Problem, Weights, constrained
from ridgeline.xnn.assembly import trained_weights
from ridgeline.xnn.columns import Unseen
from ridgeline.xnn.monotone import certificates, slope_bounds
from ridgeline.xnn.response import Response
from ridgeline.xnn.scorer import Scorer, Subnetworks, without_range_warnings
from ridgeline.xnn.starts import first_projection, projection_limits

MakeScorer = Callable[..., Scorer]
LIGHT = settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
MONOTONE = {"up": "increasing", "down": "decreasing", "late": "decreasing"}
SIGNS = {"up": 1, "down": -1, "late": -1}
CODE = -7.0
PROJECTIONS = ["orthogonal", "near", "identity", "free"]
SHORT = {"max_epochs": 12, "refine_epochs": 4, "random_state": 0}


def rows_of(seed: int, n: int = 600) -> tuple[pd.DataFrame, np.ndarray]:
    """Return rows whose truth often runs against the directions."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.uniform(-1, 1, (n, 4)), columns=["up", "down", "late", "any"])
    X["heavy"] = rng.lognormal(0, 1.5, n)
    X["flag"] = np.where(rng.uniform(size=n) < 0.4, "yes", "no")
    y = np.sin(5 * X["up"]) + np.cos(4 * X["down"]) + X["late"] ** 2
    y += np.where(X["flag"] == "yes", X["up"], -X["any"]) + X["any"] * X["down"]
    y += np.where(X["late"] > 0.5, 3.0, 0.0)
    # A code, a gap and a heap with effects of their own.
    code, gap, heap = (rng.uniform(size=n) < 0.1 for _ in range(3))
    X.loc[heap, "down"] = 0.25
    X.loc[code, "late"] = CODE
    X.loc[gap, "up"] = np.nan
    y = y + 4.0 * heap - 5.0 * code + 3.0 * gap + 0.1 * rng.standard_normal(n)
    return X, y.to_numpy()


def rising_pairs(seed: int, name: str, n: int = 400) -> list[pd.DataFrame]:
    """Return rows, and the same with one feature moved in its direction."""
    rng = np.random.default_rng([seed, 1])
    X, _ = rows_of(seed + 1000, n)
    ends = np.sort(rng.uniform(-1, 1, (n, 2)), axis=1)
    ends[: n // 4, 1] = ends[: n // 4, 0] + 10.0 ** -rng.uniform(1, 9, n // 4)
    ends[-20:] = 0.25 - 1e-9, 0.25  # into the heap
    ends = ends.clip(-1, 1)[:, :: SIGNS[name]]
    return [X.assign(**{name: ends[:, side]}) for side in (0, 1)]


def assert_monotone(scorer: Scorer, seed: int = 0) -> None:
    """Check rows that differ in one feature, and the certificate."""
    proved = certificates(scorer)
    assert [each.feature for each in proved] == list(scorer.features.monotone)
    assert all(each.holds for each in proved)
    unseen = Unseen("average", "average", "edge")
    for name in scorer.features.monotone:
        with without_range_warnings():
            lower, upper = (
                scorer.decision_function(rows, unseen)
                for rows in rising_pairs(seed, name)
            )
        # Sums of a few numbers differ in their last digits.
        slack = 1e-13 * (1 + np.abs(lower) + scorer.all_scales.sum())
        assert (upper >= lower - slack).all(), name


def fitted(kind: str = "regression", **parameters: Any) -> Any:
    """Return a short fit with monotone features, and the rows."""
    X, y = rows_of(1)
    given_: dict[str, Any] = {"special_values": {"late": [CODE]}} | SHORT
    given_ |= {"monotone": MONOTONE} | parameters
    if kind == "regression":
        return XNNRegressor(**given_).fit(X, y), X, y
    labels = np.where(y > np.median(y), "good", "bad")
    return XNNClassifier(**given_).fit(X, labels), X, labels


def clone_of(model: Any, **parameters: Any) -> Any:
    """Return a fitted model with other parameters."""
    given_ = model.get_params() | parameters
    return type(model).from_scorer(model.scorer_, **given_)


@pytest.fixture(scope="module")
def models() -> dict[str, Any]:
    """Return a fitted model for each kind of projection."""
    return {name: fitted(projection=name)[0] for name in PROJECTIONS}


class TestFits:
    """What is asked for holds, though the rows say something else."""

    @pytest.mark.parametrize("kind", ["regression", "classification"])
    @pytest.mark.parametrize("projection", PROJECTIONS)
    def test_holds_in_every_stage(
        self, projection: str, kind: str, tmp_path: Path
    ) -> None:
        """Training, pruning, refinement, the file, and a refined stored model."""
        trained, X, y = fitted(kind, projection=projection, prune_share=None)
        assert_monotone(trained.scorer_)
        pruned = prune(trained, 0.8)
        assert_monotone(pruned.scorer_)
        refined = refine(pruned, X, y)
        assert_monotone(refined.scorer_)
        refined.save(tmp_path / "model.json")
        stored = ridgeline.load(tmp_path / "model.json")
        assert_monotone(stored)
        again = type(trained).from_scorer(stored, **trained.get_params())
        assert_monotone(refine(again, X, y).scorer_, seed=3)

    @LIGHT
    @given(seed=st.integers(0, 2**31), projection=st.sampled_from(PROJECTIONS))
    def test_holds_for_any_rows(
        self, models: dict[str, Any], seed: int, projection: str
    ) -> None:
        """Whatever the other features are."""
        assert_monotone(models[projection].scorer_, seed)

    @pytest.mark.parametrize(
        "parameters",
        [
            {"normalise": False},
            {"activation": "sigmoid"},
            {"hidden": ()},
            {"hidden": (4,), "init": "features"},
            {"schedule": "paper"},
            {"relaxation": 0.0},
            {"projection": "near", "n_subnetworks": 1},
            {"projection": "free", "n_subnetworks": 9, "normalise": False},
            {"projection": "near", "l1_projection": 1.0},
            {"projection": "free", "learning_rate": 0.5},
            {"project_flags": False, "monotone": {"heavy": "decreasing"} | MONOTONE},
        ],
        ids=str,
    )
    def test_holds_for_other_settings(self, parameters: dict[str, Any]) -> None:
        """Whatever else is set."""
        if "heavy" in parameters.get("monotone", {}):
            X, y = rows_of(1)
            model = XNNRegressor(**(SHORT | parameters)).fit(X.drop(columns="flag"), y)
            assert all(each.holds for each in model.explain().certificates)
            return
        assert_monotone(fitted(**parameters)[0].scorer_)

    @pytest.mark.parametrize("search", [XNNRegressorCV, XNNClassifierCV])
    def test_holds_after_a_search_and_on_all_rows(self, search: Any) -> None:
        """The chosen candidate is adjusted to all rows, projections too."""
        X, y = rows_of(2)
        y = y if search is XNNRegressorCV else y > np.median(y)
        model = search(
            monotone=MONOTONE,
            projection="near",
            special_values={"late": [CODE]},
            n_candidates=2,
            n_jobs=1,
            **SHORT,
        ).fit(X, y)
        assert_monotone(model.scorer_)

    def test_seeds_repeat(self) -> None:
        """The same seed gives the same bits."""
        first, second = (fitted(projection="near")[0] for _ in range(2))
        assert (first.projection_ == second.projection_).all()
        X, _ = rows_of(1)
        assert (first.predict(X) == second.predict(X)).all()

    def test_orthogonal_projections_give_each_feature_its_own(self) -> None:
        """W'W = I and no monotone feature stands beside another."""
        model, *_ = fitted(prune_share=None)
        W = model.projection_
        assert np.abs(W.T @ W - np.eye(W.shape[1])).max() < 1e-10
        names = list(model.scorer_.features.projected_names)
        for name in MONOTONE:
            row = W[names.index(name)]
            assert np.count_nonzero(row) == 1
            assert np.count_nonzero(W[:, np.flatnonzero(row)[0]]) == 1

    def test_near_projections_combine_monotone_features(self) -> None:
        """A sum of two features in one component."""
        rng = np.random.default_rng(0)
        X = pd.DataFrame(rng.uniform(-1, 1, (1500, 3)), columns=["a", "b", "c"])
        y = np.tanh(3 * (X["a"] - X["b"])) + 0.05 * rng.standard_normal(1500)
        asked = {"a": "increasing", "b": "decreasing"}
        model = XNNRegressor(projection="near", monotone=asked, random_state=0)
        explanation = model.fit(X, y).explain()
        assert explanation.monotone["holds"].all()
        weights = explanation.projections.iloc[:, 0]
        assert weights["a"] * weights["b"] < -0.2
        assert np.var(model.predict(X) - y) < 0.05 * np.var(y)

    def test_against_the_directions_nothing_is_left(self) -> None:
        """A feature whose effect runs the other way gets a flat curve."""
        rng = np.random.default_rng(0)
        X = pd.DataFrame(rng.uniform(-1, 1, (800, 2)), columns=["a", "b"])
        y = -3 * X["a"] + X["b"] + 0.1 * rng.standard_normal(800)
        model = XNNRegressor(
            projection="identity", monotone={"a": "increasing"}, random_state=0
        ).fit(X, y)
        assert "a" not in "".join(model.explain().importance["function_of"])

    def test_true_directions_cost_nothing(self) -> None:
        """Where the truth is monotone the constraint does not hurt."""
        rng = np.random.default_rng(3)
        X = pd.DataFrame(rng.uniform(-1, 1, (3000, 3)), columns=["a", "b", "c"])
        truth = np.tanh(6 * X["a"]) + np.exp(X["b"]) - 2 * X["c"].clip(lower=0) ** 2
        y = truth + 0.5 * rng.standard_normal(3000)
        asked = {"a": "increasing", "b": "increasing", "c": "decreasing"}
        errors = [
            np.mean(
                (
                    XNNRegressor(
                        projection="identity", monotone=monotone, random_state=0
                    )
                    .fit(X, y)
                    .predict(X)
                    - truth
                )
                ** 2
            )
            for monotone in (None, asked)
        ]
        assert errors[1] < 1.25 * errors[0]
        assert errors[1] < 0.01 * np.var(truth)

    def test_arrays_take_positions(self) -> None:
        """A column without a name is known by its place."""
        X, y = rows_of(1)
        array = X[["down", "any"]].to_numpy()
        model = XNNRegressor(monotone={0: "decreasing"}, **SHORT).fit(array, y)
        assert dict(model.scorer_.features.monotone) == {"x0": "decreasing"}
        assert all(each.holds for each in model.explain().certificates)

    def test_is_a_parameter_like_any_other(self) -> None:
        """`clone` and `get_params` know it; an empty one asks for nothing."""
        model = clone(XNNRegressor(monotone=MONOTONE))
        assert model.get_params()["monotone"] == MONOTONE
        X, y = rows_of(1)
        plain = XNNRegressor(**SHORT).fit(X, y)
        empty = XNNRegressor(monotone={}, **SHORT).fit(X, y)
        assert (plain.predict(X) == empty.predict(X)).all()
        assert empty.explain().monotone.empty


class TestExempt:
    """Codes and gaps are no quantities; point masses are."""

    def test_codes_and_gaps_have_effects_of_their_own(self) -> None:
        """Their effects may lie on any side of the curve."""
        model, X, _ = fitted(max_epochs=60)
        row = X.dropna().head(1)
        by_late = row.assign(late=CODE), row.assign(late=1.0)
        by_up = row.assign(up=np.nan), row.assign(up=1.0)
        # The least of all numbers is worse than the code, and a gap is better.
        assert model.predict(by_late[0])[0] < model.predict(by_late[1])[0]
        assert model.predict(by_up[0])[0] > model.predict(row.assign(up=-1.0))[0]
        assert {"late: special values", "up: special values"} <= set(
            model.scorer_.features.groups
        )

    def test_no_point_masses_beside_a_monotone_curve(self) -> None:
        """The heap of `down` has an effect of its own, unless it is monotone."""
        X, y = rows_of(1, n=3000)
        short = SHORT | {"max_epochs": 3, "refine_epochs": 1}
        free = XNNRegressor(**short).fit(X, y).scorer_.features.numbers
        assert free["down"].masses == (0.25,)
        bound = XNNRegressor(monotone=MONOTONE, **short).fit(X, y)
        assert bound.scorer_.features.numbers["down"].masses == ()
        assert_monotone(bound.scorer_)


class TestRefusals:
    """What is impossible is said before training, in one sentence."""

    @pytest.mark.parametrize(
        ("parameters", "sentence"),
        [
            (
                {"monotone": {"nowhere": "increasing"}},
                "The monotone feature 'nowhere' is not a column; the columns are ",
            ),
            (
                {"monotone": {"flag": "increasing"}},
                "monotone has 'flag', which is categorical and has no order; leave it "
                "out, or take one of the numeric columns ",
            ),
            (
                {"monotone": {"one": "increasing"}},
                "monotone has 'one', which is constant, so that no component can have "
                "it; leave it out.",
            ),
            (
                {"monotone": {"up": "upwards"}},
                "monotone has 'upwards' for 'up'; allowed are 'increasing', "
                "'decreasing'.",
            ),
            (
                {"monotone": {"up": ["increasing"]}},
                "monotone has ['increasing'] for 'up'; allowed are ",
            ),
            (
                {"monotone": {"up": "increasing", 0: "increasing"}},
                "monotone has 'up' twice; leave one of them out.",
            ),
            (
                {"special_values": {"up": "auto"}},
                "monotone has 'up', but special_values asks for its point masses, ",
            ),
            (
                {"activation": "softplus"},
                "activation is 'softplus', with which monotone curves would all be "
                "convex; set it to 'tanh' or 'sigmoid'.",
            ),
            (
                {"n_subnetworks": 3},
                "n_subnetworks is 3, but with orthogonal projections each of the 3 "
                "monotone features has a ridge function of its own; set it to a number "
                "from 4 to 6, or projection to 'near'.",
            ),
            (
                {"n_subnetworks": 7},
                "n_subnetworks is 7, but with orthogonal projections each of the 3 ",
            ),
        ],
        ids=str,
    )
    def test_one_sentence(self, parameters: dict[str, Any], sentence: str) -> None:
        """What was got, what is allowed, what to do."""
        X, y = rows_of(1)
        model = XNNRegressor(**({"monotone": MONOTONE} | parameters))
        with pytest.raises(InputError) as error:
            model.fit(X.assign(one=1.0), y)
        assert str(error.value).startswith(sentence)
        assert str(error.value).endswith(".")

    def test_a_refinement_has_the_directions_of_its_network(self) -> None:
        """Others are refused; without any the network keeps its own."""
        model, X, y = fitted()
        assert_monotone(refine(clone_of(model, monotone=None), X, y).scorer_)
        for other in ({"up": "decreasing"}, {"up": "increasing"}):
            with pytest.raises(InputError, match="which a refinement keeps; set it"):
                refine(clone_of(model, monotone=other), X, y)

    def test_the_type_is_checked(self) -> None:
        """As scikit-learn checks all parameters."""
        X, y = rows_of(1)
        with pytest.raises(ValueError, match="The 'monotone' parameter"):
            XNNRegressor(monotone=["up"]).fit(X, y)


class TestCertificate:
    """Bounds of slopes, compared with differences on a dense grid."""

    @LIGHT
    @given(
        seed=st.integers(0, 2**32 - 1),
        activation=st.sampled_from(["tanh", "sigmoid", "softplus"]),
        hidden=st.lists(st.integers(1, 5), max_size=2),
        size=st.sampled_from([0.1, 1.0, 5.0]),
        rising=st.booleans(),
        pieces=st.sampled_from([1, 7, 1000]),
    )
    def test_bounds_are_never_wrong(
        self,
        *,
        seed: int,
        activation: Any,
        hidden: list[int],
        size: float,
        rising: bool,
        pieces: int,
    ) -> None:
        """No slope on the grid is beyond them, for whatever weights."""
        rng = np.random.default_rng(seed)
        units = [1, *hidden, 1]
        kernels = [
            size * rng.standard_normal((3, out, into))
            for into, out in zip(units[:-1], units[1:], strict=True)
        ]
        if rising:
            kernels = [np.abs(kernel) for kernel in kernels]
        biases = tuple(size * rng.standard_normal((3, out, 1)) for out in units[1:])
        curves = Subnetworks(tuple(kernels), biases, activation)
        high = rng.uniform(0.1, 2, 3)
        lower, upper = slope_bounds(curves, -high, high, pieces)
        z = np.linspace(-high, high, 4001, axis=1)
        slopes = np.diff(curves(z)) / np.diff(z)
        slack = 1e-9 * (1 + np.abs(slopes).max())
        assert (lower[:, None] <= slopes + slack).all()
        assert (slopes - slack <= upper[:, None]).all()
        if rising:
            assert (lower >= 0).all()

    def test_many_pieces_give_close_bounds(self) -> None:
        """The bound goes to the true minimum as the pieces get small."""
        rng = np.random.default_rng(0)
        shapes = [(4, 10, 1), (4, 6, 10), (4, 1, 6)]
        curves = Subnetworks(
            tuple(rng.standard_normal(shape) / 2 for shape in shapes),
            tuple(rng.standard_normal((k, out, 1)) for k, out, _ in shapes),
            "tanh",
        )
        ends = np.ones(4)
        z = np.linspace(-ends, ends, 20_001, axis=1)
        slopes = np.diff(curves(z)) / np.diff(z)
        lower, upper = slope_bounds(curves, -ends, ends, 5000)
        assert lower == pytest.approx(slopes.min(axis=1), abs=0.02)
        assert upper == pytest.approx(slopes.max(axis=1), abs=0.02)

    @LIGHT
    @given(seed=st.integers(0, 10_000), place=st.integers(0, 3))
    def test_a_certificate_bounds_the_decision(
        self, make_scorer: MakeScorer, seed: int, place: int
    ) -> None:
        """For any network, any direction and rows anywhere in the box."""
        scorer = make_scorer(seed)
        name = scorer.features.names[place]
        for direction, sign in (("increasing", 1), ("decreasing", -1)):
            features = dataclasses.replace(scorer.features, monotone={name: direction})
            (found,) = certificates(dataclasses.replace(scorer, features=features))
            rng = np.random.default_rng(seed)
            lower = rng.uniform(-1, 1, (500, 4))
            upper = lower.copy()
            upper[:, place] = np.minimum(lower[:, place] + 1e-3, 1)
            step = np.maximum(upper[:, place] - lower[:, place], 1e-9)
            values = [
                scorer.scales @ scorer.subnetworks(scorer.projection.T @ rows.T)
                for rows in (lower, upper)
            ]
            slopes = sign * (values[1] - values[0]) / step
            assert (slopes >= found.smallest_slope - 1e-6).all()
            assert found.holds == (found.smallest_slope >= 0)

    def test_is_in_the_explanation(self) -> None:
        """As a frame, in the text and in the notebook's form."""
        explanation = fitted()[0].explain()
        frame = explanation.monotone
        assert list(frame["feature"]) == list(MONOTONE)
        assert dict(zip(frame["feature"], frame["direction"], strict=True)) == MONOTONE
        assert frame["holds"].all()
        assert "monotone: 3 of 3 features certified" in repr(explanation)
        assert "monotone: 3 of 3 features certified" in explanation._repr_html_()


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return the content of a file."""
    path = tmp_path_factory.mktemp("monotone") / "model.json"
    # All components: a feature without any would be both increasing and decreasing.
    fitted(projection="near", prune_share=None)[0].save(path)
    return json.loads(path.read_text())


class TestFiles:
    """A file says what is proved, and what does not follow is refused."""

    def test_round_trip(self, document: Any, tmp_path: Path) -> None:
        """The same directions, bits and certificates."""
        path, again = tmp_path / "one.json", tmp_path / "two.json"
        path.write_text(json.dumps(document))
        scorer = ridgeline.load(path)
        scorer.save(again)
        assert json.loads(again.read_text()) == document
        listed = document["model"]["monotone"]
        assert listed == [each._asdict() for each in certificates(scorer)]
        assert dict(scorer.features.monotone) == MONOTONE

    @pytest.mark.parametrize(
        ("change", "sentence"),
        [
            (lambda m: m["monotone"][1].update(direction="increasing"), "certificate"),
            (lambda m: m["monotone"][1].update(smallest_slope=9.0), "certificate"),
            (lambda m: m["monotone"][1].update(smallest_slope=None), "smallest_slope"),
            (lambda m: m["monotone"][1].update(direction="flat"), "direction"),
            (lambda m: m["monotone"][1].update(direction=[1]), "direction"),
            (lambda m: m["monotone"][1].update(feature="flag"), "numeric columns"),
            (lambda m: m["monotone"][1].update(more=1), "other keys"),
            (lambda m: m["monotone"].reverse(), "numeric columns"),
            (lambda m: m["monotone"].clear(), "numeric columns"),
            (lambda m: m.update(monotone=None), "'monotone'"),
            (lambda m: m.update(monotone=["up"]), "'feature'"),
            (lambda m: number_of(m, "down").update(masses=[0.25]), "point masses"),
        ],
    )
    def test_what_does_not_follow_is_refused(
        self, document: Any, tmp_path: Path, change: Callable[[Any], Any], sentence: str
    ) -> None:
        """Though the checksum is right."""
        changed = json.loads(json.dumps(document))
        change(changed["model"])
        changed["sha256"] = checksum(changed["model"])
        path = tmp_path / "model.json"
        path.write_text(json.dumps(changed))
        with pytest.raises(InputError, match=sentence):
            ridgeline.load(path)


def number_of(model: dict[str, Any], name: str) -> Any:
    """Return what the content of a file says of a numeric column."""
    numbers = model["features"]["numbers"]
    return next(each for each in numbers if each["name"] == name)


class TestWeights:
    """Where a stage starts, and what it may change."""

    @LIGHT
    @given(
        directions=hnp.arrays(
            np.float64, st.integers(1, 7), elements=st.sampled_from([-1.0, 0.0, 1.0])
        ),
        projection=st.sampled_from(PROJECTIONS),
        init=st.sampled_from(["random", "features"]),
        more=st.integers(0, 6),
        seed=st.integers(0, 2**32 - 1),
    )
    def test_first_projections_lie_within_their_limits(
        self, directions: Any, projection: Any, init: Any, more: int, seed: int
    ) -> None:
        """Unit columns; every monotone feature is somewhere, with its sign."""
        p, bound = len(directions), int(np.count_nonzero(directions))
        k = {
            "identity": p,
            "orthogonal": min(p, bound + min(p - bound, 1) + more),
        }.get(projection, 1 + more)
        shape = Architecture(
            p, k, (), (3,), "tanh", projection, True, False, "squared", False, True
        )
        rng = np.random.default_rng(seed)
        W = first_projection(shape, rng, init, directions)
        assert W.shape == (p, k)
        limits = projection_limits(shape, W, directions)
        assert (limits.lowest <= W).all()
        assert (limits.highest >= W).all()
        if projection != "free":
            assert np.linalg.norm(W, axis=0) == pytest.approx(np.ones(k))
        # A column has monotone features with their sign and rises, or has none.
        signed = directions[:, None] * W
        assert (signed >= 0).all()
        assert ((signed > 0).any(axis=0) == (limits.rising == 1)).all()
        if init == "random" or projection in {"orthogonal", "identity"}:
            assert ((signed > 0).any(axis=1) == (directions != 0)).all()

    def test_a_column_without_its_monotone_weights_may_not_get_them_back(self) -> None:
        """Where they are zero the curve is free, and the weights stay zero."""
        shape = Architecture(
            3, 2, (), (3,), "tanh", "free", True, False, "squared", False, True
        )
        W = np.array([[0.0, 0.5], [0.0, -0.5], [1.0, 0.2]])
        limits = projection_limits(shape, W, np.array([1.0, -1.0, 0.0]))
        assert limits.rising.tolist() == [0.0, 1.0]
        assert limits.lowest[:2, 0].tolist() == limits.highest[:2, 0].tolist() == [0, 0]
        assert limits.lowest[:, 1].tolist() == [0.0, -np.inf, -np.inf]
        assert limits.highest[:, 1].tolist() == [np.inf, 0.0, np.inf]

    @pytest.mark.parametrize("projection", PROJECTIONS)
    def test_a_fitted_model_is_where_training_goes_on(self, projection: str) -> None:
        """To take the weights as the network does changes none of them."""
        model, *_ = fitted(projection=projection)
        scorer = model.scorer_
        weights = trained_weights(scorer, Response.learn(np.array([-1.0, 1.0])))
        directions = scorer.features.directions
        shape = Architecture(
            *weights.projection.shape,
            (),
            (10, 6),
            "tanh",
            model.projection,
            True,
            False,
            "squared",
            False,
            True,
        )
        limits = projection_limits(shape, weights.projection, directions)
        assert (directions[:, None] * weights.projection >= 0).all()
        problem = Problem(0, 0, 0, 1, 1, 1, 1, 0, limits.rising)
        taken: Weights = constrained(shape, weights, problem)
        for one, other in zip(taken.kernels, weights.kernels, strict=True):
            assert (one == other)[scorer.scales > 0].all()
