"""The hash of data, once for each kind: a text, files, the rows of a frame."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["hash_of_files", "hash_of_frame", "hash_of_text"]


def hash_of_text(text: str) -> str:
    """Return the SHA-256 of a text in UTF-8."""
    return hashlib.sha256(text.encode()).hexdigest()


def hash_of_files(paths: Iterable[str | Path]) -> str:
    """Return the SHA-256 over the bytes of all files, in the order given."""
    digest = hashlib.sha256()
    for path in paths:
        with Path(path).open("rb") as file:
            hashlib.file_digest(file, lambda: digest)  # adds to it
    return digest.hexdigest()


def hash_of_frame(frame: pd.DataFrame) -> str:
    """Return a SHA-256 of a frame's columns, their types and its rows.

    Equal rows in equal order have equal hashes, whatever their index.

    Raises:
        TypeError: If cells cannot be hashed, such as lists.
    """
    import pandas as pd  # heavy, and hooks import this module

    columns = {str(name): str(kind) for name, kind in frame.dtypes.items()}
    digest = hashlib.sha256(json.dumps(columns).encode())
    values = pd.util.hash_pandas_object(frame, index=False)
    digest.update(values.to_numpy().tobytes())
    return digest.hexdigest()
