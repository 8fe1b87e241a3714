"""Pairs of columns: pure surfaces, how they are fitted and found, and their part."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.interpolate import RegularGridInterpolator

import ridgeline
from ridgeline import XNNClassifier, XNNRegressor, XNNRegressorCV
from ridgeline.xnn.content import model_content, read_content
from ridgeline.xnn.features import Features
from ridgeline.xnn.pair_fitting import (
    Left,
    Penalty,
    fit_surfaces,
    learn_axis,
    pair_design,
    unit_surface,
)
from ridgeline.xnn.pair_search import Side, search_pairs
from ridgeline.xnn.surfaces import Axis, table_values

FEW_EPOCHS = {"max_epochs": 60, "random_state": 0}


def table(rows=600, seed=0):
    """Two numbers, whole numbers, a category of three and one of two."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "a": rng.uniform(-1, 1, rows),
            "b": rng.normal(size=rows),
            "hour": rng.integers(0, 6, rows).astype(float),
            "place": rng.choice(["north", "south", "west"], rows, p=[0.5, 0.3, 0.2]),
            "day": rng.choice(["work", "free"], rows),
        }
    )


def learnt(X):
    features = Features.learn(X)
    return features, features.encode(X)


def weights_of(X, seed=1):
    return np.random.default_rng(seed).uniform(0.5, 2, len(X))


def one_column(axis, cells):
    """What each row takes of each place, computed another way."""
    if axis.numeric:
        return np.column_stack(
            [np.interp(cells, axis.knots, unit) for unit in np.eye(axis.size)]
        )
    return np.eye(axis.size)[axis.levels[cells]]


def cells_of(features, rows, name):
    if name in features.numbers:
        return rows.numeric[:, list(features.numbers).index(name)]
    return rows.codes[:, list(features.categories).index(name)]


PAIRS = [("a", "b"), ("a", "hour"), ("hour", "place"), ("place", "day"), ("b", "day")]


@pytest.mark.parametrize("pair", PAIRS)
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=10, deadline=None)
def test_a_surface_has_no_part_of_one_column(pair, seed):
    X = table(seed=seed % 7)
    features, rows = learnt(X)
    weight = weights_of(X, seed)
    target = np.random.default_rng(seed).normal(size=len(X))
    axes = tuple(learn_axis(features, name, rows, weight) for name in pair)
    design = pair_design(features, axes, rows, weight)
    left = Left(target, np.zeros(len(X)), weight, classify=False)
    (values,) = fit_surfaces([design], left, Penalty(0.1, 0.1))
    added = table_values(axes, values, features, rows)
    assert np.abs(added).max() > 1e-3
    for axis, name in zip(axes, pair, strict=True):
        means = one_column(axis, cells_of(features, rows, name)).T @ (weight * added)
        assert np.abs(means).max() < 1e-9 * weight.sum()


@pytest.mark.parametrize("name", ["place", "day"])
def test_rows_and_columns_of_a_table_of_categories_have_mean_zero(name):
    X = table()
    features, rows = learnt(X)
    weight = np.ones(len(X))
    axes = tuple(learn_axis(features, one, rows, weight) for one in ("place", "day"))
    design = pair_design(features, axes, rows, weight)
    rng = np.random.default_rng(3)
    left = Left(rng.normal(size=len(X)), np.zeros(len(X)), weight, classify=False)
    (values,) = fit_surfaces([design], left, Penalty(1.0, 1.0))
    added = pd.Series(table_values(axes, values, features, rows))
    assert np.abs(added.groupby(X[name]).mean()).max() < 1e-12


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=20, deadline=None)
def test_values_lie_between_those_of_the_table(seed):
    rng = np.random.default_rng(seed)
    X = table()[["a", "b"]]
    features, rows = learnt(X)
    knots = [np.unique(np.r_[-1, rng.uniform(-1, 1, 4), 1]) for _ in range(2)]
    nothing = np.empty(0, dtype=np.int32)
    axes = Axis("a", knots[0], nothing), Axis("b", knots[1], nothing)
    values = rng.normal(size=(len(knots[0]), len(knots[1])))
    between = RegularGridInterpolator(knots, values)
    found = table_values(axes, values, features, rows)
    np.testing.assert_allclose(found, between(rows.numeric), atol=1e-12)


def test_a_fit_is_the_constrained_least_squares():
    X = table(300)
    features, rows = learnt(X)
    weight = weights_of(X)
    names = ("hour", "place")
    axes = tuple(learn_axis(features, name, rows, weight) for name in names)
    design = pair_design(features, axes, rows, weight)
    target = np.random.default_rng(5).normal(size=len(X))
    left = Left(target, np.full(len(X), 0.3), weight, classify=False)
    penalty = Penalty(bends=2.0, size=0.7)
    (found,) = fit_surfaces([design], left, penalty)
    # The same by Lagrange's multipliers, from products of the single columns.
    one, two = (
        one_column(axis, cells_of(features, rows, name))
        for axis, name in zip(axes, names, strict=True)
    )
    both = np.einsum("ni,nj->nij", one, two).reshape(len(X), -1)
    second = np.diff(np.eye(axes[0].size), 2, axis=0)
    prices = penalty.size * np.eye(both.shape[1])
    prices += penalty.bends * np.kron(second.T @ second, np.eye(axes[1].size))
    prices += penalty.bends * np.eye(both.shape[1])
    demands = np.vstack([one.T, two.T]) @ (weight[:, None] * both)
    count = len(demands)
    system = np.block(
        [
            [both.T @ (weight[:, None] * both) + prices, demands.T],
            [demands, np.zeros((count, count))],
        ]
    )
    right = np.r_[both.T @ (weight * (target - 0.3)), np.zeros(count)]
    solution = np.linalg.lstsq(system, right, rcond=None)[0][: both.shape[1]]
    np.testing.assert_allclose(found.ravel(), solution, atol=1e-7)


def test_a_fit_to_classes_is_at_its_minimum():
    X = table(500)
    features, rows = learnt(X)
    weight = weights_of(X)
    names = (("a", "b"), ("hour", "day"))
    designs = [
        pair_design(
            features,
            tuple(learn_axis(features, name, rows, weight) for name in pair),
            rows,
            weight,
        )
        for pair in names
    ]
    rng = np.random.default_rng(2)
    log_odds = 3 * X["a"].to_numpy() * X["b"].to_numpy()
    target = (rng.uniform(size=len(X)) < 1 / (1 + np.exp(-log_odds))).astype(float)
    left = Left(target, np.full(len(X), 0.2), weight, classify=True)
    penalty = Penalty(0.5, 0.5)
    found = fit_surfaces(designs, left, penalty, steps=30)

    def objective(tables):
        added = sum(
            design.matrix @ values.ravel()
            for design, values in zip(designs, tables, strict=True)
        )
        price = 0.0
        for design, values in zip(designs, tables, strict=True):
            inside = design.pure.T @ values.ravel()
            price += penalty.bends * inside @ design.bends @ inside
            price += penalty.size * inside @ inside
        return weight @ left.losses(added) + 0.5 * price

    least = objective(found)
    assert least < objective([np.zeros_like(values) for values in found])
    for place, design in enumerate(designs):
        for move in rng.normal(size=(10, design.pure.shape[1])):
            step = 1e-3 * (design.pure @ move).reshape(found[place].shape)
            moved = [*found]
            moved[place] = found[place] + step
            assert objective(moved) >= least - 1e-9


def test_a_weight_of_two_counts_as_the_row_twice():
    X = table(300)
    twice = np.random.default_rng(0).uniform(size=len(X)) < 0.4
    target = np.random.default_rng(1).normal(size=len(X))
    features, rows = learnt(X)
    weight = np.where(twice, 2.0, 1.0)
    axes = tuple(learn_axis(features, n, rows, weight) for n in ("hour", "place"))
    order = np.r_[np.arange(len(X)), np.flatnonzero(twice)]
    found = []
    for at, given_weight in ((np.arange(len(X)), weight), (order, np.ones(len(order)))):
        encoded = features.encode(X.iloc[at])
        design = pair_design(features, axes, encoded, given_weight)
        left = Left(target[at], np.zeros(len(at)), given_weight, classify=False)
        (values,) = fit_surfaces([design], left, Penalty(1.0, 1.0))
        surface, scale = unit_surface(design, values, given_weight)
        found.append((values, surface.shares, scale))
    for one, two in zip(*found, strict=True):
        np.testing.assert_allclose(one, two, atol=1e-9)


def sides(X, target):
    features, rows = learnt(X)
    half = len(X) // 2
    parts = (slice(0, half), slice(half, None))
    return features, [
        Side(
            rows.take(part),
            Left(
                target[part],
                np.zeros(len(target[part])),
                np.ones(len(target[part])),
                classify=False,
            ),
        )
        for part in parts
    ]


def search(X, target):
    """Pairs of a table all of whose columns take part."""
    features, (training, validation) = sides(X, target)
    columns = dict.fromkeys(X, True)
    return search_pairs(
        features, training, validation, columns, most=5, standard_errors=1.0
    )


@pytest.mark.parametrize("seed", range(3))
def test_planted_pairs_are_found_and_no_others(seed):
    X = table(4000, seed)
    rng = np.random.default_rng(seed)
    target = 2 * X["a"] * X["b"] + np.where(X["day"] == "work", 1, -1) * np.cos(
        X["hour"]
    )
    target = (target + rng.normal(size=len(X))).to_numpy()
    found = search(X, target)
    names = {frozenset(axis.column for axis in one.axes) for one in found.designs}
    assert names == {frozenset(("a", "b")), frozenset(("hour", "day"))}


@pytest.mark.parametrize("seed", range(3))
def test_no_pair_is_found_in_noise(seed):
    X = table(3000, seed)
    target = np.random.default_rng(seed).normal(size=len(X))
    found = search(X, target)
    assert found.designs == []


@pytest.fixture(scope="module")
def fitted():
    """A regressor with a planted pair of numbers and one of a number and a category."""
    X = table(1500)
    rng = np.random.default_rng(4)
    y = X["a"] + np.sin(2 * X["b"]) + 1.5 * X["a"] * X["b"]
    y += np.where(X["day"] == "work", 1.0, -1.0) * (X["hour"] - 2.5) / 2
    y += (X["place"] == "west") + (X["day"] == "work") + 0.2 * rng.normal(size=len(X))
    options = FEW_EPOCHS | {"projection": "identity"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of whole numbers that may be categories
        plain = XNNRegressor(**options).fit(X, y)
        pairs = XNNRegressor(**options, max_pairs=3).fit(X, y)
    return X, y.to_numpy(), plain, pairs


def test_pairs_lower_the_error(fitted):
    X, y, plain, pairs = fitted
    first, second, *_ = pairs.explain().pairs
    assert set(first.features) | set(second.features) == {"a", "b", "hour", "day"}
    assert pairs.validation_loss_ < 0.3 * plain.validation_loss_
    assert pairs.score(X, y) > plain.score(X, y)


def test_every_part_adds_up(fitted):
    X, _, _, model = fitted
    explanation = model.explain()
    decision = model.predict(X)
    for by in ("component", "feature"):
        frame = explanation.contributions(X, by=by)
        parts = frame.drop(columns="decision").sum(axis=1)
        np.testing.assert_allclose(parts, decision, atol=1e-9)
    assert explanation.importance["importance"].sum() == pytest.approx(1)
    assert explanation.feature_importance.sum() == pytest.approx(1)
    pair = explanation.contributions(X)["a x b"]
    of_b = explanation.feature_parts(X)["interaction"].xs("b", level="feature")
    np.testing.assert_allclose(of_b, pair / 2, atol=1e-12)


def test_scales_are_comparable(fitted):
    """A surface has norm 1 over the training rows, like all components."""
    X, _, _, model = fitted
    for component in model.explain().pairs:
        part = model.explain().contributions(X)[component.name]
        # Over all rows, of which the training rows are four fifths.
        assert np.sqrt(np.mean(part**2)) == pytest.approx(component.scale, rel=0.1)


def test_a_file_gives_the_same_scores(fitted, tmp_path):
    X, _, _, model = fitted
    model.save(tmp_path / "model.json")
    scorer = ridgeline.load(tmp_path / "model.json")
    np.testing.assert_array_equal(scorer.decision_function(X), model.predict(X))
    pd.testing.assert_frame_equal(scorer.explain().surfaces, model.explain().surfaces)


def changed(fitted, change):
    content = model_content(fitted[3].scorer_)
    change(content)
    return content


DAMAGES = {
    "no pairs": lambda c: c.update(pairs=[]),
    "twice": lambda c: c.update(pairs=[c["pairs"][0]] * 2, pair_scales=[1.0, 1.0]),
    "scales": lambda c: c.update(pair_scales=[-1.0] * len(c["pairs"])),
    "one axis": lambda c: c["pairs"][0]["axes"].pop(),
    "knots": lambda c: _numeric(c).update(knots=[0.5, 0.1]),
    "far knots": lambda c: _numeric(c).update(knots=[-5.0, 5.0]),
    "column": lambda c: _numeric(c).update(column="nobody"),
    "values": lambda c: c["pairs"][0].update(values=[[1.0]]),
    "shares": lambda c: c["pairs"][0].update(
        shares=(2 * np.array(c["pairs"][0]["shares"])).tolist()
    ),
    "another key": lambda c: c["pairs"][0].update(code="x"),
}


def _numeric(content):
    return next(
        axis for pair in content["pairs"] for axis in pair["axes"] if "knots" in axis
    )


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_refused(fitted, damage):
    with pytest.raises(ValueError, match=r"\w"):
        read_content(changed(fitted, DAMAGES[damage]))


def test_levels_that_leave_places_out_are_refused(fitted):
    def change(content):
        axis = next(
            axis
            for pair in content["pairs"]
            for axis in pair["axes"]
            if "levels" in axis
        )
        axis["levels"] = [0] * (len(axis["levels"]) - 1) + [5]

    with pytest.raises(ValueError, match="levels"):
        read_content(changed(fitted, change))


def test_pairs_are_pruned_and_refined_like_other_components(fitted):
    X, y, _, model = fitted
    least = float(model.scorer_.pair_scales.min())
    share = 1 - least / model.scorer_.all_scales.sum()
    kept = ridgeline.prune(model, share=0.5 * share)
    assert np.count_nonzero(kept.scorer_.all_scales) < np.count_nonzero(
        model.scorer_.all_scales
    )
    refined = ridgeline.refine(model, X, y)
    for one, two in zip(refined.scorer_.pairs, model.scorer_.pairs, strict=True):
        np.testing.assert_array_equal(one.table, two.table)
    assert refined.score(X, y) > 0.9


def test_one_column_of_a_pair_must_take_part():
    X = table(4000)
    target = 2 * X["a"] * X["b"] + np.random.default_rng(0).normal(size=len(X))
    features, (training, validation) = sides(X, target.to_numpy())
    for used, found in ((set(), []), ({"hour"}, []), ({"b"}, ["a"])):
        pairs = search_pairs(
            features,
            training,
            validation,
            {name: name in used for name in X},
            most=5,
            standard_errors=1.0,
        )
        assert [design.axes[0].column for design in pairs.designs] == found


def test_an_unknown_category_adds_nothing(fitted):
    X, _, _, model = fitted
    strange = X.head(3).assign(day="holiday")
    unseen = ridgeline.xnn.columns.Unseen("average", "average")
    parts = model.scorer_.contributions(strange, unseen)
    place = model.scorer_.component_names.index("hour x day")
    np.testing.assert_array_equal(parts[:, place], 0.0)


def test_the_same_seed_gives_the_same_bits(fitted):
    X, y, _, model = fitted
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        again = XNNRegressor(**FEW_EPOCHS, projection="identity", max_pairs=3).fit(X, y)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_monotone_columns_stay_out_of_pairs(fitted):
    X, y, _, _ = fitted
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = XNNRegressor(
            **FEW_EPOCHS, max_pairs=3, monotone={"a": "increasing"}
        ).fit(X, y)
    columns = {name for c in model.explain().pairs for name in c.features}
    assert "a" not in columns
    assert all(each.holds for each in model.explain().certificates)


def test_classes_have_pairs_and_figures():
    X = table(1500, seed=8)
    log_odds = np.where(X["day"] == "work", 2, -2) * np.where(
        X["place"] == "west", 1, -1
    )
    log_odds = log_odds + 2 * X["a"]
    rng = np.random.default_rng(0)
    y = rng.uniform(size=len(X)) < 1 / (1 + np.exp(-log_odds))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = XNNClassifier(**FEW_EPOCHS, max_pairs=2).fit(X, y)
    assert "place x day" in model.scorer_.component_names
    figure = model.explain().plot()
    labels = [axes.get_label() for axes in figure.axes]
    assert "place x day: surface" in labels
    surface = model.explain().surfaces
    assert set(surface["first"]) == {"north", "south", "west"}
    assert surface["share"].sum() == pytest.approx(1)


def test_a_search_chooses_pairs_and_leaves_them_out(fitted):
    X, y, _, _ = fitted
    options = {"n_candidates": 2, "max_epochs": 40, "n_jobs": 1, "random_state": 0}
    additive = X["a"] + np.sin(2 * X["b"])
    additive += 0.2 * np.random.default_rng(1).normal(size=len(X))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = XNNRegressorCV(**options, projection="identity").fit(X, y)
        without = XNNRegressorCV(**options, max_pairs=0).fit(X, y)
        simple = XNNRegressorCV(**options, projection="identity").fit(X, additive)
    assert "a x b" in model.scorer_.component_names
    assert without.scorer_.pairs == ()
    assert simple.scorer_.pairs == ()
    assert model.score(X, y) > without.score(X, y) - 0.01


def test_a_number_of_pairs_below_zero_is_refused():
    with pytest.raises(ValueError, match="max_pairs"):
        XNNRegressor(max_pairs=-1).fit(np.eye(4), np.arange(4))
