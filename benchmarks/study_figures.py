"""Every figure of docs/study.md that is computed from the study's long table.

    python benchmarks/study_figures.py docs/study/tasks.csv

Reads the table and prints; nothing is fitted.
"""

import argparse
from pathlib import Path

import pandas as pd

from ridgeline.simulation.paper import NOT_COMPARABLE, PAPER_MSE
from ridgeline.simulation.report.findings import study_findings
from ridgeline.simulation.report.judgement import against_paper
from ridgeline.simulation.report.tables import recovery_table, summarise
from ridgeline.simulation.scenarios import TRUE_COMPONENTS

CELL = ["scenario", "n"]


def main() -> None:
    """Prints one block after the other, in the order of the page."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("tasks", type=Path)
    tasks = pd.read_csv(parser.parse_args().tasks)
    if "fits" not in tasks:  # a table from before fits were counted
        tasks["fits"] = float("nan")
    summary = summarise(tasks)
    for title, block in {
        "Tasks": _counts(tasks),
        "Processor seconds of a task": _seconds(tasks),
        "Mean excess error": _wide(summary, "excess_mean").round(4),
        "Against the paper": _against_paper(tasks, summary),
        "Paper's figure less ours without noise": _shifts(summary).round(3),
        "Mean cosine with the true projections": _wide(
            recovery_table(tasks), "cosine_mean"
        ).round(3),
        "Components found less those of the truth": _components(tasks),
        "Findings": "\n".join(study_findings(tasks)),
    }.items():
        print(f"{title}\n{block}\n")


def _counts(tasks: pd.DataFrame) -> str:
    timed = tasks["seconds"].notna().sum()
    counts = pd.crosstab([tasks["scenario"], tasks["model"]], tasks["n"])
    return (
        f"{len(tasks):,}, of which {timed:,} have their seconds and "
        f"{len(tasks) - timed:,} have none\n{counts}"
    )


def _seconds(tasks: pd.DataFrame) -> str:
    means = tasks.pivot_table(index="n", columns="model", values="seconds")
    return f"{means.round(1)}\nall sizes and models: {means.sum().sum():.0f}"


def _against_paper(tasks: pd.DataFrame, summary: pd.DataFrame) -> str:
    table = against_paper(summary).set_index(CELL)
    networks = tasks[tasks["model"] == "xnn"].groupby(CELL)
    table["without_noise"] = 1 + table["excess_mean"]
    table["on_all_rows"] = 1 + networks["excess_all_rows"].mean()
    columns = (
        "mse_mean standard_error paper meets_paper without_noise paper_shift "
        "gap_without_noise on_all_rows better"
    )
    return table[columns.split()].round(4).to_string()


def _shifts(summary: pd.DataFrame) -> pd.DataFrame:
    paper = PAPER_MSE[~PAPER_MSE["scenario"].isin(NOT_COMPARABLE)]
    both = paper.merge(summary, on=[*CELL, "model"])
    return _wide(both.assign(shift=both["mse"] - 1 - both["excess_mean"]), "shift")


def _components(tasks: pd.DataFrame) -> pd.DataFrame:
    truth = {name: len(parts) for name, parts in TRUE_COMPONENTS.items()}
    own = tasks[(tasks["model"] == "xnn") & tasks["scenario"].isin(list(truth))]
    more = (own["n_components"] - own["scenario"].map(truth)).rename("more")
    return pd.crosstab(own["n"], more, margins=True)


def _wide(table: pd.DataFrame, column: str) -> pd.DataFrame:
    return table.pivot_table(index=CELL, columns="model", values=column)


if __name__ == "__main__":
    main()
