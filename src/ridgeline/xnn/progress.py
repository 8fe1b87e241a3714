"""A progress bar for training: stage, epoch, losses and time left."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["Report", "count_fits", "stage_progress"]

# Called as training goes on: epoch, and objective and validation loss of that epoch.
Report = Callable[[int, float, float], None]


@contextmanager
def stage_progress(name: str, epochs: int, shown: bool) -> Iterator[Report | None]:
    """Shows a bar for a stage of training; yields what to call as it goes on.

    Args:
        name: The stage.
        epochs: The largest number of epochs that it has.
        shown: Whether anything is shown; if not, there is nothing to call.
    """
    if not shown:
        yield None
        return
    from rich.progress import Progress

    with Progress(*_columns()) as bar:
        task = bar.add_task(name, total=epochs, losses="compiling")

        def report(epoch: int, objective: float, loss: float) -> None:
            losses = f"loss {objective:.4g}, validation {loss:.4g}"
            bar.update(task, completed=epoch, losses=losses)

        yield report


@contextmanager
def count_fits(total: int, shown: bool) -> Iterator[Callable[[], None]]:
    """Counts fits on the terminal; yields what to call after each."""
    if not shown:
        yield lambda: None
        return
    from rich.progress import Progress

    with Progress(*_columns()) as bar:
        task = bar.add_task("search", total=total, losses="fits")
        yield lambda: bar.advance(task)


def _columns() -> tuple[Any, ...]:
    from rich import progress

    return (
        progress.TextColumn("{task.description:<10}"),
        progress.BarColumn(bar_width=20),
        progress.MofNCompleteColumn(),
        progress.TextColumn("{task.fields[losses]}"),
        progress.TimeElapsedColumn(),
        progress.TimeRemainingColumn(),
    )
