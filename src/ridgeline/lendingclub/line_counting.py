"""Count the lines of a published file on the way in, apart from the engine.

What an engine reads and sets aside has to add up to what is counted here. One quote
too many makes a cell of all lines up to the next quote, and no engine complains; so
cells that run on over lines are followed, and a line inside one that looks like an
application stops the run. So does what makes engines stumble or differ: bytes that are
no UTF-8, zero bytes, mixed line ends, endless lines.

Gigabytes pass here: only lines with quotes are looked at one by one.
"""

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple, NoReturn

import numpy as np

from ridgeline.errors import InputError
from ridgeline.lendingclub.raw_text import printable, text_blocks
from ridgeline.lendingclub.schema import SOURCES, RawFile

__all__ = ["LONGEST_LINE", "LineCount", "count_lines"]

LONGEST_LINE: Final = 2_000_000  # bytes; published ones have some 2,000
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
# Cells of which all quoted ones are closed. A cell is quoted if a quote begins it, or
# (DuckDB's habit) one blank and a quote.
_QUOTED: Final = rb'"(?:[^"]++|"")*+"'
_CELL: Final = rb'(?: ?%b[^,]*|(?! ?")[^,]*)' % _QUOTED
_CLOSED: Final = re.compile(rb"%b(?:,%b)*+" % (_CELL, _CELL))
_DATE_LIKE: Final = re.compile(r"(?=.*\d)[\w/.-]{6,10}")


class LineCount(NamedTuple):
    """Physical lines below the headers, and those of them that begin no row."""

    lines: int
    blank: int = 0
    continued: int = 0  # inside a cell that began on an earlier line

    @property
    def rows(self) -> int:
        """Lines that an engine has to read as a row or to set aside."""
        return self.lines - self.blank - self.continued


class _Visited(NamedTuple):
    """A line with quotes, or inside a cell, and where its two ends lie."""

    start: int
    text: bytes
    begins_inside: bool
    ends_inside: bool


def count_lines(path: Path, header: Sequence[str], kind: RawFile) -> LineCount:
    """Read a file to its end and count its lines.

    Raises:
        InputError: If the file cannot be read as it was meant, with the line.
    """
    date_position = header.index(SOURCES[kind]["application_date"])
    counter = _Counter(path, len(header), date_position)
    blocks = text_blocks(path)
    try:
        for chunk in _whole_lines(blocks):
            counter.take(chunk)
        return counter.total()
    except InputError:
        # Where an archive is damaged, its text is only the symptom.
        for _ in blocks:
            pass
        raise


def _whole_lines(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Cut blocks behind line ends; a line that is too long comes as it is."""
    rest = b""
    for number, block in enumerate(blocks):
        text = rest + (block.removeprefix(_BYTE_ORDER_MARK) if number == 0 else block)
        cut = text.rfind(b"\n") + 1
        if cut or len(text) > LONGEST_LINE:
            cut = cut or len(text)
            yield text[:cut]
        rest = text[cut:]
    if rest:
        yield rest


def _is_closed(line: bytes, begins_inside: bool) -> bool:
    """Tell whether a line ends outside of quoted cells."""
    last = line.rfind(b'"')
    if last < 0:
        return not begins_inside
    # The cells before the first quote and behind the last are of no interest.
    end = line.find(b",", last)
    cells = line[: end if end >= 0 else len(line)]
    if begins_inside:
        return bool(_CLOSED.fullmatch(b'"' + cells))
    return bool(_CLOSED.fullmatch(cells, line.rfind(b",", 0, line.index(b'"')) + 1))


def _outside_of_cells(line: _Visited) -> bytes:
    """Return a line without its quoted cells, in which anything may stand."""
    if b'"' not in line.text and not line.begins_inside:
        return line.text
    whole = b'"' * line.begins_inside + line.text + b'"' * line.ends_inside
    return re.sub(_QUOTED, b"", whole)


class _Counter:
    """What is known of a file up to the line that was taken last."""

    def __init__(self, path: Path, fields: int, date_position: int) -> None:
        self._path, self._fields, self._date = path, fields, date_position
        self._lines = self._blank = self._continued = 0
        self._windows: bool | None = None  # lines end in \r\n, as the header does
        self._opened = 0  # number of the line on which the open cell began
        self._size = 0  # bytes of the row that has it

    def take(self, chunk: bytes) -> None:
        """Count whole lines; only the last of the file may lack its end."""
        self._check_bytes(chunk)
        if self._windows is None:
            self._windows = chunk.partition(b"\n")[0].endswith(b"\r")
        visited = self._follow_quotes(chunk)
        self._check_line_ends(chunk, visited)
        is_end = np.frombuffer(chunk, dtype=np.uint8) == ord("\n")
        if chunk[:1] in b"\r\n" or (is_end[1:] & is_end[:-1]).any() or self._windows:
            self._blank += self._blank_lines(chunk, visited)
        self._lines += int(np.count_nonzero(is_end)) + (not is_end[-1])

    def total(self) -> LineCount:
        """Return the counts, when the end of the file was reached."""
        if self._opened:
            self._refuse_quote(self._opened, "and it is not closed up to the end")
        count = LineCount(self._lines - 1, self._blank, self._continued)
        if count.rows == 0:
            self._refuse("has a header and no row below it", "Take the whole file")
        return count

    def _check_bytes(self, chunk: bytes) -> None:
        first = chunk.find(b"\n")
        if (first if first >= 0 else len(chunk)) > LONGEST_LINE:
            where = self._lines + 1
            self._refuse(
                f"has more than {LONGEST_LINE:,} bytes in line {where:,}",
                "No application is that long: take that line out",
            )
        if b"\0" in chunk:
            where = self._line_of(chunk, chunk.index(b"\0"))
            self._refuse(
                f"has a zero byte in line {where:,}, which is no text",
                "Copy or download it again, or convert it if it is UTF-16 "
                "(iconv -f utf-16 -t utf-8 FILE > NEW.csv)",
            )
        if chunk.isascii():
            return
        try:
            chunk.decode()
        except UnicodeDecodeError as error:
            where = self._line_of(chunk, error.start)
            self._refuse(
                f"is not UTF-8 text: line {where:,} has the byte "
                f"{chunk[error.start]:#04x}",
                "Convert it (iconv -f latin1 -t utf-8 FILE > NEW.csv)",
            )

    def _follow_quotes(self, chunk: bytes) -> list[_Visited]:
        """Look at lines that have quotes or lie inside a cell, and return them."""
        visited = []
        position, number = 0, self._lines + 1
        while position < len(chunk):
            start = position
            if not self._opened:
                quote = chunk.find(b'"', position)
                if quote < 0:
                    break
                start = max(chunk.rfind(b"\n", position, quote) + 1, position)
                number += chunk.count(b"\n", position, start)
            end = chunk.find(b"\n", start)
            end = len(chunk) if end < 0 else end
            line, begins_inside = chunk[start:end], bool(self._opened)
            self._follow_line(line, number)
            visited.append(_Visited(start, line, begins_inside, bool(self._opened)))
            position, number = end + 1, number + 1
        return visited

    def _follow_line(self, line: bytes, number: int) -> None:
        opened = self._opened
        self._opened = 0 if _is_closed(line, bool(opened)) else opened or number
        self._size = len(line) + (self._size if opened else 0)
        if not opened:
            return
        self._continued += 1
        if self._looks_like_a_row(line):
            self._refuse_quote(opened, f"and would swallow line {number:,}, a row")
        if self._size > LONGEST_LINE:
            self._refuse_quote(opened, f"and not closed for {LONGEST_LINE:,} bytes")

    def _looks_like_a_row(self, line: bytes) -> bool:
        if line.count(b",") < self._fields - 1:
            return False
        try:
            cells = next(csv.reader([line.decode().rstrip("\r")]))
        except csv.Error:
            return False
        is_date = _DATE_LIKE.fullmatch
        return len(cells) == self._fields and bool(is_date(cells[self._date]))

    def _check_line_ends(self, chunk: bytes, visited: list[_Visited]) -> None:
        """Refuse lines that end otherwise than the header, outside quoted cells."""
        if b"\r" not in chunk and not self._windows:
            return
        ends = chunk.count(b"\r\n")
        if self._windows and ends == chunk.count(b"\n") == chunk.count(b"\r"):
            return
        seen = {line.start: line for line in visited}
        start = 0
        for number, text in enumerate(chunk.split(b"\n"), start=self._lines + 1):
            line = seen.get(start, _Visited(start, text, False, False))
            start += len(text) + 1
            has_end = start <= len(chunk) and not line.ends_inside
            outside = _outside_of_cells(line)
            rest = outside.removesuffix(b"\r") if self._windows else outside
            if b"\r" in rest or (self._windows and has_end and rest == outside):
                self._refuse_line_end(text, number)

    def _refuse_line_end(self, line: bytes, number: int) -> NoReturn:
        usual = "\\r\\n" if self._windows else "\\n"
        if b"\r" in line.removesuffix(b"\r"):
            what = f"has a carriage return within line {number:,}"
        else:
            what = f"mixes line ends: line {number:,} does not end in {usual}"
        self._refuse(
            f"{what}, where the header ends in {usual}",
            "Make them alike (tr -d '\\r' < FILE > NEW.csv)",
        )

    def _blank_lines(self, chunk: bytes, visited: list[_Visited]) -> int:
        inside = [line.text for line in visited if line.begins_inside]
        blank, blank_inside = (
            sum(line in (b"", b"\r") for line in lines)
            for lines in (chunk.split(b"\n")[:-1], inside)
        )
        return blank - blank_inside

    def _line_of(self, chunk: bytes, position: int) -> int:
        return self._lines + chunk.count(b"\n", 0, position) + 1

    def _refuse_quote(self, line: int, what: str) -> NoReturn:
        self._refuse(
            f"has an unbalanced quote: a cell is opened in line {line:,} {what}",
            'Mend that line: a quote inside a quoted cell is written twice ("")',
        )

    def _refuse(self, what: str, then: str) -> NoReturn:
        message = f"'{printable(self._path)}' {what}. {then}, and run again."
        raise InputError(message)
