"""Draws a model of the scenario S1: `python docs/figures/explanation.py`."""

from pathlib import Path

import numpy as np
import pandas as pd

from ridgeline import XNNRegressor, grid_search
from ridgeline.simulation.scenarios import draw


def main() -> None:
    """Chooses penalties by the paper's grid and draws the model."""
    sample = draw("S1", 10_000, np.random.default_rng(0))
    names = [f"x{number}" for number in range(1, 11)]
    features = pd.DataFrame(sample.features, columns=names)
    found = grid_search(XNNRegressor(random_state=0), features, sample.response)
    figure = found.model.explain().plot()
    figure.savefig(Path(__file__).with_suffix(".png"), dpi=110)


if __name__ == "__main__":
    main()
