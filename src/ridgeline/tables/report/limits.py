"""What the results do not say, in sentences that belong beside them."""

from collections.abc import Mapping, Sequence

from ridgeline.reporting.labels import label_of
from ridgeline.reporting.words import listed
from ridgeline.tables.description import TableDescription
from ridgeline.tables.report.labels import labels_of

__all__ = ["limits"]


def limits(
    table: TableDescription,
    *,
    beyond: Mapping[str, int] | None = None,
    warnings: Sequence[str] = (),
) -> list[str]:
    """Limits of a model of a table, those that the table brings along last.

    Args:
        beyond: Cells of the test rows beyond the range of the training rows, by column.
        warnings: Further sentences, such as those about small numbers.
    """
    found = [*warnings]
    if table.simulated:
        found.append(
            f"The {table.rows} are simulated: the figures show that the method works, "
            f"and nothing about real {table.rows}."
        )
    if beyond:
        found.append(_beyond(beyond, table))
    return [*found, *table.notes]


def _beyond(counts: Mapping[str, int], table: TableDescription) -> str:
    labels = labels_of(table)
    total = sum(counts.values())
    of = listed(
        f"{label_of(name, labels).title.lower()} ({count:,})"
        for name, count in sorted(counts.items(), key=lambda item: -item[1])
    )
    cells = "One cell" if total == 1 else f"{total:,} cells"
    return (
        f"{cells} of the test rows lie{'s' * (total == 1)} beyond the range of the "
        f"training rows: {of}. There the curves stay at their edges."
    )
