"""Wiring of the cleaning pipeline."""

from kedro.pipeline import Pipeline, node, pipeline

from ridgeline.pipelines.cleaning.nodes import audit_cleaning, clean_applications

__all__ = ["create_pipeline"]


def create_pipeline() -> Pipeline:
    """Typed table -> audit, and the rows that pass the paper's filters."""
    return pipeline(
        [
            node(
                func=audit_cleaning,
                inputs={
                    "applications": "applications_typed",
                    "malformed": "malformed_lines",
                    "rules": "params:cleaning",
                },
                outputs=["cleaning_audit", "cleaning_metrics"],
                name="audit_cleaning",
            ),
            node(
                func=clean_applications,
                inputs={
                    "applications": "applications_typed",
                    "audit": "cleaning_audit",
                    "rules": "params:cleaning",
                },
                outputs="applications_clean",
                name="clean_applications",
            ),
        ]
    )
