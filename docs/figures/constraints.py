"""Draws a model with directions and a pair: `python docs/figures/constraints.py`.

Writes `constraints.png`, the model, and `candidates.png`, the error against simplicity
of all candidates that were tried. The table is made up: approval rises with income,
falls with the debt ratio, and what hours mean depends on the kind of employment.
"""

from pathlib import Path

import numpy as np
import pandas as pd

from ridgeline import XNNClassifierCV

ROWS = 6_000


def table() -> tuple[pd.DataFrame, np.ndarray]:
    """Returns rows and decisions."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "income": rng.lognormal(10.6, 0.6, ROWS).round(),
            "debt_ratio": rng.uniform(0, 80, ROWS).round(1),
            "age": rng.integers(21, 75, ROWS).astype(float),
            "hours": rng.uniform(5, 60, ROWS).round(1),
            "employment": rng.choice(["employee", "self-employed", "none"], ROWS),
        }
    )
    sign = X["employment"].map({"employee": 1, "self-employed": -1, "none": 0})
    odds = (
        1.2 * (np.log(X["income"]) - 10.6)
        - 0.04 * (X["debt_ratio"] - 40)
        - ((X["age"] - 48) / 20) ** 2
        + sign * 1.3 * np.sin((X["hours"] - 32) / 12)
    )
    approved = rng.uniform(size=ROWS) < 1 / (1 + np.exp(-odds))
    return X, np.where(approved, "approved", "declined")


def main() -> None:
    """Fits and draws."""
    X, y = table()
    directions = {"income": "increasing", "debt_ratio": "decreasing"}
    y = pd.Categorical(y, categories=["declined", "approved"]).codes
    model = XNNClassifierCV(monotone=directions, random_state=0).fit(X, y)
    here = Path(__file__)
    model.explain().plot().savefig(here.with_suffix(".png"), dpi=110)
    model.plot_candidates().savefig(here.with_name("candidates.png"), dpi=110)


if __name__ == "__main__":
    main()
