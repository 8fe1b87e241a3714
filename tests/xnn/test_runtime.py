"""Compiled programs are kept on disk, and do no harm there."""

from pathlib import Path

import pytest

from ridgeline.xnn.programs import CACHE_VARIABLE, compiled_programs


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
