"""Wiring of the scoring."""

from kedro.pipeline import Pipeline, pipeline

from ridgeline.pipelines.described import described_node
from ridgeline.pipelines.scoring.nodes import score_rows

__all__ = ["create_pipeline"]


def create_pipeline() -> Pipeline:
    """The refined network and rows -> decisions with reasons, and drift."""
    return pipeline(
        [
            described_node(
                func=score_rows,
                inputs={
                    "model": "xnn.refined",
                    "test": "test",
                    "table": "table_description",
                    "settings": "params:scoring",
                },
                outputs=[
                    "scores",
                    "refused_rows",
                    "scoring_metrics",
                    "drift_table",
                    "drift_plot",
                    "drift_page",
                ],
            )
        ]
    )
