"""The published files: one typed table, the paper's filters, and the split."""

from ridgeline.pipelines.data.pipeline import create_pipelines

__all__ = ["create_pipelines"]
