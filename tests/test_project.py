"""The project as a whole: its pipelines, its configuration, its start-up."""

import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from kedro.config import OmegaConfigLoader
from kedro.io import DataCatalog

from ridgeline import settings
from ridgeline.pipeline_registry import register_pipelines

PROJECT = Path(__file__).parents[1]
ENVIRONMENTS = ["base", "smoke", "files", "paper", "spark"]


def loader(environment):
    return OmegaConfigLoader(
        str(PROJECT / "conf"), env=environment, **settings.CONFIG_LOADER_ARGS
    )


def test_pipelines_that_are_promised():
    pipelines = register_pipelines()
    assert {"ingestion", "cleaning", "splitting", "data", "lendingclub"} <= set(
        pipelines
    )
    parts = ("ingestion", "cleaning", "splitting")
    nodes = [node.name for part in parts for node in pipelines[part].nodes]
    assert sorted(nodes) == sorted(node.name for node in pipelines["data"].nodes)
    for pipeline in pipelines.values():
        assert all(node.name == node.func.__name__ for node in pipeline.nodes)


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_every_dataset_is_in_the_catalog(environment):
    configuration = loader(environment)
    catalog = DataCatalog.from_config(configuration["catalog"])
    parameters = configuration["parameters"]
    for name in register_pipelines()["__default__"].datasets():
        if name.startswith("params:"):
            assert name.removeprefix("params:") in parameters
        else:
            assert name in catalog


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_every_dataset_has_a_layer_and_a_sentence(environment):
    for name, entry in loader(environment)["catalog"].items():
        metadata = entry["metadata"]
        assert metadata["kedro-viz"]["layer"], name
        assert metadata["description"].endswith("."), name


def test_every_parameter_has_its_default_in_the_configuration():
    from ridgeline.lendingclub.cleaning import CleaningRules
    from ridgeline.lendingclub.splitting import SplitShares

    parameters = loader("base")["parameters"]
    assert CleaningRules(**parameters["cleaning"]) == CleaningRules()
    assert set(parameters["cleaning"]) == set(CleaningRules.model_fields)
    assert SplitShares(**parameters["splitting"]) == SplitShares()
    assert set(parameters["splitting"]) == set(SplitShares.model_fields)


@pytest.mark.parametrize(
    "command",
    [
        ["registry", "list"],
        ["catalog", "describe-datasets"],
        ["viz", "--help"],
    ],
    ids=" ".join,
)
def test_looking_around_does_not_import_tensorflow(command):
    script = (
        "import sys\n"
        "from kedro.framework.cli.cli import main\n"
        f"sys.argv = ['kedro', *{command!r}]\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert not end.code\n"
        "heavy = {'tensorflow', 'mlflow', 'keras'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_telemetry_is_off_as_shipped():
    assert yaml.safe_load((PROJECT / ".telemetry").read_text()) == {"consent": False}


@pytest.mark.parametrize("name", ["requirements.lock", "requirements-extras.lock"])
def test_lock_files_pin_and_hash_and_name_no_address(name):
    text = (PROJECT / name).read_text()
    assert "://" not in text
    pins = [line for line in text.splitlines() if line and line[0] not in " #"]
    assert all("==" in line for line in pins)
    assert text.count("--hash=sha256:") >= len(pins)
