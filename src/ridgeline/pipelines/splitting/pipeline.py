"""Wiring of the splitting pipeline."""

from kedro.pipeline import Pipeline, node, pipeline

from ridgeline.pipelines.splitting.nodes import split_applications

__all__ = ["create_pipeline"]


def create_pipeline() -> Pipeline:
    """Clean table -> train, validation and test."""
    return pipeline(
        [
            node(
                func=split_applications,
                inputs={
                    "applications": "applications_clean",
                    "rules": "params:cleaning",
                    "shares": "params:splitting",
                    "seed": "params:seed",
                },
                outputs=["train", "validation", "test"],
                name="split_applications",
            )
        ]
    )
