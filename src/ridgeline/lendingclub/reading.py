"""Open the published CSV files on an Ibis backend, every cell as text.

What must be known before a scan of gigabytes starts is checked here on the first
line alone: is this file there, is it CSV, is it the right one of the two?
"""

import csv
import gzip
import hashlib
from collections.abc import Sequence
from glob import glob
from pathlib import Path
from typing import Any, NamedTuple

import ibis
import ibis.expr.types as ir

from ridgeline.errors import InputError
from ridgeline.lendingclub.schema import COLUMNS, SOURCES, Kind

__all__ = ["PublishedTable", "find_files", "fingerprint", "read_published"]

WHERE_TO_GET_THEM = (
    "People have the two files from Kaggle's data set 'wordsforthewise/lending-club' "
    "(accepted_2007_to_2018Q4.csv.gz and rejected_2007_to_2018Q4.csv.gz). "
    "Name yours with --params accepted=PATH,rejected=PATH "
    "or in conf/files/globals.yml."
)
_GZIP_MAGIC = b"\x1f\x8b"
_LONGEST_HEADER = 100_000  # bytes; the published ones have some 2,500
_MALFORMED = "_malformed"


class PublishedTable(NamedTuple):
    """One published file: its rows as text, and the lines that are no rows."""

    rows: ir.Table  # every cell text, empty cells null
    malformed: ir.Table  # text: the whole line; filled once `rows` have been read


def find_files(pattern: str, kind: Kind) -> list[str]:
    """Return the files that a path or glob pattern names, checked by their header.

    Args:
        pattern: A path, or a pattern such as `data/01_raw/accepted*.csv*`.
        kind: Which of the two published files is expected.

    Raises:
        InputError: If nothing matches, or a match is not that published file.
    """
    paths = sorted(glob(pattern))  # noqa: PTH207  the pattern may be absolute
    if not paths:
        message = f"No {kind} file at '{pattern}'. {WHERE_TO_GET_THEM}"
        raise InputError(message)
    headers = [_checked_header(Path(path), kind) for path in paths]
    for path, header in zip(paths, headers, strict=True):
        if header != headers[0]:
            message = (
                f"'{path}' has other columns than '{paths[0]}': files read together "
                f"need the same header. Pass one of them, or make them alike."
            )
            raise InputError(message)
    return paths


def read_published(
    connection: ibis.BaseBackend, paths: Sequence[str], kind: Kind
) -> PublishedTable:
    """Open published files of one kind as a lazy table of text cells.

    Args:
        connection: An Ibis backend: DuckDB, or PySpark.
        paths: What `find_files` returned.
        kind: Which of the two published files these are.
    """
    header = _checked_header(Path(paths[0]), kind)
    reader = _read_with_spark if connection.name == "pyspark" else _read_with_duckdb
    return reader(connection, list(paths), header, kind)


def fingerprint(paths: Sequence[str]) -> str:
    """Return the SHA-256 over the bytes of all files, in the order given."""
    digest = hashlib.sha256()
    for path in paths:
        with Path(path).open("rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
    return digest.hexdigest()


def _read_with_duckdb(
    connection: Any, paths: list[str], header: list[str], kind: Kind
) -> PublishedTable:
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
        store_rejects=True,
        rejects_table=rejects,
        rejects_scan=f"{rejects}_scans",
    )
    connection.raw_sql(f'SELECT 1 FROM "{rows.get_name()}" LIMIT 1').fetchall()
    # A line is reported once for each scan and each field that it lacks.
    malformed = connection.table(rejects).select("file_id", "line", text="csv_line")
    return PublishedTable(rows, malformed.distinct().select("text"))


def _read_with_spark(
    connection: Any, paths: list[str], header: list[str], kind: Kind
) -> PublishedTable:
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
    return PublishedTable(
        table.filter(is_row).select(**cells),
        table.filter(~is_row, always).select(text=_MALFORMED),
    )


def _checked_header(path: Path, kind: Kind) -> list[str]:
    header = _header(path, kind)
    needed = SOURCES[kind].values()
    missing = [name for name in needed if name not in header]
    if not missing:
        return header
    other: Kind = "rejected" if kind == "accepted" else "accepted"
    if all(name in header for name in SOURCES[other].values()):
        message = (
            f"'{path}' is LendingClub's {other} file, but was given as the {kind} "
            f"one. Swap the two paths."
        )
    else:
        message = (
            f"'{path}' lacks {_listed(missing)}, which the {kind} file needs; "
            f"its {len(header)} columns begin with {_listed(header[:5])}, where the "
            f"published file's {len(COLUMNS[kind])} begin with "
            f"{_listed(COLUMNS[kind][:5])}. {WHERE_TO_GET_THEM}"
        )
    raise InputError(message)


def _header(path: Path, kind: Kind) -> list[str]:
    if not path.is_file():
        message = f"'{path}' is a folder, not a {kind} CSV file. {WHERE_TO_GET_THEM}"
        raise InputError(message)
    with path.open("rb") as file:
        compressed = file.read(2) == _GZIP_MAGIC
    try:
        with (gzip.open if compressed else open)(path, "rb") as lines:
            first = lines.readline(_LONGEST_HEADER).decode("utf-8-sig")
        return next(csv.reader([first]), [])
    except (UnicodeDecodeError, csv.Error, gzip.BadGzipFile, EOFError) as error:
        message = (
            f"'{path}' is not a CSV file (nor one compressed with gzip): {error}. "
            f"Unpack archives first. {WHERE_TO_GET_THEM}"
        )
        raise InputError(message) from error


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"'{name}'" for name in names) or "nothing (it is empty)"
