"""The pipelines that `kedro run --pipeline` knows."""

from collections.abc import Iterable

from kedro.pipeline import Pipeline

from ridgeline.pipelines import (
    baselines,
    cleaning,
    evaluation,
    ingestion,
    reporting,
    simulation,
    splitting,
    xnn,
)

__all__ = ["register_pipelines"]

_DATA = ("ingestion", "cleaning", "splitting")


def register_pipelines() -> dict[str, Pipeline]:
    """Return every pipeline by name."""
    parts = {
        "ingestion": ingestion.create_pipeline(),
        "cleaning": cleaning.create_pipeline(),
        "splitting": splitting.create_pipeline(),
        **xnn.create_pipelines(),
        "baselines": baselines.create_pipeline(),
        "evaluation": evaluation.create_pipeline(),
        "reporting": reporting.create_pipeline(),
    }
    lendingclub = _sum(parts.values())
    return {
        **parts,
        "data": _sum(parts[name] for name in _DATA),
        "lendingclub": lendingclub,
        "simulation": simulation.create_pipeline(),
        "__default__": lendingclub,
    }


def _sum(pipelines: Iterable[Pipeline]) -> Pipeline:
    return sum(pipelines, start=Pipeline([]))
