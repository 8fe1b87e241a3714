"""What a pair of columns adds, at the places of both, as people read it. NumPy alone.

The values are in the unit of the decision: a response, or log-odds.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from ridgeline.xnn.features import Features
from ridgeline.xnn.scorer import Scorer
from ridgeline.xnn.surfaces import Axis

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["PairComponent", "pair_component", "surfaces_frame"]

Floats = NDArray[np.float64]
_OTHERS: Final = "other categories"


@dataclass(frozen=True, eq=False)
class PairAxis:
    """One of the two columns of a pair."""

    feature: str
    # Values of a number in its own unit, rising, or names of categories.
    places: tuple[Any, ...]
    numeric: bool


@dataclass(frozen=True, eq=False)
class PairComponent:
    """What two columns add together, beyond what each of them adds."""

    name: str
    importance: float  # share of the sum of scales
    scale: float
    axes: tuple[PairAxis, PairAxis]
    effects: Floats  # added to the decision at the places of both axes
    shares: Floats  # of the training rows about these places

    kind: str = "pair"

    @property
    def features(self) -> tuple[str, str]:
        """The two columns."""
        return self.axes[0].feature, self.axes[1].feature

    @property
    def function_of(self) -> str:
        """The two columns in words."""
        return " and ".join(self.features)


def pair_component(scorer: Scorer, place: int) -> PairComponent:
    """A pair of a network."""
    surface, scale = scorer.pairs[place], float(scorer.pair_scales[place])
    before = len(scorer.scales) + len(scorer.category_scales)
    one, two = (_axis(scorer.features, axis) for axis in surface.axes)
    return PairComponent(
        name=surface.name,
        importance=float(scorer.importance_ratios[before + place]),
        scale=scale,
        axes=(one, two),
        effects=scale * surface.table,
        shares=surface.shares.copy(),
    )


def surfaces_frame(pairs: Iterable[PairComponent]) -> "pd.DataFrame":
    """The surfaces of `Explanation.surfaces`, a row for each place of both columns."""
    import pandas as pd

    lines = [
        (pair.name, one, two, float(effect), float(share))
        for pair in pairs
        for (one, two), effect, share in zip(
            product(*(axis.places for axis in pair.axes)),
            pair.effects.ravel(),
            pair.shares.ravel(),
            strict=True,
        )
    ]
    names = ["component", "first", "second", "value", "share"]
    return pd.DataFrame(lines, columns=names)


def _axis(features: Features, axis: Axis) -> PairAxis:
    if axis.numeric:
        values = features.numbers[axis.column].scale.inverse(axis.knots)
        return PairAxis(axis.column, tuple(values.tolist()), numeric=True)
    names: list[Any] = []
    categories = features.categories[axis.column]
    for level in range(axis.size):
        at = np.flatnonzero(axis.levels == level)
        name = categories[at[0]] if len(at) == 1 else _OTHERS
        names.append("missing" if name is None else name)
    return PairAxis(axis.column, tuple(names), numeric=False)
