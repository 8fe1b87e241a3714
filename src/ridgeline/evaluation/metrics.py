"""Metrics of a classifier on test rows: one way for every model.

Rows are first gathered into groups of equal scores. All that depends on the order of
the scores follows from the counts of the two classes in these groups.
"""

from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pydantic import Field
from sklearn.metrics import (
    accuracy_score,
    brier_score_loss,
    log_loss,
    roc_auc_score,
    roc_curve,
)

from ridgeline.errors import InputError
from ridgeline.parameters import Parameters

__all__ = ["Evaluation", "EvaluationSettings", "evaluate", "small_sample_warnings"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_ROC_POINTS: Final = 500
# Groups of neighbouring scores that are resampled: the interval of a thousand rows and
# of millions then takes the same time.
_BOOTSTRAP_GROUPS: Final = 4_000
_BLOCK: Final = 50  # samples drawn at a time
_SMALL_CLASS: Final = 500  # rows of a class in the test set
_SMALL_BIN: Final = 100  # rows in a bin of the calibration


class EvaluationSettings(Parameters):
    """How models are judged.

    Attributes:
        threshold: Probability from which on a row counts as the positive class.
        calibration_bins: Bins of the calibration curve, of about equal counts.
        bootstrap_samples: Samples for the intervals, of the AUC or of the errors.
        confidence: Of that interval.
    """

    threshold: float = Field(default=0.5, gt=0, lt=1)
    calibration_bins: int = Field(default=20, ge=2)
    bootstrap_samples: int = Field(default=500, ge=20)
    confidence: float = Field(default=0.95, gt=0, lt=1)


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What is known about a model's probabilities on the test rows."""

    metrics: dict[str, float]
    roc: pd.DataFrame  # false_positive_rate, true_positive_rate
    calibration: pd.DataFrame  # predicted, observed, count


class _Groups(NamedTuple):
    """Rows of equal score, by ascending score; without weights a weight is a count."""

    scores: Floats  # sum of the scores in each group, times their weights
    positives: Floats  # weights of the rows of class 1
    negatives: Floats
    positive_rows: Integers
    negative_rows: Integers

    @property
    def weights(self) -> Floats:
        return self.positives + self.negatives

    @property
    def counts(self) -> Integers:
        return self.positive_rows + self.negative_rows


def evaluate(
    y: Any,
    probability: Any,
    settings: EvaluationSettings,
    seed: int,
    weight: Any = None,
) -> Evaluation:
    """Judges probabilities of class 1 against what happened.

    Args:
        weight: How much each row counts; without it all count alike.

    Raises:
        InputError: If there is one class only, or a probability is missing or none.
    """
    labels, scores = _checked(y, probability)
    weights = None if weight is None else np.asarray(weight, dtype=np.float64)
    by_weight = {"sample_weight": weights}
    groups = _group_equal(labels, scores, weights)
    false_rate, true_rate, _ = roc_curve(
        labels, scores, drop_intermediate=False, **by_weight
    )
    auc = float(roc_auc_score(labels, scores, **by_weight))
    low, high = _auc_interval(groups, auc, settings, np.random.default_rng(seed))
    calibration = _calibration(groups, settings.calibration_bins)
    gaps = (calibration["observed"] - calibration["predicted"]).abs()
    bins = calibration.pop("weight")
    decided = scores >= settings.threshold
    metrics = {
        "auc": auc,
        "auc_low": low,
        "auc_high": high,
        "ks": float((true_rate - false_rate).max()),
        "log_loss": float(log_loss(labels, scores, labels=[0, 1], **by_weight)),
        "brier": float(brier_score_loss(labels, scores, **by_weight)),
        "calibration_error": float(np.average(gaps, weights=bins)),
        "accuracy": float(accuracy_score(labels, decided, **by_weight)),
        "threshold": settings.threshold,
        "n_test": float(len(labels)),
    }
    rates = {"false_positive_rate": false_rate, "true_positive_rate": true_rate}
    return Evaluation(metrics, _thinned(pd.DataFrame(rates)), calibration)


def small_sample_warnings(
    y: Any,
    settings: EvaluationSettings | None = None,
    names: tuple[str, str] = ("of class 0", "of class 1"),
) -> list[str]:
    """Says, a sentence each, where the test rows are too few for firm conclusions.

    Args:
        names: What rows of class 0 and of class 1 are, such as "declined".
        settings: Its bins are looked at; the defaults without it.
    """
    settings = settings or EvaluationSettings()
    labels = np.asarray(y)
    warnings = [
        f"Only {count:,} of {len(labels):,} test rows are {name}: the intervals of AUC "
        "and KS are wide, and models this close cannot be told apart."
        for name, count in (
            (names[1], int((labels == 1).sum())),
            (names[0], int((labels == 0).sum())),
        )
        if count < _SMALL_CLASS
    ]
    in_bin = len(labels) // settings.calibration_bins
    if in_bin < _SMALL_BIN:
        warnings.append(
            f"A bin of the calibration curve has about {in_bin:,} rows: its observed "
            f"rate is uncertain by up to ±{100 / np.sqrt(max(in_bin, 1)):.0f} "
            "percentage points (two standard errors)."
        )
    return warnings


def _checked(y: Any, probability: Any) -> tuple[Integers, Floats]:
    labels, scores = np.asarray(y), np.asarray(probability, dtype=np.float64)
    if labels.ndim != 1 or labels.shape != scores.shape:
        message = (
            f"The classes have shape {labels.shape} and the probabilities "
            f"{scores.shape}; both must be (n,), such as predict_proba(X)[:, 1]."
        )
        raise InputError(message)
    if not np.isin(labels, (0, 1)).all() or len(np.unique(labels)) < 2:  # noqa: PLR2004
        found = ", ".join(map(str, np.unique(labels)[:5])) or "none"
        message = (
            f"The test rows have the classes {found}; both 0 and 1 must occur and "
            "nothing else, so take more rows or another split."
        )
        raise InputError(message)
    wrong = ~((scores >= 0) & (scores <= 1))
    if wrong.any():
        message = (
            f"{wrong.sum():,} probabilities are missing or outside 0 to 1, the first "
            f"is {scores[wrong][0]}; look at the model's inputs and its training."
        )
        raise InputError(message)
    return labels.astype(np.int64), scores


def _group_equal(
    labels: Integers, scores: Floats, weights: Floats | None = None
) -> _Groups:
    values, members = np.unique(scores, return_inverse=True)
    counts = np.bincount(members)
    positives = np.bincount(members, weights=labels).astype(np.int64)
    negatives = counts - positives
    sums = positives.astype(np.float64), negatives.astype(np.float64)
    if weights is not None:
        ones, zeros = weights * (labels == 1), weights * (labels == 0)
        one, other = (np.bincount(members, weights=each) for each in (ones, zeros))
        sums = one.astype(np.float64), other.astype(np.float64)
    return _Groups(values * (sums[0] + sums[1]), *sums, positives, negatives)


def _merged(groups: _Groups, number: int) -> _Groups:
    """Joins neighbouring groups to at most a number of about equal counts.

    Rows of equal score stay together: a group goes where its middle row belongs.
    """
    if len(groups.scores) <= number:
        return groups
    counts = groups.counts
    middle = np.cumsum(counts) - counts / 2
    place = (number * middle / counts.sum()).astype(np.int64).clip(max=number - 1)
    starts = np.flatnonzero(np.diff(place, prepend=-1))
    return _Groups(*(np.add.reduceat(part, starts) for part in groups))


def _thinned(roc: pd.DataFrame) -> pd.DataFrame:
    """Points at even distances along the curve, both ends among them."""
    if len(roc) <= _ROC_POINTS:
        return roc
    way = roc["false_positive_rate"] + roc["true_positive_rate"]
    wanted = np.linspace(0, 2, _ROC_POINTS)
    kept = np.unique(np.searchsorted(way, wanted).clip(max=len(roc) - 1))
    return roc.iloc[kept].reset_index(drop=True)


def _calibration(groups: _Groups, bins: int) -> pd.DataFrame:
    binned = _merged(groups, bins)
    total = np.where(binned.weights > 0, binned.weights, np.nan)
    return pd.DataFrame(
        {
            "predicted": binned.scores / total,
            "observed": binned.positives / total,
            "count": binned.counts,
            "weight": binned.weights,
        }
    )


def _auc_interval(
    groups: _Groups, auc: float, settings: EvaluationSettings, rng: np.random.Generator
) -> tuple[float, float]:
    """Percentile bootstrap of the AUC.

    To draw n rows with replacement is to draw how many of them fall into each group and
    class, a multinomial. Joined groups count as ties, which moves the AUC by
    less than one part in the number of groups; the interval is moved back by that.
    """
    merged = _merged(groups, _BOOTSTRAP_GROUPS)
    cells = np.concatenate([merged.positive_rows, merged.negative_rows])
    weights = np.concatenate([merged.positives, merged.negatives])
    # A row that is drawn counts as the mean of its cell; without weights that is 1.
    mean = np.divide(weights, cells, out=np.ones(len(cells)), where=cells > 0)
    total = cells.sum()
    drawn: list[Floats] = []
    for start in range(0, settings.bootstrap_samples, _BLOCK):
        size = min(_BLOCK, settings.bootstrap_samples - start)
        sample = rng.multinomial(total, cells / total, size=size)
        drawn.append(_auc(*np.split(sample * mean, 2, axis=1)))
    aucs = np.concatenate(drawn) + auc - _auc(merged.positives, merged.negatives)
    tail = (1 - settings.confidence) / 2
    # Few rows may give a sample of one class, which has no AUC.
    low, high = np.nanquantile(aucs, [tail, 1 - tail])
    return float(np.clip(low, 0, auc)), float(np.clip(high, auc, 1))


def _auc(positives: Floats, negatives: Floats) -> Floats:
    """AUC of counts by ascending score, along the last axis; ties count a half."""
    below = np.cumsum(negatives, axis=-1) - negatives / 2
    pairs = positives.sum(axis=-1) * negatives.sum(axis=-1)
    wins = (positives * below).sum(axis=-1)
    return np.asarray(
        np.divide(wins, pairs, out=np.full_like(pairs, np.nan), where=pairs > 0)
    )
