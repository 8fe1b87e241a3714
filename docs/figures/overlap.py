"""Draws what overlap buys and costs in the study: `python docs/figures/overlap.py`."""

from pathlib import Path

import pandas as pd

from ridgeline.drawing import ROWS, TEXT, UP, clean, new_figure

TASKS = Path(__file__).parents[1] / "study" / "overlap" / "tasks.csv"
SIZES = {1000: "none", 2000: UP}  # what fills the points of each n


def main() -> None:
    """Draws a point for each repetition, a panel for each scenario."""
    tasks = pd.read_csv(TASKS)
    scenarios = sorted(tasks["scenario"].unique())
    figure = new_figure(7.2, 2.7)
    panels = figure.subplots(1, len(scenarios), sharex=True, squeeze=False)[0]
    for panel, scenario in zip(panels, scenarios, strict=True):
        own = tasks[tasks["scenario"] == scenario]
        for n, fill in SIZES.items():
            cell = own[own["n"] == n].set_index("model")
            strict = cell.loc["xnn", "excess"].mean()
            style = "-" if n == max(SIZES) else "--"
            panel.axhline(
                strict,
                color=ROWS,
                linestyle=style,
                label=f"orthogonal, mean, n = {n:,}",
            )
            near = cell.loc["near"]
            panel.scatter(
                near["overlap_max"].fillna(0),
                near["excess"],
                s=16,
                facecolors=fill,
                edgecolors=UP,
                linewidths=0.9,
                label=f"near, n = {n:,}",
            )
        panel.set_title(scenario, fontsize=TEXT)
        panel.set_ylim(0, 1.08 * own["excess"].max())
        panel.set_xlim(-0.03, 1.0)
        panel.set_xlabel("largest cosine of two projections", fontsize=TEXT)
        panel.tick_params(labelsize=TEXT)
        clean(panel)
    panels[0].set_ylabel("excess error", fontsize=TEXT)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(
        handles,
        labels,
        loc="outside lower center",
        ncols=len(labels),
        fontsize=TEXT,
        frameon=False,
    )
    figure.savefig(Path(__file__).with_suffix(".png"), dpi=130)


if __name__ == "__main__":
    main()
