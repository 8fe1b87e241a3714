"""Split by a hash of the row's content: the same row, the same set, everywhere."""

from typing import Self

import ibis
import ibis.expr.types as ir
from pydantic import Field, model_validator

from ridgeline.parameters import Parameters

__all__ = ["SplitShares", "split_applications"]

_DIGITS = 16  # of a hexadecimal hash: 64 bits tell a billion rows apart
_ROUNDING = 1e-9


class SplitShares(Parameters):
    """The share of rows in each set; the defaults are the paper's."""

    train: float = Field(0.4, gt=0)
    validation: float = Field(0.1, gt=0)
    test: float = Field(0.5, gt=0)

    @model_validator(mode="after")
    def _make_one(self) -> Self:
        if abs(self.train + self.validation + self.test - 1) > _ROUNDING:
            message = (
                f"the shares {self.train}, {self.validation} and {self.test} of train, "
                f"validation and test must add up to 1."
            )
            raise ValueError(message)
        return self


def split_applications(
    clean: ir.Table, shares: SplitShares, seed: int
) -> dict[str, ir.Table]:
    """Return `train`, `validation` and `test`, in the order of the rows' hashes.

    A row's set depends on the seed and on the row alone, so it is the same on every
    engine, for every order of rows and for any rows beside it; equal rows always meet
    in one set.
    """
    # The seed goes through the hash, so that two seeds give unrelated splits; hashes
    # are compared as text, because every engine orders hexadecimal digits alike.
    place = (ibis.literal(f"{seed}|") + clean.row_key).hexdigest("md5")
    placed = clean.mutate(place=place.left(_DIGITS))
    sets, lower = {}, 0.0
    for name, share in shares.model_dump().items():
        upper = lower + share
        rows = placed.filter(
            placed.place >= _threshold(lower), placed.place < _threshold(upper)
        )
        sets[name] = rows.order_by("place").drop("place", "row_key")
        lower = upper
    return sets


def _threshold(share: float) -> str:
    """Return the hexadecimal text below which a share of all hashes lies."""
    place = round(share * 16**_DIGITS)
    # "g" sorts after every hexadecimal digit: nothing is above the last threshold.
    return "g" if place >= 16**_DIGITS else f"{place:0{_DIGITS}x}"
