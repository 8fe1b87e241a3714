"""Open a table in CSV or Parquet on DuckDB through Ibis."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import ibis
import ibis.expr.types as ir

from ridgeline.errors import InputError

__all__ = ["EXAMPLE", "ReadTable", "read_table", "table_name"]

EXAMPLE: Final = "example"  # the table that needs no file
# Cells that stand for a missing value in CSV files; Parquet has its own.
MISSING: Final = ("", "NA", "N/A", "NaN", "nan", "null", "NULL", "None")
_CSV: Final = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".txt")
_PARQUET: Final = (".parquet", ".pq")
_LONGEST_LINE: Final = 16 * 2**20


class ReadTable(NamedTuple):
    """A table as it was read."""

    name: str
    rows: ir.Table
    malformed: ir.Table  # text: lines that are no rows; filled once `rows` are read
    simulated: bool = False
    settings: Mapping[str, Any] = {}  # what the table brings along, if it is known


def table_name(path: str) -> str:
    """The name of a table, from that of its file: letters, digits, `-` and `_`."""
    name = Path(path).name.lower()
    for ending in (*_CSV, *_PARQUET):
        name = name.removesuffix(ending)
    plain = "".join(sign if sign.isalnum() or sign in "-_" else "-" for sign in name)
    return plain.strip("-_") or "table"


def read_table(connection: Any, path: str) -> ReadTable:
    """Open a table; its rows are read where they are needed.

    CSV has a header line. What separates cells, and what type a column has, DuckDB
    finds from all lines. Lines with too few or too many cells are kept aside.

    Raises:
        InputError: If the file is missing, of another kind, or cannot be read.
    """
    _check_file(path)
    read = _read_parquet if path.lower().endswith(_PARQUET) else _read_csv
    try:
        rows, malformed = read(connection, path)
        rows.limit(1).execute()
    except InputError:
        raise
    except Exception as error:  # an engine fails in many ways
        said = str(error).strip().partition("\n")[0]
        message = (
            f"The table '{path}' cannot be read: {said} Look at the file, or save it "
            "as Parquet."
        )
        raise InputError(message) from error
    if not rows.columns:
        message = f"The table '{path}' has no columns; it needs a header and rows."
        raise InputError(message)
    return ReadTable(table_name(path), rows, malformed)


def _check_file(path: str) -> None:
    file = Path(path)
    if not file.exists():
        message = (
            f"There is no table at '{path}': pass --params table=PATH of a CSV or "
            f"Parquet file, or table={EXAMPLE} for the embedded one."
        )
        raise InputError(message)
    if not path.lower().endswith((*_CSV, *_PARQUET)) or not file.is_file():
        message = (
            f"The table '{path}' is no file that ends in {', '.join(_CSV[:2])} or "
            f"{_PARQUET[0]}; save it as one of these."
        )
        raise InputError(message)
    if not file.stat().st_size:
        message = f"The table '{path}' is empty; it needs a header and rows."
        raise InputError(message)


def _read_parquet(connection: Any, path: str) -> tuple[ir.Table, ir.Table]:
    rows = connection.read_parquet(path)
    return rows, rows.limit(0).select(text=ibis.literal(""))


def _read_csv(connection: Any, path: str) -> tuple[ir.Table, ir.Table]:
    rejects = ibis.util.gen_name("table_malformed")
    rows = connection.read_csv(
        path,
        header=True,
        # All lines: the first ones need not tell what the others hold.
        sample_size=-1,
        nullstr=list(MISSING),
        max_line_size=_LONGEST_LINE,
        store_rejects=True,
        rejects_table=rejects,
        rejects_scan=f"{rejects}_scans",
    )
    # DuckDB makes the table of rejected lines with the first scan.
    connection.raw_sql(f'SELECT 1 FROM "{rows.get_name()}" LIMIT 1').fetchall()
    # A line is reported once for each scan and each cell that it lacks.
    malformed = connection.table(rejects).select("file_id", "line", text="csv_line")
    return rows, malformed.distinct().select("text")
