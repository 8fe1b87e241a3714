"""A fitted network that needs NumPy alone: scores, contributions, importance ratios.

    decision = intercept + sum_j scales_j h_j(projection_j' x) + sum_c effect_c(x)
               + sum_p pair_scales_p surface_p(x)

Every function h_j and every categorical effect has mean 0 and norm 1 over the training
rows, so that their scales are comparable. Components are sorted by scale, scales are
not negative, and the largest weight of each projection is positive.
`ridgeline.xnn.storage.load_model` reads one from a file.
"""

import os
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from ridgeline.errors import InputError, warn_user
from ridgeline.xnn.architecture import Activation
from ridgeline.xnn.columns import REFUSED, Unseen
from ridgeline.xnn.features import Encoded, Features, is_clean
from ridgeline.xnn.numeric_column import Beyond
from ridgeline.xnn.profile import Profile
from ridgeline.xnn.sharing import feature_parts
from ridgeline.xnn.surfaces import Surface

if TYPE_CHECKING:
    from ridgeline.preparation.recipes import Preparation
    from ridgeline.xnn.explanation import Explanation

__all__ = [
    "ACTIVATIONS",
    "BeyondRangeWarning",
    "HasScorer",
    "Scorer",
    "Spread",
    "Subnetworks",
    "scorer_of",
    "scoring_threads",
    "without_range_warnings",
]

Floats = NDArray[np.float64]
# Rows of a block times components in use: enough to keep Python out, few enough for the
# cache.
_BLOCK: Final = 20_480

ACTIVATIONS: Final[dict[Activation, Callable[[Floats], Floats]]] = {
    "tanh": lambda a: np.tanh(a, out=a),
    "sigmoid": lambda a: 0.5 * (1 + np.tanh(0.5 * a)),
    "softplus": lambda a: np.logaddexp(a, 0),
}

_threads: ContextVar[int | None] = ContextVar("scoring_threads", default=None)


@contextmanager
def scoring_threads(count: int | None) -> Iterator[None]:
    """Limits the threads of all scoring inside; the scores are the same bit for bit.

    A context and not an argument, because fits and searches score as well, and whoever
    shares cores out between processes has to limit that too.

    Args:
        count: At least one; None takes one for each core, as without a limit.

    Raises:
        InputError: If there would be no thread.
    """
    if count is not None and count < 1:
        message = f"Scoring has {count} threads; it must have at least one."
        raise InputError(message)
    before = _threads.set(count)
    try:
        yield
    finally:
        _threads.reset(before)


@dataclass(frozen=True, eq=False)
class Subnetworks:
    """The ridge functions of one projected value each, side by side."""

    kernels: tuple[Floats, ...]  # (k, units out, units in) for each layer
    biases: tuple[Floats, ...]  # (k, units out, 1)
    activation: Activation

    def __call__(self, z: Floats) -> Floats:
        """Values h_j(z_j), from shape (k, rows) to the same shape."""
        activate = ACTIVATIONS[self.activation]
        units = z[:, None, :]
        for kernel, bias in zip(self.kernels[:-1], self.biases[:-1], strict=True):
            units = kernel * units if kernel.shape[2] == 1 else kernel @ units
            units += bias
            units = activate(units)
        kernel, bias = self.kernels[-1], self.biases[-1]
        return np.asarray((kernel @ units + bias)[:, 0, :])

    def take(self, chosen: Any) -> "Subnetworks":
        """The chosen subnetworks alone, in the order of the choice."""
        return Subnetworks(
            tuple(kernel[chosen] for kernel in self.kernels),
            tuple(bias[chosen] for bias in self.biases),
            self.activation,
        )


@dataclass(frozen=True, eq=False)
class Spread:
    """How the training rows lie under each component."""

    edges: Floats  # of the bins of each projected value, (k, bins + 1)
    heights: Floats  # share of the rows in each bin, (k, bins)
    shares: tuple[Floats, ...]  # of each category, for each group
    rows: int | None = None  # how many there were; a file of format 1 does not tell


@dataclass(frozen=True, eq=False, repr=False)
class Scorer:
    """A fitted explainable network, which scores and explains with NumPy alone.

    `ridgeline.load` reads one from a file, and a fitted estimator has one as `scorer_`.

    Parameters
    ----------
    features : Features
        Names, scaling and categories of the columns.
    classes : tuple or None
        The two labels of a classifier, or None for a regressor.
    projection : ndarray of shape (p, k)
        Weights of the scaled numeric features.
    subnetworks : Subnetworks
        The ridge functions.
    scales : ndarray of shape (k,)
        Scales of the ridge functions; zero where pruned.
    effects : tuple of ndarray
        Effects of each categorical feature's categories, in their order.
    category_scales : ndarray
        Scales of the categorical effects; zero where pruned.
    intercept : float
        The decision where every component is at its mean.
    spread : Spread
        Where the training rows lie.
    pairs : tuple of Surface
        What pairs of columns add beyond each of them.
    pair_scales : ndarray
        Scales of the pairs; zero where pruned.
    profile : Profile or None
        What the model remembers of its training rows, for reasons and drift.
    preparation : Preparation or None
        How raw rows become rows of features, where they were made of such.
    """

    features: Features
    classes: tuple[Any, Any] | None
    projection: Floats
    subnetworks: Subnetworks
    scales: Floats
    effects: tuple[Floats, ...]
    category_scales: Floats
    intercept: float
    spread: Spread
    pairs: tuple[Surface, ...] = ()
    pair_scales: Floats = field(default_factory=lambda: np.zeros(0))
    profile: Profile | None = None
    preparation: "Preparation | None" = None

    def __repr__(self) -> str:
        features = self.features
        of = f" of {self.classes[0]!r} or {self.classes[1]!r}" if self.classes else ""
        return (
            f"<Scorer for {self.task}{of:.60}: {len(features.numbers)} numeric "
            f"and {len(features.categories)} categorical features, "
            f"{np.count_nonzero(self.all_scales)} of {len(self.component_names)} "
            "components in use>"
        )

    def explain(self, points: int = 200) -> "Explanation":
        """Take the network apart; see `ridgeline.explain`."""
        from ridgeline.xnn.explanation import explain  # which builds on this module

        return explain(self, points)

    def save(self, path: str | Path) -> None:
        """Write the network to one JSON file; see `ridgeline.save_model`."""
        from ridgeline.xnn.storage import save_model  # which builds on this module

        save_model(self, path)

    @property
    def task(self) -> Literal["regression", "classification"]:
        """What is predicted."""
        return "regression" if self.classes is None else "classification"

    @property
    def component_names(self) -> tuple[str, ...]:
        """Ridge components by their rank, the categorical features, the pairs."""
        ridges = tuple(f"ridge {rank + 1}" for rank in range(len(self.scales)))
        pairs = tuple(surface.name for surface in self.pairs)
        return ridges + tuple(self.features.groups) + pairs

    @property
    def all_scales(self) -> Floats:
        """Scales of the ridge functions, the categorical effects, and the pairs."""
        return np.concatenate([self.scales, self.category_scales, self.pair_scales])

    @property
    def importance_ratios(self) -> Floats:
        """Each component's share of the sum of scales, in the order of the names."""
        scales = self.all_scales
        total = scales.sum()
        return scales / total if total > 0 else scales

    def decision_function(self, X: Any, unseen: Unseen = REFUSED) -> Floats:
        """The additive score of each row: a response, or log-odds, shape (n,)."""
        return self._score(self._decision, X, unseen)

    def contributions(self, X: Any, unseen: Unseen = REFUSED) -> Floats:
        """What each component adds to the intercept, shape (n, components)."""
        return self._score(self._contributions, X, unseen)

    def feature_contributions(self, X: Any, unseen: Unseen = REFUSED) -> Floats:
        """What each column of the table adds to the intercept, shape (n, columns).

        The columns are `features.names`. Each component's part is shared among its
        features, so that a row adds up to the same; docs/model.md has the rule.
        """
        return np.asarray(self.feature_parts(X, unseen).sum(axis=2))

    def feature_parts(self, X: Any, unseen: Unseen = REFUSED) -> Floats:
        """What each column adds by itself, and by interaction, shape (n, columns, 2).

        The sum of the two is `feature_contributions`.
        """
        return self._score(partial(feature_parts, self), X, unseen)

    def project(self, X: Any) -> Floats:
        """The projected value of each row for each ridge function, shape (n, k)."""
        unseen = Unseen("average", "average")
        return np.asarray(self.features.encode(X, unseen).numeric @ self.projection)

    def beyond_range(self, X: Any) -> dict[str, int]:
        """How many cells of each column lie beyond the range of the rows of the fit."""
        encoded = self.features.encode(X, Unseen("average", "average"))
        return {name: outside.cells for name, outside in encoded.beyond.items()}

    def predict(self, X: Any, unseen: Unseen = REFUSED) -> NDArray[Any]:
        """Responses, or labels of the likelier class, shape (n,)."""
        decision = self.decision_function(X, unseen)
        if self.classes is None:
            return decision
        return np.asarray(self.classes)[(decision > 0).astype(np.intp)]

    def predict_proba(self, X: Any, unseen: Unseen = REFUSED) -> Floats:
        """Probabilities of the two classes, in their order, shape (n, 2)."""
        if self.classes is None:
            message = "The model is a regressor; probabilities need a classifier."
            raise InputError(message)
        # The hyperbolic tangent does not overflow, whatever the log-odds are.
        half = 0.5 * np.tanh(0.5 * self.decision_function(X, unseen))
        return np.column_stack([0.5 - half, 0.5 + half])

    def _score(
        self, score: Callable[[Encoded], Floats], X: Any, unseen: Unseen
    ) -> Floats:
        """Scores all rows, in blocks that are scaled where they are scored."""
        features = self.features
        if features.groups or not is_clean(X):
            rows = features.encode(X, unseen)
            if unseen.beyond != "extend":
                _say_beyond(rows.beyond, features)
            return self._in_blocks(
                lambda part: score(rows.take(part)), len(rows.numeric)
            )
        X = features.in_order(X)
        extend = unseen.beyond == "extend"
        if not extend:
            _say_beyond(features.beyond(X, unseen), features)
        return self._in_blocks(
            lambda part: score(features.scale(X[part], extend=extend)), len(X)
        )

    def _in_blocks(self, score: Callable[[slice], Floats], count: int) -> Floats:
        """Scores blocks of rows side by side; NumPy lets go of Python's lock."""
        size = _BLOCK // max(1, int(np.count_nonzero(self.scales)))
        parts = [slice(start, start + size) for start in range(0, count, size)]
        if len(parts) <= 1:
            return score(slice(None))
        threads = _threads.get() or os.cpu_count() or 1
        if threads == 1:
            return np.concatenate([score(part) for part in parts])
        with ThreadPoolExecutor(threads) as pool:
            return np.concatenate(list(pool.map(score, parts)))

    def _decision(self, rows: Encoded) -> Floats:
        return np.asarray(self.intercept + self._terms(rows).sum(axis=0))

    def _contributions(self, rows: Encoded) -> Floats:
        total = np.zeros((len(rows.numeric), len(self.component_names)))
        total[:, np.flatnonzero(self.all_scales)] = self._terms(rows).T
        return total

    def _terms(self, rows: Encoded) -> Floats:
        """Contributions of the components in use, shape (components in use, rows)."""
        used = np.flatnonzero(self.scales)
        z = self.projection[:, used].T @ rows.numeric.T
        ridges = self.scales[used, None] * self.subnetworks.take(used)(z)
        categories = [
            # The code of an unknown category, -1, finds the zero at the end.
            scale * np.append(effects, 0.0)[rows.codes[:, feature]]
            for feature, (scale, effects) in enumerate(
                zip(self.category_scales, self.effects, strict=True)
            )
            if scale
        ]
        pairs = [
            scale * surface(self.features, rows)
            for scale, surface in zip(self.pair_scales, self.pairs, strict=True)
            if scale
        ]
        return np.vstack([ridges, *categories, *pairs])


def _say_beyond(beyond: dict[str, Beyond], features: Features) -> None:
    """Warns of cells that are far beyond the range of the rows of the fit."""
    if not any(outside.far for outside in beyond.values()):
        return
    name = max(beyond, key=lambda column: beyond[column].far)
    low, high = features.numbers[name].seen
    cells = sum(outside.cells for outside in beyond.values())
    others = f" and {len(beyond) - 1} more columns" if len(beyond) > 1 else ""
    lie = "1 cell lies" if cells == 1 else f"{cells:,} cells lie"
    message = (
        f"{lie} beyond the range of the rows of the fit: "
        f"{beyond[name].cells} of {name!r} ({low:g} to {high:g}){others}; there the "
        "curves stay at their edges. Scorer.beyond_range counts them by column, and "
        "beyond_range='error' refuses them."
    )
    warn_user(message, BeyondRangeWarning)


class BeyondRangeWarning(UserWarning):
    """Rows to be scored have cells far beyond the range of the rows of the fit."""


@contextmanager
def without_range_warnings() -> Iterator[None]:
    """Scores rows beyond the range in silence, for those who count them themselves."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BeyondRangeWarning)
        yield


class HasScorer(Protocol):
    """A fitted estimator, whatever its class."""

    @property
    def scorer_(self) -> Scorer:
        """The fitted network."""


def scorer_of(model: Scorer | HasScorer) -> Scorer:
    """The network of a fitted estimator, or the network itself.

    Raises:
        InputError: If it is neither.
    """
    scorer = getattr(model, "scorer_", model)
    if not isinstance(scorer, Scorer):
        message = (
            f"A {type(model).__name__} without scorer_ cannot be explained; fit it "
            "first, or pass a scorer."
        )
        raise InputError(message)
    return scorer
