"""Wiring of the reporting."""

from kedro.pipeline import Pipeline, pipeline

from ridgeline.pipelines.described import described_node
from ridgeline.pipelines.reporting.nodes import (
    explain_network,
    list_limits,
    write_report,
)

__all__ = ["create_pipeline"]

_EVIDENCE = {
    "model": "xnn.refined",
    "test": "test",
    "table": "table_description",
    "truth": "table_truth",
    # Three that tell whether model, comparison and rows are of the same data.
    "identity": "data_identity",
    "refinement": "xnn.refinement_report",
    "metrics": "xnn.refined_metrics",
}


def create_pipeline() -> Pipeline:
    """The refined network, the comparison and the audit -> figures and the report."""
    return pipeline(
        [
            described_node(
                func=explain_network,
                inputs=_EVIDENCE | {"comparison": "comparison_table"},
                outputs=[
                    "explanation_plot",
                    "marginal_plot",
                    "truth_metrics",
                    "findings",
                ],
            ),
            described_node(
                func=list_limits,
                inputs={
                    "model": "xnn.refined",
                    "test": "test",
                    "table": "table_description",
                    "evaluation": "params:evaluation",
                },
                outputs="limits",
            ),
            described_node(
                func=write_report,
                inputs=_EVIDENCE
                | {
                    "found": "findings",
                    "bounds": "limits",
                    "audit": "cleaning_audit",
                    "comparison": "comparison_table",
                    "missing": "not_applicable",
                    "training": "xnn.training_report",
                    "seed": "params:seed",
                    "roc": "roc_plot",
                    "calibration": "calibration_plot",
                    "explanation": "explanation_plot",
                    "marginals": "marginal_plot",
                },
                outputs="model_report",
            ),
        ]
    )
