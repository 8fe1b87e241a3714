"""The text of a published file, unpacked block by block, and proof that it is whole.

An engine reads a gzip archive without looking at its checksums, so a file that was cut
off or has a flipped bit would pass for another file.
"""

import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final, NoReturn

from ridgeline.errors import InputError

__all__ = ["is_gzip", "printable", "text_blocks", "unreadable"]

_BLOCK: Final = 1 << 20  # bytes in memory at a time, packed and unpacked
_MAGIC: Final = b"\x1f\x8b"
_MEMBER_HEADER: Final = 10  # bytes
_READABLE_FLAGS: Final = 0x04 | 0x08  # an extra field, a file name: what DuckDB skips
_WITH_GZIP_CHECKSUMS: Final = 31  # wbits: zlib checks CRC and length of every member


def printable(text: object) -> str:
    """Return text for a message: what would steer a terminal is escaped."""
    return "".join(
        sign if sign.isprintable() else sign.encode("unicode_escape").decode()
        for sign in str(text)
    )


def is_gzip(start: bytes) -> bool:
    """Tell by its first bytes whether a file is a gzip archive."""
    return start.startswith(_MAGIC)


def text_blocks(path: Path) -> Iterator[bytes]:
    """Yield what a file says, unpacked if it is a gzip archive, a megabyte at a time.

    Raises:
        InputError: If the file cannot be read; and at the end at the latest, if the
            archive is cut off or damaged or has something behind it.
    """
    try:
        with path.open("rb") as file:
            start = file.read(_BLOCK)
            if is_gzip(start):
                yield from _unpacked(file, start, path)
                return
            while start:
                yield start
                start = file.read(_BLOCK)
    except OSError as error:
        raise unreadable(path, error) from error


def unreadable(path: object, error: OSError) -> InputError:
    """Return what to say of a file that the system does not let us read."""
    message = (
        f"'{printable(path)}' cannot be read: {error.strerror or error}. "
        f"See to it that it can (ls -l shows who may), and run again."
    )
    return InputError(message)


def _unpacked(file: BinaryIO, packed: bytes, path: Path) -> Iterator[bytes]:
    """Unpack the members of an archive, one after the other."""
    members = 0
    while packed:
        if len(packed) < _MEMBER_HEADER:
            packed += file.read(_BLOCK)
        _check_member(packed, path, members)
        member = zlib.decompressobj(_WITH_GZIP_CHECKSUMS)
        while not member.eof:
            try:
                text = member.decompress(packed, _BLOCK)
            except zlib.error as error:
                _refuse(
                    path, f"is damaged: its gzip archive fails its checks ({error})"
                )
            if text:
                yield text
            packed = member.unconsumed_tail
            if not packed and not member.eof:
                packed = file.read(_BLOCK)
                if not packed and not text:
                    _refuse(path, "is cut off: its gzip archive ends too early")
        members += 1
        packed = member.unused_data or file.read(_BLOCK)


def _check_member(start: bytes, path: Path, members: int) -> None:
    if not is_gzip(start):
        _refuse(path, "has bytes behind the end of its gzip archive")
    if members == 0 and len(start) < _MEMBER_HEADER:
        _refuse(path, "is cut off: its gzip archive ends too early")
    if start[3:4] and start[3] & ~_READABLE_FLAGS:
        message = (
            f"'{printable(path)}' is a gzip archive with an unusual header "
            f"(flags {start[3]:#04x}), which is damaged or beyond DuckDB. Pack it "
            f"again: gzip -dc FILE > NEW.csv"
        )
        raise InputError(message)


def _refuse(path: Path, what: str) -> NoReturn:
    message = (
        f"'{printable(path)}' {what}. Nothing of it was used: copy or download it "
        f"again (gzip -t FILE tells whether it is whole)."
    )
    raise InputError(message)
