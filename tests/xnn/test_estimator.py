"""The estimators: what a fit leaves, what it refuses, and what must be equal."""

import copy
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ridgeline import XNNClassifier, XNNRegressor
from ridgeline.errors import InputError, RidgelineError
from ridgeline.xnn.features import Features
from ridgeline.xnn.schedules import training_schedule

# Rows that a fit sets aside may lie beyond the range of the others.
pytestmark = pytest.mark.filterwarnings("ignore:.* beyond the range")
# One shape for most tests: every other one costs seconds of compilation.
FAST = {"max_epochs": 40, "refine_epochs": 40, "random_state": 0}
N = 400


def make_frame(seed: int = 0, rows: int = N) -> tuple[pd.DataFrame, np.ndarray]:
    """Return loans with a numeric part, a category, and a response that uses both."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "amount": rng.uniform(1_000, 40_000, rows),
            "dti": rng.uniform(0, 60, rows),
            "purpose": pd.Categorical(rng.choice(["car", "house", "card"], rows)),
            "score": rng.uniform(400, 850, rows),
        }
    )
    y = (
        np.sin(frame["dti"] / 10)
        + (frame["score"] / 450) ** 2
        + (frame["purpose"] == "car")
    )
    return frame, y.to_numpy() + 0.1 * rng.standard_normal(rows)


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    """Return the training table; tests must not alter it."""
    return make_frame()[0]


@pytest.fixture(scope="module")
def y() -> np.ndarray:
    """Return the responses of the training table."""
    return make_frame()[1]


@pytest.fixture(scope="module")
def regressor(frame: pd.DataFrame, y: np.ndarray) -> XNNRegressor:
    """Return a fitted regressor; tests must not alter it."""
    return XNNRegressor(**FAST).fit(frame, y)


@pytest.fixture(scope="module")
def classifier(frame: pd.DataFrame, y: np.ndarray) -> XNNClassifier:
    """Return a fitted classifier with text labels; tests must not alter it."""
    labels = np.where(y > np.median(y), "paid", "default")
    return XNNClassifier(**FAST).fit(frame, labels)


def test_fitted_attributes(regressor: XNNRegressor, frame: pd.DataFrame) -> None:
    """The attributes are there, with the shapes that are promised."""
    assert regressor.projection_.shape == (3, 3)
    assert regressor.scales_.shape == (4,)
    assert regressor.importance_ratios_.sum() == pytest.approx(1)
    assert regressor.n_iter_ == 80
    assert list(regressor.feature_names_in_) == list(frame.columns)
    assert regressor.n_features_in_ == 4
    stages = regressor.history_["stage"]
    assert list(np.unique(stages)) == ["refinement", "training"]
    refined = regressor.history_["validation_loss"][stages == "refinement"]
    assert regressor.validation_loss_ == pytest.approx(refined.min())


def test_projection_is_orthonormal(regressor: XNNRegressor) -> None:
    """Every fitted projection lies on the Stiefel manifold."""
    gram = regressor.projection_.T @ regressor.projection_
    assert np.abs(gram - np.eye(3)).max() < 1e-10
    assert 0 < regressor.orthogonality_error_ < 1e-6


def test_fit_finds_the_signal(regressor: XNNRegressor) -> None:
    """Rows that training has not seen are predicted well."""
    frame, y = make_frame(seed=1)
    assert regressor.score(frame, y) > 0.9


def test_classifier_finds_the_signal(classifier: XNNClassifier) -> None:
    """Labels come back as they were given, and the likely ones are right."""
    frame, y = make_frame(seed=1)
    labels = np.where(y > np.median(y), "paid", "default")
    assert classifier.score(frame, labels) > 0.9
    assert list(classifier.classes_) == ["default", "paid"]
    chances = classifier.predict_proba(frame)
    np.testing.assert_allclose(chances.sum(axis=1), 1)
    odds = np.log(chances[:, 1] / chances[:, 0])
    np.testing.assert_allclose(odds, classifier.decision_function(frame), atol=1e-6)
    assert ((chances[:, 1] > 0.5) == (classifier.predict(frame) == "paid")).all()


def test_contributions_add_up(
    regressor: XNNRegressor, classifier: XNNClassifier, frame: pd.DataFrame
) -> None:
    """Components and intercept are the whole decision, for every row."""
    for model, decision in (
        (regressor, regressor.predict(frame)),
        (classifier, classifier.decision_function(frame)),
    ):
        total = model.intercept_ + model.contributions(frame).sum(axis=1)
        np.testing.assert_allclose(total, decision, atol=1e-9)


def test_same_seed_same_model(
    regressor: XNNRegressor, frame: pd.DataFrame, y: np.ndarray
) -> None:
    """A second fit with the same seed is equal bit for bit; another seed is not."""
    again = XNNRegressor(**FAST).fit(frame, y)
    np.testing.assert_array_equal(again.predict(frame), regressor.predict(frame))
    np.testing.assert_array_equal(again.projection_, regressor.projection_)
    other = XNNRegressor(**(FAST | {"random_state": 1})).fit(frame, y)
    assert (other.predict(frame) != regressor.predict(frame)).any()


def test_no_global_seed(frame: pd.DataFrame, y: np.ndarray) -> None:
    """A fit neither reads nor moves NumPy's global generator."""
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    XNNRegressor(**FAST).fit(frame, y)
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


@pytest.mark.parametrize(
    "twin",
    [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))],
    ids=["deepcopy", "pickle"],
)
def test_copies_predict_the_same(
    twin: Any, regressor: XNNRegressor, frame: pd.DataFrame
) -> None:
    """Copies are whole, and can be fitted again."""
    again = twin(regressor)
    np.testing.assert_array_equal(again.predict(frame), regressor.predict(frame))
    assert clone(again).get_params() == regressor.get_params()


def test_pipeline_and_grid_search() -> None:
    """The estimator works inside scikit-learn's own tools."""
    X = np.random.default_rng(0).normal(size=(N, 3))
    y = X[:, 0] + np.sin(X[:, 1])
    search = GridSearchCV(
        make_pipeline(StandardScaler(), XNNRegressor(**FAST)),
        {"xnnregressor__l1_scales": [1e-3, 10.0]},
        cv=2,
    ).fit(X, y)
    assert search.best_params_ == {"xnnregressor__l1_scales": 1e-3}
    assert search.best_score_ > 0.9


def test_frame_and_array_give_the_same_model() -> None:
    """Names are names, and change no number."""
    X = np.random.default_rng(0).normal(size=(N, 3))
    y = X[:, 0] * 2
    array = XNNRegressor(**FAST).fit(X, y)
    frame = XNNRegressor(**FAST).fit(pd.DataFrame(X, columns=list("abc")), y)
    np.testing.assert_array_equal(
        array.predict(X), frame.predict(pd.DataFrame(X, columns=list("abc")))
    )


def test_units_change_nothing(frame: pd.DataFrame, y: np.ndarray) -> None:
    """Scaling is inside: other units of a feature or the response give the same fit."""
    plain = XNNRegressor(**FAST).fit(frame, y)
    other = frame.assign(amount=frame["amount"] / 1024 + 8)
    scaled = XNNRegressor(**FAST).fit(other, 64 * y)
    np.testing.assert_allclose(
        scaled.predict(other) / 64, plain.predict(frame), rtol=0, atol=0.02
    )


def test_weights() -> None:
    """In one batch, a weight of two is the row twice, and zero is no row."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(60, 3))
    y = X[:, 0] + X[:, 1] ** 2
    held = X[:20], y[:20]
    weight = np.repeat([1.0, 2.0, 0.0], 20)
    # The gradient of the intercept begins at zero, where its rounding makes Adam step
    # to either side: steps are small, so that this is no difference.
    settings: dict[str, Any] = FAST | {
        "batch_size": 1_000,
        "prune_share": None,
        "learning_rate": 0.01,
    }
    weighted = XNNRegressor(**settings).fit(X, y, weight, validation_data=held)
    twice = np.r_[0:40, 20:40]
    repeated = XNNRegressor(**settings).fit(X[twice], y[twice], validation_data=held)
    np.testing.assert_allclose(
        weighted.predict(X), repeated.predict(X), rtol=0, atol=3e-3
    )
    plain = XNNRegressor(**settings).fit(X[:40], y[:40], validation_data=held)
    assert np.abs(plain.predict(X) - repeated.predict(X)).max() > 0.01


def test_several_starts_keep_the_best(frame: pd.DataFrame, y: np.ndarray) -> None:
    """More starts never validate worse than the first one alone."""
    losses = [
        # Of this training the first start is not the best.
        XNNRegressor(**FAST, relaxation=0.0, n_starts=starts)
        .fit(frame, y)
        .validation_loss_
        for starts in (1, 3)
    ]
    assert losses[1] < losses[0]


def test_best_weights_are_kept(frame: pd.DataFrame, y: np.ndarray) -> None:
    """The fitted model has the validation loss of the best epoch, not of the last."""
    held = make_frame(seed=2)
    model = XNNRegressor(**FAST, prune_share=None, learning_rate=0.2, schedule="paper")
    model.fit(frame, y, validation_data=held)
    losses = model.history_["validation_loss"]
    assert losses[-1] > 1.01 * losses.min()
    again = np.mean((model.predict(held[0]) - held[1]) ** 2)
    assert again == pytest.approx(losses.min(), rel=1e-3)


def test_patience_stops() -> None:
    """Without improvement for `patience` epochs, training stops."""
    X = np.random.default_rng(0).normal(size=(N, 3))
    noise = np.random.default_rng(1).normal(size=N)
    model = XNNRegressor(
        schedule="paper", patience=5, max_epochs=400, prune_share=None, random_state=0
    ).fit(X, noise)
    best = int(model.history_["validation_loss"].argmin()) + 1
    assert model.n_iter_ == best + 5


def test_named_schedules_and_overrides() -> None:
    """A schedule sets its four numbers unless they are given."""
    paper = training_schedule(XNNRegressor(schedule="paper"), batches=8)
    assert (paper.cayley_step, paper.learning_rate) == (0.1, 0.001)
    assert paper.max_epochs == 10_000
    assert not paper.cosine
    own = XNNRegressor(cayley_step=3.0, learning_rate=0.5, max_epochs=7, patience=2)
    chosen = training_schedule(own, batches=8)
    assert (chosen.cayley_step, chosen.learning_rate) == (3.0, 0.5)
    assert (chosen.max_epochs, chosen.patience) == (7, 2)
    assert chosen.factor(np.array([0]))[0] == 1
    assert chosen.factor(np.array([7]))[0] == pytest.approx(0)


def test_adaptive_step_learns() -> None:
    """The adaptive Cayley step also finds the projection."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(N, 3))
    truth = np.array([2.0, 1.0, -2.0]) / 3
    model = XNNRegressor(
        n_subnetworks=1, cayley_step="adaptive", max_epochs=200, random_state=0
    ).fit(X, np.tanh(2 * X @ truth))
    assert abs(model.projection_[:, 0] @ truth) > 0.99


def test_fewer_rows_than_a_batch_train() -> None:
    """A batch that is larger than the data is the data."""
    X = np.random.default_rng(0).normal(size=(30, 3))
    model = XNNRegressor(**FAST, batch_size=1_000).fit(X, X[:, 0])
    assert model.score(X, X[:, 0]) > 0.5


def test_constant_feature_has_weight_zero(y: np.ndarray) -> None:
    """A column that does not vary is allowed, and has no weight."""
    X = np.random.default_rng(0).normal(size=(N, 4))
    X[:, 2] = 7.0
    model = XNNRegressor(**FAST).fit(X, X[:, 0])
    assert (model.projection_[2] == 0).all()
    assert model.projection_.shape == (4, 3)
    gram = model.projection_.T @ model.projection_
    assert np.abs(gram - np.eye(3)).max() < 1e-6
    X[:, 2] = -100.0
    assert model.score(X, X[:, 0]) > 0.9


def test_only_categories() -> None:
    """A table without a numeric column has categorical effects alone."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"state": pd.Categorical(rng.choice(list("abc"), N))})
    y = frame["state"].map({"a": 0.0, "b": 1.0, "c": 5.0}).to_numpy(dtype=float)
    model = XNNRegressor(**(FAST | {"max_epochs": 200})).fit(frame, y)
    assert model.projection_.shape == (0, 0)
    np.testing.assert_allclose(model.predict(frame), y, atol=0.1)


def test_category_effects_are_normalised(
    regressor: XNNRegressor, frame: pd.DataFrame
) -> None:
    """Over the training rows, a category's effect has mean 0 and norm 1."""
    scorer = regressor.scorer_
    shares, effects = scorer.spread.shares[0], scorer.effects[0]
    assert shares.sum() == pytest.approx(1)
    assert shares @ effects == pytest.approx(0, abs=1e-9)
    assert shares @ effects**2 == pytest.approx(1)
    # Cars add one to the response, and the others nothing.
    scaled = scorer.category_scales[0] * effects
    values = dict(zip(scorer.features.categories["purpose"], scaled, strict=True))
    assert values["car"] - values["house"] == pytest.approx(1, abs=0.15)
    assert values["card"] - values["house"] == pytest.approx(0, abs=0.15)


def test_categories_by_position() -> None:
    """Columns of an array are declared by their position."""
    rng = np.random.default_rng(0)
    X = np.empty((N, 2), dtype=object)
    X[:, 0] = rng.uniform(-1, 1, N)
    X[:, 1] = rng.choice(["a", "b"], N)
    y = (X[:, 1] == "a") + X[:, 0].astype(float)
    model = XNNRegressor(**(FAST | {"max_epochs": 200}), categorical_features=[1])
    assert model.fit(X, y).score(X, y) > 0.95


def test_unknown_category(regressor: XNNRegressor, frame: pd.DataFrame) -> None:
    """An unknown category is refused, or has the average effect on request."""
    new = frame.head(3).assign(purpose=["boat", "car", "card"])
    with pytest.raises(InputError, match="'boat', which training had not; it must be"):
        regressor.predict(new)
    lenient = clone(regressor).set_params(unknown_category="average")
    lenient.result_ = regressor.result_
    lenient.n_features_in_ = 4
    names = regressor.scorer_.component_names
    effect = lenient.contributions(new)[:, names.index("purpose")]
    assert effect[0] == 0
    assert abs(effect[1]) > 0.1
    gap = frame.head(3).assign(purpose=[None, "car", "card"])
    with pytest.raises(InputError, match="column 'purpose' has 1 missing values, and"):
        lenient.predict(gap)
    lenient.set_params(unknown_missing="average")
    effect = lenient.contributions(gap)[:, names.index("purpose")]
    assert effect[0] == 0
    assert abs(effect[1]) > 0.1


def test_input_is_not_altered(frame: pd.DataFrame, y: np.ndarray) -> None:
    """Fit and predict leave what they are given as it was."""
    table, target = frame.copy(), y.copy()
    XNNRegressor(**FAST).fit(table, target).predict(table)
    pd.testing.assert_frame_equal(table, frame)
    np.testing.assert_array_equal(target, y)


def test_divergence_keeps_the_best_weights(
    frame: pd.DataFrame, y: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fit whose loss is no longer finite stops, says so and keeps the best."""
    rising = np.geomspace(1, 1e30, 40)
    monkeypatch.setattr(
        "ridgeline.xnn.schedules.Schedule.factor",
        lambda self, epochs: rising[epochs],
    )
    model = XNNRegressor(**FAST, prune_share=None)
    with pytest.warns(ConvergenceWarning, match=r"diverged in epoch \d+: the loss"):
        model.fit(frame, y)
    assert model.n_iter_ < 40
    assert np.isfinite(model.predict(frame)).all()
    assert model.score(frame, y) > 0


def test_divergence_at_once_is_an_error(frame: pd.DataFrame, y: np.ndarray) -> None:
    """Without a single finite epoch there is no model, and that is said."""
    with pytest.raises(RidgelineError, match="not finite in its first epoch"):
        XNNRegressor(**FAST, learning_rate=1e38).fit(frame, y)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: f.assign(dti=np.nan), "column 'dti' is missing in every training"),
        (lambda f: f.assign(dti=np.inf), "column 'dti' has 400 values .* inf"),
        (
            lambda f: f.assign(dti=[*f["dti"][1:], "car"]),
            "column 'dti' holds text, such as 'car'",
        ),
        (lambda f: f.assign(day=pd.Timestamp("2015-01-01")), "'day' holds dates"),
        (lambda f: f.assign(purpose=None), "column 'purpose' is missing in every"),
        (lambda f: f.head(1), "Found array with 1 sample"),
    ],
    ids=["nan", "inf", "text", "dates", "none", "one row"],
)
def test_bad_tables_are_refused(
    change: Any, message: str, frame: pd.DataFrame, y: np.ndarray
) -> None:
    """A table that cannot be used gets one sentence that names the column."""
    table = change(frame)
    with pytest.raises(InputError, match=message) as caught:
        XNNRegressor(**FAST).fit(table, y[: len(table)])
    assert "\n" not in str(caught.value)


def test_columns_are_put_in_order_by_name(
    regressor: XNNRegressor, frame: pd.DataFrame
) -> None:
    """A frame may have its columns in any order, of pandas or of polars."""
    import polars

    turned = frame[frame.columns[::-1]]
    np.testing.assert_array_equal(regressor.predict(turned), regressor.predict(frame))
    texts = turned.astype({"purpose": str})
    np.testing.assert_array_equal(
        regressor.scorer_.predict(polars.from_pandas(texts)), regressor.predict(frame)
    )
    assert list(turned.columns) == list(frame.columns[::-1])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: f.drop(columns="dti"), "lack 'dti'; pass exactly those"),
        (lambda f: f.assign(new=1), "have 'new', which training had not"),
        (lambda f: f.assign(dti=np.nan), "column 'dti' has 400 missing values, and "),
        (lambda f: f.to_numpy()[:, :2], "X has 2 features, but"),
    ],
    ids=["missing", "foreign", "nan", "array"],
)
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_bad_tables_are_refused_at_prediction(
    change: Any, message: str, regressor: XNNRegressor, frame: pd.DataFrame
) -> None:
    """Prediction needs the columns of the fit, and says which are wrong."""
    with pytest.raises(ValueError, match=message) as caught:
        regressor.predict(change(frame))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_subnetworks": 4}, "n_subnetworks is 4, but .* the 3 numeric features"),
        (
            {"n_subnetworks": 2, "projection": "identity"},
            "identity projections have one for each of the 3",
        ),
        ({"categorical_features": ["colour"]}, "'colour' is not a column"),
        ({"l1_scales": -1.0}, "'l1_scales' parameter of XNNRegressor must be"),
        ({"activation": "relu"}, "must be a str among"),
        ({"hidden": (10, 0)}, r"hidden is \(10, 0\); it must have the units"),
    ],
)
def test_bad_parameters_are_refused(
    settings: dict[str, Any], message: str, frame: pd.DataFrame, y: np.ndarray
) -> None:
    """A parameter out of its range gets one sentence that says the range."""
    with pytest.raises(ValueError, match=message) as caught:
        XNNRegressor(**(FAST | settings)).fit(frame, y)
    assert "\n" not in str(caught.value)


def test_bad_responses_are_refused(frame: pd.DataFrame, y: np.ndarray) -> None:
    """A response of a wrong shape, with one class or three, is refused."""
    with pytest.raises(ValueError, match=r"1d array, got an array of shape \(400, 2\)"):
        XNNRegressor(**FAST).fit(frame, np.column_stack([y, y]))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        XNNRegressor(**FAST).fit(frame, y[:-1])
    with pytest.raises(InputError, match="one class only, 'paid'"):
        XNNClassifier(**FAST).fit(frame, np.full(N, "paid"))
    with pytest.raises(InputError, match="multiclass, with 3 classes"):
        XNNClassifier(**FAST).fit(frame, np.arange(N) % 3)
    with pytest.raises(ValueError, match="at least one non-zero"):
        XNNRegressor(**FAST).fit(frame, y, np.zeros(N))
    with pytest.raises(InputError, match="must be \\(X, y\\) or \\(X, y, sample"):
        XNNRegressor(**FAST).fit(frame, y, validation_data=(frame,))


def test_validation_data_are_checked(frame: pd.DataFrame, y: np.ndarray) -> None:
    """Validation rows are held to the columns, categories and classes of training."""
    with pytest.raises(InputError, match="lack 'dti'"):
        XNNRegressor(**FAST).fit(frame, y, None, (frame.drop(columns="dti"), y))
    boats = frame.assign(purpose="boat")
    with pytest.raises(InputError, match="the category 'boat'"):
        XNNRegressor(**FAST).fit(frame, y, None, (boats, y))
    labels = (y > 2).astype(int)
    with pytest.raises(InputError, match="validation data have the class 2"):
        XNNClassifier(**FAST).fit(frame, labels, None, (frame, labels + 1))


def test_not_fitted(frame: pd.DataFrame) -> None:
    """An estimator that was not fitted says so."""
    with pytest.raises(NotFittedError):
        XNNRegressor().predict(frame)


def test_tensorflow_is_imported_late(regressor: XNNRegressor, tmp_path: Path) -> None:
    """Neither the import nor a prediction of a fitted model needs TensorFlow."""
    path = tmp_path / "model.pickle"
    path.write_bytes(pickle.dumps(regressor))
    code = (
        "import pickle, sys, pandas\n"
        "from ridgeline import XNNClassifier\n"
        "model = pickle.load(open(sys.argv[1], 'rb'))\n"
        "row = dict(amount=[5e3], dti=[9.0], purpose=['car'], score=[700.0])\n"
        "print(model.predict(pandas.DataFrame(row))[0])\n"
        "assert 'tensorflow' not in sys.modules\n"
    )
    words = [sys.executable, "-c", code, str(path)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    row = {"amount": [5e3], "dti": [9.0], "purpose": ["car"], "score": [700.0]}
    assert float(done.stdout) == regressor.predict(pd.DataFrame(row))[0]


def test_tiny_weights_count_by_their_shares(frame: pd.DataFrame, y: np.ndarray) -> None:
    """Weights that single precision cannot hold are the same as ones."""
    tiny = XNNRegressor(**FAST).fit(frame, y, np.full(N, 1e-60))
    ones = XNNRegressor(**FAST).fit(frame, y)
    np.testing.assert_allclose(tiny.predict(frame), ones.predict(frame), atol=1e-3)


def test_progress_bar_shows_stages(
    frame: pd.DataFrame, y: np.ndarray, capsys: pytest.CaptureFixture[str]
) -> None:
    """The bar names its stage and ends at the last epoch; silence is the default."""
    XNNRegressor(**FAST).fit(frame, y)
    assert capsys.readouterr().out == ""
    XNNRegressor(**FAST, verbose=1).fit(frame, y)
    shown = capsys.readouterr().out
    assert "training" in shown
    assert "refinement" in shown
    assert "40/40" in shown
    assert "validation" in shown


def test_extreme_ranges_do_not_warn() -> None:
    """The largest and the smallest floats are scaled without overflow."""
    big = np.array([[-1.7e308, 0.0], [1.7e308, 5e-324]])
    features = Features.learn(big)
    np.testing.assert_array_equal(features.varying, [True, False])
    np.testing.assert_allclose(features.encode(big).numeric[:, 0], [-1, 1])
