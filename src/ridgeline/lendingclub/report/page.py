"""The report on LendingClub's applications: one HTML file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import pandas as pd

from ridgeline.lendingclub.report.labels import APPLICATION_LABELS
from ridgeline.lendingclub.report.truth import TruthComparison
from ridgeline.reporting.example import ExampleDecision
from ridgeline.reporting.labels import component_title, label_of
from ridgeline.reporting.page import render_page
from ridgeline.reporting.words import number
from ridgeline.xnn.explanation import Explanation

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["ReportContent", "render_report"]

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
_DIGITS: Final = {
    "fits": 0,
    "fit_seconds": 1,
    "n_parameters": 0,
    "n_components": 0,
}


@dataclass(frozen=True, eq=False)
class ReportContent:
    """What the report tells; it computes nothing itself.

    Args:
        title: Of the report.
        findings: Sentences, the most important first.
        audit: What cleaning removed: `section`, `step`, `rule`, `class`, `rows_in`,
            `removed`, `kept`, `examples`.
        rows: Rows of each set by its name, such as train, validation and test.
        comparison: Models side by side, as `comparison_table` makes it.
        not_applicable: Models without a row of their own, with the reason.
        figures: By name: `roc`, `calibration`, `marginals`, `explanation`, drawn or
            as PNG; one that is not given is left out.
        explanation: Of the refined network.
        example: One decision with its reasons.
        truth: On simulated data, the model against the truth.
        limits: Sentences about what the results do not say.
        reproduce: Command, seed, versions, commit, fingerprint of the data ...
    """

    title: str
    findings: Sequence[str]
    audit: pd.DataFrame
    comparison: pd.DataFrame
    figures: Mapping[str, "Figure | bytes"]
    explanation: Explanation
    limits: Sequence[str]
    reproduce: Mapping[str, str]
    rows: Mapping[str, int] = field(default_factory=dict)
    not_applicable: Mapping[str, str] = field(default_factory=dict)
    example: ExampleDecision | None = None
    truth: TruthComparison | None = None


def render_report(content: ReportContent) -> str:
    """Renders the report as one HTML file, with figures and style inside."""
    return render_page(
        "ridgeline.lendingclub.report",
        "report.html",
        title=content.title,
        figures=content.figures,
        reproduce=content.reproduce,
        content=content,
        audit=_audit_rows(content.audit),
        unreadable=_unreadable_rows(content.audit),
        compared=_compared(content.comparison),
        importance=_importance_rows(content.explanation),
        truth=_truth_rows(content.truth),
    )


def _audit_rows(audit: pd.DataFrame) -> list[dict[str, Any]]:
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


def _unreadable_rows(audit: pd.DataFrame) -> list[dict[str, Any]]:
    """Cells and lines that could not be read, where there are any."""
    is_bad = audit["section"].isin(["malformed", "unparseable"])
    found = audit[is_bad & (audit["removed"] > 0)]
    return _records(found.fillna(""))


def _records(table: pd.DataFrame) -> list[dict[str, Any]]:
    return [
        {str(name): value for name, value in record.items()}
        for record in table.to_dict("records")
    ]


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


def _importance_rows(explanation: Explanation) -> list[dict[str, Any]]:
    parts = explanation.components
    titles = [component_title(part, APPLICATION_LABELS) for part in parts]
    return _records(explanation.importance.assign(title=titles))


def _truth_rows(truth: TruthComparison | None) -> dict[str, list[dict[str, Any]]]:
    if truth is None:
        return {"features": [], "components": []}
    return {
        "features": _titled(truth.features),
        "components": _titled(truth.components),
    }


def _titled(table: pd.DataFrame) -> list[dict[str, Any]]:
    titles = [label_of(name, APPLICATION_LABELS).title for name in table["feature"]]
    return _records(table.assign(title=titles))
