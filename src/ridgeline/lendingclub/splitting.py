"""Split by a hash of the row's content: the same row, the same set, everywhere."""

import ibis.expr.types as ir

from ridgeline.tables.splitting import SplitShares, parts_by_place, place_of

__all__ = ["SplitShares", "split_applications"]


def split_applications(
    clean: ir.Table, shares: SplitShares, seed: int
) -> dict[str, ir.Table]:
    """Return `train`, `validation` and `test`, in the order of the rows' hashes.

    A row's set depends on the seed and on the row alone, so it is the same on every
    engine, for every order of rows and for any rows beside it; equal rows always meet
    in one set.
    """
    placed = clean.mutate(place=place_of(clean.row_key, seed))
    return {
        name: rows.order_by("place").drop("place", "row_key")
        for name, rows in parts_by_place(placed, "place", shares).items()
    }
