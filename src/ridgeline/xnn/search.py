"""Choosing penalties by validation: the paper's grid, or random draws, on all cores.

Every process compiles the network once and then fits one pair of penalties after the
other, because penalties are arguments of the compiled program.

The choice is the one-standard-error rule (`ridgeline.xnn.one_standard_error`): among
the points whose loss is within one standard error of the smallest, the one with the
fewest components.

How smooth the functions are (lambda3) is chosen in the same way, before the sparsity:
`penalty_search`. What a component is worth shows once its curve can follow the data.

Training finds a local optimum. Among starts with the same penalties a poor one shows in
the training rows, of which there are more: `start_search` takes the smallest loss over
all rows among the starts within one standard error of the best validation loss.
"""

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Generic, NamedTuple, TypeVar

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid
from sklearn.utils import check_random_state

from ridgeline.errors import InputError
from ridgeline.private_names.sklearn import validate_params
from ridgeline.xnn.extremes import ExtremeValuesWarning
from ridgeline.xnn.fitting import draw_seed
from ridgeline.xnn.one_standard_error import (
    best_of_all_rows,
    errors_of_differences,
    say_if_at_the_end,
    simplest,
    smoothest,
    strictest,
)
from ridgeline.xnn.progress import count_fits
from ridgeline.xnn.tables import RowLosses, prepare, row_losses, validation_losses

__all__ = [
    "COHERENCES",
    "PAPER_GRID",
    "PAPER_RANGES",
    "RANGES",
    "ROUGHNESS",
    "SearchResult",
    "coherence_search",
    "grid_search",
    "penalty_search",
    "random_search",
    "start_search",
]

Model = TypeVar("Model")

_LARGEST: Final = np.iinfo(np.int32).max  # that a seed may be
_STRENGTHS: Final = (1e-2, 10**-2.5, 1e-3, 10**-3.5, 1e-4)
# The paper's 5 x 5 grid; lambda3 stays as the estimator has it.
PAPER_GRID: Final[Mapping[str, Sequence[float]]] = {
    "l1_projection": _STRENGTHS,
    "l1_scales": _STRENGTHS,
}
# The paper's ranges, for draws at log-scale.
PAPER_RANGES: Final[Mapping[str, tuple[float, float]]] = {
    "l1_projection": (1e-4, 1e-2),
    "l1_scales": (1e-4, 1e-2),
    "roughness": (1e-7, 1e-5),
}
# The paper's lambda3 blurs an edge that is a hundredth of the range wide, which tens of
# thousands of rows show clearly; so what is tried reaches further down.
RANGES: Final = {**PAPER_RANGES, "roughness": (1e-10, 1e-5)}
ROUGHNESS: Final = (1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10)
# Prices of overlap, from projections that are orthogonal for every reader to free ones.
COHERENCES: Final = (10.0, 1.0, 0.3, 0.1, 0.03, 0.01, 0.001)


@dataclass(frozen=True, eq=False)
class SearchResult(Generic[Model]):
    """Every point that was tried, and the model of the chosen one."""

    table: pd.DataFrame  # one row for each point, smallest validation loss first
    model: Model


def grid_search(
    model: Model,
    X: Any,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    validation_data: tuple[Any, ...] | None = None,
    *,
    grid: Mapping[str, Sequence[Any]] = PAPER_GRID,
    standard_errors: float = 1.0,
    n_jobs: int | None = -1,
) -> SearchResult[Model]:
    """Fit every point of a grid and choose by validation.

    Parameters
    ----------
    model : XNNClassifier or XNNRegressor
        What the grid does not name stays as it is here. All points share its validation
        split and its random start.
    X : data frame or array of shape (n_samples, n_features)
        Training rows.
    y : array of shape (n_samples,)
        Responses or labels.
    sample_weight : array of shape (n_samples,) or None, default=None
        The weight of each row.
    validation_data : tuple or None, default=None
        Rows that choose, as (X, y) or (X, y, sample_weight). Without them every fit has
        the same validation split.
    grid : mapping of str to sequence, default=PAPER_GRID
        Values to try by parameter. The default is the paper's 5 x 5 grid.
    standard_errors : float, default=1.0
        The one-standard-error rule: how many standard errors above the smallest
        validation loss a model with fewer components may be. 0 takes the smallest loss.
    n_jobs : int or None, default=-1
        Number of processes; -1 uses every core. joblib's `parallel_config` takes the
        work elsewhere, such as to a Dask cluster.

    Returns
    -------
    SearchResult
        The table of all points and the fitted model of the chosen one.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeline import XNNRegressor, grid_search
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(500, 3))
    >>> model = XNNRegressor(max_epochs=50, random_state=0)
    >>> found = grid_search(model, X, np.sin(3 * X[:, 0]),
    ...                     grid={"l1_scales": [1e-2, 1e-3]}, n_jobs=1)
    >>> len(found.table)
    2
    """
    points = list(ParameterGrid(dict(grid)))
    data = X, y, sample_weight, validation_data
    return _search(model, points, data, partial(simplest, standard_errors), n_jobs)


def random_search(
    model: Model,
    X: Any,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    validation_data: tuple[Any, ...] | None = None,
    *,
    ranges: Mapping[str, tuple[float, float]] = RANGES,
    n_points: int = 25,
    standard_errors: float = 1.0,
    n_jobs: int | None = -1,
) -> SearchResult[Model]:
    """Fit points that are drawn at log-scale, and choose by validation.

    Parameters
    ----------
    model : XNNClassifier or XNNRegressor
        As for `grid_search`. Its `random_state` also draws the points.
    X, y, sample_weight, validation_data : rows
        As for `grid_search`.
    ranges : mapping of str to (float, float), default=RANGES
        Smallest and largest value by parameter, both positive.
    n_points : int, default=25
        Number of points to draw.
    standard_errors : float, default=1.0
        The one-standard-error rule: how many standard errors above the smallest
        validation loss a model with fewer components may be. 0 takes the smallest loss.
    n_jobs : int or None, default=-1
        Number of processes; -1 uses every core.

    Returns
    -------
    SearchResult
        The table of all points and the fitted model of the chosen one.
    """
    for name, (low, high) in ranges.items():
        if not 0 < low <= high:
            message = (
                f"The range of {name} is {low} to {high}; both ends must be positive "
                "and the first not above the second."
            )
            raise InputError(message)
    draws = check_random_state(model.random_state).uniform(  # type: ignore[attr-defined]
        size=(n_points, len(ranges))
    )
    low, high = np.log10(list(ranges.values())).T
    values = 10 ** (low + draws * (high - low))
    points = [dict(zip(ranges, row, strict=True)) for row in values.tolist()]
    data = X, y, sample_weight, validation_data
    return _search(model, points, data, partial(simplest, standard_errors), n_jobs)


def penalty_search(
    model: Model,
    X: Any,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    validation_data: tuple[Any, ...] | None = None,
    *,
    roughness: Sequence[float] = ROUGHNESS,
    grid: Mapping[str, Sequence[Any]] = PAPER_GRID,
    standard_errors: float = 1.0,
    n_jobs: int | None = -1,
) -> SearchResult[Model]:
    """Choose lambda3 by validation, and then the other penalties at its choice.

    Parameters
    ----------
    model : XNNClassifier or XNNRegressor
        As for `grid_search`. lambda3 is chosen at its other penalties.
    X, y, sample_weight, validation_data : rows
        As for `grid_search`.
    roughness : sequence of float, default=ROUGHNESS
        Values of lambda3 to try.
    grid : mapping of str to sequence, default=PAPER_GRID
        Values of the other penalties, as for `grid_search`. It may be empty.
    standard_errors : float, default=1.0
        The one-standard-error rule: how many standard errors above the smallest
        validation loss a smoother model, and then one with fewer components, may be.
        0 takes the smallest loss.
    n_jobs : int or None, default=-1
        Number of processes; -1 uses every core.

    Returns
    -------
    SearchResult
        The table of all points, one row for each fit, and the fitted model of the
        chosen one.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeline import XNNRegressor, penalty_search
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(500, 3))
    >>> model = XNNRegressor(max_epochs=50, random_state=0)
    >>> found = penalty_search(model, X, np.sin(3 * X[:, 0]), n_jobs=1,
    ...                        roughness=[1, 1e-4, 1e-6], grid={"l1_scales": [1e-3]})
    >>> len(found.table)
    4
    """
    data = X, y, sample_weight, validation_data
    points = [{"roughness": value} for value in roughness]
    tables = []
    if len(points) != 1 or not grid:
        choose = partial(smoothest, standard_errors)
        smooth = _search(model, points, data, choose, n_jobs)
        say_if_at_the_end(smooth.table)
        if not grid:
            return smooth
        given = {name: getattr(model, name) for name in grid}
        tables.append(smooth.table.assign(**given, chosen=False))
        points = [{"roughness": smooth.model.roughness}]
    sparse = grid_search(
        clone(model).set_params(**points[0]),
        *data,
        grid=grid,
        standard_errors=standard_errors,
        n_jobs=n_jobs,
    )
    table = pd.concat([sparse.table.assign(**points[0]), *tables])
    table = table.sort_values("validation_loss", kind="stable", ignore_index=True)
    return SearchResult(table, sparse.model)


def coherence_search(
    model: Model,
    X: Any,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    validation_data: tuple[Any, ...] | None = None,
    *,
    coherence: Sequence[float] = COHERENCES,
    standard_errors: float = 1.0,
    n_jobs: int | None = -1,
) -> SearchResult[Model]:
    """Choose the price of overlap of near-orthogonal projections by validation.

    Parameters
    ----------
    model : XNNClassifier or XNNRegressor
        As for `grid_search`, with `projection="near"`.
    X, y, sample_weight, validation_data : rows
        As for `grid_search`.
    coherence : sequence of float, default=COHERENCES
        Prices to try.
    standard_errors : float, default=1.0
        How many standard errors above the smallest validation loss the largest price,
        which is the closest to orthogonality, may be. 0 takes the smallest loss.
    n_jobs : int or None, default=-1
        Number of processes; -1 uses every core.

    Returns
    -------
    SearchResult
        The table of all prices and the fitted model of the chosen one.
    """
    points = [{"coherence": price} for price in coherence]
    data = X, y, sample_weight, validation_data
    return _search(model, points, data, partial(strictest, standard_errors), n_jobs)


def start_search(
    model: Model,
    X: Any,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    validation_data: tuple[Any, ...] | None = None,
    *,
    n_starts: int = 6,
    standard_errors: float = 1.0,
    n_jobs: int | None = -1,
) -> SearchResult[Model]:
    """Fit from several random starts, and choose by all rows.

    Parameters
    ----------
    model : XNNClassifier or XNNRegressor
        As for `grid_search`. Its `random_state` is the first start's.
    X, y, sample_weight, validation_data : rows
        As for `grid_search`, but the validation rows must be given: otherwise each
        start would have another validation split.
    n_starts : int, default=6
        Number of starts, at least one.
    standard_errors : float, default=1.0
        How many standard errors above the smallest validation loss the chosen start
        may be.
    n_jobs : int or None, default=-1
        Number of processes; -1 uses every core.

    Returns
    -------
    SearchResult
        The table of all starts and the fitted model of the chosen one.
    """
    if validation_data is None:
        message = "Starts are compared on validation_data, which is None; pass (X, y)."
        raise InputError(message)
    seed = _whole_seed(model)
    drawn = np.random.default_rng(seed).integers(_LARGEST, size=max(0, n_starts - 1))
    points = [{"random_state": start} for start in [seed, *drawn.tolist()]]
    data = X, y, sample_weight, validation_data
    choose = partial(best_of_all_rows, standard_errors)
    return _search(model, points[: max(0, n_starts)], data, choose, n_jobs)


def _whole_seed(model: Any) -> int:
    """One seed for all points, whatever kind of random state the model has."""
    seed = model.random_state
    if isinstance(seed, int):
        return seed
    return int(check_random_state(seed).randint(_LARGEST))


def _search(
    model: Any,
    points: Sequence[dict[str, Any]],
    data: tuple[Any, Any, Any, Any],
    choose: Callable[[pd.DataFrame], int],
    n_jobs: int | None,
) -> SearchResult[Any]:
    if not points:
        message = "The search has no points; name at least one value for a parameter."
        raise InputError(message)
    seed = _whole_seed(model)
    # What is wrong with the data is said here and once, not by every worker.
    first = clone(model).set_params(**points[0])
    validate_params(first)
    prepare(first, *data, seed=seed)
    if len(points) == 1:
        n_jobs = 1  # another process would compile again what this one will need
    fits = Parallel(n_jobs=n_jobs, return_as="generator")(
        delayed(_fit)(clone(model).set_params(**{"random_state": seed} | point), data)
        for point in points
    )
    fitted = []
    with warnings.catch_warnings(), count_fits(len(points), model.verbose) as done:
        # A worker that compiled for other shapes before may be replaced by a fresh one.
        warnings.filterwarnings("ignore", message="A worker stopped while some jobs")
        for fit in fits:
            fitted.append(fit)
            done()
    table = pd.DataFrame(
        [
            point
            | {
                "validation_loss": fit.model.validation_loss_,
                "all_rows_loss": fit.all_rows_loss,
                "components": int(np.count_nonzero(fit.model.scales_)),
                "epochs": fit.model.n_iter_,
                "seconds": fit.seconds,
            }
            for point, fit in zip(points, fitted, strict=True)
        ]
    )
    losses = np.stack([fit.losses for fit in fitted])
    table["standard_error"] = errors_of_differences(
        losses, fitted[0].weights, int(table["validation_loss"].to_numpy().argmin())
    )
    chosen = choose(table)
    table["chosen"] = np.arange(len(table)) == chosen
    table = table.sort_values("validation_loss", kind="stable", ignore_index=True)
    return SearchResult(table, fitted[chosen].model.set_params(verbose=model.verbose))


class _Fit(NamedTuple):
    """One point, fitted."""

    model: Any
    seconds: float
    losses: NDArray[np.float32]  # of the validation rows
    weights: NDArray[np.float64]  # of the validation rows
    all_rows_loss: float  # mean over training and validation rows


def _fit(model: Any, data: tuple[Any, Any, Any, Any]) -> _Fit:
    """Fits one point, in a process of its own."""
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExtremeValuesWarning)
        model.set_params(verbose=0).fit(*data)
    seconds = time.perf_counter() - began
    held = validation_losses(model, *data, seed=draw_seed(model.random_state))
    rows = row_losses(model, *data[:3])
    if data[3] is not None:
        rows = RowLosses(np.r_[rows.loss, held.loss], np.r_[rows.weight, held.weight])
    return _Fit(model, seconds, held.loss.astype(np.float32), held.weight, rows.mean)
