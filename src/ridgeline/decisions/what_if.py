"""What if: the smallest change in one feature alone that flips a decision.

The curve of the decision over a feature, all others as they are, is scanned on a fine
grid over the range of the training rows, and the nearest crossing is found by halving.
Categories are tried one by one.
"""

from typing import Any, Final, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ridgeline.decisions.cells import clean_row
from ridgeline.decisions.policy import Policy, check_policy
from ridgeline.decisions.reasons import declined_rows
from ridgeline.errors import InputError
from ridgeline.xnn.scorer import HasScorer, Scorer, scorer_of, without_range_warnings

__all__ = ["what_if"]

Floats = NDArray[np.float64]
_GRID: Final = 2_001
_HALVINGS: Final = 60
FLIPS: Final = "flips"
CANNOT: Final = "cannot flip"
FIXED: Final = "not adjustable"


class _Row(NamedTuple):
    """A row with the decision about it."""

    scorer: Scorer
    policy: Policy
    frame: pd.DataFrame  # of one row
    declined: bool

    def flipped(self, name: str, values: Any) -> tuple[NDArray[np.bool_], Floats]:
        """Whether each value of a feature flips the decision, and the decisions."""
        rows = self.frame.loc[self.frame.index.repeat(len(values))]
        rows = rows.reset_index(drop=True).assign(**{name: values})
        with without_range_warnings():
            decision = self.scorer.decision_function(rows, self.policy.unseen)
        declined = declined_rows(self.scorer, self.policy, decision)
        return declined != self.declined, decision


def what_if(
    model: Scorer | HasScorer, X: pd.DataFrame, policy: Policy | None = None
) -> pd.DataFrame:
    """Find the smallest change in each feature alone that flips the decision.

    Parameters
    ----------
    model : Scorer, XNNClassifier or XNNRegressor
        A fitted model.
    X : data frame of one row
        The row, with the columns of the fit.
    policy : Policy or None, default=None
        What is declined, and which columns are not adjustable. None is `Policy()`.

    Returns
    -------
    DataFrame
        A row for each feature: feature, outcome ("flips", "cannot flip" or "not
        adjustable"), now, needed, decision (with the change) and sentence.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from ridgeline import XNNClassifier, what_if
    >>> X = pd.DataFrame({"income": np.linspace(10, 90, 400)})
    >>> model = XNNClassifier(max_epochs=30, random_state=0).fit(X, X["income"] > 50)
    >>> what_if(model, X.head(1))["outcome"][0]
    'flips'
    """
    scorer, policy = scorer_of(model), policy or Policy()
    check_policy(policy, scorer)
    row = _row(scorer, X, policy)
    found = [_of_feature(row, name) for name in scorer.features.names]
    return pd.DataFrame(found)


def _row(scorer: Scorer, X: pd.DataFrame, policy: Policy) -> _Row:
    if len(X) != 1:
        message = f"what_if has {len(X)} rows; pass a frame of one row."
        raise InputError(message)
    if policy.line(scorer) is None:
        message = "A regressor decides nothing without a cut-off; give the policy one."
        raise InputError(message)
    frame = clean_row(scorer, X, policy).frame
    with without_range_warnings():
        decision = scorer.decision_function(frame, policy.unseen)
    declined = bool(declined_rows(scorer, policy, decision)[0])
    return _Row(scorer, policy, frame, declined)


def _of_feature(row: _Row, name: str) -> dict[str, Any]:
    policy, label = row.policy, row.policy.label(name)
    now = row.frame[name].iloc[0]
    empty = {"feature": name, "now": now, "needed": None, "decision": np.nan}
    if name in policy.not_adjustable:
        return empty | {"outcome": FIXED, "sentence": f"{label} is not adjustable"}
    number = name in row.scorer.features.numbers
    needed, decision = (_number if number else _category)(row, name, now)
    if needed is None:
        sentence = f"no change of {label} alone changes the decision"
        return empty | {"outcome": CANNOT, "sentence": sentence}
    after = policy.decision("approved" if row.declined else "declined")
    words = policy.written(name, needed) if number else f"'{needed}'"
    was = _written(row, name, now)
    sentence = f"{label} of {words} instead of {was} would be {after}"
    found = {"needed": needed, "decision": decision, "outcome": FLIPS}
    return empty | found | {"sentence": sentence}


def _written(row: _Row, name: str, value: Any) -> str:
    if value is None or value != value:  # noqa: PLR0124  # NaN does not equal itself
        return "no value"
    number = name in row.scorer.features.numbers
    return row.policy.written(name, float(value)) if number else f"'{value}'"


def _number(row: _Row, name: str, now: Any) -> tuple[Any, float]:
    """The nearest number that flips the decision, to about the last digit."""
    column = row.scorer.features.numbers[name]
    start = float(now)
    from_ = start
    if np.isnan(start) or start in column.codes:
        # No quantity is near a gap: the middle of the training rows is.
        from_ = float(column.scale.inverse(np.array([column.neutral]))[0])
    values = _values(row, name, from_)
    flips, decision = row.flipped(name, values)
    if not flips.any():
        return None, np.nan
    distance = np.where(flips, np.abs(values - from_), np.inf)
    best = int(distance.argmin())
    if column.levels:
        return values[best], float(decision[best])
    side = -1 if values[best] > from_ else 1
    beside = min(max(best + side, 0), len(values) - 1)
    if flips[beside]:
        return values[best], float(decision[best])
    return _halved(row, name, values[best], values[beside])


def _values(row: _Row, name: str, start: float) -> Floats:
    """Numbers to try: the levels, or a grid with the knots and the point masses."""
    column = row.scorer.features.numbers[name]
    if column.levels:
        return np.array(column.levels)
    low, high = column.seen
    values = np.concatenate(
        [np.linspace(low, high, _GRID), column.scale.knots, column.masses, [start]]
    )
    values = values[~np.isin(values, column.codes)]
    return np.unique(values)


def _halved(row: _Row, name: str, good: float, bad: float) -> tuple[float, float]:
    """The end of the numbers that flip, between one that does and one that does not."""
    (decision,) = row.flipped(name, np.array([good]))[1]
    for _ in range(_HALVINGS):
        middle = good / 2 + bad / 2
        if middle in (good, bad):
            break
        flips, found = row.flipped(name, np.array([middle]))
        if flips[0]:
            good, decision = middle, found[0]
        else:
            bad = middle
    return good, float(decision)


def _category(row: _Row, name: str, now: Any) -> tuple[Any, float]:
    """The category that flips the decision with the smallest change of it."""
    known = row.scorer.features.categories[name]
    others = [one for one in known if one is not None and one != now]
    if not others:
        return None, np.nan
    flips, decision = row.flipped(name, np.array(others, dtype=object))
    if not flips.any():
        return None, np.nan
    line = row.policy.line(row.scorer) or 0.0
    distance = np.where(flips, np.abs(decision - line), np.inf)
    best = int(distance.argmin())
    return others[best], float(decision[best])
