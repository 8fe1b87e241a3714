"""Split by a hash of the row, of a group, or by time; the same rows, the same sets."""

from collections.abc import Sequence
from typing import Final, Literal, Self

import ibis
import ibis.expr.types as ir
import numpy as np
from pydantic import Field, model_validator

from ridgeline.errors import InputError
from ridgeline.parameters import Parameters
from ridgeline.tables.description import TableDescription

__all__ = [
    "SETS",
    "SplitSettings",
    "SplitShares",
    "check_sets",
    "parts_by_place",
    "place_of",
    "split_rows",
]

SETS: Final = ("train", "validation", "test")
_DIGITS: Final = 16  # of a hexadecimal hash: 64 bits tell a billion rows apart
_ROUNDING: Final = 1e-9
# Columns for a while, named as no table names its own.
_KEY, _PLACE, _SET = "__ridgeline_key", "__ridgeline_place", "__ridgeline_set"


class SplitShares(Parameters):
    """The share of rows in each set; the defaults are the paper's."""

    train: float = Field(default=0.4, gt=0)
    validation: float = Field(default=0.1, gt=0)
    test: float = Field(default=0.5, gt=0)

    @model_validator(mode="after")
    def _make_one(self) -> Self:
        if abs(self.train + self.validation + self.test - 1) > _ROUNDING:
            message = (
                f"the shares {self.train}, {self.validation} and {self.test} of train, "
                f"validation and test must add up to 1."
            )
            raise ValueError(message)
        return self


class SplitSettings(SplitShares):
    """How a table is split.

    Attributes:
        by: "random", by a hash of the row; "group", rows of one value of `column` stay
            together; "time", the last dates of `column` test.
        column: The group or the date.
    """

    by: Literal["random", "group", "time"] = "random"
    column: str | None = None
    train: float = Field(default=0.6, gt=0)
    validation: float = Field(default=0.2, gt=0)
    test: float = Field(default=0.2, gt=0)

    @model_validator(mode="after")
    def _column_fits(self) -> Self:
        if self.by != "random" and self.column is None:
            message = (
                f"by is {self.by!r}, which needs a column: set split.column to that "
                f"of the {'group' if self.by == 'group' else 'date'}."
            )
            raise ValueError(message)
        if self.by == "random" and self.column is not None:
            message = (
                f"column is {self.column!r}, but by is 'random', which needs none: set "
                "split.by to group or time, or leave the column out."
            )
            raise ValueError(message)
        return self


def place_of(key: ir.StringValue, seed: int) -> ir.StringValue:
    """Where a key lies among all, as a text of hexadecimal digits.

    The seed goes through the hash, so that two seeds give unrelated splits; hashes are
    compared as text, because every engine orders hexadecimal digits alike.
    """
    return (ibis.literal(f"{seed}|") + key).hexdigest("md5").left(_DIGITS)


def parts_by_place(
    placed: ir.Table, column: str, shares: SplitShares
) -> dict[str, ir.Table]:
    """`train`, `validation` and `test` of rows that have their place in a column."""
    sets, lower = {}, 0.0
    for name in SETS:
        upper = lower + getattr(shares, name)
        sets[name] = placed.filter(
            placed[column] >= _threshold(lower), placed[column] < _threshold(upper)
        )
        lower = upper
    return sets


def split_rows(
    rows: ir.Table, settings: SplitSettings, seed: int, cells: Sequence[str]
) -> dict[str, ir.Table]:
    """The three sets, each in the order of a hash of its rows.

    Args:
        rows: With the column that `settings` names, without gaps in it.
        cells: The columns that tell rows apart; equal rows always meet in one set.

    Raises:
        InputError: If there are too few dates to split by.
    """
    text = [ibis.coalesce(rows[name].cast("string"), "") for name in cells]
    # Lengths keep "a", "bc" and "ab", "c" apart.
    parts = [part.length().cast("string") + ":" + part for part in text]
    keyed = rows.mutate(**{_KEY: ibis.literal("|").join(parts).hexdigest("md5")})
    own = keyed[_KEY]
    if settings.by == "group":
        own = keyed[settings.column].cast("string")
    placed = keyed.mutate(**{_PLACE: place_of(own, seed)})
    shares: SplitShares = settings
    last = None
    if settings.by == "time":
        cut = _last_date_before(rows, str(settings.column), settings.test)
        last = placed.filter(placed[settings.column] > cut)
        placed = placed.filter(placed[settings.column] <= cut)
        both = settings.train + settings.validation
        # A test set that no place reaches: its rows are the last ones.
        shares = SplitShares.model_construct(
            train=settings.train / both, validation=settings.validation / both, test=0.0
        )
    sets = parts_by_place(placed, _PLACE, shares)
    if last is not None:
        sets["test"] = last
    # By the row and not by the group: the first rows of a set are a sample of it.
    ordered = {
        name: part.order_by(place_of(part[_KEY], seed)) for name, part in sets.items()
    }
    return {name: part.drop(_KEY, _PLACE) for name, part in ordered.items()}


def check_sets(
    sets: dict[str, ir.Table], table: TableDescription
) -> dict[str, dict[str, int]]:
    """Count the rows of each set, by class where there are classes.

    Raises:
        InputError: If a set is empty, or lacks a class.
    """
    counts: dict[str, dict[str, int]] = {}
    for name, part in sets.items():
        if table.classes is None:
            counts[name] = {table.rows: int(part.count().execute())}
            continue
        found = part.group_by(table.target).agg(rows=part.count()).execute()
        by_class = dict(zip(found[table.target], found["rows"], strict=True))
        counts[name] = {
            f"{table.target} = {each}": int(by_class.get(each, 0))
            for each in table.classes
        }
    for name, own in counts.items():
        for what, count in own.items():
            if not count:
                message = (
                    f"The {name} set has no {table.rows} with {what}: take more "
                    "rows, other shares (tabular.split) or another seed."
                    if table.classes is not None
                    else f"The {name} set has no {table.rows}: take more rows, or "
                    "other shares (tabular.split)."
                )
                raise InputError(message)
    return counts


def _last_date_before(rows: ir.Table, column: str, share: float) -> object:
    """The last date that is not tested on, so that about a share of the rows is."""
    counted = rows.group_by(column).agg(count=rows.count()).order_by(column).execute()
    if len(counted) < 2:  # noqa: PLR2004
        message = (
            f"The column {column!r} has {len(counted)} different dates; a split out of "
            "time needs at least two, so take another column or split.by random."
        )
        raise InputError(message)
    reached = counted["count"].cumsum() / counted["count"].sum()
    # Of the dates but the last, that whose share of rows up to it is the nearest.
    place = int(np.abs(reached.to_numpy()[:-1] - (1 - share)).argmin())
    return counted[column].iloc[place]


def _threshold(share: float) -> str:
    """Return the hexadecimal text below which a share of all hashes lies."""
    place = round(share * 16**_DIGITS)
    # "g" sorts after every hexadecimal digit: nothing is above the last threshold.
    return "g" if place >= 16**_DIGITS else f"{place:0{_DIGITS}x}"
