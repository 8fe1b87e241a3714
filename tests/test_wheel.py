"""The built wheel in an empty environment: what it brings, and what is really absent.

An environment here is an empty one of Python's own, into which the wheel is unpacked
and which sees the packages that the wheel's own metadata asks for, and no others. They
are linked from the environment of the tests, so that nothing is downloaded.
"""

import ast
import json
import shutil
import subprocess
import sys
import venv
import zipfile
from importlib.metadata import Distribution, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from projects import PROJECT, copy_project

PIPELINE = ("kedro", "kedro_datasets", "mlflow", "duckdb", "ibis", "lightgbm", "skops")
# Scores and explains a stored model, draws it, and says what a fit would need.
SCORE = """
import json, sys
import numpy as np
import ridgeline
model = ridgeline.load(sys.argv[1])
X = np.linspace(-1, 1, 12).reshape(4, 3)
explanation = model.explain()
explanation.plot().savefig(sys.argv[2])
parts = explanation.contributions(X)
assert np.allclose(parts["decision"], model.predict(X))
try:
    ridgeline.XNNRegressor().fit(np.tile(X, (30, 1)), np.tile(X[:, 0], 30))
    said = "fitted"
except ImportError as error:
    said = str(error)
print(json.dumps([said, model.predict(X).tolist()]))
"""
# Decides with reasons, in an environment that has NumPy and pandas alone.
DECIDE = """
import json, sys
import pandas as pd
import ridgeline
from ridgeline.command import main
model, rows = ridgeline.load(sys.argv[1]), pd.read_csv(sys.argv[2])
scored = ridgeline.score_table(model, rows)
said = ridgeline.reasons(model, rows)["sentence"].tolist()
assert not ridgeline.what_if(model, rows.head(1)).empty
assert not ridgeline.drift(model, rows).table.empty
assert not model.explain().contributions(rows, by="feature").empty
assert main(["score", sys.argv[1], sys.argv[2], "-o", sys.argv[3]]) == 0
assert main(["drift", sys.argv[1], sys.argv[2], "-o", sys.argv[3] + ".html"]) == 0
print(json.dumps([scored.scores["probability"].tolist(), said]))
"""
# Fits, explains, stores.
TRAIN = """
import sys
import numpy as np
from ridgeline import XNNRegressor, load
X = np.random.default_rng(0).uniform(-1, 1, size=(400, 3))
model = XNNRegressor(max_epochs=40, refine_epochs=40, random_state=0)
model.fit(X, np.sin(3 * X[:, 0]) + X[:, 1])
assert model.score(X, np.sin(3 * X[:, 0]) + X[:, 1]) > 0.8
assert not model.explain().importance.empty
model.save(sys.argv[1])
assert (load(sys.argv[1]).predict(X) == model.predict(X)).all()
"""
ABSENT = (
    "import importlib.util, sys; print(*map(importlib.util.find_spec, sys.argv[1:]))"
)


def needed(lines: list[str], extras: set[str], own: list[str]) -> set[Distribution]:
    """Return the distributions that requirements ask for, and what these ask for.

    Args:
        lines: Requirements, with markers.
        extras: Those that were asked for.
        own: Requirements of the wheel, which names extras of its own.
    """
    found: dict[str, Distribution] = {}
    waiting = [(line, frozenset(extras)) for line in lines]
    seen = set()
    while waiting:
        line, asked = waiting.pop()
        if (line, asked) in seen:
            continue
        seen.add((line, asked))
        wanted, marker = Requirement(line), Requirement(line).marker
        if marker and not any(marker.evaluate({"extra": e}) for e in {"", *asked}):
            continue
        name = canonicalize_name(wanted.name)
        if name != "ridgeline":
            found[name] = distribution(name)
        more = own if name == "ridgeline" else found[name].requires or []
        waiting += [(each, frozenset(wanted.extras)) for each in more]
    return set(found.values())


def link(dist: Distribution, folder: Path) -> None:
    """Show a distribution's packages in a folder, those of a namespace one by one."""
    for file in dist.files or []:
        parts = Path(str(file)).parts
        if ".." in parts:
            continue  # a program
        source = Path(str(dist.locate_file("")))
        target = folder
        for part in parts:
            source, target = source / part, target / part
            if target.is_symlink() or target.exists():
                if target.is_dir() and not target.is_symlink():
                    continue
                break
            # Others may have parts beside these in a folder that is no package.
            alone = (source / "__init__.py").exists() or ".dist-info" in source.name
            if source.is_dir() and not alone:
                target.mkdir()
                continue
            target.symlink_to(source)
            break


@pytest.fixture(scope="session")
def wheel(tmp_path_factory) -> Path:
    """Return the wheel, built from a copy: setuptools writes beside the sources."""
    folder = tmp_path_factory.mktemp("wheel")
    sources = copy_project(folder / "sources")
    for name in ("README.md", "LICENSE"):
        shutil.copy(PROJECT / name, sources / name)
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--quiet"]
    command += ["--no-build-isolation", "--no-index", "-w", str(folder), str(sources)]
    subprocess.run(command, check=True, capture_output=True)
    return next(folder.glob("ridgeline-*.whl"))


@pytest.fixture
def make_environment(wheel, tmp_path):
    """Return a maker of environments with the wheel and what its extras ask for."""

    def make(*extras: str, only: tuple[str, ...] = ()) -> Path:
        root = tmp_path / "-".join(["env", *extras, *only])
        venv.create(root, symlinks=True)
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        site = root / "lib" / version / "site-packages"
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(site)
        (info,) = site.glob("ridgeline-*.dist-info")
        unpacked = Distribution.at(info)
        own = unpacked.requires or []
        for dist in needed(list(only) or own, set(extras), own):
            link(dist, site)
        return root / "bin" / "python"

    return make


def run(python: Path, folder: Path, script: str, *arguments: object) -> str:
    done = subprocess.run(
        [str(python), "-I", "-c", script, *map(str, arguments)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_core_scores_and_explains_without_tensorflow(
    make_environment, make_stored, tmp_path
):
    python = make_environment()
    absent = ("tensorflow", "keras", *PIPELINE)
    assert set(run(python, tmp_path, ABSENT, *absent).split()) == {"None"}
    stored, expected = make_stored(tmp_path / "model.json")
    picture = tmp_path / "picture.png"
    said, scores = json.loads(run(python, tmp_path, SCORE, stored, picture))
    assert scores == expected
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert said.endswith("pip install 'ridgeline[train]'")


def test_numpy_and_pandas_alone_decide_with_reasons(make_environment, tmp_path):
    from known_model import make_rows
    from profiled_model import make_profiled

    from ridgeline import reasons

    python = make_environment(only=("numpy", "pandas"))
    absent = ("tensorflow", "sklearn", "scipy", "matplotlib", "joblib", "rich")
    assert set(run(python, tmp_path, ABSENT, *absent).split()) == {"None"}
    scorer, rows = make_profiled(), make_rows(50).astype({"purpose": str})
    scorer.save(tmp_path / "model.json")
    rows.to_csv(tmp_path / "rows.csv", index=False)
    files = [tmp_path / name for name in ("model.json", "rows.csv", "out.csv")]
    scores, said = json.loads(run(python, tmp_path, DECIDE, *files).splitlines()[-1])
    assert scores == scorer.predict_proba(rows)[:, 1].tolist()
    assert said == reasons(scorer, rows)["sentence"].tolist()
    assert files[2].exists()


def test_training_needs_no_pipeline(make_environment, tmp_path):
    python = make_environment("train")
    assert set(run(python, tmp_path, ABSENT, *PIPELINE).split()) == {"None"}
    run(python, tmp_path, TRAIN, tmp_path / "model.json")


def test_the_pipeline_extra_brings_what_the_project_imports(make_environment, tmp_path):
    """No import of the sources is left out of the extras, Spark's and Dask's apart."""
    python = make_environment("pipeline")
    trees = [ast.parse(p.read_bytes()) for p in (PROJECT / "src").rglob("*.py")]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    names = {
        alias.name for n in nodes if isinstance(n, ast.Import) for alias in n.names
    }
    names |= {n.module for n in nodes if isinstance(n, ast.ImportFrom) and n.module}
    wanted = {name.split(".")[0] for name in names} - {"dask", "distributed", "pyspark"}
    assert {"kedro", "mlflow", "tensorflow", "ibis"} < wanted
    found = run(python, tmp_path, ABSENT, *sorted(wanted)).split("ModuleSpec")
    assert len(found) - 1 == len(wanted)


@pytest.fixture
def make_stored():
    """Return a maker of a stored model, with what it predicts of the script's rows."""
    import numpy as np
    from known_model import evenly

    from ridgeline.xnn.features import Features
    from ridgeline.xnn.scorer import Scorer, Spread, Subnetworks

    def make(path: Path) -> tuple[Path, list[float]]:
        scorer = Scorer(
            features=Features(
                ("a", "b", "c"),
                named=False,
                numbers=dict.fromkeys("abc", evenly(-1.0, 1.0)),
                categories={},
            ),
            classes=None,
            projection=np.eye(3)[:, :2],
            subnetworks=Subnetworks(
                (np.ones((2, 3, 1)), np.ones((2, 1, 3))),
                (np.zeros((2, 3, 1)), np.zeros((2, 1, 1))),
                "tanh",
            ),
            scales=np.array([2.0, 1.0]),
            effects=(),
            category_scales=np.zeros(0),
            intercept=0.5,
            spread=Spread(
                np.tile(np.linspace(-1, 1, 11), (2, 1)), np.full((2, 10), 0.1), ()
            ),
        )
        scorer.save(path)
        X = np.linspace(-1, 1, 12).reshape(4, 3)
        return path, scorer.predict(X).tolist()

    return make
