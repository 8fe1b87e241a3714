"""A model behind `mlflow models serve`, on this machine alone: what it answers."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ridgeline import XNNClassifier
from ridgeline.lendingclub.cleaning import CleaningRules
from ridgeline.lendingclub.preparation import raw_preparation
from ridgeline.lendingclub.simulator import simulate
from ridgeline.tracking.models import write_model

START = 120  # seconds that a server has to answer


def raw_rows(kind: str, rows: int) -> pd.DataFrame:
    """Return raw rows of a simulated file, as text."""
    batches = [batch.to_pandas() for batch in simulate(kind, rows, 0)]
    return pd.concat(batches, ignore_index=True).astype(object)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the file of a small model that knows how raw rows are prepared."""
    preparation = raw_preparation(CleaningRules())
    sets = [
        preparation.prepare(raw_rows(kind, 400)).rows.dropna()
        for kind in ("accepted", "rejected")
    ]
    X = pd.concat(sets, ignore_index=True)
    y = np.repeat([1, 0], [len(rows) for rows in sets])
    short = {"hidden": (4,), "max_epochs": 15, "categorical_features": ["purpose"]}
    fitted = XNNClassifier(**short, random_state=0).fit(X, y)
    path = tmp_path_factory.mktemp("served") / "model.json"
    replace(fitted.scorer_, preparation=preparation).save(path)
    return path


@pytest.fixture(scope="module")
def address(model: Path) -> Iterator[str]:
    """Serve the model on a free port of the loopback."""
    folder = model.parent / "mlflow"
    prepared = raw_preparation(CleaningRules()).prepare(raw_rows("rejected", 20)).rows
    write_model(folder, model, prepared.dropna().head(5), keep_example=False)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen(
        [sys.executable, "-m", "mlflow", "models", "serve", "--model-uri", str(folder)]
        + ["--env-manager", "local", "--host", "127.0.0.1", "--port", str(port)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        # MLflow looks for its server among the commands.
        env=os.environ
        | {"DO_NOT_TRACK": "true"}
        | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
        start_new_session=True,
    )
    base = f"http://127.0.0.1:{port}"
    try:
        for _ in range(START * 4):
            assert server.poll() is None, server.communicate()[0].decode()
            try:
                urllib.request.urlopen(f"{base}/ping", timeout=5).close()
                break
            except OSError:
                time.sleep(0.25)
        yield base
    finally:
        if server.poll() is None:
            os.killpg(server.pid, signal.SIGTERM)
        server.communicate()


def post(address: str, body: Any) -> tuple[int, Any]:
    """Return the status and the answer to a request."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    request = urllib.request.Request(
        f"{address}/invocations", data, {"Content-Type": "application/json"}
    )
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def split(rows: pd.DataFrame) -> dict[str, Any]:
    """Return rows as a request has them."""
    return {"dataframe_split": json.loads(rows.to_json(orient="split", index=False))}


def command_scores(model: Path, rows: pd.DataFrame) -> list[dict[str, Any]]:
    """Return what the command says of the same rows."""
    source, out = model.parent / "rows.csv", model.parent / "scores.jsonl"
    rows.to_csv(source, index=False)
    command = [sys.executable, "-m", "ridgeline", "score", str(model), str(source)]
    subprocess.run([*command, "-o", str(out)], check=True, capture_output=True)
    return [json.loads(line) for line in out.read_text().splitlines()]


def test_raw_rows_are_answered_as_by_the_command(address, model):
    raw = raw_rows("rejected", 100)
    usable = raw_preparation(CleaningRules()).prepare(raw).rows.dropna().index
    raw = raw.loc[usable].reset_index(drop=True)
    status, answer = post(address, split(raw))
    assert status == 200, answer
    said = answer["predictions"]
    told = command_scores(model, raw)
    assert len(said) == len(told) == len(raw) > 10
    for one, other in zip(said, told, strict=True):
        assert one["probability"] == pytest.approx(other["probability"], abs=1e-9)
        for name in ("decision", "reason_1", "reason_1_feature"):
            assert one[name] == other[name]
    declined = [one for one in said if one["decision"] == "declined"]
    assert declined
    columns = {"application_date", "amount", "risk_score", "dti", "purpose"}
    columns |= {"employment_length"}
    assert all(one["reason_1_feature"] in columns for one in declined)
    assert not any("ridge" in str(one["reason_1"]) for one in declined)


def test_prepared_rows_may_have_whole_numbers(address):
    row = {
        "application_date": 2017,
        "amount": 9000,
        "risk_score": 700,
        "dti": 10,
        "employment_length": 3,
        "purpose": "Housing",
    }
    asked = {"dataframe_records": [row], "params": {"contributions": True}}
    status, answer = post(address, asked)
    assert status == 200, answer
    (one,) = answer["predictions"]
    parts = {
        name: value
        for name, value in one.items()
        if name.startswith("contribution_") and name != "contribution_decision"
    }
    assert sum(parts.values()) == pytest.approx(one["log_odds"], abs=1e-9)
    asked["params"] = {"cutoff": 0.0001}
    assert post(address, asked)[1]["predictions"][0]["decision"] == "approved"


GOOD = {
    "application_date": [2017.0],
    "amount": [9000.0],
    "risk_score": [700.0],
    "dti": [10.0],
    "employment_length": [3.0],
    "purpose": ["Housing"],
}


@pytest.mark.parametrize(
    ("rows", "what"),
    [
        ({"amount": [1.0]}, "has no column"),
        (GOOD | {"dti": [1e999]}, "dti"),
        (GOOD | {"dti": ["much"]}, "dti"),
        (GOOD | {"purpose": ["Yacht"]}, "Yacht"),
        (GOOD | {"amount": [None]}, "amount"),
        ({name: values * 10_001 for name, values in GOOD.items()}, "at most 10,000"),
    ],
)
def test_what_cannot_be_scored_is_a_sentence(address, rows, what):
    data = [list(row) for row in zip(*rows.values(), strict=True)]
    body = {"dataframe_split": {"columns": list(rows), "data": data}}
    status, answer = post(address, body)
    assert 400 <= status < 500, answer
    assert what in str(answer)
    assert "Traceback" not in json.loads(answer)["message"]


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b'{"inputs": 3}', b'{"dataframe_split": 1}', b"\xff"]
)
def test_a_body_that_is_no_request_is_refused(address, body):
    status, _ = post(address, body)
    assert 400 <= status < 500
