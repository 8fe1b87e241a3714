"""The profile of the training rows in a model file, in the types of JSON.

A file without it is one of a model that was pruned, made by hand or saved before there
were profiles: it scores and explains, and gives no reasons or drift.
"""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ridgeline.xnn.features import Features
from ridgeline.xnn.json_parts import array, demand, part_of
from ridgeline.xnn.profile import (
    MOST_BINS,
    MOST_SCORE_BINS,
    ColumnHistogram,
    Histogram,
    Profile,
    References,
    Typical,
)
from ridgeline.xnn.scorer import Scorer

__all__ = ["profile_content", "read_profile"]

Floats = NDArray[np.float64]
_MOST_ROWS: Final = 2**63
_LARGEST: Final = 1e150  # as of scores
_ROUNDING: Final = 1e-9
_KEYS: Final = {"rows", "columns", "components", "score", "references"}


def profile_content(scorer: Scorer) -> dict[str, Any]:
    """The profile of a network, nothing where it has none."""
    profile = scorer.profile
    if profile is None:
        return {}
    references, typical = profile.references, profile.references.typical
    return {
        "profile": {
            "rows": profile.rows,
            # Lists, because the order counts and that of a JSON object does not.
            "columns": [
                {
                    "name": str(name),
                    "edges": each.edges.tolist(),
                    "shares": each.shares.tolist(),
                    "special": each.special.tolist(),
                }
                for name, each in profile.columns.items()
            ],
            "components": [
                {"name": str(name)} | _histogram_content(each)
                for name, each in profile.components.items()
            ],
            "score": _histogram_content(profile.score),
            "references": {
                "groups": references.groups.tolist(),
                "extremes": references.extremes.tolist(),
                "bins": references.bins.tolist(),
                "typical_groups": _with_nulls(typical.groups),
                "typical_extremes": _with_nulls(typical.extremes),
                "typical_bins": _with_nulls(typical.bins),
            },
        }
    }


def read_profile(model: dict[str, Any], scorer: Scorer) -> Profile | None:
    """The profile that `profile_content` gave, for a network without one.

    Raises:
        ValueError: If it is anything else; the message says which part.
    """
    if "profile" not in model:
        return None
    part = part_of(model, "profile", dict)
    demand(set(part) == _KEYS, "'profile' has other keys than those of a profile")
    rows = part_of(part, "rows", int)
    demand(0 < rows < _MOST_ROWS, "'rows' of the profile is not a positive number")
    features = scorer.features
    columns = _named(part, "columns", features.names)
    used = np.flatnonzero(scorer.all_scales)
    names = tuple(scorer.component_names[place] for place in used)
    components = _named(part, "components", names)
    return Profile(
        rows,
        {name: _column(each, name, features) for name, each in columns.items()},
        {name: _histogram(each, name) for name, each in components.items()},
        _histogram(part_of(part, "score", dict), "score"),
        _references(part_of(part, "references", dict), scorer),
    )


def _histogram_content(each: Histogram) -> dict[str, Any]:
    return {"edges": each.edges.tolist(), "shares": each.shares.tolist()}


def _with_nulls(values: Floats) -> list[list[float | None]]:
    """Lists in which what is no number is null, as JSON has no NaN."""
    lists = values.astype(object)
    lists[np.isnan(values)] = None
    return [list(row) for row in lists.tolist()]


def _named(part: dict[str, Any], key: str, names: tuple[str, ...]) -> dict[str, Any]:
    listed = part_of(part, key, list)
    found = [part_of(each, "name", str) for each in listed]
    whole = found == list(names)
    demand(whole, f"{key!r} of the profile are not those of the model, in their order")
    return dict(zip(names, listed, strict=True))


def _column(each: dict[str, Any], name: str, features: Features) -> ColumnHistogram:
    number = features.numbers.get(name)
    special = 0 if number is None else len(number.special_values)
    count = len(part_of(each, "edges", list))
    most = MOST_BINS + 1 if number is not None else 0
    demand(count != 1 and count <= most, f"{name!r} has {count} edges in the profile")
    bins = max(count - 1, 0) if number is not None else len(features.categories[name])
    found = ColumnHistogram(
        array(each, "edges", (count,)),
        array(each, "shares", (bins,)),
        array(each, "special", (special,)),
    )
    _check(found.edges, found.whole, name)
    return found


def _histogram(each: dict[str, Any], name: str) -> Histogram:
    count = len(part_of(each, "edges", list))
    few = 1 < count <= MOST_BINS + 1
    demand(few, f"{name!r} has {count} edges in the profile")
    shares = array(each, "shares", (count - 1,))
    found = Histogram(array(each, "edges", (count,)), shares)
    _check(found.edges, found.shares, name)
    return found


def _check(edges: Floats, shares: Floats, name: str) -> None:
    # The largest value may have a bin of its own.
    rising = (np.diff(edges[:-1]) > 0).all() and (np.diff(edges[-2:]) >= 0).all()
    demand(rising, f"the edges of {name!r} in the profile do not rise")
    whole = (shares >= 0).all() and abs(shares.sum() - 1) < _ROUNDING
    demand(whole, f"the shares of {name!r} in the profile do not add up to one")


def _references(part: dict[str, Any], scorer: Scorer) -> References:
    count = len(scorer.features.names)
    bins = len(part_of(part, "bins", list))
    few = 0 < bins <= MOST_SCORE_BINS
    demand(few, f"the profile has references of {bins} bins of the score")
    kinds = 1 if scorer.classes is None else 2
    shapes = {"groups": kinds, "extremes": 2, "bins": bins}
    means = {key: array(part, key, (size, count)) for key, size in shapes.items()}
    typical = {
        key: _cells(part, f"typical_{key}", (size, count), scorer.features)
        for key, size in shapes.items()
    }
    small = all((np.abs(each) < _LARGEST).all() for each in means.values())
    demand(small, "the references of the profile are so large that sums overflow")
    low, high = means["extremes"]
    room = _ROUNDING * (1 + np.abs(low) + np.abs(high))
    for key in ("groups", "bins"):
        within = (means[key] >= low - room).all() and (means[key] <= high + room).all()
        demand(within, f"{key!r} of the references are not between the extremes")
    rising = (np.diff(scorer.intercept + means["bins"].sum(axis=1)) > 0).all()
    demand(rising, "the bins of the references do not have the lowest score first")
    return References(**means, typical=Typical(**typical))


def _cells(
    part: dict[str, Any], key: str, shape: tuple[int, int], features: Features
) -> Floats:
    """Typical cells, with NaN where there is none."""
    listed = part_of(part, key, list)
    lists = all(type(each) is list for each in listed)
    demand(lists, f"{key!r} is not a list of lists")
    gaps = [[cell is None for cell in each] for each in listed]
    filled = [[0 if cell is None else cell for cell in each] for each in listed]
    cells = array({key: filled}, key, shape)
    cells[np.array(gaps, dtype=np.bool_)] = np.nan
    for place, name in enumerate(features.names):
        if name in features.categories:
            codes = cells[:, place][~np.isnan(cells[:, place])]
            known = np.isin(codes, np.arange(len(features.categories[name]))).all()
            demand(known, f"{key!r} has a category of {name!r} that there is not")
    return cells
