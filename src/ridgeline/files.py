"""Files that are whole or not there."""

import os
import secrets
from pathlib import Path

__all__ = ["replace_file"]


def replace_file(target: Path, content: bytes) -> None:
    """Writes a file in one step: readers find the former one or all of the new one."""
    # A name of its own for each save: two at once do not write into one another.
    part = target.with_name(f".ridgeline-{secrets.token_hex(8)}.part")
    try:
        with part.open("xb") as file:
            file.write(content)
            file.flush()
            # Else a power cut could leave the new name with none of the content.
            os.fsync(file.fileno())
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
