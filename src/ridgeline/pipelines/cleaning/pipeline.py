"""Wiring of the cleaning pipeline."""

from kedro.pipeline import Pipeline, pipeline

from ridgeline.pipelines.cleaning.nodes import audit_cleaning, clean_applications
from ridgeline.pipelines.described import described_node

__all__ = ["create_pipeline"]


def create_pipeline() -> Pipeline:
    """Typed table -> audit, and the rows that pass the paper's filters."""
    return pipeline(
        [
            described_node(
                func=audit_cleaning,
                inputs={
                    "applications": "applications_typed",
                    "malformed": "malformed_lines",
                    "lines": "line_counts",
                    "rules": "params:cleaning",
                },
                outputs=["cleaning_audit", "cleaning_metrics"],
            ),
            described_node(
                func=clean_applications,
                inputs={
                    "applications": "applications_typed",
                    "audit": "cleaning_audit",  # the table was found valid
                    "rules": "params:cleaning",
                },
                outputs="applications_clean",
            ),
        ]
    )
