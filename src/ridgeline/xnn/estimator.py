"""The explainable network as scikit-learn estimators.

TensorFlow is imported when something is trained, never before; a fitted estimator
predicts with NumPy, through its `Scorer`.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    RegressorMixin,
    is_classifier,
)
from sklearn.utils.validation import check_is_fitted

from ridgeline.errors import InputError
from ridgeline.private_names.sklearn import validate_params
from ridgeline.xnn import fitting, pair_stage
from ridgeline.xnn.observations import checked_table
from ridgeline.xnn.profiling import keep_profile
from ridgeline.xnn.scorer import Scorer
from ridgeline.xnn.settings import PARAMETERS, Settings, allowed_values
from ridgeline.xnn.tables import prepare, unseen_of

if TYPE_CHECKING:
    from ridgeline.xnn.explanation import Explanation

__all__ = ["ATTRIBUTES", "BaseXNN", "XNNClassifier", "XNNRegressor"]

Floats = NDArray[np.float64]

ATTRIBUTES: Final = """
    Attributes
    ----------
    projection_ : ndarray of shape (p, k)
        Weights of the scaled numeric features, the matrix W.
    scales_ : ndarray of shape (n_components,)
        Scales of the components in the unit of the decision: ridge functions first,
        then categorical features. A component that was pruned has scale 0.
    importance_ratios_ : ndarray of shape (n_components,)
        Each component's share of the sum of scales.
    intercept_ : float
        The decision where every component is at its mean.
    history_ : dict of ndarray
        Arrays by epoch: stage, epoch, objective, validation_loss.
    n_iter_ : int
        Number of epochs that were run.
    validation_loss_ : float
        The loss of the validation rows: squared error, or cross-entropy of the logits.
    orthogonality_error_ : float
        Largest |W'W - I| as trained, in single precision.
    stop_reason_ : str
        Why the last stage ended, in words.
    scorer_ : Scorer
        The fitted network, which needs NumPy alone.
    n_features_in_ : int
        Number of columns of the fit.
    feature_names_in_ : ndarray of str
        Names of these columns, where they had any.
"""


class BaseXNN(Settings, BaseEstimator):  # type: ignore[misc]
    """What the two estimators share."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = allowed_values()

    result_: fitting.FitResult
    n_features_in_: int
    feature_names_in_: NDArray[Any]

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        validation_data: tuple[Any, ...] | None = None,
    ) -> Self:
        """Train by SOS-BP, prune, and refine what is left.

        Parameters
        ----------
        X : data frame or array of shape (n_samples, n_features)
            Training rows.
        y : array of shape (n_samples,)
            Responses, or labels of two classes.
        sample_weight : array of shape (n_samples,) or None, default=None
            The weight of each row. A weight of two counts as the row twice.
        validation_data : tuple or None, default=None
            Rows for early stopping, as (X, y) or (X, y, sample_weight). Without them
            `validation_fraction` of the rows is split off.

        Returns
        -------
        self : XNNClassifier or XNNRegressor
            The fitted estimator.
        """
        validate_params(self)
        seed = fitting.draw_seed(self.random_state)
        data = prepare(self, X, y, sample_weight, validation_data, seed=seed)
        self.result_ = pair_stage.fit(self, data, seed)
        if data.classes is not None:
            self.classes_ = data.classes
        keep_profile(self, X, y, sample_weight)
        return self

    @classmethod
    def from_scorer(cls, scorer: Scorer, **parameters: Any) -> Self:
        """Make a fitted estimator of a stored network, for instance to refine it.

        Parameters
        ----------
        scorer : Scorer
            The network, as `ridgeline.load` returns it.
        **parameters : dict
            Parameters of the estimator, which a model file does not have.

        Returns
        -------
        XNNClassifier or XNNRegressor
            The fitted estimator.
        """
        model = cls(**parameters)
        if is_classifier(model) != (scorer.classes is not None):
            kind = "regressor" if scorer.classes is None else "classifier"
            message = f"The model is a {kind}; use XNN{kind.title()}.from_scorer."
            raise InputError(message)
        model.result_ = fitting.FitResult.of_stored(scorer)
        if scorer.classes is not None:
            model.classes_ = np.array(scorer.classes)
        model.n_features_in_ = len(scorer.features.names)
        if scorer.features.named:
            model.feature_names_in_ = np.array(scorer.features.names, dtype=object)
        return model

    def contributions(self, X: Any) -> Floats:
        """Compute what each component adds to the intercept, for each row.

        Parameters
        ----------
        X : data frame or array of shape (n_samples, n_features)
            Rows with the columns of the fit.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Contributions in the order of `scales_`. With `intercept_` they add up to
            the decision.
        """
        return cast(Floats, self._score("contributions", X))

    def explain(self, points: int = 200) -> "Explanation":
        """Take the fitted network apart: importance, curves, projections, plots.

        Parameters
        ----------
        points : int, default=200
            How many values each ridge function is given at.

        Returns
        -------
        Explanation
            The components as data frames and figures.
        """
        from ridgeline.xnn.explanation import explain

        check_is_fitted(self)
        return explain(self, points)

    def save(self, path: str | Path) -> None:
        """Write the fitted network to one JSON file, which `ridgeline.load` reads.

        Parameters
        ----------
        path : str or path
            The file, in a folder that exists. The estimator's parameters and training
            history do not go along.
        """
        check_is_fitted(self)
        self.scorer_.save(path)

    @property
    def scorer_(self) -> Scorer:
        """The fitted network."""
        return self.result_.scorer

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

    @property
    def history_(self) -> dict[str, NDArray[Any]]:
        """Arrays by epoch."""
        return self.result_.history

    @property
    def n_iter_(self) -> int:
        """Number of epochs that were run."""
        return len(self.result_.history["epoch"])

    @property
    def validation_loss_(self) -> float:
        """The loss of the validation rows."""
        return self.result_.validation_loss

    @property
    def orthogonality_error_(self) -> float:
        """Largest |W'W - I| as trained, in single precision."""
        return self.result_.orthogonality_error

    @property
    def stop_reason_(self) -> str:
        """Why the last stage ended, in words."""
        return self.result_.stop_reason

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True  # as categories
        tags.input_tags.allow_nan = True
        return tags

    def _score(self, method: str, X: Any) -> Any:
        """Calls a method of the scorer on a checked table."""
        check_is_fitted(self)
        X = checked_table(self, X)
        return getattr(self.scorer_, method)(X, unseen_of(self))


class XNNRegressor(RegressorMixin, BaseXNN):  # type: ignore[misc]
    __doc__ = f"""Explainable neural network for a numeric response.

        y = intercept + sum_j scale_j h_j(w_j' x) + sum_c effect_c(category)

    Projections w_j are orthonormal, functions h_j smooth and of norm 1. `fit` trains
    by SOS-BP, prunes components beyond a share of the importance, and refines the
    rest.

    {PARAMETERS}{ATTRIBUTES}
    See Also
    --------
    XNNClassifier : The same for two classes.
    XNNRegressorCV : Chooses the three penalties by itself.

    References
    ----------
    Yang, Zhang and Sudjianto, Enhancing Explainability of Neural Networks through
    Architecture Constraints, 2021.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeline import XNNRegressor
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(500, 3))
    >>> model = XNNRegressor(max_epochs=50, random_state=0)
    >>> model.fit(X, np.sin(3 * X[:, 0]) + X[:, 1]).predict(X).shape
    (500,)
    """

    def predict(self, X: Any) -> Floats:
        """Predict responses.

        Parameters
        ----------
        X : data frame or array of shape (n_samples, n_features)
            Rows with the columns of the fit, in any order if they have names.

        Returns
        -------
        ndarray of shape (n_samples,)
            Predicted responses.
        """
        return cast(Floats, self._score("decision_function", X))


class XNNClassifier(ClassifierMixin, BaseXNN):  # type: ignore[misc]
    __doc__ = f"""Explainable neural network for two classes.

        logit = intercept + sum_j scale_j h_j(w_j' x) + sum_c effect_c(category)

    The logit is the log-odds of the second class. Projections w_j are orthonormal,
    functions h_j smooth and of norm 1. `fit` trains by SOS-BP, prunes components
    beyond a share of the importance, and refines the rest.

    {PARAMETERS}{ATTRIBUTES.rstrip()}
    classes_ : ndarray of shape (2,)
        The two labels.

    See Also
    --------
    XNNRegressor : The same for a numeric response.
    XNNClassifierCV : Chooses the three penalties by itself.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeline import XNNClassifier
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(500, 3))
    >>> model = XNNClassifier(max_epochs=50, random_state=0)
    >>> model.fit(X, X[:, 0] > X[:, 1]).predict_proba(X).shape
    (500, 2)
    """

    classes_: NDArray[Any]

    def decision_function(self, X: Any) -> Floats:
        """Compute logits, the log-odds of the second class.

        Parameters
        ----------
        X : data frame or array of shape (n_samples, n_features)
            Rows with the columns of the fit, in any order if they have names.

        Returns
        -------
        ndarray of shape (n_samples,)
            Log-odds.
        """
        return cast(Floats, self._score("decision_function", X))

    def predict_proba(self, X: Any) -> Floats:
        """Predict probabilities of the two classes.

        Parameters
        ----------
        X : data frame or array of shape (n_samples, n_features)
            Rows with the columns of the fit, in any order if they have names.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            Probabilities in the order of `classes_`.
        """
        return cast(Floats, self._score("predict_proba", X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the likelier class.

        Parameters
        ----------
        X : data frame or array of shape (n_samples, n_features)
            Rows with the columns of the fit, in any order if they have names.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels.
        """
        decision = self.decision_function(X)
        return np.asarray(self.classes_[(decision > 0).astype(np.intp)])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
