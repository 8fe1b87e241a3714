"""A new user's road: the commands of the how-to page, on a table made here."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from known_model import make_known, make_rows
from profiled_model import labels_of

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "score.md"


def commands():
    """Return the lines of the page's blocks that call the command."""
    blocks = re.findall(r"^```\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    return [line for block in blocks for line in block.splitlines()]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with loans and applications."""
    place = tmp_path_factory.mktemp("road")
    loans = make_rows(400).astype({"purpose": str})
    repaid = labels_of(make_known(), loans)
    loans.assign(repaid=repaid.astype(int)).to_csv(place / "loans.csv", index=False)
    make_rows(40, 7).to_csv(place / "applications.csv", index=False)
    return place


def test_the_commands_of_the_page(folder):
    assert len(commands()) == 8
    for line in commands():
        words = shlex.split(line)
        assert words[0] == "ridgeline"
        target = None
        if ">" in words:
            words, target = words[:-2], words[-1]
        # Two candidates where a user has 32: the road is the same.
        more = ["--candidates", "2"] if words[1] == "fit" else []
        done = subprocess.run(
            [sys.executable, "-m", "ridgeline", *words[1:], *more],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        if target:
            (folder / target).write_text(done.stdout)
    found = pd.read_csv(folder / "decisions.csv")
    assert len(found) == 40
    declined = found[found["decision"] == "declined"]
    assert declined["reason_1"].str.contains("approved applications").any()
    for page in ("model.html", "drift.html"):
        assert "<svg" in (folder / page).read_text()
        assert "src=" not in (folder / page).read_text()
