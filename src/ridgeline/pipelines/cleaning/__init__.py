"""The paper's filters, counted."""

from ridgeline.pipelines.cleaning.pipeline import create_pipeline

__all__ = ["create_pipeline"]
