"""Which pairs of columns a model gains by, found on what the others leave.

Heredity: one column of a pair must take part in the model already. All such pairs are
ranked by a table of what is left at their places, with the parts of single columns
taken out; those that chance would not give are then fitted, and join one after the
other, the one that validation gains most by first. How many join is decided by the
one-standard-error rule, towards fewer.
"""

from collections.abc import Mapping
from itertools import combinations
from typing import Final, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ridgeline.xnn.features import Encoded, Features
from ridgeline.xnn.one_standard_error import errors_of_differences, simplest
from ridgeline.xnn.pair_fitting import (
    Left,
    PairDesign,
    Penalty,
    fit_surfaces,
    learn_axis,
    pair_design,
    products,
)
from ridgeline.xnn.surfaces import Axis, axis_cells, table_values

__all__ = ["FoundPairs", "Side", "search_pairs"]

Floats = NDArray[np.float64]

_FEWEST_ROWS: Final = 200  # that tell an interaction from chance
_MOST_TO_RANK: Final = 50_000  # rows
_MOST_TO_FIT: Final = 12  # pairs
# Standard deviations of chance that a table's gain must exceed to be fitted.
_BEYOND_CHANCE: Final = 3.0
_SWEEPS: Final = 10  # that take the parts of single columns out
_WHILE_SEARCHING: Final = Penalty(bends=10.0, size=3.0)
_PENALTIES: Final = tuple(
    Penalty(bends, size) for bends in (0.3, 3.0, 30.0) for size in (0.3, 3.0, 30.0)
)


class Side(NamedTuple):
    """Rows that train, or that choose."""

    rows: Encoded
    left: Left

    @property
    def mean_loss(self) -> float:
        """Of what has been decided so far."""
        return float(np.average(self.left.losses(), weights=self.left.weight))


class FoundPairs(NamedTuple):
    """Pairs that joined, ready to be fitted, and what they pay."""

    designs: list[PairDesign]
    penalty: Penalty


def search_pairs(
    features: Features,
    training: Side,
    validation: Side,
    columns: Mapping[str, bool],
    *,
    most: int,
    standard_errors: float,
) -> FoundPairs:
    """Finds pairs of some columns.

    Args:
        features: Names, scaling and categories of the columns.
        training: Rows that surfaces are fitted to.
        validation: Rows that choose.
        columns: Those that may be in a pair, and whether they take part in the model.
        most: How many pairs may join.
        standard_errors: By how many a model of fewer pairs may be worse.
    """
    weight = training.left.weight
    if len(weight) < _FEWEST_ROWS:
        return FoundPairs([], _WHILE_SEARCHING)
    known = [learn_axis(features, name, training.rows, weight) for name in columns]
    axes = [axis for axis in known if axis is not None]
    candidates = [
        pair_design(features, pair, training.rows, weight)
        for pair in _ranked(features, axes, training, columns)[:_MOST_TO_FIT]
    ]
    path = _path(features, candidates, training, validation, most)
    count = _count(path, validation.left, standard_errors)
    if count == 0:
        return FoundPairs([], _WHILE_SEARCHING)
    designs = [step.design for step in path[1 : count + 1] if step.design]
    losses = {}
    weighted = products(designs, training.left.slopes()[1])
    for penalty in _PENALTIES:
        tables = fit_surfaces(designs, training.left, penalty, first_products=weighted)
        added = _added(features, designs, tables, validation.rows)
        losses[penalty] = _mean(validation.left, added)
    return FoundPairs(designs, min(losses, key=lambda penalty: losses[penalty]))


def _ranked(
    features: Features, axes: list[Axis], side: Side, in_use: Mapping[str, bool]
) -> list[tuple[Axis, Axis]]:
    """Pairs that explain more than chance would, the most promising first."""
    count = len(side.left.target)
    some = np.linspace(0, count - 1, min(count, _MOST_TO_RANK)).astype(np.intp)
    slope, curvature = (part[some] for part in side.left.slopes())
    if not side.left.classify:
        # In units of chance, as those of a class are.
        noise = float(slope @ slope / curvature.sum()) or 1.0
        slope, curvature = slope / noise, curvature / noise
    nearest = []
    for axis in axes:
        places = axis.places(axis_cells(features, axis, side.rows)[some])
        nearest.append(np.where(places.share > 0.5, places.upper, places.lower))  # noqa: PLR2004
    gains: dict[tuple[int, int], float] = {}
    for one, two in combinations(range(len(axes)), 2):
        if not (in_use[axes[one].column] or in_use[axes[two].column]):
            continue
        size = axes[one].size, axes[two].size
        cells = nearest[one] * size[1] + nearest[two]
        pull = np.bincount(cells, slope, size[0] * size[1]).reshape(size)
        mass = np.bincount(cells, curvature, size[0] * size[1]).reshape(size)
        gain, chance = _pure_gain(np.asarray(pull), np.asarray(mass))
        if gain - chance > _BEYOND_CHANCE * np.sqrt(2 * chance):
            gains[one, two] = gain - chance
    order = sorted(gains, key=lambda pair: -gains[pair])
    return [(axes[one], axes[two]) for one, two in order]


def _pure_gain(pull: Floats, mass: Floats) -> tuple[float, float]:
    """What a table gains beyond its margins, and what it would by chance alone."""
    filled = mass > 0
    values = np.divide(pull, mass, out=np.zeros_like(pull), where=filled)
    for _ in range(_SWEEPS):
        for axis in (0, 1):
            total = mass.sum(axis=axis, keepdims=True)
            mean = (mass * values).sum(axis=axis, keepdims=True)
            mean = np.divide(mean, total, out=np.zeros_like(mean), where=total > 0)
            values = np.where(filled, values - mean, 0.0)
    margins = int(filled.any(axis=0).sum() + filled.any(axis=1).sum())
    chance = max(1, int(filled.sum()) - margins + 1)
    return float(np.sum(mass * values**2)), float(chance)


class _Step(NamedTuple):
    """A pair that has joined, and the losses of the validation rows since."""

    design: PairDesign | None
    losses: Floats


def _path(
    features: Features,
    candidates: list[PairDesign],
    training: Side,
    validation: Side,
    most: int,
) -> list[_Step]:
    """Pairs in the order in which they join; the first step is none of them."""
    path = [_Step(None, validation.left.losses())]
    joined: list[PairDesign] = []
    now, held = training.left, validation.left
    while len(joined) < min(most, len(candidates)):
        rest = [one for one in candidates if one not in joined]
        alone = [fit_surfaces([one], now, _WHILE_SEARCHING, steps=1)[0] for one in rest]
        losses = [
            _mean(held, _added(features, [one], [values], validation.rows))
            for one, values in zip(rest, alone, strict=True)
        ]
        joined = [*joined, rest[int(np.argmin(losses))]]
        together = fit_surfaces(joined, training.left, _WHILE_SEARCHING)
        now, held = (
            side.left._replace(
                decision=side.left.decision
                + _added(features, joined, together, side.rows)
            )
            for side in (training, validation)
        )
        path.append(_Step(joined[-1], held.losses()))
    return path


def _count(path: list[_Step], held: Left, standard_errors: float) -> int:
    """How many pairs the one-standard-error rule takes."""
    losses = np.stack([step.losses for step in path]).astype(np.float32)
    weight = held.weight.astype(np.float64)
    means = losses @ (weight / weight.sum())
    table = pd.DataFrame(
        {
            "validation_loss": means,
            "pairs": np.arange(len(path)),
            "standard_error": errors_of_differences(
                losses, weight, int(means.argmin())
            ),
        }
    )
    return simplest(standard_errors, table, by="pairs")


def _added(
    features: Features,
    designs: list[PairDesign],
    tables: list[Floats],
    rows: Encoded,
) -> Floats:
    """What surfaces add to the decision about rows."""
    parts = [
        table_values(design.axes, values, features, rows)
        for design, values in zip(designs, tables, strict=True)
    ]
    return np.asarray(sum(parts))


def _mean(left: Left, added: Floats) -> float:
    """The mean loss of rows with more added."""
    return float(np.average(left.losses(added), weights=left.weight))
