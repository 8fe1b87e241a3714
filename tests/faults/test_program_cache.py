"""Compiled programs are machine code on disk: what is kept must not harm a fit."""

import hashlib
import os
import re
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from ridgeline import XNNRegressor
from ridgeline.xnn.programs import (
    CACHE_VARIABLE,
    MEMORY,
    compiled_programs,
    drop_programs,
    kept_programs,
)
from ridgeline.xnn.runtime import start_tensorflow

# Tables of that many columns, one after the other: the predictions, bit for bit.
_FIT = """
import logging, sys
import numpy as np
from ridgeline import XNNRegressor

logging.basicConfig(level="WARNING", format="%(message)s")
model = XNNRegressor(hidden=(3,), max_epochs=3, prune_share=None, random_state=0)
for columns in map(int, sys.argv[1:]):
    X = np.random.default_rng(0).uniform(-1, 1, (60, columns))
    print(model.fit(X, X[:, 0] ** 2).predict(X[:3]).tobytes().hex())
"""
_NAME = "xla_compile_cache__1__2__XLA_CPU_JIT.pb"
_PROGRAM = np.random.default_rng(0).bytes(2_000)


def _fit(home: Path, *columns: int) -> subprocess.CompletedProcess[str]:
    """Run fits in a process of its own."""
    strange = {"TF_XLA_FLAGS", "XDG_CACHE_HOME", CACHE_VARIABLE}
    mine = {key: os.environ[key] for key in os.environ if key not in strange}
    return subprocess.run(
        [sys.executable, "-c", _FIT, *map(str, columns)],
        env=mine | {"HOME": str(home)},
        capture_output=True,
        text=True,
        check=False,
    )


def _model() -> XNNRegressor:
    return XNNRegressor(hidden=(3,), max_epochs=3, prune_share=None, random_state=0)


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the predictions of the fit, bit for bit, where nothing can be kept."""
    file = tmp_path_factory.mktemp("no folder") / "file"
    file.touch()
    X = np.random.default_rng(0).uniform(-1, 1, (60, 2))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(CACHE_VARIABLE, str(file))  # no folder, and no obstacle
        model = _model().fit(X, X[:, 0] ** 2)
    return model.predict(X[:3]).tobytes().hex() + "\n"


class Home(NamedTuple):
    """A home, and what fits of six tables have left there and said."""

    path: Path
    programs: list[Path]
    done: subprocess.CompletedProcess[str]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """Return a home with a blank, in which tables of six shapes were fitted."""
    path = tmp_path_factory.mktemp("home") / "Jane Doe"
    path.mkdir()
    done = _fit(path, 2, 1, 3, 4, 5, 6)
    kept = path.glob(".cache/ridgeline/programs-*/*.pb")
    return Home(path, sorted(kept, key=lambda one: one.stat().st_mtime_ns), done)


def test_six_tables_are_fitted_in_silence(home: Home, expected: str) -> None:
    # After five shapes, TensorFlow would warn of a loop that traces in vain.
    assert home.done.stderr == ""
    first, *rest = home.done.stdout.splitlines(keepends=True)
    assert first == expected
    assert len(set(rest)) == len(home.programs) - 1 == 5


def test_a_blank_in_the_home_neither_stops_a_fit_nor_cuts_the_path(
    home: Home,
) -> None:
    assert all(kept.stat().st_size > 10_000 for kept in home.programs)
    assert list(home.path.parent.iterdir()) == [home.path]


def test_kept_programs_give_the_same_bits_and_changed_ones_are_not_run(
    home: Home,
) -> None:
    good, changed, *_ = home.programs
    assert good.parent.stat().st_mode & 0o077 == 0, "others may write what will be run"
    before = good.read_bytes()
    content = bytearray(changed.read_bytes())
    # Behind the headers of the object files, which stay as they are, is the code.
    places = [found.start() + 100 for found in re.finditer(b"\x7fELF", content)]
    assert len(places) > 10
    for place in places:
        content[place] ^= 16
    changed.write_bytes(content)
    # And one whose checksum is right, but which is nothing that TensorFlow can load.
    key, _, name = changed.name.split("-", 2)
    checksum = hashlib.blake2b(_PROGRAM, digest_size=16).hexdigest()
    strange = changed.with_name(f"{key}-{checksum}-{name}")
    strange.write_bytes(_PROGRAM)

    done = _fit(home.path, 2, 1)
    assert done.stdout.splitlines() == home.done.stdout.splitlines()[:2]
    assert done.stderr.count("\n") == 1
    assert str(changed) in done.stderr
    assert good.read_bytes() == before
    assert list(good.parent.glob(f"{good.name[:16]}*")) == [good], "compiled again"
    aside = changed.with_name(f"{changed.name}.damaged")
    assert aside.read_bytes() == content
    (again,) = changed.parent.glob(f"{key}-*.pb")
    assert again.read_bytes() not in (content, _PROGRAM)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of programs, which a test makes or has made."""
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "not" / "yet" / "there"))
    chosen = compiled_programs()
    assert chosen is not None
    return chosen


@pytest.fixture
def forget(monkeypatch: pytest.MonkeyPatch):
    """Return what makes this process as if it had just begun."""

    def begin() -> None:
        monkeypatch.setattr("ridgeline.xnn.programs._at_hand", set())
        monkeypatch.setattr("ridgeline.xnn.programs._dropped", set())

    begin()
    return begin


@contextmanager
def _full_disk() -> Iterator[None]:
    """Let the system write no file beyond a few kilobytes."""
    former = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (9_000, former[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, former)


def test_a_full_disk_under_the_cache_does_not_stop_a_fit(folder: Path) -> None:
    start_tensorflow()
    X = np.random.default_rng(0).uniform(-1, 1, (70, 3))
    with _full_disk():
        assert np.isfinite(_model().fit(X, X[:, 0]).predict(X)).all()
    assert list(folder.iterdir()) == []


def test_a_folder_that_others_can_write_to_is_refused(
    folder: Path, forget, caplog: pytest.LogCaptureFixture
) -> None:
    folder.mkdir(parents=True)
    folder.chmod(0o777)
    X = np.random.default_rng(0).uniform(-1, 1, (60, 2))
    assert np.isfinite(_model().fit(X, X[:, 0]).predict(X)).all()
    assert list(folder.iterdir()) == []
    assert str(folder) in caplog.text
    assert CACHE_VARIABLE in caplog.text


def _compile(key: str) -> bytes | None:
    """Leave a program as TensorFlow does; return the one that it would have found."""
    start_tensorflow()
    import tensorflow as tf

    place = f"{MEMORY}/{_NAME}"
    with kept_programs(key):
        found = None
        if tf.io.gfile.exists(place):
            with tf.io.gfile.GFile(place, "rb") as file:
                found = file.read()
        tf.io.gfile.makedirs(MEMORY)
        with tf.io.gfile.GFile(place, "wb") as file:
            file.write(_PROGRAM)
    assert not tf.io.gfile.exists(place)
    return found


def test_folders_on_the_way_are_closed_to_others(
    folder: Path, forget, tmp_path: Path
) -> None:
    _compile("one")
    made = [folder, *folder.parents][:4]
    assert made[-1].parent == tmp_path
    assert {oct(part.stat().st_mode & 0o777) for part in made} == {"0o700"}


def test_a_program_comes_back_as_it_was(folder: Path, forget) -> None:
    assert _compile("one") is None
    (kept,) = folder.iterdir()
    os.utime(kept, (time.time() - 24 * 3600,) * 2)
    (folder / "one-of-mine.pb").touch()  # is no program
    forget()
    assert _compile("another") is None
    assert _compile("one") == _PROGRAM
    assert kept.stat().st_mtime > time.time() - 3600, "the last use was not noted"
    assert len(list(folder.iterdir())) == 3


def test_a_program_that_fails_is_not_taken_again(folder: Path, forget) -> None:
    _compile("one")
    (kept,) = folder.iterdir()
    forget()
    assert drop_programs("one")
    kept.write_bytes(_PROGRAM)  # as if it could not be deleted
    assert _compile("one") is None
    assert not drop_programs("one"), "a fit would try for ever"


def test_every_changed_bit_is_noticed(
    folder: Path, forget, caplog: pytest.LogCaptureFixture
) -> None:
    _compile("one")
    (kept,) = folder.iterdir()
    rng = np.random.default_rng(2)
    for _ in range(200):
        content = bytearray(_PROGRAM)
        content[rng.integers(len(content))] ^= 1 << rng.integers(8)
        kept.write_bytes(content[: rng.choice([len(content), 1_000, 0])])
        caplog.clear()
        forget()
        assert _compile("one") is None
        assert str(kept) in caplog.text
    assert kept.read_bytes() == _PROGRAM


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_what_another_user_owns_is_refused(folder: Path, forget) -> None:
    _compile("one")
    (kept,) = folder.iterdir()
    os.chown(kept, 4321, -1)
    forget()
    assert _compile("one") is None
    os.chown(kept, 0, -1)
    os.chown(folder, 4321, -1)
    forget()
    assert _compile("one") is None


def test_a_link_is_refused(folder: Path, forget, tmp_path: Path) -> None:
    _compile("one")
    (kept,) = folder.iterdir()
    elsewhere = tmp_path / "elsewhere"
    kept.rename(elsewhere)
    kept.symlink_to(elsewhere)
    forget()
    assert _compile("one") is None
    kept.unlink()
    elsewhere.rename(kept)
    folder.rename(tmp_path / "moved")
    folder.symlink_to(tmp_path / "moved")
    forget()
    assert _compile("one") is None


def test_old_programs_go_first_and_nothing_else_goes(
    folder: Path, forget, monkeypatch: pytest.MonkeyPatch
) -> None:
    _compile("k0")
    former = folder.with_name("programs-0123456789ab")  # of another release
    foreign = folder.with_name("programs-of-mine")
    for other in (former, foreign):
        other.mkdir()
        (other / "a.pb").write_bytes(b"long ago")
        os.utime(other / "a.pb", (0, 0))
    monkeypatch.setattr("ridgeline.xnn.programs._MOST_BYTES", 3 * len(_PROGRAM))
    for number in range(5):
        (new,) = folder.glob(f"k{number}-*")
        os.utime(new, (time.time() - 100 + number,) * 2)
        _compile(f"k{number + 1}")
    assert sorted(file.name[:2] for file in folder.iterdir()) == ["k3", "k4", "k5"]
    assert list(former.iterdir()) == []
    assert [file.name for file in foreign.iterdir()] == ["a.pb"]
