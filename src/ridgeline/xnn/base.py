"""What the two estimators share: parameters, checks of the data, and the way of a fit.

TensorFlow is imported when something is trained, never before; a fitted model predicts
with NumPy.
"""

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, Final, Literal, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.model_selection import train_test_split
from sklearn.utils import _safe_indexing, check_random_state, column_or_1d
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import (
    _check_sample_weight,
    check_consistent_length,
    check_is_fitted,
    validate_data,
)

from ridgeline.errors import InputError
from ridgeline.xnn import fitting
from ridgeline.xnn.features import Features, Unknown, is_frame
from ridgeline.xnn.progress import Progress, Shown, silent
from ridgeline.xnn.pruning import prune_scorer
from ridgeline.xnn.scorer import Scorer

__all__ = ["BaseXNN", "Floats"]

Floats = NDArray[np.float64]

_POSITIVE: Final = Interval(Real, 0, None, closed="neither")
_NOT_NEGATIVE: Final = Interval(Real, 0, None, closed="left")
_COUNT: Final = Interval(Integral, 1, None, closed="left")
_STAGES: Final = ("training", "refinement")

_Rows = tuple[Any, Floats, Floats]  # features, responses, weights


class BaseXNN(BaseEstimator):  # type: ignore[misc]
    """What the two estimators share; they differ in the response alone.

    A subclass says what a response is: `_target` checks it and turns it into numbers,
    `_response` scales it, `_strata` keeps its classes together in a split. The
    parameters are described in `XNNRegressor`.
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
        "refine_epochs": [_COUNT, None],
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
        refine_epochs: int | None = None,
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
        seed = self._seed()
        data = self._prepared(X, y, sample_weight, validation_data, seed=seed)
        fits = [self._fit_once(data, seed, start) for start in range(self.n_starts)]
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
        values["hidden"] = tuple(np.asarray(self.hidden).tolist())
        if not all(isinstance(n, int) and n > 0 for n in values["hidden"]):
            message = (
                f"hidden is {self.hidden!r}; it must have the units of each hidden "
                "layer as whole numbers above zero, such as (10, 6)."
            )
            raise InputError(message)
        return fitting.Settings(**values)

    def _fit_once(
        self, data: fitting.Prepared, seed: int, start: int
    ) -> fitting.Fitted:
        """One start: training, and with a share to prune, pruning and refinement."""
        rng = _generator(seed, "training", start)
        fit = fitting.train(self._settings(), data, rng, self._progress())
        if self.prune_share is None:
            return fit
        pruned = fit._replace(scorer=prune_scorer(fit.scorer, self.prune_share))
        rng = _generator(seed, "refinement")
        return fitting.refine(self._settings(), data, pruned, rng, self._progress())

    def _refine(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        validation_data: tuple[Any, ...] | None,
    ) -> None:
        """Refines the fitted components; see `ridgeline.xnn.pruning.refine`."""
        seed = self._seed()
        features = self.scorer_.features
        data = self._prepared(
            X, y, sample_weight, validation_data, seed=seed, features=features
        )
        now = fitting.Fitted(
            self.scorer_,
            self.history_,
            self.validation_loss_,
            self.orthogonality_error_,
        )
        rng = _generator(seed, "refinement")
        self._keep(fitting.refine(self._settings(), data, now, rng, self._progress()))

    def _seed(self) -> int:
        """A seed for this fit, the same for the same whole number."""
        largest = np.iinfo(np.int32).max
        return int(check_random_state(self.random_state).randint(largest))

    def _progress(self) -> Progress:
        return Shown() if self.verbose else silent

    def _keep(self, fit: fitting.Fitted) -> None:
        """Sets what a fitted estimator has."""
        self.scorer_ = fit.scorer
        self.history_ = fit.history
        self.n_iter_ = len(fit.history["epoch"])
        self.validation_loss_ = fit.validation_loss
        self.orthogonality_error_ = fit.orthogonality_error

    def _prepared(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None,
        validation_data: tuple[Any, ...] | None,
        *,
        seed: int,
        features: Features | None = None,
    ) -> fitting.Prepared:
        """Training and validation rows, and what was learnt from the training rows."""
        first = features is None
        rows = self._checked_rows(X, y, sample_weight, reset=first)
        if features is None:
            # Bad values are counted in all rows; ranges come from training rows alone.
            Features.learn(rows[0], self.categorical_features)
        rows, validation, unknown = self._sides(rows, validation_data, seed)
        if features is None:
            features = Features.learn(rows[0], self.categorical_features)
        response = self._response(rows[1])
        return fitting.Prepared(
            features,
            response,
            fitting.prepare_rows(features, response, *rows, unknown="error"),
            fitting.prepare_rows(features, response, *validation, unknown=unknown),
        )

    def _sides(
        self, rows: _Rows, validation_data: tuple[Any, ...] | None, seed: int
    ) -> tuple[_Rows, _Rows, Unknown]:
        """Training rows, validation rows, and what unknown categories of these mean."""
        if validation_data is None:
            training, held = self._split(rows[1], seed)
            return _take(rows, training), _take(rows, held), "average"
        validation = self._checked_rows(*_validation_parts(validation_data))
        return rows, validation, cast(Unknown, self.unknown_category)

    def _held_losses(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        validation_data: tuple[Any, ...] | None,
    ) -> tuple[Floats, Floats]:
        """Loss and weight of each validation row of the fit with these data."""
        rows = self._checked_rows(X, y, sample_weight)
        _, held, unknown = self._sides(rows, validation_data, self._seed())
        table, target, weight = held
        decision = self.scorer_.decision_function(table, unknown)
        if self.scorer_.classes is None:
            return (decision - target) ** 2, weight
        return np.logaddexp(0, decision) - target * decision, weight

    def _checked_rows(
        self, X: Any, y: Any, sample_weight: Any, reset: bool = False
    ) -> _Rows:
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
        self, target: Floats, seed: int
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
                random_state=seed,
            )
        )

    def _score(self, method: str, X: Any) -> Any:
        """Calls a method of the scorer on a checked table."""
        check_is_fitted(self)
        X = self._checked_table(X)
        return getattr(self.scorer_, method)(X, self.unknown_category)


def _generator(
    seed: int, stage: Literal["training", "refinement"], start: int = 0
) -> np.random.Generator:
    """A generator for each stage, so that stages run one by one equal a whole fit."""
    return np.random.default_rng([seed, _STAGES.index(stage), start])


def _take(rows: _Rows, chosen: NDArray[np.intp]) -> _Rows:
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
