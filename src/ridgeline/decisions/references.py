"""The row that others are compared with, by feature, in the unit of the decision."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ridgeline.decisions.policy import REFERENCES, Policy
from ridgeline.errors import InputError
from ridgeline.xnn.profile import Profile
from ridgeline.xnn.scorer import Scorer

__all__ = ["ComparedWith", "profile_of", "reference_of"]

Floats = NDArray[np.float64]


class ComparedWith(NamedTuple):
    """A reference: with the intercept its contributions add up to its decision."""

    contributions: Floats  # by feature, in the order of `features.names`
    typical: Floats  # cells of such rows: numbers, or places of categories, or NaN
    words: str
    decision: float


def profile_of(scorer: Scorer) -> Profile:
    """The profile of a model's training rows.

    Raises:
        InputError: If the model has none.
    """
    if scorer.profile is None:
        message = (
            "The model does not remember its training rows, which reasons and drift "
            "need: it was pruned, or saved by an earlier Ridgeline; fit or refine it "
            "again and save it."
        )
        raise InputError(message)
    return scorer.profile


def reference_of(scorer: Scorer, policy: Policy) -> ComparedWith:
    """What a policy compares declined rows with.

    Raises:
        InputError: If the model has no profile, or no applicant at the cut-off.
    """
    found = profile_of(scorer).references
    kind: str = policy.reference
    side = 1 if policy.better > 0 else 0
    if kind == "approved":
        place = side if scorer.classes is not None else 0
        means, typical = found.groups[place], found.typical.groups[place]
        kind = "approved" if scorer.classes is not None else "average"
    elif kind == "best":
        means, typical = found.extremes[side], found.typical.extremes[side]
    else:
        means, typical = _at_the_cutoff(scorer, policy)
    words = policy.references.get(kind, REFERENCES[kind])
    return ComparedWith(means, typical, words, scorer.intercept + float(means.sum()))


def _at_the_cutoff(scorer: Scorer, policy: Policy) -> tuple[Floats, Floats]:
    """Between the two bins of the score that are next to the cut-off, on a line.

    Contributions are means of rows, so that their line adds up to the line between
    the scores of the bins: at the cut-off, to the cut-off.
    """
    line = policy.line(scorer)
    references = profile_of(scorer).references
    scores = scorer.intercept + references.bins.sum(axis=1)
    if line is None or len(scores) == 1:
        why = "has no cut-off" if line is None else "gives all training rows one score"
        message = f"The model {why}, so that no row is at it; use another reference."
        raise InputError(message)
    # Beyond the bins the line goes on.
    low = int(np.clip(np.searchsorted(scores, line) - 1, 0, len(scores) - 2))
    part = (line - scores[low]) / (scores[low + 1] - scores[low])
    below, above = references.bins[low], references.bins[low + 1]
    nearer = low + int(part > 0.5)  # noqa: PLR2004
    return below + part * (above - below), references.typical.bins[nearer]
