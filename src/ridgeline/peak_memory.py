"""Peak memory of the process while a node ran."""

import sys
from contextlib import suppress
from pathlib import Path

__all__ = ["PeakMemory"]

_CLEAR = Path("/proc/self/clear_refs")
_STATUS = Path("/proc/self/status")


class PeakMemory:
    """Measures peaks over spans of time, which may overlap.

    A node that yields chunks is under way until the run ends.

    Linux keeps the peak of a process itself and lets it be reset, which is exact
    and needs no sampling. One price: tools that read the peak of the whole process
    at its end, such as `/usr/bin/time`, then see the last span only. Elsewhere the
    figure is the peak since the process began. Other processes that a node starts
    are not counted.
    """

    def __init__(self) -> None:
        self._peaks: dict[str, float] = {}

    def start(self, key: str) -> None:
        """Begin the span named `key`."""
        # The reset would lose what the spans under way have reached so far.
        self._fold()
        with suppress(OSError):  # not Linux, or a sandbox: the peak so far stands
            _CLEAR.write_text("5")  # 5: set the peak to the present size
        self._peaks[key] = 0.0

    def stop(self, key: str) -> float:
        """End a span: its peak in MB (10^6 bytes); 0 where the system does not tell."""
        self._fold()
        return self._peaks.pop(key)

    def _fold(self) -> None:
        if self._peaks:
            peak = _peak_mb()
            self._peaks = {key: max(old, peak) for key, old in self._peaks.items()}


def _peak_mb() -> float:
    with suppress(OSError):
        for line in _STATUS.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024 / 1e6
    if sys.platform == "win32":
        return 0.0
    import resource  # absent on Windows

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1e6 if sys.platform == "darwin" else peak * 1024 / 1e6
