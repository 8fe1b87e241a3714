"""Pairs of columns in a model file, in the types of JSON.

A file without them is one of no pairs, as all of them once were.
"""

from typing import Any, Final

import numpy as np

from ridgeline.xnn.features import Features
from ridgeline.xnn.json_parts import array, demand, part_of
from ridgeline.xnn.scorer import Scorer
from ridgeline.xnn.surfaces import Axis, Surface

__all__ = ["pair_content", "read_pairs"]

_MOST_PLACES: Final = 10_000  # of a surface
_ROUNDING: Final = 1e-3  # of shares that were added up in single precision


def pair_content(scorer: Scorer) -> dict[str, Any]:
    """The pairs of a network, nothing where it has none."""
    if not scorer.pairs:
        return {}
    pairs = [
        {
            "axes": [_axis_content(axis) for axis in surface.axes],
            "values": surface.table.tolist(),
            "shares": surface.shares.tolist(),
        }
        for surface in scorer.pairs
    ]
    return {"pairs": pairs, "pair_scales": scorer.pair_scales.tolist()}


def read_pairs(model: dict[str, Any], features: Features) -> dict[str, Any]:
    """The arguments of a network that `pair_content` gave.

    Raises:
        ValueError: If they are anything else; the message says which part.
    """
    if "pairs" not in model and "pair_scales" not in model:
        return {}
    listed = part_of(model, "pairs", list)
    pairs = tuple(_surface(each, features) for each in listed)
    unique = 0 < len({frozenset(pair.columns) for pair in pairs}) == len(pairs)
    demand(unique, "'pairs' are none, or one is there twice")
    return {"pairs": pairs, "pair_scales": array(model, "pair_scales", (len(pairs),))}


def _axis_content(axis: Axis) -> dict[str, Any]:
    kind = {"knots": axis.knots} if axis.numeric else {"levels": axis.levels}
    return {"column": axis.column} | {
        key: list_.tolist() for key, list_ in kind.items()
    }


def _surface(each: Any, features: Features) -> Surface:
    axes = [_axis(axis, features) for axis in part_of(each, "axes", list)]
    two = len(axes) == 2 and axes[0].column != axes[1].column  # noqa: PLR2004
    demand(two, "a pair does not have two columns")
    demand(set(each) == {"axes", "values", "shares"}, "a pair has other keys")
    shape = axes[0].size, axes[1].size
    demand(shape[0] * shape[1] <= _MOST_PLACES, f"a pair has {shape} places")
    shares = array(each, "shares", shape)
    # Rows of categories that training has not seen have no place.
    fit = (shares >= 0).all() and shares.sum() <= 1 + _ROUNDING
    demand(fit, "'shares' of a pair are not shares of rows")
    return Surface((axes[0], axes[1]), array(each, "values", shape), shares)


def _axis(each: Any, features: Features) -> Axis:
    column = part_of(each, "column", str)
    if column in features.numbers:
        count = len(part_of(each, "knots", list))
        knots = array(each, "knots", (count,))
        rising = count > 1 and (np.diff(knots) > 0).all()
        demand(
            rising and np.abs(knots).max() <= 1, f"the knots of {column!r} do not rise"
        )
        return Axis(column, knots, np.empty(0, dtype=np.int32))
    known = column in features.categories
    demand(known, f"a pair has {column!r}, which is no column of 'names'")
    count = len(features.categories[column])
    listed = array(each, "levels", (count,))
    levels = listed.astype(np.int32)
    # Every place has a category.
    whole = (levels == listed).all() and set(levels) == set(range(max(levels) + 1))
    demand(whole, f"the levels of {column!r} are not places from 0 on")
    return Axis(column, np.empty(0), levels)
