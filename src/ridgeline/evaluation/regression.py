"""Metrics of a regression on test rows: one way for every model."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ridgeline.errors import InputError
from ridgeline.evaluation.metrics import EvaluationSettings

__all__ = ["RegressionEvaluation", "evaluate_regression", "few_rows_warnings"]

Floats = NDArray[np.float64]

# Groups of rows that are resampled: the interval of millions of rows takes as long as
# that of thousands. All metrics are means, for which groups at random serve as rows do.
_GROUPS: Final = 4_000
_BLOCK: Final = 50  # samples drawn at a time
_RANGE: Final = (0.1, 0.9)  # of the observed values in a bin
_SMALL: Final = 500  # test rows


@dataclass(frozen=True, eq=False)
class RegressionEvaluation:
    """What is known about a model's predictions on the test rows."""

    metrics: dict[str, float]
    observed: pd.DataFrame  # predicted, observed, low, high: of bins by prediction
    calibration: pd.DataFrame  # predicted, residual, standard_error, count


def evaluate_regression(
    y: Any,
    predicted: Any,
    settings: EvaluationSettings,
    seed: int,
    weight: Any = None,
) -> RegressionEvaluation:
    """Judges predictions of a number against what happened.

    RMSE, MAE and R2 have percentile intervals of a bootstrap. `calibration_error` is
    the mean gap between observed and predicted means over bins of the prediction.

    Raises:
        InputError: If predictions are missing or none.
    """
    target, scores = _checked(y, predicted)
    weights = np.ones(len(target)) if weight is None else np.asarray(weight, float)
    sums = _sums(target, scores, weights)
    best = _metrics(sums.sum(axis=0)[None])
    drawn = _bootstrap(sums, settings.bootstrap_samples, np.random.default_rng(seed))
    tail = (1 - settings.confidence) / 2
    metrics: dict[str, float] = {}
    for name, value in best.items():
        low, high = np.nanquantile(drawn[name], [tail, 1 - tail])
        own = float(value[0])
        metrics[name] = own
        metrics[f"{name}_low"] = min(float(low), own)
        metrics[f"{name}_high"] = max(float(high), own)
    observed, calibration = _bins(target, scores, weights, settings.calibration_bins)
    gaps = calibration["residual"].abs()
    metrics["calibration_error"] = float(
        np.average(gaps, weights=calibration["weight"])
    )
    metrics["n_test"] = float(len(target))
    return RegressionEvaluation(metrics, observed, calibration.drop(columns="weight"))


def few_rows_warnings(y: Any) -> list[str]:
    """Says so where the test rows are too few for firm conclusions."""
    count = len(y)
    if count >= _SMALL:
        return []
    return [
        f"There are only {count:,} test rows: the intervals of RMSE and R2 are wide, "
        "and models this close cannot be told apart."
    ]


def _checked(y: Any, predicted: Any) -> tuple[Floats, Floats]:
    target, scores = np.asarray(y, np.float64), np.asarray(predicted, np.float64)
    if target.ndim != 1 or target.shape != scores.shape or not len(target):
        message = (
            f"The targets have shape {target.shape} and the predictions "
            f"{scores.shape}; both must be (n,), with at least one row."
        )
        raise InputError(message)
    wrong = ~np.isfinite(scores) | ~np.isfinite(target)
    if wrong.any():
        message = (
            f"{wrong.sum():,} targets or predictions are missing or not finite; look "
            "at the model's inputs and its training."
        )
        raise InputError(message)
    return target, scores


def _sums(target: Floats, scores: Floats, weights: Floats) -> Floats:
    """What the metrics are made of, added up over groups of rows at random."""
    groups = min(len(target), _GROUPS)
    # Rows come in the order of a hash, so that every so-manieth row is a random sample.
    places = np.arange(len(target)) % groups
    errors = target - scores
    # About the mean, or the squares would lose their last digits.
    centred = target - np.average(target, weights=weights)
    parts = (np.ones_like(target), errors**2, np.abs(errors), centred, centred**2)
    return np.stack(
        [np.bincount(places, weights * part, minlength=groups) for part in parts],
        axis=1,
    )


def _metrics(sums: Floats) -> dict[str, Floats]:
    count, squares, sizes, totals, spread = sums.T
    with np.errstate(invalid="ignore", divide="ignore"):
        variation = spread - totals**2 / count
        explained = np.where(variation > 0, 1 - squares / variation, np.nan)
        return {
            "rmse": np.sqrt(squares / count),
            "mae": sizes / count,
            "r2": explained,
        }


def _bootstrap(
    sums: Floats, samples: int, rng: np.random.Generator
) -> dict[str, Floats]:
    """Metrics of samples with replacement."""
    groups = len(sums)
    drawn: list[dict[str, Floats]] = []
    for start in range(0, samples, _BLOCK):
        size = min(_BLOCK, samples - start)
        counts = rng.multinomial(groups, np.full(groups, 1 / groups), size=size)
        drawn.append(_metrics(counts @ sums))
    return {name: np.concatenate([part[name] for part in drawn]) for name in drawn[0]}


def _bins(
    target: Floats, scores: Floats, weights: Floats, number: int
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Observed values and residuals by bins of about equal counts."""
    frame = pd.DataFrame({"y": target, "p": scores, "w": weights})
    # Equal predictions stay together: a bin ends where the prediction changes.
    ranks = frame["p"].rank(method="average")
    groups = ((ranks - 0.5) * number / len(frame)).astype(int).clip(upper=number - 1)
    observed, calibration = [], []
    for _, rows in frame.groupby(groups):
        total = rows["w"].sum()
        if not total:
            continue
        mean, seen = (float(np.average(rows[name], weights=rows["w"])) for name in "py")
        low, high = rows["y"].quantile(_RANGE[0]), rows["y"].quantile(_RANGE[1])
        residuals = rows["y"] - rows["p"]
        error = residuals.std(ddof=0) / np.sqrt(len(rows))
        observed.append((mean, seen, low, high))
        calibration.append((mean, seen - mean, error, len(rows), total))
    return (
        pd.DataFrame(observed, columns=["predicted", "observed", "low", "high"]),
        pd.DataFrame(
            calibration,
            columns=["predicted", "residual", "standard_error", "count", "weight"],
        ),
    )
