"""Stored results: found again, unless what they depend on has changed."""

import json
import logging
import shutil
from pathlib import Path
from typing import Any

import pytest
from tiny_study import stored, tiny

from ridgeline.errors import InputError
from ridgeline.simulation.store import ResultStore
from ridgeline.simulation.tasks import Task, TaskResult, run_task

TASK = Task("S1", 60, 0, "rf")
NETWORK = TASK._replace(model="xnn")


def result_of(task: Task) -> TaskResult:
    """Return a result with numbers that need all their digits, and an absence."""
    record = {"mse": 1 / 3, "excess": 1e-300, "n_components": None}
    network = {"model": {"scales": [0.1 + 0.2, 2**-1074]}}
    return TaskResult(task._asdict() | record, network)


RESULT = result_of(TASK)


def with_rf(**settings: Any) -> dict[str, Any]:
    """Return what a user may change about the forest."""
    return {"baselines": {"rf": settings}}


def with_network(**changes: Any) -> dict[str, Any]:
    """Return what a user may change about the network."""
    base = {"grid": {"l1_scales": [1e-3]}, "roughness": [1e-6], "settings": {}}
    return {"xnn": base | changes}


def test_same_bits_back(tmp_path: Path) -> None:
    store = ResultStore(tiny(tmp_path), 0)
    assert store.load(TASK) is None
    store.save(TASK, RESULT)
    assert store.load(TASK) == RESULT
    assert ResultStore(tiny(tmp_path), 0).load(TASK) == RESULT
    assert not list(tmp_path.glob(".*"))  # nothing is left of the writing


def test_a_real_result_comes_back_as_it_was(tmp_path: Path) -> None:
    settings = tiny(tmp_path)
    store, result = ResultStore(settings, 0), run_task(TASK, settings, 0)
    store.save(TASK, result)
    assert store.load(TASK) == result


def test_saved_again_is_replaced(tmp_path: Path) -> None:
    store = ResultStore(tiny(tmp_path), 0)
    store.save(TASK, RESULT)
    store.save(TASK, RESULT._replace(network=None))
    assert store.load(TASK) == RESULT._replace(network=None)
    assert len(stored(tmp_path)) == 1


def test_the_file_says_what_it_is_of(tmp_path: Path) -> None:
    ResultStore(tiny(tmp_path), 5).save(TASK, RESULT)
    [name] = stored(tmp_path)
    assert name.startswith("S1-60-0-rf-")
    parameters = json.loads((tmp_path / name).read_text())["parameters"]
    assert parameters["task"] == ["S1", 60, 0, "rf"]
    assert parameters["seed"] == 5
    assert parameters["model"]["grid"] == {"max_depth": [3, 5]}


def test_the_folder_is_made(tmp_path: Path) -> None:
    folder = tmp_path / "some" / "where"
    ResultStore(tiny(folder), 0).save(TASK, RESULT)
    assert len(stored(folder)) == 1


@pytest.mark.parametrize(
    "other",
    [
        TASK._replace(scenario="S2"),
        TASK._replace(n=61),
        TASK._replace(repetition=1),
        TASK._replace(model="lasso"),
    ],
)
def test_another_task_is_not_found(tmp_path: Path, other: Task) -> None:
    store = ResultStore(tiny(tmp_path), 0)
    store.save(TASK, RESULT)
    assert store.load(other) is None


@pytest.mark.parametrize(
    ("task", "changes"),
    [
        (TASK, {"validation_share": 0.25}),
        (TASK, {"test_rows": 501}),
        (TASK, with_rf(grid={"max_depth": [3]})),
        (TASK, with_rf(settings={"n_estimators": 10})),
        (TASK, with_rf(tuning_rows=20)),
        (NETWORK, with_network(grid={"l1_scales": [1e-4]})),
        (NETWORK, with_network(grid=None)),
        (NETWORK, with_network(roughness=[1e-6, 1e-7])),
        (NETWORK, with_network(settings={"hidden": [5]})),
    ],
)
def test_what_it_depends_on_has_changed(
    tmp_path: Path, task: Task, changes: dict[str, Any]
) -> None:
    before = tiny(tmp_path, **with_network(), **with_rf(grid={"max_depth": [3, 5]}))
    ResultStore(before, 0).save(task, result_of(task))
    assert ResultStore(tiny(tmp_path, **changes), 0).load(task) is None
    # Former results stay, for those who go back.
    assert ResultStore(before, 0).load(task) == result_of(task)


def test_epochs_are_of_networks_alone(tmp_path: Path) -> None:
    before, after = tiny(tmp_path, xnn={}), tiny(tmp_path, xnn={}, max_epochs=7)
    for task in (TASK, NETWORK):
        ResultStore(before, 0).save(task, result_of(task))
    assert ResultStore(after, 0).load(NETWORK) is None
    assert ResultStore(after, 0).load(TASK) == RESULT
    assert after.network("xnn").settings == before.network("xnn").settings | {
        "max_epochs": 7
    }
    assert after.baseline("rf").settings == {}


def test_another_seed(tmp_path: Path) -> None:
    ResultStore(tiny(tmp_path), 0).save(TASK, RESULT)
    assert ResultStore(tiny(tmp_path), 1).load(TASK) is None


@pytest.mark.parametrize(
    ("task", "changes"),
    [
        (NETWORK, with_rf(settings={"n_estimators": 10})),
        (TASK, with_network()),
        (TASK, {"baselines": {"rf": {"grid": {"max_depth": [3, 5]}}, "mlp": {}}}),
        (TASK, {"scenarios": ["S1"], "sizes": [60, 70], "repetitions": 9}),
        (TASK, {"models": ["rf"]}),
        (TASK, {"n_jobs": 2, "scheduler": "tcp://127.0.0.1:8786"}),
    ],
)
def test_what_it_does_not_depend_on_has_changed(
    tmp_path: Path, task: Task, changes: dict[str, Any]
) -> None:
    ResultStore(tiny(tmp_path), 0).save(task, result_of(task))
    assert ResultStore(tiny(tmp_path, **changes), 0).load(task) == result_of(task)


@pytest.mark.parametrize(
    "content",
    [b"", b'{"record": {"mse"', b"[]", b"7", b'{"record": {}}', b"\xff\xfe", b"null",
     b'{"record": 7, "network": null}',
     json.dumps({"record": RESULT.record | {"n": 61}, "network": None}).encode()],
)  # fmt: skip
def test_damaged_files_are_told_and_computed_again(
    tmp_path: Path, content: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    store = ResultStore(tiny(tmp_path), 0)
    store.save(TASK, RESULT)
    [name] = stored(tmp_path)
    (tmp_path / name).write_bytes(content)
    with caplog.at_level(logging.WARNING):
        assert store.load(TASK) is None
    assert caplog.messages == [
        f"The result {name} is damaged; it is set aside as {name}.damaged-1, and its "
        "task is to be computed again."
    ]
    assert (tmp_path / f"{name}.damaged-1").read_bytes() == content
    store.save(TASK, RESULT)
    assert store.load(TASK) == RESULT


class TestFolders:
    """Folders that cannot be made or written to: one sentence."""

    def test_a_file_is_in_the_way(self, tmp_path: Path) -> None:
        path = tmp_path / "results"
        path.write_text("something else")
        with pytest.raises(InputError) as caught:
            ResultStore(tiny(path), 0)
        assert str(caught.value) == (
            f"The folder of the study's results, {str(path)!r}, cannot be made "
            "(File exists); set study.results to one that can."
        )
        assert path.read_text() == "something else"

    def test_a_file_is_above(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("")
        with pytest.raises(InputError, match=r"cannot be made \(Not a directory\)"):
            ResultStore(tiny(tmp_path / "file" / "results"), 0)

    def test_the_folder_goes_away(self, tmp_path: Path) -> None:
        folder = tmp_path / "results"
        store = ResultStore(tiny(folder), 0)
        shutil.rmtree(folder)
        with pytest.raises(InputError) as caught:
            store.save(TASK, RESULT)
        assert str(caught.value) == (
            "The result of the task S1 n=60 no. 1 rf cannot be written to the folder "
            f"{str(folder)!r} (No such file or directory); what was done before is "
            "stored: mend the cause and start again."
        )
