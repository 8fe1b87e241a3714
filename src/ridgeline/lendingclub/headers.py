"""What is known of a published file before it is read: its first bytes and its header.

Is it there, is it CSV, is it the right one of the two?
"""

import csv
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Final, NoReturn

from ridgeline.errors import InputError
from ridgeline.lendingclub.raw_text import is_gzip, printable, text_blocks
from ridgeline.lendingclub.schema import COLUMNS, SOURCES, RawFile

__all__ = ["WHERE_TO_GET_THEM", "checked_header"]

WHERE_TO_GET_THEM: Final = (
    "People have the two files from Kaggle's data set 'wordsforthewise/lending-club' "
    "(accepted_2007_to_2018Q4.csv.gz and rejected_2007_to_2018Q4.csv.gz). "
    "Name yours with --params accepted=PATH,rejected=PATH "
    "or in conf/files/globals.yml."
)
_LONGEST_HEADER: Final = 100_000  # bytes; the published ones have some 2,500
_UNPACK: Final = "Unpack it and name the CSV file that was in it."
_TO_UTF8: Final = "Convert it (iconv -f utf-16 -t utf-8 FILE > NEW.csv)."
_EXPORT: Final = "Export it as CSV with commas."
_DOWNLOAD: Final = "Download the file itself, which may need a login."
_TAR_MARK_AT: Final = 257  # bytes from the start
# First bytes that are no CSV, what they are, and what to do.
_OTHER_FORMATS: Final = {
    b"PK\x03\x04": ("a zip archive or an Excel workbook", _UNPACK),
    b"PK\x05\x06": ("an empty zip archive", _UNPACK),
    b"\x1f\x8b": ("a gzip archive in a gzip archive", _UNPACK),
    b"ustar": ("a tar archive", _UNPACK),
    b"BZh": ("a bzip2 archive", _UNPACK),
    b"\xfd7zXZ\x00": ("an xz archive", _UNPACK),
    b"7z\xbc\xaf\x27\x1c": ("a 7-Zip archive", _UNPACK),
    b"\x28\xb5\x2f\xfd": ("a Zstandard archive", _UNPACK),
    b"Rar!": ("a RAR archive", _UNPACK),
    b"\xff\xfe": ("UTF-16 text", _TO_UTF8),
    b"\xfe\xff": ("UTF-16 text", _TO_UTF8),
    b"PAR1": ("a Parquet file", _EXPORT),
    b"\xd0\xcf\x11\xe0": ("an old Excel workbook", _EXPORT),
    b"SQLite format 3\x00": ("an SQLite database", _EXPORT),
    b"%PDF": ("a PDF document", _DOWNLOAD),
    b"<": ("a web page or XML", _DOWNLOAD),
    b"{": ("JSON", _EXPORT),
    b"[": ("JSON", _EXPORT),
}
_PACKED_SUFFIXES: Final = (".gz", ".zst", ".bz2", ".xz", ".zip")
_SEPARATORS: Final = {";": "semicolons", "\t": "tabs", "|": "bars"}


def checked_header(path: Path, kind: RawFile) -> list[str]:
    """Return the names of a file's columns.

    Raises:
        InputError: If this is not the published file of that kind.
    """
    if not path.is_file():
        _refuse(path, f"is {_what_else(path)}, not a {kind} CSV file")
    blocks = text_blocks(path)
    try:
        return _checked_names(path, kind, next(blocks, b""))
    except InputError:
        # Where an archive is damaged, its text is only the symptom.
        for _ in blocks:
            pass
        raise


def _what_else(path: Path) -> str:
    if path.is_dir():
        return "a folder"
    return "a special file" if path.exists() else "a link to a file that is not there"


def _checked_names(path: Path, kind: RawFile, start: bytes) -> list[str]:
    _check_format(path, start)
    names = _names(path, start)
    needed = SOURCES[kind].values()
    missing = [name for name in needed if name not in names]
    if missing:
        _refuse_columns(path, kind, names, missing)
    counts = Counter(name.lower() for name in names if name)  # as engines compare
    twice = [name for name in names if counts[name.lower()] > 1]
    if twice:
        what = f"has more than one column {_listed(dict.fromkeys(twice))}"
        _refuse(path, what, "Upper and lower case count as one. Rename or drop one.")
    # An index that pandas wrote has no name, nor has what follows a last comma.
    return [name or f"unnamed {number}" for number, name in enumerate(names, start=1)]


def _check_format(path: Path, start: bytes) -> None:
    if not start:
        _refuse(path, "is empty")
    is_tar = start[_TAR_MARK_AT:].startswith(b"ustar")
    for magic, (what, then) in _OTHER_FORMATS.items():
        if start.startswith(magic) or (is_tar and magic == b"ustar"):
            _refuse(path, f"is {what}, not a CSV file", then)
    with path.open("rb") as file:
        packed = is_gzip(file.read(2))
    if packed and path.suffix != ".gz":
        what, name = "a gzip archive", f"{path.name}.gz"
    elif not packed and path.suffix in _PACKED_SUFFIXES:
        what, name = "plain text", path.stem
    else:
        return
    _refuse(path, f"is {what}, which its name hides", f"Name it '{printable(name)}'.")


def _names(path: Path, start: bytes) -> list[str]:
    line = start[:_LONGEST_HEADER].partition(b"\n")[0].removesuffix(b"\r")
    if b"\r" in line:
        then = "Convert it (tr '\\r' '\\n' < FILE > NEW.csv)."
        _refuse(path, "has lines that end in a carriage return alone", then)
    if b"\0" in line:
        _refuse(path, "has zero bytes: it is UTF-16 or damaged", _TO_UTF8)
    if len(line) == _LONGEST_HEADER:
        _refuse(path, f"has no header: its first line has over {len(line):,} bytes")
    if not line.strip():
        then = "Take that line out."
        _refuse(path, "begins with an empty line, where its header should be", then)
    try:
        return next(csv.reader([line.decode("utf-8-sig")], strict=True))
    except (UnicodeDecodeError, csv.Error) as error:
        _refuse(path, f"has a header that is no CSV in UTF-8 ({error})")


def _refuse_columns(
    path: Path, kind: RawFile, names: list[str], missing: list[str]
) -> NoReturn:
    other: RawFile = "rejected" if kind == "accepted" else "accepted"
    if all(name in names for name in SOURCES[other].values()):
        message = (
            f"'{printable(path)}' is LendingClub's {other} file, but was given as the "
            f"{kind} one. Swap the two paths."
        )
        raise InputError(message)
    for separator, called in _SEPARATORS.items():
        if set(missing) <= set(separator.join(names).split(separator)):
            _refuse(path, f"is separated by {called}, not by commas", _EXPORT)
    alike = {name.strip().lower(): name for name in names}
    found = [alike[name.lower()] for name in missing if name.lower() in alike]
    if len(found) == len(missing):
        _refuse(
            path,
            f"has the columns {_listed(found)} for {_listed(missing)}",
            "Write them as published, to the letter.",
        )
    _refuse(
        path,
        f"lacks {_listed(missing)}, which the {kind} file needs; "
        f"its {len(names)} columns begin with {_listed(names[:5])}, where the "
        f"published file's {len(COLUMNS[kind])} begin with "
        f"{_listed(COLUMNS[kind][:5])}",
    )


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"'{printable(name[:80])}'" for name in names)


def _refuse(path: Path, what: str, then: str = WHERE_TO_GET_THEM) -> NoReturn:
    message = f"'{printable(path)}' {what}. {then}"
    raise InputError(message)
