"""Checks the configuration before anything runs; what is wrong gets a sentence."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml
from kedro.config import AbstractConfigLoader, MissingConfigException
from kedro.framework.context import KedroContext
from kedro.framework.hooks import hook_impl
from kedro.framework.project import pipelines, settings
from kedro.io import CatalogProtocol
from kedro.pipeline import Pipeline
from kedro.validation.type_extractor import TypeExtractor
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from ridgeline.errors import InputError
from ridgeline.hooks.sentences import PlainError, as_sentence
from ridgeline.parameters import Globals, Seed, checked, close_match
from ridgeline.provenance import from_here

__all__ = [
    "ParametersHook",
    "check_environment",
    "configured",
    "readable_configuration",
]

# Parameters of the command line that the catalog reads, and no node.
_CATALOG_PARAMETERS = ("accepted", "rejected")
# Those that stand for keys of files: where each is set, if not on the command line.
_SHORTCUTS = {"table": "globals.yml", "target": "the parameters' group tabular"} | {
    "applications": "the parameters' group scoring"
}
# Parameters that are no group, and whose type Kedro does not ask a node for.
_SINGLE: dict[str, Any] = {"seed": Seed}
_READ = ("parameters", "catalog", "credentials", "mlflow")


class ParametersHook:
    """Checks all parameters before anything runs.

    Kedro checks them as well, but before any hook could turn its traceback into a
    sentence, and it does not mind a key that nobody reads.
    """

    @hook_impl
    def after_context_created(self, context: KedroContext) -> None:
        """Refuse unknown keys and values that are not allowed."""
        loader = context.config_loader
        with as_sentence():
            checked(Globals, configured(loader, "globals"), "globals.yml")
            found = {kind: configured(loader, kind) for kind in _READ}
            for name in _CATALOG_PARAMETERS:
                if name in found["parameters"]:
                    _refuse_unless_read(loader, name)
            for name, place in _SHORTCUTS.items():
                if name in found["parameters"] and name not in loader.runtime_params:
                    message = (
                        f"parameter '{name}' is for the command line, --params "
                        f"{name}=...; in a file it is a key of {place}."
                    )
                    raise InputError(message)
            _check_parameters(found["parameters"], _parameter_types())
            # The columns of a table are known once it is read, LendingClub's before.
            if not getattr(loader, "of_a_table", False):
                _check_columns(found["parameters"].get("xnn") or {})

    @hook_impl
    def before_pipeline_run(
        self, pipeline: Pipeline, catalog: CatalogProtocol[Any, Any]
    ) -> None:
        """Refuse settings that the estimators do not have, and values they refuse."""
        prefix = "params:baselines."
        names = [name for name in pipeline.inputs() if name.startswith(prefix)]
        with as_sentence():
            for name in sorted(names):
                _check_baseline(name.removeprefix(prefix), catalog.load(name))
            if "params:study" in pipeline.inputs():
                _check_study(catalog.load("params:study"))


def _check_columns(network: Mapping[str, Any]) -> None:
    """Refuse settings of the network that LendingClub's columns do not allow."""
    from ridgeline.lendingclub.modelling import describe_applications
    from ridgeline.pipelines.xnn.settings import XnnSettings

    XnnSettings(**network).check_columns(describe_applications())


def _check_baseline(name: str, own: Any) -> None:
    """Ask for each task that the method does: which one a table has is seen later."""
    from ridgeline.baselines.registry import BASELINES
    from ridgeline.baselines.settings import check_settings

    refused = []
    for task, estimator in BASELINES[name].estimators.items():
        try:
            check_settings(name, task, own)
            _check_values(estimator, own, f"parameters 'baselines.{name}'")
        except InputError as error:
            refused.append(error)
    if len(refused) == len(BASELINES[name].estimators):
        raise refused[0]


def _check_study(study: Any) -> None:
    from ridgeline.baselines.registry import find_baseline
    from ridgeline.xnn.estimator import XNNRegressor

    _check_values(XNNRegressor, study.xnn, "parameters 'study.xnn'")
    for name, own in study.baselines.items():
        estimator = find_baseline(name, "regression").estimators["regression"]
        _check_values(estimator, own, f"parameters 'study.baselines.{name}'")


def _check_values(estimator: type[Any], own: Any, where: str) -> None:
    """Ask an estimator now what it would say in the middle of the run."""
    from ridgeline.private_names.sklearn import has_constraints, validate_params

    if not has_constraints(estimator):
        return  # not one of scikit-learn's kind
    tried = [(key, each) for key, values in (own.grid or {}).items() for each in values]
    for key, value in [*own.settings.items(), *tried]:
        try:
            validate_params(estimator(**{key: value}))
        except (TypeError, ValueError) as error:
            message = f"{where}: {error}"
            raise InputError(message) from error


def check_environment(conf_source: str, environment: str) -> None:
    """Refuse an environment that has no folder, which Kedro would look into late.

    Raises:
        InputError: If there is none of the name.
    """
    folder = Path(conf_source)
    if not folder.is_dir() or (folder / environment).is_dir():
        return  # an archive or an address is Kedro's to open
    hint = close_match(environment, _environments(folder))
    message = f"there is no environment '{environment}' in {from_here(folder)}: {hint}"
    raise InputError(message)


@contextmanager
def readable_configuration(
    conf_source: str, environments: Iterable[str]
) -> Iterator[None]:
    """Turn errors of reading the configuration into sentences that name the file."""
    try:
        yield
    except PlainError:
        raise  # it is a sentence already
    except Exception as error:
        for name in environments:
            for file in sorted((Path(conf_source) / name).rglob("*")):
                if file.suffix in {".yml", ".yaml", ".json"}:
                    _check_file(file)
        # What is left is in several files, or in what they have in common.
        said = str(error).partition("\n")[0]
        if isinstance(error, OmegaConfBaseException):
            message = f"{from_here(Path(conf_source))}: {error.full_key or ''}: {said}"
            raise InputError(message) from error
        if said.startswith("Duplicate keys found"):
            message = f"{said}. Keep each key in one of the files."
            raise InputError(message) from error
        raise


def _environments(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir() if each.is_dir())


def _check_file(file: Path) -> None:
    """Refuse a file that is no YAML, or no group of keys."""
    where, what = "", ""
    try:
        content = OmegaConf.load(file)
        if not OmegaConf.is_dict(content):
            what = "it is a list where keys and values are needed"
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f" at line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        what = str(error.problem or error.context)
    except (yaml.YAMLError, ValueError, OSError) as error:
        what = str(error).splitlines()[0]
    if what:
        message = (
            f"{from_here(file)} cannot be read{where}: {what}. Mend it: YAML is "
            "indented by spaces, and has each key once."
        )
        raise InputError(message)


def configured(loader: AbstractConfigLoader, kind: str) -> dict[str, Any]:
    """What the files of a kind say, such as globals; nothing where there are none."""
    try:
        found: dict[str, Any] = loader[kind]
    except (KeyError, MissingConfigException):
        return {}  # no such file, no such pattern
    return found


def _refuse_unless_read(loader: AbstractConfigLoader, name: str) -> None:
    """Refuse a parameter of the command line that the catalog does not read."""
    if name not in (loader.runtime_params or {}):
        message = (
            f"parameter '{name}' is for the command line, --params {name}=PATH; in a "
            "file it is a key of globals.yml."
        )
        raise InputError(message)
    run = loader.env or settings.CONFIG_LOADER_ARGS["default_run_env"]
    if _reads(loader, run, name):
        return
    others = _environments(Path(loader.conf_source))
    readers = [each for each in others if _reads(loader, each, name)]
    needed = " or ".join(f"--env {each}" for each in readers)
    message = (
        f"parameter '{name}' needs {needed or 'a catalog that reads it'}: the "
        f"environment '{run}' does not read it, and would run on other files."
    )
    raise InputError(message)


def _reads(loader: AbstractConfigLoader, environment: str, name: str) -> bool:
    """Whether the catalog of an environment takes a parameter of the command line."""
    token = "value that no file has"
    probe = settings.CONFIG_LOADER_CLASS(
        loader.conf_source,
        env=environment,
        runtime_params={**loader.runtime_params, name: token},
        **settings.CONFIG_LOADER_ARGS,
    )
    return token in str(configured(probe, "catalog"))


def _parameter_types() -> dict[str, Any]:
    """Every parameter that a node takes, by its dotted name, with its type if known."""
    registered = dict(pipelines)
    inputs = {name for pipeline in registered.values() for name in pipeline.inputs()}
    names = sorted(name for name in inputs if name.startswith("params:"))
    types = TypeExtractor(registered).extract_types_from_pipelines()
    plain = [name.removeprefix("params:") for name in names]
    return {name: types.get(name) or _SINGLE.get(name) for name in plain}


def _check_parameters(
    values: Mapping[str, Any], types: Mapping[str, Any], path: str = ""
) -> None:
    """Check a level of the parameters, and the levels below it."""
    names = [key.removeprefix(path).split(".")[0] for key in types]
    known = list(
        dict.fromkeys(names if path else [*names, *_CATALOG_PARAMETERS, *_SHORTCUTS])
    )
    for key, value in values.items():
        if key not in known:
            hint = close_match(str(key), known)
            message = f"unknown parameter '{path}{key}': {hint}"
            raise InputError(message)
        kind = types.get(f"{path}{key}")
        if kind is not None:
            checked(kind, value, f"parameters '{path}{key}'")
        elif isinstance(value, Mapping):
            below = f"{path}{key}."
            inner = {key: kind for key, kind in types.items() if key.startswith(below)}
            _check_parameters(value, inner, below)
