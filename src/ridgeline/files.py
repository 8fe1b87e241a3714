"""Files that are whole or not there, whoever else writes or reads them.

Everything that Ridgeline writes goes through `replacing`: written in a hidden folder
beside the target, brought to the disk, and renamed. The folder's name tells the machine
and the process that it belongs to, so that what a killed run left is known as such.
"""

import os
import re
import secrets
import shutil
import socket
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

__all__ = ["replace_file", "replacing", "temporary_folder"]

_TEMPORARY: Final = ".ridgeline-{machine}-{process}-{token}.part"
_NAME: Final = re.compile(r"\.ridgeline-(.+)-(\d+)-[0-9a-f]{16}\.part")
# Whether a process of another machine still runs, nobody here can tell.
_ABANDONED_SECONDS: Final = 7 * 24 * 3600.0


@contextmanager
def replacing(target: str | Path) -> Iterator[Path]:
    """Gives a path to write to; what is there at the end replaces the target.

    Readers find the former file or all of the new one, also after a power cut. If the
    block fails, the former file stays. A link is written through, and a file keeps its
    mode: one that is private stays so. A folder can be written as well, as Spark does;
    no rename replaces one, so that for a moment there is none. A file never replaces a
    folder. The folder of the target must exist.
    """
    target = Path(target).resolve()
    folder = temporary_folder(target.parent)
    part = folder / "new"
    try:
        yield part
        if target.is_file() and part.is_file():
            part.chmod(stat.S_IMODE(target.stat().st_mode))
        # Else a power cut could leave the new name with none of the content.
        for one in (*part.rglob("*"), part):
            _sync(one)
        if part.is_dir() and target.exists():
            _exchange(target, part, folder / "former")
        else:
            part.replace(target)
        _sync(target.parent)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def replace_file(target: str | Path, content: bytes) -> None:
    """Writes a file in one step: readers find the former one or all of the new one."""
    with replacing(target) as part:
        part.write_bytes(content)


def temporary_folder(parent: Path) -> Path:
    """Makes a hidden folder of this process that nobody else can read.

    What processes that are no more have left beside it is removed.
    """
    for other in parent.glob(_TEMPORARY.format(machine="*", process="*", token="*")):
        if _is_abandoned(other):
            shutil.rmtree(other, ignore_errors=True)
    folder = parent / _TEMPORARY.format(
        machine=_machine(), process=os.getpid(), token=secrets.token_hex(8)
    )
    folder.mkdir(mode=stat.S_IRWXU)
    return folder


def _is_abandoned(folder: Path) -> bool:
    """Whether the process that made a temporary folder is gone."""
    found = _NAME.fullmatch(folder.name)
    if found is None:
        return False
    machine, process = found.groups()
    if machine == _machine():
        return not _runs(int(process))
    try:
        age = time.time() - folder.stat().st_mtime
    except FileNotFoundError:
        return False  # its process has just finished
    return age > _ABANDONED_SECONDS


def _machine() -> str:
    """Where the number of a process means one process: containers count their own."""
    space = Path("/proc/self/ns/pid")
    return f"{socket.gethostname()}-{space.stat().st_ino if space.exists() else 0}"


def _runs(process: int) -> bool:
    if os.name != "posix":
        return True  # there the signal would end it
    try:
        os.kill(process, 0)  # sends nothing, and tells whether it could
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        pass
    return True


def _exchange(target: Path, part: Path, former: Path) -> None:
    """Puts a folder in the place of another, which comes back if that fails."""
    target.rename(former)
    try:
        part.replace(target)
    except OSError:
        if not target.exists():
            former.rename(target)
        raise


def _sync(path: Path) -> None:
    if path.is_dir() and not hasattr(os, "O_DIRECTORY"):
        return  # such a system does not open folders
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
