"""Nodes of the baselines: one function for all of them."""

from collections.abc import Callable
from typing import Any

import pandas as pd

from ridgeline.baselines.fitting import FittedBaseline, NotApplicable, fit_baseline
from ridgeline.baselines.settings import BaselineSettings
from ridgeline.lendingclub.identity import IDENTITY, verified_split
from ridgeline.lendingclub.modelling import model_sample

__all__ = ["fitting_node"]


def fitting_node(name: str) -> Callable[..., tuple[Any, dict[str, Any], pd.DataFrame]]:
    """Return the node's function for a method of the registry."""

    def fit_method(
        train: pd.DataFrame,
        validation: pd.DataFrame,
        identity: dict[str, str],
        settings: BaselineSettings,
        seed: int,
    ) -> tuple[Any, dict[str, Any], pd.DataFrame]:
        """Tune a method on its grid by validation rows and fit it."""
        split = verified_split(identity, train=train, validation=validation)
        sets = model_sample(train), model_sample(validation)
        model, report, table = _results(
            fit_baseline(name, "classification", settings, *sets, seed, verbose=1)
        )
        return model, report | {IDENTITY: split}, table

    return fit_method


def _results(
    fitted: FittedBaseline | NotApplicable,
) -> tuple[Any, dict[str, Any], pd.DataFrame]:
    if isinstance(fitted, NotApplicable):
        return fitted, {"not_applicable": fitted.reason}, pd.DataFrame({"point": []})
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
    return getattr(fitted.model, "scorer_", fitted.model), report, fitted.tuning_table
