"""Nodes of the baselines: one function for all of them."""

from typing import Any

import pandas as pd

from ridgeline.baselines.fitting import NotApplicable, fit_baseline
from ridgeline.baselines.settings import BaselineSettings
from ridgeline.lendingclub.identity import IDENTITY, verified_split
from ridgeline.lendingclub.modelling import model_sample

__all__ = ["fit_method"]


def fit_method(
    name: str,
    *,
    train: pd.DataFrame,
    validation: pd.DataFrame,
    identity: dict[str, str],
    settings: BaselineSettings,
    seed: int,
) -> tuple[list[Any], dict[str, Any], pd.DataFrame]:
    """Tune a method on its grid by validation rows and fit it."""
    split = {IDENTITY: verified_split(identity, train=train, validation=validation)}
    sets = model_sample(train), model_sample(validation)
    try:
        fitted = fit_baseline(name, "classification", settings, *sets, seed, verbose=1)
    except NotApplicable as reason:
        return [], {"not_applicable": str(reason)} | split, pd.DataFrame({"point": []})
    report: dict[str, Any] = {
        "fit_seconds": fitted.fit_seconds,
        "tuning_seconds": fitted.tuning_seconds,
        "fits": fitted.n_fits,
        "n_parameters": fitted.n_parameters,
        "parameters": fitted.best,
    }
    if fitted.n_components is not None:
        report["n_components"] = fitted.n_components
    # A network is stored as its scorer, which has no TensorFlow and no scikit-learn.
    model = getattr(fitted.model, "scorer_", fitted.model)
    return [model], report | split, fitted.tuning_table
