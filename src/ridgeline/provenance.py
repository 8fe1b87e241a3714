"""Where a result comes from: the command, the commit, the versions."""

import logging
import shlex
import shutil
import subprocess
import sys
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from platform import python_version
from typing import NamedTuple

__all__ = [
    "GitState",
    "command_line",
    "from_here",
    "git_state",
    "how_to_call",
    "package_versions",
    "run_facts",
]

# Read from the installed metadata: asking TensorFlow itself costs seconds.
_PACKAGES = (
    "ridgeline kedro mlflow duckdb ibis-framework pandas numpy scikit-learn tensorflow"
).split()
_GIT_SECONDS = 10

logger = logging.getLogger(__name__)


class GitState(NamedTuple):
    """A commit, and whether files differ from it."""

    commit: str
    dirty: bool


def command_line() -> str:
    """The command as typed, without the folder of the program."""
    return " ".join([Path(sys.argv[0]).name, *sys.argv[1:]])


def how_to_call(command: str) -> str:
    """A command of this environment as it works from here, activated or not.

    Variables may stand before the program.
    """
    words = command.split(" ")
    place = next(place for place, word in enumerate(words) if "=" not in word)
    folder = Path(sys.executable).parent
    found = shutil.which(words[place])
    own = folder / words[place]
    if not own.exists() or (found and Path(found).parent == folder):
        return command
    return " ".join([*words[:place], shlex.quote(from_here(own)), *words[place + 1 :]])


def from_here(path: Path) -> str:
    """A path as it works from here: short below this folder, else whole."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def git_state(folder: Path) -> GitState | None:
    """The state of a checkout; None outside a git repository."""
    try:
        commit = _git(folder, "rev-parse", "HEAD")
        changes = _git(folder, "status", "--porcelain")
    except (OSError, subprocess.SubprocessError) as error:
        logger.debug("No git commit for this run: %s", error)
        return None
    return GitState(commit, bool(changes))


def package_versions() -> dict[str, str]:
    """Versions of Python and of the packages that shape the results."""
    versions = {"python": python_version()}
    for package in _PACKAGES:
        with suppress(PackageNotFoundError):
            versions[package.removesuffix("-framework")] = version(package)
    return versions


def run_facts() -> dict[str, str]:
    """What a reader needs to run the same again, by its name for people."""
    state = git_state(Path.cwd())
    facts = {"Command": command_line()}
    if state is not None:
        changed = ", with changes that are not committed" if state.dirty else ""
        facts["Commit"] = f"{state.commit}{changed}"
    versions = package_versions()
    return facts | {
        "Versions": ", ".join(f"{name} {number}" for name, number in versions.items())
    }


def _git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", *arguments],
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
        timeout=_GIT_SECONDS,
    )
    return done.stdout.strip()
