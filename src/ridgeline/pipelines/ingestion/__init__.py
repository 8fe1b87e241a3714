"""Two published files to one typed table."""

from ridgeline.pipelines.ingestion.pipeline import create_pipeline

__all__ = ["create_pipeline"]
