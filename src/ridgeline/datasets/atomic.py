"""Kedro's local file datasets, saved as `ridgeline.files` does."""

from pathlib import Path, PurePosixPath
from typing import Any

from ridgeline.files import replacing
from ridgeline.private_names.kedro import is_local, save_path

__all__ = ["AtomicSave"]


class AtomicSave:
    """Mix-in for Kedro's local file datasets; put it before the dataset's class.

    Paths on other file systems (`s3://...`) are left to the engine that writes them.
    """

    _part: Path | None = None  # where to write, while a save is under way

    def _get_save_path(self) -> PurePosixPath:
        if self._part is not None:
            return PurePosixPath(self._part)
        target: PurePosixPath = super()._get_save_path()  # type: ignore[misc]
        return target

    def save(self, data: Any) -> None:
        """Save `data`, replacing the former file only when all of it is written."""
        if not is_local(self):
            super().save(data)  # type: ignore[misc]
            return
        target = save_path(self)
        target.parent.mkdir(parents=True, exist_ok=True)
        with replacing(target) as part:
            self._part = part
            try:
                super().save(data)  # type: ignore[misc]
            finally:
                self._part = None
