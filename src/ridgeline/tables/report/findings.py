"""What a model of a table says, in sentences that are computed from it."""

from collections.abc import Iterable, Mapping
from typing import Final

import pandas as pd

from ridgeline.reporting.findings import component_findings, model_findings
from ridgeline.reporting.labels import Labels, label_of
from ridgeline.reporting.words import listed
from ridgeline.tables.description import TableDescription
from ridgeline.tables.report.labels import labels_of
from ridgeline.tables.report.truth import TruthComparison
from ridgeline.xnn.scorer import Scorer

__all__ = ["findings"]

_MODEL: Final = "xnn.refined"  # the network's name in the comparison
_STRONG: Final = 0.95  # correlation with the truth that deserves the word "follows"


def findings(
    scorer: Scorer,
    means: Mapping[str, float],
    comparison: pd.DataFrame,
    truth: TruthComparison | None,
    table: TableDescription,
) -> list[str]:
    """All findings, the most important first."""
    labels = labels_of(table)
    found = component_findings(scorer, means, labels, table.row, table.rows)
    found += model_findings(comparison, _MODEL)
    if truth is not None:
        found += _truth_findings(truth, labels)
    return found


def _truth_findings(truth: TruthComparison, labels: Labels) -> list[str]:
    """How much of the known truth the model has found."""
    table = truth.features
    order = _titles(table["feature"], labels)
    if truth.same_order:
        found = [f"The model ranks the features as the known truth does: {order}."]
    else:
        by_model = _titles(table.sort_values("model_rank")["feature"], labels)
        found = [
            f"The model ranks the features {by_model}; the known truth ranks them "
            f"{order}."
        ]
    is_close = table["correlation"] > _STRONG
    if is_close.any():
        found.append(
            f"The model's average effect follows the truth (correlation above "
            f"{_STRONG}) for {_titles(table[is_close]['feature'], labels)}."
        )
    far = table[~is_close]
    if len(far):
        names = listed(
            f"{_title(str(row.feature), labels)} ({row.correlation:.2f})"
            for row in far.itertuples()
        )
        found.append(f"It follows the truth less closely for {names}.")
    return found


def _titles(features: Iterable[str], labels: Labels) -> str:
    return listed(_title(feature, labels) for feature in features)


def _title(feature: str, labels: Labels) -> str:
    return label_of(feature, labels).title.lower()
