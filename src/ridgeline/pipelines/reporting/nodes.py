"""Nodes of the reporting: what was found, and the page to hand on."""

import logging
from typing import TYPE_CHECKING, Any

import pandas as pd

from ridgeline.evaluation.metrics import EvaluationSettings, small_sample_warnings
from ridgeline.lendingclub.cleaning import CleaningRules
from ridgeline.lendingclub.identity import check_fitted_on, verified_split
from ridgeline.lendingclub.modelling import NUMERIC, Sample, model_sample
from ridgeline.lendingclub.report.findings import findings
from ridgeline.lendingclub.report.labels import APPLICATION_LABELS
from ridgeline.lendingclub.report.limits import limits
from ridgeline.lendingclub.report.page import render_report
from ridgeline.lendingclub.report.truth import TruthComparison, compare_with_truth
from ridgeline.provenance import run_facts
from ridgeline.reporting.example import typical_decision
from ridgeline.xnn.explanation import explain
from ridgeline.xnn.scorer import Scorer, without_range_warnings

if TYPE_CHECKING:
    from matplotlib.figure import Figure
else:
    Figure = Any  # Kedro reads the annotations, and matplotlib takes its time

__all__ = ["explain_network", "list_limits", "write_report"]

logger = logging.getLogger(__name__)

Truth = dict[str, pd.DataFrame]
# Rows over which curves are compared with the truth: enough for three digits.
_TRUTH_ROWS = 100_000
_TITLE = "Ridgeline: who is approved, and why"


def explain_network(
    *,
    model: Scorer,
    test: pd.DataFrame,
    truth: Truth,
    identity: dict[str, str],
    refinement: dict[str, Any],
    metrics: dict[str, Any],
    comparison: pd.DataFrame,
) -> tuple[Figure, Figure, dict[str, Any], list[str]]:
    """Draw the network beside marginal rates and the truth; put findings in words."""
    from ridgeline.lendingclub.report.figures import (
        plot_explanation_beside_marginals,
        plot_marginals,
    )
    from ridgeline.lendingclub.report.marginals import marginal_rates, special_rates

    _check_data(identity, test, refinement, metrics)
    sample = model_sample(test)
    marginals = marginal_rates(*sample)
    compared = _against_truth(model, sample, truth)
    means = {name: float(sample.features[name].mean()) for name in NUMERIC}
    sentences = findings(model, means, comparison, compared)
    logger.info("Findings\n%s", "\n".join(f"- {sentence}" for sentence in sentences))
    return (
        plot_explanation_beside_marginals(
            model, marginals | special_rates(model.features, *sample), compared
        ),
        plot_marginals(marginals),
        _truth_metrics(compared),
        sentences,
    )


def list_limits(
    *,
    audit: pd.DataFrame,
    model: Scorer,
    test: pd.DataFrame,
    truth: Truth,
    rules: CleaningRules,
    evaluation: EvaluationSettings,
) -> list[str]:
    """Say what the results do not tell: leak, selection, small numbers."""
    warnings = small_sample_warnings(test["approved"], evaluation)
    for sentence in warnings:
        logger.warning("%s", sentence)
    return limits(
        audit,
        one_grid=rules.one_grid,
        simulated=bool(truth),
        beyond=model.beyond_range(model_sample(test).features),
        warnings=warnings,
    )


def write_report(
    *,
    model: Scorer,
    test: pd.DataFrame,
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
    sample = model_sample(test)
    with without_range_warnings():
        example = typical_decision(model, sample.features, APPLICATION_LABELS)
    return render_report(
        title=_TITLE,
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
        return compare_with_truth(model, sample.features.head(_TRUTH_ROWS), truth)


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
