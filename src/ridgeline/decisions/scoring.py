"""A table scored: probabilities, decisions, reasons, and the rows that cannot be.

Rows in are rows scored plus rows refused. Tables of any size go through in chunks, each
by itself.
"""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ridgeline.decisions.cells import clean
from ridgeline.decisions.points import points_of
from ridgeline.decisions.policy import Policy, check_policy
from ridgeline.decisions.reasons import declined_rows, find_reasons, good_rows
from ridgeline.decisions.references import reference_of
from ridgeline.decisions.sentences import Speaker
from ridgeline.xnn.scorer import (
    HasScorer,
    Scorer,
    scorer_of,
    without_range_warnings,
)

__all__ = ["Decider", "Scored", "score_table"]

Floats = NDArray[np.float64]


class Scored(NamedTuple):
    """What became of the rows of a table."""

    scores: pd.DataFrame  # a row for each row that could be scored
    refused: pd.DataFrame  # row, column and reason of each row that could not


class Decider:
    """A model with a policy, ready for one chunk of rows after the other.

    Args:
        scorer: The model.
        policy: What is declined, and in which words.

    Raises:
        InputError: If the policy does not fit the model, or reasons are asked of a
            model without a profile.
    """

    def __init__(self, scorer: Scorer, policy: Policy | None = None) -> None:
        self.scorer = scorer
        self.policy = policy = policy or Policy()
        check_policy(policy, scorer)
        self._speaker = None
        if policy.line(scorer) is not None and policy.most_reasons:
            self._reference = reference_of(scorer, policy)
            self._speaker = Speaker(scorer, policy, self._reference)

    def score(self, frame: pd.DataFrame, first: int = 1) -> Scored:
        """Scores a chunk of rows.

        Args:
            frame: Rows with at least the columns of the model; or raw ones, where the
                model carries their preparation.
            first: The number of the first of them.

        Raises:
            InputError: If columns are missing; never because of a row.
        """
        cleaned = clean(self.scorer, frame, self.policy)
        numbers = np.arange(first, first + len(frame))
        rows = good_rows(cleaned)
        refused = {
            "row": numbers[~cleaned.good],
            "column": pd.Series(cleaned.columns, dtype=object),
            "reason": pd.Series(cleaned.reasons, dtype=object),
        }
        columns = {"row": numbers[cleaned.good]} | self._columns(rows)
        columns["cells_beyond_range"] = cleaned.beyond[cleaned.good]
        return Scored(pd.DataFrame(columns), pd.DataFrame(refused))

    def _columns(self, rows: pd.DataFrame) -> dict[str, Any]:
        scorer, policy = self.scorer, self.policy
        decision = np.zeros(0)
        if len(rows):
            with without_range_warnings():
                decision = scorer.decision_function(rows, policy.unseen)
        declined = declined_rows(scorer, policy, decision)
        words = {kind: policy.decision(kind) for kind in ("approved", "declined")}
        decided: Any = np.where(declined, words["declined"], words["approved"])
        if policy.line(scorer) is None:
            decided = np.full(len(decision), None)
        columns: dict[str, Any] = {}
        if scorer.classes is None:
            columns |= {"value": decision, "decision": decided}
        else:
            # The hyperbolic tangent does not overflow, whatever the log-odds are.
            probability = 0.5 + 0.5 * np.tanh(0.5 * decision)
            columns |= {"probability": probability, "decision": decided}
            columns["log_odds"] = decision
            if policy.points is not None:
                columns["points"] = points_of(policy, decision)
        return columns | self._reasons(rows, np.flatnonzero(declined))

    def _reasons(self, rows: pd.DataFrame, at: NDArray[np.intp]) -> dict[str, Any]:
        """Sentences and features, empty for rows that are not declined."""
        shape = len(rows), self.policy.most_reasons
        texts = np.full(shape, None, dtype=object)
        features = texts.copy()
        if self._speaker is not None and len(at):
            some = rows if len(at) == len(rows) else rows.iloc[at]
            found = find_reasons(self.scorer, some, self.policy, self._reference)
            texts[at] = self._speaker.sentences(rows, at, found)
            names = np.array([*self.scorer.features.names, None], dtype=object)
            features[at] = names[found.features]  # the last for none
        columns: dict[str, Any] = {}
        for rank in range(shape[1]):
            columns[f"reason_{rank + 1}"] = texts[:, rank]
            columns[f"reason_{rank + 1}_feature"] = features[:, rank]
        return columns


def score_table(
    model: Scorer | HasScorer, X: pd.DataFrame, policy: Policy | None = None
) -> Scored:
    """Score a table: decisions with reasons, and the rows that cannot be scored.

    Parameters
    ----------
    model : Scorer, XNNClassifier or XNNRegressor
        A fitted model that remembers its training rows.
    X : data frame of shape (n_samples, n_features)
        Rows with at least the columns of the fit.
    policy : Policy or None, default=None
        What is declined, and in which words. None is `Policy()`.

    Returns
    -------
    Scored
        Two frames, `scores` and `refused`. Each row of X is in one of them, by its
        number from 1 on.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from ridgeline import XNNClassifier, score_table
    >>> X = pd.DataFrame({"income": np.linspace(10, 90, 400)})
    >>> model = XNNClassifier(max_epochs=30, random_state=0).fit(X, X["income"] > 50)
    >>> len(score_table(model, X).scores)
    400
    """
    return Decider(scorer_of(model), policy).score(X)
