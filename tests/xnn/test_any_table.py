"""Tables as people have them: gaps, codes, heaps, strange cells, other frames."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from tests.sharing import made_once

import ridgeline
from ridgeline import InputError, XNNClassifier, XNNRegressor
from ridgeline.xnn.column_kinds import CodedColumnWarning
from ridgeline.xnn.scorer import BeyondRangeWarning

QUICK = {"random_state": 0, "max_epochs": 60}


def table(n=1500, seed=0):
    """Numbers with gaps and a code, categories with gaps, a flag, and their truth."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.uniform(20, 70, n),
            "debt": np.exp(rng.uniform(0, 4, n)),
            "job": rng.choice(["clerk", "cook", "pilot"], n).astype(object),
            "owner": rng.choice(["no", "yes"], n),
        }
    )
    frame.loc[rng.random(n) < 0.15, "age"] = np.nan
    frame.loc[rng.random(n) < 0.15, "debt"] = -7.0
    frame.loc[rng.random(n) < 0.1, "job"] = None
    y = (
        np.where(frame["age"].isna(), 1.0, np.sin(frame["age"] / 8))
        + np.where(frame["debt"] == -7, -1.0, np.log(frame["debt"].clip(lower=0.1)) / 3)
        + frame["job"].map({"clerk": 0.5, "cook": -0.5, "pilot": 0.0}).fillna(-1.0)
        + 0.1 * rng.normal(size=n)
    )
    return frame, y


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """A regressor on the table, with the code named."""

    def make(_):
        X, y = table()
        return XNNRegressor(special_values={"debt": [-7]}, **QUICK).fit(X, y)

    return made_once(tmp_path_factory, "any-table-regressor", make)


def test_gaps_and_codes_are_learnt(fitted):
    X, y = table(seed=1)
    assert fitted.score(X, y) > 0.9
    effects = fitted.explain().categories.set_index(["component", "category"])["effect"]
    apart = effects["debt: special values"]
    assert apart[-7] < -0.5 < apart["any other value"] + 0.5
    assert effects["job"]["missing"] < effects["job"]["cook"] < effects["job"]["clerk"]


def test_a_gap_has_a_neutral_value_in_projections(fitted):
    X, _ = table()
    ages = X["age"].dropna()
    number = fitted.scorer_.features.numbers["age"]
    scaled = number.scaled(np.array([np.nan]))[0]
    # The mean of the rows that have a number, here of the training part of them.
    assert scaled == pytest.approx(number.scale(ages.to_numpy()).mean(), abs=0.03)


def test_the_number_of_a_code_does_not_matter(fitted):
    """-7 is a code: no curve is asked what it has to say about minus seven."""
    X, y = table()
    other = X.assign(debt=X["debt"].replace(-7.0, 1e6))
    again = XNNRegressor(special_values={"debt": [1e6]}, **QUICK).fit(other, y)
    assert np.array_equal(again.predict(other), fitted.predict(X))


def test_contributions_name_them_and_add_up(fitted):
    X, _ = table()
    parts = fitted.explain().contributions(X)
    assert {"debt: special values", "age: special values", "job"} <= set(parts)
    summed = parts.drop(columns="decision").sum(axis=1)
    assert np.allclose(summed, parts["decision"])
    assert np.allclose(parts["decision"], fitted.predict(X))


def test_a_stored_model_scores_gaps_and_codes_alike(fitted, tmp_path):
    X, _ = table(seed=2)
    fitted.save(tmp_path / "model.json")
    assert np.array_equal(
        ridgeline.load(tmp_path / "model.json").predict(X), fitted.predict(X)
    )


def test_the_plot_shows_them(fitted):
    labels = [str(axes.get_label()) for axes in fitted.explain().plot().axes]
    assert "age: special values: effects" in labels
    names = [
        tick.get_text()
        for axes in fitted.explain().plot().axes
        for tick in axes.get_yticklabels()
    ]
    assert {"missing", "-7", "any other value"} <= set(names)


def test_a_new_gap_is_refused_or_average(fitted):
    X, _ = table(n=200)
    model = XNNRegressor(**QUICK).fit(X[["debt"]], X["debt"] > 0)
    gap = pd.DataFrame({"debt": [np.nan, 3.0]})
    with pytest.raises(InputError, match="1 missing values, and had none in training"):
        model.predict(gap)
    lenient = XNNRegressor.from_scorer(model.scorer_, unknown_missing="average")
    assert np.isfinite(lenient.predict(gap)).all()


def test_a_new_gap_in_categories_likewise():
    frame = pd.DataFrame({"job": ["a", "b", "c"] * 40, "x": np.arange(120.0)})
    model = XNNRegressor(**QUICK).fit(frame, frame["x"])
    gap = frame.head(3).assign(job=["a", None, "c"])
    with pytest.raises(InputError, match="column 'job' has 1 missing values, and had"):
        model.predict(gap)
    lenient = XNNRegressor.from_scorer(model.scorer_, unknown_missing="average")
    assert np.isfinite(lenient.predict(gap)).all()


def test_beyond_the_range_curves_stay_at_their_edge(fitted):
    X, _ = table(n=50)
    low, high = X.assign(age=70.5), X.assign(age=7000.0)
    with pytest.warns(BeyondRangeWarning, match="50 cells lie beyond .* 'age'"):
        far = fitted.predict(high)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BeyondRangeWarning)
        assert np.array_equal(fitted.predict(low), far)
    assert fitted.scorer_.beyond_range(high) == {"age": 50}


def test_an_option_refuses_cells_beyond_the_range(fitted):
    strict = XNNRegressor.from_scorer(fitted.scorer_, beyond_range="error")
    X, _ = table(n=5)
    with pytest.raises(InputError, match="'age' has 5 values beyond the range of"):
        strict.predict(X.assign(age=99.0))


def test_point_masses_are_found_and_named():
    rng = np.random.default_rng(0)
    amount = rng.uniform(1, 40, 4000)
    amount[rng.random(4000) < 0.1] = 10.0
    y = np.log(amount) - 1.0 * (amount == 10) + 0.2 * rng.normal(size=4000)
    X = pd.DataFrame({"amount": amount})
    model = XNNRegressor(**QUICK).fit(X, y)
    assert model.scorer_.features.numbers["amount"].masses == (10.0,)
    effects = model.explain().categories.set_index("category")["effect"]
    assert effects[10] - effects["any other value"] == pytest.approx(-1, abs=0.2)
    # Its rows keep their place on the curve.
    without = XNNRegressor(special_values=None, **QUICK).fit(X, y)
    assert model.score(X, y) > without.score(X, y) + 0.02


def test_few_whole_numbers_are_asked_about():
    X = pd.DataFrame({"season": [1, 2, 3, 4] * 50, "x": np.arange(200.0)})
    with pytest.warns(CodedColumnWarning, match=r"'season' \(4 values\)"):
        XNNRegressor(**QUICK).fit(X, X["x"])
    with warnings.catch_warnings():
        warnings.simplefilter("error", CodedColumnWarning)
        XNNRegressor(categorical_features=[], **QUICK).fit(X, X["x"])
        XNNRegressor(categorical_features=["season"], **QUICK).fit(X, X["x"])


def test_few_whole_numbers_are_drawn_as_points():
    X = pd.DataFrame({"hour": np.tile(np.arange(12.0), 60)})
    y = np.sin(X["hour"]) + 0.01 * np.random.default_rng(0).normal(size=720)
    model = XNNRegressor(categorical_features=[], **QUICK).fit(X, y)
    component = model.explain().ridges[0]
    assert component.levels.tolist() == list(range(12))
    decided = model.predict(pd.DataFrame({"hour": component.levels}))
    assert np.allclose(model.intercept_ + component.level_curve, decided)


def test_a_flag_can_change_a_curve():
    """A curve of its own for each of two categories, without an interaction term."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {"hour": rng.uniform(0, 24, 3000), "day": rng.choice(["work", "free"], 3000)}
    )
    wave = np.sin(X["hour"] / 24 * 2 * np.pi)
    y = np.where(X["day"] == "work", wave, -wave) + 0.1 * rng.normal(size=3000)
    together = XNNRegressor(random_state=1).fit(X, y).score(X, y)
    apart = XNNRegressor(random_state=1, project_flags=False).fit(X, y).score(X, y)
    assert together > 0.9
    assert apart < 0.2


OTHER_FRAMES = {
    "nullable": lambda frame: frame.convert_dtypes(dtype_backend="numpy_nullable"),
    "arrow": lambda frame: frame.convert_dtypes(dtype_backend="pyarrow"),
    "polars": pl.from_pandas,
    "categories": lambda frame: frame.astype({"job": "category", "owner": "category"}),
}


@pytest.mark.parametrize("kind", OTHER_FRAMES)
def test_other_frames_are_scored_alike(kind, fitted):
    X, _ = table(seed=3, n=300)
    assert np.array_equal(fitted.predict(OTHER_FRAMES[kind](X)), fitted.predict(X))


@pytest.mark.parametrize("kind", OTHER_FRAMES)
def test_other_frames_are_learnt_alike(kind):
    X, y = table(n=300)
    expected = XNNRegressor(random_state=0, max_epochs=5).fit(X, y).predict(X)
    model = XNNRegressor(random_state=0, max_epochs=5).fit(OTHER_FRAMES[kind](X), y)
    assert np.array_equal(model.predict(X), expected)


def wrong(change):
    X, y = table(n=100)
    return change(X), y


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda X: X.assign(age=np.nan), "'age' is missing in every training row"),
        (lambda X: X.assign(job=None), "'job' is missing in every training row"),
        (lambda X: X.assign(age=np.inf), "'age' has 100 values that are infinite"),
        (
            lambda X: X.assign(age=pd.Timestamp("2020-01-01")),
            "'age' holds dates or durations",
        ),
        (
            lambda X: pd.concat([X] * 30).assign(job=[f"no {i}" for i in range(3000)]),
            "'job' has 3,000 categories; at most 2,000 are allowed",
        ),
    ],
)
def test_what_cannot_be_used_is_said_in_one_sentence(change, words):
    X, _ = wrong(change)
    with pytest.raises(InputError, match=words):
        XNNRegressor(**QUICK).fit(X, np.arange(len(X)))


def test_a_special_value_that_is_every_row_is_refused():
    X, y = table(n=100)
    with pytest.raises(InputError, match="special value 3 in every training row"):
        XNNRegressor(special_values={"age": [3]}, **QUICK).fit(X.assign(age=3), y)


def test_a_special_value_that_never_occurs_is_average_later():
    X, y = table(n=300)
    with pytest.warns(UserWarning, match="which no row has"):
        model = XNNRegressor(special_values={"age": [-9]}, **QUICK).fit(X, y)
    later = X.head(2).assign(age=-9.0)
    assert np.isfinite(model.predict(later)).all()


def test_a_classifier_takes_all_of_it(tmp_path):
    X, y = table()
    model = XNNClassifier(special_values={"debt": [-7]}, **QUICK).fit(X, y > y.mean())
    assert model.score(X, y > y.mean()) > 0.85
    model.save(tmp_path / "model.json")
    stored = ridgeline.load(tmp_path / "model.json")
    assert np.array_equal(stored.predict_proba(X), model.predict_proba(X))


def test_straight_scales_can_go_on_beyond_the_range():
    """As the paper's network does: a line stays a line."""
    X = pd.DataFrame({"x": np.linspace(0, 1, 300)})
    model = XNNRegressor(hidden=(), scaling="minmax", beyond_range="extend", **QUICK)
    model.fit(X, 3 * X["x"])
    half, whole, twice = model.predict(pd.DataFrame({"x": [0.5, 1.0, 2.0]}))
    assert twice - whole == pytest.approx(2 * (whole - half), rel=1e-9)
    edge = XNNRegressor.from_scorer(model.scorer_)
    with pytest.warns(BeyondRangeWarning):
        stays = edge.predict(pd.DataFrame({"x": [1.0, 2.0]}))
    assert stays[0] == stays[1]


def test_warnings_name_the_line_of_the_user(fitted):
    X, y = table(200)
    with pytest.warns(CodedColumnWarning) as few:
        XNNRegressor(**QUICK).fit(X.assign(grade=np.arange(200) % 5), y)
    with pytest.warns(BeyondRangeWarning) as beyond:
        fitted.predict(X.assign(age=500.0))
    for found in (few, beyond):
        assert {warning.filename for warning in found} == {__file__}
