"""Wiring of the ingestion pipeline."""

from kedro.pipeline import Pipeline, pipeline

from ridgeline.pipelines.described import described_node
from ridgeline.pipelines.ingestion.nodes import type_applications

__all__ = ["create_pipeline"]


def create_pipeline() -> Pipeline:
    """Raw files -> one typed table."""
    return pipeline(
        [
            described_node(
                func=type_applications,
                inputs={"accepted": "accepted_raw", "rejected": "rejected_raw"},
                outputs=["applications_typed", "malformed_lines", "line_counts"],
            )
        ]
    )
