"""Gradient boosting by LightGBM, as an estimator that holds plain arrays.

LightGBM's own model is text that its compiled code reads without checks. Here a fitted
estimator keeps the trees as arrays; they are checked, and the text is written from
them, whenever LightGBM is to predict. A model from a file is the same as one that was
just fitted, to the last bit.
"""

from functools import cached_property
from numbers import Integral, Real
from typing import Any, ClassVar, Final, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, RegressorMixin, is_regressor
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from ridgeline.baselines.boosted_trees import BoostedTrees
from ridgeline.baselines.labels import BinaryClassifierMixin
from ridgeline.errors import InputError, RidgelineError
from ridgeline.private_names.sklearn import Interval, validate_params
from ridgeline.xnn.response import learn_classes

__all__ = ["LightGBMClassifier", "LightGBMRegressor", "missing_library"]

Floats = NDArray[np.float64]
_LARGEST_SEED: Final = 2**31 - 1
_SHARE: Final = [Interval(Real, 0, 1, closed="right")]
_COUNT: Final = [Interval(Integral, 1, None, closed="left")]
# A fitted estimator has the arrays as attributes of its own.
_TREES: Final = tuple(f"{field}_" for field in BoostedTrees._fields)


class _BaseLightGBM(BaseEstimator):  # type: ignore[misc]
    """What the two estimators share: training, the trees, and prediction."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "num_leaves": [Interval(Integral, 2, 131_072, closed="both")],
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "min_child_samples": _COUNT,
        "n_estimators": _COUNT,
        "early_stopping_rounds": _COUNT,
        "subsample": _SHARE,
        "colsample_bytree": _SHARE,
        "reg_lambda": [Interval(Real, 0, None, closed="left")],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }
    _objective: ClassVar[str]
    _written_objective: ClassVar[str]

    def __init__(
        self,
        num_leaves: int = 31,
        *,
        learning_rate: float = 0.1,
        min_child_samples: int = 20,
        n_estimators: int = 100,
        early_stopping_rounds: int = 50,
        subsample: float = 1.0,
        colsample_bytree: float = 1.0,
        reg_lambda: float = 0.0,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.num_leaves = num_leaves
        self.learning_rate = learning_rate
        self.min_child_samples = min_child_samples
        self.n_estimators = n_estimators
        self.early_stopping_rounds = early_stopping_rounds
        self.subsample = subsample
        self.colsample_bytree = colsample_bytree
        self.reg_lambda = reg_lambda
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(
        self, X: Any, y: ArrayLike, validation: tuple[Any, Any] | None = None
    ) -> Self:
        """Adds trees one after the other.

        Args:
            X: Numbers, shape (n, p).
            y: Responses, or labels of two classes, shape (n,).
            validation: Features and responses of rows that stop it early.

        Returns:
            The estimator.

        Raises:
            InputError: If there are not two classes, or others among the validation
                rows.
        """
        validate_params(self)
        checks = {"dtype": np.float64, "y_numeric": is_regressor(self)}
        X, y = validate_data(self, X, y, **checks)
        if not is_regressor(self):
            self.classes_ = learn_classes(np.asarray(y))
        held = None
        if validation is not None:
            held_X, held_y = validate_data(self, *validation, **checks, reset=False)
            held = held_X, self._target(held_y)
        self._boost(X, self._target(np.asarray(y)), held)
        return self

    def _target(self, y: NDArray[Any]) -> Floats:
        """The responses as LightGBM takes them; a classifier has labels."""
        return np.asarray(y, dtype=np.float64)

    def _boost(
        self, X: Floats, target: Floats, held: tuple[Floats, Floats] | None
    ) -> None:
        """Adds trees until all rounds are done, or the rows held out say to stop."""
        lightgbm = _library()
        settings = self._settings()
        rows = lightgbm.Dataset(X, target, params=settings)
        stopping: dict[str, Any] = {}
        if held is not None:
            stop = lightgbm.early_stopping(self.early_stopping_rounds, verbose=False)
            stopping = {"valid_sets": [rows.create_valid(*held)], "callbacks": [stop]}
        booster = lightgbm.train(settings, rows, self.n_estimators, **stopping)
        text = booster.model_to_string(num_iteration=max(booster.best_iteration, 0))
        for name, array in zip(_TREES, BoostedTrees.of_text(text), strict=True):
            setattr(self, name, array)
        self.__dict__.pop("_booster", None)
        _ = self._booster

    def _settings(self) -> dict[str, Any]:
        """LightGBM's parameters."""
        seed = check_random_state(self.random_state).randint(_LARGEST_SEED)
        return {
            "objective": self._objective,
            "num_leaves": self.num_leaves,
            "learning_rate": self.learning_rate,
            "min_data_in_leaf": self.min_child_samples,
            "bagging_fraction": self.subsample,
            "bagging_freq": int(self.subsample < 1),
            "feature_fraction": self.colsample_bytree,
            "lambda_l2": self.reg_lambda,
            "seed": seed,
            # The same trees whatever the number of threads.
            "deterministic": True,
            "force_row_wise": True,
            "num_threads": _threads(self.n_jobs),
            "use_missing": False,
            "verbosity": -1,
        }

    @property
    def _trees(self) -> BoostedTrees:
        return BoostedTrees(*(getattr(self, name) for name in _TREES))

    def has_sound_trees(self) -> bool:
        """Whether every way down a tree ends at a leaf of its own."""
        return self._trees.are_sound(self.n_features_in_)

    @cached_property
    def _booster(self) -> Any:
        if not self.has_sound_trees():
            message = (
                "The model's trees lead outside of it: the estimator was damaged; fit "
                "it again, or restore it from a copy."
            )
            raise InputError(message)
        objective = type(self)._written_objective
        text = self._trees.text(self.n_features_in_, objective)
        return _library().Booster(model_str=text)

    def _predict(self, X: Any, *, raw: bool) -> Floats:
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        threads = _threads(self.n_jobs)
        return np.asarray(self._booster.predict(X, raw_score=raw, num_threads=threads))

    def __getstate__(self) -> dict[str, Any]:
        """The arrays: what was compiled from them is built again when needed."""
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_booster"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(
            {name: value for name, value in state.items() if name != "_booster"}
        )


class LightGBMRegressor(RegressorMixin, _BaseLightGBM):  # type: ignore[misc]
    """Gradient boosting of trees for a numeric response.

    Args:
        num_leaves: Of a tree, at most.
        learning_rate: Factor on what each tree adds.
        min_child_samples: Rows of a leaf, at least.
        n_estimators: Trees, at most.
        early_stopping_rounds: Trees without a gain on the validation rows, after which
            the best number of them is kept.
        subsample: Share of the rows that each tree sees.
        colsample_bytree: Share of the columns that each tree sees.
        reg_lambda: Penalty on the squares of the leaves' values.
        n_jobs: Threads; None is one, -1 one for each core. The model is the same.
        random_state: Seed of the shares.

    Attributes:
        leaf_counts_: Leaves of each tree.
        split_features_: Column that each split looks at; one tree after the other.
        thresholds_: Of the splits; rows above it go right.
        left_children_: Split of the tree, or leaf number n as -1 - n.
        right_children_: The same of the rows above the threshold.
        leaf_values_: What each leaf adds.
        n_features_in_: Columns of the fit.
        feature_names_in_: Their names, where they had any.

    Examples:
        >>> import numpy as np
        >>> from ridgeline.baselines.boosting import LightGBMRegressor
        >>> X = np.random.default_rng(0).uniform(-1, 1, size=(500, 2))
        >>> model = LightGBMRegressor(random_state=0).fit(X, X[:, 0] * X[:, 1])
        >>> model.score(X, X[:, 0] * X[:, 1]) > 0.9
        True
    """

    _objective = _written_objective = "regression"

    def predict(self, X: Any) -> Floats:
        """Predicted responses, shape (n,)."""
        return self._predict(X, raw=False)


class LightGBMClassifier(BinaryClassifierMixin, _BaseLightGBM):
    """Gradient boosting of trees for two classes.

    Parameters and attributes are those of `LightGBMRegressor`; leaves add to the
    log-odds of the second class, and `classes_` has the two labels.

    Examples:
        >>> import numpy as np
        >>> from ridgeline.baselines.boosting import LightGBMClassifier
        >>> X = np.random.default_rng(0).uniform(-1, 1, size=(500, 2))
        >>> model = LightGBMClassifier(random_state=0).fit(X, X[:, 0] * X[:, 1] > 0)
        >>> model.predict_proba(X).shape
        (500, 2)
    """

    _objective = "binary"
    _written_objective = "binary sigmoid:1"

    def _target(self, y: NDArray[Any]) -> Floats:
        strange = set(np.unique(y).tolist()) - set(self.classes_.tolist())
        if strange:
            message = (
                f"The validation rows have the label {min(strange, key=str)!r}, which "
                "the training rows do not have; both need the same two classes."
            )
            raise InputError(message)
        return np.asarray(y == self.classes_[1], dtype=np.float64)

    def decision_function(self, X: Any) -> Floats:
        """Log-odds of the second class, shape (n,)."""
        return self._predict(X, raw=True)

    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of the two classes, shape (n, 2)."""
        second = self._predict(X, raw=False)
        return np.column_stack([1 - second, second])


def missing_library() -> str | None:
    """Why LightGBM cannot be used on this machine, or None."""
    try:
        import lightgbm  # noqa: F401
    except ImportError:
        return "LightGBM is not installed; install the package lightgbm."
    except OSError as error:  # its compiled code needs OpenMP's, which slim ones lack
        return (
            f"LightGBM cannot be loaded ({error}); install OpenMP, on Debian and "
            "Ubuntu with apt-get install libgomp1, on macOS with brew install libomp."
        )
    return None


def _library() -> Any:
    missing = missing_library()
    if missing is not None:
        raise RidgelineError(missing)
    import lightgbm

    return lightgbm


def _threads(n_jobs: int | None) -> int:
    """As LightGBM counts: zero is one thread for each core."""
    return 1 if n_jobs is None else max(int(n_jobs), 0)
