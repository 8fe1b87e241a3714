"""Compiled programs are kept on disk, and do no harm there."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ridgeline.xnn.programs import CACHE_VARIABLE, compiled_programs

_FIT = """
import numpy as np
from ridgeline import XNNRegressor

X = np.random.default_rng(0).uniform(-1, 1, (60, 3))
model = XNNRegressor(hidden=(4,), max_epochs=3, random_state=0).fit(X, X[:, 0] ** 2)
print(model.predict(X[:3]).tobytes().hex())
"""


def _fit(folder: Path) -> str:
    """Predictions, bit for bit, of a fit in a process of its own."""
    environment = os.environ | {CACHE_VARIABLE: str(folder), "PYTHONHASHSEED": "0"}
    done = subprocess.run(
        [sys.executable, "-c", _FIT],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def test_a_kept_program_gives_the_same_bits(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    fresh = _fit(tmp_path / "file")  # no folder, and no obstacle
    cache = tmp_path / "cache"
    first = _fit(cache)
    (folder,) = cache.iterdir()
    assert folder.stat().st_mode & 0o077 == 0, "others may write what will be run"
    kept = sorted(folder.glob("*.pb"))
    assert kept, "nothing was kept"
    assert _fit(cache) == first == fresh
    assert sorted(folder.glob("*.pb")) == kept, "it was compiled again"


def test_where_programs_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(CACHE_VARIABLE, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    found = compiled_programs()
    assert found is not None
    assert found.parent == tmp_path / "ridgeline"
    monkeypatch.setenv("XLA_FLAGS", "--xla_cpu_enable_fast_math=true")
    assert compiled_programs() != found, "another compiler's programs would be run"
    monkeypatch.setenv(CACHE_VARIABLE, "")
    assert compiled_programs() is None
