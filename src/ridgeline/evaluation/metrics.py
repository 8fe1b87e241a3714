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
        threshold: Probability from which on an application counts as approved.
        calibration_bins: Bins of the calibration curve, of about equal counts.
        bootstrap_samples: Samples for the interval of the AUC.
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
    """Rows of equal score, by ascending score."""

    scores: Floats  # sum of the scores in each group
    positives: Integers
    negatives: Integers

    @property
    def counts(self) -> Integers:
        return self.positives + self.negatives


def evaluate(
    y: Any, probability: Any, settings: EvaluationSettings, seed: int
) -> Evaluation:
    """Judges probabilities of class 1 against what happened.

    Raises:
        InputError: If there is one class only, or a probability is missing or none.
    """
    labels, scores = _checked(y, probability)
    groups = _group_equal(labels, scores)
    false_rate, true_rate, _ = roc_curve(labels, scores, drop_intermediate=False)
    auc = float(roc_auc_score(labels, scores))
    low, high = _auc_interval(groups, auc, settings, np.random.default_rng(seed))
    calibration = _calibration(groups, settings.calibration_bins)
    gaps = (calibration["observed"] - calibration["predicted"]).abs()
    metrics = {
        "auc": auc,
        "auc_low": low,
        "auc_high": high,
        "ks": float((true_rate - false_rate).max()),
        "log_loss": float(log_loss(labels, scores, labels=[0, 1])),
        "brier": float(brier_score_loss(labels, scores)),
        "calibration_error": float(np.average(gaps, weights=calibration["count"])),
        "accuracy": float(accuracy_score(labels, scores >= settings.threshold)),
        "threshold": settings.threshold,
        "n_test": float(len(labels)),
    }
    rates = {"false_positive_rate": false_rate, "true_positive_rate": true_rate}
    return Evaluation(metrics, _thinned(pd.DataFrame(rates)), calibration)


def small_sample_warnings(
    y: Any, settings: EvaluationSettings | None = None
) -> list[str]:
    """Says, a sentence each, where the test rows are too few for firm conclusions.

    Args:
        settings: Its bins are looked at; the defaults without it.
    """
    settings = settings or EvaluationSettings()
    labels = np.asarray(y)
    warnings = [
        f"Only {count:,} of {len(labels):,} test rows are {name}: the intervals of AUC "
        "and KS are wide, and models this close cannot be told apart."
        for name, count in (
            ("approved", int((labels == 1).sum())),
            ("declined", int((labels == 0).sum())),
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


def _group_equal(labels: Integers, scores: Floats) -> _Groups:
    values, members = np.unique(scores, return_inverse=True)
    counts = np.bincount(members)
    positives = np.bincount(members, weights=labels).astype(np.int64)
    return _Groups(values * counts, positives, counts - positives)


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
    return pd.DataFrame(
        {
            "predicted": binned.scores / binned.counts,
            "observed": binned.positives / binned.counts,
            "count": binned.counts,
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
    cells = np.concatenate([merged.positives, merged.negatives])
    total = cells.sum()
    drawn: list[Floats] = []
    for start in range(0, settings.bootstrap_samples, _BLOCK):
        size = min(_BLOCK, settings.bootstrap_samples - start)
        sample = rng.multinomial(total, cells / total, size=size)
        drawn.append(_auc(*np.split(sample, 2, axis=1)))
    aucs = np.concatenate(drawn) + auc - _auc(merged.positives, merged.negatives)
    tail = (1 - settings.confidence) / 2
    # Few rows may give a sample of one class, which has no AUC.
    low, high = np.nanquantile(aucs, [tail, 1 - tail])
    return float(np.clip(low, 0, auc)), float(np.clip(high, auc, 1))


def _auc(positives: Integers, negatives: Integers) -> Floats:
    """AUC of counts by ascending score, along the last axis; ties count a half."""
    below = np.cumsum(negatives, axis=-1) - negatives / 2
    pairs = positives.sum(axis=-1) * negatives.sum(axis=-1).astype(np.float64)
    wins = (positives * below).sum(axis=-1)
    return np.asarray(
        np.divide(wins, pairs, out=np.full_like(pairs, np.nan), where=pairs > 0)
    )
