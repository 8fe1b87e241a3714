"""`ridgeline score` and `ridgeline drift`: tables of any size, in chunks."""

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ridgeline.command.models import open_model
from ridgeline.command.policies import chosen_policy
from ridgeline.command.reading import read_chunks
from ridgeline.command.writing import check_output, writing
from ridgeline.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["drift", "score"]


def score(arguments: argparse.Namespace) -> None:
    """Scores every row of a table."""
    check_output(arguments.output)
    scorer, policy = open_model(arguments.model), chosen_policy(arguments)
    from ridgeline.decisions.scoring import Decider

    decider = Decider(scorer, policy)
    keep = list(dict.fromkeys(arguments.keep))
    refused = _Refused(arguments.output)
    done = 0
    chunks = read_chunks(arguments.file, scorer, arguments.chunk_rows, keep)
    with writing(arguments.output) as write, refused, _progress("scored") as tell:
        for chunk in filter(len, chunks):
            found = decider.score(chunk, first=done + 1)
            write(_with_kept(found.scores, chunk, keep, done))
            refused.add(found.refused)
            done += len(chunk)
            tell(done)
        if not done:
            message = (
                f"The table {arguments.file!r} has no rows; pass a file with rows."
            )
            raise InputError(message)
    refused.say(done)


def drift(arguments: argparse.Namespace) -> None:
    """Compares a table with the training rows."""
    check_output(arguments.output, (".html", ".htm"))
    scorer = open_model(arguments.model)
    from ridgeline.decisions.drift import DriftMeter

    meter, done = DriftMeter(scorer), 0
    with _progress("compared") as tell:
        for chunk in read_chunks(arguments.file, scorer, arguments.chunk_rows):
            meter.count(chunk)
            done += len(chunk)
            tell(done)
    found = meter.result()
    if arguments.output is not None:
        found.save(arguments.output)
    table = found.table.round({"psi": 4, "by_chance": 4})
    sys.stdout.write(table.to_string(index=False) + "\n")
    _note(
        f"{found.rows:,} rows against {found.training_rows:,} training rows; "
        f"{found.refused:,} could not be scored"
    )


def _with_kept(
    scores: "pd.DataFrame", chunk: "pd.DataFrame", keep: list[str], before: int
) -> "pd.DataFrame":
    """Scores with columns of the table behind the row's number."""
    places = scores["row"].to_numpy() - before - 1
    for at, name in enumerate(keep, start=1):
        label = name if name not in scores else f"{name}_given"
        scores.insert(at, label, chunk[name].to_numpy()[places])
    return scores


class _Refused:
    """Rows that cannot be scored: counted, and written beside the output."""

    def __init__(self, output: str | None) -> None:
        self._path = None if output is None else Path(f"{output}.refused.csv")
        self._count = 0
        self._first = ""
        self._open: Any = nullcontext()
        self._write: Callable[[Any], None] | None = None

    def __enter__(self) -> None:
        # A file of a former run would speak of other rows.
        if self._path is not None and self._path.exists():
            self._begin()

    def __exit__(self, *error: Any) -> None:
        self._open.__exit__(*error)

    def add(self, rows: "pd.DataFrame") -> None:
        """Takes the refused rows of a chunk."""
        if len(rows) and self._write is None and self._path is not None:
            self._begin()
        if self._write is not None:
            self._write(rows)
        if len(rows) and not self._first:
            row, column, reason = rows.iloc[0]
            self._first = f"row {row}: {column!r} {reason}"
        self._count += len(rows)

    def say(self, rows: int) -> None:
        """Tells how many there were."""
        if self._count:
            where = "" if self._path is None else f", all in {self._path}"
            _note(
                f"{self._count:,} of {rows:,} rows cannot be scored ({self._first})"
                f"{where}"
            )

    def _begin(self) -> None:
        self._open = writing(self._path)
        self._write = self._open.__enter__()


def _note(message: str) -> None:
    sys.stderr.write(f"ridgeline: {message}\n")


@contextmanager
def _progress(what: str) -> Iterator[Callable[[int], None]]:
    """Counts rows on a terminal, once the first chunk is done."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console

    status = Console(stderr=True).status("")

    def tell(rows: int) -> None:
        status.update(f"{rows:,} rows {what}")
        status.start()

    try:
        yield tell
    finally:
        status.stop()
