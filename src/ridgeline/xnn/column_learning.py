"""What a fit learns about the columns: kinds, ranges, special values, shrinkage."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from ridgeline.xnn.architecture import Rows
from ridgeline.xnn.column_kinds import (
    categorical_names,
    column,
    column_names,
    warn_of_codes,
)
from ridgeline.xnn.columns import REFUSED, category_codes
from ridgeline.xnn.extremes import warn_of_extremes
from ridgeline.xnn.features import Features, numeric_values
from ridgeline.xnn.first_look import FirstLook, look, some_rows
from ridgeline.xnn.monotone import monotone_columns, refuse_convex
from ridgeline.xnn.observations import Observations
from ridgeline.xnn.shrinkage import effect_price
from ridgeline.xnn.special_values import (
    asked_specials,
    frequent_values,
    point_masses,
    warn_of_absent,
)

if TYPE_CHECKING:
    from ridgeline.xnn.estimator import BaseXNN

__all__ = ["Seen", "category_priors", "first_look", "known_columns", "learn_columns"]

Floats = NDArray[np.float64]
_FEWEST_TO_LOOK_AT: Final = 50  # rows


def known_columns(model: "BaseXNN", rows: Observations) -> Features:
    """The columns of all rows of a fit; what is odd about them is said here."""
    names, _ = column_names(rows.X)
    categorical = categorical_names(rows.X, names, model.categorical_features)
    numeric = [name for name in names if name not in categorical]
    asked = asked_specials(model.special_values, numeric)
    features = Features.learn(
        rows.X,
        tuple(categorical),
        scaling="minmax",
        codes=asked.codes,
        project_flags=model.project_flags and model.projection != "identity",
    )
    masses = asked.auto if isinstance(model.special_values, Mapping) else ()
    monotone = monotone_columns(model.monotone, features, masses)
    if monotone:
        refuse_convex(model.activation)
    features = replace(features, monotone=monotone)
    columns = dict(numeric_values(rows.X, features.categories))
    if model.categorical_features is None:
        warn_of_codes(columns)
    warn_of_absent(model.special_values, columns)
    if model.scaling == "minmax":
        warn_of_extremes(rows.X, columns, rows.positions)
    return features


class Seen(NamedTuple):
    """Some of the training rows, and a first look at them."""

    places: NDArray[np.intp]  # of these rows
    columns: dict[str, Floats]  # numbers, NaN where they have no quantity
    first: FirstLook | None  # if anything has to be looked at


def first_look(model: "BaseXNN", training: Observations, known: Features) -> Seen:
    """Smooth curves of all columns, where categories or special values need them."""
    places = some_rows(len(training.target))
    part = training if len(places) == len(training.target) else training.take(places)
    columns = dict(numeric_values(part.X, known.categories))
    asked = asked_specials(model.special_values, tuple(columns))
    codes = {name: number.codes for name, number in known.numbers.items()}
    for name, values in columns.items():
        special = (*asked.codes.get(name, ()), *codes[name])
        columns[name] = np.where(np.isin(values, special), np.nan, values)
    gaps = any(np.isnan(values).any() for values in columns.values())
    heaps = any(len(frequent_values(columns[name])) for name in asked.auto)
    if not (known.categories or gaps or heaps) or len(part.target) < _FEWEST_TO_LOOK_AT:
        return Seen(places, columns, None)
    groups = {name: _factorised(part.X, known, name) for name in known.categories}
    first = look(columns, groups, part.target, classify=is_classifier(model))
    return Seen(places, columns, first)


def learn_columns(
    model: "BaseXNN", training: Observations, known: Features, seen: Seen
) -> Features:
    """What the training rows alone say: ranges, and values that are special.

    A category, or a gap, may be in none but the rows set aside: the model knows it yet.
    """
    columns = dict(numeric_values(training.X, known.categories))
    asked = asked_specials(model.special_values, tuple(columns))
    codes = {
        name: tuple(code for code in values if _known_code(model, columns[name], code))
        for name, values in asked.codes.items()
    }
    masses = {}
    # An effect beside the curve, of a quantity, would break a monotone curve.
    auto = [name for name in asked.auto if name not in known.monotone]
    if auto and seen.first is not None:
        masses = point_masses({name: seen.columns[name] for name in auto}, seen.first)
    learnt = Features.learn(
        training.X,
        tuple(known.categories),
        scaling=model.scaling,
        codes=codes,
        masses=masses,
    )
    numbers = {
        name: replace(
            number, missing=known.numbers[name].missing, seen=known.numbers[name].seen
        )
        for name, number in learnt.numbers.items()
    }
    return replace(known, numbers=numbers)


def category_priors(features: Features, rows: Rows, seen: Seen) -> Floats:
    """How far the effects of each group are drawn to the average, side by side."""
    prices, start = [np.zeros(0)], 0
    for group, (name, values) in enumerate(
        zip(features.group_columns, features.groups.values(), strict=True)
    ):
        price = 0.0
        if seen.first is not None:
            price = effect_price(
                rows.codes[seen.places, group] - start,
                len(values),
                seen.first.residuals(without=name),
                rows=len(rows.target),
                classify=seen.first.classify,
            )
        # Without rows nothing may train an effect: it stays the average.
        there = np.bincount(rows.codes[:, group] - start, minlength=len(values)) > 0
        prices.append(np.where(there, price, 0.0))
        start += len(values)
    return np.concatenate(prices)


def _known_code(model: "BaseXNN", values: Floats, code: float) -> bool:
    """Whether a column has a code, or was said to have it."""
    by_column = isinstance(model.special_values, Mapping)
    return by_column or bool((values == code).any())


def _factorised(X: Any, features: Features, name: str) -> NDArray[Any]:
    cells = column(X, features.names.index(name))
    categories = features.categories[name]
    return category_codes(cells, f"column {name!r}", categories, REFUSED)
