"""Compiled programs on disk, so that the next process need not compile them again.

They are machine code, and whoever writes it there has it run: a folder that others can
write to, or that is not ours, is refused. A file carries its checksum in its name, for
a changed bit may give another model. Whatever is refused, damaged or cannot be written
is compiled, as if nothing were kept.

TensorFlow itself reads and writes in memory, where no full disk can stop it and no path
has blanks; programs go from there to the disk and back one network at a time.
"""

import hashlib
import logging
import os
import platform
import stat
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Final

from ridgeline.files import replace_file

__all__ = [
    "CACHE_VARIABLE",
    "MEMORY",
    "compiled_programs",
    "drop_programs",
    "kept_programs",
]

logger = logging.getLogger(__name__)

# Environment variable with the folder of what is kept; empty keeps nothing.
CACHE_VARIABLE: Final = "RIDGELINE_CACHE"
# Where TensorFlow looks for programs and leaves new ones.
MEMORY: Final = "ram://ridgeline-programs"

# A program has half a megabyte; what was not used for a season is not missed.
_MOST_BYTES: Final = 100 * 2**20
_LONGEST_UNUSED: Final = 90 * 24 * 3600.0  # seconds
_OF_OTHERS: Final = stat.S_IWGRP | stat.S_IWOTH
_FOLDERS: Final = "programs-" + 12 * "[0-9a-f]"
_NAMES: Final = 32 * "[0-9a-f]" + "-*.pb"  # checksum and TensorFlow's name

_at_hand: set[str] = set()  # keys whose programs TensorFlow has loaded or compiled
_dropped: set[str] = set()  # keys whose programs could not be loaded
_turn = threading.Lock()  # threads share the memory


@contextmanager
def kept_programs(key: str) -> Iterator[None]:
    """Gives TensorFlow the kept programs of a key, and keeps those that it compiles.

    Args:
        key: What tells one network's programs from another's, without a hyphen.
    """
    if key in _at_hand:
        yield
        return
    with _turn:
        folder = _private_folder()
        _clear_memory()  # of what programs other than ours have left
        try:
            known: set[str] = set()
            if folder and key not in _dropped:
                known = _load(folder, key)
            yield
            if folder:
                _keep(folder, key, known)
            _at_hand.add(key)
        finally:
            # What was loaded or compiled is in use; its file has served.
            _clear_memory()


def drop_programs(key: str) -> bool:
    """Takes no kept programs of a key any more, and tells if there were any."""
    _at_hand.clear()
    folder = _private_folder()
    kept = list(folder.glob(f"{key}-{_NAMES}")) if folder else []
    for file in kept:
        with suppress(OSError):  # one that cannot be deleted is not taken either
            file.unlink()
    there_were_any = bool(kept) and key not in _dropped
    _dropped.add(key)
    return there_were_any


def compiled_programs() -> Path | None:
    """The folder of compiled programs for this machine; None if none are kept."""
    chosen = os.environ.get(CACHE_VARIABLE)
    if chosen == "" or os.name != "posix":  # elsewhere nobody has looked who may write
        return None
    try:
        home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    except RuntimeError:  # a user without a home
        home = ""
    if not (chosen or home):
        return None
    root = Path(chosen) if chosen else Path(home) / "ridgeline"
    # Programs are for one release, for processors with the same instructions, and for
    # what the user tells the compiler.
    told = os.environ.get("XLA_FLAGS", "")
    made_by = f"{version('tensorflow')} {platform.machine()} {_instructions()}{told}"
    return root / f"programs-{hashlib.sha256(made_by.encode()).hexdigest()[:12]}"


def _private_folder() -> Path | None:
    """The folder, made if need be; None if others could have written to it."""
    folder = compiled_programs()
    if folder is None:
        return None
    try:
        # One by one: `parents=True` would leave the parents open to others.
        for part in (*reversed(folder.parents), folder):
            part.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    except OSError as error:  # a home that cannot be written to
        _say(logging.INFO, f"Compiled programs cannot be kept: {error}.")
        return None
    if found.st_uid != os.geteuid() or found.st_mode & _OF_OTHERS:
        _say(
            logging.WARNING,
            f"Compiled programs are not taken from {folder}: it belongs to another "
            f"user, is a link, or others can write to it. Delete it, or set "
            f"{CACHE_VARIABLE} to a folder of your own.",
        )
        return None
    return folder


def _load(folder: Path, key: str) -> set[str]:
    """Puts the kept programs of a key into memory; returns their names there."""
    import tensorflow as tf

    tf.io.gfile.makedirs(MEMORY)
    known = set()
    for file in folder.glob(f"{key}-{_NAMES}"):
        _, checksum, name = file.name.split("-", 2)
        try:
            content = _own_content(file)
            if _checksum(content) != checksum:
                file.replace(file.with_name(f"{file.name}.damaged"))
                logger.warning(
                    "The compiled program %s is damaged; it is set aside and compiled "
                    "again.",
                    file,
                )
                continue
        except OSError:  # deleted by another process, or not for us to read
            continue
        with suppress(OSError):  # a disk that can only be read
            os.utime(file)  # the last use
        with tf.io.gfile.GFile(f"{MEMORY}/{name}", "wb") as copy:
            copy.write(content)
        known.add(name)
    return known


def _own_content(file: Path) -> bytes:
    """What a file of ours holds; an OSError if it is a link or another's."""
    found = file.lstat()
    if found.st_uid != os.geteuid() or not stat.S_ISREG(found.st_mode):
        raise PermissionError
    return file.read_bytes()


def _keep(folder: Path, key: str, known: set[str]) -> None:
    """Writes what is new in memory to the folder, and makes room there."""
    import tensorflow as tf

    new = set(_names_in_memory()) - known
    try:
        for name in new:
            if any(folder.glob(f"{key}-*-{name}")):
                continue  # another process was faster
            with tf.io.gfile.GFile(f"{MEMORY}/{name}", "rb") as compiled:
                content = compiled.read()
            replace_file(folder / f"{key}-{_checksum(content)}-{name}", content)
    except OSError as error:  # such as a full disk
        _say(logging.INFO, f"Compiled programs cannot be kept in {folder}: {error}.")
    if new:
        _trim(folder.parent)


def _trim(root: Path) -> None:
    """Deletes programs that nobody has used for long, and the oldest beyond the room.

    Those of other releases are among them: after an upgrade nobody uses them.
    """
    used = []
    for file in root.glob(f"{_FOLDERS}/*.pb*"):
        with suppress(OSError):
            found = file.lstat()
            used.append((found.st_mtime, found.st_size, file))
    oldest = time.time() - _LONGEST_UNUSED
    total = 0
    for when, size, file in sorted(used, reverse=True):
        total += size
        if total > _MOST_BYTES or when < oldest:
            with suppress(OSError):
                file.unlink()


def _checksum(content: bytes) -> str:
    # Short, because names of files in encrypted homes may have 143 characters.
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def _names_in_memory() -> list[str]:
    import tensorflow as tf

    if not tf.io.gfile.exists(MEMORY):
        return []
    # Another thread's unfinished one has another ending.
    return [name for name in tf.io.gfile.listdir(MEMORY) if name.endswith(".pb")]


def _clear_memory() -> None:
    import tensorflow as tf

    for name in _names_in_memory():
        tf.io.gfile.remove(f"{MEMORY}/{name}")


def _instructions() -> str:
    """What tells processors apart that cannot run each other's programs."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line for line in lines if line.startswith(("flags", "Features"))), "")


@cache
def _say(level: int, message: str) -> None:
    """Logs a message, each once in a process."""
    logger.log(level, message)
