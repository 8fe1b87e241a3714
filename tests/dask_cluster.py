"""Dask clusters of real processes on this machine, of which tests lose parts."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from distributed import Client

__all__ = ["Cluster", "free_port", "kill", "made_clusters", "resume", "stop"]


@dataclass
class Cluster:
    """A scheduler and workers, each a process of its own."""

    folder: Path
    address: str
    scheduler: subprocess.Popen[bytes]
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def add_worker(self) -> None:
        """Start a worker that dies for good when it is killed."""
        self.workers.append(
            _start(
                ["worker", self.address, "--no-nanny", "--nthreads", "1"]
                + ["--host", "127.0.0.1", "--no-dashboard"]
                + ["--local-directory", str(self.folder)],
                self.folder,
                f"worker {len(self.workers)}",
            )
        )

    def said(self) -> str:
        """Return what its processes have written."""
        return "\n".join(path.read_text() for path in self.folder.glob("*.log"))


def _start(command: list[str], folder: Path, name: str) -> subprocess.Popen[bytes]:
    # In a folder and with paths where there is nothing but what is installed.
    environment = {key: os.environ[key] for key in os.environ if key != "PYTHONPATH"}
    with (folder / f"{name}.log").open("wb") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "dask", *command],
            cwd=folder,
            env=environment,
            stdout=log,
            stderr=subprocess.STDOUT,
        )


def free_port() -> int:
    """Return a port that nothing listens on."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return int(server.getsockname()[1])


@contextmanager
def made_clusters(new_folder: Callable[[], Path]) -> Iterator[Callable[[int], Cluster]]:
    """Give a maker of clusters; their processes are ended by their own ids."""
    made: list[Cluster] = []

    def make(workers: int) -> Cluster:
        folder, port = new_folder(), free_port()
        scheduler = _start(
            ["scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard"],
            folder,
            "scheduler",
        )
        cluster = Cluster(folder, f"tcp://127.0.0.1:{port}", scheduler)
        made.append(cluster)
        for _ in range(workers):
            cluster.add_worker()
        # All of them are there before a test begins, to be killed in its own order.
        with Client(cluster.address, timeout=60) as client:
            if workers:
                client.wait_for_workers(workers, timeout=60)
        return cluster

    try:
        yield make
    finally:
        for cluster in made:
            for process in [*cluster.workers, cluster.scheduler]:
                process.kill()  # which ends a stopped process too
                process.wait()


def kill(process: subprocess.Popen[bytes]) -> None:
    """End a process as a power cut would."""
    os.kill(process.pid, signal.SIGKILL)
    process.wait()


def stop(process: subprocess.Popen[bytes]) -> None:
    """Let a process hang: it is there and says nothing."""
    os.kill(process.pid, signal.SIGSTOP)


def resume(process: subprocess.Popen[bytes]) -> None:
    """Let a process that hung go on."""
    os.kill(process.pid, signal.SIGCONT)
