"""Wiring of the baselines: one template, one namespace for each method."""

from kedro.pipeline import Pipeline, pipeline

from ridgeline.pipelines.baselines.nodes import fit_method
from ridgeline.pipelines.described import described_node
from ridgeline.pipelines.models import METHODS, for_model

__all__ = ["create_pipeline"]


def create_pipeline() -> Pipeline:
    """Train and validation -> a model, its report and its tuning, for each method."""
    return sum((_method(name) for name in METHODS), start=Pipeline([]))


def _method(name: str) -> Pipeline:
    node = described_node(
        func=for_model(fit_method, name),
        inputs={
            "train": "train",
            "validation": "validation",
            "identity": "data_identity",
            "settings": f"params:baselines.{name}",
            "seed": "params:seed",
        },
        outputs=["model", "report", "tuning_table"],
    )
    return pipeline(
        [node],
        namespace=name,
        inputs={"train", "validation", "data_identity"},
        parameters={f"params:baselines.{name}", "params:seed"},
    )
