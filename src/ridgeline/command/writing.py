"""Tables out, chunk by chunk: CSV, Parquet or JSON lines by the ending of the file.

Files are written beside their place and renamed when all rows are there.
"""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ridgeline.command.reading import parquet_package
from ridgeline.errors import InputError
from ridgeline.files import replacing

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["check_output", "writing"]

Write = Callable[["pd.DataFrame"], None]
_LINES: Final = (".jsonl", ".ndjson", ".json")
_ENDINGS: Final = (".csv", ".parquet", ".pq", *_LINES)
_WHOLE: Final = ("row", "cells_beyond_range")
_NUMBERS: Final = ("probability", "value", "log_odds", "points")


def check_output(path: str | None, endings: tuple[str, ...] = _ENDINGS) -> None:
    """Refuses a place where nothing can be written, before anything is computed.

    Raises:
        InputError: If it has another ending, is a folder, or is in no folder.
    """
    if path is None:
        return
    target = Path(path)
    if target.suffix.lower() not in endings:
        message = f"The output {path!r} must end in {', '.join(endings)}."
        raise InputError(message)
    if target.is_dir() or not target.resolve().parent.is_dir():
        what = "is a folder" if target.is_dir() else "is in a folder that is missing"
        message = f"The output {path!r} {what}; name a file in a folder that exists."
        raise InputError(message)
    if target.suffix.lower() in {".parquet", ".pq"}:
        parquet_package()


@contextmanager
def writing(path: str | Path | None) -> Iterator[Write]:
    """Gives a function that writes one chunk after the other.

    Args:
        path: The file, or None for CSV to the terminal.
    """
    if path is None:
        yield _csv_writer(sys.stdout)
        return
    ending = Path(path).suffix.lower()
    with replacing(path) as part:
        if ending in {".parquet", ".pq"}:
            with _parquet_writer(part) as write:
                yield write
            return
        with part.open("w", encoding="utf-8", newline="") as opened:
            lines = ending in _LINES
            yield _lines_writer(opened) if lines else _csv_writer(opened)


def _csv_writer(opened: Any) -> Write:
    first = True

    def write(frame: "pd.DataFrame") -> None:
        nonlocal first
        frame.to_csv(opened, index=False, header=first, lineterminator="\n")
        first = False

    return write


def _lines_writer(opened: Any) -> Write:
    def write(frame: "pd.DataFrame") -> None:
        # Not pandas' own, which rounds numbers to fifteen digits.
        plain = frame.astype(object).where(frame.notna(), None)
        for record in plain.to_dict("records"):
            opened.write(json.dumps(record, ensure_ascii=False, default=_plain) + "\n")

    return write


def _plain(value: Any) -> Any:
    """A number of NumPy as Python's own, anything else as text."""
    return value.item() if hasattr(value, "item") else str(value)


@contextmanager
def _parquet_writer(part: Path) -> Iterator[Write]:
    package = parquet_package()
    import pyarrow as pa

    opened: Any = None

    def schema(frame: "pd.DataFrame") -> Any:
        # By name: a chunk without reasons would not tell that they are text.
        kinds = dict.fromkeys(_WHOLE, pa.int64()) | dict.fromkeys(
            _NUMBERS, pa.float64()
        )
        return pa.schema([(c, kinds.get(c, pa.string())) for c in frame.columns])

    def write(frame: "pd.DataFrame") -> None:
        nonlocal opened
        if opened is None:
            opened = package.ParquetWriter(part, schema(frame))
        texts = [f.name for f in opened.schema if f.type == pa.string()]
        plain = frame.copy(deep=False)
        for name in texts:
            plain[name] = _texts(frame[name])
        table = pa.Table.from_pandas(plain, opened.schema, preserve_index=False)
        opened.write_table(table)

    try:
        yield write
    finally:
        if opened is not None:
            opened.close()


def _texts(cells: Any) -> list[str | None]:
    gaps = cells.isna()
    return [None if g else str(c) for c, g in zip(cells, gaps, strict=True)]
