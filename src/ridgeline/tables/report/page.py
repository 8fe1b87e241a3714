"""The report on a table: one HTML file."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

import pandas as pd

from ridgeline.reporting.comparison import figure_text, main_metric
from ridgeline.reporting.labels import Labels, component_title, label_of
from ridgeline.reporting.page import render_page
from ridgeline.reporting.words import number
from ridgeline.tables.description import TableDescription
from ridgeline.tables.report.labels import labels_of
from ridgeline.tables.report.truth import TruthComparison
from ridgeline.xnn.explanation import Explanation

__all__ = ["render_report"]

# What fits the page; the table of the run has accuracy and seconds to predict as well.
_COMPARED: Final = {
    "title": "Model",
    "auc": "AUC",
    "rmse": "RMSE",
    "interval": "Interval",
    "mae": "MAE",
    "r2": "R2",
    "ks": "KS",
    "log_loss": "Log-loss",
    "brier": "Brier",
    "calibration_error": "Calibration error",
    "fits": "Fits",
    "fit_seconds": "Fit (s)",
    "n_parameters": "Parameters",
    "n_components": "Components",
}
# Errors in the unit of the target: large ones need no decimals.
_IN_UNITS: Final = ("rmse", "mae", "calibration_error")
_DIGITS: Final = {"fits": 0, "fit_seconds": 1, "n_parameters": 0, "n_components": 0}


def render_report(
    *,
    table: TableDescription,
    audit: pd.DataFrame,
    comparison: pd.DataFrame,
    explanation: Explanation,
    truth: TruthComparison | None,
    sensitive: Mapping[str, int] = MappingProxyType({}),
    **values: Any,
) -> str:
    """Renders the report as one HTML file, with figures and style inside.

    Args:
        table: Whose columns and words the report uses.
        audit: What was removed before the split, a row for each step and class.
        comparison: Models side by side, as `comparison_table` makes it.
        explanation: Of the refined network.
        truth: On simulated data, the model against the truth.
        sensitive: Columns that nothing is trained on, with their numbers of values.
        **values: What is told as it is: `title`, `findings`, `rows` of each set by its
            name, `not_applicable` models with the reason, an `example` or None,
            `limits`, what helps to `reproduce` it, and `figures`: `roc`, `calibration`,
            `marginals`, `explanation`; one that is not given is left out.
    """
    labels = labels_of(table)
    return render_page(
        "ridgeline.tables.report",
        "report.html",
        table=table,
        metric=main_metric(comparison),
        audit=_audit_rows(audit),
        audit_classes=_audit_classes(audit),
        unreadable=_unreadable_rows(audit),
        compared=_compared(comparison),
        importance=_importance_rows(explanation, labels),
        coherence=explanation.coherence,
        truth=_truth_rows(truth, labels),
        sensitive=sensitive,
        **values,
    )


def _audit_classes(audit: pd.DataFrame) -> list[str]:
    """The kinds of rows that the audit counts apart, as it names them."""
    filters = audit[audit["section"] == "filter"]
    return [str(name) for name in filters["class"].unique()]


def _audit_rows(audit: pd.DataFrame) -> list[dict[Any, Any]]:
    """The filters, a row for each, with the classes beside each other."""
    filters = audit[audit["section"] == "filter"]
    rows = []
    for step, group in filters.groupby("step", sort=False):
        by_class = group.set_index("class")
        counts: list[Any] = []
        for name in _audit_classes(audit):
            found: Any = by_class.loc[name] if name in by_class.index else {}
            counts += [found.get(what) for what in ("removed", "kept")]
        text = str(step).replace("_", " ")
        rows.append({"step": text, "rule": group["rule"].iloc[0], "counts": counts})
    return rows


def _unreadable_rows(audit: pd.DataFrame) -> list[dict[Any, Any]]:
    """Cells and lines that could not be read, where there are any."""
    is_bad = audit["section"].isin(["malformed", "unparseable"])
    found = audit[is_bad & (audit["removed"] > 0)]
    return found.fillna("").to_dict("records")


def _compared(table: pd.DataFrame) -> dict[str, Any]:
    """Headings and cells of the comparison; a column without a number is left out."""
    frame = table.copy()
    main = main_metric(table).name
    units = _IN_UNITS if main == "rmse" else ()
    ends = zip(frame[f"{main}_low"], frame[f"{main}_high"], strict=True)
    frame["interval"] = [
        f"{_figure(low, main, units)} to {_figure(high, main, units)}"
        for low, high in ends
    ]
    shown = [name for name in _COMPARED if name in frame and frame[name].notna().any()]
    rows = [
        [
            record[name]
            if name in ("title", "interval")
            else _figure(record[name], str(name), units)
            for name in shown
        ]
        for record in frame.to_dict("records")
    ]
    return {"headings": [_COMPARED[name] for name in shown], "rows": rows}


def _figure(value: Any, name: str, units: tuple[str, ...]) -> str:
    if name in units and not pd.isna(value):
        return figure_text(float(value)).replace("-", "\N{MINUS SIGN}")
    return number(value, _DIGITS.get(name, 4))


def _importance_rows(explanation: Explanation, labels: Labels) -> list[dict[Any, Any]]:
    parts = explanation.components
    titles = [component_title(part, labels) for part in parts]
    return explanation.importance.assign(title=titles).to_dict("records")


def _truth_rows(truth: TruthComparison | None, labels: Labels) -> dict[str, Any] | None:
    if truth is None:
        return None
    return {
        "features": _titled(truth.features, labels),
        "components": _titled(truth.components, labels),
        "same_order": truth.same_order,
    }


def _titled(table: pd.DataFrame, labels: Labels) -> list[dict[Any, Any]]:
    titles = [label_of(name, labels).title for name in table["feature"]]
    return table.assign(title=titles).to_dict("records")
