"""The paper's simulation study, from its tasks to the report."""

from ridgeline.pipelines.simulation.pipeline import create_pipeline

__all__ = ["create_pipeline"]
