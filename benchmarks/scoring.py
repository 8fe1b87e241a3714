"""Scores with reasons against EBM's predictions with local explanations.

    python benchmarks/scoring.py                 # a million rows
    python benchmarks/scoring.py --rows 50000    # a quick look

Both are fitted to the same simulated applications, with their defaults, and get the
same new rows in chunks of the same size, each in a process of its own, one after the
other. Time and peak memory are those of scoring; the model is read and the rows are in
memory before. Three contenders:

- `reasons`: `Decider.score` with the usual policy: every row has a probability and a
  decision, each declined row its reasons in words;
- `reasons_for_all`: the same with a cut-off that declines every row;
- `ebm`: `predict_proba` and `explain_local`, which has numbers and no words.

Ratios mean more than seconds: they come from one run on one machine. Each contender
runs three times, in turns; ratios are of medians and of the smallest figures.
"""

import argparse
import json
import pickle
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

TRAINING_ROWS = 20_000
CHUNK = 50_000
CONTENDERS = ("reasons", "reasons_for_all", "ebm")
PURPOSES = ("car", "credit card", "debt consolidation", "home", "medical", "other")


def applications(rows: int, seed: int) -> pd.DataFrame:
    """Simulate applications in the columns of LendingClub's two files."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "amount": rng.integers(10, 401, rows) * 100.0,
            "risk_score": rng.normal(660, 60, rows).clip(300, 850).round(),
            "dti": rng.gamma(2.0, 10.0, rows).round(2),
            "employment_length": rng.integers(0, 11, rows) * 1.0,
            "income": np.exp(rng.normal(11, 0.6, rows)).round(),
            "year": rng.integers(2013, 2019, rows) * 1.0,
            "purpose": rng.choice(PURPOSES, rows),
            "term": rng.choice(["36", "60"], rows),
        }
    )


def approved(table: pd.DataFrame, seed: int) -> np.ndarray:
    """Simulate the lender's decisions."""
    score = 0.02 * (table["risk_score"] - 650) - 0.05 * (table["dti"] - 20)
    score += 0.25 * (table["employment_length"] - 3) - 0.02 * table["amount"] / 1_000
    score += np.log(table["income"]) - 11 - 0.6 * (table["purpose"] == "medical")
    noise = np.random.default_rng(seed).logistic(size=len(table))
    return (score + noise > 0).to_numpy()


def fit(folder: Path) -> None:
    """Fit both models to the same rows and keep them."""
    from interpret.glassbox import ExplainableBoostingClassifier

    from ridgeline import XNNClassifier

    table = applications(TRAINING_ROWS, 1)
    labels = approved(table, 2)
    model = XNNClassifier(random_state=0, categorical_features=["purpose", "term"])
    model.fit(table, labels).save(folder / "model.json")
    ebm = ExplainableBoostingClassifier(random_state=0).fit(table, labels)
    (folder / "ebm.pickle").write_bytes(pickle.dumps(ebm))


def with_reasons(folder: Path, table: pd.DataFrame, cutoff: float) -> tuple[float, int]:
    """Score in chunks with reasons; seconds, and how many rows have reasons."""
    from ridgeline import Policy, load
    from ridgeline.decisions.scoring import Decider

    decider = Decider(load(folder / "model.json"), Policy(cutoff=cutoff))
    start, explained = time.perf_counter(), 0
    for first in range(0, len(table), CHUNK):
        scores, _ = decider.score(table[first : first + CHUNK], first + 1)
        explained += int((scores["decision"] == "declined").sum())
    return time.perf_counter() - start, explained


def with_ebm(folder: Path, table: pd.DataFrame) -> tuple[float, int]:
    """Predict and explain in chunks; seconds, and how many rows were explained."""
    # Written by this very benchmark a moment ago.
    model = pickle.loads((folder / "ebm.pickle").read_bytes())  # noqa: S301
    start, explained = time.perf_counter(), 0
    for first in range(0, len(table), CHUNK):
        part = table[first : first + CHUNK]
        model.predict_proba(part)
        explained += len(model.explain_local(part).data(-1)["specific"])
    return time.perf_counter() - start, explained


def contend(name: str, folder: Path, rows: int) -> None:
    """Run one contender in this process, and print what it took."""
    from ridgeline.peak_memory import PeakMemory

    table = applications(rows, 3)
    if name == "ebm":
        import interpret.glassbox  # noqa: F401  # not part of what is timed
    memory = PeakMemory()
    memory.start(name)
    if name == "ebm":
        seconds, explained = with_ebm(folder, table)
    else:
        everyone = name == "reasons_for_all"
        seconds, explained = with_reasons(folder, table, 1 - 1e-12 if everyone else 0.5)
    answer = {"seconds": seconds, "explained": explained, "peak_mb": memory.stop(name)}
    print(json.dumps(answer))


def main() -> None:
    """Fit, let each contender run, and print ratios."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--contender", choices=CONTENDERS)
    parser.add_argument("--folder", type=Path)
    chosen = parser.parse_args()
    if chosen.contender:
        contend(chosen.contender, chosen.folder, chosen.rows)
        return
    found: dict[str, list[dict[str, float]]] = {name: [] for name in CONTENDERS}
    with tempfile.TemporaryDirectory() as folder:
        fit(Path(folder))
        # In turns, so that what else the machine does meets all of them.
        for name in CONTENDERS * chosen.repeats:
            command = [sys.executable, __file__, "--contender", name]
            command += ["--folder", folder, "--rows", str(chosen.rows)]
            said = subprocess.check_output(command, text=True)
            found[name].append(json.loads(said.splitlines()[-1]))
            print(name, found[name][-1], flush=True)
    for name in CONTENDERS[:2]:
        for key in ("seconds", "peak_mb"):
            ours = [each[key] for each in found[name]]
            others = [each[key] for each in found["ebm"]]
            middle = np.median(others) / np.median(ours)
            best = min(others) / min(ours)
            print(f"EBM over {name}, {key}: medians {middle:.2f}, smallest {best:.2f}")


if __name__ == "__main__":
    main()
