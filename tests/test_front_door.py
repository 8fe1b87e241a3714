"""`import ridgeline`: what it offers, what it says about it, and what it does not load.

The documents promise these names; everything else may change.
"""

import doctest
import inspect
import re
import subprocess
import sys
from dataclasses import fields
from typing import Any

import pytest

import ridgeline
from ridgeline.xnn.cv import _SearchSettings
from ridgeline.xnn.settings import Settings

PUBLIC = [name for name in ridgeline.__all__ if name != "__version__"]
ESTIMATORS = {
    "XNNClassifier": Settings,
    "XNNRegressor": Settings,
    "XNNClassifierCV": _SearchSettings,
    "XNNRegressorCV": _SearchSettings,
}
CALLED = [
    name
    for name in PUBLIC
    if inspect.isfunction(getattr(ridgeline, name)) or name in ESTIMATORS
]
HEAVY = ("tensorflow", "sklearn", "pandas", "matplotlib", "joblib", "kedro", "mlflow")


def documented(thing: Any) -> dict[str, str]:
    """Return what a docstring of scikit-learn's form says of each parameter."""
    section = inspect.getdoc(thing).split("Parameters\n----------\n", 1)[1]
    section = re.split(r"\n\n\w[\w ]+\n---", section)[0]
    found = re.findall(r"^([*\w, ]+) : (.+)$", section, flags=re.MULTILINE)
    return {name: text for names, text in found for name in names.split(", ")}


def loaded_by(statement: str) -> set[str]:
    """Return which heavy packages a fresh process has loaded after a statement."""
    script = f"{statement}\nimport sys\nprint(*sys.modules)"
    shown = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return set(shown.stdout.split()) & set(HEAVY)


def test_every_public_name_is_there():
    assert {name: getattr(ridgeline, name) for name in PUBLIC}.keys() == set(PUBLIC)
    assert set(dir(ridgeline)) == set(ridgeline.__all__)
    homes = [name for names in ridgeline._MODULES.values() for name in names]
    assert sorted(homes) == sorted(PUBLIC)


def test_another_name_is_refused_as_python_does():
    with pytest.raises(AttributeError, match="has no attribute 'XNNClasifier'"):
        _ = ridgeline.XNNClasifier


def test_importing_loads_nothing_heavy():
    assert loaded_by("import ridgeline") == set()


def test_a_stored_model_is_loaded_with_numpy_alone():
    assert loaded_by("from ridgeline import load, explain, save_model") == set()


def test_estimators_do_not_load_what_trains_or_runs_pipelines():
    loaded = loaded_by("from ridgeline import XNNClassifier, grid_search")
    assert loaded.isdisjoint({"tensorflow", "matplotlib", "kedro", "mlflow"})


@pytest.mark.parametrize("name", CALLED)
def test_every_parameter_is_documented_with_its_default(name):
    thing = getattr(ridgeline, name)
    expected = {
        parameter.name: parameter.default
        for parameter in inspect.signature(thing).parameters.values()
    }
    said = documented(thing)
    assert {key.strip("*") for key in said} == set(expected)
    for key, text in said.items():
        default = expected[key.strip("*")]
        if default is inspect.Parameter.empty:
            assert "default=" not in text
            continue
        if text == "rows":  # those of another function, which has their defaults
            continue
        written = text.split("default=")[1]
        if not re.fullmatch("[A-Z_]+", written):  # a constant is named, not repeated
            assert eval(written) == default  # noqa: S307


def test_a_parameter_of_the_estimators_has_its_places_and_no_others():
    """The field, its sentence, its use: signatures and checks follow from the field."""
    for name, settings in ESTIMATORS.items():
        names = {field.name for field in fields(settings)}
        estimator = getattr(ridgeline, name)
        assert set(estimator().get_params()) == names
        assert set(estimator._parameter_constraints) == names
        assert set(documented(estimator)) == names


# Rows that a fit sets aside may lie beyond the range of the others.
@pytest.mark.filterwarnings("ignore:.* beyond the range")
def test_the_examples_of_the_docstrings_run():
    """Each is collected from the public names, and fails if its output differs."""
    finder, runner = doctest.DocTestFinder(recurse=False), doctest.DocTestRunner()
    failures, tried = [], 0
    for name in PUBLIC:
        for example in finder.find(getattr(ridgeline, name), name):
            said: list[str] = []
            result = runner.run(example, out=said.append, clear_globs=False)
            tried += result.attempted
            failures += said if result.failed else []
    assert not failures, "".join(failures)
    assert tried > 20


@pytest.mark.parametrize(
    "term",
    [
        "validation split",
        "early stopping",
        "one-hot",
        "logit",
        "one-standard-error rule",
    ],
)
def test_a_newcomer_finds_the_terms_of_the_field(term):
    texts = [inspect.getdoc(getattr(ridgeline, name)) or "" for name in PUBLIC]
    assert any(term in " ".join(text.split()).lower() for text in texts)
