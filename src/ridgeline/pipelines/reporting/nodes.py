"""Nodes of the reporting: what was found, and the page to hand on."""

import logging
from typing import TYPE_CHECKING, Any

import pandas as pd

from ridgeline.evaluation.metrics import EvaluationSettings, small_sample_warnings
from ridgeline.evaluation.regression import few_rows_warnings
from ridgeline.provenance import run_facts
from ridgeline.reporting.example import typical_decision
from ridgeline.tables.description import TableDescription
from ridgeline.tables.identity import check_fitted_on, verified_split
from ridgeline.tables.report.findings import findings
from ridgeline.tables.report.labels import labels_of
from ridgeline.tables.report.limits import limits
from ridgeline.tables.report.page import render_report
from ridgeline.tables.report.truth import TruthComparison, compare_with_truth
from ridgeline.tables.sample import Sample, sample_of
from ridgeline.xnn.explanation import explain
from ridgeline.xnn.scorer import Scorer, without_range_warnings

if TYPE_CHECKING:
    from matplotlib.figure import Figure
else:
    Figure = Any  # Kedro reads the annotations, and matplotlib takes its time

__all__ = ["explain_network", "list_limits", "write_report"]

logger = logging.getLogger(__name__)

Table = dict[str, Any]  # what `TableDescription.of` takes
# By column the `value` and `log_odds` of its true part; empty where it is not known.
Truth = dict[str, Any]
# Rows over which curves are compared with the truth: enough for three digits.
_TRUTH_ROWS = 100_000


def explain_network(
    *,
    model: Scorer,
    test: pd.DataFrame,
    table: Table,
    truth: Truth,
    identity: dict[str, str],
    refinement: dict[str, Any],
    metrics: dict[str, Any],
    comparison: pd.DataFrame,
) -> tuple[Figure, Figure, dict[str, Any], list[str]]:
    """Draw the network beside marginal rates and the truth; put findings in words."""
    from ridgeline.tables.report.figures import (
        plot_explanation_beside_marginals,
        plot_marginals,
    )
    from ridgeline.tables.report.marginals import marginal_rates, special_rates

    _check_data(identity, test, refinement, metrics)
    known = TableDescription.of(table)
    sample = sample_of(test, known)
    rows = sample.features, sample.target
    marginals = marginal_rates(*rows)
    special = special_rates(model.features, *rows, labels_of(known))
    compared = _against_truth(model, sample, truth)
    means = {name: _mean(sample.features[name]) for name in known.numeric}
    sentences = findings(model, means, comparison, compared, known)
    logger.info("Findings\n%s", "\n".join(f"- {sentence}" for sentence in sentences))
    return (
        plot_explanation_beside_marginals(model, marginals | special, compared, known),
        plot_marginals(marginals, known),
        _truth_metrics(compared),
        sentences,
    )


def list_limits(
    *,
    model: Scorer,
    test: pd.DataFrame,
    table: Table,
    evaluation: EvaluationSettings,
) -> list[str]:
    """Say what the results do not tell: small numbers, the table's own limits."""
    known = TableDescription.of(table)
    sample = sample_of(test, known)
    if known.is_regression:
        warnings = few_rows_warnings(sample.target)
    else:
        names = known.class_names or ("of class 0", "of class 1")
        warnings = small_sample_warnings(sample.target, evaluation, names)
    for sentence in warnings:
        logger.warning("%s", sentence)
    return limits(known, beyond=model.beyond_range(sample.features), warnings=warnings)


def write_report(
    *,
    model: Scorer,
    test: pd.DataFrame,
    table: Table,
    truth: Truth,
    identity: dict[str, str],
    refinement: dict[str, Any],
    metrics: dict[str, Any],
    found: list[str],
    bounds: list[str],
    audit: pd.DataFrame,
    comparison: pd.DataFrame,
    missing: dict[str, str],
    training: dict[str, Any],
    seed: int,
    roc: bytes,
    calibration: bytes,
    explanation: bytes,
    marginals: bytes,
) -> str:
    """Write the report: data, models, explanation, limits, how to reproduce it."""
    _check_data(identity, test, refinement, metrics)
    known = TableDescription.of(table)
    sample = sample_of(test, known)
    with without_range_warnings():
        example = typical_decision(model, sample.features, labels_of(known))
    return render_report(
        title=known.title,
        table=known,
        sensitive={name: int(test[name].nunique()) for name in known.sensitive},
        findings=found,
        audit=audit,
        rows=training["rows"] | {"test": len(test)},
        comparison=comparison,
        not_applicable=missing,
        figures={
            "roc": roc,
            "calibration": calibration,
            "explanation": explanation,
            "marginals": marginals,
        },
        explanation=explain(model),
        example=example,
        truth=_against_truth(model, sample, truth),
        limits=bounds,
        reproduce=run_facts() | {"Seed": str(seed), "Test rows": identity["test"]},
    )


def _check_data(
    identity: dict[str, str],
    test: pd.DataFrame,
    refinement: dict[str, Any],
    metrics: dict[str, Any],
) -> None:
    """Refuse a model or a comparison of other data than the test rows."""
    split = verified_split(identity, test=test)
    check_fitted_on(split, "xnn.refined", refinement)
    check_fitted_on(split, "xnn.refined", metrics)


def _against_truth(
    model: Scorer, sample: Sample, truth: Truth
) -> TruthComparison | None:
    if not truth:
        return None
    with without_range_warnings():  # the limits count such cells
        curves = {name: pd.DataFrame(curve) for name, curve in truth.items()}
        return compare_with_truth(model, sample.features.head(_TRUTH_ROWS), curves)


def _mean(column: "pd.Series[Any]") -> float:
    """The mean of what is there."""
    return 0.0 if column.isna().all() else float(column.mean())


def _truth_metrics(compared: TruthComparison | None) -> dict[str, Any]:
    """How far model and truth agree, as flat numbers."""
    if compared is None:
        return {}
    parts = compared.components.set_index("component")
    features = compared.features.set_index("feature")
    return {
        "same_order": int(compared.same_order),
        "correlation": parts["correlation"].dropna().to_dict(),
        "smooth_correlation": parts["smooth_correlation"].dropna().to_dict(),
        "true_importance": features["true_importance"].to_dict(),
        "model_importance": features["model_importance"].to_dict(),
    }
