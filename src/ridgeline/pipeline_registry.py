"""The pipelines that `kedro run --pipeline` knows."""

from collections.abc import Iterable

from kedro.pipeline import Pipeline

from ridgeline.pipelines import (
    baselines,
    data,
    evaluation,
    reporting,
    scoring,
    simulation,
    tabular,
    xnn,
)

__all__ = ["register_pipelines"]


def register_pipelines() -> dict[str, Pipeline]:
    """Return every pipeline by name."""
    of_data = data.create_pipelines()
    of_any_table = {
        **xnn.create_pipelines(),
        "baselines": baselines.create_pipeline(),
        "evaluation": evaluation.create_pipeline(),
        "reporting": reporting.create_pipeline(),
    }
    models = _sum(of_any_table.values())
    lendingclub = _sum(of_data.values()) + models
    return {
        **of_data,
        **of_any_table,
        "data": _sum(of_data.values()),
        "lendingclub": lendingclub,
        "table": tabular.create_pipeline(),
        "tabular": tabular.create_pipeline() + models,
        "scoring": scoring.create_pipeline(),
        "simulation": simulation.create_pipeline(),
        "__default__": lendingclub,
    }


def _sum(pipelines: Iterable[Pipeline]) -> Pipeline:
    return sum(pipelines, start=Pipeline([]))
