"""What went wrong with the study once: numbers that were not what they were said to be.

Results of former code, the time and the fits of a model, the cores of a task, and files
that were damaged.
"""

import json
import logging
import random
import shutil
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import Lasso
from tiny_study import numbers, stored, tiny

import ridgeline
from ridgeline.errors import InputError
from ridgeline.provenance import git_state
from ridgeline.simulation import tasks
from ridgeline.simulation.store import ResultStore
from ridgeline.simulation.study import run_study
from ridgeline.simulation.tasks import Task, TaskResult, run_task
from ridgeline.xnn.estimator import BaseXNN
from ridgeline.xnn.search import PAPER_GRID
from ridgeline.xnn.storage import read_document

LASSO, NETWORK = Task("S1", 60, 0, "lasso"), Task("S1", 60, 0, "xnn")
# More test rows than are scored at once, even by a network with one component.
MANY_ROWS = 25_000


def searching(results: Path | str) -> Any:
    """Return settings in which a network has every kind of search."""
    settings = tiny(results).xnn.settings
    grid = {"l1_projection": [1e-3], "l1_scales": [1e-3, 1e-4]}
    search = {"grid": grid, "roughness": [1e-6, 1e-7], "n_starts": 3}
    return tiny(results, xnn=search | {"settings": settings}, test_rows=MANY_ROWS)


@contextmanager
def started_threads() -> Iterator[set[int]]:
    """Give the ids of the threads that Python starts meanwhile."""
    ids: set[int] = set()
    threading.setprofile(lambda *_: ids.add(threading.get_ident()))
    try:
        yield ids
    finally:
        threading.setprofile(None)


def counting(counts: Counter[str], name: str, function: Callable[..., Any]) -> Any:
    """Return the same function, whose calls are counted."""

    def counted(*given: Any, **named: Any) -> Any:
        counts[name] += 1
        return function(*given, **named)

    return counted


@pytest.fixture(scope="module")
def observed() -> SimpleNamespace:
    """Return a network's task, and what was seen while it ran."""
    counts: Counter[str] = Counter()
    until_refined = []

    def noting(*given: Any, **named: Any) -> Any:
        until_refined.append(time.process_time() - began)
        return refine(*given, **named)

    refine = tasks.refine
    with pytest.MonkeyPatch.context() as patch, started_threads() as threads:
        patch.setattr(BaseXNN, "fit", counting(counts, "fit", BaseXNN.fit))
        patch.setattr(tasks, "refine", noting)
        began = time.process_time()
        result = run_task(NETWORK, searching("unused"), 0)
    return SimpleNamespace(
        result=result,
        fits=counts["fit"],
        threads=threads,
        until_refined=until_refined,
    )


class TestObserved:
    """A task says of itself what others see."""

    def test_time_is_that_of_the_reported_model(
        self, observed: SimpleNamespace
    ) -> None:
        [until_refined] = observed.until_refined
        assert 0 < observed.result.record["seconds"] <= until_refined
        assert observed.result.record["excess_all_rows"] > 0

    def test_fits_are_those_that_were_run(self, observed: SimpleNamespace) -> None:
        assert observed.result.record["fits"] == observed.fits == 2 + 2 + 3

    def test_one_core_is_one_thread(self, observed: SimpleNamespace) -> None:
        assert observed.threads == set()

    @pytest.mark.parametrize(
        ("grid", "fits"), [({"alpha": [0.1, 0.2, 0.3]}, 4), ({"alpha": [0.1]}, 1)]
    )
    def test_fits_of_a_baseline(
        self, grid: dict[str, Any], fits: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        counts: Counter[str] = Counter()
        monkeypatch.setattr(Lasso, "fit", counting(counts, "fit", Lasso.fit))
        settings = tiny("unused", baselines={"lasso": {"grid": grid}})
        record = run_task(LASSO, settings, 0).record
        assert record["fits"] == counts["fit"] == fits

    def test_fits_of_a_network_that_a_sample_tunes(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        counts: Counter[str] = Counter()
        monkeypatch.setattr(BaseXNN, "fit", counting(counts, "fit", BaseXNN.fit))
        naive = tiny("unused").baselines["naive_xnn"].model_dump()
        naive |= {"grid": {"l1_scales": [1e-3, 1e-4]}, "tuning_rows": 40}
        settings = tiny("unused", baselines={"naive_xnn": naive})
        record = run_task(NETWORK._replace(model="naive_xnn"), settings, 0).record
        assert record["fits"] == counts["fit"] == 3


# The few rows of a task leave most of these outside.
@pytest.mark.filterwarnings("ignore:.* beyond the range")
def test_scores_are_the_same_on_any_number_of_threads(
    observed: SimpleNamespace,
) -> None:
    from ridgeline.xnn.scorer import scoring_threads

    scorer = read_document(observed.result.network)
    rows = np.random.default_rng(0).uniform(-1, 1, size=(50_000, 10))
    expected = scorer.decision_function(rows), scorer.contributions(rows)
    for count in (1, 2, 5):
        with scoring_threads(count):
            with started_threads() as threads:
                decision = scorer.decision_function(rows)
            found = decision, scorer.contributions(rows)
        assert len(threads) == 0 if count == 1 else 0 < len(threads) <= count
        for one, other in zip(found, expected, strict=True):
            assert np.array_equal(one, other)
    with pytest.raises(InputError, match="has 0 threads; it must have at least one"):
        scoring_threads(0).__enter__()


# Prints the name that each copy of the package gives the result of a task.
NAMES = """
import json, os, sys
names = {}
for variant in json.loads(sys.argv[1]):
    sys.path.insert(0, variant)
    from ridgeline.simulation.settings import StudySettings
    from ridgeline.simulation.store import ResultStore
    from ridgeline.simulation.tasks import Task, TaskResult
    assert sys.modules["ridgeline"].__file__.startswith(variant)
    results = os.path.join(variant, "results")
    store = ResultStore(StudySettings(results=results), 0)
    task = Task("S1", 60, 0, "xnn")
    store.save(task, TaskResult(task._asdict(), None))
    [names[variant]] = os.listdir(results)
    for name in [name for name in sys.modules if name.startswith("ridgeline")]:
        del sys.modules[name]
    sys.path.remove(variant)
assert "tensorflow" not in sys.modules
print(json.dumps(names))
"""


# Imported late, of the network; and through others, of a baseline.
MODULES = ("xnn/training.py", "baselines/elm.py")
LIBRARIES = ("numpy", "tensorflow")


@pytest.fixture(scope="module")
def name_after(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the name of one result by what was changed in the code before."""
    folder = tmp_path_factory.mktemp("code")
    changes: dict[str, Callable[[Path], object]] = {
        "nothing": lambda package: None,
        "comments": _change_comments,
        "truth": lambda package: _replace(
            package / "simulation" / "scenarios.py", "0.2 * np.exp", "0.3 * np.exp"
        ),
        "grid": lambda package: _replace(
            package / "xnn" / "search.py", "(1e-2, 10**-2.5", "(2e-2, 10**-2.5"
        ),
        **{module: _appender(module) for module in MODULES},
        **{library: _releaser(library) for library in LIBRARIES},
    }
    variants = {}
    for number, (name, change) in enumerate(changes.items()):
        package = folder / str(number) / "ridgeline"
        shutil.copytree(ridgeline.__path__[0], package)
        change(package)
        variants[str(package.parent)] = name
    done = subprocess.run(
        [sys.executable, "-c", NAMES, json.dumps(list(variants))],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    found = json.loads(done.stdout)
    return {name: found[folder] for folder, name in variants.items()}


class TestKey:
    """A result is found again by what made it."""

    def test_comments_and_docstrings_do_not_count(
        self, name_after: dict[str, str]
    ) -> None:
        assert name_after["comments"] == name_after["nothing"]

    def test_code_and_libraries_do(self, name_after: dict[str, str]) -> None:
        names = [name for change, name in name_after.items() if change != "comments"]
        assert len(set(names)) == len(names) == 7

    def test_the_grid_is_there_as_it_was_tried(self, tmp_path: Path) -> None:
        unset = tiny(tmp_path, xnn={"grid": None})
        paper = {name: list(values) for name, values in PAPER_GRID.items()}
        store = ResultStore(unset, 0)
        store.save(NETWORK, TaskResult(NETWORK._asdict(), None))
        [name] = stored(tmp_path)
        document = json.loads((tmp_path / name).read_text())
        assert document["parameters"]["model"]["grid"] == paper
        # So it is found by who writes it out, too.
        written = ResultStore(tiny(tmp_path, xnn={"grid": paper}), 0)
        assert written.load(NETWORK) is not None

    def test_the_commit_is_kept(self, tmp_path: Path) -> None:
        ResultStore(tiny(tmp_path), 0).save(LASSO, TaskResult(LASSO._asdict(), None))
        [name] = stored(tmp_path)
        state = git_state(Path(ridgeline.__path__[0]))
        made_at = json.loads((tmp_path / name).read_text())["made_at"]
        assert made_at == (None if state is None else state._asdict())


def _appender(module: str) -> Callable[[Path], object]:
    def append(package: Path) -> None:
        path = package / module
        path.write_text(path.read_text() + "\n_ANOTHER = 1.0\n")

    return append


def _releaser(library: str) -> Callable[[Path], object]:
    def release(package: Path) -> None:
        metadata = package.parent / f"{library}-99.0.dist-info" / "METADATA"
        metadata.parent.mkdir()
        name = library.replace("_", "-")
        metadata.write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 99.0\n")

    return release


def _change_comments(package: Path) -> None:
    for path in package.rglob("*.py"):
        text = path.read_text()
        path.write_text(
            f'"""Another\ndocstring."""\n\n# A remark.\n{_undocumented(text)}'
        )
    _replace(package / "xnn" / "search.py", "Fits one point", "Does one of them")


def _undocumented(text: str) -> str:
    """Return a module's source without its docstring."""
    return text.split('"""', 2)[2] if text.startswith('"""') else text


def _replace(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


class TestDamage:
    """Stored files of which something was changed, cut off or overwritten."""

    def test_hundreds_of_mutations(
        self,
        observed: SimpleNamespace,
        tmp_path: Path,
        caplog: pytest.LogCaptureFixture,
    ) -> None:
        settings = searching(tmp_path)
        store = ResultStore(settings, 0)
        results = {NETWORK: observed.result, LASSO: run_task(LASSO, settings, 0)}
        rng = random.Random(0)
        aside = 0
        for task, result in results.items():
            store.save(task, result)
            [name] = [name for name in stored(tmp_path) if task.model in name]
            path = tmp_path / name
            whole = path.read_bytes()
            for _ in range(250):
                path.write_bytes(_mutated(whole, rng))
                damaged = path.read_bytes()
                caplog.clear()
                found = store.load(task)
                if found is not None:
                    # Told apart by their digits: 1 and 1.0 are equal.
                    assert json.dumps(found) == json.dumps(result)
                    assert not caplog.messages
                    continue
                aside += 1
                [message] = caplog.messages
                assert name in message
                [kept] = tmp_path.glob(f"{name}.damaged-*")
                assert kept.name in message
                assert kept.read_bytes() == damaged
                assert not path.exists()
                kept.unlink()
        assert aside > 450

    def test_a_study_computes_again_and_keeps_what_was_there(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        settings = tiny(tmp_path, models=["lasso", "elm"])
        first = run_study(settings, 0, shown=False)
        name, *_ = stored(tmp_path)
        path = tmp_path / name
        document = json.loads(path.read_bytes())
        for mse in (0.5, 0.25):
            document["record"]["mse"] = mse
            path.write_text(json.dumps(document))
            caplog.clear()
            with caplog.at_level(logging.WARNING):
                again = run_study(settings, 0, shown=False)
            assert again.computed == 1
            assert numbers(again.records) == numbers(first.records)
            number = 1 if mse == 0.5 else 2
            assert caplog.messages == [
                f"The result {name} is damaged; it is set aside as "
                f"{name}.damaged-{number}, and its task is to be computed again."
            ]
        kept = [
            json.loads(p.read_bytes()) for p in sorted(tmp_path.glob("*.damaged-*"))
        ]
        assert [document["record"]["mse"] for document in kept] == [0.5, 0.25]

    def test_what_cannot_be_read_is_set_aside_too(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        store = ResultStore(tiny(tmp_path), 0)
        store.save(LASSO, TaskResult(LASSO._asdict(), None))
        [name] = stored(tmp_path)
        (tmp_path / name).unlink()
        (tmp_path / name).mkdir()
        assert store.load(LASSO) is None
        assert "cannot be read (Is a directory); it is set aside" in caplog.text
        assert (tmp_path / f"{name}.damaged-1").is_dir()

    def test_a_file_under_another_name_is_not_that_result(self, tmp_path: Path) -> None:
        store, other = ResultStore(tiny(tmp_path), 0), ResultStore(tiny(tmp_path), 1)
        store.save(LASSO, TaskResult(LASSO._asdict(), None))
        [name] = stored(tmp_path)
        content = (tmp_path / name).read_bytes()
        other.save(LASSO, TaskResult(LASSO._asdict(), None))
        [second] = set(stored(tmp_path)) - {name}
        (tmp_path / second).write_bytes(content)
        assert other.load(LASSO) is None
        assert store.load(LASSO) is not None


def _mutated(whole: bytes, rng: random.Random) -> bytes:
    """Return a file with one thing changed at random."""
    place = rng.randrange(len(whole))
    other = rng.randrange(len(whole))
    digits = [at for at, byte in enumerate(whole) if chr(byte).isdigit()]
    digit = rng.choice(digits)
    return rng.choice(
        [
            whole[:place],
            whole[:place] + bytes([rng.randrange(256)]) + whole[place + 1 :],
            whole[:place] + whole[place + 1 :],
            whole[:place] + whole[other : other + 9] + whole[place:],
            whole[:digit] + rng.choice(b"0123456789").to_bytes() + whole[digit + 1 :],
            whole[:digit] + rng.choice(b"0123456789").to_bytes() + whole[digit + 1 :],
        ]
    )
