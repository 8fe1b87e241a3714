"""Nodes of the ingestion pipeline."""

import ibis
import ibis.expr.types as ir

from ridgeline.lendingclub.parsing import parse_applications
from ridgeline.lendingclub.reading import PublishedTable

__all__ = ["type_applications"]


def type_applications(
    accepted: PublishedTable, rejected: PublishedTable
) -> tuple[ir.Table, ir.Table, dict[str, dict[str, int]]]:
    """Bring the two published files into one typed table; drop nothing.

    Returns:
        The typed applications; the lines that are no rows (`class`, `text`); and by
        class the number of lines that these two have to account for. The second is
        filled while the first is saved, so it has to be saved after it.
    """
    tables = {"accepted": accepted, "rejected": rejected}
    malformed = ibis.union(
        *(
            table.malformed.mutate(**{"class": ibis.literal(name)})
            for name, table in tables.items()
        )
    )
    lines = {name: table.lines._asdict() for name, table in tables.items()}
    return parse_applications(accepted.rows, rejected.rows), malformed, lines
