"""What the study found about the enhanced network, in computed sentences."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from ridgeline.baselines.titles import short_title
from ridgeline.reporting.words import listed
from ridgeline.simulation.report.judgement import against_paper
from ridgeline.simulation.report.tables import (
    ENHANCED,
    NAIVE,
    recovery_table,
    summarise,
)

__all__ = ["study_findings"]


def study_findings(results: pd.DataFrame) -> list[str]:
    """What the study found about the enhanced network, in computed sentences."""
    summary = summarise(results)
    judged = against_paper(summary)
    return [
        *_paper_findings(judged),
        *_other_findings(judged),
        *_excess_findings(summary),
        *_overlap_findings(results),
        *_recovery_findings(results),
    ]


def _paper_findings(judged: pd.DataFrame) -> list[str]:
    if judged.empty:
        return ["No cell of this study is in the paper's table."]
    found = [
        f"The enhanced network's mean test MSE is at or below the paper's, within one "
        f"standard error of our mean, in {judged['meets_paper'].sum()} of the "
        f"{len(judged)} cells that compare ({listed(judged['scenario'])})."
    ]
    missed = [
        f"{_cell(row)} ({row['mse_mean']:.3f} against {row['paper']:.3f}{_gap(row)})"
        for row in judged[~judged["meets_paper"]].to_dict("records")
    ]
    if missed:
        found.append(f"It is above in {listed(missed)}.")
    known = judged[~judged["meets_paper"] & judged["gap_without_noise"].notna()]
    gaps = [
        f"{row['gap_without_noise']:+z.3f} in {_cell(row)}"
        for row in known.to_dict("records")
    ]
    if gaps:
        found.append(
            "Without our own test noise, and without what the paper's figures of the "
            f"other models show of its own, the gap is {listed(gaps)}."
        )
    return found


def _other_findings(judged: pd.DataFrame) -> list[str]:
    if judged.empty or not (judged["best_other"] != "").any():
        return []
    found = [
        f"No other model's mean test MSE is smaller by more than that standard error "
        f"in {judged['meets_others'].sum()} of these {len(judged)} cells."
    ]
    as_there: list[str] = []
    unlike: list[str] = []
    for row in judged[~judged["meets_others"]].to_dict("records"):
        better = str(row["better"]).split(", ")
        apart = [
            name for name in better if name in row["better_unlike_paper"].split(", ")
        ]
        alike = [name for name in better if name not in apart]
        for names, cells in ((alike, as_there), (apart, unlike)):
            if names:
                who = ", ".join(map(short_title, names))
                cells.append(f"{_cell(row)} ({who})")
    if as_there:
        found.append(f"Another is better, as in the paper, in {listed(as_there)}.")
    if unlike:
        found.append(f"Another is better, but not in the paper, in {listed(unlike)}.")
    return found


def _excess_findings(summary: pd.DataFrame) -> list[str]:
    best = summary.loc[summary.groupby(["scenario", "n"])["excess_mean"].idxmin()]
    count = (best["model"] == ENHANCED).sum()
    return [
        f"Its mean excess error, which has no test noise in it, is the smallest of all "
        f"models in {count} of all {len(best)} cells."
    ]


def _overlap_findings(results: pd.DataFrame) -> list[str]:
    if "overlap_max" not in results:
        return []
    known = results[results["overlap_max"].notna()]
    naive, enhanced = (
        known[known["model"] == model].nlargest(1, "overlap_max").to_dict("records")
        for model in (NAIVE, ENHANCED)
    )
    if not naive or not enhanced:
        return []
    mean = known.loc[known["model"] == NAIVE, "overlap_mean"].mean()
    largest = naive[0]["overlap_max"]
    return [
        f"Two projections of a naive network overlap by up to {largest:.2f} "
        f"({_cell(naive[0])}) and by {mean:.2f} on average; of an enhanced one by at "
        f"most {enhanced[0]['overlap_max']:.0e}. Overlap is the absolute cosine "
        "between two projections."
    ]


def _recovery_findings(results: pd.DataFrame) -> list[str]:
    """How much of the truth was found at the largest n of each scenario."""
    table = recovery_table(results)
    found = []
    for scenario, rows in table.groupby("scenario"):
        n = rows["n"].max()
        own = rows[rows["n"] == n].set_index("model")["cosine_mean"].to_dict()
        if ENHANCED in own:
            beside = f" (naive: {own[NAIVE]:.3f})" if NAIVE in own else ""
            found.append(
                f"In {scenario} at n = {n:,}, the enhanced network's projections have "
                f"a mean cosine of {own[ENHANCED]:.3f} with the true ones{beside}."
            )
    return found


def _cell(row: Mapping[Any, Any]) -> str:
    return f"{row['scenario']} at n = {row['n']:,}"


def _gap(row: Mapping[Any, Any]) -> str:
    gap = row["paper_gap"]
    return "" if pd.isna(gap) else f", {gap:.1f} standard errors"
