"""How far a study is: tasks done, time left, and the cell that was done last."""

import logging
import sys
import time
from collections.abc import Sequence
from typing import Any, Final, Self

from ridgeline.simulation.tasks import Record, Task

__all__ = ["StudyProgress", "cost"]

logger = logging.getLogger(__name__)

# Seconds of a task at n = 10,000 on one core, roughly: what is left is judged by cost,
# because a network takes a hundred times as long as the LASSO.
_SECONDS: Final = {
    "xnn": 80.0,
    "near": 100.0,
    "naive_xnn": 40.0,
    "gam": 20.0,
    "svm": 100.0,
    "rf": 15.0,
    "elm": 10.0,
    "mlp": 5.0,
    "lightgbm": 5.0,
}
_OTHERS: Final = 0.2
# Whatever the model and the size: else a LASSO that is done first, after the processes
# have started, would foretell hours.
_EVERY_TASK: Final = 0.3
_LARGE: Final = 10_000
_POWERS: Final = {"svm": 2.0}
_SECONDS_BETWEEN_LINES: Final = 60


def cost(task: Task) -> float:
    """Seconds that a task takes, roughly."""
    power = _POWERS.get(task.model, 1.0)
    size: float = (task.n / _LARGE) ** power
    return _EVERY_TASK + _SECONDS.get(task.model, _OTHERS) * size


class StudyProgress:
    """Shows a bar on a terminal, and a line a minute anywhere else."""

    def __init__(self, tasks: Sequence[Task], shown: bool) -> None:
        """Plans to show how tasks are done."""
        self._total, self._cost = len(tasks), sum(map(cost, tasks))
        self._count, self._spent = 0, 0.0
        self._shown = shown
        self._bar: Any = None

    def __enter__(self) -> Self:
        """Starts the clock."""
        self._began = self._told = time.monotonic()
        if self._shown and sys.stdout.isatty():
            from rich import progress

            self._bar = progress.Progress(
                # In 80 columns: a cell, the last, has up to 29.
                progress.BarColumn(bar_width=14),
                progress.TextColumn("{task.fields[count]}"),
                progress.TextColumn("{task.fields[left]}"),
                progress.TextColumn("{task.description}"),
            )
            self._bar.start()
            self._row = self._bar.add_task(
                "", total=self._cost, count=f"0/{self._total:,}", left=""
            )
        return self

    def __exit__(self, *_: object) -> None:
        """Takes the bar away."""
        if self._bar is not None:
            self._bar.stop()

    def done(self, task: Task, record: Record) -> None:
        """Counts a task."""
        self._count += 1
        self._spent += cost(task)
        count = f"{self._count:,}/{self._total:,}"
        left = _duration(self._left())
        now = time.monotonic()
        is_time = (
            self._count == self._total or now - self._told >= _SECONDS_BETWEEN_LINES
        )
        if self._bar is not None:
            self._bar.update(
                self._row,
                completed=self._spent,
                count=count,
                left=f"{left} left",
                description=str(task),
            )
        elif self._shown and is_time:
            self._told = now
            excess = record.get("excess")
            cell = str(task) if excess is None else f"{task}: excess {excess:.4f}"
            logger.info("Study: %s tasks, about %s left; last %s", count, left, cell)

    def _left(self) -> float:
        elapsed = time.monotonic() - self._began
        return elapsed * (self._cost - self._spent) / self._spent


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    if not minutes:
        return f"{rest} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min {rest:02d} s"
