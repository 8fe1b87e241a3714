"""Nodes of the scoring: the model's decisions about rows, and how far they moved."""

import logging
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from ridgeline.command.reading import read_chunks
from ridgeline.decisions.drift import DriftMeter
from ridgeline.decisions.scoring import Decider
from ridgeline.pipelines.scoring.settings import ScoringSettings
from ridgeline.tables.description import TableDescription
from ridgeline.xnn.scorer import Scorer

if TYPE_CHECKING:
    from matplotlib.figure import Figure
else:
    Figure = Any  # Kedro reads the annotations, and matplotlib takes its time

__all__ = ["score_rows"]

logger = logging.getLogger(__name__)


def score_rows(
    *,
    model: Scorer,
    test: pd.DataFrame,
    table: dict[str, Any],
    settings: ScoringSettings,
) -> tuple[pd.DataFrame, pd.DataFrame, dict[str, Any], pd.DataFrame, Figure, str]:
    """Decide about every row with reasons, set the others aside, and measure drift.

    Args:
        model: The refined network.
        test: Rows to show it on where no file is named.
        table: The description of the rows that the model was made of.
        settings: The file, and the policy.

    Returns:
        Scores, refused rows, metrics, and the drift as table, figure and page.
    """
    from ridgeline.decisions.drift_page import drift_page

    known = TableDescription.of(table)
    decider = Decider(model, settings.chosen_policy(known))
    meter, done = DriftMeter(model), 0
    scores, refused = [], []
    for chunk in _chunks(model, test[list(known.features)], settings):
        found = decider.score(chunk, first=done + 1)
        meter.count(chunk)
        scores.append(found.scores)
        refused.append(found.refused)
        done += len(chunk)
    drift = meter.result()
    scored = pd.concat(scores, ignore_index=True)
    aside = pd.concat(refused, ignore_index=True)
    metrics = _metrics(scored, aside, drift.table)
    _say(settings, metrics, known, drift.table)
    return scored, aside, metrics, drift.table, drift.plot(), drift_page(drift)


def _chunks(
    model: Scorer, test: pd.DataFrame, settings: ScoringSettings
) -> Iterator[pd.DataFrame]:
    if settings.applications is not None:
        yield from read_chunks(settings.applications, model, settings.chunk_rows)
        return
    for first in range(0, len(test), settings.chunk_rows):
        yield test.iloc[first : first + settings.chunk_rows]


def _metrics(
    scored: pd.DataFrame, aside: pd.DataFrame, moved: pd.DataFrame
) -> dict[str, Any]:
    counts: dict[str, Any] = {
        "rows": len(scored) + len(aside),
        "scored": len(scored),
        "refused": len(aside),
        "cells_beyond_range": int(scored["cells_beyond_range"].sum()),
    }
    if "decision" in scored:
        decided = scored["decision"].value_counts()
        counts |= {str(word): int(count) for word, count in decided.items()}
    psi = {
        f"{kind}_{name}".replace(" ", "_"): float(value)
        for kind, name, value in moved[["kind", "name", "psi"]].itertuples(index=False)
    }
    return counts | {"psi": psi}


def _say(
    settings: ScoringSettings,
    metrics: Mapping[str, Any],
    table: TableDescription,
    moved: pd.DataFrame,
) -> None:
    source = settings.applications or "the test rows (name yours: applications=PATH)"
    logger.info(
        "Scored %s of %s %s of %s; %s refused, with the reason in refused_rows",
        f"{metrics['scored']:,}",
        f"{metrics['rows']:,}",
        table.rows,
        source,
        f"{metrics['refused']:,}",
    )
    drifted = moved[moved["verdict"] != "stable"]
    logger.info(
        "Drift against the training rows: %s",
        ", ".join(
            f"{row.name_} {row.verdict} (PSI {row.psi:.2f})"
            for row in drifted.rename(columns={"name": "name_"}).itertuples()
        )
        or "none (every PSI below 0.10)",
    )
