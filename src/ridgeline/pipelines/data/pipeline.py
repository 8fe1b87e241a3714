"""Wiring of the data: three pipelines, from the raw files to the split."""

from kedro.pipeline import Pipeline, pipeline

from ridgeline.pipelines.data.nodes import (
    audit_cleaning,
    clean_applications,
    describe_applications,
    identify_data,
    split_applications,
    type_applications,
)
from ridgeline.pipelines.described import described_node

__all__ = ["create_pipelines"]

_SETS = ("train", "validation", "test")
_TYPED = {"applications": "applications_typed"}
_RULES = {"rules": "params:cleaning"}


def create_pipelines() -> dict[str, Pipeline]:
    """Return ingestion, cleaning and splitting by name."""
    ingestion = [
        described_node(
            func=type_applications,
            inputs={"accepted": "accepted_raw", "rejected": "rejected_raw"},
            outputs=["applications_typed", "malformed_lines", "line_counts"],
        )
    ]
    cleaning = [
        described_node(
            func=audit_cleaning,
            inputs={"malformed": "malformed_lines", "lines": "line_counts"}
            | _TYPED
            | _RULES,
            outputs=["cleaning_audit", "cleaning_metrics"],
        ),
        described_node(
            func=clean_applications,
            # With the audit the table was found valid.
            inputs={"audit": "cleaning_audit"} | _TYPED | _RULES,
            outputs="applications_clean",
        ),
    ]
    splitting = [
        described_node(
            func=split_applications,
            inputs={
                "applications": "applications_clean",
                "shares": "params:splitting",
                "seed": "params:seed",
            }
            | _RULES,
            outputs=[*_SETS, "input_example"],
        ),
        described_node(
            func=describe_applications,
            inputs={"audit": "cleaning_audit", "truth": "truth_curves"} | _RULES,
            outputs=["table_description", "table_truth"],
        ),
        described_node(
            func=identify_data,
            inputs={name: name for name in _SETS},
            outputs="data_identity",
        ),
    ]
    parts = {"ingestion": ingestion, "cleaning": cleaning, "splitting": splitting}
    return {name: pipeline(nodes) for name, nodes in parts.items()}
