"""A fit that was interrupted goes on where it was, and ends as if nothing happened."""

from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ridgeline import XNNClassifier, XNNRegressor
from ridgeline.errors import InputError
from ridgeline.xnn import fitting
from ridgeline.xnn.checkpoint import Checkpoint, Snapshot, fingerprint
from ridgeline.xnn.stages import prune, refine
from ridgeline.xnn.storage import load_model, save_model

# Rows that a fit sets aside may lie beyond the range of the others.
pytestmark = pytest.mark.filterwarnings("ignore:.* beyond the range")
X = np.random.default_rng(0).uniform(-1, 1, size=(400, 3))
Y = np.sin(3 * X[:, 0]) + X[:, 1] + 0.1 * np.random.default_rng(1).normal(size=400)


def interrupted(stage: str) -> Any:
    """Return progress that interrupts a stage after its first epochs."""

    @contextmanager
    def progress(name: str, epochs: int, shown: bool):
        def report(epoch: int, objective: float, loss: float) -> None:
            if name == stage:
                raise KeyboardInterrupt

        yield report

    return progress


def model(**settings: object) -> XNNRegressor:
    """Return a regressor whose stages take two calls of the program each."""
    return XNNRegressor(max_epochs=160, refine_epochs=80, random_state=0, **settings)


@pytest.mark.parametrize("stage", ["relaxation", "training", "refinement"])
def test_interrupted_fit_ends_with_the_same_model(
    stage: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    whole = model().fit(X, Y)
    with monkeypatch.context() as patch:
        patch.setattr(fitting, "stage_progress", interrupted(stage))
        with pytest.raises(KeyboardInterrupt):
            model(checkpoint=tmp_path).fit(X, Y)
    assert (tmp_path / f"{stage}-0.npz").exists()
    with caplog.at_level("INFO"):
        resumed = model(checkpoint=tmp_path).fit(X, Y)
    assert "Going on after epoch 40" in caplog.text
    np.testing.assert_array_equal(resumed.predict(X), whole.predict(X))
    for name, values in whole.history_.items():
        np.testing.assert_array_equal(resumed.history_[name], values)
    assert not list(tmp_path.iterdir())


def test_another_problem_starts_from_the_beginning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(fitting, "stage_progress", interrupted("training"))
        with pytest.raises(KeyboardInterrupt):
            model(checkpoint=tmp_path).fit(X, Y)
    other = model(checkpoint=tmp_path, l1_scales=1e-2, prune_share=None)
    with caplog.at_level("INFO"):
        other.fit(X, Y)
    assert "Going on" not in caplog.text
    alone = model(l1_scales=1e-2, prune_share=None).fit(X, Y)
    np.testing.assert_array_equal(other.predict(X), alone.predict(X))


def snapshot() -> Snapshot:
    return Snapshot({"weights": np.arange(3.0)}, np.ones((2, 4), np.float32), {"a": 1})


def test_checkpoint_round_trip_and_bad_files(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "state.npz"
    checkpoint = Checkpoint(path)
    assert checkpoint.load("this") is None
    checkpoint.save("this", snapshot())
    found = checkpoint.load("this")
    assert found is not None
    np.testing.assert_array_equal(found.state["weights"], np.arange(3.0))
    assert (found.losses.shape, found.generator) == ((2, 4), {"a": 1})
    assert checkpoint.load("that") is None
    path.write_bytes(path.read_bytes()[:100])
    assert checkpoint.load("this") is None
    path.write_text("nothing of the kind")
    assert checkpoint.load("this") is None
    checkpoint.save("this", snapshot())
    checkpoint.remove()
    assert [file.name for file in path.parent.iterdir()] == ["state.npz.damaged"]


def test_fingerprint_sees_every_change() -> None:
    rows = np.arange(6.0)
    prints = [
        fingerprint((rows, 1)),
        fingerprint((rows.reshape(2, 3), 1)),
        fingerprint((rows.astype(np.float32), 1)),
        fingerprint((rows + np.eye(6)[5] * 1e-12, 1)),
        fingerprint((rows, 2)),
        fingerprint([rows, 1]),
        fingerprint(rows, 1),
    ]
    assert len(set(prints)) == len(prints)
    assert fingerprint((rows.copy(), 1)) == prints[0]


def test_stages_through_files_equal_one_fit(tmp_path: Path) -> None:
    """The pipeline stores each stage's model; nothing is lost on the way."""
    whole = XNNClassifier(max_epochs=40, refine_epochs=40, random_state=0)
    whole.fit(X, Y > 0)
    parameters = whole.get_params()
    trained = XNNClassifier(**parameters | {"prune_share": None}).fit(X, Y > 0)
    save_model(trained.scorer_, tmp_path / "trained.json")
    stored = load_model(tmp_path / "trained.json")
    pruned = prune(XNNClassifier.from_scorer(stored, **parameters))
    refined = refine(pruned, X, Y > 0)
    np.testing.assert_array_equal(refined.predict_proba(X), whole.predict_proba(X))
    np.testing.assert_array_equal(refined.predict(X), whole.predict(X))


def test_from_scorer_refuses_the_other_kind() -> None:
    fitted = XNNClassifier(max_epochs=40, refine_epochs=40, random_state=0)
    fitted.fit(X, Y > 0)
    with pytest.raises(InputError, match="XNNClassifier"):
        XNNRegressor.from_scorer(fitted.scorer_)
