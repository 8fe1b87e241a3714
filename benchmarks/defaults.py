"""What the network's defaults rest on: each changed alone, judged by held-out rows.

    python benchmarks/defaults.py                          # simulated tables
    python benchmarks/defaults.py --folder FOLDER          # and heloc, adult, bike.csv
    python benchmarks/defaults.py --tables S1 --seeds 1 --settings "scaling minmax"

Of each published table the training part of its first fold is used and nothing else: a
quarter of that is held out and judges, the rest is fitted. The scenarios S1 and S6 of
the study are drawn with seeds of their own, 2,000 rows to fit and 10,000 to judge.
Printed is how much larger the held-out loss (squared error or log-loss) is than with
the defaults, in per cent: the mean over seeds, which draw rows and starts.
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from tables import folds_of
from tables_data import PUBLISHED, SIMULATED, Table, load_table
from training import say, show

SCENARIOS = ("S1", "S6")
SCENARIO_SEED = 100  # the study's own begin at 0 and are fewer
DEFAULT = "defaults"
SEARCH = {"n_candidates": 8, "n_jobs": 1}
SETTINGS: dict[str, dict[str, Any]] = {
    DEFAULT: {},
    "scaling minmax": {"scaling": "minmax"},
    "scaling quantile": {"scaling": "quantile"},
    "step tau = 10, Adam 0.01": {"cayley_step": 10.0, "learning_rate": 0.01},
    "Adam 0.01": {"learning_rate": 0.01},
    "Adam 0.1": {"learning_rate": 0.1},
    "projections start at features": {"init": "features"},
    "10 subnetworks": {"n_subnetworks": 10},
    "flags not projected": {"project_flags": False},
    "no special values": {"special_values": None},
    "no relaxed part": {"relaxation": 0.0},
    "up to 5 pairs": {"max_pairs": 5},
}
SEARCHES: dict[str, dict[str, Any]] = {
    "8 candidates": SEARCH,
    "8 candidates, random starts": SEARCH | {"init": "random"},
    "8 candidates, no rows added": SEARCH | {"use_all_rows": False},
    "8 candidates, no pairs": SEARCH | {"max_pairs": 0},
    "8 candidates, no relaxed part": SEARCH | {"relaxation": 0.0},
}


def halves(name: str, folder: Path | None, seed: int) -> tuple[Table, Table]:
    """Rows to fit and rows to judge by; no row of a test fold is among them."""
    if name in SCENARIOS:
        rng = np.random.default_rng([SCENARIO_SEED, seed, SCENARIOS.index(name)])
        return _drawn(name, 2_000, rng), _drawn(name, 10_000, rng)
    table = load_table(name, folder)
    rows = np.random.default_rng(seed).permutation(folds_of(table)[0][0])
    cut = len(rows) // 4
    return table.take(rows[cut:]), table.take(rows[:cut])


def _drawn(name: str, rows: int, rng: np.random.Generator) -> Table:
    from ridgeline.simulation.scenarios import draw

    drawn = draw(name, rows, rng)
    return Table(
        pd.DataFrame(drawn.features).add_prefix("x"), drawn.response, [], False
    )


def held_out_loss(
    name: str, folder: Path | None, seed: int, settings: dict[str, Any]
) -> float:
    """Fit with the settings, and judge."""
    import ridgeline
    from ridgeline.xnn.tables import row_losses

    fitted, held = halves(name, folder, seed)
    kind = "XNNClassifier" if fitted.classify else "XNNRegressor"
    if "n_candidates" in settings:
        kind += "CV"
    given = {
        "categorical_features": fitted.categorical or None,
        "special_values": fitted.special_values,
        "unknown_category": "average",
        "unknown_missing": "average",
        "random_state": seed,
    }
    model = getattr(ridgeline, kind)(**given | _possible(settings, fitted))
    model.fit(fitted.X, fitted.y)
    return float(row_losses(model, held.X, held.y).mean)


def _possible(settings: dict[str, Any], table: Table) -> dict[str, Any]:
    """Subnetworks no more than numbers, to which W'W = I holds them."""
    most = table.X.shape[1] - len(table.categorical)
    count = settings.get("n_subnetworks")
    return settings | ({} if count is None else {"n_subnetworks": min(count, most)})


def main() -> None:
    """Fit everything and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--folder", type=Path, help="with heloc, adult and bike.csv")
    tables = [*PUBLISHED, *SIMULATED, *SCENARIOS]
    parser.add_argument("--tables", nargs="+", choices=tables)
    parser.add_argument("--seeds", type=int, default=2)
    every = SETTINGS | SEARCHES
    parser.add_argument("--settings", nargs="+", choices=every, default=[*every])
    arguments = parser.parse_args()
    folder = arguments.folder
    names = arguments.tables or [
        one for one in tables if folder or one not in PUBLISHED
    ]
    for name in (one for one in names if one in PUBLISHED):
        if folder is None:
            parser.error(f"{name} needs --folder, which has {name}.csv")
    settings = {DEFAULT: {}} | {name: every[name] for name in arguments.settings}
    calls = [
        (table, setting, seed)
        for table in names
        for seed in range(arguments.seeds)
        for setting in settings
    ]
    losses = Parallel(n_jobs=-1, verbose=5)(
        delayed(held_out_loss)(table, folder, seed, settings[setting])
        for table, setting, seed in calls
    )
    found = pd.DataFrame(calls, columns=["table", "setting", "seed"])
    found["loss"] = losses
    by_default = found[found["setting"] == DEFAULT]
    by_default = by_default.set_index(["table", "seed"])["loss"].rename("by default")
    compared = found.join(by_default, on=["table", "seed"])
    worse = 100 * (compared["loss"] / compared["by default"] - 1)
    means = compared.assign(worse=worse).pivot_table(
        "worse", index="setting", columns="table"
    )
    means = means.reindex(index=settings, columns=names)
    say(f"Held-out loss beside the defaults', in per cent; {arguments.seeds} seeds.")
    show(means.rename_axis(index="setting").reset_index(), {}, "+.1f")


if __name__ == "__main__":
    main()
