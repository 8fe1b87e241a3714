"""The explanation, its figures, and the report."""

from ridgeline.pipelines.reporting.pipeline import create_pipeline

__all__ = ["create_pipeline"]
