"""Training goes on after the worst, and says of itself only what is true."""

import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import log_loss

from ridgeline import XNNClassifier
from ridgeline.errors import RidgelineError
from ridgeline.lendingclub.modelling import describe_applications, model_sample
from ridgeline.pipelines.xnn.nodes import prune_network, refine_network, train_network
from ridgeline.pipelines.xnn.settings import XnnSettings
from ridgeline.tables.identity import identify_split
from ridgeline.xnn.checkpoint import Checkpoint, Snapshot
from ridgeline.xnn.scorer import Scorer
from ridgeline.xnn.stages import prune
from ridgeline.xnn.storage import load_model, save_model

PENALTIES = {"l1_projection": 1e-3, "l1_scales": 1e-3}
TRAINING = {"parameters": PENALTIES, "fit_seconds": 1.0, "orthogonality_error": 0.0}
# The known network's architecture; two calls of the program.
SETTINGS = {
    "network": {"n_subnetworks": 2, "hidden": [1]},
    "refinement": {"max_epochs": 80},
}
SEED = 3


def _settings(checkpoint: Path | None) -> XnnSettings:
    training = {
        "max_epochs": 2,
        "patience": 80,
        "checkpoint": str(checkpoint) if checkpoint else None,
    }
    return XnnSettings.model_validate(SETTINGS | {"training": training})


def _sets(folder: Path) -> dict[str, pd.DataFrame]:
    names = ("train", "validation")
    return {name: pd.read_parquet(folder / f"{name}.parquet") for name in names}


def _refine(folder: Path, checkpoint: Path | None) -> tuple[Scorer, pd.DataFrame]:
    """Run the node as Kedro does, on files."""
    sets = _sets(folder)
    identity = identify_split(sets)
    refined, _, history = refine_network(
        pruned=load_model(folder / "pruned.json"),
        **sets,
        table=describe_applications().to_json(),
        identity=identity,
        training=TRAINING | {"fits": 1, "data_identity": identity["split"]},
        settings=_settings(checkpoint),
        seed=SEED,
    )
    return refined, history


# The refinement stops after its first checkpoint and waits for the end.
_KILLED = """
import sys, time
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, sys.argv[1])
from ridgeline.xnn import fitting
from test_training_faults import _refine

@contextmanager
def stops(name, epochs, shown):
    def report(*_):
        print(name, flush=True)
        time.sleep(600)
    yield report

fitting.stage_progress = stops
_refine(Path(sys.argv[2]), Path(sys.argv[3]))
"""


def test_refinement_that_was_killed_goes_on_and_ends_with_the_same_network(
    known_network: Scorer,
    make_applications,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    save_model(known_network, tmp_path / "pruned.json")
    for seed, name in enumerate(("train", "validation")):
        make_applications(300, seed).to_parquet(tmp_path / f"{name}.parquet")
    kept = tmp_path / "kept"
    tests = str(Path(__file__).parent)
    process = subprocess.Popen(
        [sys.executable, "-c", _KILLED, tests, str(tmp_path), str(kept)],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "refinement\n"
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    # A run that is started from its beginning does not undo its last stage.
    sets = _sets(tmp_path)
    train_network(
        **sets,
        table=describe_applications().to_json(),
        identity=identify_split(sets),
        penalties=PENALTIES,
        tuning=pd.DataFrame(),
        settings=_settings(kept),
        seed=SEED,
    )
    with caplog.at_level("INFO"):
        resumed, history = _refine(tmp_path, kept)
    assert "Going on after epoch 40" in caplog.text
    assert list(kept.iterdir()) == []
    caplog.clear()
    whole, whole_history = _refine(tmp_path, None)
    assert "Going on" not in caplog.text
    for name, model in (("resumed", resumed), ("whole", whole)):
        save_model(model, tmp_path / f"{name}.json")
    assert (tmp_path / "resumed.json").read_bytes() == (
        tmp_path / "whole.json"
    ).read_bytes()
    pd.testing.assert_frame_equal(history, whole_history)


def test_an_estimator_around_a_model_touches_no_file(
    known_network: Scorer, tmp_path: Path
) -> None:
    for name in ("training-0.npz", "refinement-0.npz"):
        (tmp_path / name).write_bytes(b"of a fit that somebody goes on with")
    XNNClassifier.from_scorer(known_network, checkpoint=tmp_path, n_starts=2)
    assert len(list(tmp_path.iterdir())) == 2


def test_the_pruned_network_reports_a_validation_loss_of_its_own(
    known_network: Scorer, make_applications
) -> None:
    settings = XnnSettings.model_validate({"pruning": {"share": 0.6}})
    validation = make_applications(200, 1)
    report = {"validation_loss": 0.123, "epochs": 7}
    pruned, reported, _ = prune_network(
        trained=known_network,
        validation=validation,
        table=describe_applications().to_json(),
        training=report,
        settings=settings,
    )
    assert 0 < reported["n_components"] < len(known_network.all_scales)
    held = model_sample(validation)
    loss = log_loss(held.target, pruned.predict_proba(held.features))
    assert reported["validation_loss"] == pytest.approx(loss, rel=1e-12)
    assert report == {"validation_loss": 0.123, "epochs": 7}


def test_pruning_without_rows_claims_no_loss(
    known_network: Scorer, make_applications
) -> None:
    model = XNNClassifier.from_scorer(known_network)
    model.result_ = model.result_._replace(validation_loss=0.123)
    assert np.isnan(prune(model, 0.6).validation_loss_)
    X, y, _ = model_sample(make_applications(200, 1))
    weight = np.arange(200.0)
    pruned = prune(model, 0.6, validation_data=(X, y, weight))
    loss = log_loss(y, pruned.predict_proba(X), sample_weight=weight)
    assert pruned.validation_loss_ == pytest.approx(loss, rel=1e-12)
    assert model.validation_loss_ == 0.123


def _moment() -> Snapshot:
    rng = np.random.default_rng(0)
    state = {"weights": rng.normal(size=40), "waited": np.array(3)}
    losses = rng.normal(size=(2, 40)).astype(np.float32)
    return Snapshot(state, losses, dict(rng.bit_generator.state))


def _mutation(content: bytes, rng: np.random.Generator) -> bytes:
    """Change a file as disks, editors and interrupted copies do."""
    changed = bytearray(content)
    start, end = sorted(rng.integers(len(content) + 1, size=2))
    kind = rng.integers(6)
    if kind == 0:
        changed[rng.integers(len(content))] ^= 1 << rng.integers(8)
    elif kind == 1:
        changed[rng.integers(len(content))] = rng.integers(256)
    elif kind == 2:
        del changed[start:end]
    elif kind == 3:
        changed[start:start] = rng.bytes(rng.integers(1, 50))
    elif kind == 4:
        changed[start:end] = bytes(end - start)
    else:
        del changed[start:]
    return bytes(changed)


def test_a_changed_checkpoint_is_set_aside_by_name(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path, aside = tmp_path / "training-0.npz", tmp_path / "training-0.npz.damaged"
    checkpoint, moment = Checkpoint(path), _moment()
    checkpoint.save("this", moment)
    good = path.read_bytes()
    rng = np.random.default_rng(1)
    harmless = 0
    for _ in range(500):
        content = _mutation(good, rng)
        path.write_bytes(content)
        aside.unlink(missing_ok=True)
        caplog.clear()
        found = checkpoint.load("this")
        if content == good:  # a byte may be replaced by itself
            harmless += 1
            assert found is not None
            assert found.generator == moment.generator
            np.testing.assert_array_equal(found.losses, moment.losses)
            for name, array in moment.state.items():
                np.testing.assert_array_equal(found.state[name], array)
            continue
        assert found is None
        assert aside.read_bytes() == content
        assert not path.exists()
        assert str(path) in caplog.text
    assert harmless < 50


def test_a_checkpoint_out_of_reach_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    checkpoint = Checkpoint(tmp_path / "file" / "training-0.npz")
    assert checkpoint.load("this") is None
    with pytest.raises(RidgelineError, match="cannot be read or written"):
        checkpoint.save("this", _moment())
    (tmp_path / "training-0.npz").mkdir()
    with pytest.raises(RidgelineError, match="cannot be read or written"):
        Checkpoint(tmp_path / "training-0.npz").load("this")
