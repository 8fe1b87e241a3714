"""The pipelines that `kedro run --pipeline` knows."""

from kedro.pipeline import Pipeline

from ridgeline.pipelines import cleaning, ingestion, splitting

__all__ = ["register_pipelines"]


def register_pipelines() -> dict[str, Pipeline]:
    """Return every pipeline by name."""
    parts = {
        "ingestion": ingestion.create_pipeline(),
        "cleaning": cleaning.create_pipeline(),
        "splitting": splitting.create_pipeline(),
    }
    data = sum(parts.values(), start=Pipeline([]))
    return {**parts, "data": data, "lendingclub": data, "__default__": data}
