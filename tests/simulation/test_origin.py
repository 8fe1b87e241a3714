"""The code that makes a task's numbers is found whole, by following its imports."""

import ast
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

import ridgeline
from ridgeline.errors import RidgelineError
from ridgeline.simulation.attempt import check_origin
from ridgeline.simulation.origin import imported_modules, origin

PACKAGE = Path(ridgeline.__path__[0])
# Libraries that a task imports, without a part in its numbers.
OTHERS = {"joblib", "matplotlib", "pandas", "pydantic", "rich", "threadpoolctl"}


def test_every_module_that_tasks_load_is_followed(elsewhere: dict[str, Any]) -> None:
    loaded = set(elsewhere["loaded"])
    assert {"ridgeline.xnn.training", "ridgeline.baselines.elm"} <= loaded
    assert loaded <= set(imported_modules(PACKAGE))


def libraries() -> set[str]:
    """Return what the modules of a task import from elsewhere, as imports say it."""
    names: set[str] = set()
    for tree in imported_modules(PACKAGE).values():
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                names.add(str(node.module))
    tops = {name.split(".")[0] for name in names}
    return tops - {"ridgeline"} - sys.stdlib_module_names


def test_every_library_is_known() -> None:
    numeric = {"numpy": "numpy", "scipy": "scipy", "sklearn": "scikit-learn"}
    numeric |= {"tensorflow": "tensorflow", "lightgbm": "lightgbm"}
    assert libraries() == {*numeric, *OTHERS}
    found = origin()
    assert {name: found[name] for name in numeric.values()} == {
        name: version(name) for name in numeric.values()
    }


@pytest.mark.parametrize(
    ("source", "module"),
    [
        ("from ridgeline.xnn import ridge", "ridgeline.xnn.ridge"),
        ("from ..xnn import ridge", "ridgeline.xnn.ridge"),
        ("from . import paper", "ridgeline.simulation.paper"),
        ("def f():\n    import ridgeline.xnn.ridge", "ridgeline.xnn.ridge"),
    ],
)
def test_every_kind_of_import_is_followed(
    tmp_path: Path, source: str, module: str
) -> None:
    names = ["ridgeline.simulation.tasks", module]
    for name in names:
        path = tmp_path.joinpath(*name.split(".")[1:]).with_suffix(".py")
        path.parent.mkdir(exist_ok=True)
        path.write_text(source if name == names[0] else "")
        (path.parent / "__init__.py").touch()
    assert set(names) <= set(imported_modules(tmp_path))


def test_a_process_with_other_code_is_refused() -> None:
    check_origin(origin())
    with pytest.raises(RidgelineError) as caught:
        check_origin(origin() | {"code": "0", "numpy": "1.0"})
    assert str(caught.value) == (
        "the process that was to run it has another Ridgeline, numpy than the run; "
        "install the same everywhere, and start its processes again"
    )


def test_a_scheduler_imports_nothing_heavy() -> None:
    code = (
        "import sys; from ridgeline.simulation.attempt import Call, attempt; "
        "sys.exit(bool({'numpy', 'sklearn', 'pydantic'} & set(sys.modules)))"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
