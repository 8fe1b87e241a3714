"""Tables in, chunk by chunk: CSV by pandas, Parquet by pyarrow.

Cells of categories are read as text, so that a category '36' is no number.
"""

import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ridgeline.errors import InputError, MissingPackageError
from ridgeline.xnn.columns import quoted
from ridgeline.xnn.scorer import Scorer

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["parquet_package", "read_chunks", "read_row", "read_whole"]

_PARQUET: Final = (".parquet", ".pq")


def read_chunks(
    path: str, scorer: Scorer, rows: int, keep: Sequence[str] = ()
) -> "Iterator[pd.DataFrame]":
    """The columns of a model, and others to keep, so many rows at a time.

    Raises:
        InputError: If there is no such file, it is no table, or columns are missing.
    """
    _check(path)
    if is_parquet(path):
        yield from _parquet(path, rows, scorer, keep)
        return
    yield from _csv(path, rows, scorer, keep)


def read_row(path: str, scorer: Scorer, row: int, rows: int) -> "pd.DataFrame":
    """One row of a table, counted from 1.

    Raises:
        InputError: As for `read_chunks`, or if there are fewer rows.
    """
    before = 0
    for chunk in read_chunks(path, scorer, rows):
        if row <= before + len(chunk):
            return chunk.iloc[[row - before - 1]]
        before += len(chunk)
    message = f"The table {path!r} has {before} rows; --row {row} is beyond them."
    raise InputError(message)


def read_whole(path: str) -> "pd.DataFrame":
    """A whole table, with the types that its cells have.

    Raises:
        InputError: If there is no such file, or it is no table.
    """
    import pandas as pd

    _check(path)
    if is_parquet(path):
        parquet_package()
    with _refusing(path):
        if is_parquet(path):
            return pd.read_parquet(path)
        return pd.read_csv(path, low_memory=False)


def is_parquet(path: str) -> bool:
    """Whether a file is Parquet by its ending."""
    return path.lower().endswith(_PARQUET)


def parquet_package() -> Any:
    """The package that reads and writes Parquet.

    Raises:
        MissingPackageError: If it is not installed.
    """
    try:
        import pyarrow.parquet
    except ImportError:
        message = "Parquet needs the package pyarrow: pip install pyarrow, or use CSV."
        raise MissingPackageError(message) from None
    return pyarrow.parquet


def _check(path: str) -> None:
    if Path(path).is_file():
        return
    what = "is a folder" if Path(path).is_dir() else "does not exist"
    message = f"The table {path!r} {what}; pass the path of a CSV or Parquet file."
    raise InputError(message)


class _refusing:  # noqa: N801  # reads as a sentence where it is used
    """Turns what the readers of tables raise into one sentence."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: Any, _: Any) -> None:
        if error is None or isinstance(error, InputError | GeneratorExit):
            return
        # pandas and pyarrow derive theirs from these; files have errors of their own.
        if isinstance(error, ValueError | EOFError | OverflowError) or (
            isinstance(error, OSError) and error.errno is None
        ):
            lines = str(error).strip().splitlines() or [kind.__name__]
            message = (
                f"The table {self._path!r} cannot be read as "
                f"{'Parquet' if is_parquet(self._path) else 'CSV'} ({lines[0]:.200}); "
                "pass a whole file with a header."
            )
            raise InputError(message) from None


def _missing(path: str, wanted: Sequence[str], there: Sequence[str]) -> None:
    lacking = [name for name in wanted if name not in there]
    if lacking:
        message = (
            f"The table {path!r} lacks the columns {quoted(lacking)}; it has "
            f"{quoted(there)}."
        )
        raise InputError(message)


def _wanted(
    path: str, scorer: Scorer, there: Sequence[str], keep: Sequence[str]
) -> tuple[list[str], bool]:
    """The columns to read, and whether they are those of raw rows."""
    raw = None
    if scorer.preparation is not None:
        raw = scorer.preparation.format_of(there)
    names = scorer.features.names if raw is None else raw.sources
    wanted = list(dict.fromkeys([*names, *keep]))
    _missing(path, wanted, there)
    return wanted, raw is not None


def _parquet(
    path: str, rows: int, scorer: Scorer, keep: Sequence[str]
) -> "Iterator[pd.DataFrame]":
    package = parquet_package()
    with _refusing(path), package.ParquetFile(path) as file:
        wanted, _ = _wanted(path, scorer, file.schema_arrow.names, keep)
        for batch in file.iter_batches(batch_size=rows, columns=wanted):
            yield batch.to_pandas()


def _csv(
    path: str, rows: int, scorer: Scorer, keep: Sequence[str]
) -> "Iterator[pd.DataFrame]":
    import pandas as pd

    from ridgeline.decisions.cells import MISSING_TEXTS

    with _refusing(path):
        there = [str(name) for name in pd.read_csv(path, nrows=0).columns]
        wanted, raw = _wanted(path, scorer, there, keep)
        # Raw cells stay as they are: their preparation says what is no value.
        own = [] if raw else scorer.features.names
        texts = {
            name: {str(one) for one in known if one is not None}
            for name, known in scorer.features.categories.items()
            if name in own
        }
        gaps = {
            name: [text for text in MISSING_TEXTS if text not in texts.get(name, ())]
            if name in own
            else [""]
            for name in wanted
        }
        numbers = [n for n in there if n in own and n in scorer.features.numbers]
        # All columns: of a line with too many cells, chosen columns would be read as
        # if nothing were wrong.
        with pd.read_csv(
            path,
            index_col=False,
            dtype=dict.fromkeys([n for n in there if n not in numbers], object),
            na_values=gaps,
            keep_default_na=False,
            chunksize=rows,
            low_memory=False,
        ) as chunks:
            while (chunk := _next(chunks)) is not None:
                yield chunk[wanted]


def _next(chunks: "Iterator[pd.DataFrame]") -> "pd.DataFrame | None":
    """The next chunk; what pandas would only warn of, as lost cells, is refused."""
    from pandas.errors import ParserWarning

    with warnings.catch_warnings():
        warnings.simplefilter("error", ParserWarning)
        try:
            return next(chunks, None)
        except ParserWarning as warning:
            raise ValueError(str(warning)) from None
