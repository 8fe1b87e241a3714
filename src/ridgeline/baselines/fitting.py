"""One way to tune and fit every baseline.

Each point of the grid is fitted on the training rows and judged on the validation rows,
by log-loss or squared error; the best is then fitted on all training rows. Where a
method needs validation rows for more than that, `ridgeline.baselines.registry` says so.
"""

import logging
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import log_loss, mean_squared_error
from sklearn.model_selection import ParameterGrid
from threadpoolctl import threadpool_limits

from ridgeline.baselines.observations import (
    CLASSES,
    Observations,
    checked_rows,
    joined,
    refuse_gaps,
    some,
)
from ridgeline.baselines.registry import (
    Baseline,
    Columns,
    Task,
    find_baseline,
)
from ridgeline.baselines.settings import BaselineSettings, check_settings
from ridgeline.errors import RidgelineError
from ridgeline.xnn.columns import Unseen
from ridgeline.xnn.features import Features
from ridgeline.xnn.progress import count_fits
from ridgeline.xnn.search import grid_search, penalty_search

__all__ = ["FittedBaseline", "NotApplicable", "fit_baseline"]

logger = logging.getLogger(__name__)


class NotApplicable(RidgelineError):
    """A method cannot be used on these rows or this machine; the message says why."""


@dataclass(frozen=True, eq=False)
class FittedBaseline:
    """A fitted baseline and how it was chosen."""

    model: Any  # fitted on all training rows; takes rows as they are
    # One row for each point of the grid, best first: its values, validation_loss,
    # seconds. The loss is missing where nothing was tuned and the final model has
    # itself seen the validation rows (mlp).
    tuning_table: pd.DataFrame
    best: dict[str, Any]  # the grid's values of the model
    fit_seconds: float  # of the final fit
    tuning_seconds: float  # of all fits before it
    n_fits: int  # the final one included
    n_parameters: int  # as `ridgeline.baselines.sizes` counts them
    n_components: int | None = None  # of an explainable network
    remark: str = ""  # what is to know about the fit


@dataclass(frozen=True, eq=False)
class _Work:
    """What is fitted, on what, and how."""

    baseline: Baseline
    task: Task
    columns: Columns
    settings: Mapping[str, Any]
    tuning_settings: Mapping[str, Any]
    grid: Mapping[str, Sequence[Any]]
    train: Observations
    sample: Observations  # the training rows that tune
    validation: Observations
    seed: int
    n_jobs: int | None
    verbose: int

    @property
    def unweighted(self) -> bool:
        """Whether rows count differently, and the method cannot take it."""
        return self.train.weight is not None and not self.baseline.weighted

    def build(self, **point: Any) -> Any:
        settings = dict(self.settings) | point
        return self.baseline.build(self.task, self.columns, self.seed, **settings)


def fit_baseline(  # noqa: PLR0917
    name: str,
    task: Task,
    settings: BaselineSettings,
    train: tuple[Any, ...],
    validation: tuple[Any, ...],
    seed: int,
    *,
    lenient: bool = False,
    n_jobs: int | None = -1,
    verbose: int = 0,
) -> FittedBaseline:
    """Tunes a baseline on the validation rows and fits it.

    Args:
        name: Of the baseline in the registry.
        task: "classification" (y of 0 and 1) or "regression".
        settings: What the user has set for it.
        train: Features, as a frame or an array of numbers, responses, and the weights
            of the rows if they have any.
        validation: The same of the rows that choose.
        seed: Of everything random. The same seed gives the same model.
        lenient: Whether gaps are filled, with a flag where there is one, and strange
            categories have no effect, instead of being refused. Networks look after
            both themselves.
        n_jobs: Processes; -1 uses every core.
        verbose: Whether to show progress.

    Returns:
        The fitted baseline.

    Raises:
        NotApplicable: If there are too many rows for the method, or its library is
            missing.
        InputError: If settings or rows cannot be used.
    """
    check_settings(name, task, settings)
    baseline = find_baseline(name, task)
    training = checked_rows(task, train, "training")
    obstacle = _obstacle(baseline, settings, len(training.y))
    if obstacle is not None:
        logger.info("%s: %s", baseline.title, obstacle)
        raise NotApplicable(obstacle)
    columns = Columns.of(training.X, lenient)
    learnt = Features.learn(training.X, columns.categorical or ())
    judging = checked_rows(task, validation, "validation")
    if not lenient:
        refuse_gaps(training.X, "training")
        refuse_gaps(judging.X, "validation")
    # Strangers among the categories are the models' to refuse.
    learnt.encode(judging.X, Unseen("average", "average" if lenient else "error"))
    grid = baseline.grid if settings.grid is None else settings.grid
    work = _Work(
        baseline=baseline,
        task=task,
        columns=columns,
        settings=settings.settings,
        tuning_settings=settings.tuning_settings,
        # What is set stays as it is, and is not tuned by the registry's grid.
        grid={key: grid[key] for key in grid if key not in settings.settings},
        train=training,
        sample=some(training, settings.tuning_rows, columns, task, seed),
        validation=judging,
        seed=seed,
        n_jobs=n_jobs,
        verbose=verbose,
    )
    # Points share the cores out; matrices this small gain nothing from more threads,
    # and sums keep one order on every machine.
    with warnings.catch_warnings(), threadpool_limits(1, user_api="blas"):
        # Where a user gives an MLP no patience, the end of its epochs is no surprise.
        warnings.filterwarnings("ignore", message="Stochastic Optimizer: Maximum")
        # The machine inside has its weights already; the calibration gets its own.
        warnings.filterwarnings("ignore", message="Since FrozenEstimator does not")
        # Batches of a user's size may be larger than a small table.
        warnings.filterwarnings("ignore", message="Got `batch_size` less than 1")
        fitted = _fit_network(work) if baseline.is_xnn else _fit_estimator(work)
    if work.unweighted:
        remark = "was fitted without weights, which it does not take."
        fitted = replace(fitted, remark=remark)
    logger.info(
        "%s: %s, tuned in %.1f s, fitted in %.1f s, %s parameters, %s",
        baseline.title,
        "1 fit" if fitted.n_fits == 1 else f"{fitted.n_fits} fits",
        fitted.tuning_seconds,
        fitted.fit_seconds,
        f"{fitted.n_parameters:,}",
        fitted.best or "nothing to choose",
    )
    return fitted


def _fit_estimator(work: _Work) -> FittedBaseline:
    """Tunes and fits an estimator of scikit-learn's kind."""
    points = list(ParameterGrid(dict(work.grid)))
    began = time.perf_counter()
    # One point needs no choice: it is judged by its final fit.
    tuned = _tune(work, points) if len(points) > 1 else []
    tuning_seconds = time.perf_counter() - began if tuned else 0.0
    n_fits = len(tuned) + 1
    losses = [row["validation_loss"] for row in tuned]
    best = points[int(np.argmin(losses))] if tuned else points[0]
    began = time.perf_counter()
    model = _fit_final(work, best)
    fit_seconds = time.perf_counter() - began
    if not tuned:
        seen = work.baseline.validation == "join"
        loss = np.nan if seen else _loss(work.task, model, work.validation)
        tuned = [best | {"validation_loss": loss, "seconds": fit_seconds}]
    return FittedBaseline(
        model,
        pd.DataFrame(tuned).sort_values(
            "validation_loss", kind="stable", ignore_index=True
        ),
        best,
        fit_seconds,
        tuning_seconds,
        n_fits,
        n_parameters=work.baseline.size(_inner(model)),
    )


def _fit_network(work: _Work) -> FittedBaseline:
    """Tunes and fits a kind of explainable network, by the smallest loss as others."""
    began = time.perf_counter()
    grid = dict(work.grid)
    roughness = grid.pop("roughness", None)
    search = partial(penalty_search, roughness=roughness) if roughness else grid_search
    found = search(
        work.build(**work.tuning_settings, verbose=work.verbose),
        work.sample.X,
        work.sample.y,
        work.sample.weight,
        work.validation.rows,
        grid=grid,
        # Fewer components within a standard error cost the naive network accuracy.
        standard_errors=0,
        n_jobs=work.n_jobs,
    )
    tuning_seconds = time.perf_counter() - began
    model, n_fits = found.model, len(found.table)
    best = {name: getattr(model, name) for name in work.grid}
    fit_seconds = float(found.table.loc[found.table["chosen"], "seconds"].item())
    same = all(getattr(model, key) == work.settings[key] for key in work.settings)
    if work.sample is not work.train or not same:
        began = time.perf_counter()
        model = _fit_once(work, work.build(**best, verbose=work.verbose), work.train)
        fit_seconds = time.perf_counter() - began
        n_fits += model.n_starts
    return FittedBaseline(
        model,
        found.table,
        best,
        fit_seconds,
        tuning_seconds,
        n_fits,
        n_parameters=work.baseline.size(model),
        n_components=int(np.count_nonzero(model.scales_)),
    )


def _tune(work: _Work, points: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Every point with its validation loss and seconds."""
    # Threads: scikit-learn works without Python's lock. Processes are for networks; a
    # process that had a small model before looks to joblib as if TensorFlow leaked.
    fits = Parallel(n_jobs=work.n_jobs, prefer="threads", return_as="generator")(
        delayed(_judge)(work, point) for point in points
    )
    tuned = []
    with count_fits(len(points), bool(work.verbose)) as done:
        for fit in fits:
            tuned.append(fit)
            done()
    return tuned


def _judge(work: _Work, point: dict[str, Any]) -> dict[str, Any]:
    """Fits one point."""
    began = time.perf_counter()
    model = _fit_once(work, work.build(**work.tuning_settings, **point), work.sample)
    seconds = time.perf_counter() - began
    loss = _loss(work.task, model, work.validation)
    return point | {"validation_loss": loss, "seconds": seconds}


def _fit_final(work: _Work, best: dict[str, Any]) -> Any:
    """Fits the chosen point on all rows that it may have."""
    extra: dict[str, Any] = {}
    train = work.train
    if work.baseline.validation == "join":
        train = joined(work.train, work.validation)
        extra["validation_fraction"] = len(work.validation.y) / len(train.y)
    if work.baseline.parallel:
        extra["n_jobs"] = work.n_jobs
    model = _fit_once(work, work.build(**extra | dict(work.settings) | best), train)
    if work.baseline.parallel:
        # Threads would add their shares of a prediction up in any order, so that its
        # last bits would differ from call to call.
        model.set_params(model__n_jobs=None)
    return model


def _fit_once(work: _Work, model: Any, train: Observations) -> Any:
    """Fits a model as the registry says."""
    use = work.baseline.validation
    weights: dict[str, Any] = {}
    if train.weight is not None and work.baseline.weighted:
        weights["model__sample_weight"] = train.weight
    if use == "stop" and work.baseline.prepared:
        # Scaled and encoded as the training rows say, like these themselves.
        prepare = clone(model[0]).fit(train.X)
        held = prepare.transform(work.validation.X), work.validation.y
        return model.fit(train.X, train.y, model__validation=held, **weights)
    if use == "stop":
        return model.fit(*train, work.validation.rows)
    model.fit(train.X, train.y, **weights)
    if use == "calibrate" and work.task == "classification":
        # The folds are of no effect, as nothing is fitted on them.
        calibrated = CalibratedClassifierCV(FrozenEstimator(model), cv=2)
        return calibrated.fit(*work.validation)
    return model


def _loss(task: Task, model: Any, rows: Observations) -> float:
    if task == "regression":
        return float(
            mean_squared_error(rows.y, model.predict(rows.X), sample_weight=rows.weight)
        )
    return float(
        log_loss(
            rows.y,
            model.predict_proba(rows.X),
            labels=CLASSES,
            sample_weight=rows.weight,
        )
    )


def _inner(model: Any) -> Any:
    """The estimator inside calibration and preparation."""
    if isinstance(model, CalibratedClassifierCV):
        model = model.estimator.estimator
    return model[-1]


def _obstacle(baseline: Baseline, settings: BaselineSettings, rows: int) -> str | None:
    """Why a method is not applicable, or None."""
    missing = baseline.missing()
    if missing is not None:
        return f"not applicable, because {missing}"
    limit = settings.max_rows or baseline.max_rows
    if limit is not None and rows > limit:
        return (
            f"not applicable, because {rows:,} training rows are above its limit of "
            f"{limit:,} (max_rows)."
        )
    return None
