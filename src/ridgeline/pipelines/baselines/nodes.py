"""Nodes of the baselines: one function for all of them."""

from typing import Any

import pandas as pd

from ridgeline.baselines.fitting import NotApplicable, fit_baseline
from ridgeline.baselines.registry import BASELINES
from ridgeline.baselines.settings import BaselineSettings
from ridgeline.baselines.targets import ScaledTarget
from ridgeline.pipelines.xnn.settings import with_columns
from ridgeline.tables.description import TableDescription
from ridgeline.tables.identity import IDENTITY, verified_split
from ridgeline.tables.sample import Sample, sample_of

__all__ = ["fit_method"]


def fit_method(
    name: str,
    *,
    train: pd.DataFrame,
    validation: pd.DataFrame,
    table: dict[str, Any],
    identity: dict[str, str],
    settings: BaselineSettings,
    seed: int,
) -> tuple[list[Any], dict[str, Any], pd.DataFrame]:
    """Tune a method on its grid by validation rows and fit it."""
    split = {IDENTITY: verified_split(identity, train=train, validation=validation)}
    known, method = TableDescription.of(table), BASELINES[name]
    if known.task not in method.tasks:
        can = " and ".join(method.tasks)
        reason = f"not applicable, because it does {can} alone."
        return [], {"not_applicable": reason} | split, pd.DataFrame({"point": []})
    rows, held = sample_of(train, known), sample_of(validation, known)
    if method.is_xnn:
        own = with_columns(settings.settings, known)
        settings = settings.model_copy(update={"settings": own})
    scaled = None
    if known.is_regression and not method.is_xnn:
        scaled = ScaledTarget.learn(rows.target)
        rows, held = _in_units(rows, scaled), _in_units(held, scaled)
    try:
        fitted = fit_baseline(
            name,
            known.task,
            settings,
            rows,
            held,
            seed,
            lenient=known.unseen == "average",
            verbose=1,
        )
    except NotApplicable as reason:
        return [], {"not_applicable": str(reason)} | split, pd.DataFrame({"point": []})
    report: dict[str, Any] = {
        "fit_seconds": fitted.fit_seconds,
        "tuning_seconds": fitted.tuning_seconds,
        "fits": fitted.n_fits,
        "n_parameters": fitted.n_parameters,
        "parameters": fitted.best,
    }
    if fitted.remark:
        report["remark"] = fitted.remark
    if fitted.n_components is not None:
        report["n_components"] = fitted.n_components
    # A network is stored as its scorer, which has no TensorFlow and no scikit-learn.
    model = getattr(fitted.model, "scorer_", fitted.model)
    if scaled is not None:
        model = scaled.around(model)
    return [model], report | split, fitted.tuning_table


def _in_units(rows: Sample, scaled: ScaledTarget) -> Sample:
    """Rows whose target has mean 0 and standard deviation 1 in training."""
    return rows._replace(target=scaled.scale(rows.target))
