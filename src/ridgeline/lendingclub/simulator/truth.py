"""The true log-odds of approval in the simulated files, and its parts.

The simulator draws the class first and then independent features, so Bayes' rule gives
the log-odds of a clean row without any model: a sum of one term for each feature,

    log [accepted_rows share_1(month) / (rejected_rows share_0(month) scored(month))]
        + sum over features of log [p_1(value | month) / p_0(value | scored)].

It holds on the grid of the modelling table: months, five-point bands of the score,
hundredths of debt-to-income, multiples of 25 dollars. Complete rows need no factor of
their own, because an empty cell is a value of the distributions: what is missing more
often in one class weighs less among the values that are present.
"""

from functools import cache
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ridgeline.errors import InputError
from ridgeline.lendingclub.schema import (
    NUMERIC,
    PURPOSE_COLUMNS,
    PURPOSES,
    TITLE_PURPOSES,
)
from ridgeline.lendingclub.simulator import distributions, profile
from ridgeline.lendingclub.simulator.distributions import BANDS, SCORED_GROUP, WINDOW

__all__ = ["COMPONENTS", "component_curve", "log_odds_components"]

COMPONENTS: Final = (*NUMERIC, "purpose")
# What the cleaning keeps: the largest amount, hundredths of DTI, and employment code.
_LARGEST: Final = {"amount": 40_000, "dti": 20_000, "employment": 11}
_WINDOW_MONTHS: Final = np.arange(WINDOW.start, WINDOW.stop)
_MONTH_TOLERANCE: Final = 0.01

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def log_odds_components(
    frame: pd.DataFrame, accepted_rows: int, rejected_rows: int
) -> pd.DataFrame:
    """Parts of the true log-odds, one for each feature; they add up to it.

    There is no intercept: how many applications of each class a month has belongs to
    `application_date`. The score's term uses the distribution of the row's year.

    Args:
        frame: Clean table with `application_date` (decimal year on the grid of months),
            `amount`, `risk_score` (any value in the five-point band), `dti`,
            `employment_length` (0 to 9, 11 for ten and more) and the one-hot columns
            of the purpose.
        accepted_rows: Rows simulated for the accepted file.
        rejected_rows: Rows simulated for the rejected file.

    Returns:
        Columns `COMPONENTS`, with the index of the frame.

    Raises:
        InputError: If a value cannot come from the simulator and pass the cleaning.
    """
    month = _months(frame["application_date"])
    band = (frame["risk_score"] // 5 * 5).clip(upper=BANDS[-1])
    purpose = frame[list(PURPOSE_COLUMNS.values())].to_numpy(dtype=np.float64)
    if not (purpose.sum(axis=1) == 1).all():
        message = "A row has no purpose or several; each row must have exactly one."
        raise InputError(message)
    parts = {
        "application_date": _month_term(accepted_rows, rejected_rows)[month],
        "amount": _look_up(frame["amount"], _term("amount")),
        "risk_score": _score_term()[month, _positions(band, BANDS)],
        "dti": _look_up((100 * frame["dti"]).round().rename("100 * dti"), _term("dti")),
        "employment_length": _look_up(frame["employment_length"], _term("employment")),
        "purpose": purpose @ _purpose_term(),
    }
    return pd.DataFrame(parts, index=frame.index)


def component_curve(name: str, accepted_rows: int, rejected_rows: int) -> pd.DataFrame:
    """One part of the true log-odds as a function of its feature, for drawing.

    Args:
        name: One of `COMPONENTS`.
        accepted_rows: Rows simulated for the accepted file.
        rejected_rows: Rows simulated for the rejected file.

    Returns:
        Columns `value`, every value that passes the cleaning (for the purpose its
        name, for the score the lower end of the band), and `log_odds`. The score's
        part changes with the year; it is averaged over the clean applications' months.

    Raises:
        InputError: If there is no such component.
    """
    values: Integers | Floats | list[str]
    if name == "application_date":
        values = profile.FIRST_YEAR + _WINDOW_MONTHS / 12
        log_odds = _month_term(accepted_rows, rejected_rows)
    elif name == "risk_score":
        accepted, rejected = _month_counts(accepted_rows, rejected_rows)
        values = BANDS
        log_odds = np.average(_score_term(), axis=0, weights=accepted + rejected)
    elif name == "purpose":
        values, log_odds = list(PURPOSES), _purpose_term()
    elif name in COMPONENTS:
        support, log_odds = _term(name.removesuffix("_length"))
        values = support / 100 if name == "dti" else support
    else:
        message = f"The component is {name!r}; it must be one of {COMPONENTS}."
        raise InputError(message)
    return pd.DataFrame({"value": values, "log_odds": log_odds})


def _month_counts(accepted_rows: int, rejected_rows: int) -> tuple[Floats, Floats]:
    """Expected accepted and scored declined applications, by month of the window."""
    if accepted_rows <= 0 or rejected_rows <= 0:
        message = (
            f"There are {accepted_rows} accepted and {rejected_rows} rejected rows; "
            "the log-odds needs at least one of each."
        )
        raise InputError(message)
    dated = 1 - profile.MISSING_ISSUE_DATE / 100
    accepted = accepted_rows * dated * distributions.month_shares("accepted")
    rejected = rejected_rows * distributions.month_shares("rejected")
    return accepted[WINDOW], (rejected * distributions.scored_shares())[WINDOW]


def _month_term(accepted_rows: int, rejected_rows: int) -> Floats:
    """Log-ratio of the classes' expected counts by month of the window."""
    accepted, rejected = _month_counts(accepted_rows, rejected_rows)
    return np.log(accepted / rejected)


@cache
def _score_term() -> Floats:
    """Log-ratio of the classes' chances, shape (months of the window, bands)."""
    accepted = distributions.accepted_tables()["score"].probability
    by_year = np.log(accepted / distributions.rejected_bands())
    return np.asarray(by_year[_WINDOW_MONTHS // 12])


@cache
def _purpose_term() -> Floats:
    """Log-ratio of the classes' chances by purpose, in the order of PURPOSES."""
    titles = [display.lower() for _, display, *_ in profile.CATEGORIES]
    groups = np.array([PURPOSES.index(TITLE_PURPOSES[title]) for title in titles])
    accepted = distributions.accepted_tables()["category"].probability[0]
    rejected = distributions.rejected_tables()["category"].probability[SCORED_GROUP]
    sums = [
        [shares[:-1][groups == group].sum() for group in range(len(PURPOSES))]
        for shares in (accepted, rejected)
    ]
    return np.log(sums[0]) - np.log(sums[1])


@cache
def _term(name: str) -> tuple[Integers, Floats]:
    """Clean values of a feature and the log-ratio of the classes' chances for them."""
    accepted = distributions.accepted_tables()[name]
    rejected = distributions.rejected_tables()[name]
    chances = accepted.probability[0], rejected.probability[SCORED_GROUP]
    support = accepted.support
    clean = (support >= 0) & (support <= _LARGEST[name])
    # An amount below 1,000 is in the support for the years before the window only.
    clean &= (chances[0] > 0) & (chances[1] > 0)
    return support[clean], np.log(chances[0][clean] / chances[1][clean])


def _months(dates: "pd.Series[float]") -> Integers:
    """Positions in the window of decimal years."""
    exact = 12 * (dates - profile.FIRST_YEAR)
    # A twelfth has no exact decimal; a hundredth of a month is far from the next one.
    months = exact.round().where((exact - exact.round()).abs() < _MONTH_TOLERANCE)
    return _positions(months.rename("month since 2007-01"), _WINDOW_MONTHS)


def _look_up(values: "pd.Series[float]", term: tuple[Integers, Floats]) -> Floats:
    """Reads a term off for each value."""
    support, log_ratio = term
    return log_ratio[_positions(values, support)]


def _positions(values: "pd.Series[float]", support: Integers) -> Integers:
    """Positions of values in a sorted support; refuses values that are not in it."""
    array = values.to_numpy(dtype=np.float64)
    positions = np.searchsorted(support, array).clip(max=len(support) - 1)
    strangers = array[support[positions] != array]
    if strangers.size:
        message = (
            f"The column {values.name!r} has the value {strangers[0]:g}; "
            f"it must be one of {len(support)} from {support[0]} to {support[-1]}."
        )
        raise InputError(message)
    return positions
