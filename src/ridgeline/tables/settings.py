"""What a user may set about a table; conf/base explains every key."""

from collections.abc import Mapping
from typing import Any, Literal, Self

from pydantic import Field

from ridgeline.parameters import Parameters
from ridgeline.tables.description import ColumnLabel, Task
from ridgeline.tables.splitting import SplitSettings
from ridgeline.xnn.features import Direction

__all__ = ["Kind", "TabularSettings"]

# What a column can be made by the user.
Kind = Literal["numeric", "categorical", "date"]


class TabularSettings(Parameters):
    """What is not to be inferred from the table.

    Attributes:
        target: The column to predict; `--params target=COLUMN` is the same.
        task: None: two values are classes, more numbers are a regression.
        positive: The class whose probability is predicted; None: see `inference`.
        types: By column, what it is instead of what was inferred.
        leave_out: Columns that nothing is to see.
        sensitive: Columns kept beside the rows for the report, never trained on.
        weight: A column of numbers that says how much each row counts.
        special_values: By numeric column, codes that are no quantities.
        monotone: By numeric column, the direction that its effect must have.
        max_levels: Text with more different values than this is no category.
        split: How rows come into train, validation and test.
        row: What a row is called in sentences, and `rows` many of them.
        event: What has happened where the class is the positive one.
        title: Of the report.
        labels: By column, a title and a unit ("$", "%", "years" or any other).
        notes: Sentences that the report lists among the limits.
    """

    target: str | None = None
    task: Task | None = None
    positive: bool | int | float | str | None = None
    types: dict[str, Kind] = Field(default_factory=dict)
    leave_out: list[str] = Field(default_factory=list)
    sensitive: list[str] = Field(default_factory=list)
    weight: str | None = None
    special_values: dict[str, list[float]] = Field(default_factory=dict)
    monotone: dict[str, Direction] = Field(default_factory=dict)
    max_levels: int = Field(default=200, ge=2, le=2000)
    split: SplitSettings = SplitSettings()
    row: str = "row"
    rows: str = "rows"
    event: str | None = None
    title: str | None = None
    labels: dict[str, ColumnLabel] = Field(default_factory=dict)
    notes: list[str] = Field(default_factory=list)

    def on_top_of(self, brought: Mapping[str, Any]) -> Self:
        """These settings, with what a table brings along where nothing is set."""
        usual = type(self)()
        missing = {
            name: value
            for name, value in type(self).model_validate(dict(brought))
            if getattr(self, name) == getattr(usual, name)
        }
        return self.model_copy(update=missing)
