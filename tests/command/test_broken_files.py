"""Thousands of broken model files and tables: one clear refusal each, no crash."""

import contextlib
import copy
import hashlib
import io
import json
import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from known_model import make_rows
from profiled_model import make_profiled

from ridgeline.command import main
from ridgeline.xnn.storage import model_document

MANY = settings(
    max_examples=2_000,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
DOCUMENT = model_document(make_profiled())
TEXT = json.dumps(DOCUMENT).encode()
TABLE = make_rows(12).to_csv(index=False).encode()
VALUES = [None, True, -1, 0, 1e400, 1e308, "x", [], {}, [[]], float("nan"), 2**70]


def run(*arguments):
    """Return the exit code and what the command said."""
    said, shown = io.StringIO(), io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(shown):
        code = main([str(argument) for argument in arguments])
    return code, said.getvalue(), shown.getvalue()


def places(part, path=()):
    """Return the paths of all parts of a JSON value."""
    found = [path]
    items = part.items() if isinstance(part, dict) else enumerate(part)
    for key, value in items:
        if isinstance(value, dict | list):
            found += places(value, (*path, key))
        else:
            found.append((*path, key))
    return found


PLACES = places(DOCUMENT["model"])[1:]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """Return a folder with a table."""
    folder = tmp_path_factory.mktemp("broken")
    (folder / "rows.csv").write_bytes(TABLE)
    (folder / "model.json").write_bytes(TEXT)
    return folder


def assert_clear(code, said, shown):
    """What is not done is refused in one line."""
    assert code in {0, 2}, said
    if code:
        assert said.startswith("ridgeline: ")
        assert said.count("\n") == 1
        assert shown == ""


@MANY
@given(seed=st.integers(0, 2**32))
def test_a_changed_part_of_a_model(path, seed):
    """The checksum is made anew, so that the content itself is what is judged."""
    draw = random.Random(seed)
    document = copy.deepcopy(DOCUMENT)
    *way, last = draw.choice(PLACES)
    part = document["model"]
    for key in way:
        part = part[key]
    if draw.random() < 0.3:
        del part[last]
    else:
        part[last] = draw.choice(VALUES)
    model = document["model"]
    text = json.dumps(model, sort_keys=True, separators=(",", ":"))
    document["sha256"] = hashlib.sha256(text.encode()).hexdigest()
    file = path / "changed.json"
    file.write_text(json.dumps(document))
    assert_clear(*run("describe", file))


@MANY
@given(
    at=st.integers(0, len(TEXT)),
    put=st.binary(max_size=4),
    cut=st.integers(0, 50),
)
def test_changed_bytes_of_a_model(path, at, put, cut):
    file = path / "bytes.json"
    changed = TEXT[:at] + put + TEXT[at + cut :]
    file.write_bytes(changed)
    code, said, shown = run("describe", file)
    assert_clear(code, said, shown)
    assert code == 2 or json.loads(changed)["model"] == DOCUMENT["model"]


@settings(parent=MANY, max_examples=1_000)
@given(
    at=st.integers(0, len(TABLE)),
    put=st.binary(max_size=6) | st.text(max_size=6).map(lambda t: t.encode("utf-8")),
    cut=st.integers(0, 30),
)
def test_changed_bytes_of_a_table(path, at, put, cut):
    file = path / "changed.csv"
    file.write_bytes(TABLE[:at] + put + TABLE[at + cut :])
    code, said, shown = run("score", path / "model.json", file, "-o", path / "o.csv")
    assert shown == ""
    assert code in {0, 2}, said
    assert said.count("\n") == (1 if said else 0)
