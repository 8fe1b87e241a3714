"""Any table: read, understood, shown, and split."""

from ridgeline.pipelines.tabular.pipeline import create_pipeline

__all__ = ["create_pipeline"]
