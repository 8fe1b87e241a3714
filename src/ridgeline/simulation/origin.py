"""What makes the numbers of a task: Ridgeline's own code, and the libraries under it.

The code is that of `ridgeline.simulation.tasks` and of every module of the package that
it imports, directly or not, inside functions too. Comments, docstrings and layout do
not count, any other change does: a stored number is one that today's code would give.
"""

import ast
import hashlib
from functools import cache
from importlib.metadata import version
from importlib.util import resolve_name
from pathlib import Path
from platform import python_version_tuple
from typing import Final

import ridgeline

__all__ = ["imported_modules", "origin"]

_ROOT: Final = "ridgeline.simulation.tasks"
# Their numerics are in the results; read from the metadata: TensorFlow takes seconds.
_LIBRARIES: Final = ("numpy", "scipy", "scikit-learn", "lightgbm", "tensorflow")
_DOCUMENTED: Final = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


@cache
def origin() -> dict[str, str]:
    """The hash of the code and the versions of the libraries, once for a process."""
    [folder] = ridgeline.__path__
    digest = hashlib.sha256()
    for name, tree in sorted(imported_modules(Path(folder)).items()):
        digest.update(f"{name} {ast.dump(_without_docstrings(tree))}\n".encode())
    # The dump of a tree has the form of its Python.
    python = ".".join(python_version_tuple()[:2])
    return {
        "code": digest.hexdigest(),
        "python": python,
        **{library: version(library) for library in _LIBRARIES},
    }


def imported_modules(folder: Path) -> dict[str, ast.Module]:
    """The modules of the package that a task needs, parsed, by their names."""
    found: dict[str, ast.Module] = {}
    waiting = [_ROOT]
    while waiting:
        name = waiting.pop()
        path = _source(folder, name)
        if path is None or name in found:
            continue
        found[name] = ast.parse(path.read_bytes())
        package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        waiting += [package, *_imports(found[name], package)]
    return found


def _source(folder: Path, name: str) -> Path | None:
    """The file of a module; None for what is not a module of the package."""
    top, *parts = name.split(".")
    if top != ridgeline.__name__:
        return None
    place = folder.joinpath(*parts)
    files = place / "__init__.py", place.with_name(f"{place.name}.py")
    return next((file for file in files if file.is_file()), None)


def _imports(tree: ast.Module, package: str) -> list[str]:
    """Names of all that a module imports, and of what may be a module in a package."""
    names = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        if isinstance(node, ast.ImportFrom):
            base = resolve_name("." * node.level + (node.module or ""), package)
            names += [base, *(f"{base}.{alias.name}" for alias in node.names)]
    return names


def _without_docstrings(tree: ast.Module) -> ast.Module:
    for node in ast.walk(tree):
        if isinstance(node, _DOCUMENTED) and ast.get_docstring(node) is not None:
            del node.body[0]
    return tree
