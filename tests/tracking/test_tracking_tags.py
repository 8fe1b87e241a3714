"""Code, versions and names as tags."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ridgeline.tracking.outputs import valid_name
from ridgeline.tracking.recorder import code_tags, runner_name


def _git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=Test", "-c", "user.email=test@example.com"]
    done = subprocess.run(
        ["git", *identity, *arguments],
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    # Inside a git hook these point to the repository that is being committed to.
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    _git(tmp_path, "init", "--quiet")
    (tmp_path / "code.py").write_text("1")
    _git(tmp_path, "add", ".")
    _git(tmp_path, "commit", "--quiet", "--message", "first", "--no-gpg-sign")
    return tmp_path


def test_git_commit_and_cleanliness(repository: Path) -> None:
    commit = _git(repository, "rev-parse", "HEAD")
    tags = code_tags(repository)
    assert tags["git_commit"] == commit
    assert tags["git_dirty"] == "false"
    (repository / "code.py").write_text("2")
    assert code_tags(repository)["git_dirty"] == "true"


def test_no_repository_and_no_git(
    repository: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch
) -> None:
    assert "git_commit" not in code_tags(tmp_path_factory.mktemp("plain"))
    monkeypatch.setenv("PATH", "")
    tags = code_tags(repository)
    assert "git_commit" not in tags
    assert tags["version.python"].startswith("3.")


def test_versions_come_without_importing() -> None:
    code = (
        "import sys; from pathlib import Path;"
        "from ridgeline.tracking.recorder import code_tags;"
        "assert 'version.tensorflow' in code_tags(Path.cwd());"
        "assert not {'tensorflow', 'mlflow', 'matplotlib'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("<own.runners.MyRunner object at 0x7f>", "MyRunner"),
        ("None", "SequentialRunner"),
        ("MyRunner", "MyRunner"),
    ],
)
def test_runner_name(given: str, expected: str) -> None:
    assert runner_name(given) == expected


def test_valid_name() -> None:
    assert valid_name("f(a;b) -> c/d.e ü") == "f_a_b_ -_ c/d.e _"
