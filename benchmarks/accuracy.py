"""How accurate the network is on the paper's scenarios, over several seeds.

    python benchmarks/accuracy.py                              # about an hour
    python benchmarks/accuracy.py --scenarios S1 --seeds 0-1   # a part of it
    python benchmarks/accuracy.py --scenarios S3,S5 --peers    # beside other models

Each cell draws n rows (80 % to train, 20 % to validate) and 10,000 test rows. Three
models come out of it, each from the one before:

- `grid`: lambda1 and lambda2 by validation on the paper's 5 x 5 grid, lambda3 = 1e-6;
- `excess`: lambda3 as well, by the smallest validation loss;
- `all_rows`: refined on the validation rows too, now that the choice is made.

Excess error is mean((f_hat - f)^2) against the noise-free truth: the noise, 1, is left
out. `smallest_loss` is the grid without the one-standard-error rule.
"""

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.neural_network import MLPRegressor

from ridgeline import XNNRegressor
from ridgeline.simulation.scenarios import SCENARIOS, TRUE_COMPONENTS, Sample, draw
from ridgeline.xnn.search import grid_search
from ridgeline.xnn.stages import refine

TEST_ROWS = 10_000
ROUGHNESS = (1e-6, 10**-6.5, 1e-7)
# Test MSE of the paper's Table 2, less the noise.
PAPER = {
    ("S1", 1_000): 0.086,
    ("S2", 1_000): 0.068,
    ("S4", 1_000): 0.095,
    ("S6", 1_000): 0.105,
    ("S1", 10_000): 0.004,
    ("S2", 10_000): 0.002,
    ("S4", 10_000): 0.030,
    ("S6", 10_000): 0.027,
}


def main() -> None:
    """Runs the cells on all cores and prints the means."""
    options = parse_options()
    cells = [
        (scenario, n, seed)
        for n in options.rows
        for scenario in options.scenarios
        for seed in options.seeds
    ]
    results = Parallel(n_jobs=options.jobs, return_as="generator_unordered")(
        delayed(run_cell)(*cell, options) for cell in cells
    )
    rows: list[dict[str, Any]] = []
    for result in results:
        rows += result
        if options.out:
            Path(options.out).write_text(json.dumps(rows))
        print(describe(result[0]), flush=True)
    print()
    print(summarise(pd.DataFrame(rows)).to_string(float_format="{:.4f}".format))


def parse_options() -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--scenarios", default="S1,S2,S4,S6")
    parser.add_argument("--rows", default="1000,10000")
    parser.add_argument("--seeds", default="0-9", help="first-last")
    parser.add_argument("--starts", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--peers", action="store_true", help="also MLP and naive xNN")
    parser.add_argument("--out", help="a JSON file for every cell")
    parser.add_argument("--set", nargs="*", default=[], metavar="NAME=VALUE")
    options = parser.parse_args()
    first, last = map(int, options.seeds.split("-"))
    options.seeds = range(first, last + 1)
    options.rows = [int(n) for n in options.rows.split(",")]
    options.scenarios = options.scenarios.split(",")
    unknown = set(options.scenarios) - set(SCENARIOS)
    if unknown:
        parser.error(f"no such scenario: {sorted(unknown)}; there are {[*SCENARIOS]}")
    pairs = [setting.split("=", 1) for setting in options.set]
    options.settings = {name: json.loads(value) for name, value in pairs}
    return options


def run_cell(
    scenario: str, n: int, seed: int, options: argparse.Namespace
) -> list[dict[str, Any]]:
    """One scenario, size and seed: the grid, and the peers if asked for."""
    sample = draw(scenario, n, np.random.default_rng(seed))
    test = draw(scenario, TEST_ROWS, np.random.default_rng([seed, 1]))
    size = n * 4 // 5
    train = sample.features[:size], sample.response[:size]
    held = sample.features[size:], sample.response[size:]
    cell = {"scenario": scenario, "n": n, "seed": seed}
    models: dict[str, Any] = {"xnn": XNNRegressor(random_state=seed)}
    models["xnn"].set_params(n_starts=options.starts, **options.settings)
    if options.peers:
        models["naive xnn"] = XNNRegressor(
            projection="free", normalise=False, roughness=0.0, random_state=seed
        )
    results = []
    for name, model in models.items():
        began = time.perf_counter()
        found = grid_search(model, *train, validation_data=held, n_jobs=1)
        result = cell | {"model": name, "seconds": time.perf_counter() - began}
        result["grid"] = excess(found.model, test)["excess"]
        chosen = found.model
        if not found.table["chosen"][0]:
            best = found.table.loc[0, ["l1_projection", "l1_scales"]].to_dict()
            chosen = clone(chosen).set_params(**best).fit(*train, None, held)
        result["smallest_loss"] = excess(chosen, test)["excess"]
        chosen = by_roughness(found.model, train, held)
        rows = sample.features, sample.response
        refined = refine(chosen, *rows, validation_data=rows)
        result["all_rows"] = excess(refined, test)["excess"]
        results.append(result | measure(chosen, test, scenario))
    if options.peers:
        results.append(cell | {"model": "mlp"} | excess(fit_mlp(sample, seed), test))
    return results


def by_roughness(
    model: XNNRegressor, train: tuple[Any, Any], held: tuple[Any, Any]
) -> XNNRegressor:
    """The lambda3 with the smallest validation loss, at the chosen penalties."""
    if not model.roughness:
        return model
    grid = {"roughness": ROUGHNESS}
    return grid_search(
        model, *train, None, held, grid=grid, standard_errors=0, n_jobs=1
    ).model


def measure(model: XNNRegressor, test: Sample, scenario: str) -> dict[str, Any]:
    """Errors of the chosen model, its penalties, and what it found of the truth."""
    result = excess(model, test) | {
        "components": int(np.count_nonzero(model.scales_)),
        "validation_loss": model.validation_loss_,
        "l1_projection": model.l1_projection,
        "l1_scales": model.l1_scales,
        "roughness": model.roughness,
    }
    if scenario == "S1":
        # Features are scaled by almost the same factor, so directions stay.
        truth = np.stack([part.weights for part in TRUE_COMPONENTS["S1"]])
        truth /= np.linalg.norm(truth, axis=1, keepdims=True)
        used = model.projection_[:, model.scales_ > 0]
        result["smallest_cosine"] = float(np.abs(truth @ used).max(axis=1).min())
    return result


def excess(model: Any, test: Sample) -> dict[str, Any]:
    """Excess error and mean squared error on the test rows."""
    predicted = model.predict(test.features)
    return {
        "excess": float(np.mean((predicted - test.truth) ** 2)),
        "mse": float(np.mean((predicted - test.response) ** 2)),
    }


def fit_mlp(sample: Sample, seed: int) -> MLPRegressor:
    """The paper's peer: 100 and 60 tanh units, stopped early on 20 % of the rows."""
    return MLPRegressor(
        hidden_layer_sizes=(100, 60),
        activation="tanh",
        early_stopping=True,
        validation_fraction=0.2,
        n_iter_no_change=50,
        max_iter=2_000,
        random_state=seed,
    ).fit(sample.features, sample.response)


def describe(row: dict[str, Any]) -> str:
    """One line for a cell that is done."""
    return (
        f"{row['scenario']} n={row['n']:<6,} seed {row['seed']}: "
        f"excess {row['excess']:.4f} (5 x 5 alone {row['grid']:.4f}, "
        f"all rows {row['all_rows']:.4f}), "
        f"{row['components']} components, "
        f"{row['seconds']:.0f} s"
    )


def summarise(table: pd.DataFrame) -> pd.DataFrame:
    """Mean over the seeds, with its standard error, beside the paper's figures."""
    groups = table.groupby(["n", "scenario", "model"], sort=True)
    summary = groups[["excess", "mse"]].mean()
    summary["standard error"] = groups["excess"].sem()
    for extra in ("smallest_loss", "grid", "all_rows", "components", "smallest_cosine"):
        if extra in table:
            summary[extra] = groups[extra].mean()
    summary["paper"] = [
        PAPER.get((scenario, n), np.nan) if model == "xnn" else np.nan
        for n, scenario, model in summary.index
    ]
    return summary


if __name__ == "__main__":
    main()
