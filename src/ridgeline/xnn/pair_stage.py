"""Pairs of columns as a stage of a fit: found, joined, and adjusted with the network.

The network comes first. Pairs are found on what it leaves, then it is refined with
their part of the decision given, and at last their surfaces are fitted again: each has
settled beside the other.
"""

from dataclasses import replace
from typing import Final

import numpy as np

from ridgeline.xnn import fitting
from ridgeline.xnn.architecture import Rows
from ridgeline.xnn.assembly import decisions
from ridgeline.xnn.contribution_frames import feature_shares
from ridgeline.xnn.fitting import FitResult
from ridgeline.xnn.pair_fitting import (
    Left,
    PairDesign,
    Penalty,
    fit_surfaces,
    pair_design,
    unit_surface,
)
from ridgeline.xnn.pair_search import Side, search_pairs
from ridgeline.xnn.response import Response
from ridgeline.xnn.scorer import Scorer
from ridgeline.xnn.settings import Settings
from ridgeline.xnn.surfaces import encoded_rows
from ridgeline.xnn.tables import Prepared

__all__ = ["adjust", "fit", "join_pairs"]

# Network and surfaces are fitted in turn, at most so often, and as long as the
# validation loss falls by this share. A turn takes a fifth of a training.
_MOST_TURNS: Final = 5
_WORTH_A_TURN: Final = 0.003


def fit(settings: Settings, data: Prepared, seed: int) -> FitResult:
    """A whole fit: the network, and pairs where they are asked for."""
    return join_pairs(settings, data, fitting.fit(settings, data, seed), seed)


def join_pairs(
    settings: Settings,
    data: Prepared,
    result: FitResult,
    seed: int,
    standard_errors: float = 1.0,
) -> FitResult:
    """A fitted network with the pairs that validation gains by.

    Args:
        settings: The estimator's parameters.
        data: The rows of the fit.
        result: The network.
        seed: That of its fit.
        standard_errors: By how many a model of fewer pairs may be worse.
    """
    if not settings.max_pairs:
        return result
    scorer = result.scorer
    found = search_pairs(
        scorer.features,
        _side(scorer, data.training, data.response),
        _side(scorer, data.validation, data.response),
        _columns(scorer),
        most=settings.max_pairs,
        standard_errors=standard_errors,
    )
    if not found.designs:
        return result
    joined = _with_surfaces(scorer, data, found.designs, found.penalty)
    with_pairs = result._replace(scorer=joined, pair_penalty=found.penalty)
    best = _judged(with_pairs, data)
    for _ in range(_MOST_TURNS):
        network = fitting.adjust(settings, data, best, seed)
        settled = _with_surfaces(network.scorer, data, found.designs, found.penalty)
        now = _judged(best._replace(scorer=settled), data)
        if now.validation_loss > (1 - _WORTH_A_TURN) * best.validation_loss:
            break
        best = now
    return min(best, now, key=lambda each: each.validation_loss)


def _judged(result: FitResult, data: Prepared) -> FitResult:
    """The result with the validation loss that its model has."""
    loss = _side(result.scorer, data.validation, data.response).mean_loss
    return result._replace(validation_loss=loss)


def adjust(
    settings: Settings, data: Prepared, result: FitResult, seed: int
) -> FitResult:
    """A model adjusted to more rows: the network, then its pairs."""
    whole = fitting.adjust(settings, data, result, seed)
    scorer, penalty = whole.scorer, whole.pair_penalty
    if penalty is None:
        return whole
    rows = encoded_rows(scorer.features, data.training)
    weight = data.training.weight.astype(np.float64)
    designs = [
        pair_design(scorer.features, pair.axes, rows, weight) for pair in scorer.pairs
    ]
    return whole._replace(scorer=_with_surfaces(scorer, data, designs, penalty))


def _columns(scorer: Scorer) -> dict[str, bool]:
    """Columns that may be in pairs, and which take part; monotone ones do so alone."""
    shares = feature_shares(scorer)
    return {
        name: shares.get(name, 0.0) > 0
        for name in scorer.features.names
        if name not in scorer.features.monotone
    }


def _side(scorer: Scorer, rows: Rows, response: Response) -> Side:
    target = rows.target.astype(np.float64)
    if response.classes is None:
        target = response.centre + response.half * target
    left = Left(
        target,
        decisions(scorer, rows),
        rows.weight.astype(np.float64),
        classify=response.classes is not None,
    )
    return Side(encoded_rows(scorer.features, rows), left)


def _with_surfaces(
    scorer: Scorer, data: Prepared, designs: list[PairDesign], penalty: Penalty
) -> Scorer:
    """The network with surfaces that are fitted to what it leaves."""
    alone = replace(scorer, pairs=(), pair_scales=np.zeros(0))
    left = _side(alone, data.training, data.response).left
    tables = fit_surfaces(designs, left, penalty)
    units = [
        unit_surface(design, table, left.weight)
        for design, table in zip(designs, tables, strict=True)
    ]
    units.sort(key=lambda unit: -unit[1])
    return replace(
        scorer,
        pairs=tuple(surface for surface, _ in units),
        pair_scales=np.array([scale for _, scale in units]),
    )
