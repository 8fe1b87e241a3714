"""The content of a model file: from a network to the types of JSON and back.

What is read must be what a fit can leave: every part is there, fits the others and has
the signs, order and size that a fitted network has, so that all scores are finite.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Final, cast, get_args

import numpy as np
from numpy.typing import NDArray

from ridgeline.preparation.content import preparation_content, read_preparation
from ridgeline.xnn.architecture import Activation
from ridgeline.xnn.features import Direction, Features
from ridgeline.xnn.json_parts import array, arrays, demand, part_of
from ridgeline.xnn.monotone import certificates
from ridgeline.xnn.numeric_column import NumericColumn
from ridgeline.xnn.pair_content import pair_content, read_pairs
from ridgeline.xnn.profile_content import profile_content, read_profile
from ridgeline.xnn.scaling import Scale
from ridgeline.xnn.scorer import ACTIVATIONS, Scorer, Spread, Subnetworks

__all__ = ["model_content", "read_content"]

Floats = NDArray[np.float64]
_CLASSES: Final = 2
_FLAG: Final = 2  # categories
_LABELS: Final = (str, int, float, bool)
# What scores must not exceed, so that their squares are finite too.
_LARGEST: Final = 1e150
_NARROWEST: Final = 1e-60  # bin of a projected value, whose size has the inverse
_MOST: Final = 10_000  # units of a layer, or bins
_MOST_ROWS: Final = 2**63
_ROUNDING: Final = 1e-3  # of shares that were added up in single precision


def model_content(scorer: Scorer) -> dict[str, Any]:
    """The content of a network in the types of JSON.

    Args:
        scorer: The fitted network.

    Raises:
        ValueError: If a label or category is not text, a number or a boolean.
    """
    features, networks, spread = scorer.features, scorer.subnetworks, scorer.spread
    # Lists, because the order counts and that of a JSON object does not.
    categories = [
        {"name": str(name), "values": _categories(values, f"category of {name!r}")}
        for name, values in features.categories.items()
    ]
    numbers = [
        {
            "name": str(name),
            "knots": number.scale.knots.tolist(),
            "places": number.scale.places.tolist(),
            "seen": list(number.seen),
            "neutral": number.neutral,
            "codes": list(number.codes),
            "masses": list(number.masses),
            "missing": number.missing,
            "levels": list(number.levels),
        }
        for name, number in features.numbers.items()
    ]
    classes = scorer.classes
    proved = [each._asdict() for each in certificates(scorer)]
    # A file without it is one of no monotone features, as all of them once were.
    return (
        ({"monotone": proved} if proved else {})
        | pair_content(scorer)
        | profile_content(scorer)
        | preparation_content(scorer.preparation)
        | {
            "features": {
                "names": [str(name) for name in features.names],
                "named": features.named,
                "categories": categories,
                "numbers": numbers,
                "flags": list(features.flags),
            },
            "classes": None if classes is None else _labels(classes, "class label"),
            "projection": scorer.projection.tolist(),
            "subnetworks": {
                # Lists of no subnetworks would not tell the units of their layers.
                "units": [kernel.shape[1] for kernel in networks.kernels],
                "activation": networks.activation,
                "kernels": [kernel.tolist() for kernel in networks.kernels],
                "biases": [bias.tolist() for bias in networks.biases],
            },
            "scales": scorer.scales.tolist(),
            "effects": [effects.tolist() for effects in scorer.effects],
            "category_scales": scorer.category_scales.tolist(),
            "intercept": float(scorer.intercept),
            "spread": {
                "bins": spread.heights.shape[1],
                "edges": spread.edges.tolist(),
                "heights": spread.heights.tolist(),
                "shares": [shares.tolist() for shares in spread.shares],
                "rows": spread.rows,
            },
        }
    )


def _categories(values: Iterable[Any], what: str) -> list[Any]:
    """Labels, and last None for a gap."""
    *known, last = values
    if last is None:
        return [*_labels(known, what), None]
    return _labels(values, what)


def _labels(values: Iterable[Any], what: str) -> list[Any]:
    """Labels in the types that JSON keeps apart, those of NumPy as Python's own."""
    labels = []
    for value in values:
        # By the kind, because the item of a date in nanoseconds is an integer.
        scalar = isinstance(value, np.generic) and value.dtype.kind in "biufU"
        label = value.item() if scalar else value
        # Not isinstance: a member of an enumeration would come back as another type.
        finite = type(label) is not float or math.isfinite(label)
        if type(label) not in _LABELS or not finite:
            message = (
                f"the {what} {value!r} is of the type {type(value).__name__} and not "
                "text, a finite number or a boolean"
            )
            raise ValueError(message)
        labels.append(label)
    return labels


def read_content(model: Any) -> Scorer:
    """The network of what `model_content` gave.

    Args:
        model: In the types of JSON.

    Raises:
        ValueError: If it is anything else; the message says which part.
    """
    features = _features(part_of(model, "features", dict))
    features = replace(features, monotone=_directions(model, features))
    p, k = len(features.projected_names), len(part_of(model, "scales", list))
    counts = [(len(values),) for values in features.groups.values()]
    scorer = Scorer(
        features=features,
        classes=_classes(model),
        projection=array(model, "projection", (p, k)),
        subnetworks=_subnetworks(part_of(model, "subnetworks", dict), k),
        scales=array(model, "scales", (k,)),
        effects=arrays(model, "effects", counts),
        category_scales=array(model, "category_scales", (len(counts),)),
        intercept=float(array(model, "intercept", ())),
        spread=_spread(part_of(model, "spread", dict), k, counts),
        **read_pairs(model, features),
    )
    _check_scales(scorer)
    _check_size(scorer)
    _check_certificates(model, scorer)
    scorer = replace(
        scorer,
        profile=read_profile(model, scorer),
        preparation=read_preparation(model, tuple(features.names)),
    )
    # Another machine may round the last digit of a slope in another way.
    again = model_content(scorer) | {"monotone": model.get("monotone")}
    other = [key for key in {**model, **again} if model.get(key) != again.get(key)]
    demand(not other, f"{other} are not in the form of a saved model")
    return scorer


def _check_scales(scorer: Scorer) -> None:
    """A sign belongs to a curve or an effect, and the rank of a curve is its name."""
    for key in ("scales", "category_scales", "pair_scales"):
        demand((getattr(scorer, key) >= 0).all(), f"{key!r} has a negative number")
    falling = (np.diff(scorer.scales) <= 0).all()
    demand(falling, "'scales' does not have the largest number first")


def _check_size(scorer: Scorer) -> None:
    """Weights so large that the score of some row would not be finite."""
    networks, edges = scorer.subnetworks, scorer.spread.edges
    # With all weights positive every layer adds up at its worst, and softplus is above
    # the other activations.
    worst = Subnetworks(
        tuple(np.abs(kernel) for kernel in networks.kernels),
        tuple(np.abs(bias) for bias in networks.biases),
        "softplus",
    )
    with np.errstate(over="ignore", invalid="ignore"):
        z = np.abs(scorer.projection).sum(axis=0)
        z = np.maximum(z, np.abs(edges).max(axis=1, initial=0))
        ridges = scorer.scales @ worst(z[:, None])[:, 0]
        pairs = zip(scorer.category_scales, scorer.effects, strict=True)
        effects = sum(scale * np.abs(effect).max() for scale, effect in pairs)
        surfaces = zip(scorer.pair_scales, scorer.pairs, strict=True)
        tables = sum(scale * np.abs(pair.table).max() for scale, pair in surfaces)
        largest = (
            ridges + effects + tables + abs(scorer.intercept) + scorer.all_scales.sum()
        )
    # Not written the other way round, which NaN would pass.
    demand(bool(largest < _LARGEST), "its weights are so large that scores overflow")


def _directions(model: dict[str, Any], features: Features) -> dict[str, Direction]:
    """The directions of monotone features, in the order of the columns."""
    if "monotone" not in model:
        return {}
    listed = part_of(model, "monotone", list)
    found = {part_of(each, "feature", str): each.get("direction") for each in listed}
    names = [name for name in features.numbers if name in found]
    whole = 0 < len(found) == len(listed) and list(found) == names
    demand(whole, "'monotone' is not of numeric columns in the order of 'names'")
    directions = get_args(Direction)
    known = all(isinstance(one, str) and one in directions for one in found.values())
    demand(known, "'monotone' has a direction that there is not")
    masses = [name for name in found if features.numbers[name].masses]
    demand(not masses, f"the monotone columns {masses} have point masses")
    return found


def _check_certificates(model: dict[str, Any], scorer: Scorer) -> None:
    """What a file says about monotone features must follow from its curves."""
    for listed, proved in zip(
        model.get("monotone", []), certificates(scorer), strict=True
    ):
        demand(set(listed) == set(proved._fields), "'monotone' has other keys")
        slope = float(array(listed, "smallest_slope", ()))
        near = math.isclose(slope, proved.smallest_slope, rel_tol=1e-6, abs_tol=1e-12)
        holds = near and proved.holds
        demand(holds, f"the certificate of {proved.feature!r} does not hold")


def _classes(model: dict[str, Any]) -> tuple[Any, Any] | None:
    if "classes" in model and model["classes"] is None:
        return None
    labels = _labels(part_of(model, "classes", list), "class label")
    demand(len(labels) == _CLASSES, f"'classes' has {len(labels)} labels, not two")
    demand(labels[0] != labels[1], f"'classes' has the label {labels[0]!r} twice")
    return labels[0], labels[1]


def _features(part: dict[str, Any]) -> Features:
    names = tuple(part_of(part, "names", list))
    texts = all(isinstance(name, str) for name in names)
    unique = texts and 0 < len(set(names)) == len(names)
    demand(unique, "'names' are not unique texts")
    categories = dict(map(_category_column, part_of(part, "categories", list)))
    numbers = dict(map(_numeric_column, part_of(part, "numbers", list)))
    flags = tuple(part_of(part, "flags", list))
    for key, columns in (("categories", categories), ("numbers", numbers)):
        ordered = [name for name in names if name in columns] == list(columns)
        whole = ordered and len(columns) == len(part[key])
        demand(whole, f"{key!r} are not of columns in the order of 'names'")
    whole = set(categories) | set(numbers) == set(names)
    demand(
        whole and len(categories) + len(numbers) == len(names),
        "a column of 'names' is neither or both of a number and categories",
    )
    two = [name for name, values in categories.items() if _is_flag(values)]
    fit = not flags or list(flags) == two
    demand(fit, "'flags' are not the columns of two categories")
    return Features(names, part_of(part, "named", bool), numbers, categories, flags)


def _is_flag(values: tuple[Any, ...]) -> bool:
    return len([value for value in values if value is not None]) == _FLAG


def _category_column(part: Any) -> tuple[str, tuple[Any, ...]]:
    name, values = part_of(part, "name", str), part_of(part, "values", list)
    known = values[:-1] if values[-1:] == [None] else values
    labels = _labels(known, "category")
    unique = 0 < len(set(labels)) == len(labels)
    demand(unique, f"the categories of {name!r} are none, or one is there twice")
    return name, tuple(labels + values[len(known) :])


def _numeric_column(part: Any) -> tuple[str, NumericColumn]:
    name, count = part_of(part, "name", str), len(part_of(part, "knots", list))
    demand(0 < count <= _MOST, f"the column {name!r} has {count} knots")
    scale = Scale(array(part, "knots", (count,)), array(part, "places", (count,)))
    rising = (np.diff(scale.knots) > 0).all() and (np.diff(scale.places) > 0).all()
    ends = scale.places[[0, -1]].tolist() == ([-1.0, 1.0] if count > 1 else [0.0, 0.0])
    demand(rising and ends, f"the knots of {name!r} do not rise from -1 to 1")
    low, high = array(part, "seen", (2,)).tolist()
    wide = low <= scale.knots[0] and scale.knots[-1] <= high
    demand(wide, f"'seen' of {name!r} is not the range of its rows")
    neutral = float(array(part, "neutral", ()))
    demand(abs(neutral) <= 1, f"'neutral' of {name!r} is not from -1 to 1")
    values = {}
    for key in ("codes", "masses", "levels"):
        listed = part_of(part, key, list)
        values[key] = tuple(array(part, key, (len(listed),)).tolist())
        unique = len(set(values[key])) == len(listed)
        demand(unique, f"{key!r} of {name!r} has a value twice")
    apart = not set(values["codes"]) & set(values["masses"])
    demand(apart, f"a value of {name!r} is both a code and a mass")
    missing = part_of(part, "missing", bool)
    return name, NumericColumn(scale, (low, high), neutral, missing=missing, **values)


def _subnetworks(part: dict[str, Any], k: int) -> Subnetworks:
    units, activation = part_of(part, "units", list), part_of(part, "activation", str)
    known = list(ACTIVATIONS)
    demand(activation in known, f"'activation' is {activation!r}, not one of {known}")
    whole = all(type(count) is int and 0 < count <= _MOST for count in units)
    demand(
        whole and units[-1:] == [1],
        f"'units' is {units}, not positive whole numbers, of which the last is 1",
    )
    layers = list(zip(units, [1, *units[:-1]], strict=True))
    kernels = arrays(part, "kernels", [(k, out, into) for out, into in layers])
    biases = arrays(part, "biases", [(k, out, 1) for out, _ in layers])
    return Subnetworks(kernels, biases, cast(Activation, activation))


def _spread(part: dict[str, Any], k: int, counts: Sequence[tuple[int, ...]]) -> Spread:
    bins = part_of(part, "bins", int)
    demand(0 < bins <= _MOST, f"'bins' is {bins}, not a number from 1 to {_MOST}")
    spread = Spread(
        array(part, "edges", (k, bins + 1)),
        array(part, "heights", (k, bins)),
        arrays(part, "shares", counts),
        rows := part.get("rows"),
    )
    counted = rows is None or (type(rows) is int and 0 < rows < _MOST_ROWS)
    demand(counted, "'rows' is not a positive whole number")
    small = (np.abs(spread.edges) < 1 / _NARROWEST).all()
    demand(small, "'edges' are larger than projected values can be")
    widths = np.diff(spread.edges)
    mean = widths.mean(axis=1, keepdims=True)
    equal = (np.abs(widths - mean) <= _ROUNDING * mean) & (mean > _NARROWEST)
    demand(equal.all(), "'edges' do not rise by equal bins")
    for key, rows in (("heights", spread.heights), ("shares", spread.shares)):
        for shares in rows:
            within = ((shares >= 0) & (shares <= 1 + _ROUNDING)).all()
            fit = within and abs(shares.sum() - 1) < _ROUNDING
            demand(fit, f"{key!r} are not shares that add up to one")
    return spread
