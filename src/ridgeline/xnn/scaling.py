"""How a numeric column is brought to [-1, 1]: a rising line through a few knots.

The paper scales by smallest and largest value. One extreme cell then squeezes all other
rows together, and in a heavy-tailed column most rows lie close to one end. A column may
therefore also be scaled by rank, or by both: by value where its rows are, with as much
of the rank as its tails are heavy. Every scaling is a line through knots in the
column's own unit, so that a curve is drawn in that unit, and a value beyond the
training rows stays at the edge.
"""

from typing import Any, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Scale", "Scaling", "learn_scale"]

Floats = NDArray[np.float64]
Scaling = Literal["robust", "quantile", "minmax"]

# Ranks are taken at this many quantiles, and at some farther out.
_QUANTILES: Final = 128
_TAILS: Final = (0.001, 0.002, 0.005)
# A tail begins at the outer quantile if it is longer than this share of what is inside;
# there a value counts by its rank alone.
_OUTER: Final = 0.005
_LONG_TAIL: Final = 0.1
# Inside, ranks count by how much wider the outer quantiles are than the inner ones: 1.1
# times in a uniform column and 1.6 in a normal one, for both of which a straight scale
# measured best, 2 to 4 in incomes and balances (benchmarks/tables.py).
_INNER: Final = 0.05
_LIGHT: Final = 1.6
_HEAVY: Final = 2.2
_MOST_BY_RANK: Final = 0.5
_LEAST_BY_RANK: Final = 0.02
# Of the rows: the most that a single value counts for in the ranks.
_HEAVIEST: Final = 0.01
_APART: Final = 1e-9  # places of two knots
# Of a scale that goes on: products of a network with it do not overflow.
_FARTHEST: Final = 1e30
# Below the smallest normal number a range has no inverse: the column is constant.
_TINY: Final = np.finfo(np.float64).tiny


class Scale(NamedTuple):
    """A rising line through knots; a constant column has one knot."""

    knots: Floats  # in the column's own unit
    places: Floats  # of the knots, from -1 to 1

    @property
    def varying(self) -> bool:
        """Whether the training rows had more than one value."""
        return len(self.knots) > 1

    @property
    def centre(self) -> float:
        """The middle of the range."""
        # Halves first: the largest floats would overflow.
        return float(self.knots[0] / 2 + self.knots[-1] / 2)

    @property
    def factor(self) -> float:
        """One over half of the range, zero where a column is constant."""
        half = float(self.knots[-1] / 2 - self.knots[0] / 2)
        return 1 / half if half > _TINY else 0.0

    @property
    def straight(self) -> bool:
        """Whether it is the line from the smallest to the largest value."""
        return len(self.knots) <= 2  # noqa: PLR2004

    def __call__(self, values: NDArray[Any], *, extend: bool = False) -> NDArray[Any]:
        """Values on the scale.

        Args:
            values: In the column's own unit.
            extend: Whether a straight scale goes on beyond the training rows, where
                values otherwise are at its ends.
        """
        if not self.varying:
            return np.zeros(len(values))
        if self.straight:
            if not extend:
                values = np.clip(values, self.knots[0], self.knots[1])
            with np.errstate(over="ignore"):
                scaled = (values - self.centre) * self.factor
            return np.asarray(np.clip(scaled, -_FARTHEST, _FARTHEST))
        return np.asarray(np.interp(values, self.knots, self.places))

    def inverse(self, places: Floats) -> Floats:
        """Values in the column's own unit; beyond the ends they are at the ends."""
        return np.asarray(np.interp(places, self.places, self.knots))


def learn_scale(values: Floats, scaling: Scaling) -> Scale:
    """The scale of a column.

    Args:
        values: Finite numbers of the training rows; there may be none.
        scaling: By value, by rank, or by both.
    """
    low, high = (values.min(), values.max()) if len(values) else (0.0, 0.0)
    if not high / 2 - low / 2 > _TINY:
        return Scale(np.array([low]), np.zeros(1))
    straight = Scale(np.array([low, high]), np.array([-1.0, 1.0]))
    if scaling == "minmax":
        return straight
    distinct, counts = np.unique(values, return_counts=True)
    if len(distinct) == 2:  # noqa: PLR2004
        return straight
    # A value that most rows share would leave the ranks of the others no room.
    counts = np.minimum(counts, max(1.0, _HEAVIEST * len(values)))
    upto = np.cumsum(counts)
    ranks = (upto - counts / 2) / upto[-1]
    chosen = _knots(ranks)
    by_rank = _from_minus_one(ranks[chosen])
    if scaling == "quantile":
        return _strictly_rising(distinct[chosen], by_rank)
    body = _body(distinct, ranks)
    if body.rank_share == 0:
        return straight
    by_value = _from_minus_one(distinct[chosen].clip(body.low, body.high))
    places = body.rank_share * by_rank + (1 - body.rank_share) * by_value
    return _strictly_rising(distinct[chosen], places)


class _Body(NamedTuple):
    """The part of a column that counts by value, and how much ranks count."""

    low: float
    high: float
    rank_share: float  # zero: the column has no tail, and is scaled by its ends


def _body(distinct: Floats, ranks: Floats) -> _Body:
    """Where the tails of a column begin, and how heavy they are."""
    # At least the farthest row at each end can be a tail.
    outer = min(max(_OUTER, 1.5 / len(distinct)), _INNER)
    levels = np.array([outer, _INNER, 1 - _INNER, 1 - outer])
    at = np.searchsorted(ranks, levels).clip(0, len(ranks) - 1)
    low, inner_low, inner_high, high = distinct[at] / 2
    span, inner = high - low, inner_high - inner_low
    if not inner > _TINY:
        return _Body(distinct[0], distinct[-1], _MOST_BY_RANK)
    reach = _LONG_TAIL * span
    tails = distinct[0] / 2 < low - reach, distinct[-1] / 2 > high + reach
    heavy = np.clip((span / inner - _LIGHT) / (_HEAVY - _LIGHT), 0, 1)
    share = max(_MOST_BY_RANK * heavy, _LEAST_BY_RANK if any(tails) else 0.0)
    return _Body(
        2 * low if tails[0] else distinct[0],
        2 * high if tails[1] else distinct[-1],
        float(share),
    )


def _knots(ranks: Floats) -> NDArray[np.intp]:
    """Which of the distinct values are knots: both ends, and the quantiles."""
    if len(ranks) <= _QUANTILES:
        return np.arange(len(ranks))
    levels = np.linspace(0, 1, _QUANTILES + 1)
    levels = np.concatenate([levels, _TAILS, 1 - np.array(_TAILS)])
    at = np.searchsorted(ranks, levels).clip(0, len(ranks) - 1)
    # The two farthest rows too: the ends may be errors, which must not pull others.
    return np.unique(np.concatenate([at, [0, 1, len(ranks) - 2, len(ranks) - 1]]))


def _from_minus_one(rising: Floats) -> Floats:
    """Rising numbers, brought to [-1, 1] by their ends."""
    low, high = rising[0], rising[-1]
    return np.asarray((rising / 2 - low / 2) / (high / 4 - low / 4) - 1)


def _strictly_rising(knots: Floats, places: Floats) -> Scale:
    """Without knots that rounding puts at the place of the one before."""
    before = np.maximum.accumulate(places)[:-1]
    kept = np.concatenate([[True], np.diff(places) > _APART])
    kept[-1], kept[1:-1] = True, kept[1:-1] & (before[1:] < 1 - _APART)
    knots, places = knots[kept], places[kept].copy()
    places[0], places[-1] = -1.0, 1.0
    return Scale(knots, places)
