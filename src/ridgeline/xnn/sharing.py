"""Contributions by feature: a component's part of a row, shared among its columns.

The effect of a category, or of a special value, belongs to its column. So does a ridge
function whose projection has one weight. A ridge function of several features is shared
by Baseline Shapley: an absent feature has its neutral value, the mean scaled value of
the training rows.

    v(S) = scale * h(sum_{i in S} w_i x_i + sum_{i not in S} w_i neutral_i)

What v(all) has over v(none) is shared by Shapley's values, the constant v(none) by
squared weights. docs/model.md has the rule with an example. NumPy alone.
"""

from collections.abc import Callable
from functools import lru_cache
from math import factorial
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ridgeline.xnn.features import Encoded

if TYPE_CHECKING:
    from ridgeline.xnn.scorer import Scorer

__all__ = ["MOST_PLAYERS", "Parts", "feature_parts", "share_ridge", "weight_shares"]

Floats = NDArray[np.float64]
Function = Callable[[Floats], Floats]

# A game of so many players has a thousand sets; each further one doubles them.
MOST_PLAYERS: Final = 10
# Values of a ridge function at a time: its hidden units then stay in the cache.
_VALUES: Final = 1 << 14
# A move of the small weights together below which their slope is interpolated: the
# difference of two values, divided by it, still has eleven digits.
_SMALL_MOVE: Final = 1e-5


class Parts(NamedTuple):
    """What each feature adds to each row, both of shape (features, rows)."""

    main: Floats  # by itself, with its part of the constant
    interaction: Floats  # the rest of its share


def feature_parts(scorer: "Scorer", rows: Encoded) -> Floats:
    """Main parts and interactions of encoded rows, shape (n, columns, 2).

    The columns are those of the table, in its order. A row's values add up to the sum
    of its components.
    """
    features = scorer.features
    columns = {name: place for place, name in enumerate(features.names)}
    projected = [columns[name] for name in features.projected_names]
    total = np.zeros((2, len(columns), len(rows.numeric)))
    for place in np.flatnonzero(scorer.scales):
        weights = scorer.projection[:, place]
        value = _ridge_function(scorer, int(place))
        parts = share_ridge(value, weights, features.neutral, rows.numeric.T)
        # A column is projected once at most, so that no place comes twice.
        total[:, projected] += parts
    for place in np.flatnonzero(scorer.category_scales):
        column = columns[features.group_columns[place]]
        # The code of an unknown category, -1, finds the zero at the end.
        effects = np.append(scorer.effects[place], 0.0)
        effects *= scorer.category_scales[place]
        total[0, column] += effects[rows.codes[:, place]]
    for scale, surface in zip(scorer.pair_scales, scorer.pairs, strict=True):
        if scale:
            # A pure surface is an interaction: neither of the two has a larger part.
            half = 0.5 * scale * surface(features, rows)
            total[1, [columns[name] for name in surface.columns]] += half
    return total.transpose(2, 1, 0)


def share_ridge(
    value: Function, weights: Floats, neutral: Floats, rows: Floats
) -> Parts:
    """Shares a ridge function of z = weights' x among the features.

    Args:
        value: What the component adds to the decision at each z, of any shape.
        weights: Of the features, shape (p,).
        neutral: What an absent feature has, shape (p,).
        rows: Scaled values, shape (p, n).
    """
    main, interaction = np.zeros(rows.shape), np.zeros(rows.shape)
    used = np.flatnonzero(weights)
    start = float(weights @ neutral)
    if len(used) == 1:
        main[used] = value(weights[used] @ rows[used])
        return Parts(main, interaction)
    constant = weight_shares(weights) * value(np.array([start]))
    main += constant[:, None]
    # The largest weights come first; in a tie, the columns' order decides.
    players = used[np.argsort(-np.abs(weights[used]), kind="stable")]
    values = max(1 << min(len(players), MOST_PLAYERS), len(players))
    size = max(1, _VALUES // values)
    for first in range(0, rows.shape[1], size):
        part = np.ix_(players, np.arange(first, min(first + size, rows.shape[1])))
        moves = weights[players, None] * (rows[part] - neutral[players, None])
        alone = value(start + moves) - value(np.array([start]))
        main[part] += alone
        interaction[part] = _shares(value, start, moves) - alone
    return Parts(main, interaction)


def weight_shares(weights: Floats) -> Floats:
    """Squared weights as shares of their sum; equal shares where all are zero."""
    largest = np.abs(weights).max(initial=0.0)
    # A projection without weights is a constant, which no feature has earned.
    squares = (weights / largest) ** 2 if largest > 0 else np.ones_like(weights)
    return np.asarray(squares / squares.sum())


def _ridge_function(scorer: "Scorer", place: int) -> Function:
    """What a ridge component adds to the decision at values of z of any shape."""
    function, scale = scorer.subnetworks.take([place]), scorer.scales[place]

    def value(z: Floats) -> Floats:
        return np.asarray(scale * function(z.reshape(1, -1)).reshape(z.shape))

    return value


def _shares(value: Function, start: float, moves: Floats) -> Floats:
    """Shares of v(all) - v(none); the features with the largest weights come first."""
    if len(moves) <= MOST_PLAYERS:
        return _shapley(value, start, moves)
    alone, rest = moves[: MOST_PLAYERS - 1], moves[MOST_PLAYERS - 1 :]
    together = np.vstack([alone, rest.sum(axis=0)])
    shares = _shapley(value, start, together)
    slope = _last_slope(value, start, together, shares[-1])
    return np.vstack([shares[:-1], rest * slope])


def _last_slope(value: Function, start: float, moves: Floats, shares: Floats) -> Floats:
    """The last player's share for each unit of its move.

    Its members have it in proportion to their own moves. The quotient is a smooth
    function of the move, also where its members' moves cancel out: there it lies on
    the line between its values at two small moves.
    """
    last = moves[-1]
    near = np.abs(last) < _SMALL_MOVE
    slope: Floats = np.divide(shares, last, out=np.zeros_like(last), where=~near)
    if near.any():
        below, above = (
            _shapley(
                value, start, np.vstack([moves[:-1, near], np.full(near.sum(), d)])
            )
            for d in (-_SMALL_MOVE, _SMALL_MOVE)
        )
        at = (last[near] / _SMALL_MOVE + 1) / 2
        slope[near] = (at * above[-1] - (1 - at) * below[-1]) / _SMALL_MOVE
    return slope


def _shapley(value: Function, start: float, moves: Floats) -> Floats:
    """Shapley's values of v(S) = value(start + the moves of S), shape of the moves."""
    members, weights = _game(len(moves))
    return np.asarray(weights @ value(start + members @ moves))


@lru_cache(maxsize=MOST_PLAYERS + 1)
def _game(players: int) -> tuple[Floats, Floats]:
    """Who is in each set, (sets, players), and each set's weight in the shares.

    A player's share is the mean of what it adds to those that came before it, over all
    orders of the players: the set with it counts for, the one without it against it.
    """
    sets = np.arange(1 << players)
    members = (sets[:, None] >> np.arange(players) & 1).astype(np.float64)
    orders = [
        factorial(before) * factorial(players - before - 1) / factorial(players)
        for before in range(players)
    ]
    sizes = members.sum(axis=1).astype(np.intp)
    added = np.array([0.0, *orders])[sizes, None]  # to the others of the set
    lacking = np.array([*orders, 0.0])[sizes, None]
    weights = np.where(members > 0, added, -lacking).T.copy()
    members.flags.writeable = weights.flags.writeable = False
    return members, weights
