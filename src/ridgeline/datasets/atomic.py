"""Save under a temporary name and rename: a file is whole, or it is not there."""

import shutil
from pathlib import Path, PurePosixPath
from typing import Any

__all__ = ["AtomicSave"]


class AtomicSave:
    """Mix-in for Kedro's local file datasets; put it before the dataset's class.

    A run that is killed while saving leaves a `.part` file, which the next save
    overwrites and nothing ever reads. Paths on other file systems (`s3://...`) are
    left to the engine that writes them.
    """

    _fs_prefix = ""
    _protocol = "file"

    def _get_save_path(self) -> PurePosixPath:
        target: PurePosixPath = super()._get_save_path()  # type: ignore[misc]
        return target.with_name(f".{target.name}.part") if self._is_local else target

    def save(self, data: Any) -> None:
        """Save `data`, replacing the former file only when all of it is written."""
        part = Path(self._get_save_path())
        _remove(part)
        super().save(data)  # type: ignore[misc]
        if self._is_local:
            target = Path(super()._get_save_path())  # type: ignore[misc]
            if target.is_dir() or part.is_dir():
                _remove(target)  # Spark writes folders, which no rename replaces
            part.replace(target)

    @property
    def _is_local(self) -> bool:
        return not self._fs_prefix and self._protocol == "file"


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
