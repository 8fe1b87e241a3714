"""What a model remembers of its training rows: histograms, and references for reasons.

Histograms say later how far new rows have moved. References say what rows of each kind
have on average, so that a reason is a difference to a stated row. NumPy alone.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ridgeline.xnn.column_kinds import column
from ridgeline.xnn.columns import (
    Integers,
    Unseen,
    category_codes,
    numbers_with_gaps,
)
from ridgeline.xnn.sharing import MOST_PLAYERS

if TYPE_CHECKING:
    from ridgeline.xnn.features import Features
    from ridgeline.xnn.scorer import Scorer

__all__ = [
    "MOST_BINS",
    "MOST_ROWS",
    "MOST_SCORE_BINS",
    "ColumnHistogram",
    "Histogram",
    "Profile",
    "References",
    "evenly_spaced",
    "measure",
]

Floats = NDArray[np.float64]
MOST_BINS: Final = 10
MOST_SCORE_BINS: Final = 20
MOST_ROWS: Final = 50_000  # that are looked at, evenly spaced
# Values of ridge functions that references may take, where projections have many
# weights, and the rows that are worth more.
_MOST_VALUES: Final = 1 << 22
_FEWEST_ROWS: Final = 500
# Two bins of the score whose means are closer than this are one.
_CLOSE: Final = 1e-9
_LENIENT: Final = Unseen("average", "average", "edge")


@dataclass(frozen=True, eq=False)
class Histogram:
    """Shares of numbers in bins: from an edge on, up to below the next."""

    edges: Floats  # (bins + 1,), of which the first and last are the range
    shares: Floats  # (bins,)

    def places(self, values: Floats) -> NDArray[np.intp]:
        """The bin of each value; beyond the range it is the first or the last."""
        return np.searchsorted(self.edges[1:-1], values, side="right")


@dataclass(frozen=True, eq=False)
class ColumnHistogram:
    """How the training rows lie in a column; all shares together are one.

    A numeric column has bins of its ordinary numbers, and a share of each of its
    special values, gaps last. A categorical one has a share of each category, in
    their order, gaps last, and no bins.
    """

    edges: Floats  # of the bins of numbers; none where there are no such numbers
    shares: Floats  # of the bins, or of the categories
    special: Floats  # of `special_values`; a column without gaps has no share of them

    @property
    def whole(self) -> Floats:
        """All shares, side by side."""
        return np.concatenate([self.shares, self.special])

    def places(self, features: "Features", name: str, cells: Any) -> NDArray[np.intp]:
        """Where each cell belongs among all shares; one place more for strangers."""
        number = features.numbers.get(name)
        if number is None:
            codes = _codes(features, name, cells).astype(np.intp)
            return np.where(codes < 0, len(self.shares), codes)
        values = numbers_with_gaps(cells, f"column {name!r}")
        special = number.special_codes(values).astype(np.intp)
        strange = len(self.shares) + len(self.special)
        bins = np.full(len(values), strange)
        if len(self.edges):
            bins = Histogram(self.edges, self.shares).places(values)
        found = np.where(special > 0, len(self.shares) + special - 1, bins)
        # A gap in a column that had none, whose place no share has.
        return np.where(special < 0, strange, found)


class Typical(NamedTuple):
    """Typical cells by column: medians of numbers, places of frequent categories.

    NaN stands for a column whose rows have no number. The shapes are those of the
    references beside it.
    """

    groups: Floats
    extremes: Floats
    bins: Floats


@dataclass(frozen=True, eq=False)
class References:
    """Mean contributions by feature of rows that others are compared with.

    Features are in the order of `features.names`. With the intercept each row of
    `groups` and `bins` adds up to the mean decision of its training rows.
    """

    groups: Floats  # of each class, (2, features), or of all rows of a regressor, (1, )
    extremes: Floats  # smallest and largest contribution of each feature, (2, features)
    bins: Floats  # of bins of the score, the lowest first, (bins, features)
    typical: Typical


@dataclass(frozen=True, eq=False)
class Profile:
    """The training rows as a model file has them."""

    rows: int  # how many there were, those that were not looked at too
    columns: dict[str, ColumnHistogram]  # by name, in the order of the table
    components: dict[str, Histogram]  # contributions of each component in use
    score: Histogram  # of the decision
    references: References


def evenly_spaced(count: int, most: int) -> NDArray[np.intp]:
    """Positions of all rows, or of evenly spaced ones of many, ends included."""
    if count <= most:
        return np.arange(count)
    return np.linspace(0, count - 1, most).astype(np.intp)


def measure(
    scorer: "Scorer",
    X: Any,
    target: Floats,
    weight: Floats,
    *,
    rows: int,
    take: Callable[[Any, NDArray[np.intp]], Any],
) -> Profile:
    """The profile of training rows.

    Args:
        scorer: The fitted network.
        X: Rows to look at, at most `MOST_ROWS`.
        target: Their responses, or zero and one for the classes.
        weight: The weight of each row.
        rows: How many rows there are in all.
        take: A function of X and positions that gives these rows.
    """
    features = scorer.features
    X = features.in_order(X)
    columns = {
        name: _column_histogram(features, name, column(X, place), weight)
        for place, name in enumerate(features.names)
    }
    terms = scorer.contributions(X, _LENIENT)
    names = scorer.component_names
    components = {
        names[place]: _histogram(terms[:, place], weight)
        for place in np.flatnonzero(scorer.all_scales)
    }
    decision = scorer.decision_function(X, _LENIENT)
    score = _histogram(decision, weight)
    chosen = _reference_rows(scorer, target)
    references = _references(
        scorer, take(X, chosen), target[chosen], weight[chosen], decision[chosen]
    )
    return Profile(rows, columns, components, score, references)


def _column_histogram(
    features: "Features", name: str, cells: Any, weight: Floats
) -> ColumnHistogram:
    nothing = np.zeros(0)
    number = features.numbers.get(name)
    if number is None:
        count = len(features.categories[name])
        codes = _codes(features, name, cells)
        known = codes >= 0
        counted = np.bincount(codes[known], weight[known], count)
        return ColumnHistogram(nothing, _shares(counted), nothing)
    values = numbers_with_gaps(cells, f"column {name!r}")
    codes = number.special_codes(values)
    ordinary = codes == 0
    edges = _edges(values[ordinary], weight[ordinary])
    shares = np.zeros(max(len(edges) - 1, 0))
    if len(shares):
        at = Histogram(edges, shares).places(values[ordinary])
        shares = np.bincount(at, weight[ordinary], len(shares)).astype(np.float64)
    count = len(number.special_values)
    # The place of ordinary cells, and of gaps that the columns do not know, is dropped.
    special = np.bincount(codes[codes > 0] - 1, weight[codes > 0], count)[:count]
    whole = _shares(np.concatenate([shares, special]))
    return ColumnHistogram(edges, whole[: len(shares)], whole[len(shares) :])


def _histogram(values: Floats, weight: Floats) -> Histogram:
    """At most ten bins of about the same share."""
    edges = _edges(values, weight)
    at = Histogram(edges, weight).places(values)
    return Histogram(edges, _shares(np.bincount(at, weight, len(edges) - 1)))


def _edges(values: Floats, weight: Floats, most: int = MOST_BINS) -> Floats:
    """Edges of quantile bins; each of few values has a bin of its own."""
    if not len(values):
        return np.zeros(0)
    distinct = np.unique(values)
    low, high = distinct[0], distinct[-1]
    if len(distinct) <= most:
        return np.concatenate([[low], distinct[1:], [high]])
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weight[order])
    wanted = np.arange(1, most) / most * below[-1]
    inner = np.unique(values[order][np.searchsorted(below, wanted)])
    return np.concatenate([[low], inner[inner > low], [high]])


def _shares(weights: NDArray[Any]) -> Floats:
    return np.asarray(weights / weights.sum(), dtype=np.float64)


def _codes(features: "Features", name: str, cells: Any) -> Integers:
    """Positions of a column's cells among its categories, -1 for a stranger."""
    known = features.categories[name]
    return category_codes(cells, f"column {name!r}", known, _LENIENT)


def _reference_rows(scorer: "Scorer", target: Floats) -> NDArray[np.intp]:
    """Rows whose contributions by feature are computed: fewer where these are dear.

    Evenly spaced within the classes, so that each of them has some.
    """
    used = np.flatnonzero(scorer.scales)
    players = np.count_nonzero(scorer.projection[:, used], axis=0)
    values = int((2.0 ** np.minimum(players, MOST_PLAYERS)).sum()) + 1
    most = max(_MOST_VALUES // values, _FEWEST_ROWS)
    order = np.arange(len(target))
    if scorer.classes is not None:
        order = np.argsort(target, kind="stable")
    return np.sort(order[evenly_spaced(len(order), most)])


def _references(
    scorer: "Scorer", X: Any, target: Floats, weight: Floats, decision: Floats
) -> References:
    parts = scorer.feature_contributions(X, _LENIENT)
    kinds = 1 if scorer.classes is None else 2
    group = np.zeros(len(X), dtype=np.intp) if kinds == 1 else target.astype(np.intp)
    cells = _cell_values(scorer.features, X)
    groups = _means(parts, weight, group, kinds)
    places = Histogram(_edges(decision, weight, MOST_SCORE_BINS), np.zeros(0)).places(
        decision
    )
    # Bins without rows, and bins that rounding alone tells apart, are no bins.
    _, places = np.unique(places, return_inverse=True)
    bins = _means(parts, weight, places, places.max() + 1)
    kept = _rising(scorer.intercept + bins.sum(axis=1))
    extreme = [parts.argmin(axis=0), parts.argmax(axis=0)]
    every = np.arange(parts.shape[1])
    typical = Typical(
        _typical(scorer.features, cells, weight, group, kinds),
        np.array([cells[rows, every] for rows in extreme]),
        _typical(scorer.features, cells, weight, places, places.max() + 1)[kept],
    )
    extremes = np.array([parts[rows, every] for rows in extreme])
    return References(groups, extremes, bins[kept], typical)


def _rising(means: Floats) -> list[int]:
    """Places of means that are each clearly above the one before."""
    kept = [0]
    for place in range(1, len(means)):
        if means[place] > means[kept[-1]] + _CLOSE * (1 + abs(means[place])):
            kept.append(place)
    return kept


def _means(parts: Floats, weight: Floats, group: Any, count: int) -> Floats:
    """Weighted means of each group, (count, features)."""
    means = np.empty((count, parts.shape[1]))
    for one in range(count):
        rows = _rows_of(group, one)
        means[one] = weight[rows] @ parts[rows] / weight[rows].sum()
    return means


def _rows_of(group: Any, one: int) -> NDArray[np.bool_]:
    """Rows of a group; a class that a refinement has no rows of has them all."""
    rows = group == one
    return np.asarray(rows if rows.any() else np.ones_like(rows))


def _cell_values(features: "Features", X: Any) -> Floats:
    """Numbers with NaN for what is no quantity, and places of categories."""
    cells = np.empty((len(X), len(features.names)))
    for place, name in enumerate(features.names):
        if name in features.categories:
            codes = _codes(features, name, column(X, place))
            cells[:, place] = np.where(codes < 0, np.nan, codes)
        else:
            values = numbers_with_gaps(column(X, place), f"column {name!r}")
            without = np.isin(values, features.numbers[name].codes)
            cells[:, place] = np.where(without, np.nan, values)
    return cells


def _typical(
    features: "Features", cells: Floats, weight: Floats, group: Any, count: int
) -> Floats:
    """Median or most frequent category of each column in each group."""
    found = np.full((count, cells.shape[1]), np.nan)
    for one in range(count):
        rows = _rows_of(group, one)
        for place, name in enumerate(features.names):
            values = cells[rows, place]
            there = ~np.isnan(values)
            if there.any():
                middle = _mode if name in features.categories else _median
                found[one, place] = middle(values[there], weight[rows][there])
    return found


def _median(values: Floats, weight: Floats) -> float:
    """The smallest value at or below which half of the weight lies."""
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weight[order])
    return float(values[order][np.searchsorted(below, below[-1] / 2)])


def _mode(values: Floats, weight: Floats) -> float:
    return float(np.argmax(np.bincount(values.astype(np.intp), weight)))
