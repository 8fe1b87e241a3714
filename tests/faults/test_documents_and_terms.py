"""What the documents claim can be made again, and the benchmark compares equals."""

import re
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from math import prod
from pathlib import Path
from types import ModuleType

import pandas as pd
import pytest
from kedro.config import OmegaConfigLoader

from ridgeline.baselines.registry import BASELINES
from ridgeline.lendingclub.modelling import model_sample
from ridgeline.settings import CONFIG_LOADER_ARGS

MakeApplications = Callable[[int, int], pd.DataFrame]
PROJECT = Path(__file__).parents[2]
PAGES = [
    PROJECT / "docs" / f"{name}.md"
    for name in ("benchmarks", "data", "model", "simulator", "study", "when-not")
]
# Of a script in the documents: its path and what follows on the line or in the code.
COMMAND = re.compile(r"python ((?:benchmarks|docs)/\S+?\.py)([^`\n]*)")


@pytest.fixture
def benchmark(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The benchmark's module; its neighbours are found beside it."""
    monkeypatch.syspath_prepend(str(PROJECT / "benchmarks"))
    yield import_module("lendingclub")
    for name in ("lendingclub", "training", "training_tasks"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_auc_says_whether_its_data_are_simulated(page: Path) -> None:
    for paragraph in page.read_text().split("\n\n"):
        if "AUC" in paragraph and re.search(r"\b0\.\d{3}", paragraph):
            assert re.search("(simulated|real) data", paragraph), paragraph


def test_commands_of_the_documents_have_their_options() -> None:
    found = [
        (page.name, *match)
        for page in PAGES
        for match in COMMAND.findall(page.read_text())
    ]
    assert len(found) > 5
    for page, script, words in found:
        code = (PROJECT / script).read_text()
        for option in re.findall(r"--[a-z-]+", words):
            assert f'"{option}"' in code, f"{page}: {script} has no {option}"


@pytest.mark.parametrize("scale", [0.1, 1.0])
def test_the_benchmark_gives_the_mlp_the_networks_epochs(
    benchmark: ModuleType, tmp_path: Path, scale: float
) -> None:
    benchmark.copy_project(tmp_path, scale, None)
    loader = OmegaConfigLoader(
        str(tmp_path / "conf"), env=benchmark.ENVIRONMENT, **CONFIG_LOADER_ARGS
    )
    parameters = loader["parameters"]
    epochs = parameters["xnn"]["training"]["max_epochs"]
    mlp = parameters["baselines"]["mlp"]["settings"]
    assert epochs == mlp["max_iter"] == mlp["n_iter_no_change"]


def test_the_benchmark_tunes_lightgbm_on_validation_rows(
    benchmark: ModuleType,
    tmp_path: Path,
    make_applications: MakeApplications,
) -> None:
    benchmark.copy_project(tmp_path, 1.0, None)
    train, held = (model_sample(make_applications(300, seed)) for seed in (0, 1))
    _, _, fit = benchmark.PEERS["lightgbm"]
    model, measured = fit("lightgbm", train, held, tmp_path)
    points = prod(len(values) for values in BASELINES["lightgbm"].grid.values())
    assert measured["fits"] == points + 1
    assert model.predict_proba(held.features).shape == (300, 2)
