"""LendingClub's two published files, simulated with their dirt and a known truth.

The class comes first, because it is the file; then the month, then (for declined
applications) whether there is a score, then all other cells, independently. The
probabilities stand in `distributions`; what they imply about approval in `truth`.

Rows are drawn in chunks of fixed size, each from its own seed. A longer file therefore
starts with the shorter one, memory stays bounded, and chunks can be made in parallel.
"""

import gzip
import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache, partial
from pathlib import Path
from typing import BinaryIO, Final, cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ridgeline.errors import InputError
from ridgeline.files import replacing
from ridgeline.lendingclub.schema import COLUMNS, MONTH_NAMES, RawFile
from ridgeline.lendingclub.simulator import distributions, profile
from ridgeline.lendingclub.simulator.blocks import (
    Block,
    Drawn,
    make_block,
    running_block,
    to_batch,
    to_lines,
)
from ridgeline.lendingclub.simulator.distributions import MISSING, MONTHS
from ridgeline.lendingclub.simulator.filler import POOL, filler_block

__all__ = ["CHUNK", "simulate", "write_published"]

CHUNK: Final = 25_000  # rows drawn from one seed
_WORKERS: Final = min(4, os.cpu_count() or 1)  # more would only wait for the disk

Integers = NDArray[np.int64]

# Accepted loans have the columns that the form got in December 2015 from then on.
_LATE_MONTH: Final = distributions.month_index("2015-12")
_GZIP_LEVEL: Final = 1  # simulated files are written once and read a few times
_PLACES: Final = (("112xx", "NY"), ("606xx", "IL"), ("770xx", "TX"), ("941xx", "CA"))


def simulate(kind: RawFile, rows: int, seed: int) -> Iterator[pa.RecordBatch]:
    """Simulates one published file, as batches of text columns.

    Args:
        kind: `accepted` or `rejected`.
        rows: Applications over the whole period; the accepted file's closing lines
            come on top.
        seed: Equal seeds give equal rows; a longer file starts with the shorter one.

    Yields:
        Batches in the published layout; an empty cell is null.

    Raises:
        InputError: If the kind is unknown, or rows or seed are negative.
    """
    _check(kind, rows, seed)
    return (to_batch(draw()) for draw in _chunks(kind, rows, seed))


def write_published(kind: RawFile, path: Path, rows: int, seed: int) -> None:
    """Writes one simulated file as it was published, or leaves nothing behind.

    Args:
        kind: `accepted` or `rejected`.
        path: Target; a name that ends in `.gz` is compressed.
        rows: Applications over the whole period.
        seed: Equal arguments give equal bytes.

    Raises:
        InputError: If the kind is unknown, or rows or seed are negative.
    """
    _check(kind, rows, seed)
    with replacing(path) as part, part.open("xb") as file:
        if path.suffix == ".gz":
            # No name and no time in the header: equal arguments, equal bytes.
            with gzip.GzipFile("", "wb", _GZIP_LEVEL, file, mtime=0) as packed:
                _write(cast("BinaryIO", packed), kind, rows, seed)
        else:
            _write(file, kind, rows, seed)


def _check(kind: RawFile, rows: int, seed: int) -> None:
    """Refuses what cannot be simulated."""
    if kind not in COLUMNS:
        message = f"The kind is {kind!r}; it must be one of {', '.join(COLUMNS)}."
        raise InputError(message)
    for name, value in (("rows", rows), ("seed", seed)):
        if value < 0:
            message = f"Got {name}={value}; it must be zero or more."
            raise InputError(message)


def _chunks(kind: RawFile, rows: int, seed: int) -> Iterator[Callable[[], list[Drawn]]]:
    """What draws each chunk, and the closing lines of the accepted file."""
    for first in range(0, rows, CHUNK):
        yield partial(_chunk, kind, rows, seed, first)
    if kind == "accepted":
        yield partial(_footer, rows)


def _write(file: BinaryIO, kind: RawFile, rows: int, seed: int) -> None:
    """Writes header and lines, while other threads make the next chunks."""
    file.write(f"{','.join(COLUMNS[kind])}\n".encode())
    with ThreadPoolExecutor(_WORKERS) as pool:
        pending: deque[Future[memoryview]] = deque()
        for draw in _chunks(kind, rows, seed):
            pending.append(pool.submit(_lines, draw))
            # A bounded queue: finished chunks wait in memory for their turn.
            if len(pending) > _WORKERS:
                file.write(pending.popleft().result())
        for lines in pending:
            file.write(lines.result())


def _lines(draw: Callable[[], list[Drawn]]) -> memoryview:
    return to_lines(draw())


def _chunk(kind: RawFile, rows: int, seed: int, first: int) -> list[Drawn]:
    """Draws one chunk, whole, and cuts what lies beyond the rows asked for."""
    sequence = [seed, list(COLUMNS).index(kind), first // CHUNK]
    generator = np.random.default_rng(np.random.SeedSequence(sequence))
    if kind == "accepted":
        drawn = _draw_accepted(generator, first)
    else:
        drawn = _draw_rejected(generator)
    return [(block, positions[: rows - first]) for block, positions in drawn]


def _draw_rejected(generator: np.random.Generator) -> list[Drawn]:
    """Draws declined applications: positions in the blocks, in the file's order."""
    tables = distributions.rejected_tables()
    month = tables["month"].draw(generator, CHUNK)
    scored = generator.random(CHUNK) < distributions.scored_shares()[month]
    group = distributions.rejected_groups(month, scored)
    score = np.zeros(CHUNK, dtype=np.int64)  # the block's first row is the empty cell
    kind_of_score = group[scored] - distributions.SCORED_GROUP
    score[scored] = 1 + tables["score"].draw(
        generator, len(kind_of_score), kind_of_score
    )
    amount, dti, employment, category = (
        tables[name].draw(generator, CHUNK, group)
        for name in ("amount", "dti", "employment", "category")
    )
    policy = generator.random(CHUNK) < profile.POLICY_TWO / 100
    blocks = _rejected_blocks()
    return [
        (blocks["amount"], amount),
        (blocks["day"], _days(generator, month)),
        (blocks["title"], _titles(generator, month, scored, category)),
        (blocks["score"], score),
        (blocks["dti"], dti),
        (blocks["place"], generator.integers(0, len(_PLACES), CHUNK)),
        (blocks["employment"], 2 * employment + policy),
    ]


def _draw_accepted(generator: np.random.Generator, first: int) -> list[Drawn]:
    """Draws accepted loans: positions in the blocks, in the file's order."""
    tables = distributions.accepted_tables()
    month = tables["month"].draw(generator, CHUNK)
    score = tables["score"].draw(generator, CHUNK, month // 12)
    amount, dti, employment, category = (
        tables[name].draw(generator, CHUNK)
        for name in ("amount", "dti", "employment", "category")
    )
    undated = generator.random(CHUNK) < profile.MISSING_ISSUE_DATE / 100
    row = generator.integers(0, POOL // 2, CHUNK)
    row += POOL // 2 * (month >= _LATE_MONTH)
    blocks = _accepted_blocks()
    return [
        (running_block("id", first + 1, CHUNK), np.arange(CHUNK)),
        (blocks["amount"], amount),
        (filler_block("term", "emp_title"), row),
        (blocks["employment"], employment),
        (filler_block("home_ownership", "verification_status"), row),
        (blocks["month"], np.where(undated, MONTHS, month)),
        (filler_block("loan_status", "desc"), row),
        (blocks["purpose"], category),
        (filler_block("title", "addr_state"), row),
        (blocks["dti"], dti),
        (filler_block("delinq_2yrs", "earliest_cr_line"), row),
        (blocks["score"], score),
        (filler_block("inq_last_6mths", "settlement_term"), row),
    ]


def _days(generator: np.random.Generator, month: Integers) -> Integers:
    """Days since the first of the period, any day of the month alike."""
    starts = _month_starts()
    lengths = np.diff(starts)
    day = generator.random(len(month)) * lengths[month]
    return starts[month] + day.astype(np.int64)


def _titles(
    generator: np.random.Generator,
    month: Integers,
    scored: NDArray[np.bool_],
    category: Integers,
) -> Integers:
    """Rows of the title block: codes, display names, free texts, and the empty one."""
    count = len(profile.CATEGORIES)
    coded = (
        generator.random(len(month))
        < distributions.code_spelling()[scored.astype(np.int64), month]
    )
    title = np.where(coded, category, count + category)
    title = np.where(category == count, 2 * count, title)
    written = 100 * generator.random(len(month)) < profile.FREE_TITLE_SHARE
    written &= month < distributions.month_index(profile.FREE_TITLE_END)
    text = generator.integers(0, len(profile.FREE_TITLES), len(month))
    return np.where(written, 2 * count + 1 + text, title)


@cache
def _month_starts() -> Integers:
    """Days from the start of the period to the start of each month and to its end."""
    first = np.datetime64(f"{profile.FIRST_YEAR}-01", "M")
    days = (first + np.arange(MONTHS + 1)).astype("datetime64[D]")
    return np.asarray((days - days[0]).astype(np.int64))


@cache
def _rejected_blocks() -> dict[str, Block]:
    """The rejected file's cells: positions are those of the tables' supports."""
    first = np.datetime64(f"{profile.FIRST_YEAR}-01-01")
    days = (first + np.arange(_month_starts()[-1])).astype(str).tolist()
    codes = [row[0] for row in profile.CATEGORIES]
    displays = [row[1] for row in profile.CATEGORIES]
    titles = [*codes, *displays, None, *profile.FREE_TITLES]
    scores = [None, *(f"{score}.0" for score in distributions.SCORES)]
    employments = [
        (text, policy)
        for text in distributions.EMPLOYMENT_TEXTS
        for policy in ("0.0", "2.0")
    ]
    return {
        "amount": _column(
            "Amount Requested", [f"{a}.0" for a in distributions.AMOUNTS]
        ),
        "day": _column("Application Date", days),
        "title": _column("Loan Title", titles),
        "score": _column("Risk_Score", scores),
        "dti": _column("Debt-To-Income Ratio", [_percent(x) for x in _dti_values()]),
        "place": make_block(["Zip Code", "State"], _PLACES),
        "employment": make_block(["Employment Length", "Policy Code"], employments),
    }


@cache
def _accepted_blocks() -> dict[str, Block]:
    """The accepted file's cells that matter, with neighbours that repeat them."""
    amounts = [(None, *(f"{amount}.0",) * 3) for amount in distributions.AMOUNTS]
    months = [
        f"{MONTH_NAMES[month % 12]}-{profile.FIRST_YEAR + month // 12}"
        for month in range(MONTHS)
    ]
    bands = [
        (f"{low}.0", f"{low + 4 if low < distributions.BANDS[-1] else 850}.0")
        for low in distributions.BANDS
    ]
    dti = [None if x == MISSING else str(x / 100) for x in _dti_values()]
    return {
        "amount": make_block(
            ["member_id", "loan_amnt", "funded_amnt", "funded_amnt_inv"], amounts
        ),
        "employment": _column("emp_length", distributions.EMPLOYMENT_TEXTS),
        "month": _column("issue_d", [*months, None]),
        "purpose": _column("purpose", [code for code, *_ in profile.CATEGORIES]),
        "dti": _column("dti", dti),
        "score": make_block(["fico_range_low", "fico_range_high"], bands),
    }


def _column(name: str, cells: Sequence[str | None]) -> Block:
    return make_block([name], [(cell,) for cell in cells])


def _dti_values() -> list[int]:
    return [int(value) for value in distributions.DTI_HUNDREDTHS]


def _percent(hundredths: int) -> str | None:
    """Spells hundredths as the rejected file does: 54.58%, 12.9%, 100%, -1%."""
    if hundredths == MISSING:
        return None
    return f"{hundredths / 100:.2f}".rstrip("0").rstrip(".") + "%"


def _footer(rows: int) -> list[Drawn]:
    """The closing lines of the accepted file: a sentence in `id`, all else empty."""
    share = rows / profile.FILE_ROWS["accepted"]
    count = max(2, round(profile.FOOTER_ROWS * share))
    sentences = [
        f"Total amount funded in policy code {1 + line % 2}: "
        f"{460_296_150 + 13_704_025 * line}"
        for line in range(count)
    ]
    empty = [None] * (len(COLUMNS["accepted"]) - 1)
    block = make_block(COLUMNS["accepted"], [(text, *empty) for text in sentences])
    return [(block, np.arange(count))]
