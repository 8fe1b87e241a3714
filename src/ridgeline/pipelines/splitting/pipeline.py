"""Wiring of the splitting pipeline."""

from kedro.pipeline import Pipeline, pipeline

from ridgeline.pipelines.described import described_node
from ridgeline.pipelines.splitting.nodes import identify_data, split_applications

__all__ = ["create_pipeline"]


def create_pipeline() -> Pipeline:
    """Clean table -> train, validation and test."""
    return pipeline(
        [
            described_node(
                func=split_applications,
                inputs={
                    "applications": "applications_clean",
                    "rules": "params:cleaning",
                    "shares": "params:splitting",
                    "seed": "params:seed",
                },
                outputs=["train", "validation", "test", "input_example"],
            ),
            described_node(
                func=identify_data,
                inputs={name: name for name in ("train", "validation", "test")},
                outputs="data_identity",
            ),
        ]
    )
