"""What is known about a table: its columns, its target, and the words for them.

A description is made once, by the pipeline that prepares the table, and kept as JSON
beside the sets. Everything after the split reads it, and nothing else, about the table.
"""

from collections.abc import Mapping
from typing import Any, Literal, Self

from pydantic import Field

from ridgeline.parameters import Parameters, checked
from ridgeline.xnn.columns import WhenUnknown
from ridgeline.xnn.features import Direction

__all__ = ["ColumnLabel", "TableDescription", "Task"]

Task = Literal["classification", "regression"]
Value = bool | int | float | str


class ColumnLabel(Parameters):
    """How a column is called and measured."""

    title: str
    unit: str = ""


class TableDescription(Parameters):
    """A table, as models, metrics and reports take it.

    Attributes:
        name: Of the table, such as the stem of its file.
        title: Of its report.
        task: Classification of two classes, or regression.
        target: The column to predict.
        classes: Its two values, the positive one second; None for a regression.
        numeric: Columns that are numbers; gaps are allowed.
        categorical: Columns that are text; gaps are allowed.
        weight: A column that says how much each row counts.
        sensitive: Columns that stay in the sets, and are never trained on.
        special_values: By numeric column, the codes that are no quantities.
        monotone: By numeric column, the direction that its effect must have.
        labels: By column, what people call it.
        row: What a row is, in the singular.
        rows: And in the plural.
        event: What has happened where the class is the positive one.
        class_names: What rows of the two classes are, after "the rows are".
        simulated: Whether the rows are made up.
        unseen: What becomes of categories and gaps that the training rows do not have.
        notes: Sentences that belong beside every result, among the limits.
        preparation: How raw rows become rows of this table, as the model carries it.
    """

    name: str
    title: str
    task: Task
    target: str
    classes: tuple[Value, Value] | None = None
    numeric: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    weight: str | None = None
    sensitive: tuple[str, ...] = ()
    special_values: dict[str, tuple[float, ...]] = Field(default_factory=dict)
    monotone: dict[str, Direction] = Field(default_factory=dict)
    labels: dict[str, ColumnLabel] = Field(default_factory=dict)
    row: str = "row"
    rows: str = "rows"
    event: str = ""
    class_names: tuple[str, str] | None = None
    simulated: bool = False
    unseen: WhenUnknown = "average"
    notes: tuple[str, ...] = ()
    preparation: list[dict[str, Any]] | None = None

    @classmethod
    def of(cls, given: "TableDescription | Mapping[str, Any]") -> Self:
        """The description that a file holds, or that is one already.

        Raises:
            InputError: If the content is none.
        """
        if isinstance(given, cls):
            return given
        return checked(cls, given, "The description of the table")

    def to_json(self) -> dict[str, Any]:
        """As plain values, which `of` takes back."""
        return self.model_dump(mode="json")

    @property
    def features(self) -> tuple[str, ...]:
        """The columns that models read, in their order."""
        return (*self.numeric, *self.categorical)

    @property
    def is_regression(self) -> bool:
        """Whether the target is a number and not a class."""
        return self.task == "regression"

    @property
    def rate(self) -> str:
        """What the mean of the target is called."""
        if self.is_regression:
            return f"mean {self.target}"
        return f"rate of {self.event}" if " " in self.event else f"{self.event} rate"

    @property
    def effect(self) -> str:
        """What the components of a model add up to."""
        return self.target if self.is_regression else f"log-odds of {self.event}"
