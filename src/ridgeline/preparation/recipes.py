"""Recipes: how each column of a model is made of the cells of a raw table.

A preparation has a recipe for each column of the model, once for each format in which
raw rows come. It is plain data, which the model's file carries: who scores a raw row
makes of it what training made of the rows that it was given.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ridgeline.errors import InputError
from ridgeline.preparation.steps import beyond, is_given, run_step

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Cooked", "Format", "Preparation", "PreparedRows", "Recipe", "Step"]

_LONGEST: Final = 40  # characters of a cell in a sentence


class Step(NamedTuple):
    """One step of a recipe."""

    name: str
    options: Mapping[str, Any]


class Cooked(NamedTuple):
    """A column of the model, and why some rows have no value in it.

    What is said goes behind the column's name: "dti from Debt-To-Income Ratio 'x' ...".
    """

    values: "pd.Series[Any]"  # missing where a cell is, or cannot be used
    problems: "pd.Series[str]"  # a sentence for each row whose cells cannot be used


@dataclass(frozen=True)
class Recipe:
    """How one column is made."""

    column: str
    sources: tuple[str, ...]
    steps: tuple[Step, ...]

    def cook(self, raw: "pd.DataFrame") -> Cooked:
        """The column of raw rows."""
        import pandas as pd

        columns = [raw[name] for name in self.sources]
        problems: list[pd.Series[str]] = []
        for step in self.steps:
            before, columns = columns, run_step(step.name, step.options, columns)
            if step.name == "within":
                dropped = before[0].notna() & columns[0].isna()
                problems.append(self._said(raw[dropped], beyond(**step.options)))
        (values,) = columns
        given = pd.concat([is_given(raw[name]) for name in self.sources], axis=1)
        told = {row for part in problems for row in part.index}
        unread = raw.index[given.any(axis=1) & values.isna()].difference(list(told))
        problems.append(self._said(raw.loc[unread], "cannot be read"))
        return Cooked(values.rename(self.column), pd.concat(problems).sort_index())

    def _said(self, rows: "pd.DataFrame", what: str) -> "pd.Series[str]":
        """A sentence for each row, with the cells that it is about."""
        import pandas as pd

        cells = rows[list(self.sources)].itertuples(index=False, name=None)
        sentences = [
            "from "
            + " and ".join(
                f"{name} {str(cell)[:_LONGEST]!r}"
                for name, cell in zip(self.sources, row, strict=True)
            )
            + f" {what}"
            for row in cells
        ]
        return pd.Series(sentences, index=rows.index, dtype=object)


@dataclass(frozen=True)
class Format:
    """One kind of raw table, with a recipe for each column of the model."""

    name: str
    recipes: tuple[Recipe, ...]

    @property
    def sources(self) -> tuple[str, ...]:
        """The columns that it reads, each once."""
        names = (name for recipe in self.recipes for name in recipe.sources)
        return tuple(dict.fromkeys(names))


class PreparedRows(NamedTuple):
    """Raw rows as the model takes them."""

    rows: "pd.DataFrame"  # those that can be used, under the labels that they had
    refused: "pd.DataFrame"  # the others: column and reason, under their labels
    format: str | None  # of the raw rows; None where they were prepared already


@dataclass(frozen=True)
class Preparation:
    """Every format that a model's raw rows may have."""

    formats: tuple[Format, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the model."""
        return tuple(recipe.column for recipe in self.formats[0].recipes)

    def format_of(self, names: Sequence[str]) -> Format | None:
        """The format of a table with these columns; None where it is prepared.

        Raises:
            InputError: If it is neither.
        """
        there = set(names)
        if there.issuperset(self.columns):
            return None
        for form in self.formats:
            if there.issuperset(form.sources):
                return form
        near = min(self.formats, key=lambda form: len(set(form.sources) - there))
        missing = [name for name in near.sources if name not in there]
        message = (
            f"The table has no column {missing[0]!r}"
            f"{f' and {len(missing) - 1} more' if len(missing) > 1 else ''}; pass raw "
            f"rows with {_listed(near.sources)}, or prepared ones with "
            f"{_listed(self.columns)}."
        )
        raise InputError(message)

    def prepare(self, raw: "pd.DataFrame") -> PreparedRows:
        """Raw rows as the model takes them; rows that are prepared stay as they are.

        Raises:
            InputError: If the columns are those of no format.
        """
        import pandas as pd

        form = self.format_of([str(name) for name in raw.columns])
        if form is None:
            nothing = pd.DataFrame({"column": [], "reason": []}, dtype=object)
            return PreparedRows(raw, nothing, None)
        made, column, reason = {}, [], []
        for recipe in form.recipes:
            values, said = recipe.cook(raw)
            made[recipe.column] = values
            column.append(pd.Series(recipe.column, index=said.index, dtype=object))
            reason.append(said)
        problems = pd.DataFrame(
            {"column": pd.concat(column), "reason": pd.concat(reason)}
        )
        # One row may have several; the first in the order of the columns is told.
        refused = problems[~problems.index.duplicated()].sort_index()
        rows = pd.DataFrame(made).drop(index=refused.index)
        return PreparedRows(rows, refused, form.name)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(repr(name) for name in names)
