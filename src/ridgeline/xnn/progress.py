"""A progress bar for training: stage, epoch, losses and time left."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, Protocol

__all__ = ["Progress", "Report", "Shown", "count_fits", "silent"]

# Called as training goes on: epoch, and objective and validation loss of that epoch.
Report = Callable[[int, float, float], None]


class Progress(Protocol):
    """Something that is told how training goes on."""

    def stage(self, name: str, epochs: int) -> AbstractContextManager[Report | None]:
        """Opens a stage of at most that many epochs."""
        ...


class _Silent:
    def stage(self, name: str, epochs: int) -> AbstractContextManager[Report | None]:
        return nullcontext()


silent: Progress = _Silent()


class Shown:
    """Shows one bar for each stage on the terminal."""

    @contextmanager
    def stage(self, name: str, epochs: int) -> Iterator[Report | None]:
        """Opens a bar for a stage."""
        from rich.progress import Progress as Bar

        with Bar(*_columns()) as bar:
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
    from rich.progress import Progress as Bar

    with Bar(*_columns()) as bar:
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
