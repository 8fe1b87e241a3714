"""The project as a whole: its pipelines, its configuration, its start-up."""

import subprocess
import sys
import tomllib
from graphlib import TopologicalSorter
from pathlib import PurePosixPath

import pytest
import yaml
from kedro.framework.hooks.manager import _create_hook_manager
from kedro.framework.project import _ProjectSettings
from kedro.io import DataCatalog
from projects import PROJECT

from ridgeline import settings
from ridgeline.pipeline_registry import register_pipelines
from ridgeline.pipelines.models import METHODS, STAGES

ENVIRONMENTS = ["base", "smoke", "files", "overlap", "paper", "spark"]
DATA = ("ingestion", "cleaning", "splitting")
NETWORK = ("tuning", "training", "pruning", "refinement")
MODELLING = (*NETWORK, "baselines", "evaluation", "reporting")
PARTS = (*DATA, *MODELLING)
MODELS = [*(f"xnn.{stage}" for stage in STAGES), *METHODS]


def loader(environment):
    return settings.CONFIG_LOADER_CLASS(
        str(PROJECT / "conf"), env=environment, **settings.CONFIG_LOADER_ARGS
    )


def names(pipeline):
    return {node.name for node in pipeline.nodes}


def parameters_of(pipeline):
    """Names of the parameters that the nodes take, without Kedro's prefix."""
    prefix = "params:"
    inputs = (name for name in pipeline.inputs() if name.startswith(prefix))
    return {name.removeprefix(prefix) for name in inputs}


def datasets():
    """Names of what any pipeline reads or writes, without parameters."""
    found = set().union(*(p.datasets() for p in register_pipelines().values()))
    return {name for name in found if not name.startswith("params:")}


def outputs():
    """Names of what any pipeline writes."""
    return set().union(*(p.all_outputs() for p in register_pipelines().values()))


def test_pipelines_that_are_promised():
    pipelines = register_pipelines()
    assert set(pipelines) == {
        *PARTS,
        "data",
        "lendingclub",
        "scoring",
        "simulation",
        "table",
        "tabular",
        "__default__",
    }
    for whole, parts in (
        ("data", DATA),
        ("lendingclub", PARTS),
        ("tabular", ("table", *MODELLING)),
    ):
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
        sets = {"train", "validation", "table_description", "data_identity"}
        assert inputs == sets | params


def test_nodes_describe_themselves_for_kedro_viz():
    for pipeline in register_pipelines().values():
        for node in pipeline.nodes:
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
    parameters = configuration["parameters"]
    # By a name or a pattern; what is in neither would stay in memory.
    for name in datasets():
        assert name in catalog, name
    for pipeline in register_pipelines().values():
        for name in parameters_of(pipeline):
            group, _, key = name.partition(".")
            assert group in parameters, name
            assert not key or key in parameters[group], name


def test_everything_in_the_catalog_is_used():
    # An entry whose dataset has another name now says nothing, and does nothing.
    entries = loader("base")["catalog"]
    resolver = DataCatalog.from_config(entries).config_resolver
    used = {
        name if name in entries else resolver.match_dataset_pattern(name)
        for name in datasets()
    }
    assert used == set(entries)


@pytest.mark.parametrize("environment", ENVIRONMENTS[1:])
def test_environments_change_what_base_has(environment):
    # Under a name that base has given up, a change would change nothing.
    base, own = loader("base"), loader(environment)
    assert set(own["catalog"]) == set(base["catalog"])
    assert set(own["parameters"]) == set(base["parameters"])
    more = set(own["globals"]) - set(base["globals"])
    assert more == ({"accepted", "rejected"} if environment == "files" else set())


def test_no_two_datasets_share_a_file():
    catalog = DataCatalog.from_config(loader("base")["catalog"])
    paths = []
    for name in sorted(outputs()):
        described = catalog.get(name)._describe()
        paths.append(str(described.get("filepath") or described["path"]))
    assert len(set(paths)) == len(paths) > 80


def test_outputs_of_a_model_go_to_its_child_run():
    catalog = DataCatalog.from_config(loader("base")["catalog"])
    records = {
        name: (catalog.get(name).metadata or {}).get("mlflow", {})
        for name in register_pipelines()["__default__"].all_outputs()
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
    for name in outputs() & set(catalog):
        metadata = catalog[name]["metadata"]
        # Counts and hashes are JSON, and nobody's.
        is_table = not catalog[name]["type"].endswith("JsonDataset")
        if is_table and metadata["kedro-viz"]["layer"] in with_rows:
            # The audit has counts, and cells as examples.
            private = ["examples"] if name == "cleaning_audit" else True
            assert metadata["mlflow"] == {"private": private}, name


@pytest.mark.parametrize("name", register_pipelines())
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
    if name in ("lendingclub", "simulation", "__default__"):
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
    from ridgeline.pipelines.scoring.settings import ScoringSettings
    from ridgeline.pipelines.xnn.settings import XnnSettings
    from ridgeline.simulation.settings import StudySettings
    from ridgeline.tables.settings import TabularSettings

    parameters = loader("base")["parameters"]
    groups = {
        "cleaning": CleaningRules,
        "splitting": SplitShares,
        "evaluation": EvaluationSettings,
        "tabular": TabularSettings,
        "scoring": ScoringSettings,
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
    from ridgeline.baselines.registry import BASELINES
    from ridgeline.baselines.settings import BaselineSettings, check_settings
    from ridgeline.evaluation.metrics import EvaluationSettings
    from ridgeline.lendingclub.cleaning import CleaningRules
    from ridgeline.lendingclub.modelling import NUMERIC, describe_applications
    from ridgeline.lendingclub.splitting import SplitShares
    from ridgeline.pipelines.xnn.settings import XnnSettings
    from ridgeline.simulation.settings import StudySettings
    from ridgeline.xnn.estimator import XNNClassifier

    parameters = loader(environment)["parameters"]
    CleaningRules(**parameters["cleaning"])
    SplitShares(**parameters["splitting"])
    StudySettings(**parameters["study"])
    EvaluationSettings(**parameters["evaluation"])
    network = XnnSettings(**parameters["xnn"])
    estimator = XNNClassifier(
        **network.estimator_parameters({}, 0, describe_applications())
    )
    estimator._validate_params()
    assert (network.network.n_subnetworks or 1) <= len(NUMERIC)
    for name in METHODS:
        settings = BaselineSettings(**parameters["baselines"][name])
        for task in BASELINES[name].tasks:
            check_settings(name, task, settings)


# The commands one after the other in one process, which starts Kedro once.
LOOKING_AROUND = """
import sys
from kedro.framework.cli.cli import main
for line in ("registry list", "catalog describe-datasets", "viz --help"):
    sys.argv = ["kedro", *line.split()]
    try:
        main()
    except SystemExit as end:
        assert not end.code, line
    heavy = {"tensorflow", "mlflow", "keras", "lightgbm"} & set(sys.modules)
    assert not heavy, (line, heavy)
"""


def test_looking_around_does_not_import_tensorflow():
    done = subprocess.run(
        [sys.executable, "-c", LOOKING_AROUND],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


# --- Names that nobody would miss ---


def test_kedro_knows_our_hooks_and_settings():
    manager = _create_hook_manager()
    for hook in settings.HOOKS:
        manager.register(hook)
        assert manager.get_hookcallers(hook), hook
    manager.check_pending()  # a hook of another name would never be called
    own = {name for name in vars(settings) if name.isupper()}
    assert own <= {name.lstrip("_") for name in vars(_ProjectSettings)}


def test_every_module_is_under_the_import_contract():
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())
    layers, *_ = project["tool"]["importlinter"]["contracts"]
    named = {one for layer in layers["layers"] for one in layer.split(" | ")}
    package = PROJECT / "src" / "ridgeline"
    found = {path.stem for path in package.iterdir() if path.suffix == ".py"}
    found |= {path.parent.name for path in package.glob("*/__init__.py")}
    assert named == {f"ridgeline.{name}" for name in found - {"__init__"}}


def test_everything_of_the_package_is_in_the_wheel():
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())
    patterns = project["tool"]["setuptools"]["package-data"]["ridgeline"]
    package = PROJECT / "src" / "ridgeline"
    files = [
        PurePosixPath(path.relative_to(package).as_posix())
        for path in package.rglob("*.*")
        if path.is_file() and path.suffix not in (".py", ".pyc")
    ]
    assert files
    assert [f for f in files if not any(f.match(one) for one in patterns)] == []


def test_telemetry_is_off_as_shipped():
    assert yaml.safe_load((PROJECT / ".telemetry").read_text()) == {"consent": False}


@pytest.mark.parametrize("name", ["requirements.lock", "requirements-extras.lock"])
def test_lock_files_pin_and_hash_and_name_no_address(name):
    text = (PROJECT / name).read_text()
    assert "://" not in text
    pins = [line for line in text.splitlines() if line and line[0] not in " #"]
    assert all("==" in line for line in pins)
    assert text.count("--hash=sha256:") >= len(pins)


def test_other_networks_have_the_terms_of_the_network():
    for environment in ENVIRONMENTS:
        parameters = loader(environment)["parameters"]
        network = parameters["xnn"]
        shared = network["columns"] | {
            name: network["training"][name] for name in ("max_epochs", "n_starts")
        }
        for name in ("naive_xnn", "gam"):
            own = parameters["baselines"][name]["settings"]
            assert shared.items() <= own.items(), (environment, name)
