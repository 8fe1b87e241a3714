"""Where the tasks run: processes of this machine, or a Dask cluster."""

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from joblib import parallel_config

from ridgeline.errors import InputError

__all__ = ["workers"]

_SECONDS_TO_ANSWER: Final = 10
_SECONDS_WITHOUT_WORKERS: Final = 60
_SECONDS_BETWEEN_LOOKS: Final = 1


@contextmanager
def workers(scheduler: str | None) -> Iterator[None]:
    """Lets joblib send its tasks to a cluster, or leaves them here.

    Args:
        scheduler: Address of a Dask scheduler, or None to work here.

    Raises:
        InputError: If the scheduler does not answer or has no worker.
    """
    if scheduler is None:
        yield
        return
    with (
        _client(scheduler) as client,
        _watched(client),
        parallel_config(backend=_backend(client)),
    ):
        yield


def _backend(client: Any) -> Any:
    """joblib's way to a Dask cluster, even to one that has a single core."""
    from joblib._dask import DaskDistributedBackend

    class Cluster(DaskDistributedBackend):  # type: ignore[misc]
        def effective_n_jobs(self, n_jobs: int) -> int:
            # What is for one core joblib does itself, here and not on the cluster.
            return max(2, int(super().effective_n_jobs(n_jobs)))

    return Cluster(client=client)


@contextmanager
def _client(address: str) -> Iterator[Any]:
    """Connects to a Dask scheduler that has at least one worker."""
    try:
        from distributed import Client
    except ImportError as error:
        message = (
            f"The study's scheduler is {address!r}, but Dask is not installed: "
            "pip install 'ridgeline[cluster]', or set study.scheduler to null."
        )
        raise InputError(message) from error
    advice = "start it, correct study.scheduler, or set it to null to work here"
    try:
        client: Any = Client(address, timeout=_SECONDS_TO_ANSWER)
    except (OSError, ValueError) as error:
        message = (
            f"The scheduler {address!r} did not answer within {_SECONDS_TO_ANSWER} "
            f"seconds; {advice}."
        )
        raise InputError(message) from error
    with _quiet("distributed.client"), client:
        try:
            client.wait_for_workers(1, timeout=_SECONDS_TO_ANSWER)
        except TimeoutError as error:
            message = (
                f"The scheduler {address!r} has no worker; start one with "
                f"'dask worker {address} --nthreads 1'."
            )
            raise InputError(message) from error
        yield client


@contextmanager
def _quiet(name: str) -> Iterator[None]:
    """Keeps a library from logging tracebacks of what is told here in a sentence."""
    library = logging.getLogger(name)
    level = library.level
    library.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        library.setLevel(level)


@contextmanager
def _watched(client: Any) -> Iterator[None]:
    """Gives the cluster up when it has had no worker for a while.

    Else the study would wait for ever: a scheduler keeps tasks until a worker comes.
    """
    over = threading.Event()

    def watch() -> None:
        seen = time.monotonic()
        while not over.wait(_SECONDS_BETWEEN_LOOKS):
            # Not "workers", which the client itself empties every other second.
            if client.scheduler_info()["n_workers"]:
                seen = time.monotonic()
            elif time.monotonic() - seen > _SECONDS_WITHOUT_WORKERS:
                client.close()  # which cancels what is waited for
                return

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()
