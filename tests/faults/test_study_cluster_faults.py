"""Parts of a Dask cluster that hang: the study goes on without them, or ends."""

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from dask_cluster import Cluster, made_clusters, resume, stop
from tiny_study import numbers, once_stored, stored, tiny

from ridgeline.errors import InputError
from ridgeline.simulation import cluster as cluster_module
from ridgeline.simulation.study import StudyError, plan, run_study

# Long enough for a busy machine, on which workers give a sign of life twice a second.
PATIENCE = 5
# Enough tasks that some are left when the first is stored, and none that compiles.
MANY: dict[str, Any] = {"models": ["rf"], "repetitions": 6, "patience": PATIENCE}
# So many that they cannot be done before all who would do them are stopped.
ENDLESS = MANY | {"repetitions": 60}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Return a cluster with two workers, of which one test after the other has less."""
    with made_clusters(lambda: tmp_path_factory.mktemp("cluster")) as make:
        cluster = make(2)
        # What tasks need is imported once, which takes longer than a test is patient.
        results = tmp_path_factory.mktemp("first")
        first = tiny(results, models=["rf"], repetitions=2, scheduler=cluster.address)
        run_study(first, 0, shown=False)
        yield cluster


def lost(cluster: Cluster, reason: str) -> str:
    """Return what a user is told."""
    return (
        f"The cluster of the scheduler {cluster.address!r} was lost, because {reason}; "
        "what was done is stored: start the cluster again, or set study.scheduler to "
        "null to work here, and start the study again."
    )


def test_a_worker_hangs_and_its_tasks_go_to_another(
    cluster: Cluster, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    settings = tiny(tmp_path, **MANY, scheduler=cluster.address)
    with (
        once_stored(tmp_path, lambda: stop(cluster.workers[0])),
        caplog.at_level(logging.WARNING),
    ):
        result = run_study(settings, 0, shown=False)
    here = run_study(tiny(tmp_path / "here", **MANY), 0, shown=False)
    assert result.computed == len(plan(settings)) == 12
    assert numbers(result.records) == numbers(here.records)
    [message] = [one.getMessage() for one in caplog.records if one.levelno > 20]
    assert message.startswith("The worker tcp://127.0.0.1:")
    assert message.endswith("not heard of for 5 seconds; its tasks go to others.")


def test_all_workers_hang(cluster: Cluster, tmp_path: Path) -> None:
    settings = tiny(tmp_path, **ENDLESS, scheduler=cluster.address)
    with (
        once_stored(tmp_path, lambda: [*map(stop, cluster.workers)]),
        pytest.raises(StudyError) as caught,
    ):
        run_study(settings, 0, shown=False)
    assert str(caught.value) == lost(cluster, "no worker was heard of for 5 seconds")
    assert 0 < len(stored(tmp_path)) < len(plan(settings))


def test_the_scheduler_hangs(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    resume(cluster.workers[1])
    settings = tiny(tmp_path, **ENDLESS, scheduler=cluster.address)
    with (
        once_stored(tmp_path, lambda: stop(cluster.scheduler)),
        pytest.raises(StudyError) as caught,
    ):
        run_study(settings, 0, shown=False)
    assert str(caught.value) == lost(
        cluster, "its scheduler did not answer for 5 seconds"
    )
    kept = stored(tmp_path)
    assert 0 < len(kept) < len(plan(settings))

    # Nor is it waited for by the next study.
    monkeypatch.setattr(cluster_module, "_SECONDS_TO_ANSWER", 2)
    with pytest.raises(InputError) as refused:
        run_study(settings, 0, shown=False)
    assert str(refused.value) == (
        f"The scheduler {cluster.address!r} did not answer within 2 seconds; start it, "
        "correct study.scheduler, or set it to null to work here."
    )
    assert stored(tmp_path) == kept
