"""The probabilities behind the simulated files, built once from `profile`.

One place for both users: `simulator` draws from these tables and `truth` reads the
log-odds off them, so that the two cannot drift apart. Everything is discrete: amounts
are multiples of 25 dollars, scores integers or bands, debt-to-income a number of
hundredths. An empty cell is a value like any other, hence a table's probabilities of
the values that are present add up to the chance that the cell is filled.

Features are independent of each other given the class and the group. Accepted loans
are grouped by year (the score only); declined applications by the form's era when they
carry no score, and by the kind of score when they do.
"""

from dataclasses import dataclass
from functools import cache, cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ridgeline.lendingclub.schema import EMPLOYMENT_LEVELS, RawFile
from ridgeline.lendingclub.simulator import profile

__all__ = [
    "AMOUNTS",
    "BANDS",
    "DTI_HUNDREDTHS",
    "EMPLOYMENT_TEXTS",
    "MISSING",
    "MONTHS",
    "SCORED_GROUP",
    "SCORES",
    "WINDOW",
    "Table",
    "accepted_tables",
    "code_spelling",
    "month_index",
    "month_shares",
    "rejected_bands",
    "rejected_groups",
    "rejected_tables",
    "scored_shares",
]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

MONTHS: Final = 12 * (profile.LAST_YEAR - profile.FIRST_YEAR + 1)
WINDOW: Final = slice(96, 138)  # 2015-01 to 2018-06, in months since 2007-01

MISSING: Final = -100_000  # the value of an empty cell in a table's support

_BELOW: Final = np.arange(0, 1_000, 25)
_REGULAR: Final = np.arange(1_000, 40_001, 25)
_LARGE: Final = np.array(list(profile.LARGE_AMOUNTS), dtype=np.int64)
AMOUNTS: Final = np.concatenate([_BELOW, _REGULAR, _LARGE])

BANDS: Final = np.arange(300, 846, 5)  # lower ends of the five-point bands
SCORES: Final = np.concatenate([[0], np.arange(300, 991)])
_ABOVE_TOP: Final = 990 - 850  # scores without a band; 850 is of the last, 845 to 850

_BODY: Final = np.arange(1, 20_001)  # 0.01 to 200
_TAIL: Final = np.unique(
    np.append(np.geomspace(20_001, 9_999_900, 600).astype(np.int64), [99_900, 999_900])
)
DTI_HUNDREDTHS: Final = np.concatenate([[MISSING, -100, 0], _BODY, _TAIL])

# The levels that occur (the files have no plain "10 years"), then the empty cell.
EMPLOYMENT_TEXTS: Final = (
    *(text for text in EMPLOYMENT_LEVELS if text != "10 years"),
    None,
)
_EMPLOYMENT_YEARS: Final = np.array(
    [MISSING if text is None else EMPLOYMENT_LEVELS[text] for text in EMPLOYMENT_TEXTS]
)
# Rows of `profile.CATEGORIES`, then the empty cell.
_CATEGORY_NUMBERS: Final = np.append(np.arange(len(profile.CATEGORIES)), MISSING)

_SLOTS: Final = 2**15  # of a table's guide

# Groups of declined applications: one for each era without a score, then two with.
_ERAS: Final = len(profile.UNSCORED_ERAS)
SCORED_GROUP: Final = _ERAS
_EARLY_GROUP: Final = _ERAS + 1


@dataclass(frozen=True)
class Table:
    """A discrete distribution for each group.

    Attributes:
        support: The values, shape (values,).
        probability: Their probabilities, shape (groups, values); rows sum to one.
    """

    support: NDArray[np.int64]
    probability: Floats

    @cached_property
    def _thresholds(self) -> Floats:
        # Group g owns the interval [g, g + 1) of the number line, so that one sorted
        # search serves all groups at once.
        cumulative = np.cumsum(self.probability, axis=1)
        cumulative /= cumulative[:, -1:]
        return (cumulative + np.arange(len(cumulative))[:, None]).ravel()

    @cached_property
    def _guide(self) -> Integers:
        # Where the search ends for evenly spaced levels; shape (groups, slots + 1).
        levels = np.arange(_SLOTS + 1) / _SLOTS
        levels = levels + np.arange(len(self.probability))[:, None]
        return np.asarray(np.searchsorted(self._thresholds, levels, side="right"))

    def draw(
        self, generator: np.random.Generator, size: int, group: Integers | None = None
    ) -> Integers:
        """Draws positions in the support by inverting the distribution function.

        Args:
            group: Group of each draw, shape (size,); the first for all if absent.

        Returns:
            Positions in `support`, shape (size,).
        """
        level = generator.random(size)
        start = np.zeros(size, dtype=np.int64) if group is None else group
        slot = start * (_SLOTS + 1) + (level * _SLOTS).astype(np.int64)
        guide = self._guide.ravel()
        found = guide[slot]
        # Most slots lie within one value; only the others are searched.
        open_slots = np.flatnonzero(found != guide[slot + 1])
        found[open_slots] = np.searchsorted(
            self._thresholds, (start + level)[open_slots], side="right"
        )
        # A level next to one may round up into the following group's interval.
        values = len(self.support)
        return np.asarray(np.minimum(found - start * values, values - 1))


def month_index(text: str) -> int:
    """Turns `2015-01` into months since January 2007."""
    year, month = text.split("-")
    return 12 * (int(year) - profile.FIRST_YEAR) + int(month) - 1


def _steps(breaks: dict[str, float]) -> Floats:
    """Spreads values that hold from a month on over all months."""
    starts = np.array([month_index(text) for text in breaks])
    position = np.searchsorted(starts, np.arange(MONTHS), side="right") - 1
    return np.array(list(breaks.values()))[position]


@cache
def month_shares(kind: RawFile) -> Floats:
    """Share of a file's rows in each month since 2007-01, shape (months,)."""
    column = 0 if kind == "accepted" else 1
    totals = {year: pair[column] for year, pair in profile.YEARLY_VOLUMES.items()}
    before = [year for year in totals if year < profile.LAST_YEAR]
    # Smooth growth: log-volume runs straight from the middle of a year to the next.
    middles = [12 * (year - profile.FIRST_YEAR) + 5.5 for year in before]
    logs = np.log([totals[year] for year in before])
    trend = np.exp(np.interp(np.arange(MONTHS), middles, logs))
    trend[: profile.FIRST_MONTH] = 0.0
    volumes = np.zeros(MONTHS)
    volumes[WINDOW] = [pair[column] for pair in profile.WINDOW_VOLUMES]
    for year in before:
        start = 12 * (year - profile.FIRST_YEAR)
        part = trend[start : start + 12]
        volumes[start : start + 12] = totals[year] * part / part.sum()
    volumes[WINDOW.stop :] = totals[profile.LAST_YEAR] / (MONTHS - WINDOW.stop)
    return np.asarray(volumes / volumes.sum())


@cache
def scored_shares() -> Floats:
    """Share of declined applications with a score in each month, shape (months,)."""
    return _steps(profile.SCORED_SHARES) / 100


@cache
def code_spelling() -> Floats:
    """Chance that a title is spelled as its code; shape (2, months), scored last."""
    columns = [
        {month: shares[scored] for month, *shares in profile.CODE_SPELLING}
        for scored in (0, 1)
    ]
    return np.stack([_steps(column) for column in columns]) / 100


def rejected_groups(month: Integers, scored: NDArray[np.bool_]) -> Integers:
    """Groups of declined applications, given the month and whether there is a score."""
    starts = [month_index(era[0]) for era in profile.UNSCORED_ERAS]
    era = np.searchsorted(starts, month, side="right") - 1
    fico = month < month_index(profile.FICO_END)
    return np.where(scored, np.where(fico, _EARLY_GROUP, SCORED_GROUP), era)


@cache
def accepted_tables() -> dict[str, Table]:
    """Distributions of an accepted loan's cells; only the score's has groups: years."""
    return {
        "month": Table(np.arange(MONTHS), month_shares("accepted")[None]),
        "amount": Table(AMOUNTS, _amounts(profile.AMOUNT_PROFILES["accepted"])[None]),
        "score": Table(BANDS, _accepted_scores()),
        "dti": Table(DTI_HUNDREDTHS, _dti(profile.ACCEPTED_DTI)[None]),
        "employment": Table(
            _EMPLOYMENT_YEARS, _normalised(np.array([profile.ACCEPTED_EMPLOYMENT]))
        ),
        "category": Table(_CATEGORY_NUMBERS, _categories(2, missing=0.0)[None]),
    }


@cache
def rejected_tables() -> dict[str, Table]:
    """Distributions of a declined application's cells, by `rejected_groups`.

    The score's groups are those that have one, counted from `SCORED_GROUP`.
    """
    amounts = profile.AMOUNT_PROFILES
    early = amounts["scored"]._replace(below=0.2)
    amount = [amounts["unscored"]] * _ERAS + [amounts["scored"], early]
    dti = [
        *(
            profile.UNSCORED_DTI._replace(minus_one=minus_one, hundred=hundred)
            for _, _, _, minus_one, hundred in profile.UNSCORED_ERAS
        ),
        profile.SCORED_DTI,
        profile.EARLY_DTI,
    ]
    category = [4] * (_ERAS - 1) + [5, 3, 3]  # columns of CATEGORIES
    missing = profile.MISSING_TITLE
    return {
        "month": Table(np.arange(MONTHS), month_shares("rejected")[None]),
        "amount": Table(AMOUNTS, np.stack([_amounts(item) for item in amount])),
        "score": Table(SCORES, _rejected_scores()),
        "dti": Table(DTI_HUNDREDTHS, np.stack([_dti(item) for item in dti])),
        "employment": Table(_EMPLOYMENT_YEARS, _rejected_employment()),
        "category": Table(
            _CATEGORY_NUMBERS, np.stack([_categories(c, missing) for c in category])
        ),
    }


def rejected_bands() -> Floats:
    """Chance of each of `BANDS` for a declined application with a Vantage score."""
    scores = SCORES[1:-_ABOVE_TOP]
    position = np.minimum((scores - BANDS[0]) // 5, len(BANDS) - 1)
    sums = np.zeros(len(BANDS))
    np.add.at(sums, position, _rejected_scores()[0, 1:-_ABOVE_TOP])
    return sums


def _normalised(shares: Floats) -> Floats:
    """Scales rows to sum to one: published shares are rounded."""
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def _density(support: Integers | Floats, shape: dict[float, float]) -> Floats:
    """Normalises a shape, log-linear between its knots, over the support."""
    weights = np.exp(np.interp(support, list(shape), list(shape.values())))
    return np.asarray(weights / weights.sum())


def _amounts(item: profile.AmountProfile) -> Floats:
    """Probabilities over `AMOUNTS`: heaps, finer multiples, and what lies outside."""
    shape = _density(_REGULAR, item.shape)
    heaps = np.isin(_REGULAR, list(item.heaps))
    regular = np.zeros(len(_REGULAR))
    regular[heaps] = list(item.heaps.values())
    grains = np.array(list(item.grains))
    divides = _REGULAR[:, None] % grains == 0
    coarsest = grains[divides.argmax(axis=1)]
    for grain, share in item.grains.items():
        members = ~heaps & (coarsest == grain)
        regular[members] = share * shape[members] / shape[members].sum()
    regular *= (100 - item.below - item.above) / regular.sum()
    below = np.full(len(_BELOW), item.below / len(_BELOW))
    large = np.array(list(profile.LARGE_AMOUNTS.values()))
    above = item.above * large / large.sum()
    return np.concatenate([below, regular, above]) / 100


def _dti(item: profile.DtiProfile) -> Floats:
    """Probabilities over `DTI_HUNDREDTHS`: codes, the body up to 200, and the tail."""
    # The tail's values are evenly spaced in logarithms, so a power law in the value
    # is a power law in the weights.
    weights = (_TAIL / _TAIL[0]) ** -profile.DTI_TAIL_EXPONENT
    weights[np.searchsorted(_TAIL, 100 * item.largest) + 1 :] = 0.0
    tail = weights / weights.sum() * (1 - sum(item.heaps.values()) / 100)
    for value, share in item.heaps.items():
        tail[np.searchsorted(_TAIL, 100 * value)] += share / 100
    codes = item.missing + item.minus_one + item.zero + item.hundred
    body = (100 - codes - item.tail) * _density(_BODY / 100, item.shape)
    body[np.searchsorted(_BODY, 10_000)] += item.hundred
    start = [item.missing, item.minus_one, item.zero]
    return np.concatenate([start, body, item.tail * tail]) / 100


def _rejected_employment() -> Floats:
    """Shares of employment levels among declined applications, by group."""
    unscored = np.tile(profile.UNSCORED_EMPLOYMENT, (_ERAS, 1))
    for row, (_, five, empty, _, _) in zip(
        unscored, profile.UNSCORED_ERAS, strict=True
    ):
        row[[5, -1]] = five, empty
        row[0] = 100 - row.sum()
    scored = np.tile(profile.SCORED_EMPLOYMENT, (2, 1))
    return _normalised(np.concatenate([unscored, scored]))


def _categories(column: int, missing: float) -> Floats:
    """Probabilities over `_CATEGORY_NUMBERS` from one column of `CATEGORIES`."""
    shares = np.array([float(row[column]) for row in profile.CATEGORIES])
    shares *= (100 - missing) / shares.sum()
    return np.append(shares, missing) / 100


def _rejected_scores() -> Floats:
    """Probabilities over `SCORES`: Vantage scores, then FICO scores with zeros."""
    spike, share = profile.REJECTED_SCORE_SPIKE
    vantage = np.append(0.0, _density(SCORES[1:], profile.REJECTED_SCORE_SHAPE))
    vantage *= 1 - share / 100
    vantage[np.searchsorted(SCORES, spike)] += share / 100
    fico = vantage * (1 - profile.REJECTED_ZERO_SCORE / 100)
    fico[0] = profile.REJECTED_ZERO_SCORE / 100
    return np.stack([vantage, fico])


def _accepted_scores() -> Floats:
    """Probabilities over `BANDS` for each year: a tilted shape, a thin tail below."""
    lowest = min(profile.ACCEPTED_SCORE_SHAPE)
    upper = lowest <= BANDS
    shape = _density(BANDS[upper], profile.ACCEPTED_SCORE_SHAPE)
    share, length = profile.ACCEPTED_SCORE_TAIL
    tail = rejected_bands()[~upper] * np.exp((BANDS[~upper] - lowest) / length)
    tail *= share / 100 / tail.sum()
    years = np.zeros((len(profile.ACCEPTED_SCORE_MEANS), len(BANDS)))
    for row, mean in zip(years, profile.ACCEPTED_SCORE_MEANS, strict=True):
        row[~upper] = tail
        row[upper] = (1 - share / 100) * _tilt(shape, mean - 2)
    return years


def _tilt(probability: Floats, mean: float) -> Floats:
    """Tilts probabilities of the upper bands so that the mean band is the one given."""
    centred = BANDS[-len(probability) :] - mean
    slope = 0.0
    # Newton's steps on the slope: the derivative of the mean is the variance.
    for _ in range(20):
        weights = probability * np.exp(slope * centred)
        weights /= weights.sum()
        error = float(weights @ centred)
        slope -= error / float(weights @ (centred - error) ** 2)
    return np.asarray(weights)
