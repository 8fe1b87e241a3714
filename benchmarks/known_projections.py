"""What a fit reaches that is told the true projections: a floor for S1 and S2.

    python benchmarks/known_projections.py

The rows are those of the study (`kedro run --pipeline simulation --env paper`, seed 0).
Cubic splines of the true projections are fitted to the training rows; knots and penalty
are chosen by the excess error itself, which no method can know. A network has to find
projections and smoothness from the rows, so its error is above this.
"""

import argparse
from itertools import product

import numpy as np
import pandas as pd
from sklearn.linear_model import Ridge
from sklearn.preprocessing import SplineTransformer

from ridgeline.simulation.paper import PAPER_MSE
from ridgeline.simulation.scenarios import TRUE_COMPONENTS, Draw
from ridgeline.simulation.settings import StudySettings
from ridgeline.simulation.tasks import Task, draw_data

SIZES = (1_000, 2_000, 5_000, 10_000)
KNOTS = (3, 4, 5, 6, 8, 10, 15)
PENALTIES = 10.0 ** np.arange(-4, 2.5, 0.5)


def main() -> None:
    """Prints the mean floor of each cell beside the paper's figure."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--repetitions", type=int, default=10)
    repetitions = parser.parse_args().repetitions
    printed = PAPER_MSE[PAPER_MSE["model"] == "xnn"].set_index(["scenario", "n"])["mse"]
    rows = []
    for scenario, n in product(TRUE_COMPONENTS, SIZES):
        floors = [floor(Task(scenario, n, number, "")) for number in range(repetitions)]
        rows.append(
            {
                "scenario": scenario,
                "n": n,
                "floor": np.mean(floors),
                "standard_error": np.std(floors, ddof=1) / np.sqrt(repetitions),
                "paper - 1": printed[scenario, n] - 1,
            }
        )
    print(pd.DataFrame(rows).to_string(index=False, float_format="{:.4f}".format))


def floor(task: Task) -> float:
    """The smallest excess error of splines of the true projections."""
    rows = draw_data(task, StudySettings(), seed=0)
    train, test = (told(sample, task.scenario) for sample in (rows.train, rows.test))
    errors = []
    for knots in KNOTS:
        splines = SplineTransformer(knots, extrapolation="linear").fit(train)
        basis, test_basis = splines.transform(train), splines.transform(test)
        for penalty in PENALTIES:
            fit = Ridge(penalty).fit(basis, rows.train.response)
            errors.append(np.mean((fit.predict(test_basis) - rows.test.truth) ** 2))
    return float(min(errors))


def told(sample: Draw, scenario: str) -> np.ndarray:
    """Values along the true projections, (n, components)."""
    weights = np.stack([part.weights for part in TRUE_COMPONENTS[scenario]])
    return np.asarray(sample.features @ weights.T)


if __name__ == "__main__":
    main()
