"""A request to end a run, which interrupts it as Ctrl-C does."""

import multiprocessing
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, NoReturn

__all__ = ["end_processes", "interrupted_by_signals", "was_interrupted"]

# Ctrl-C; a scheduler or `kill`; a terminal that is closed, which Windows has not.
_SIGNALS = [
    getattr(signal, name)
    for name in ("SIGINT", "SIGTERM", "SIGHUP")
    if hasattr(signal, name)
]
_DEFAULTS = (signal.SIG_DFL, signal.default_int_handler)

_received: list[int] = []  # of the block that runs; signals are the process's


@contextmanager
def interrupted_by_signals() -> Iterator[None]:
    """Let signals raise while the block runs, so that it can tidy up.

    Whatever error leaves the block after a signal becomes the interruption: engines
    turn it into errors of their own. A signal that is ignored, as under `nohup`, stays
    so; one that somebody else handles is theirs.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # Python lets the main thread alone handle signals
        return
    former = {each: signal.getsignal(each) for each in _SIGNALS}
    ours = [each for each, handler in former.items() if handler in _DEFAULTS]

    def interrupt(number: int, _: FrameType | None) -> NoReturn:
        # One is enough: a terminal that closes sends two, and the tidying goes on.
        for each in ours:
            signal.signal(each, signal.SIG_IGN)
        _received.append(number)
        raise _interruption()

    for each in ours:
        signal.signal(each, interrupt)
    try:
        yield
    except Exception as error:
        if was_interrupted():
            raise _interruption() from error
        raise
    finally:
        _received.clear()
        for each in ours:
            signal.signal(each, former[each])


def was_interrupted() -> bool:
    """Whether a signal has come in the block of `interrupted_by_signals`."""
    return bool(_received)


def end_processes(besides: list[Any]) -> None:
    """End this process's children, which work for nobody now, but for some."""
    for process in multiprocessing.active_children():
        if process not in besides:
            process.kill()
            process.join()


def _interruption() -> BaseException:
    number = _received[0]
    if number == signal.SIGINT:
        return KeyboardInterrupt()
    return SystemExit(128 + number)  # what a shell reports for the signal
