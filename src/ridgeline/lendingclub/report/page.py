"""The report on LendingClub's applications: one HTML file."""

from typing import Any, Final

import pandas as pd

from ridgeline.lendingclub.report.labels import APPLICATION_LABELS
from ridgeline.lendingclub.report.truth import TruthComparison
from ridgeline.reporting.labels import component_title, label_of
from ridgeline.reporting.page import render_page
from ridgeline.reporting.words import number
from ridgeline.xnn.explanation import Explanation

__all__ = ["render_report"]

# What fits the page; the table of the run has accuracy and seconds to predict as well.
_COMPARED: Final = {
    "title": "Model",
    "auc": "AUC",
    "interval": "Interval",
    "ks": "KS",
    "log_loss": "Log-loss",
    "brier": "Brier",
    "calibration_error": "Calibration error",
    "fits": "Fits",
    "fit_seconds": "Fit (s)",
    "n_parameters": "Parameters",
    "n_components": "Components",
}
_DIGITS: Final = {"fits": 0, "fit_seconds": 1, "n_parameters": 0, "n_components": 0}


def render_report(
    *,
    audit: pd.DataFrame,
    comparison: pd.DataFrame,
    explanation: Explanation,
    truth: TruthComparison | None,
    **values: Any,
) -> str:
    """Renders the report as one HTML file, with figures and style inside.

    Args:
        audit: What cleaning removed, as `audit_cleaning` counts it.
        comparison: Models side by side, as `comparison_table` makes it.
        explanation: Of the refined network.
        truth: On simulated data, the model against the truth.
        **values: What is told as it is: `title`, `findings`, `rows` of each set by its
            name, `not_applicable` models with the reason, an `example` or None,
            `limits`, what helps to `reproduce` it, and `figures`: `roc`, `calibration`,
            `marginals`, `explanation`; one that is not given is left out.
    """
    return render_page(
        "ridgeline.lendingclub.report",
        "report.html",
        audit=_audit_rows(audit),
        unreadable=_unreadable_rows(audit),
        compared=_compared(comparison),
        importance=_importance_rows(explanation),
        coherence=explanation.coherence,
        truth=_truth_rows(truth),
        **values,
    )


def _audit_rows(audit: pd.DataFrame) -> list[dict[Any, Any]]:
    """The filters, a row for each, with the classes beside each other."""
    filters = audit[audit["section"] == "filter"]
    rows = []
    for step, group in filters.groupby("step", sort=False):
        by_class = group.set_index("class")
        row = {"step": str(step).replace("_", " "), "rule": group["rule"].iloc[0]}
        for name in ("accepted", "rejected"):
            found: Any = by_class.loc[name] if name in by_class.index else {}
            row |= {f"{name}_{what}": found.get(what) for what in ("removed", "kept")}
        rows.append(row)
    return rows


def _unreadable_rows(audit: pd.DataFrame) -> list[dict[Any, Any]]:
    """Cells and lines that could not be read, where there are any."""
    is_bad = audit["section"].isin(["malformed", "unparseable"])
    found = audit[is_bad & (audit["removed"] > 0)]
    return found.fillna("").to_dict("records")


def _compared(table: pd.DataFrame) -> dict[str, Any]:
    """Headings and cells of the comparison; a column without a number is left out."""
    frame = table.copy()
    frame["interval"] = [
        f"{number(row.auc_low)} to {number(row.auc_high)}" for row in frame.itertuples()
    ]
    shown = [name for name in _COMPARED if frame[name].notna().any()]
    rows = [
        [
            record[name]
            if name in ("title", "interval")
            else number(record[name], _DIGITS.get(name, 4))
            for name in shown
        ]
        for record in frame.to_dict("records")
    ]
    return {"headings": [_COMPARED[name] for name in shown], "rows": rows}


def _importance_rows(explanation: Explanation) -> list[dict[Any, Any]]:
    parts = explanation.components
    titles = [component_title(part, APPLICATION_LABELS) for part in parts]
    return explanation.importance.assign(title=titles).to_dict("records")


def _truth_rows(truth: TruthComparison | None) -> dict[str, Any] | None:
    if truth is None:
        return None
    return {
        "features": _titled(truth.features),
        "components": _titled(truth.components),
        "same_order": truth.same_order,
    }


def _titled(table: pd.DataFrame) -> list[dict[Any, Any]]:
    titles = [label_of(name, APPLICATION_LABELS).title for name in table["feature"]]
    return table.assign(title=titles).to_dict("records")
