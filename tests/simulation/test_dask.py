"""The study on a real Dask cluster, of which parts are lost half-way."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from dask_cluster import Cluster, free_port, kill, made_clusters
from tiny_study import PAPER_MODELS, numbers, once_stored, stored, tiny

from ridgeline.errors import InputError
from ridgeline.simulation import cluster as cluster_module
from ridgeline.simulation.study import StudyError, StudyResult, plan, run_study

# Rows of a test may lie beyond the range of the few that a network is trained on.
pytestmark = pytest.mark.filterwarnings("ignore:.* beyond the range")
# Enough tasks that some are left when the first is stored, and none that compiles.
MANY: dict[str, Any] = {"models": ["rf"], "repetitions": 4}


@pytest.fixture
def make_cluster(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Callable[[int], Cluster]]:
    """Return a maker of clusters."""
    with made_clusters(lambda: tmp_path_factory.mktemp("cluster")) as make:
        yield make


class TestLost:
    """Parts of the cluster end while tasks are left."""

    def test_a_worker(
        self,
        whole: StudyResult,
        make_cluster: Callable[[int], Cluster],
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        # Looked at often, a cluster with one worker goes on.
        monkeypatch.setattr(cluster_module, "_SECONDS_BETWEEN_LOOKS", 0.001)
        cluster = make_cluster(2)
        # The network comes last, when there is one worker to compile it.
        settings = tiny(
            tmp_path,
            scenarios=["S1"],
            models=[*(name for name in PAPER_MODELS if "xnn" not in name), "xnn"],
            scheduler=cluster.address,
        )
        left = []

        def kill_one() -> None:
            kill(cluster.workers[0])
            left.append(6 - len(stored(tmp_path)))

        with once_stored(tmp_path, kill_one):
            result = run_study(settings, 0, shown=False)
        assert left[0] > 0
        assert result.computed == 6
        expected = {
            record["model"]: record
            for record in numbers(whole.records)
            if record["scenario"] == "S1"
        }
        assert numbers(result.records) == [expected[model] for model in settings.models]
        assert result.networks["S1"]["xnn"] == whole.networks["S1"]["xnn"]
        assert cluster.workers[1].poll() is None

    def test_the_scheduler(
        self, make_cluster: Callable[[int], Cluster], tmp_path: Path
    ) -> None:
        cluster = make_cluster(1)
        settings = tiny(tmp_path, **MANY, scheduler=cluster.address)
        with (
            once_stored(tmp_path, lambda: kill(cluster.scheduler)),
            pytest.raises(StudyError) as caught,
        ):
            run_study(settings, 0, shown=False)
        assert str(caught.value) == (
            f"The cluster of the scheduler {cluster.address!r} was lost, because its "
            "scheduler closed the connection; what was done is stored: start the "
            "cluster again, or set study.scheduler to null to work here, and start the "
            "study again."
        )
        kept = stored(tmp_path)
        assert 0 < len(kept) < len(plan(settings))
        here = run_study(tiny(tmp_path, **MANY), 0, shown=False)
        assert here.computed == len(plan(settings)) - len(kept)
        alone = run_study(tiny(tmp_path / "alone", **MANY), 0, shown=False)
        assert numbers(here.records) == numbers(alone.records)

    def test_all_workers(
        self, make_cluster: Callable[[int], Cluster], tmp_path: Path
    ) -> None:
        cluster = make_cluster(1)
        settings = tiny(tmp_path, **MANY, scheduler=cluster.address, patience=10)
        with (
            once_stored(tmp_path, lambda: kill(cluster.workers[0])),
            pytest.raises(
                StudyError, match="no worker was heard of for 10 sec.*is stored"
            ),
        ):
            run_study(settings, 0, shown=False)
        assert 0 < len(stored(tmp_path)) < len(plan(settings))
        assert cluster.scheduler.poll() is None


class TestFailing:
    """What goes wrong without anything being lost."""

    def test_a_task(
        self, make_cluster: Callable[[int], Cluster], tmp_path: Path
    ) -> None:
        cluster = make_cluster(1)
        settings = tiny(
            tmp_path,
            scenarios=["S1"],
            models=["lasso", "rf"],
            baselines={"rf": {"settings": {"n_estimators": -1}}},
            scheduler=cluster.address,
        )
        with pytest.raises(StudyError, match=r"task S1 n=60 no\. 1 rf failed \(Inval"):
            run_study(settings, 0, shown=False)
        assert [name.split("-")[3] for name in stored(tmp_path)] == ["lasso"]

    def test_no_worker(
        self,
        make_cluster: Callable[[int], Cluster],
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        cluster = make_cluster(0)
        monkeypatch.setattr(cluster_module, "_SECONDS_TO_ANSWER", 2)
        with pytest.raises(InputError) as caught:
            run_study(tiny(tmp_path, scheduler=cluster.address), 0, shown=False)
        assert str(caught.value) == (
            f"The scheduler {cluster.address!r} has no worker; start one with "
            f"'dask worker {cluster.address} --nthreads 1'."
        )
        assert stored(tmp_path) == []

    def test_no_scheduler(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(cluster_module, "_SECONDS_TO_ANSWER", 1)
        address = f"tcp://127.0.0.1:{free_port()}"
        with pytest.raises(InputError) as caught:
            run_study(tiny(tmp_path, scheduler=address), 0, shown=False)
        assert str(caught.value) == (
            f"The scheduler {address!r} did not answer within 1 seconds; start it, "
            "correct study.scheduler, or set it to null to work here."
        )
        assert stored(tmp_path) == []
