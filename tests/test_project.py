"""The project as a whole: its pipelines, its configuration, its start-up."""

import subprocess
import sys
from graphlib import TopologicalSorter

import pytest
import yaml
from kedro.config import OmegaConfigLoader
from kedro.io import DataCatalog
from projects import PROJECT

from ridgeline import settings
from ridgeline.pipeline_registry import register_pipelines
from ridgeline.pipelines.models import METHODS, STAGES

ENVIRONMENTS = ["base", "smoke", "files", "paper", "spark"]
DATA = ("ingestion", "cleaning", "splitting")
NETWORK = ("tuning", "training", "pruning", "refinement")
PARTS = (*DATA, *NETWORK, "baselines", "evaluation", "reporting")
MODELS = [*(f"xnn.{stage}" for stage in STAGES), *METHODS]


def loader(environment):
    return OmegaConfigLoader(
        str(PROJECT / "conf"), env=environment, **settings.CONFIG_LOADER_ARGS
    )


def names(pipeline):
    return {node.name for node in pipeline.nodes}


def parameters_of(pipeline):
    """Names of the parameters that the nodes take, without Kedro's prefix."""
    prefix = "params:"
    inputs = (name for name in pipeline.inputs() if name.startswith(prefix))
    return {name.removeprefix(prefix) for name in inputs}


def test_pipelines_that_are_promised():
    pipelines = register_pipelines()
    assert set(pipelines) == {
        *PARTS,
        "data",
        "lendingclub",
        "simulation",
        "__default__",
    }
    for whole, parts in (("data", DATA), ("lendingclub", PARTS)):
        nodes = [node.name for part in parts for node in pipelines[part].nodes]
        assert sorted(nodes) == sorted(node.name for node in pipelines[whole].nodes)
    assert names(pipelines["__default__"]) == names(pipelines["lendingclub"])


def test_nodes_are_named_after_what_they_do():
    for node in register_pipelines()["lendingclub"].nodes:
        namespace, _, name = node.name.rpartition(".")
        assert namespace == (node.namespace or "")
        # One function judges all stages of the network: these nodes name the stage.
        stages = {f"evaluate_{stage}" for stage in STAGES}
        own = stages if namespace == "xnn" else set()
        assert name == node.func.__name__ or name in own


def test_each_method_has_its_namespace():
    pipelines = register_pipelines()
    assert names(pipelines["baselines"]) == {f"{name}.fit_method" for name in METHODS}
    judged = {f"{name}.evaluate_model" for name in METHODS}
    judged |= {f"xnn.evaluate_{stage}" for stage in STAGES}
    judged |= {"compare_models", "plot_curves"}
    assert names(pipelines["evaluation"]) == judged
    for name in METHODS:
        inputs = pipelines["baselines"].filter(node_namespaces=[name]).inputs()
        params = {f"params:baselines.{name}", "params:seed"}
        assert inputs == {"train", "validation", "data_identity", *params}


def test_nodes_describe_themselves_for_kedro_viz():
    for node in register_pipelines()["lendingclub"].nodes:
        assert node.func.__doc__.splitlines()[0].endswith("."), node.name


def test_every_model_has_a_title_of_its_own():
    from ridgeline.baselines.titles import TITLES, short_title
    from ridgeline.simulation.settings import MODELS as STUDIED

    assert {*MODELS, *STUDIED} == set(TITLES)
    assert len(set(TITLES.values())) == len(TITLES)
    assert len({short_title(name) for name in STUDIED}) == len(STUDIED)


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_every_dataset_is_in_the_catalog(environment):
    configuration = loader(environment)
    catalog = DataCatalog.from_config(configuration["catalog"])
    pipeline = register_pipelines()["__default__"]
    # By a name or a pattern; what is in neither would stay in memory.
    for name in pipeline.datasets():
        if not name.startswith("params:"):
            assert name in catalog, name
    for name in parameters_of(pipeline):
        group, _, key = name.partition(".")
        value = configuration["parameters"][group]
        assert not key or key in value, name


def test_no_two_datasets_share_a_file():
    catalog = DataCatalog.from_config(loader("base")["catalog"])
    outputs = register_pipelines()["__default__"].all_outputs()
    paths = [str(catalog.get(name)._filepath) for name in sorted(outputs)]
    assert len(set(paths)) == len(paths) > 60


def test_outputs_of_a_model_go_to_its_child_run():
    catalog = DataCatalog.from_config(loader("base")["catalog"])
    outputs = register_pipelines()["__default__"].all_outputs()
    records = {
        name: (catalog.get(name).metadata or {}).get("mlflow", {}) for name in outputs
    }
    assert {r["run"] for r in records.values() if "run" in r} == set(MODELS)
    logged = {r["run"]: name for name, r in records.items() if r.get("model")}
    assert set(logged) == set(MODELS)
    for name in MODELS:
        stage = name.startswith("xnn.")
        metrics = f"{name}_metrics" if stage else f"{name}.metrics"
        assert records[metrics]["run"] == name
        assert logged[name] == (name if stage else f"{name}.model")
    registered = {name: r["register"] for name, r in records.items() if "register" in r}
    assert registered == {"xnn.refined": "ridgeline-lendingclub"}


def test_tables_of_applications_are_private():
    catalog = loader("base")["catalog"]
    with_rows = ("raw", "intermediate", "primary", "model_input")
    outputs = register_pipelines()["__default__"].all_outputs()
    for name in outputs & set(catalog):
        metadata = catalog[name]["metadata"]
        # Counts and hashes are JSON, and nobody's.
        is_table = not catalog[name]["type"].endswith("JsonDataset")
        if is_table and metadata["kedro-viz"]["layer"] in with_rows:
            # The audit has counts, and cells as examples.
            private = ["examples"] if name == "cleaning_audit" else True
            assert metadata["mlflow"] == {"private": private}, name


@pytest.mark.parametrize("name", ["lendingclub", "simulation", "__default__"])
def test_layers_follow_one_another(name):
    """Kedro-Viz shows no layers at all where two of them wait for each other."""
    resolver = DataCatalog.from_config(loader("base")["catalog"]).config_resolver
    before = {}
    for node in register_pipelines()[name].nodes:
        layers = [
            {
                resolver.resolve_pattern(one)["metadata"]["kedro-viz"]["layer"]
                for one in side
                if not one.startswith("param")
            }
            for side in (node.inputs, node.outputs)
        ]
        for layer in layers[1]:
            before.setdefault(layer, set()).update(layers[0] - {layer})
    order = list(TopologicalSorter(before).static_order())
    assert order[-1] == "reporting"


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_every_dataset_has_a_layer_and_a_sentence(environment):
    for name, entry in loader(environment)["catalog"].items():
        metadata = entry["metadata"]
        assert metadata["kedro-viz"]["layer"], name
        assert metadata["description"].endswith("."), name


def keys(values):
    """The keys of nested groups, with dots between the levels."""
    for key, value in values.items():
        if isinstance(value, dict):
            yield from (f"{key}.{inner}" for inner in keys(value))
        else:
            yield key


def test_every_parameter_has_its_default_in_the_configuration():
    from ridgeline.baselines.settings import BaselineSettings
    from ridgeline.evaluation.metrics import EvaluationSettings
    from ridgeline.lendingclub.cleaning import CleaningRules
    from ridgeline.lendingclub.splitting import SplitShares
    from ridgeline.pipelines.xnn.settings import XnnSettings
    from ridgeline.simulation.settings import StudySettings

    parameters = loader("base")["parameters"]
    groups = {
        "cleaning": CleaningRules,
        "splitting": SplitShares,
        "evaluation": EvaluationSettings,
    }
    for name, group in groups.items():
        assert group(**parameters[name]) == group()
        assert set(parameters[name]) == set(group.model_fields)
    # Some values of the network and of the methods are of these data.
    network = XnnSettings(**parameters["xnn"])
    assert set(keys(parameters["xnn"])) == set(keys(network.model_dump()))
    assert set(parameters["baselines"]) == set(METHODS)
    for name in METHODS:
        BaselineSettings(**parameters["baselines"][name])
        assert set(parameters["baselines"][name]) == set(BaselineSettings.model_fields)
    study = StudySettings(**parameters["study"])
    assert set(keys(parameters["study"])) == set(keys(study.model_dump()))
    assert set(parameters) == {*groups, "xnn", "baselines", "study", "seed"}


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_settings_of_every_environment_are_allowed(environment):
    from ridgeline.baselines.settings import BaselineSettings, check_settings
    from ridgeline.evaluation.metrics import EvaluationSettings
    from ridgeline.lendingclub.modelling import NUMERIC
    from ridgeline.pipelines.xnn.settings import XnnSettings
    from ridgeline.simulation.settings import StudySettings
    from ridgeline.xnn.estimator import XNNClassifier

    parameters = loader(environment)["parameters"]
    StudySettings(**parameters["study"])
    EvaluationSettings(**parameters["evaluation"])
    network = XnnSettings(**parameters["xnn"])
    estimator = XNNClassifier(**network.estimator_parameters({}, 0))
    estimator._validate_params()
    assert (network.network.n_subnetworks or 1) <= len(NUMERIC)
    for name in METHODS:
        settings = BaselineSettings(**parameters["baselines"][name])
        check_settings(name, "classification", settings)


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
        "heavy = {'tensorflow', 'mlflow', 'keras', 'lightgbm'} & set(sys.modules)\n"
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
