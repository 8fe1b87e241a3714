"""The decision about one row, feature by feature."""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ridgeline.decisions.cells import clean_row
from ridgeline.decisions.points import point_factor, points_of
from ridgeline.decisions.policy import Policy, check_policy
from ridgeline.decisions.reasons import declined_rows, find_reasons
from ridgeline.decisions.references import reference_of
from ridgeline.decisions.sentences import Speaker
from ridgeline.xnn.scorer import Scorer, without_range_warnings

__all__ = ["ExplainedRow", "explain_row"]


class ExplainedRow(NamedTuple):
    """What a model says of a row, and why."""

    decision: float  # log-odds, or the response
    probability: float | None
    points: float | None
    decided: str | None
    compared_with: str | None  # what differences are to, in words
    table: pd.DataFrame  # feature, value, contribution and difference
    sentences: list[str]  # reasons, if the row is declined
    beyond: int  # cells beyond the range of training

    @property
    def summary(self) -> str:
        """The decision in one line."""
        parts = [] if self.decided is None else [self.decided]
        if self.probability is None:
            parts.append(f"value {self.decision:.6g}")
        else:
            parts.append(f"probability {self.probability:.4f}")
            parts.append(f"log-odds {self.decision:+.4f}")
        if self.points is not None:
            parts.append(f"{self.points:.0f} points")
        if self.beyond:
            parts.append(f"{self.beyond} cells beyond the range of training")
        if self.compared_with is not None:
            parts.append(f"differences are to {self.compared_with}")
        return ", ".join(parts)

    def as_dict(self) -> dict[str, Any]:
        """All of it in the types of JSON."""
        plain = self.table.astype(object).where(self.table.notna(), None)
        return self._asdict() | {"table": plain.to_dict("records")}


def explain_row(scorer: Scorer, row: pd.DataFrame, policy: Policy) -> ExplainedRow:
    """Takes the decision about a row apart.

    Args:
        scorer: The model. Without a profile there are no differences and no reasons.
        row: A frame of one row.
        policy: What is declined, and in which words.

    Raises:
        InputError: If the row cannot be scored.
    """
    check_policy(policy, scorer)
    cleaned = clean_row(scorer, row, policy)
    frame = cleaned.frame
    with without_range_warnings():
        decision = scorer.decision_function(frame, policy.unseen)
        parts = scorer.feature_contributions(frame, policy.unseen)[0]
    declined = declined_rows(scorer, policy, decision)
    table = pd.DataFrame(
        {
            "feature": scorer.features.names,
            "value": [
                _shown(frame[name].iloc[0], name, scorer, policy)
                for name in scorer.features.names
            ],
            "contribution": parts,
        }
    )
    words, sentences = None, []
    decides = policy.line(scorer) is not None
    if scorer.profile is not None and (decides or policy.reference != "cutoff"):
        reference = reference_of(scorer, policy)
        words = reference.words
        table["difference"] = parts - reference.contributions
        if declined[0]:
            found = find_reasons(scorer, frame, policy, reference)
            speaker = Speaker(scorer, policy, reference)
            said = speaker.sentences(frame, np.zeros(1, dtype=np.intp), found)[0]
            sentences = [text for text in said if text is not None]
    if policy.points is not None:
        table["points"] = point_factor(policy) * parts
    by_size = np.argsort(-np.abs(parts), kind="stable")
    log_odds = float(decision[0])
    probability = 0.5 + 0.5 * float(np.tanh(0.5 * log_odds))
    return ExplainedRow(
        decision=log_odds,
        probability=None if scorer.classes is None else probability,
        points=None if policy.points is None else float(points_of(policy, decision)[0]),
        decided=policy.decision("declined" if declined[0] else "approved")
        if decides
        else None,
        compared_with=words,
        table=table.iloc[by_size].reset_index(drop=True),
        sentences=sentences,
        beyond=int(cleaned.beyond[0]),
    )


def _shown(value: Any, name: str, scorer: Scorer, policy: Policy) -> str:
    if value is None or value != value:  # noqa: PLR0124  # NaN does not equal itself
        return "missing"
    number = name in scorer.features.numbers
    return policy.written(name, float(value)) if number else str(value)
