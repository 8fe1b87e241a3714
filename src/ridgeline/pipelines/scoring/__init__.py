"""Decisions about new rows: scores, reasons, what was refused, and drift."""

from ridgeline.pipelines.scoring.pipeline import create_pipeline

__all__ = ["create_pipeline"]
