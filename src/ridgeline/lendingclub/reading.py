"""Open the published CSV files on an Ibis backend, every cell as text.

Each file is read to its end before an engine opens it: `raw_text` proves that it is
whole, and `line_counting` counts what the engine has to account for.
"""

from collections.abc import Sequence
from glob import glob
from pathlib import Path
from typing import Any, NamedTuple

import ibis
import ibis.expr.types as ir

from ridgeline.errors import InputError
from ridgeline.lendingclub.headers import WHERE_TO_GET_THEM, checked_header
from ridgeline.lendingclub.line_counting import LONGEST_LINE, LineCount, count_lines
from ridgeline.lendingclub.raw_text import printable, unreadable
from ridgeline.lendingclub.schema import RawFile

__all__ = ["PublishedTable", "find_files", "open_rows", "read_published"]

_MALFORMED = "_malformed"


class PublishedTable(NamedTuple):
    """One published file: its rows as text, and the lines that are no rows."""

    rows: ir.Table  # every cell text, empty cells null
    malformed: ir.Table  # text: the whole line; filled once `rows` have been read
    lines: LineCount  # what the two have to add up to


def find_files(pattern: str, kind: RawFile) -> list[str]:
    """Return the files that a path or glob pattern names, checked by their header.

    Args:
        pattern: A path, or a pattern such as `data/01_raw/accepted*.csv*`.

    Raises:
        InputError: If nothing matches, or a match is not that published file.
    """
    paths = _matches(pattern)
    if not paths:
        message = f"No {kind} file at '{printable(pattern)}'. {WHERE_TO_GET_THEM}"
        raise InputError(message)
    for path in paths:
        if f"{path}.gz" in paths:
            message = (
                f"'{printable(pattern)}' finds '{printable(path)}' and its archive "
                f"'{printable(path)}.gz', so every row would count twice. Name one of "
                f"them."
            )
            raise InputError(message)
    headers = [checked_header(Path(path), kind) for path in paths]
    for path, header in zip(paths, headers, strict=True):
        if header != headers[0]:
            message = (
                f"'{printable(path)}' has other columns than '{printable(paths[0])}': "
                f"files read together need the same header. Pass one of them, or make "
                f"them alike."
            )
            raise InputError(message)
    return paths


def read_published(
    connection: ibis.BaseBackend, paths: Sequence[str], kind: RawFile
) -> PublishedTable:
    """Count the lines of published files and open them as a table of text cells.

    Raises:
        InputError: If a file is damaged or cannot be read as it was meant.
    """
    header = checked_header(Path(paths[0]), kind)
    counts = [count_lines(Path(path), header, kind) for path in paths]
    lines = LineCount(*(sum(column) for column in zip(*counts, strict=True)))
    rows, malformed = _open(connection, list(paths), header, kind)
    return PublishedTable(rows, malformed, lines)


def open_rows(
    connection: ibis.BaseBackend, paths: Sequence[str], kind: RawFile
) -> ir.Table:
    """Open published files unchecked, for a look at their first rows."""
    header = checked_header(Path(paths[0]), kind)
    return _open(connection, list(paths), header, kind)[0]


def _matches(pattern: str) -> list[str]:
    try:
        if Path(pattern).exists():
            return [pattern]  # a name may have brackets, too
    except OSError as error:
        raise unreadable(pattern, error) from error
    return sorted(glob(pattern))  # noqa: PTH207  the pattern may be absolute


def _open(
    connection: ibis.BaseBackend, paths: list[str], header: list[str], kind: RawFile
) -> tuple[ir.Table, ir.Table]:
    """Return the rows, and the lines that are none."""
    reader = _open_with_spark if connection.name == "pyspark" else _open_with_duckdb
    return reader(connection, paths, header, kind)


def _open_with_duckdb(
    connection: Any, paths: list[str], header: list[str], kind: RawFile
) -> tuple[ir.Table, ir.Table]:
    # DuckDB keeps lines with too few or too many fields in a table of its own, which
    # it creates with the first scan and fills with every one.
    rejects = ibis.util.gen_name(f"{kind}_malformed")
    rows = connection.read_csv(
        paths,
        columns=dict.fromkeys(header, "VARCHAR"),
        auto_detect=False,
        header=True,
        delim=",",
        quote='"',
        escape='"',
        max_line_size=LONGEST_LINE,
        store_rejects=True,
        rejects_table=rejects,
        rejects_scan=f"{rejects}_scans",
    )
    connection.raw_sql(f'SELECT 1 FROM "{rows.get_name()}" LIMIT 1').fetchall()
    # A line is reported once for each scan and each field that it lacks.
    malformed = connection.table(rejects).select("file_id", "line", text="csv_line")
    return rows, malformed.distinct().select("text")


def _open_with_spark(
    connection: Any, paths: list[str], header: list[str], kind: RawFile
) -> tuple[ir.Table, ir.Table]:
    from pyspark.sql.types import StringType, StructField, StructType

    table = connection.read_csv(
        paths,
        schema=StructType(
            [StructField(name, StringType()) for name in [*header, _MALFORMED]]
        ),
        inferSchema=None,
        header=True,
        escape='"',
        multiLine=True,
        columnNameOfCorruptRecord=_MALFORMED,
    )
    is_row = table[_MALFORMED].isnull()
    # To Spark a quoted empty cell is a text of no length.
    cells = {name: table[name].nullif("") for name in header}
    # Spark refuses a query of this column alone: ask another something always true.
    always = table[header[0]].substr(0, 0).fill_null("") == ""
    return (
        table.filter(is_row).select(**cells),
        table.filter(~is_row, always).select(text=_MALFORMED),
    )
