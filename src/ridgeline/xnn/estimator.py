"""The explainable network as scikit-learn estimators.

TensorFlow is imported when something is trained, never before; a fitted model predicts
with NumPy.
"""

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, Final, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.model_selection import train_test_split
from sklearn.utils import _safe_indexing, check_random_state, column_or_1d
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import (
    _check_sample_weight,
    assert_all_finite,
    check_consistent_length,
    check_is_fitted,
    validate_data,
)

from ridgeline.errors import InputError
from ridgeline.xnn import fitting
from ridgeline.xnn.assembly import Response
from ridgeline.xnn.features import Features, Unknown, is_frame
from ridgeline.xnn.progress import Progress, Shown, silent
from ridgeline.xnn.pruning import prune_scorer
from ridgeline.xnn.scorer import Scorer

__all__ = ["XNNClassifier", "XNNRegressor"]

Floats = NDArray[np.float64]

_POSITIVE: Final = Interval(Real, 0, None, closed="neither")
_NOT_NEGATIVE: Final = Interval(Real, 0, None, closed="left")
_COUNT: Final = Interval(Integral, 1, None, closed="left")


class _XNN(BaseEstimator):  # type: ignore[misc]
    """What the two estimators share; they differ in the response alone.

    See `XNNRegressor` for the parameters.
    """

    scorer_: Scorer

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_subnetworks": [_COUNT, None],
        "hidden": ["array-like"],
        "activation": [StrOptions({"tanh", "sigmoid", "softplus"})],
        "projection": [StrOptions({"orthogonal", "free", "identity"})],
        "normalise": ["boolean"],
        "l1_projection": [_NOT_NEGATIVE],
        "l1_scales": [_NOT_NEGATIVE],
        "roughness": [_NOT_NEGATIVE],
        "prune_share": [Interval(Real, 0, 1, closed="right"), None],
        "schedule": [StrOptions({"cosine", "paper"})],
        "cayley_step": [_NOT_NEGATIVE, StrOptions({"adaptive"}), None],
        "learning_rate": [_POSITIVE, None],
        "max_epochs": [_COUNT, None],
        "patience": [_COUNT, None],
        "refine_epochs": [_COUNT],
        "batch_size": [_COUNT, None],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        "n_starts": [_COUNT],
        "categorical_features": ["array-like", None],
        "unknown_category": [StrOptions({"error", "average"})],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        *,
        n_subnetworks: int | None = None,
        hidden: Sequence[int] = (10, 6),
        activation: str = "tanh",
        projection: str = "orthogonal",
        normalise: bool = True,
        l1_projection: float = 1e-3,
        l1_scales: float = 1e-3,
        roughness: float = 1e-6,
        prune_share: float | None = 0.95,
        schedule: str = "cosine",
        cayley_step: float | str | None = None,
        learning_rate: float | None = None,
        max_epochs: int | None = None,
        patience: int | None = None,
        refine_epochs: int = 100,
        batch_size: int | None = None,
        validation_fraction: float = 0.2,
        n_starts: int = 1,
        categorical_features: Sequence[str | int] | None = None,
        unknown_category: str = "error",
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_subnetworks = n_subnetworks
        self.hidden = hidden
        self.activation = activation
        self.projection = projection
        self.normalise = normalise
        self.l1_projection = l1_projection
        self.l1_scales = l1_scales
        self.roughness = roughness
        self.prune_share = prune_share
        self.schedule = schedule
        self.cayley_step = cayley_step
        self.learning_rate = learning_rate
        self.max_epochs = max_epochs
        self.patience = patience
        self.refine_epochs = refine_epochs
        self.batch_size = batch_size
        self.validation_fraction = validation_fraction
        self.n_starts = n_starts
        self.categorical_features = categorical_features
        self.unknown_category = unknown_category
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        validation_data: tuple[Any, ...] | None = None,
    ) -> Self:
        """Trains, prunes and refines.

        Args:
            X: Data frame or array, shape (n, columns).
            y: Responses or labels, shape (n,).
            sample_weight: Of each row; a weight of two is the row twice.
            validation_data: Rows that decide when to stop, as (X, y) or
                (X, y, sample_weight); without it a share of the rows is set aside.

        Returns:
            The estimator.

        Raises:
            InputError: If data or parameters cannot be used.
        """
        self._validate_params()
        rng = self._generator()
        data = self._prepared(X, y, sample_weight, validation_data, rng=rng)
        fits = [self._fit_once(data, rng) for _ in range(self.n_starts)]
        self._keep(min(fits, key=lambda fit: fit.validation_loss))
        return self

    def contributions(self, X: Any) -> Floats:
        """What each component adds to the intercept, for each row.

        Returns:
            Shape (n, components): ridge functions, then categorical features, as
            `scales_` has them. With `intercept_` they add up to the decision.
        """
        return cast(Floats, self._score("contributions", X))

    @property
    def projection_(self) -> Floats:
        """Weights of the scaled numeric features, shape (p, k)."""
        return self.scorer_.projection

    @property
    def scales_(self) -> Floats:
        """Scales of the components: ridge functions, then categorical features."""
        return self.scorer_.all_scales

    @property
    def importance_ratios_(self) -> Floats:
        """Each component's share of the sum of scales."""
        return self.scorer_.importance_ratios

    @property
    def intercept_(self) -> float:
        """The decision where every component is at its mean."""
        return self.scorer_.intercept

    def _settings(self) -> fitting.Settings:
        names = fitting.Settings.__dataclass_fields__
        values = {name: getattr(self, name) for name in names}
        values["hidden"] = tuple(int(units) for units in self.hidden)
        return fitting.Settings(**values)

    def _fit_once(
        self, data: fitting.Prepared, rng: np.random.Generator
    ) -> fitting.Fitted:
        """One start: training, and with a share to prune, pruning and refinement."""
        fit = fitting.train(self._settings(), data, rng, self._progress())
        if self.prune_share is None:
            return fit
        pruned = fit._replace(scorer=prune_scorer(fit.scorer, self.prune_share))
        return fitting.refine(self._settings(), data, pruned, rng, self._progress())

    def _refine(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        validation_data: tuple[Any, ...] | None,
    ) -> None:
        """Refines the fitted components; see `ridgeline.xnn.pruning.refine`."""
        rng = self._generator()
        features = self.scorer_.features
        data = self._prepared(
            X, y, sample_weight, validation_data, rng=rng, features=features
        )
        now = fitting.Fitted(self.scorer_, self.history_, self.validation_loss_)
        self._keep(fitting.refine(self._settings(), data, now, rng, self._progress()))

    def _generator(self) -> np.random.Generator:
        """A generator of this fit alone, seeded by `random_state`."""
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        return np.random.default_rng(seed)

    def _progress(self) -> Progress:
        return Shown() if self.verbose else silent

    def _keep(self, fit: fitting.Fitted) -> None:
        """Sets what a fitted estimator has."""
        self.scorer_ = fit.scorer
        self.history_ = fit.history
        self.n_iter_ = len(fit.history["epoch"])
        self.validation_loss_ = fit.validation_loss

    def _prepared(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None,
        validation_data: tuple[Any, ...] | None,
        *,
        rng: np.random.Generator,
        features: Features | None = None,
    ) -> fitting.Prepared:
        """Training and validation rows, and what was learnt from the training rows."""
        first = features is None
        rows = self._checked_rows(X, y, sample_weight, reset=first)
        if validation_data is None:
            training, held = self._split(rows[1], rng)
            rows, validation = _take(rows, training), _take(rows, held)
            unknown: Unknown = "average"
        else:
            validation = self._checked_rows(*_validation_parts(validation_data))
            unknown = cast(Unknown, self.unknown_category)
        if features is None:
            features = Features.learn(rows[0], self.categorical_features)
        response = self._response(rows[1])
        return fitting.Prepared(
            features,
            response,
            fitting.prepare_rows(features, response, *rows, unknown="error"),
            fitting.prepare_rows(features, response, *validation, unknown=unknown),
        )

    def _checked_rows(
        self, X: Any, y: Any, sample_weight: Any, reset: bool = False
    ) -> tuple[Any, Floats, Floats]:
        """Rows of positive weight, with numbers for the responses."""
        X = self._checked_table(X, reset=reset)
        if y is None:
            message = (
                f"{type(self).__name__} requires y to be passed, but the target y is "
                "None."
            )
            raise InputError(message)
        y = column_or_1d(y, warn=True)
        check_consistent_length(X, y, sample_weight)
        target = self._target(y, reset=reset)
        weight = _check_sample_weight(
            sample_weight, X, dtype=np.float64, ensure_non_negative=True
        )
        used = np.flatnonzero(weight)
        if len(used) == 0:
            message = "All sample weights are zero; at least one must be positive."
            raise InputError(message)
        rows = X, target, weight
        return rows if len(used) == len(weight) else _take(rows, used)

    def _checked_table(self, X: Any, reset: bool = False) -> Any:
        """X as a frame or an array of the columns of the fit."""
        if is_frame(X):
            if len(X) < 1 + reset:
                message = (
                    f"Found array with {len(X)} sample(s) while a minimum of "
                    f"{1 + reset} is required; pass more rows."
                )
                raise InputError(message)
            if reset:
                validate_data(self, X, skip_check_array=True)
            # Later frames are compared with the training columns when encoded.
            return X
        return validate_data(
            self,
            X,
            reset=reset,
            dtype=None,
            ensure_all_finite=False,
            ensure_min_samples=1 + reset,
        )

    def _split(
        self, target: Floats, rng: np.random.Generator
    ) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Positions of the training rows and of those that are set aside."""
        strata = self._strata(target)
        rows = np.arange(len(target))
        held = max(1, round(self.validation_fraction * len(rows)))
        return tuple(
            train_test_split(
                rows,
                test_size=min(held, len(rows) - 1),
                stratify=strata,
                random_state=int(rng.integers(np.iinfo(np.int32).max)),
            )
        )

    def _score(self, method: str, X: Any) -> Any:
        """Calls a method of the scorer on a checked table."""
        check_is_fitted(self)
        X = self._checked_table(X)
        return getattr(self.scorer_, method)(X, self.unknown_category)


class XNNRegressor(RegressorMixin, _XNN):  # type: ignore[misc]
    """Explainable neural network for a numeric response.

        y = intercept + sum_j scale_j h_j(w_j' x) + sum_c effect_c(category)

    Projections w_j are orthonormal, functions h_j smooth and of norm 1. `fit` trains by
    SOS-BP, prunes components beyond a share of the importance, and refines the rest.

    Args:
        n_subnetworks: Ridge functions; by default min(numeric features, 10).
        hidden: Units of each hidden layer of a subnetwork; `()` makes straight lines.
        activation: "tanh", "sigmoid" or "softplus".
        projection: "orthogonal"; "identity", one function for each feature (a GAM);
            "free", unconstrained.
        normalise: Whether functions have mean 0 and norm 1 in training.
        l1_projection: lambda1, sparsity of the projections; the paper tunes it within
            1e-4 and 1e-2. Like the other two for a response scaled to [-1, 1].
        l1_scales: lambda2, sparsity of the scales; the paper tunes it likewise.
        roughness: lambda3, weight of the mean squared second derivative; the paper
            tunes it within 1e-7 and 1e-5.
        prune_share: Keep the leading components whose importance ratios add up to more
            than this, and refine them; None trains only.
        schedule: "cosine", a short one with large steps, or "paper", thousands of
            epochs with small ones. It sets the next four unless they are set here.
        cayley_step: tau, the projection's step; "adaptive" divides it by the
            gradient's usual size.
        learning_rate: Adam's step.
        max_epochs: Epochs at most.
        patience: Epochs without a better validation loss after which to stop.
        refine_epochs: Epochs of the refinement.
        batch_size: Rows in a batch; by default min(1000, 0.2 n).
        validation_fraction: Share of the rows that is set aside to choose the best
            epoch, where `fit` is given no `validation_data`.
        n_starts: Starts from other random weights; the best by validation is kept.
        categorical_features: Names or positions; by default the columns of pandas'
            type `category`.
        unknown_category: "error", or "average" to give a category that training has
            not seen no effect.
        random_state: Seed of the weights, the split and the shuffling.
        verbose: Whether to show a progress bar.

    Attributes:
        projection_: Weights of the scaled numeric features, shape (p, k).
        scales_: Scales of the components in the response's unit: ridge functions, then
            categorical features.
        importance_ratios_: Each component's share of the sum of scales.
        intercept_: The prediction where every component is at its mean.
        history_: Arrays by epoch: stage, epoch, objective, validation_loss.
        n_iter_: Epochs that were run.
        validation_loss_: Squared error of the validation rows.
        scorer_: The fitted model, which needs NumPy alone.
        n_features_in_: Columns of the fit.
        feature_names_in_: Their names, where they had any.

    Examples:
        >>> import numpy as np
        >>> from ridgeline import XNNRegressor
        >>> X = np.random.default_rng(0).uniform(-1, 1, size=(500, 3))
        >>> model = XNNRegressor(max_epochs=50, random_state=0)
        >>> model.fit(X, np.sin(3 * X[:, 0]) + X[:, 1]).predict(X).shape
        (500,)
    """

    def predict(self, X: Any) -> Floats:
        """Predicted responses, shape (n,)."""
        return cast(Floats, self._score("decision_function", X))

    def _target(self, y: NDArray[Any], reset: bool) -> Floats:
        assert_all_finite(y, input_name="y")
        return y.astype(np.float64)

    def _response(self, target: Floats) -> Response:
        return Response.learn(target)

    def _strata(self, target: Floats) -> None:
        return None


class XNNClassifier(ClassifierMixin, _XNN):  # type: ignore[misc]
    """Explainable neural network for two classes.

        log-odds = intercept + sum_j scale_j h_j(w_j' x) + sum_c effect_c(category)

    Parameters and attributes are those of `XNNRegressor`, in log-odds instead of the
    response's unit; `validation_loss_` is the cross-entropy, and `classes_` has the two
    labels.

    Examples:
        >>> import numpy as np
        >>> from ridgeline import XNNClassifier
        >>> X = np.random.default_rng(0).uniform(-1, 1, size=(500, 3))
        >>> model = XNNClassifier(max_epochs=50, random_state=0)
        >>> model.fit(X, X[:, 0] > X[:, 1]).predict_proba(X).shape
        (500, 2)
    """

    classes_: NDArray[Any]

    def decision_function(self, X: Any) -> Floats:
        """Log-odds of the second class, shape (n,)."""
        return cast(Floats, self._score("decision_function", X))

    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of the two classes, shape (n, 2)."""
        return cast(Floats, self._score("predict_proba", X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Labels of the likelier class, shape (n,)."""
        decision = self.decision_function(X)
        return np.asarray(self.classes_[(decision > 0).astype(np.intp)])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def _target(self, y: NDArray[Any], reset: bool) -> Floats:
        if y.dtype.kind == "f":
            assert_all_finite(y, input_name="y")
        check_classification_targets(y)
        if reset:
            kind = type_of_target(y, input_name="y", raise_unknown=True)
            classes = np.unique(y)
            if len(classes) == 1:
                message = (
                    f"y has one class only, {classes.tolist()[0]!r}; a classifier "
                    "needs rows of two classes."
                )
                raise InputError(message)
            if kind != "binary":
                message = (
                    "Only binary classification is supported. The type of the target "
                    f"is {kind}, with {len(classes)} classes."
                )
                raise InputError(message)
            self.classes_ = classes
        strangers = np.setdiff1d(y, self.classes_)
        if strangers.size:
            message = (
                f"The validation data have the class {strangers.tolist()[0]!r}; it "
                f"must be one of {self.classes_.tolist()}."
            )
            raise InputError(message)
        return np.asarray(y == self.classes_[1], dtype=np.float64)

    def _response(self, target: Floats) -> Response:
        return Response(0.0, 1.0, tuple(self.classes_.tolist()))

    def _strata(self, target: Floats) -> Floats | None:
        smallest = min(target.sum(), len(target) - target.sum())
        # Each class needs a row on both sides.
        held = self.validation_fraction * len(target)
        return target if smallest > 1 and held >= len(self.classes_) else None


def _take(
    rows: tuple[Any, Floats, Floats], chosen: NDArray[np.intp]
) -> tuple[Any, Floats, Floats]:
    """Features, responses and weights of the chosen rows."""
    X, target, weight = rows
    return _safe_indexing(X, chosen), target[chosen], weight[chosen]


def _validation_parts(data: tuple[Any, ...]) -> tuple[Any, Any, Any]:
    """Features, responses and weights of the validation rows."""
    if not isinstance(data, tuple | list) or len(data) not in {2, 3}:
        message = (
            f"validation_data is {type(data).__name__} of {len(data)} parts; it must "
            "be (X, y) or (X, y, sample_weight)."
        )
        raise InputError(message)
    return data[0], data[1], data[2] if len(data) > 2 else None  # noqa: PLR2004
