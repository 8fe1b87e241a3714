"""All models on the test rows, by the same code."""

from ridgeline.pipelines.evaluation.pipeline import create_pipeline

__all__ = ["create_pipeline"]
