"""What people call the columns of a table."""

from ridgeline.reporting.labels import Label
from ridgeline.tables.description import TableDescription

__all__ = ["labels_of"]


def labels_of(table: TableDescription) -> dict[str, Label]:
    """Titles and units by column; columns without one are called by their names."""
    return {name: Label(own.title, own.unit) for name, own in table.labels.items()}
