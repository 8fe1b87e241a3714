"""The enhanced network's errors against the paper's figures and our other models.

A test MSE has the noise of its test rows in it, ours as well as the paper's. Ours is
known: the excess error is without it. The paper's is the same for all models of a cell,
so it shows in how far the paper's figures of the *other* models are from ours.
"""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import pandas as pd

from ridgeline.simulation.paper import NOT_COMPARABLE
from ridgeline.simulation.report.tables import ENHANCED, NOISE, with_paper

__all__ = ["against_paper"]

_JUDGED: Final = (
    "scenario n repetitions mse_mean standard_error paper paper_gap meets_paper "
    "excess_mean paper_shift gap_without_noise "
    "best_other other_mean other_gap meets_others better better_unlike_paper"
).split()


def against_paper(summary: pd.DataFrame) -> pd.DataFrame:
    """The enhanced network against the paper's figures for it, and our other models.

    All gaps are measured by the standard error of the network's mean over its own
    repetitions. Within one standard error counts as at or below; with one repetition
    there is no standard error, and only at or below itself counts.

    Returns:
        A row for each cell that compares and that both have: `mse_mean`,
        `standard_error`, `paper`, `paper_gap` (in standard errors), `meets_paper`;
        `excess_mean`, `paper_shift` (how far the paper's figures of the other models
        are above ours without noise, their median) and `gap_without_noise` (between
        our excess error and the paper's, less the shift);
        `best_other`, `other_mean`, `other_gap`, `meets_others`; `better`, the models
        that are better by more than one standard error, and `better_unlike_paper`,
        those among them that in the paper are not.
    """
    joined = with_paper(summary).dropna(subset="mse_mean")
    joined = joined[~joined["scenario"].isin(NOT_COMPARABLE)]
    rows = []
    for (scenario, n), cell in joined.groupby(["scenario", "n"]):
        own = cell[(cell["model"] == ENHANCED) & cell["paper"].notna()]
        if not own.empty:
            judged = _judged(own.iloc[0].to_dict(), cell[cell["model"] != ENHANCED])
            rows.append({"scenario": scenario, "n": n, **judged})
    return pd.DataFrame(rows, columns=_JUDGED)


def _judged(own: Mapping[Any, Any], others: pd.DataFrame) -> dict[str, Any]:
    """A model beside the paper's figure for it and beside the others of its cell."""
    mean, printed = own["mse_mean"], own["paper"]
    error = own["mse_sd"] / np.sqrt(own["repetitions"])
    reach = mean - (0.0 if pd.isna(error) else error)
    better = others[others["mse_mean"] < reach]
    unlike = better[~(better["paper"] < printed)]
    best = others.nsmallest(1, "mse_mean")[["model", "mse_mean"]].to_numpy().tolist()
    shift = (others["paper"] - NOISE - others["excess_mean"]).median()
    other, other_mean = best[0] if best else ("", np.nan)
    return {
        "repetitions": int(own["repetitions"]),
        "mse_mean": mean,
        "standard_error": error,
        "paper": printed,
        "paper_gap": _in_errors(mean - printed, error),
        "meets_paper": bool(reach <= printed),
        "excess_mean": own["excess_mean"],
        "paper_shift": shift,
        "gap_without_noise": NOISE + own["excess_mean"] - (printed - shift),
        "best_other": other,
        "other_mean": other_mean,
        "other_gap": _in_errors(mean - other_mean, error),
        "meets_others": better.empty,
        "better": ", ".join(better["model"]),
        "better_unlike_paper": ", ".join(unlike["model"]),
    }


def _in_errors(gap: float, error: float) -> float:
    """A gap in standard errors, if there is one to measure by."""
    return gap / error if error > 0 else np.nan
