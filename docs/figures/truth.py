"""Draw the simulator's true log-odds beside counts of simulated rows.

python docs/figures/truth.py        # writes docs/figures/truth.png
"""

import tempfile
from pathlib import Path

import ibis
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from ridgeline.lendingclub.cleaning import CleaningRules, clean_applications
from ridgeline.lendingclub.parsing import parse_applications
from ridgeline.lendingclub.reading import find_files, read_published
from ridgeline.lendingclub.schema import PURPOSE_COLUMNS
from ridgeline.lendingclub.simulator import write_published
from ridgeline.lendingclub.simulator.truth import (
    COMPONENTS,
    component_curve,
    log_odds_components,
)

ROWS = {"accepted": 113_000, "rejected": 1_387_000}
LABELS = {
    "application_date": "application date",
    "amount": "amount requested ($)",
    "risk_score": "risk score (5-point band)",
    "dti": "debt-to-income ratio (%)",
    "employment_length": "employment length (11: more than ten years)",
    "purpose": "purpose",
}
BINS = {
    "amount": np.arange(0, 40_001, 2_000),
    "risk_score": np.arange(500, 851, 10),
    "dti": np.arange(0, 97, 4),
}


def simulate_clean() -> pd.DataFrame:
    """Simulate both files and take them through the cleaning."""
    connection = ibis.duckdb.connect()
    with tempfile.TemporaryDirectory() as folder:
        tables = []
        for kind, rows in ROWS.items():
            path = Path(folder) / f"{kind}.csv"
            write_published(kind, path, rows, seed=0)
            files = find_files(str(path), kind)
            tables.append(read_published(connection, files, kind).rows)
        typed = parse_applications(*tables)
        return clean_applications(typed, CleaningRules()).execute()


def counted(values: pd.Series, approved: pd.Series) -> pd.DataFrame:
    """Return the log-odds of approval by value, where there is enough to count."""
    counts = pd.crosstab(values, approved)
    counts = counts[counts.min(axis=1) >= 30]
    return np.log(counts[1] / counts[0])


def draw(axis: plt.Axes, name: str, clean: pd.DataFrame, truth: pd.Series) -> None:
    """Draw one component: the truth as a line, counts as points."""
    curve = component_curve(name, ROWS["accepted"], ROWS["rejected"])
    if name == "purpose":
        columns = list(PURPOSE_COLUMNS.values())
        values = clean[columns].to_numpy().argmax(axis=1)
        axis.bar(range(len(curve)), curve.log_odds, color="0.8", label="truth")
        names = [name.replace(" ", "\n") for name in curve.value]
        axis.set_xticks(range(len(curve)), names, fontsize=8)
    else:
        values = clean[name]
        if name in BINS:
            edges = BINS[name]
            width = edges[1] - edges[0]
            bins = np.digitize(values.clip(upper=edges[-1] - width / 2), edges) - 1
            values = edges[bins] + (0 if name == "risk_score" else width / 2)
            curve = curve[curve.value.between(edges[0], edges[-1])]
        style = {"drawstyle": "steps-mid"} if name == "employment_length" else {}
        width = {"amount": 0.3, "dti": 1.0}.get(name, 1.6)
        axis.plot(curve.value, curve.log_odds, color="0.6", lw=width, **style)
    values = pd.Series(values, index=clean.index)
    points = counted(values, clean.approved)
    # A count by one feature averages over the others: it has the component's shape
    # and another level.
    weights = values.value_counts().reindex(points.index)
    shift = truth[values.isin(points.index)].mean() - np.average(
        points, weights=weights
    )
    axis.plot(points.index, points + shift, "o", color="#b5402a", ms=3.5)
    axis.set_xlabel(LABELS[name])


def main() -> None:
    """Make the figure."""
    clean = simulate_clean()
    clean = clean[clean.dti < 100]  # 100 is a code, off the scale of the picture
    truth = log_odds_components(clean, ROWS["accepted"], ROWS["rejected"])
    figure, axes = plt.subplots(2, 3, figsize=(11, 6), layout="constrained")
    for axis, name in zip(axes.flat, COMPONENTS, strict=True):
        draw(axis, name, clean, truth[name])
        axis.spines[["top", "right"]].set_visible(False)
    figure.supylabel("log-odds of approval")
    figure.savefig(Path(__file__).with_suffix(".png"), dpi=110)


if __name__ == "__main__":
    main()
