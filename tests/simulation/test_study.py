"""The study as a whole: what is done is kept, and what went wrong is one sentence."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from joblib.externals.loky import get_reusable_executor
from tiny_study import PAPER_MODELS, numbers, once_stored, stored, tiny

from ridgeline.errors import InputError
from ridgeline.simulation.study import StudyError, StudyResult, plan, run_study
from ridgeline.simulation.tasks import Task

# Rows of a test may lie beyond the range of the few that a network is trained on.
pytestmark = pytest.mark.filterwarnings("ignore:.* beyond the range")
SCRIPT = """
import sys
from ridgeline.simulation.settings import StudySettings
from ridgeline.simulation.study import run_study
run_study(StudySettings.model_validate_json(sys.argv[1]), seed=0)
"""


def of(whole: StudyResult, tasks: list[Task]) -> list[dict[str, Any]]:
    """Return the numbers of some tasks in the study that was not disturbed."""
    known = {tuple(r[name] for name in Task._fields): r for r in whole.records}
    return numbers([known[task] for task in tasks])


class TestWhole:
    """A study that nothing disturbs."""

    def test_plan(self) -> None:
        settings = tiny("unused", sizes=[60, 90], repetitions=2, models=["rf", "svm"])
        tasks = plan(settings)
        assert len(tasks) == len(set(tasks)) == 2 * 2 * 2 * 2
        assert tasks[:5] == [
            Task("S1", 90, 0, "rf"),
            Task("S2", 90, 0, "rf"),
            Task("S1", 90, 0, "svm"),
            Task("S2", 90, 0, "svm"),
            Task("S1", 60, 0, "rf"),
        ]
        assert [task.repetition for task in tasks] == [0] * 8 + [1] * 8

    def test_all_records_are_there_in_order(self, whole: StudyResult) -> None:
        tasks = plan(tiny("unused", models=list(PAPER_MODELS)))
        assert of(whole, tasks) == numbers(whole.records)
        assert whole.computed == len(tasks) == 14

    def test_networks_that_are_drawn(self, whole: StudyResult) -> None:
        drawn = {name: list(models) for name, models in whole.networks.items()}
        assert drawn == {name: ["xnn", "naive_xnn"] for name in ("S1", "S2")}

    def test_networks_of_the_largest_size_alone(self, tmp_path: Path) -> None:
        cell = {"scenarios": ["S1"], "models": ["xnn"]}
        both = run_study(tiny(tmp_path, **cell, sizes=[50, 60]), 0, shown=False)
        small, large = (
            run_study(tiny(tmp_path, **cell, sizes=[n]), 0, shown=False)
            for n in (50, 60)
        )
        assert small.computed == large.computed == 0
        assert small.networks != large.networks == both.networks

    def test_again_computes_nothing(self, whole: StudyResult, folder: Path) -> None:
        before = stored(folder)
        again = run_study(tiny(folder, models=list(PAPER_MODELS)), 0, shown=False)
        assert again.computed == 0
        assert again.records == whole.records
        assert again.networks == whole.networks
        assert stored(folder) == before

    def test_more_of_it_computes_the_rest(self, tmp_path: Path) -> None:
        cells = {"models": ["lasso"], "scenarios": ["S1"]}
        first = run_study(tiny(tmp_path, **cells), 0, shown=False)
        more = run_study(tiny(tmp_path, **cells, repetitions=3), 0, shown=False)
        assert more.computed == 2
        assert more.records[0] == first.records[0]

    def test_processes_give_the_same(self, whole: StudyResult, tmp_path: Path) -> None:
        # One scenario, so that one process has the network to compile.
        settings = tiny(tmp_path, scenarios=["S1"], n_jobs=2)
        result = run_study(settings, 0, shown=False)
        assert result.computed == 3
        assert numbers(result.records) == of(whole, plan(settings))
        assert result.networks["S1"]["xnn"] == whole.networks["S1"]["xnn"]


class TestFailing:
    """A task that fails for good."""

    BAD = {"rf": {"settings": {"n_estimators": -1}}}

    @pytest.mark.parametrize("n_jobs", [1, 2])
    def test_names_the_task_and_keeps_the_rest(
        self, tmp_path: Path, n_jobs: int
    ) -> None:
        settings = tiny(
            tmp_path, models=["lasso", "rf"], baselines=self.BAD, n_jobs=n_jobs
        )
        with pytest.raises(StudyError) as caught:
            run_study(settings, 0, shown=False)
        sentence = str(caught.value)
        assert sentence in {
            f"The task {scenario} n=60 no. 1 rf failed (InvalidParameterError: The "
            "'n_estimators' parameter of RandomForestRegressor must be an int in the "
            "range [1, inf). Got -1 instead); what was done before is stored: mend the "
            "cause and start again."
            for scenario in ("S1", "S2")
        }
        kept = stored(tmp_path)
        assert all("lasso" in name for name in kept)
        if n_jobs == 1:
            assert len(kept) == 2
            assert "S1 n=60" in sentence

        mended = run_study(tiny(tmp_path, models=["lasso", "rf"]), 0, shown=False)
        assert mended.computed == 4 - len(kept)


class TestInterrupted:
    """A study that is ended half-way."""

    def test_killed_and_started_again(self, whole: StudyResult, tmp_path: Path) -> None:
        settings = tiny(tmp_path)
        command = [sys.executable, "-c", SCRIPT, settings.model_dump_json()]
        with subprocess.Popen(command, stderr=subprocess.DEVNULL) as child:
            try:
                while len(stored(tmp_path)) < 2 and child.poll() is None:
                    time.sleep(0.01)
            finally:
                child.kill()
        assert child.returncode == -signal.SIGKILL
        kept = stored(tmp_path)
        assert 2 <= len(kept) < 6
        result = run_study(settings, 0, shown=False)
        assert result.computed == 6 - len(kept)
        assert set(kept) < set(stored(tmp_path))
        assert numbers(result.records) == of(whole, plan(settings))

    def test_a_process_is_lost(self, tmp_path: Path) -> None:
        settings = tiny(
            tmp_path, models=["lasso", "rf"], repetitions=20, sizes=[500], n_jobs=2
        )
        with (
            once_stored(tmp_path, lambda: os.kill(_any_process(), signal.SIGKILL)),
            pytest.raises(StudyError) as caught,
        ):
            run_study(settings, 0, shown=False)
        assert str(caught.value) == (
            "A process of the study was lost (TerminatedWorkerError), perhaps for want "
            "of memory; what was done is stored: start again, with a smaller "
            "study.n_jobs if memory was short."
        )
        assert 0 < len(stored(tmp_path)) < 80


def _any_process() -> int:
    """Return the id of one of joblib's processes."""
    return next(iter(get_reusable_executor(max_workers=2, reuse=True)._processes))


class TestBadInput:
    """What cannot be run is refused before anything is."""

    @pytest.mark.parametrize(
        ("changes", "sentence"),
        [
            (
                {"scenarios": ["S1", "S9"]},
                "'scenarios': there is no scenario 'S9': known are S1, S2, S3, S4, S5, "
                "S6.",
            ),
            (
                {"models": ["lasso", "logr"]},  # which is for classification
                "'models': there is no model 'logr': known are xnn, near, lasso, svm, "
                "rf, lightgbm, mlp, elm, naive_xnn, gam.",
            ),
            (
                {"sizes": [1_000, 49]},
                "'sizes': n is 49, but must be at least 50, because a part of the rows "
                "is set aside to choose by.",
            ),
            (
                {"scenarios": ["S1", "S2", "S1"]},
                "'scenarios': the scenario 'S1' is there twice; name each once.",
            ),
            (
                {"models": ["rf", "rf"]},
                "'models': the model 'rf' is there twice; name each once.",
            ),
            ({"sizes": [60, 60]}, "'sizes': the n 60 is there twice; name each once."),
            (
                {"repetition": 3},
                "unknown parameter 'repetition': did you mean 'repetitions'?",
            ),
            (
                {"repetitions": 0},
                "'repetitions' is 0, but input should be greater than or equal to 1.",
            ),
            (
                {"validation_share": 1.0},
                "'validation_share' is 1.0, but input should be less than 1.",
            ),
            (
                {"models": []},
                "'models' is [], but list should have at least 1 item after "
                "validation, not 0.",
            ),
            (
                {"baselines": {"xnn": {}}},
                "'baselines': there is no baseline 'xnn': known are lasso, svm, rf, "
                "lightgbm, mlp, elm, naive_xnn, gam.",
            ),
            (
                {"baselines": {"rf": {"settings": {"depth": 3}}}},
                "'baselines': The baseline 'rf' has no parameter 'depth': did you mean "
                "'max_depth'?",
            ),
            (
                {"xnn": {"settings": {"max_epoch": 3}}},
                "'xnn.settings': the network has no parameter 'max_epoch': did you "
                "mean 'max_epochs'?",
            ),
            (
                {"xnn": {"grid": {"l1_projections": [1e-3]}}},
                "'xnn.grid': the network has no parameter 'l1_projections': did you "
                "mean 'l1_projection'?",
            ),
            (
                {"n_jobs": 0},
                "'n_jobs': it is 0, but must be 1 or more, or -1 for one for each "
                "core.",
            ),
            (
                {"patience": 0},
                "'patience' is 0, but input should be greater than 0.",
            ),
            (
                {"scheduler": "127.0.0.1:8786"},
                "'scheduler': the address is '127.0.0.1:8786', but must be one such as "
                "'tcp://127.0.0.1:8786', or null to work here.",
            ),
        ],
        ids=lambda value: str(value)[:24],
    )
    def test_one_sentence(self, changes: dict[str, Any], sentence: str) -> None:
        with pytest.raises(InputError) as caught:
            tiny("unused", **changes)
        assert str(caught.value) == f"parameters 'study': {sentence}"

    def test_results_are_a_file(self, tmp_path: Path) -> None:
        (tmp_path / "results").write_text("mine")
        with pytest.raises(InputError, match=r"cannot be made \(File exists\)"):
            run_study(tiny(tmp_path / "results"), 0, shown=False)
        assert (tmp_path / "results").read_text() == "mine"

    def test_dask_is_not_installed(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(sys.modules, "distributed", None)
        settings = tiny(tmp_path, scheduler="tcp://127.0.0.1:8786")
        with pytest.raises(InputError) as caught:
            run_study(settings, 0, shown=False)
        assert str(caught.value) == (
            "The study's scheduler is 'tcp://127.0.0.1:8786', but Dask is not "
            "installed: pip install 'ridgeline[cluster]', or set study.scheduler to "
            "null."
        )


class TestNotComputed:
    """An unfinished study is looked at."""

    def test_what_is_stored_is_reported_and_the_rest_left_out(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        part = run_study(tiny(tmp_path, models=["lasso"], scenarios=["S2"]), 0)
        before = stored(tmp_path)
        seen = run_study(tiny(tmp_path, models=["lasso", "rf"], compute=False), 0)
        assert seen.computed == 0
        assert seen.records == part.records
        assert stored(tmp_path) == before
        assert "3 of 4 tasks are left out" in caplog.text

    def test_nothing_stored_is_one_sentence(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="None of the study's 6 tasks is stored"):
            run_study(tiny(tmp_path, compute=False), 0)
