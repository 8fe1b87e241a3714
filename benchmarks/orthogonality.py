"""Ways to orthogonality, and what is gained without: the study's scenarios.

    python benchmarks/orthogonality.py                       # ten minutes
    python benchmarks/orthogonality.py --scenarios S1 S4 --seeds 3 --n 1000
    python benchmarks/orthogonality.py --ways "orthogonal, relaxed" near

One fit each with the estimator's penalties, and with what the study says of the network
except the steps: columns scaled by their ends, straight scales that go on beyond them.
The seeds are not those of the study. "near, chosen" fits each price of COHERENCES and
takes the largest price whose validation loss is within one standard error of the
smallest: the rule towards orthogonality. "near, by folds" has the same rule with the
rows of five folds, which tell smaller differences, and fits the price once more.
Printed are means over the seeds: the excess error (the mean squared difference to the
truth without noise, of 10,000 other rows) and its standard error, the largest cosine
between two projections in use, the smallest eigenvalue of their Gram matrix, the
components in use, and the processor's seconds: the median, which leaves out the fits
that compiled a program.
"""

import argparse
import time
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from numpy.typing import NDArray
from training import say, show

SEED = 777  # the study's own begin at 0
TEST_ROWS = 10_000
HELD = 0.2  # of the rows, that choose the epoch
COHERENCES = (0.001, 0.01, 0.03, 0.1, 0.3, 1.0, 10.0)
CHOSEN = "near, chosen"
BY_FOLDS = "near, by folds"
FOLDS = 5
WAYS: dict[str, dict[str, Any]] = {
    "orthogonal, as in the paper": {"relaxation": 0.0},
    "orthogonal, relaxed": {},
    "near": {"projection": "near"},
    CHOSEN: {"projection": "near"},
    BY_FOLDS: {"projection": "near"},
}


def measure(
    scenario: str, n: int, seed: int, way: str, first: int = SEED
) -> dict[str, Any]:
    """Fit one way, and judge it by rows of their own."""
    from ridgeline.simulation.scenarios import SCENARIOS, draw
    from ridgeline.xnn.coherence import coherence

    place = list(SCENARIOS).index(scenario)
    rng = np.random.default_rng([first, seed, place])
    rows, test = draw(scenario, n, rng), draw(scenario, TEST_ROWS, rng)
    held = round(HELD * n)
    train = tuple(part[:-held] for part in rows.observed)
    validation = tuple(part[-held:] for part in rows.observed)
    began = time.process_time()
    fit = {CHOSEN: fit_chosen, BY_FOLDS: fit_by_folds}.get(way, fit_one)
    model = fit(WAYS[way], train, validation, seed)
    seconds = time.process_time() - began
    overlap = coherence(model.scorer_)
    return {
        "scenario": scenario,
        "way": way,
        "seed": seed,
        "excess": float(np.mean((model.predict(test.features) - test.truth) ** 2)),
        "components": int(np.count_nonzero(model.scorer_.all_scales)),
        **overlap._asdict(),
        "coherence": model.coherence,
        "seconds": seconds,
    }


def fit_one(settings: dict[str, Any], train: Any, validation: Any, seed: int) -> Any:
    """One fit, as the study sets the network but for its steps."""
    from ridgeline import XNNRegressor
    from ridgeline.simulation.settings import PAPER_NETWORK

    kept = ("scaling", "special_values", "beyond_range")
    paper = {name: PAPER_NETWORK[name] for name in kept}
    model = XNNRegressor(**paper | {"random_state": seed} | settings)
    return model.fit(*train, validation_data=validation)


def fit_chosen(settings: dict[str, Any], train: Any, validation: Any, seed: int) -> Any:
    """The price that the validation rows choose."""
    models = [
        fit_one(settings | {"coherence": price}, train, validation, seed)
        for price in COHERENCES
    ]
    X, y = validation
    return models[strictest(np.stack([(each.predict(X) - y) ** 2 for each in models]))]


def fit_by_folds(
    settings: dict[str, Any], train: Any, validation: Any, seed: int
) -> Any:
    """The price that all rows choose, each while it is held out."""
    X, y = (np.concatenate(parts) for parts in zip(train, validation, strict=True))
    folds = np.array_split(np.arange(len(y)), FOLDS)
    losses = np.empty((len(COHERENCES), len(y)))
    for held in folds:
        rest = np.setdiff1d(np.arange(len(y)), held)
        for at, price in enumerate(COHERENCES):
            chosen = settings | {"coherence": price}
            model = fit_one(chosen, (X[rest], y[rest]), (X[held], y[held]), seed)
            losses[at, held] = (model.predict(X[held]) - y[held]) ** 2
    price = COHERENCES[strictest(losses)]
    return fit_one(settings | {"coherence": price}, train, validation, seed)


def strictest(losses: NDArray[np.float64]) -> int:
    """The largest price within one standard error of the smallest mean loss."""
    from ridgeline.xnn.one_standard_error import errors_of_differences

    means = losses.mean(axis=1)
    best = int(means.argmin())
    weights = np.ones(losses.shape[1])
    errors = errors_of_differences(losses.astype(np.float32), weights, best)
    return int(np.flatnonzero(means - means[best] <= errors)[-1])


def main() -> None:
    """Fit everything and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    names = [f"S{number}" for number in range(1, 7)]
    parser.add_argument("--scenarios", nargs="+", choices=names, default=names)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--n", type=int, default=2_000)
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=[*WAYS])
    parser.add_argument(
        "--first", type=int, default=SEED, help="of each seed's numbers"
    )
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    calls = [
        (scenario, arguments.n, seed, way, arguments.first)
        for way in arguments.ways
        for scenario in arguments.scenarios
        for seed in range(arguments.seeds)
    ]
    found = pd.DataFrame(
        Parallel(n_jobs=arguments.jobs, verbose=1)(
            delayed(measure)(*call) for call in calls
        )
    )
    groups = found.groupby(["scenario", "way"], sort=False)
    # The first fit of a worker compiles: the median leaves it out.
    means = groups.mean(numeric_only=True).assign(
        standard_error=groups["excess"].sem(), seconds=groups["seconds"].median()
    )
    means = means.sort_index(level=0, sort_remaining=False).reset_index()
    columns = ["scenario", "way", "excess", "standard_error", "largest_cosine"]
    columns += ["smallest_eigenvalue", "components", "seconds"]
    say(
        f"Excess error, {arguments.n:,} rows, means of {arguments.seeds} seeds that "
        f"begin with {arguments.first}."
    )
    show(means[columns], {}, ".3f")


if __name__ == "__main__":
    main()
