"""Tables, responses and weights as they come: named in a sentence, or fitted right."""

import datetime
import decimal
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from known_model import evenly
from sklearn.model_selection import train_test_split

from ridgeline import XNNClassifier, XNNRegressor
from ridgeline.errors import InputError
from ridgeline.xnn.explanation import explain
from ridgeline.xnn.extremes import ExtremeValuesWarning, find_extremes
from ridgeline.xnn.features import Features
from ridgeline.xnn.fitting import draw_seed
from ridgeline.xnn.scorer import BeyondRangeWarning, Scorer, Spread, Subnetworks
from ridgeline.xnn.search import grid_search
from ridgeline.xnn.stages import refine
from ridgeline.xnn.storage import load_model, save_model

# Rows that a fit sets aside may lie beyond the range of the others.
pytestmark = pytest.mark.filterwarnings("ignore:.* beyond the range")
# Two numeric columns for every fit: another number would be compiled again.
FAST: dict[str, Any] = {"max_epochs": 4, "prune_share": None, "random_state": 0}
N = 120
DAY = datetime.date(2020, 1, 31)


def make_table(rows: int = N) -> tuple[pd.DataFrame, np.ndarray]:
    """Return two numbers and a response."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.uniform(-1, 1, (rows, 2)), columns=["income", "dti"])
    return table, table["income"].to_numpy() + table["dti"].to_numpy() ** 2


def refusal(call: Any, *arguments: Any, **named: Any) -> str:
    """Return the one sentence with which a call is refused."""
    with pytest.raises(InputError) as caught:
        call(*arguments, **named)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.fixture(scope="module")
def known() -> Scorer:
    """Return a network of two numbers and a category that no fit was needed for."""
    return Scorer(
        features=Features(
            ("income", "dti", "kind"),
            named=True,
            numbers={"income": evenly(-1.0, 1.0), "dti": evenly(-1.0, 1.0)},
            categories={"kind": ("a", "b")},
        ),
        classes=None,
        projection=np.eye(2),
        subnetworks=Subnetworks((np.ones((2, 1, 1)),), (np.zeros((2, 1, 1)),), "tanh"),
        scales=np.array([2.0, 1.0]),
        effects=(np.array([1.0, -1.0]),),
        category_scales=np.array([0.5]),
        intercept=0.0,
        spread=Spread(
            np.tile(np.linspace(-1, 1, 3), (2, 1)),
            np.full((2, 2), 0.5),
            (np.array([0.5, 0.5]),),
        ),
    )


class TestExtremeCells:
    """A few cells that squeeze a column are named; ordinary columns are not."""

    def test_the_cell_is_named(self) -> None:
        table, y = make_table()
        table = table.set_axis([f"loan {row}" for row in range(N)])
        table.loc["loan 7", "income"] = 100.0
        table.loc["loan 9", "income"] = -40.0
        weight = np.ones(N)
        weight[:5] = 0  # rows are counted in the table as it was passed
        with pytest.warns(ExtremeValuesWarning) as caught:
            model = XNNRegressor(**FAST, scaling="minmax").fit(table, y, weight)
        (sentence,) = [str(warning.message) for warning in caught]
        rest = table["income"].drop(["loan 7", "loan 9"]).iloc[5:]
        assert sentence.startswith(
            "The column 'income' has the extreme value 100 in row 7 (label loan 7) and "
            f"1 more such cell: all other rows lie from {rest.min():g} to "
            f"{rest.max():g}, which is 1.4 % of its range"
        )
        assert sentence.endswith("check these cells, or set scaling='robust'.")
        assert caught[0].filename == __file__
        assert np.isfinite(model.predict(table)).all()

    def test_a_search_says_it_once(self) -> None:
        table, y = make_table()
        X = table.to_numpy(copy=True)
        X[3, 1] = 50.0
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = XNNRegressor(**FAST, scaling="minmax")
            grid_search(model, X, y, grid={"l1_scales": [0.1, 0.01]}, n_jobs=1)
        found = [w for w in caught if issubclass(w.category, UserWarning)]
        assert ["row 3:" in str(warning.message) for warning in found] == [True]

    @pytest.mark.parametrize("rows", [100, 1_000, 20_000])
    @pytest.mark.parametrize(
        "cells", [[10.0], [-10.0], [100.0], [10.0, -12.0], [1e300, 15.0, -9.0]], ids=str
    )
    def test_extreme_cells_are_found(self, rows: int, cells: list[float]) -> None:
        values = np.random.default_rng(rows).uniform(-1, 1, rows)
        at = np.arange(len(cells)) * 7 + 3
        values[at] = cells
        found = find_extremes(values)
        assert found is not None
        assert sorted(found.rows) == at.tolist()
        assert values[found.rows[0]] == max(cells, key=abs)
        rest = np.delete(values, at)
        assert (found.low, found.high) == (rest.min(), rest.max())
        # The rule knows no unit.
        scaled = find_extremes(values / 1024)
        assert scaled is not None
        assert scaled.rows.tolist() == found.rows.tolist()

    def test_a_long_tail_without_a_gap_is_found(self) -> None:
        rng = np.random.default_rng(0)
        values = np.r_[rng.uniform(0, 40, 99_000), np.geomspace(40, 1e6, 1_000)]
        found = find_extremes(values)
        assert found is not None
        assert found.high < 100

    @pytest.mark.parametrize("rows", [25, 100, 1_000, 30_000])
    @pytest.mark.parametrize(
        "draw",
        [
            lambda rng, n: rng.uniform(size=n),
            lambda rng, n: rng.normal(size=n),
            lambda rng, n: rng.exponential(size=n),
            lambda rng, n: rng.lognormal(10, 0.7, size=n),
            lambda rng, n: rng.gamma(0.5, size=n),
            lambda rng, n: rng.standard_t(5, size=n),
            lambda rng, n: rng.poisson(0.05, n),
            lambda rng, n: rng.geometric(0.4, n),
            lambda rng, n: rng.uniform(size=n) < 0.001,
            lambda rng, n: np.where(rng.uniform(size=n) < 0.9, 0, rng.gamma(2, size=n)),
            lambda rng, n: np.full(n, 3.0),
            lambda rng, n: np.arange(n) == 1,
            lambda rng, n: rng.choice([-1.7e308, 1.7e308], n),
        ],
        ids=range(13),
    )
    def test_ordinary_columns_are_not(self, draw: Any, rows: int) -> None:
        rng = np.random.default_rng(1)
        for _ in range(5):
            assert find_extremes(draw(rng, rows).astype(np.float64)) is None


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    """Return a table with twelve categories of one row each."""
    rare = [f"rare {row:02}" for row in range(12)]
    kinds = pd.Categorical(rare + ["usual", "common"] * ((N - 12) // 2))
    return make_table()[0].assign(kind=kinds)


@pytest.fixture(scope="module")
def model(table: pd.DataFrame) -> XNNRegressor:
    """Return a model that was fitted to it."""
    y = make_table()[1] + (table["kind"] == "usual")
    return XNNRegressor(**FAST).fit(table, y)


class TestRareCategories:
    """A category whose rows were all set aside is known, and average."""

    def test_fitted_rows_are_predicted(
        self, table: pd.DataFrame, model: XNNRegressor, tmp_path: Path
    ) -> None:
        assert np.isfinite(model.predict(table)).all()
        (component,) = explain(model).category_effects
        unseen = component.shares == 0
        assert 0 < np.count_nonzero(unseen) < 12
        assert component.shares.sum() == pytest.approx(1)
        assert not component.effects[unseen].any()
        assert component.effects[~unseen].all()
        # Mean 0 and norm 1 are those of the training rows.
        shares, effects = component.shares, component.effects / component.scale
        assert shares @ effects == pytest.approx(0, abs=1e-6)
        assert shares @ effects**2 == pytest.approx(1)
        save_model(model.scorer_, tmp_path / "model.json")
        np.testing.assert_array_equal(
            load_model(tmp_path / "model.json").predict(table), model.predict(table)
        )

    def test_validation_takes_them_as_average(
        self, table: pd.DataFrame, model: XNNRegressor
    ) -> None:
        y = make_table()[1] + (table["kind"] == "usual")
        seed = draw_seed(model.random_state)
        places = np.arange(len(table))
        _, held = train_test_split(places, test_size=24, random_state=seed)
        loss = np.mean((model.predict(table.iloc[held]) - y.iloc[held]) ** 2)
        assert model.validation_loss_ == pytest.approx(loss, rel=1e-4)

    def test_refinement_leaves_them_average(
        self, table: pd.DataFrame, model: XNNRegressor
    ) -> None:
        refined = refine(model, table, make_table()[1] + (table["kind"] == "usual"))
        before, after = model.scorer_.effects[0], refined.scorer_.effects[0]
        np.testing.assert_array_equal(after == 0, before == 0)
        assert (after != before).any()


class TestMask:
    """Booleans choose columns by a mask, as scikit-learn's do."""

    def test_mask_is_a_choice_of_columns(self) -> None:
        X = np.array([[1.0, 2.0, 5.0], [2.0, 3.0, 6.0], [3.0, 2.0, 5.5]])
        for mask in ([False, True, False], np.array([False, True, False])):
            features = Features.learn(X, mask)
            assert features.categories == {"x1": (2.0, 3.0)}
        assert not Features.learn(X, [False] * 3).categories

    @pytest.mark.parametrize(
        ("given", "got"),
        [
            ([True, False], "2 booleans"),
            ([True] * 4, "4 booleans"),
            ([True, "dti", 0], "booleans and other values"),
        ],
    )
    def test_others_are_refused(self, given: Any, got: str) -> None:
        table, y = make_table()
        table["kind"] = "a"
        said = refusal(XNNRegressor(categorical_features=given).fit, table, y)
        assert said.startswith(f"categorical_features has {got}; as a mask it must ")

    def test_positions_are_whole(self) -> None:
        table, y = make_table()
        said = refusal(XNNRegressor(categorical_features=[0.5]).fit, table, y)
        assert said.startswith("The categorical feature 0.5 is not a column")


def arrow(values: list[Any], kind: pa.DataType) -> Any:
    """Return a column of pandas with Arrow's memory."""
    return pd.Series(pd.arrays.ArrowExtensionArray(pa.array(values, kind)))


def repeated(value: Any) -> Any:
    """Return a column of objects."""
    return pd.Series([value] * N, dtype=object)


SOME = [None, *range(N - 1)]
ODD = {
    "lists": (repeated([1, 2]), r"values of the type list, such as \[1, 2\]; each"),
    "dicts": (repeated({"a": 1}), "values of the type dict, such as {'a': 1}; each"),
    "frames": (repeated(pd.DataFrame({"a": [1, 2]})), "values of the type DataFrame"),
    "bytes": (repeated(b"car"), "values of the type bytes, such as b'car'"),
    "dates": (repeated(DAY), r"holds dates or durations \(date\); turn them"),
    "times": (repeated(datetime.time(9)), r"dates or durations \(time\)"),
    "zone": (
        pd.Series(pd.date_range("2020", periods=N, tz="UTC")),
        r"dates or durations \(Timestamp\)",
    ),
    "periods": (
        pd.Series(pd.period_range("2020", periods=N, freq="M")),
        r"dates or durations \(Period\)",
    ),
    "timedeltas": (
        pd.Series(pd.to_timedelta(range(N), unit="D")),
        r"dates or durations \(timedelta64",
    ),
    "intervals": (pd.Series(pd.interval_range(0, N)), "values of the type Interval"),
    "complex": (pd.Series([1j] * N), "holds complex numbers, such as 1j; pass"),
    "huge": (repeated(10**400), r"has 120 values that are infinite \(inf\), where"),
    "mixed": (pd.Series([*range(N - 1), "car"], dtype=object), "text, such as 'car'"),
    "arrow dates": (arrow([DAY] * N, pa.date32()), r"dates or durations \(date\)"),
    "arrow lists": (arrow([[1]] * N, pa.list_(pa.int8())), "values of the type ndarra"),
}


GAPS = {
    "boolean": pd.Series([None, *[True] * (N - 1)], dtype="boolean"),
    "integer": pd.Series(SOME, dtype="Int64"),
    "objects": pd.Series([pd.NA, *SOME[1:]], dtype=object),
    "arrow integer": arrow(SOME, pa.int64()),
}
TEXTS = {
    "objects": repeated("car"),
    "text": pd.Series(["car"] * N, dtype="string[pyarrow]"),
    "arrow text": arrow(["car"] * N, pa.string()),
}


class TestOddColumns:
    """A column that is no column of numbers is named, with what it holds."""

    @pytest.mark.parametrize("kind", ODD)
    def test_odd_columns_are_named(self, kind: str, known: Scorer) -> None:
        column, what = ODD[kind]
        table, y = make_table()
        odd = table.assign(dti=column)
        model = XNNRegressor.from_scorer(known)
        validation = (odd, y)
        for said in (
            refusal(XNNRegressor(**FAST).fit, odd, y),
            refusal(XNNRegressor(**FAST).fit, table, y, validation_data=validation),
            refusal(model.predict, odd.assign(kind="a")),
            refusal(known.predict, odd.assign(kind="a")),
        ):
            assert said.startswith("The column 'dti' ")
            assert_matches(what, said)

    @pytest.mark.parametrize("kind", GAPS)
    def test_gaps_of_any_kind_are_gaps(self, kind: str, known: Scorer) -> None:
        table, y = make_table()
        odd = table.assign(dti=GAPS[kind])
        learnt = Features.learn(odd)
        assert [learnt.numbers[name].missing for name in odd] == [False, True]
        assert np.flatnonzero(learnt.encode(odd).codes[:, 0]).tolist() == [0]
        # A column that was complete in training must stay so.
        model = XNNRegressor.from_scorer(known)
        for said in (
            refusal(XNNRegressor(**FAST).fit, table, y, validation_data=(odd, y)),
            refusal(model.predict, odd.assign(kind="a")),
            refusal(known.predict, odd.assign(kind="a")),
        ):
            assert said.startswith("The column 'dti' has 1 missing values, and had no")

    @pytest.mark.parametrize("kind", TEXTS)
    def test_text_of_any_kind_is_text(self, kind: str, known: Scorer) -> None:
        table, y = make_table()
        odd = table.assign(dti=TEXTS[kind])
        assert Features.learn(odd).categories == {"dti": ("car",)}
        # Where numbers were, or are said to be, text is refused.
        model = XNNRegressor.from_scorer(known)
        for said in (
            refusal(XNNRegressor(**FAST, categorical_features=[]).fit, odd, y),
            refusal(XNNRegressor(**FAST).fit, table, y, validation_data=(odd, y)),
            refusal(model.predict, odd.assign(kind="a")),
            refusal(known.predict, odd.assign(kind="a")),
        ):
            assert said.startswith("The column 'dti' holds text, such as 'car'; name")

    @pytest.mark.parametrize(
        ("column", "what"),
        [
            (repeated([1]), r"has the category \[1\] of type list; a category must be"),
            (repeated(b"a"), "has the category b'a' of type bytes"),
            (repeated(decimal.Decimal(1)), "of type Decimal"),
            (pd.cut(pd.Series(np.arange(N)), 3), "of type Interval; a category must"),
            (pd.Series(pd.date_range("2020", periods=N)), "holds dates or durations"),
        ],
        ids=["list", "bytes", "decimal", "interval", "date"],
    )
    def test_odd_categories_are_named(
        self, column: Any, what: str, known: Scorer
    ) -> None:
        table, y = make_table()
        odd = table.assign(kind=column)
        model = XNNRegressor(**FAST, categorical_features=["kind"])
        lenient = XNNRegressor.from_scorer(known, unknown_category="average")
        for said in (refusal(model.fit, odd, y), refusal(lenient.predict, odd)):
            assert said.startswith("The column 'kind' ")
            assert_matches(what, said)

    @pytest.mark.parametrize(
        "column",
        [
            pd.Series(pd.arrays.SparseArray([0.0, 0.0, 1.0, 3.0])),
            pd.Series([decimal.Decimal(v) for v in ("0", "0", "1", "3")]),
            arrow([decimal.Decimal(v) for v in (0, 0, 1, 3)], pa.decimal128(5, 2)),
            arrow([0, 0, 1, 3], pa.int64()),
            pd.Series([0, 0, 1, 3], dtype="Int64"),
        ],
        ids=["sparse", "decimal", "arrow decimal", "arrow integer", "integer"],
    )
    def test_numbers_of_other_kinds_are_numbers(self, column: Any) -> None:
        table = pd.DataFrame({"a": column})
        scaled = Features.learn(table, scaling="minmax").encode(table).numeric[:, 0]
        np.testing.assert_allclose(scaled, [-1, -1, -1 / 3, 1])

    def test_names_are_one_text_each(self) -> None:
        table, y = make_table()
        levels = table.set_axis(pd.MultiIndex.from_product([["a"], ["x", "y"]]), axis=1)
        said = refusal(XNNRegressor(**FAST).fit, levels, y)
        assert said.startswith("X is a DataFrame with a column name of the type tuple;")
        said = refusal(XNNRegressor(**FAST).fit, pa.table(table), y)
        assert said.startswith("X is a Table with a column name of the type Chunked")

    def test_far_values_are_predicted(self, known: Scorer) -> None:
        far = pd.DataFrame(
            {"income": [1.7e308, 0.0], "dti": [-1.7e308, 1e200], "kind": ["a", "b"]}
        )
        near = far.assign(income=[1.0, 0.0], dti=[-1.0, 1.0])
        for score in (known.predict, known.contributions):
            with pytest.warns(BeyondRangeWarning, match="2 of 'dti'"):
                found = score(far)
            np.testing.assert_array_equal(found, score(near))


def assert_matches(pattern: str, text: str) -> None:
    """Demand that a pattern is found."""
    assert re.search(pattern, text), text


class Column:
    """What any library's column can do: tell its type and turn into an array."""

    def __init__(self, values: Any) -> None:
        self._values = values
        self.dtype = "of its own"

    def __len__(self) -> int:
        return len(self._values)

    def to_numpy(self) -> np.ndarray:
        return np.asarray(self._values)


class Frame:
    """The least that a data frame of another library can do."""

    def __init__(self, columns: dict[str, Any]) -> None:
        self._columns = columns
        self.columns = list(columns)
        self.shape = (N, len(columns))

    def __len__(self) -> int:
        return N

    def __getitem__(self, name: str) -> Column:
        return Column(self._columns[name])


class TestOtherLibraries:
    """Frames that are not pandas' are taken by their columns, and named alike."""

    @pytest.mark.parametrize(
        ("values", "what"),
        [
            (np.array([*range(N - 1), "car"], dtype=object), "text, such as 'car'"),
            (np.array([DAY] * N, dtype="datetime64[D]"), "dates or durations"),
            (np.ones((N, 2)), "values of the type ndarray"),
            ([1j] * N, "holds complex numbers"),
        ],
        ids=["text", "dates", "lists", "complex"],
    )
    def test_a_frame_of_its_own(self, values: Any, what: str) -> None:
        frame = Frame({"income": np.arange(N), "dti": values})
        said = refusal(Features.learn, frame)
        assert said.startswith("The column 'dti' ")
        assert_matches(what, said)

    def test_polars(self, known: Scorer) -> None:
        pl = pytest.importorskip("polars")
        table, y = make_table()
        odd = {
            "dates or durations": pl.Series([DAY] * N),
            "dates": pl.Series([datetime.datetime(2020, 1, 1)] * N),
            "durations": pl.Series([datetime.timedelta(1)] * N),
            "of the type ndarray": pl.Series([[1, 2]] * N),
        }
        good = {name: table[name].to_numpy() for name in table}
        for what, column in odd.items():
            frame = pl.DataFrame(good | {"dti": column})
            kinds = pl.Series("kind", ["a"] * N)
            for said in (
                refusal(XNNRegressor(**FAST).fit, frame, y),
                refusal(known.predict, frame.with_columns(kinds)),
            ):
                assert said.startswith("The column 'dti' ")
                assert what in said
        # Text is a category, and a gap is a gap; not so where numbers were complete.
        kinds = pl.Series("kind", ["a"] * N)
        for text in (pl.String, pl.Categorical):
            frame = pl.DataFrame(good | {"dti": pl.Series(["car"] * N, dtype=text)})
            assert Features.learn(frame).categories == {"dti": ("car",)}
            said = refusal(known.predict, frame.with_columns(kinds))
            assert said.startswith("The column 'dti' holds text, such as 'car'; name")
        frame = pl.DataFrame(good | {"dti": pl.Series(SOME)})
        assert Features.learn(frame).numbers["dti"].missing
        said = refusal(known.predict, frame.with_columns(kinds))
        assert said.startswith("The column 'dti' has 1 missing values, and had none")
        said = refusal(XNNRegressor(**FAST).fit, pl.DataFrame(good).lazy(), y)
        assert said.startswith("X is a LazyFrame, whose rows are not computed yet")
        frame = pl.DataFrame(good | {"kind": ["a", "b"] * (N // 2)})
        np.testing.assert_array_equal(
            known.predict(frame), known.predict(table.assign(kind=frame["kind"]))
        )


class TestOddResponses:
    """A response that is no number, or no label, is said to be so."""

    @pytest.mark.parametrize(
        ("y", "what"),
        [
            (pd.date_range("2020", periods=N), "response y holds dates or durations"),
            (pd.Series(pd.date_range("2020", periods=N, tz="UTC")), "y holds dates"),
            (
                pd.to_timedelta(range(N), unit="D"),
                "response y holds dates or durations",
            ),
            (["high"] * N, "y holds text, such as 'high'; turn it into numbers"),
            (repeated({"a": 1}), "response y holds values of the type dict"),
            (np.full(N, 1j), "Complex data not supported: y must hold real numbers"),
            ([1j] * N, "Complex data not supported: y must hold real numbers"),
            (pd.Series([None, *[1.0] * (N - 1)], dtype="Float64"), "NaN"),
            (np.linspace(0, 1e160, N), "y goes from 0 to 1e\\+160; its size must not"),
            (np.linspace(0, -1e160, N), "y goes from -1e\\+160 to"),
            (np.linspace(0, 1e-200, N), "y goes from 0 to 1e-200; its size must not"),
        ],
        ids=lambda value: value if isinstance(value, str) else "",
    )
    @pytest.mark.parametrize("side", ["training", "validation"])
    def test_numbers(self, y: Any, what: str, side: str) -> None:
        table, good = make_table()
        training, held = (y, None) if side == "training" else (good, (table, y))
        with pytest.raises(ValueError, match=what) as caught:
            XNNRegressor(**FAST).fit(table, training, validation_data=held)
        assert "\n" not in str(caught.value)

    @pytest.mark.parametrize(
        ("y", "what"),
        [
            (pd.date_range("2020", periods=N), "response y holds dates or durations"),
            (
                [b"no", b"yes"] * (N // 2),
                "response y has the category b'.*' of type by",
            ),
            (repeated((1, 2)), r"response y has the category \(1, 2\) of type tuple"),
            (pd.Series([0, "yes"] * (N // 2)), "response y mixes text and numbers: "),
            (pd.Series(["no", None] * (N // 2)), "response y has missing values"),
            (np.array([0, 1j] * (N // 2)), "Complex data not supported: y must hold"),
        ],
        ids=["dates", "bytes", "tuples", "mixed", "missing", "complex"],
    )
    @pytest.mark.parametrize("side", ["training", "validation"])
    def test_labels(self, y: Any, what: str, side: str) -> None:
        table, _ = make_table()
        model, good = XNNClassifier(**FAST), [0, 1] * (N // 2)
        if side == "training":
            said = refusal(model.fit, table, y)
        else:
            said = refusal(model.fit, table, good, validation_data=(table, y))
        assert_matches(what, said)

    def test_validation_labels_of_another_kind(self) -> None:
        table, _ = make_table()
        said = refusal(
            XNNClassifier(**FAST).fit,
            table,
            ["no", "yes"] * (N // 2),
            validation_data=(table, [0, 1] * (N // 2)),
        )
        assert said.startswith("The validation data have the class 0; it must be one ")

    @pytest.mark.parametrize(("given", "got"), [(5, "int"), ("xy", "str")])
    def test_validation_data_of_another_kind(self, given: Any, got: str) -> None:
        table, y = make_table()
        said = refusal(XNNRegressor(**FAST).fit, table, y, validation_data=given)
        assert said.startswith(f"validation_data is {got}; it must be (X, y) or (X, y,")


class TestWeights:
    """Weights count by their ratios, whatever their size."""

    @pytest.mark.parametrize("rest", [0.0, 1e-60])
    def test_one_row_is_not_enough(self, rest: float) -> None:
        table, y = make_table()
        weight = np.full(N, rest)
        weight[3] = 1.0
        said = refusal(XNNRegressor(**FAST).fit, table, y, weight)
        assert said.startswith("sample_weight leaves 1 row of a positive weight")

    def test_too_large(self) -> None:
        table, y = make_table()
        said = refusal(XNNRegressor(**FAST).fit, table, y, np.full(N, 1e308))
        assert said.startswith("sample_weight goes up to 1e+308, and must not exceed")

    def test_large_weights_are_as_ones(self) -> None:
        table, y = make_table()
        large = XNNRegressor(**FAST).fit(table, y, np.full(N, 2.0**300))
        ones = XNNRegressor(**FAST).fit(table, y)
        np.testing.assert_allclose(large.predict(table), ones.predict(table), atol=1e-3)

    def test_large_responses_are_fitted(self) -> None:
        table, y = make_table()
        large = XNNRegressor(**FAST).fit(table, y * 2.0**300)
        ones = XNNRegressor(**FAST).fit(table, y)
        np.testing.assert_allclose(
            large.predict(table) / 2.0**300, ones.predict(table), atol=1e-3
        )
        assert np.isfinite(large.validation_loss_)
