"""Nodes of the explainable network; TensorFlow is imported when one trains."""

import logging
import time
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from ridgeline.baselines.sizes import explainable_network
from ridgeline.pipelines.xnn.settings import XnnSettings
from ridgeline.preparation.content import read_preparation
from ridgeline.tables.description import TableDescription
from ridgeline.tables.identity import IDENTITY, check_fitted_on, verified_split
from ridgeline.tables.sample import Sample, sample_of
from ridgeline.xnn.coherence import coherence
from ridgeline.xnn.estimator import BaseXNN, XNNClassifier, XNNRegressor
from ridgeline.xnn.scorer import Scorer
from ridgeline.xnn.search import penalty_search
from ridgeline.xnn.stages import prune, refine

__all__ = ["prune_network", "refine_network", "train_network", "tune_penalties"]

logger = logging.getLogger(__name__)

Report = dict[str, Any]
Table = dict[str, Any]  # what `TableDescription.of` takes


def tune_penalties(
    *,
    train: pd.DataFrame,
    validation: pd.DataFrame,
    table: Table,
    settings: XnnSettings,
    seed: int,
) -> tuple[dict[str, float], pd.DataFrame]:
    """Choose lambda3, then lambda1 and lambda2 on the grid, by validation rows."""
    tuning, known = settings.tuning, TableDescription.of(table)
    settings.check_columns(known)
    rows, held = (_some(each, tuning.rows, known) for each in (train, validation))
    parameters = settings.estimator_parameters({}, seed, known)
    # A point takes seconds: nothing to keep, and one start tells enough. Pairs join the
    # model that is chosen.
    parameters |= {"checkpoint": None, "n_starts": 1, "max_pairs": 0}
    if tuning.max_epochs:
        parameters["max_epochs"] = tuning.max_epochs
    grid = {name: getattr(tuning, name) for name in ("l1_projection", "l1_scales")}
    found = penalty_search(
        _kind(known)(**parameters),
        *rows,
        validation_data=held,
        roughness=tuning.roughness,
        grid=grid,
        standard_errors=tuning.standard_errors,
        n_jobs=tuning.n_jobs,
    )
    best = {name: float(getattr(found.model, name)) for name in ("roughness", *grid)}
    logger.info(
        "Penalties by %s validation rows, %d fits: %s",
        f"{len(held.target):,}",
        len(found.table),
        ", ".join(f"{name} {value:.2g}" for name, value in best.items()),
    )
    return best, found.table


def train_network(
    *,
    train: pd.DataFrame,
    validation: pd.DataFrame,
    table: Table,
    identity: dict[str, str],
    penalties: dict[str, float],
    tuning: pd.DataFrame,
    settings: XnnSettings,
    seed: int,
) -> tuple[Scorer, Report, pd.DataFrame]:
    """Train the network by SOS-BP: orthogonal projections, all components."""
    split = verified_split(identity, train=train, validation=validation)
    known = TableDescription.of(table)
    settings.check_columns(known)
    parameters = settings.estimator_parameters(penalties, seed, known)
    model = _kind(known)(**parameters | {"prune_share": None})
    rows, held = sample_of(train, known), sample_of(validation, known)
    began = time.perf_counter()
    model.fit(*rows, validation_data=held)
    report = _report(model, "training", time.perf_counter() - began)
    counts = {"train": len(rows.target), "validation": len(held.target)}
    # Every fit that the method got, those that only chose its penalties too.
    fits = len(tuning) + settings.training.n_starts
    report |= {"rows": counts, "parameters": penalties, "fits": fits, IDENTITY: split}
    return model.scorer_, report, _history(model)


def prune_network(
    *,
    trained: Scorer,
    validation: pd.DataFrame,
    table: Table,
    training: Report,
    settings: XnnSettings,
) -> tuple[Scorer, Report, pd.DataFrame]:
    """Keep the leading components, above a share of the cumulative importance ratio."""
    known = TableDescription.of(table)
    unseen = {"unknown_category": known.unseen, "unknown_missing": known.unseen}
    model = _kind(known).from_scorer(trained, **unseen)
    model = prune(model, settings.pruning.share, sample_of(validation, known))
    pruned = model.scorer_
    ratios = trained.importance_ratios
    order = np.argsort(-ratios, kind="stable")
    ranked = pd.DataFrame(
        {
            "component": np.array(trained.component_names)[order],
            "importance_ratio": ratios[order],
            "cumulative": ratios[order].cumsum(),
            "kept": pruned.all_scales[order] > 0,
        }
    )
    kept = ranked["kept"].sum()
    logger.info("Pruning keeps %d of %d components", kept, len(ranked))
    loss = {"validation_loss": model.validation_loss_}
    return pruned, training | loss | _components(pruned), ranked


def refine_network(
    *,
    pruned: Scorer,
    train: pd.DataFrame,
    validation: pd.DataFrame,
    table: Table,
    identity: dict[str, str],
    training: Report,
    settings: XnnSettings,
    seed: int,
) -> tuple[Scorer, Report, pd.DataFrame]:
    """Train the kept components once more: projections fixed, no sparsity penalties."""
    split = verified_split(identity, train=train, validation=validation)
    check_fitted_on(split, "xnn.pruned", training)
    known = TableDescription.of(table)
    parameters = settings.estimator_parameters(training["parameters"], seed, known)
    model = _kind(known).from_scorer(pruned, **parameters)
    rows, held = sample_of(train, known), sample_of(validation, known)
    began = time.perf_counter()
    refined = refine(model, *rows, validation_data=held)
    seconds = training["fit_seconds"] + time.perf_counter() - began
    report = _report(refined, "refinement", seconds)
    # Projections do not move any more: their error is that of the training.
    report["orthogonality_error"] = training["orthogonality_error"]
    report |= {name: training[name] for name in ("parameters", "fits")}
    report[IDENTITY] = split
    return _with_preparation(refined.scorer_, known), report, _history(refined)


def _with_preparation(scorer: Scorer, table: TableDescription) -> Scorer:
    """The network with what makes its columns of raw rows, where there are such."""
    recipes = {} if table.preparation is None else {"preparation": table.preparation}
    preparation = read_preparation(recipes, tuple(scorer.features.names))
    return replace(scorer, preparation=preparation)


def _kind(table: TableDescription) -> type[BaseXNN]:
    return XNNRegressor if table.is_regression else XNNClassifier


def _some(frame: pd.DataFrame, rows: int | None, table: TableDescription) -> Sample:
    sample = sample_of(frame, table)
    return sample if rows is None else sample.head(rows)


def _report(model: BaseXNN, stage: str, seconds: float) -> Report:
    """Numbers about a fit, flat for MLflow, and why it stopped."""
    reason = model.stop_reason_
    logger.info(
        "%s: %d epochs, %s; validation loss %.5f, %.1f s",
        stage.capitalize(),
        model.n_iter_,
        reason,
        model.validation_loss_,
        seconds,
    )
    return {
        "fit_seconds": seconds,
        "epochs": model.n_iter_,
        "stop_reason": reason,
        "validation_loss": model.validation_loss_,
        "orthogonality_error": model.orthogonality_error_,
    } | _components(model.scorer_)


def _components(scorer: Scorer) -> Report:
    names = (name.replace(" ", "_") for name in scorer.component_names)
    return {
        "n_parameters": explainable_network(scorer),
        "n_components": int(np.count_nonzero(scorer.all_scales)),
        **coherence(scorer)._asdict(),
        "importance_ratios": dict(
            zip(names, scorer.importance_ratios.tolist(), strict=True)
        ),
    }


def _history(model: BaseXNN) -> pd.DataFrame:
    return pd.DataFrame(model.history_)
