"""Train, validation and test."""

from ridgeline.pipelines.splitting.pipeline import create_pipeline

__all__ = ["create_pipeline"]
