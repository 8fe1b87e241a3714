"""LendingClub's Cayley step, the schedule's or adaptive, chosen by validation rows.

    kedro run --pipeline data
    python benchmarks/cayley_step.py

Fits the tuning's training rows with both steps from three starts and prints the
validation losses. No test row is read.
"""

import argparse
from pathlib import Path

import pandas as pd

from ridgeline.lendingclub.modelling import model_sample
from ridgeline.xnn.estimator import XNNClassifier

ROWS = 10_000  # xnn.tuning.rows
EPOCHS = 200  # xnn.tuning.max_epochs
ROUGHNESS = 1e-9  # what `kedro run --pipeline tuning` chooses


def main() -> None:
    """Print a table: one line for each start."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path("data/05_model_input"))
    folder = parser.parse_args().data
    train, held = (
        model_sample(pd.read_parquet(folder / f"{name}.parquet"))
        for name in ("train", "validation")
    )
    print("Validation loss (simulated data)\nseed  schedule's  adaptive")
    for seed in range(3):
        losses = [
            XNNClassifier(
                roughness=ROUGHNESS,
                cayley_step=step,
                max_epochs=EPOCHS,
                random_state=seed,
            )
            .fit(*train.head(ROWS), validation_data=held)
            .validation_loss_
            for step in (None, "adaptive")
        ]
        print(f"{seed:>4}  {losses[0]:>10.4f}  {losses[1]:>8.4f}", flush=True)


if __name__ == "__main__":
    main()
