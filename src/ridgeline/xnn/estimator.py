"""The explainable network as scikit-learn estimators."""

from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import assert_all_finite

from ridgeline.errors import InputError
from ridgeline.xnn.assembly import Response
from ridgeline.xnn.base import BaseXNN, Floats
from ridgeline.xnn.columns import distinct_labels, quoted, real_numbers
from ridgeline.xnn.scorer import Scorer

__all__ = ["XNNClassifier", "XNNRegressor"]

# Of a response: squares stay far from overflow and underflow.
_SMALLEST_SPAN: Final = 1e-100


class XNNRegressor(RegressorMixin, BaseXNN):  # type: ignore[misc]
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
        refine_epochs: Epochs of the refinement; by default a fifth of `max_epochs`.
        batch_size: Rows in a batch; by default min(1000, 0.2 n).
        validation_fraction: Share of the rows that is set aside to choose the best
            epoch, where `fit` is given no `validation_data`.
        n_starts: Starts from other random weights; the best by validation is kept.
        checkpoint: Folder in which a fit keeps its state, so that the same fit goes on
            there after an interruption and ends with the same model; None keeps none.
        categorical_features: Names or positions, or a mask with one boolean for each
            column; by default the columns of pandas' type `category`.
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
        orthogonality_error_: Largest |W'W - I| as trained, in single precision.
        stop_reason_: Why the last stage ended, in words.
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

    def _adopt(self, scorer: Scorer) -> None:
        if scorer.classes is not None:
            message = "The model is a classifier; use XNNClassifier.from_scorer."
            raise InputError(message)

    def _target(self, y: NDArray[Any], reset: bool) -> Floats:
        if y.dtype.kind == "f":
            assert_all_finite(y, input_name="y")
        numbers = real_numbers(y, "response y", "turn it into numbers, or classify it")
        size, span = float(np.abs(numbers).max()), float(np.ptp(numbers))
        if size > 1 / _SMALLEST_SPAN or 0 < span < _SMALLEST_SPAN:
            message = (
                f"The response y goes from {numbers.min():g} to {numbers.max():g}; its "
                f"size must not exceed {1 / _SMALLEST_SPAN:g}, nor its range be below "
                f"{_SMALLEST_SPAN:g}, so that squared errors are numbers: change its "
                "unit."
            )
            raise InputError(message)
        return numbers

    def _response(self, target: Floats) -> Response:
        return Response.learn(target)

    def _strata(self, target: Floats) -> None:
        return None


class XNNClassifier(ClassifierMixin, BaseXNN):  # type: ignore[misc]
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

    def _adopt(self, scorer: Scorer) -> None:
        if scorer.classes is None:
            message = "The model is a regressor; use XNNRegressor.from_scorer."
            raise InputError(message)
        self.classes_ = np.array(scorer.classes)

    def _target(self, y: NDArray[Any], reset: bool) -> Floats:
        if y.dtype.kind == "f":
            assert_all_finite(y, input_name="y")
        labels = distinct_labels(y, "response y")
        if len({isinstance(label, str) for label in labels}) > 1:
            message = (
                f"The response y mixes text and numbers: {quoted(labels)}; use labels "
                "of one kind."
            )
            raise InputError(message)
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
        strangers = [label for label in labels if label not in self.classes_.tolist()]
        if strangers:
            message = (
                f"The validation data have the class {strangers[0]!r}; it must be one "
                f"of {self.classes_.tolist()}."
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
