"""Extreme learning machines with generalised radial basis functions.

A random hidden layer, and output weights by least squares (Huang, Zhu and Siew 2006).
Node j answers with

    phi_j(x) = exp(-(rbf_width |x - c_j| / r_j)^tau_j),

where the centre c_j is a training row drawn at random, and exponent tau_j and radius
r_j are such that, at a width of one, the node's nearest and farthest fellow centres get
0.95 and 0.05 (Fernandez-Navarro et al. 2011, MELM-GRBF).
"""

from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any, ClassVar, Final, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, RegressorMixin, is_regressor
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from ridgeline.baselines.labels import BinaryClassifierMixin
from ridgeline.private_names.sklearn import (
    Interval,
    check_sample_weight,
    validate_params,
)
from ridgeline.xnn.response import learn_classes

__all__ = ["ELMClassifier", "ELMRegressor"]

Floats = NDArray[np.float64]
# The answer to the farthest centre; the nearest gets one minus this.
_FAR: Final = 0.05
# A node with no fellow centre elsewhere is a Gaussian of radius one.
_ALONE: Final = (2.0, 1.0)
# Steep functions fit noise between centres and flat ones are all alike.
_EXPONENTS: Final = (0.1, 10.0)
# Weak: enough to keep the Platt slope finite where the classes are apart.
_PLATT_STRENGTH: Final = 100.0
_BLOCK_ROWS: Final = 8192  # whose hidden layer is in memory at a time


class _Moments(NamedTuple):
    """Weighted sums over rows of the hidden layer, taken from a reference point."""

    weight: float
    hidden: Floats  # (nodes,)
    target: float
    squares: Floats  # (nodes, nodes)
    products: Floats  # (nodes,)


class _BaseELM(BaseEstimator):  # type: ignore[misc]
    """What the two estimators share: the random layer and the least squares."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_nodes": [Interval(Integral, 1, None, closed="left")],
        "rbf_width": [Interval(Real, 0, None, closed="neither")],
        "ridge": [Interval(Real, 0, None, closed="neither")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_nodes: int = 100,
        *,
        rbf_width: float = 0.1,
        ridge: float = 1e-8,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_nodes = n_nodes
        self.rbf_width = rbf_width
        self.ridge = ridge
        self.random_state = random_state

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Draws the hidden layer and solves for the output weights.

        Args:
            X: Numbers, shape (n, p), scaled alike.
            y: Responses, or labels of two classes, shape (n,).
            sample_weight: Of each row; a weight of two is the row twice.

        Returns:
            The estimator.

        Raises:
            InputError: If a classifier gets other than two classes.
        """
        validate_params(self)
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=is_regressor(self))
        weight = check_sample_weight(
            sample_weight, X, dtype=np.float64, ensure_non_negative=True
        )
        self._fit_rows(X, np.asarray(y), np.asarray(weight))
        return self

    def _fit_rows(self, X: Floats, y: NDArray[Any], weight: Floats) -> None:
        """Fits checked rows; a classifier has labels."""
        self._fit_layer(X, np.asarray(y, dtype=np.float64), weight)

    def _fit_layer(self, X: Floats, target: Floats, weight: Floats) -> None:
        rng = check_random_state(self.random_state)
        self.centres_ = _draw_rows(X, weight, self.n_nodes, rng)
        self.exponents_, self.radii_ = _shapes(self.centres_)
        reference = self._hidden(self.centres_).mean(axis=0)
        moments = self._moments(X, target, weight, reference)
        self.coef_ = _solve(moments, self.ridge)
        means = reference + moments.hidden / moments.weight
        self.intercept_ = float(
            moments.target / moments.weight - np.sum(means * self.coef_)
        )

    def _moments(
        self, X: Floats, target: Floats, weight: Floats, reference: Floats
    ) -> _Moments:
        """The sums that least squares needs, block by block."""
        nodes = len(reference)
        hidden_sum, target_sum = np.zeros(nodes), 0.0
        squares, products = np.zeros((nodes, nodes)), np.zeros(nodes)
        for part in _blocks(len(X)):
            # Sums from a point near the mean do not cancel each other.
            hidden = self._hidden(X[part]) - reference
            weighted = hidden * weight[part, None]
            hidden_sum += weighted.sum(axis=0)
            target_sum += float(weight[part] @ target[part])
            squares += weighted.T @ hidden
            products += weighted.T @ target[part]
        return _Moments(float(weight.sum()), hidden_sum, target_sum, squares, products)

    def _hidden(self, X: Floats) -> Floats:
        """The nodes' answers less one, shape (rows, nodes).

        With an intercept that spans the same functions, and it keeps all digits where a
        small width makes every answer almost one.
        """
        squared = euclidean_distances(X, self.centres_, squared=True)
        with np.errstate(divide="ignore"):  # a row on a centre is at minus infinity
            logs = np.log(squared, out=squared)
        logs *= 0.5
        logs += np.log(self.rbf_width) - np.log(self.radii_)
        logs *= self.exponents_
        # Beyond this power an answer is zero in any case.
        np.minimum(logs, 10.0, out=logs)
        np.exp(logs, out=logs)
        np.negative(logs, out=logs)
        return np.asarray(np.expm1(logs, out=logs))

    def _output(self, X: Floats) -> Floats:
        parts = [self._hidden(X[part]) @ self.coef_ for part in _blocks(len(X))]
        return np.asarray(np.concatenate(parts) + self.intercept_)

    def _checked(self, X: Any) -> Floats:
        check_is_fitted(self)
        return np.asarray(validate_data(self, X, dtype=np.float64, reset=False))


class ELMRegressor(RegressorMixin, _BaseELM):  # type: ignore[misc]
    """Extreme learning machine for a numeric response.

    Rows are visited in blocks, so that memory does not grow with them.

    Args:
        n_nodes: Hidden nodes; the paper tries 20, 50, 100, 200, 500.
        rbf_width: Factor on the distances from the centres; the smaller, the flatter
            the functions. The paper tries 1e-4, 1e-3, 1e-2, 1e-1, 1.
        ridge: Penalty on the output weights, as a share of each node's variance.
        random_state: Seed of the centres.

    Attributes:
        centres_: Of the nodes, shape (n_nodes, p).
        exponents_: Of the nodes, tau, shape (n_nodes,).
        radii_: Of the nodes, r, shape (n_nodes,).
        coef_: Output weights, shape (n_nodes,).
        intercept_: The output where every node answers one.
        n_features_in_: Columns of the fit.
        feature_names_in_: Their names, where they had any.

    Examples:
        >>> import numpy as np
        >>> from ridgeline.baselines.elm import ELMRegressor
        >>> X = np.random.default_rng(0).uniform(-1, 1, size=(500, 2))
        >>> model = ELMRegressor(random_state=0).fit(X, X[:, 0] * X[:, 1])
        >>> model.score(X, X[:, 0] * X[:, 1]) > 0.99
        True
    """

    def predict(self, X: Any) -> Floats:
        """Predicted responses, shape (n,)."""
        return self._output(self._checked(X))


class ELMClassifier(BinaryClassifierMixin, _BaseELM):
    """Extreme learning machine for two classes.

    Least squares on -1 and 1 give a score, and a logistic regression of the labels on
    that score (Platt) turns it into log-odds; `coef_` and `intercept_` are those of the
    log-odds. Parameters and other attributes are those of `ELMRegressor`; `classes_`
    has the two labels.

    Examples:
        >>> import numpy as np
        >>> from ridgeline.baselines.elm import ELMClassifier
        >>> X = np.random.default_rng(0).uniform(-1, 1, size=(500, 2))
        >>> model = ELMClassifier(random_state=0).fit(X, X[:, 0] * X[:, 1] > 0)
        >>> model.predict_proba(X).shape
        (500, 2)
    """

    def _fit_rows(self, X: Floats, y: NDArray[Any], weight: Floats) -> None:
        self.classes_ = learn_classes(y[weight > 0])
        second = y == self.classes_[1]
        self._fit_layer(X, np.where(second, 1.0, -1.0), weight)
        platt = LogisticRegression(
            C=_PLATT_STRENGTH, solver="newton-cholesky", tol=1e-10
        )
        platt.fit(self._output(X)[:, None], second, sample_weight=weight)
        slope = float(platt.coef_[0, 0])
        self.coef_ = slope * self.coef_
        self.intercept_ = slope * self.intercept_ + float(platt.intercept_[0])

    def decision_function(self, X: Any) -> Floats:
        """Log-odds of the second class, shape (n,)."""
        return self._output(self._checked(X))

    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of the two classes, shape (n, 2)."""
        # The hyperbolic tangent does not overflow, whatever the log-odds are.
        half = 0.5 * np.tanh(0.5 * self.decision_function(X))
        return np.column_stack([0.5 - half, 0.5 + half])


def _blocks(rows: int) -> Iterator[slice]:
    for start in range(0, rows, _BLOCK_ROWS):
        yield slice(start, start + _BLOCK_ROWS)


def _draw_rows(
    X: Floats, weight: Floats, count: int, rng: np.random.RandomState
) -> Floats:
    """Draws rows with chances by their weight, spread along a random direction.

    The draw depends on the rows and not on their order, and a row of weight two counts
    like the row twice.
    """
    order = np.argsort(X @ rng.normal(size=X.shape[1]), kind="stable")
    cumulated = np.cumsum(weight[order])
    chances = (np.arange(count) + rng.uniform(size=count)) / count
    places = np.searchsorted(cumulated, chances * cumulated[-1], side="right")
    return np.asarray(X[order[np.minimum(places, len(X) - 1)]])


def _shapes(centres: Floats) -> tuple[Floats, Floats]:
    """Exponents and radii that give the nearest and farthest centre their answers."""
    distances = euclidean_distances(centres)
    far = distances.max(axis=1)
    # Rounding leaves equal centres a little apart.
    distances[distances < 1e-6 * far[:, None]] = np.inf
    near = distances.min(axis=1)
    lone = ~(near < far)
    near, far = np.where(lone, 1.0, near), np.where(lone, np.e, far)
    steepness = np.log(np.log(_FAR) / np.log1p(-_FAR))
    exponents = np.clip(steepness / np.log(far / near), *_EXPONENTS)
    radii = far / (-np.log(_FAR)) ** (1 / exponents)
    return np.where(lone, _ALONE[0], exponents), np.where(lone, _ALONE[1], radii)


def _solve(moments: _Moments, ridge: float) -> Floats:
    """Ridge regression on nodes that are centred and scaled to variance one."""
    mean = moments.hidden / moments.weight
    covariance = moments.squares / moments.weight - np.outer(mean, mean)
    covariance_y = (
        moments.products / moments.weight - mean * moments.target / moments.weight
    )
    deviation = np.sqrt(np.maximum(np.diagonal(covariance), 0))
    largest = deviation.max()
    if largest == 0:
        return np.zeros_like(mean)
    # A node that is the same everywhere has nothing to say.
    used = deviation > 1e-10 * largest
    deviation = np.where(used, deviation, 1.0)
    scaled = covariance / np.outer(deviation, deviation) * np.outer(used, used)
    # Rounding may leave eigenvalues below zero, which would stop a Cholesky factor.
    values, vectors = np.linalg.eigh(scaled)
    shrunk = vectors.T @ np.where(used, covariance_y / deviation, 0.0)
    solution = vectors @ (shrunk / (np.maximum(values, 0) + ridge))
    return np.asarray(solution / deviation)
