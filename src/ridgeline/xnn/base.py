"""What the two estimators share: their parameters and the way of a fit.

TensorFlow is imported when something is trained, never before; a fitted model predicts
with NumPy.
"""

from abc import abstractmethod
from collections.abc import Sequence
from numbers import Integral, Real
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar, Final, Literal, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from ridgeline.errors import InputError
from ridgeline.xnn import fitting
from ridgeline.xnn.checkpoint import Checkpoint
from ridgeline.xnn.progress import Progress, Shown, silent
from ridgeline.xnn.pruning import prune_scorer
from ridgeline.xnn.scorer import Scorer
from ridgeline.xnn.tables import TableChecks, _validation_parts

__all__ = ["BaseXNN", "Floats"]

Floats = NDArray[np.float64]

_POSITIVE: Final = Interval(Real, 0, None, closed="neither")
_NOT_NEGATIVE: Final = Interval(Real, 0, None, closed="left")
_COUNT: Final = Interval(Integral, 1, None, closed="left")
_Stage = Literal["training", "refinement"]
_STAGES: Final[tuple[_Stage, ...]] = ("training", "refinement")


class BaseXNN(TableChecks):
    """What the two estimators share; they differ in the response alone.

    The parameters are described in `XNNRegressor`.
    """

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
        "checkpoint": [str, PathLike, None],
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
        checkpoint: str | PathLike[str] | None = None,
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
        self.checkpoint = checkpoint
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
        self._take_over(min(fits, key=lambda fit: fit.validation_loss))
        stages = _STAGES if self.prune_share is not None else _STAGES[:1]
        for start in range(self.n_starts):
            self._remove_checkpoints(stages, start)
        return self

    @classmethod
    def from_scorer(cls, scorer: Scorer, **parameters: Any) -> Self:
        """A fitted estimator around a stored model, for instance to refine it.

        Args:
            scorer: As `ridgeline.xnn.storage.load_model` returns it.
            **parameters: Of the estimator; a file does not have them.

        Raises:
            InputError: If the model is of the other kind of estimator.
        """
        model = cls(**parameters)
        model._adopt(scorer)
        model._take_over(fitting.Fitted(scorer, _no_history(), np.nan, np.nan, ""))
        model.n_features_in_ = len(scorer.features.names)
        if scorer.features.named:
            model.feature_names_in_ = np.array(scorer.features.names, dtype=object)
        return model

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

    @abstractmethod
    def _adopt(self, scorer: Scorer) -> None:
        """Takes over the classes of a stored model; refuses the other kind."""

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
        kept = self._checkpoint("training", start)
        fit = fitting.train(
            self._settings(), data, rng, progress=self._progress(), checkpoint=kept
        )
        if self.prune_share is None:
            return fit
        pruned = fit._replace(scorer=prune_scorer(fit.scorer, self.prune_share))
        return self._refine_once(data, pruned, seed, start)

    def _refine_once(
        self, data: fitting.Prepared, pruned: fitting.Fitted, seed: int, start: int = 0
    ) -> fitting.Fitted:
        rng = _generator(seed, "refinement")
        kept = self._checkpoint("refinement", start)
        return fitting.refine(
            self._settings(),
            data,
            pruned,
            rng,
            progress=self._progress(),
            checkpoint=kept,
        )

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
            self.stop_reason_,
        )
        self._take_over(self._refine_once(data, now, seed))
        self._remove_checkpoints(("refinement",), start=0)

    def _seed(self) -> int:
        """A seed for this fit, the same for the same whole number."""
        largest = np.iinfo(np.int32).max
        return int(check_random_state(self.random_state).randint(largest))

    def _progress(self) -> Progress:
        return Shown() if self.verbose else silent

    def _checkpoint(self, stage: _Stage, start: int) -> Checkpoint | None:
        if self.checkpoint is None:
            return None
        return Checkpoint(Path(self.checkpoint) / f"{stage}-{start}.npz")

    def _remove_checkpoints(self, stages: Sequence[_Stage], start: int) -> None:
        """Forgets stages that have ended; another's may still be under way."""
        for stage in stages:
            if kept := self._checkpoint(stage, start):
                kept.remove()

    def _take_over(self, fit: fitting.Fitted) -> None:
        """Sets what a fitted estimator has."""
        self.scorer_ = fit.scorer
        self.history_ = fit.history
        self.n_iter_ = len(fit.history["epoch"])
        self.validation_loss_ = fit.validation_loss
        self.orthogonality_error_ = fit.orthogonality_error
        self.stop_reason_ = fit.stop_reason

    def _validation_loss(self, validation_data: tuple[Any, ...] | None) -> float:
        """Mean loss of these rows as the model is now; NaN without rows."""
        if validation_data is None:
            return float("nan")
        rows = _validation_parts(validation_data)
        losses, weights = self._held_losses(*rows, rows, seed=0)
        return float(np.average(losses, weights=weights))

    def _score(self, method: str, X: Any) -> Any:
        """Calls a method of the scorer on a checked table."""
        check_is_fitted(self)
        X = self._checked_table(X)
        return getattr(self.scorer_, method)(X, self.unknown_category)


def _no_history() -> dict[str, NDArray[Any]]:
    """The history of a model whose training nobody recorded."""
    return {
        "stage": np.zeros(0, dtype=str),
        "epoch": np.zeros(0, dtype=np.intp),
        "objective": np.zeros(0),
        "validation_loss": np.zeros(0),
    }


def _generator(seed: int, stage: _Stage, start: int = 0) -> np.random.Generator:
    """A generator for each stage, so that stages run one by one equal a whole fit."""
    return np.random.default_rng([seed, _STAGES.index(stage), start])
