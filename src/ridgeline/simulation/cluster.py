"""Tasks on a Dask cluster, of which any part may be lost or hang.

Nothing here waits without an end. While results are waited for, the scheduler is asked
who its workers are and when each was heard of last: workers give signs of life while
they compute too, so that a long task is not mistaken for a worker that hangs.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from queue import Empty, SimpleQueue
from typing import Any, Final, TypeVar

from ridgeline.errors import InputError, RidgelineError

__all__ = ["ClusterError", "cluster_results"]

logger = logging.getLogger(__name__)

Call = TypeVar("Call")
Result = TypeVar("Result")

_SECONDS_TO_ANSWER: Final = 10  # when the study starts, and when it ends
_SECONDS_BETWEEN_LOOKS: Final = 1
_MOST_FETCHES: Final = 3  # of one result, one after the other
_GONE: Final = "its scheduler closed the connection"


class ClusterError(RidgelineError):
    """The cluster is of no use any more; the message is a clause that says why."""


def cluster_results(
    function: Callable[[Call], Result],
    calls: Sequence[Call],
    address: str,
    patience: float,
) -> Generator[Result]:
    """Calls a function on a cluster, and gives the results as they are done.

    Args:
        function: One that the scheduler and its workers can import.
        patience: Seconds to wait for a scheduler or workers that are silent. A silent
            worker among others loses its calls to them.

    Raises:
        InputError: If the scheduler does not answer or has no worker.
        ClusterError: If the scheduler, or all workers, are lost or hang.
    """
    with _client(address) as client:
        watch = _Watch(client, patience)
        done: SimpleQueue[Any] = SimpleQueue()
        # All at once, so that workers that join later have their share.
        futures = [client.submit(function, call, pure=False) for call in calls]
        for future in futures:
            future.add_done_callback(done.put)
        left, fetches = len(futures), 0
        while left:
            watch.look()
            try:
                future = done.get(timeout=_SECONDS_BETWEEN_LOOKS)
            except Empty:
                continue
            try:
                result = _fetched(future, patience)
            except TimeoutError:
                # The worker that has it hangs, or is lost and others compute it again.
                fetches += future.done()
                if fetches == _MOST_FETCHES:
                    message = f"a result did not come in {patience:g} seconds"
                    raise ClusterError(message) from None
                future.add_done_callback(done.put)
                continue
            left, fetches = left - 1, 0
            yield result


def _fetched(future: Any, patience: float) -> Any:
    """The result of a future; a TimeoutError if it is not to be had now."""
    if not future.done():
        raise TimeoutError
    try:
        return future.result(timeout=patience)
    except TimeoutError:
        raise
    except CancelledError as error:
        raise ClusterError(_GONE) from error
    except Exception as error:  # such as of a task whose workers all died of it
        told = " ".join(str(error).split())  # some have paragraphs
        message = f"a task was given up ({type(error).__name__}: {told})"
        raise ClusterError(message) from error


class _Watch:
    """Tells who is silent for too long."""

    def __init__(self, client: Any, patience: float) -> None:
        self._client = client
        self._patience = patience
        # By worker: when it was heard of last by the scheduler's clock, and when that
        # was news by ours. So the two clocks need not agree.
        self._heard: dict[str, tuple[float, float]] = {}
        self._news = time.monotonic()
        self._next = 0.0

    def look(self) -> None:
        """Takes the tasks of silent workers away from them.

        Raises:
            ClusterError: If all workers are silent, or their scheduler is.
        """
        if time.monotonic() < self._next:
            return
        workers = _workers(self._client, self._patience)
        now = time.monotonic()
        self._next = now + _SECONDS_BETWEEN_LOOKS
        for name, seen in workers.items():
            if name not in self._heard or self._heard[name][0] != seen:
                self._heard[name] = seen, now
                self._news = now
        if now - self._news > self._patience:
            message = f"no worker was heard of for {self._patience:g} seconds"
            raise ClusterError(message)
        for name in workers:
            if now - self._heard[name][1] > self._patience:
                logger.warning(
                    "The worker %s was not heard of for %g seconds; its tasks go to "
                    "others.",
                    name,
                    self._patience,
                )
                # The scheduler forgets it, and gives its tasks to others.
                about = {"address": name, "stimulus_id": "ridgeline-silent-worker"}
                _ask(self._client, self._patience, "unregister", **about)


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
    with _quiet("distributed"), _quiet("distributed.client"):
        try:
            _greet(address)
            client = Client(address, timeout=_SECONDS_TO_ANSWER, set_as_default=False)
        except (OSError, ValueError) as error:
            raise _no_answer(address) from error
        try:
            _wait_for_workers(client, address)
            yield client
        finally:
            # A scheduler that hangs does not say goodbye.
            with suppress(TimeoutError):
                client.close(timeout=_SECONDS_TO_ANSWER)


def _greet(address: str) -> None:
    """Waits for a scheduler's first word, for which a client would wait for ever.

    Raises:
        OSError: If nobody answers in time.
    """
    from distributed.comm import connect

    async def greet() -> None:
        comm = await connect(address, timeout=_SECONDS_TO_ANSWER)
        await comm.close()

    # In a thread, because notebooks have a loop of their own in this one.
    with ThreadPoolExecutor(1) as thread:
        greeting = asyncio.wait_for(greet(), _SECONDS_TO_ANSWER)
        thread.submit(asyncio.run, greeting).result()


def _wait_for_workers(client: Any, address: str) -> None:
    """Waits a little for workers that have just been started."""
    until = time.monotonic() + _SECONDS_TO_ANSWER
    try:
        while not _workers(client, _SECONDS_TO_ANSWER):
            if time.monotonic() > until:
                message = (
                    f"The scheduler {address!r} has no worker; start one with "
                    f"'dask worker {address} --nthreads 1'."
                )
                raise InputError(message)
            time.sleep(0.1)
    except ClusterError as error:
        raise _no_answer(address) from error


def _no_answer(address: str) -> InputError:
    return InputError(
        f"The scheduler {address!r} did not answer within {_SECONDS_TO_ANSWER} "
        "seconds; start it, correct study.scheduler, or set it to null to work here."
    )


def _workers(client: Any, patience: float) -> dict[str, float]:
    """When each worker was heard of last, by the scheduler's clock."""
    found = _ask(client, patience, "identity", n_workers=-1)
    return {name: worker["last_seen"] for name, worker in found["workers"].items()}


def _ask(client: Any, patience: float, question: str, **details: Any) -> Any:
    """The scheduler's answer to a question."""
    if client.scheduler is None:  # the connection was lost, and with it the client
        raise ClusterError(_GONE)
    ask = getattr(client.scheduler, question)
    try:
        return client.sync(ask, callback_timeout=patience, **details)
    except TimeoutError as error:
        message = f"its scheduler did not answer for {patience:g} seconds"
        raise ClusterError(message) from error
    except (OSError, RuntimeError) as error:
        raise ClusterError(_GONE) from error


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
