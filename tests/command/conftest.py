"""Fixtures for the command: a stored model, its table, and real processes."""

import subprocess
import sys
from pathlib import Path

import pytest
from known_model import make_rows
from profiled_model import make_profiled


@pytest.fixture
def folder(tmp_path):
    """Return a folder with a model and a table of which three rows are bad."""
    make_profiled().save(tmp_path / "model.json")
    rows = make_rows(60, 5).astype({"amount": object, "purpose": object})
    rows.insert(0, "id", [f"A{place}" for place in range(60)])
    rows.loc[3, "amount"] = "abc"
    rows.loc[5, "purpose"] = "Boat"
    rows.loc[7, "risk_score"] = float("inf")
    rows.to_csv(tmp_path / "rows.csv", index=False)
    return tmp_path


@pytest.fixture
def ridgeline(folder):
    """Return a caller of the command in a process of its own."""

    def call(*arguments, code=0, strict=True):
        python = [sys.executable, *(["-W", "error"] if strict else [])]
        done = subprocess.run(
            [*python, "-m", "ridgeline", *map(str, arguments)],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code, done.stderr
        return done

    return call


@pytest.fixture
def loaded(folder):
    """Return a caller that tells which modules the command has loaded."""

    def call(*arguments):
        script = (
            "import sys\nfrom ridgeline.command import main\n"
            f"code = main({list(map(str, arguments))!r})\n"
            "sys.stderr.write(' '.join(sys.modules))\nsys.exit(code)"
        )
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", script],
            cwd=Path(folder),
            capture_output=True,
            text=True,
            check=True,
        )
        return {name.partition(".")[0] for name in done.stderr.split()}

    return call
