"""Contributions by feature: they add up, and are what Shapley's axioms ask for."""

from collections.abc import Callable
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from known_model import evenly
from special_model import make_special, special_rows

from ridgeline import load
from ridgeline.errors import InputError
from ridgeline.xnn import sharing
from ridgeline.xnn.columns import Unseen
from ridgeline.xnn.explanation import explain
from ridgeline.xnn.features import Features
from ridgeline.xnn.plots import plot_contributions
from ridgeline.xnn.scorer import Scorer, Spread, Subnetworks
from ridgeline.xnn.sharing import MOST_PLAYERS, share_ridge, weight_shares

MakeScorer = Callable[..., Scorer]
SEEDS = st.integers(0, 2**32 - 1)


def draw_network(seed: int, n_numbers: int, sparse: bool = False) -> Scorer:
    """A network with random weights, a flag, categories, codes, masses and gaps."""
    rng = np.random.default_rng(seed)
    numbers = {
        f"n{place}": replace(
            evenly(-1.0, 1.0),
            neutral=float(rng.uniform(-0.5, 0.5)),
            codes=(-9.0,) if place % 3 == 0 else (),
            masses=(0.25,) if place % 3 == 1 else (),
            missing=place % 2 == 0,
        )
        for place in range(n_numbers)
    }
    categories = {"flag": ("no", "yes"), "town": ("a", "b", "c")}
    features = Features(
        (*categories, *numbers), True, numbers, categories, flags=("flag",)
    )
    p = n_numbers + 1
    k = min(p, 3)
    projection = np.linalg.qr(rng.normal(size=(p, k)))[0]
    if sparse:
        projection[rng.uniform(size=(p, k)) < 0.5] = 0.0
    sizes = (1, 4, 3, 1)
    pairs = list(zip(sizes[1:], sizes[:-1], strict=True))
    groups = [len(values) for values in features.groups.values()]
    return Scorer(
        features=features,
        classes=None,
        projection=projection,
        subnetworks=Subnetworks(
            tuple(2 * rng.normal(size=(k, out, into)) for out, into in pairs),
            tuple(rng.normal(size=(k, out, 1)) for out, _ in pairs),
            "tanh",
        ),
        scales=rng.uniform(0.1, 1, k),
        effects=tuple(rng.normal(size=count) for count in groups),
        category_scales=rng.uniform(0.1, 1, len(groups)),
        intercept=float(rng.normal()),
        spread=Spread(
            np.tile(np.linspace(-2, 2, 11), (k, 1)),
            np.full((k, 10), 0.1),
            tuple(np.full(count, 1 / count) for count in groups),
        ),
    )


def draw_rows(scorer: Scorer, n: int = 12, seed: int = 0) -> pd.DataFrame:
    """Rows with every kind of cell that the network knows."""
    rng = np.random.default_rng(seed)
    table: dict[str, object] = {
        name: rng.choice(np.array(values, dtype=object), n)
        for name, values in scorer.features.categories.items()
    }
    for name, number in scorer.features.numbers.items():
        special = [np.nan if v is None else v for v in number.special_values]
        values = rng.uniform(-1, 1, n)
        for place in np.flatnonzero(rng.uniform(size=n) < 0.3) if special else ():
            values[place] = rng.choice(special)
        table[name] = values
    return pd.DataFrame(table, index=[f"row {place}" for place in range(n)])


def one_ridge(
    weights: np.ndarray,
    neutral: np.ndarray,
    rows: np.ndarray,
    value: sharing.Function = np.tanh,
) -> np.ndarray:
    """Shares of one ridge function, shape (features, rows)."""
    return sum(share_ridge(value, weights, neutral, rows))


def wavy(z: np.ndarray) -> np.ndarray:
    """Return what is far from a line."""
    return np.sin(4 * z) + 0.5 * z**2 + 0.3


@settings(max_examples=40)
@given(SEEDS, st.integers(1, 14), st.booleans())
def test_shares_add_up_row_by_row(seed: int, n_numbers: int, sparse: bool) -> None:
    scorer = draw_network(seed, n_numbers, sparse)
    X = draw_rows(scorer, seed=seed)
    parts = scorer.contributions(X)
    shares = scorer.feature_contributions(X)
    assert shares.shape == (len(X), len(scorer.features.names))
    gap = np.abs(shares.sum(axis=1) - parts.sum(axis=1))
    assert (gap <= 1e-9 * np.abs(parts).sum(axis=1)).all()


@settings(max_examples=40)
@given(SEEDS, st.integers(1, 14))
def test_features_without_weight_have_nothing(seed: int, n_numbers: int) -> None:
    drawn = draw_network(seed, n_numbers)
    projection = drawn.projection.copy()
    projection[0] = 0
    scorer = replace(drawn, projection=projection)
    X = draw_rows(scorer, seed=seed)
    name = scorer.features.projected_names[0]
    # What is left to it is the effect of its special values.
    groups = list(scorer.features.group_columns)
    place = len(scorer.scales) + groups.index(name)
    column = scorer.features.names.index(name)
    np.testing.assert_array_equal(
        scorer.feature_contributions(X)[:, column], scorer.contributions(X)[:, place]
    )


@settings(max_examples=60)
@given(SEEDS, st.integers(2, 16), st.data())
def test_a_feature_at_its_neutral_value_has_its_part_of_the_constant(
    seed: int, p: int, data: st.DataObject
) -> None:
    rng = np.random.default_rng(seed)
    weights, neutral = rng.normal(size=p), rng.uniform(-1, 1, p)
    rows = rng.uniform(-1, 1, (p, 5))
    place = data.draw(st.integers(0, p - 1))
    rows[place] = neutral[place]
    main, interaction = share_ridge(wavy, weights, neutral, rows)
    constant = weights[place] ** 2 / (weights @ weights) * wavy(weights @ neutral)
    np.testing.assert_allclose(main[place], constant, rtol=1e-12)
    np.testing.assert_allclose(interaction[place], 0, atol=1e-12)


@settings(max_examples=60)
@given(SEEDS, st.integers(2, 16), st.data())
def test_equal_features_have_equal_shares(
    seed: int, p: int, data: st.DataObject
) -> None:
    rng = np.random.default_rng(seed)
    weights, neutral = rng.normal(size=p), rng.uniform(-1, 1, p)
    # Both among those that play alone, or both among the small ones.
    order = np.argsort(-np.abs(weights))
    halves = [order[: MOST_PLAYERS - 1], order[MOST_PLAYERS - 1 :]]
    large = p > MOST_PLAYERS + 1 and data.draw(st.booleans())
    chosen = halves[1] if large else (halves[0] if p > MOST_PLAYERS else order)
    one, other = chosen[:2]
    weights[other] = weights[one]
    rows = rng.uniform(-1, 1, (p, 5))
    rows[other] = rows[one] - neutral[one] + neutral[other]
    shares = one_ridge(weights, neutral, rows, wavy)
    np.testing.assert_allclose(shares[one], shares[other], atol=1e-10)


@given(SEEDS, st.integers(1, 14), st.data())
def test_a_component_of_one_feature_is_that_features(
    seed: int, n_numbers: int, data: st.DataObject
) -> None:
    drawn = draw_network(seed, n_numbers)
    place = data.draw(st.integers(0, n_numbers))
    projection = np.zeros((n_numbers + 1, 1))
    projection[place] = -0.7
    scorer = replace(
        drawn,
        projection=projection,
        subnetworks=drawn.subnetworks.take([0]),
        scales=drawn.scales[:1],
        category_scales=np.zeros_like(drawn.category_scales),
    )
    X = draw_rows(scorer, seed=seed)
    parts = scorer.feature_parts(X)
    column = scorer.features.names.index(scorer.features.projected_names[place])
    np.testing.assert_allclose(
        parts[:, column, 0], scorer.contributions(X)[:, 0], rtol=1e-12
    )
    assert not parts[:, :, 1].any()
    assert not np.delete(parts, column, axis=1).any()


@settings(max_examples=40)
@given(SEEDS, st.integers(2, 4))
def test_shares_are_means_over_all_orders_of_the_features(seed: int, p: int) -> None:
    rng = np.random.default_rng(seed)
    weights, neutral = rng.normal(size=p), rng.uniform(-1, 1, p)
    rows = rng.uniform(-1, 1, (p, 3))
    expected = np.zeros((p, 3))
    orders = list(permutations(range(p)))
    for row in range(3):
        for order in orders:
            x = neutral.copy()
            for place in order:
                before = wavy(weights @ x)
                x[place] = rows[place, row]
                expected[place, row] += wavy(weights @ x) - before
    expected /= len(orders)
    expected += (weights**2 / (weights @ weights) * wavy(weights @ neutral))[:, None]
    shares = one_ridge(weights, neutral, rows, wavy)
    np.testing.assert_allclose(shares, expected, atol=1e-12)


def test_main_is_what_a_feature_adds_alone() -> None:
    rng = np.random.default_rng(0)
    for p in (3, 12):
        weights, neutral = rng.normal(size=p), rng.uniform(-1, 1, p)
        rows = rng.uniform(-1, 1, (p, 6))
        main, _ = share_ridge(wavy, weights, neutral, rows)
        for place in range(p):
            at = np.tile(neutral[:, None], 6)
            at[place] = rows[place]
            none = wavy(weights @ neutral)
            expected = wavy(weights @ at) - none + weight_shares(weights)[place] * none
            np.testing.assert_allclose(main[place], expected, atol=1e-12)


@pytest.mark.parametrize("p", [4, 30])
def test_a_straight_line_has_no_interactions(p: int) -> None:
    rng = np.random.default_rng(0)
    weights, neutral = rng.normal(size=p), rng.uniform(-1, 1, p)
    rows = rng.uniform(-1, 1, (p, 6))
    main, interaction = share_ridge(lambda z: 3 * z, weights, neutral, rows)
    # The difference of two values, over a small move, has eleven digits.
    np.testing.assert_allclose(interaction, 0, atol=1e-9)
    constant = weight_shares(weights) * 3 * (weights @ neutral)
    own = 3 * weights[:, None] * (rows - neutral[:, None])
    np.testing.assert_allclose(main, own + constant[:, None], atol=1e-12)


@pytest.mark.parametrize("move", [0.0, 1e-12, 0.99999e-5, 1.00001e-5, -3e-6])
def test_small_weights_that_cancel_out_have_shares_of_their_own(move: float) -> None:
    # Eleven features: the last two are one player, whose moves nearly cancel out.
    rng = np.random.default_rng(0)
    weights = np.array([*rng.uniform(1, 2, 9), 0.5, 0.5])
    rows = rng.uniform(-0.3, 0.3, (11, 4))
    rows[9], rows[10] = 0.4, -0.4 + 2 * move
    shares = one_ridge(weights, np.zeros(11), rows, wavy)
    np.testing.assert_allclose(
        shares.sum(axis=0), wavy(weights @ rows), rtol=1e-12, atol=1e-12
    )
    # At a limit of the moves the share is that of the mean slope.
    further = rows.copy()
    further[10] = -0.4 + 2e-4
    near = one_ridge(weights, np.zeros(11), further, wavy)
    np.testing.assert_allclose(shares, near, atol=5e-3)
    assert (np.abs(shares[9]) > 1e-3).any()


def test_shares_have_no_step_where_the_slope_is_interpolated() -> None:
    rng = np.random.default_rng(1)
    weights = np.array([*rng.uniform(1, 2, 9), 0.5, 0.5])
    moves = np.linspace(-2e-5, 2e-5, 41)
    rows = np.tile(rng.uniform(-0.3, 0.3, (11, 1)), len(moves))
    rows[9], rows[10] = 0.4, -0.4 + 2 * moves
    shares = one_ridge(weights, np.zeros(11), rows, wavy)
    # A smooth function of the move has no second differences at this distance.
    np.testing.assert_allclose(np.diff(shares, 2, axis=1), 0, atol=1e-9)


def test_blocks_do_not_change_the_shares(monkeypatch: pytest.MonkeyPatch) -> None:
    scorer = draw_network(3, 12)
    X = draw_rows(scorer, n=50)
    expected = scorer.feature_parts(X)
    for values in (1, 5_000, 1 << 20):
        monkeypatch.setattr(sharing, "_VALUES", values)
        np.testing.assert_allclose(scorer.feature_parts(X), expected, atol=1e-12)
    parts = [scorer.feature_parts(X[start : start + 7]) for start in range(0, 50, 7)]
    np.testing.assert_allclose(np.concatenate(parts), expected, atol=1e-12)
    assert scorer.feature_parts(X[:0]).shape == (0, 14, 2)


def test_a_stored_model_gives_the_same_bits(tmp_path: Path) -> None:
    scorer = make_special()
    X = special_rows()[:200]
    scorer.save(tmp_path / "model.json")
    stored = load(tmp_path / "model.json")
    np.testing.assert_array_equal(stored.feature_parts(X), scorer.feature_parts(X))


def test_special_values_and_flags_belong_to_their_column() -> None:
    scorer = draw_network(5, 3)
    X = draw_rows(scorer, n=40)
    silent = replace(scorer, category_scales=np.zeros_like(scorer.category_scales))
    beside = scorer.feature_contributions(X) - silent.feature_contributions(X)
    expected = pd.DataFrame(0.0, X.index, scorer.features.names)
    effects = scorer.contributions(X)[:, len(scorer.scales) :]
    for column, effect in zip(scorer.features.group_columns, effects.T, strict=True):
        expected[column] += effect
    np.testing.assert_allclose(beside, expected, atol=1e-12)


def test_a_projection_without_weights_is_shared_equally() -> None:
    shares = one_ridge(np.zeros(4), np.zeros(4), np.ones((4, 3)), np.cos)
    np.testing.assert_allclose(shares, 0.25)


@pytest.mark.parametrize("seed", range(3))
def test_the_frame_adds_up_to_the_decision(seed: int) -> None:
    scorer = draw_network(seed, 5)
    X = draw_rows(scorer)
    explanation = explain(scorer)
    frame = explanation.contributions(X, by="feature")
    assert frame.index.equals(X.index)
    order = list(explanation.feature_importance.index)
    assert list(frame) == ["intercept", *order, "decision"]
    assert sorted(order) == sorted(scorer.features.names)
    by_component = explanation.contributions(X)
    for column in ("intercept", "decision"):
        np.testing.assert_allclose(frame[column], by_component[column], rtol=1e-9)
    np.testing.assert_allclose(
        frame.drop(columns="decision").sum(axis=1), frame["decision"], rtol=1e-9
    )
    plot_contributions(frame.iloc[0])


def test_columns_that_take_no_part_are_left_out(make_scorer: MakeScorer) -> None:
    categories = {"purpose": ("card", "home"), "term": (36, 60)}
    scorer = make_scorer(categories=categories)
    projection = scorer.projection.copy()
    projection[2] = 0
    scorer = replace(
        scorer, projection=projection, category_scales=np.array([0.0, 0.7])
    )
    X = np.array([[0.1, 0.2, 0.3, 0.4, "card", 36]], dtype=object)
    frame = explain(scorer).contributions(X, by="feature")
    kept = {"feature 0", "feature 1", "feature 3", "term"}
    assert set(frame) == {"intercept", *kept, "decision"}
    assert list(frame.index) == [0]
    none = explain(
        replace(scorer, scales=0 * scorer.scales, category_scales=np.zeros(2))
    )
    assert list(none.contributions(X, by="feature")) == ["intercept", "decision"]
    assert none.feature_parts(X).shape == (0, 2)


def test_main_parts_and_interactions_add_up_to_the_contributions() -> None:
    scorer = draw_network(1, 5)
    explanation = explain(scorer)
    X = draw_rows(scorer)
    parts = explanation.feature_parts(X)
    assert list(parts) == ["main", "interaction"]
    assert parts.index.names == [None, "feature"]
    whole = explanation.contributions(X, by="feature")
    features = list(whole)[1:-1]
    assert list(parts.index) == [(row, name) for row in X.index for name in features]
    added = parts.sum(axis=1).to_numpy().reshape(len(X), -1)
    np.testing.assert_allclose(added, whole[features], rtol=1e-12)
    town = parts.xs("town", level="feature")
    assert not town["interaction"].any()
    assert parts["interaction"].abs().max() > 0.01
    keyed = X.set_index(
        pd.MultiIndex.from_arrays([range(12), [1] * 12], names=["loan", "year"])
    )
    again = explanation.feature_parts(keyed)
    assert again.index.names == ["loan", "year", "feature"]
    np.testing.assert_array_equal(again, parts)


def test_strange_cells_are_treated_as_elsewhere() -> None:
    scorer = draw_network(2, 3)
    X = draw_rows(scorer).assign(town="z")
    with pytest.raises(InputError, match="'z', which training had not"):
        explain(scorer).contributions(X, by="feature")
    lenient = replace(explain(scorer), unseen=Unseen(category="average"))
    assert (lenient.contributions(X, by="feature")["town"] == 0).all()
    assert (lenient.feature_parts(X).xs("town", level="feature") == 0).all(axis=None)


@pytest.mark.parametrize("name", ["intercept", "decision"])
def test_a_feature_with_a_taken_name_is_refused(
    make_scorer: MakeScorer, name: str
) -> None:
    scorer = make_scorer()
    learnt = scorer.features.numbers.values()
    numbers = dict(zip((name, "b", "c", "d"), learnt, strict=True))
    features = replace(scorer.features, names=tuple(numbers), numbers=numbers)
    explanation = explain(replace(scorer, features=features))
    with pytest.raises(InputError, match=f"feature '{name}'.*rename"):
        explanation.contributions(np.zeros((1, 4)), by="feature")
    assert len(explanation.contributions(np.zeros((1, 4)))) == 1


@pytest.mark.parametrize("by", ["row", None, 3])
def test_another_kind_of_contributions_is_refused(
    make_scorer: MakeScorer, by: object
) -> None:
    with pytest.raises(InputError) as refused:
        explain(make_scorer()).contributions(np.zeros((1, 4)), by=by)
    assert str(refused.value) == f"by is {by!r}; it must be 'component' or 'feature'."


def test_importance_by_feature_adds_up(make_scorer: MakeScorer) -> None:
    scorer = make_scorer()
    dead = scorer.projection.copy()
    dead[:, 1] = 0
    for network in (scorer, replace(scorer, projection=dead), draw_network(0, 6)):
        assert explain(network).feature_importance.sum() == pytest.approx(1)


def test_the_example_of_the_page_has_the_numbers_that_it_shows() -> None:
    page = (Path(__file__).parents[2] / "docs" / "model.md").read_text()
    section = page.split("## Contributions by feature")[1].split("\n## ")[0]
    (code,) = (part for part in section.split("```python\n") if "share_ridge" in part)
    lines = code.split("```")[0].splitlines()
    names: dict[str, object] = {}
    exec("\n".join(lines), names)
    shown = [line.split("  # ") for line in lines if "  # [" in line]
    assert len(shown) == 3
    for expression, numbers in shown:
        found = np.ravel(eval(expression, names))
        np.testing.assert_allclose(found, eval(numbers), atol=1e-12)
