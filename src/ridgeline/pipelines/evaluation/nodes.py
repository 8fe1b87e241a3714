"""Nodes of the evaluation: each model judged, and all of them compared."""

import logging
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from ridgeline.baselines.titles import TITLES
from ridgeline.errors import InputError
from ridgeline.evaluation.metrics import EvaluationSettings, evaluate
from ridgeline.evaluation.regression import evaluate_regression
from ridgeline.reporting.comparison import comparison_table, comparison_text
from ridgeline.tables.description import TableDescription
from ridgeline.tables.identity import IDENTITY, check_fitted_on, verified_split
from ridgeline.tables.sample import Sample, sample_of
from ridgeline.xnn.columns import Unseen
from ridgeline.xnn.scorer import Scorer, without_range_warnings

if TYPE_CHECKING:
    from matplotlib.figure import Figure
else:
    Figure = Any  # Kedro reads the annotations, and matplotlib takes its time

__all__ = ["compare_models", "evaluate_model", "plot_curves"]

logger = logging.getLogger(__name__)

Metrics = dict[str, Any]
Curves = dict[str, dict[Any, list[float]]]
_HIGHLIGHT = "xnn.refined"  # the model that the figures draw thick
# What evaluation takes over from the report of a fit.
_OF_THE_FIT = ("fits", "fit_seconds", "n_parameters", "n_components", "remark")


def evaluate_model(
    name: str,
    *,
    model: Any,
    report: Mapping[str, Any],
    test: pd.DataFrame,
    table: dict[str, Any],
    identity: dict[str, str],
    settings: EvaluationSettings,
    seed: int,
) -> tuple[Metrics, Curves]:
    """Judge a model on the test rows: ranking, calibration, size and time.

    Args:
        model: The model; of a method that may not apply, a list of no or one.
        report: How it was fitted, or why not.

    Raises:
        InputError: If model or rows are of another split, or the model's file is gone.
    """
    split = verified_split(identity, test=test)
    check_fitted_on(split, name, report)
    if "not_applicable" in report:
        return {"not_applicable": report["not_applicable"], IDENTITY: split}, {}
    models = model if isinstance(model, list) else [model]
    if not models:
        message = (
            f"{name} was fitted, but the file of its model is gone: run `kedro run "
            "--pipeline baselines` again, with your --env and --params."
        )
        raise InputError(message)
    known = TableDescription.of(table)
    sample = sample_of(test, known)
    began = time.perf_counter()
    with without_range_warnings():  # such cells are counted below
        predicted = _predict(models[0], sample, known)
    seconds = time.perf_counter() - began
    judge = evaluate_regression if known.is_regression else evaluate
    result = judge(sample.target, predicted, settings, seed, sample.weight)
    taken = {name: report[name] for name in _OF_THE_FIT if name in report}
    metrics: Metrics = {**result.metrics, **taken, "predict_seconds": seconds}
    scorer = getattr(models[0], "scorer_", models[0])
    if isinstance(scorer, Scorer):
        beyond = scorer.beyond_range(sample.features)
        metrics["cells_beyond_range"] = sum(beyond.values())
    drawn = ("observed" if known.is_regression else "roc", "calibration")
    curves = {kind: getattr(result, kind).to_dict("list") for kind in drawn}
    return metrics | {IDENTITY: split}, curves


def compare_models(
    table: dict[str, Any], identity: dict[str, str], **metrics: Metrics
) -> tuple[pd.DataFrame, dict[str, str]]:
    """Put all models side by side, the best first; say which are missing."""
    split = verified_split(identity)
    for name, values in metrics.items():
        check_fitted_on(split, name, values)
    missing = {
        name: str(values["not_applicable"])
        for name, values in metrics.items()
        if "not_applicable" in values
    } | _unpruned(metrics)
    judged = {name: values for name, values in metrics.items() if name not in missing}
    compared = comparison_table(judged, TITLES)
    reasons = {TITLES.get(name, name): text for name, text in missing.items()}
    logger.info(
        "Models on the test rows%s\n%s",
        " (simulated data)" if TableDescription.of(table).simulated else "",
        comparison_text(compared, reasons | _remarks(judged)),
    )
    return compared, reasons


def plot_curves(
    table: dict[str, Any], comparison: pd.DataFrame, **curves: Curves
) -> tuple[Figure, Figure]:
    """Draw the ROC curves, or observed values, of all models, and their calibration."""
    from ridgeline.reporting.figures import (
        plot_calibration,
        plot_observed,
        plot_residuals,
        plot_roc,
    )

    known = TableDescription.of(table)
    names = comparison["model"].tolist()
    drawn = {name: curves[name] for name in names}

    def numbers(metric: str) -> dict[str, float]:
        return dict(zip(names, comparison[metric], strict=True))

    gaps = _frames(drawn, "calibration"), numbers("calibration_error"), TITLES
    main = _HIGHLIGHT
    if known.is_regression:
        seen, of = (_frames(drawn, "observed"), numbers("rmse"), TITLES), known.target
        return (
            plot_observed(*seen, highlight=main, target=of),
            plot_residuals(*gaps, highlight=main, target=of),
        )
    return (
        plot_roc(_frames(drawn, "roc"), numbers("auc"), TITLES, highlight=main),
        plot_calibration(*gaps, highlight=main, event=known.event, rate=known.rate),
    )


def _predict(model: Any, sample: Sample, table: TableDescription) -> Any:
    """Probabilities of the positive class, or numbers."""
    unseen = (Unseen(table.unseen, table.unseen),) if isinstance(model, Scorer) else ()
    if table.is_regression:
        return model.predict(sample.features, *unseen)
    return model.predict_proba(sample.features, *unseen)[:, 1]


def _remarks(metrics: Mapping[str, Metrics]) -> dict[str, str]:
    """What is to know about single fits, such as weights that one could not take."""
    return {
        TITLES.get(name, name): str(values["remark"])
        for name, values in metrics.items()
        if "remark" in values
    }


def _unpruned(metrics: Mapping[str, Metrics]) -> dict[str, str]:
    """Says so where pruning kept every component, instead of a model shown twice."""
    trained, pruned = metrics.get("xnn.trained", {}), metrics.get("xnn.pruned", {})
    count = trained.get("n_components")
    if not count or count != pruned.get("n_components"):
        return {}
    title = TITLES["xnn.trained"]
    return {"xnn.pruned": f"is {title}, as pruning kept all {count} components."}


def _frames(curves: Mapping[str, Curves], kind: str) -> dict[str, pd.DataFrame]:
    return {name: pd.DataFrame(parts[kind]) for name, parts in curves.items()}
