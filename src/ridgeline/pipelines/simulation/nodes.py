"""Nodes of the simulation study; TensorFlow is imported where a task runs."""

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ridgeline.provenance import run_facts
from ridgeline.simulation.paper import SCENARIO_TITLES
from ridgeline.simulation.report.findings import study_findings
from ridgeline.simulation.report.judgement import against_paper
from ridgeline.simulation.report.page import render_study
from ridgeline.simulation.report.tables import (
    compared,
    markdown_table,
    overlap_table,
    recovery_table,
    study_text,
    summarise,
)
from ridgeline.simulation.scenarios import draw
from ridgeline.simulation.settings import StudySettings
from ridgeline.simulation.study import run_study
from ridgeline.simulation.tasks import RECORD_COLUMNS
from ridgeline.xnn.scorer import Scorer
from ridgeline.xnn.storage import read_document

if TYPE_CHECKING:
    from matplotlib.figure import Figure
else:
    Figure = Any  # Kedro reads the annotations, and matplotlib takes its time

__all__ = [
    "plot_study",
    "run_tasks",
    "tabulate_study",
    "write_study_report",
]

logger = logging.getLogger(__name__)

# Networks by scenario and model, as S1_xnn.
Networks = dict[str, Scorer]
# Rows that show where the true components lie.
_TRUTH_ROWS = 10_000


def run_tasks(settings: StudySettings, seed: int) -> tuple[pd.DataFrame, Networks]:
    """Run every task that is not stored yet: scenario, size, repetition and model."""
    study = run_study(settings, seed)
    results = pd.DataFrame(study.records, columns=RECORD_COLUMNS)
    logger.info(
        "Study: %s tasks, %s of them computed now", f"{len(results):,}", study.computed
    )
    networks = {
        f"{scenario}_{model}": read_document(document)
        for scenario, documents in study.networks.items()
        for model, document in documents.items()
    }
    return results, networks


def tabulate_study(
    results: pd.DataFrame,
) -> tuple[pd.DataFrame, pd.DataFrame, str, pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Sum the repetitions up, beside the paper's figures; recovery and overlap."""
    summary = summarise(results)
    logger.info("%s", study_text(summary))
    sentences = study_findings(results)
    logger.info("Findings\n%s", "\n".join(f"- {sentence}" for sentence in sentences))
    return (
        summary,
        compared(summary),
        markdown_table(summary),
        against_paper(summary),
        recovery_table(results),
        overlap_table(results),
    )


def plot_study(
    summary: pd.DataFrame, networks: dict[str, Callable[[], Scorer]], seed: int
) -> tuple[Figure, dict[str, Figure]]:
    """Draw errors against n, and for each scenario the networks beside the truth."""
    from ridgeline.simulation.report.figures import plot_errors, plot_networks
    from ridgeline.simulation.report.truth import true_components

    scorers = {name: load() for name, load in networks.items()}
    figures = {}
    for scenario in sorted({name.split("_")[0] for name in scorers}):
        rows = draw(scenario, _TRUTH_ROWS, np.random.default_rng(seed)).features
        figures[scenario] = plot_networks(
            true_components(scenario, rows),
            scorers.get(f"{scenario}_naive_xnn"),
            scorers.get(f"{scenario}_xnn"),
            f"{scenario}: {SCENARIO_TITLES[scenario]}, n = {summary['n'].max():,}",
        )
    return plot_errors(summary), figures


def write_study_report(
    results: pd.DataFrame,
    errors: bytes,
    networks: dict[str, Callable[[], bytes]],
    seed: int,
) -> str:
    """Write the report: the paper's table beside ours, figures, recovery, overlap."""
    figures = {name: load() for name, load in networks.items()}
    return render_study(
        results, {"errors": errors} | figures, run_facts() | {"Seed": str(seed)}
    )
