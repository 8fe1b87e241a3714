"""Reasons: for each declined row the features that count against it, in words.

    difference of a feature = its contribution to the row - to the reference

Contributions by feature are those of `Scorer.feature_contributions`, in the unit of the
decision, so that all differences of a row add up to its decision minus the
reference's. Only features that count against the row are reasons, the largest first.
"""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ridgeline.decisions.cells import Cleaned, clean
from ridgeline.decisions.policy import Policy, check_policy
from ridgeline.decisions.references import ComparedWith, reference_of
from ridgeline.decisions.sentences import Speaker
from ridgeline.errors import InputError
from ridgeline.xnn.scorer import HasScorer, Scorer, scorer_of, without_range_warnings

__all__ = ["Reasons", "declined_rows", "differences", "find_reasons", "reasons"]

Floats = NDArray[np.float64]
_NONE = -1


class Reasons(NamedTuple):
    """Reasons of rows, the strongest first."""

    features: NDArray[np.intp]  # places among the names, -1 where there is no more
    differences: Floats  # in the unit of the decision, 0 where there is no more


def reasons(
    model: Scorer | HasScorer, X: Any, policy: Policy | None = None
) -> pd.DataFrame:
    """Give the reasons of every declined row, in words.

    Parameters
    ----------
    model : Scorer, XNNClassifier or XNNRegressor
        A fitted model that remembers its training rows.
    X : data frame of shape (n_samples, n_features)
        Rows with the columns of the fit.
    policy : Policy or None, default=None
        What is declined, and what it is compared with. None is `Policy()`.

    Returns
    -------
    DataFrame
        A row for each reason: row (its label in X), rank, feature, difference (in
        log-odds, or in the unit of the response) and sentence.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from ridgeline import XNNClassifier, reasons
    >>> X = pd.DataFrame({"income": np.linspace(10, 90, 400)})
    >>> model = XNNClassifier(max_epochs=30, random_state=0).fit(X, X["income"] > 50)
    >>> reasons(model, X.head(1))["sentence"][0]
    'income of 10 is below what is typical of approved applications'
    """
    scorer, policy = scorer_of(model), policy or Policy()
    check_policy(policy, scorer)
    cleaned = clean(scorer, X, policy)
    if not cleaned.good.all():
        message = (
            f"{np.count_nonzero(~cleaned.good)} rows cannot be scored: in the first, "
            f"{cleaned.columns[0]!r} {cleaned.reasons[0]}; leave them out."
        )
        raise InputError(message)
    with without_range_warnings():
        decision = scorer.decision_function(cleaned.frame, policy.unseen)
    rows = np.flatnonzero(declined_rows(scorer, policy, decision))
    reference = reference_of(scorer, policy)
    found = find_reasons(scorer, cleaned.frame.iloc[rows], policy, reference)
    texts = Speaker(scorer, policy, reference).sentences(cleaned.frame, rows, found)
    there = found.features != _NONE
    at, rank = np.nonzero(there)
    names = np.array(scorer.features.names, dtype=object)
    return pd.DataFrame(
        {
            "row": X.index[rows[at]],
            "rank": rank + 1,
            "feature": names[found.features[there]],
            "difference": found.differences[there],
            "sentence": texts[there],
        }
    )


def declined_rows(
    scorer: Scorer, policy: Policy, decision: Floats
) -> NDArray[np.bool_]:
    """Which rows are declined; those at the cut-off are not."""
    line = policy.line(scorer)
    if line is None:
        return np.zeros(len(decision), dtype=np.bool_)
    return np.asarray(policy.better * (decision - line) < 0)


def differences(
    scorer: Scorer, frame: Any, policy: Policy, reference: ComparedWith
) -> Floats:
    """What each feature of each row has over the reference, (rows, features)."""
    if not len(frame):
        return np.zeros((0, len(scorer.features.names)))
    with without_range_warnings():
        parts = scorer.feature_contributions(frame, policy.unseen)
    return np.asarray(parts - reference.contributions)


def find_reasons(
    scorer: Scorer, frame: Any, policy: Policy, reference: ComparedWith
) -> Reasons:
    """The features that count most against each of these rows."""
    left = policy.better * differences(scorer, frame, policy, reference)
    count = min(policy.most_reasons, left.shape[1])
    features = np.full((len(left), policy.most_reasons), _NONE)
    sizes = np.zeros(features.shape)
    rows = np.arange(len(left))
    # One after the other: few are wanted, and sorting all features takes longer.
    for rank in range(count):
        at = left.argmin(axis=1)
        size = left[rows, at]
        against = size < 0
        features[against, rank] = at[against]
        sizes[against, rank] = policy.better * size[against]
        left[rows, at] = np.inf
    return Reasons(features, sizes)


def good_rows(cleaned: Cleaned) -> pd.DataFrame:
    """The rows that can be scored."""
    return cleaned.frame if cleaned.good.all() else cleaned.frame[cleaned.good]
