"""A result says where it comes from, in a repository and outside."""

import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from ridgeline import __version__, provenance


def git(folder, *arguments):
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
def repository(tmp_path, monkeypatch):
    """Return a checkout with one commit, and make it the current folder."""
    # Inside a git hook these point to the repository that is being committed to.
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    git(tmp_path, "init", "--quiet")
    (tmp_path / "code.py").write_text("1")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "--message", "first", "--no-gpg-sign")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_state_of_a_checkout(repository):
    commit = git(repository, "rev-parse", "HEAD")
    assert provenance.git_state(repository) == (commit, False)
    (repository / "new.py").write_text("2")
    assert provenance.git_state(repository) == (commit, True)


def test_no_repository_and_no_git(repository, tmp_path_factory, monkeypatch):
    assert provenance.git_state(tmp_path_factory.mktemp("plain")) is None
    monkeypatch.setenv("PATH", "")
    assert provenance.git_state(repository) is None


def test_command_has_no_folder_of_the_machine(monkeypatch):
    arguments = ["/some/where/bin/kedro", "run", "--env", "smoke"]
    monkeypatch.setattr(sys, "argv", arguments)
    assert provenance.command_line() == "kedro run --env smoke"


def test_versions_are_those_that_are_imported():
    versions = provenance.package_versions()
    assert versions["ridgeline"] == __version__
    assert versions["pandas"] == pd.__version__
    assert versions["numpy"] == np.__version__
    assert versions["python"] == sys.version.split()[0]


def test_versions_come_without_importing():
    code = (
        "import sys; from ridgeline.provenance import package_versions;"
        "assert 'tensorflow' in package_versions();"
        "assert not {'tensorflow', 'mlflow', 'kedro', 'pandas'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_facts_tell_commit_and_changes(repository, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["kedro", "run"])
    commit = git(repository, "rev-parse", "HEAD")
    facts = provenance.run_facts()
    assert facts["Command"] == "kedro run"
    assert facts["Commit"] == commit
    assert f"pandas {pd.__version__}" in facts["Versions"]
    (repository / "code.py").write_text("2")
    assert provenance.run_facts()["Commit"].startswith(f"{commit}, with changes")


def test_facts_outside_a_repository_name_no_commit(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert set(provenance.run_facts()) == {"Command", "Versions"}


@pytest.fixture
def programs(tmp_path, monkeypatch):
    """Return a folder of programs, that of the running Python."""
    folder = tmp_path / "project" / ".venv" / "bin"
    folder.mkdir(parents=True)
    for name in ("python", "kedro"):
        (folder / name).touch(mode=0o755)
    monkeypatch.setattr(sys, "executable", str(folder / "python"))
    monkeypatch.chdir(tmp_path / "project")
    return folder


def test_command_of_an_activated_environment_stays(programs, monkeypatch):
    monkeypatch.setenv("PATH", str(programs))
    assert provenance.how_to_call("kedro viz run") == "kedro viz run"


def test_command_of_another_environment_gets_its_folder(
    programs, tmp_path, monkeypatch
):
    monkeypatch.setenv("PATH", "")
    assert provenance.how_to_call("kedro viz run") == ".venv/bin/kedro viz run"
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert provenance.how_to_call("kedro viz run") == f"{programs}/kedro viz run"


def test_program_that_the_environment_does_not_have_stays(programs):
    assert provenance.how_to_call("firefox page.html") == "firefox page.html"
