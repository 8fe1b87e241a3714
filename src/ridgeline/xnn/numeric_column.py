"""What a model knows about a numeric column: its scale, and values that are special.

A code, such as -7 for 'condition not met', is no quantity: it has an effect of its own
and, in projections, the average value of the rows that have a number. So has a gap. A
point mass, such as exactly 0, is a quantity that many rows share: it stays in the
projections and has an effect beside the curve.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ridgeline.errors import InputError
from ridgeline.xnn.columns import AVERAGE, Integers, Unseen, new_gap
from ridgeline.xnn.scaling import Scale, Scaling, learn_scale

__all__ = ["FEW_LEVELS", "ORDINARY", "Beyond", "NumericColumn", "learn_numeric"]

Floats = NDArray[np.float64]
# How a model calls the cells that are not special.
ORDINARY: Final = "any other value"
# Whole numbers with at most as many levels are drawn as points.
FEW_LEVELS: Final = 31
# New rows are often a little outside of the range of others; farther than this share of
# it they are not of the same kind.
_FAR: Final = 0.05


class Beyond(NamedTuple):
    """How many cells lie beyond the range of the rows of a fit."""

    cells: int
    far: int  # of these, the ones that are farther out than chance would put them


@dataclass(frozen=True, eq=False)
class NumericColumn:
    """What was learnt about a numeric column of the training rows."""

    scale: Scale
    # Smallest and largest value of all rows of the fit, those set aside too.
    seen: tuple[float, float]
    neutral: float = 0.0  # scaled value of a cell without a number: the others' mean
    codes: tuple[float, ...] = ()  # values that are no quantity
    masses: tuple[float, ...] = ()  # quantities with an effect beside the curve
    missing: bool = False  # whether there were gaps
    levels: tuple[float, ...] = ()  # all values, where they are few whole numbers

    @property
    def special_values(self) -> tuple[Any, ...]:
        """Values with an effect of their own; None stands for a gap."""
        return (*self.codes, *self.masses, *((None,) if self.missing else ()))

    def scaled(self, values: Floats, *, extend: bool = False) -> Floats:
        """Scaled values, and the neutral one where a cell has no quantity."""
        scaled = self.scale(values, extend=extend)
        without = self._without_quantity(values)
        if without.any():
            scaled[without] = self.neutral
        return scaled

    def special_codes(self, values: Floats) -> Integers:
        """Which special value each cell has, from 1; 0 for an ordinary one."""
        codes = np.zeros(len(values), dtype=np.int32)
        for place, special in enumerate((*self.codes, *self.masses), start=1):
            codes[values == special] = place
        gaps = np.isnan(values)
        codes[gaps] = len(self.special_values) if self.missing else AVERAGE
        return codes

    def check(self, values: Floats, what: str, unseen: Unseen) -> "Beyond":
        """Counts the cells beyond the range of the rows of the fit.

        Raises:
            InputError: If there are gaps, or cells beyond the range, and these are
                refused.
        """
        if not self.missing and unseen.missing == "error":
            gaps = int(np.isnan(values).sum())
            if gaps:
                raise InputError(new_gap(what, gaps))
        low, high = self.seen
        # NaN compares as false.
        outside = (values < low) | (values > high)
        if not outside.any():
            return Beyond(0, 0)
        outside &= ~self._without_quantity(values)
        count = int(outside.sum())
        reach = _FAR * (high - low)
        far = outside & ((values < low - reach) | (values > high + reach))
        if count and unseen.beyond == "error":
            first = float(values[outside][0])
            message = (
                f"The {what} has {count} values beyond the range of training, {low:g} "
                f"to {high:g}, such as {first:g}; check these rows, or set "
                "beyond_range='edge'."
            )
            raise InputError(message)
        return Beyond(count, int(far.sum()))

    def _without_quantity(self, values: Floats) -> NDArray[np.bool_]:
        without = np.isnan(values)
        for code in self.codes:
            without |= values == code
        return without


def learn_numeric(
    values: Floats,
    what: str,
    scaling: Scaling,
    codes: Sequence[float] = (),
    masses: Sequence[float] = (),
) -> NumericColumn:
    """What the training rows say about a column.

    Args:
        values: Of the training rows, with NaN where they are missing.
        what: How sentences call the column.
        scaling: How it is brought to [-1, 1].
        codes: Values that are no quantity.
        masses: Quantities with an effect beside the curve.

    Raises:
        InputError: If all rows are missing, or have the same code.
    """
    gaps = np.isnan(values)
    if gaps.all():
        message = f"The {what} is missing in every training row; leave it out."
        raise InputError(message)
    without = gaps.copy()
    for code in codes:
        these = values == code
        if these.all():
            message = (
                f"The {what} has the special value {code:g} in every training row; "
                "leave the column out."
            )
            raise InputError(message)
        without |= these
    quantities = values[~without]
    scale = learn_scale(quantities, scaling)
    neutral = float(scale(quantities).mean()) if len(quantities) else 0.0
    levels = np.unique(quantities[: 10 * FEW_LEVELS])
    if len(levels) <= FEW_LEVELS:
        levels = np.unique(quantities)
    few = 2 < len(levels) <= FEW_LEVELS and bool((levels == np.round(levels)).all())  # noqa: PLR2004
    return NumericColumn(
        scale=scale,
        seen=(float(scale.knots[0]), float(scale.knots[-1])),
        neutral=neutral,
        codes=tuple(float(code) for code in codes),
        masses=tuple(float(mass) for mass in masses),
        missing=bool(gaps.any()),
        levels=tuple(levels.tolist()) if few else (),
    )
