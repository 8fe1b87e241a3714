"""The pipelines that `kedro run --pipeline` knows."""

from collections.abc import Iterable

from kedro.pipeline import Pipeline

from ridgeline.pipelines import baselines, data, evaluation, reporting, simulation, xnn

__all__ = ["register_pipelines"]


def register_pipelines() -> dict[str, Pipeline]:
    """Return every pipeline by name."""
    of_data = data.create_pipelines()
    parts = {
        **of_data,
        **xnn.create_pipelines(),
        "baselines": baselines.create_pipeline(),
        "evaluation": evaluation.create_pipeline(),
        "reporting": reporting.create_pipeline(),
    }
    lendingclub = _sum(parts.values())
    return {
        **parts,
        "data": _sum(of_data.values()),
        "lendingclub": lendingclub,
        "simulation": simulation.create_pipeline(),
        "__default__": lendingclub,
    }


def _sum(pipelines: Iterable[Pipeline]) -> Pipeline:
    return sum(pipelines, start=Pipeline([]))
