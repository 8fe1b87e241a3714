"""Wiring of the baselines: one template, one namespace for each method."""

from kedro.pipeline import Pipeline

from ridgeline.pipelines.baselines.nodes import fit_method
from ridgeline.pipelines.described import described_node, in_namespace
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
            "table": "table_description",
            "identity": "data_identity",
            "settings": f"params:baselines.{name}",
            "seed": "params:seed",
        },
        outputs=["model", "report", "tuning_table"],
    )
    shared = ("train", "validation", "table_description", "data_identity")
    return in_namespace(name, [node], shared)
