"""Wiring of the ingestion pipeline."""

from kedro.pipeline import Pipeline, node, pipeline

from ridgeline.pipelines.ingestion.nodes import type_applications

__all__ = ["create_pipeline"]


def create_pipeline() -> Pipeline:
    """Raw files -> one typed table."""
    return pipeline(
        [
            node(
                func=type_applications,
                inputs={"accepted": "accepted_raw", "rejected": "rejected_raw"},
                outputs=["applications_typed", "malformed_lines"],
                name="type_applications",
            )
        ]
    )
