"""Wiring of the explainable network: four pipelines in one namespace."""

from kedro.pipeline import Pipeline

from ridgeline.pipelines.described import described_node, in_namespace
from ridgeline.pipelines.xnn.nodes import (
    prune_network,
    refine_network,
    train_network,
    tune_penalties,
)

__all__ = ["NAMESPACE", "create_pipelines"]

NAMESPACE = "xnn"

_TABLE = {"table": "table_description"}
_SETS = {"train": "train", "validation": "validation"} | _TABLE
_SPLIT = _SETS | {"identity": "data_identity"}
_SETTINGS = {"settings": "params:xnn"}
_SEED = {"seed": "params:seed"}


def create_pipelines() -> dict[str, Pipeline]:
    """Return tuning, training, pruning and refinement by name."""
    nodes = {
        "tuning": described_node(
            func=tune_penalties,
            inputs=_SETS | _SETTINGS | _SEED,
            outputs=["best_parameters", "tuning_table"],
        ),
        "training": described_node(
            func=train_network,
            inputs=_SPLIT
            | {"penalties": "best_parameters", "tuning": "tuning_table"}
            | _SETTINGS
            | _SEED,
            outputs=["trained", "training_report", "training_history"],
        ),
        "pruning": described_node(
            func=prune_network,
            inputs={"trained": "trained", "training": "training_report"}
            | {"validation": "validation"}
            | _TABLE
            | _SETTINGS,
            outputs=["pruned", "pruning_report", "importance_table"],
        ),
        "refinement": described_node(
            func=refine_network,
            inputs={"pruned": "pruned", "training": "training_report"}
            | _SPLIT
            | _SETTINGS
            | _SEED,
            outputs=["refined", "refinement_report", "refinement_history"],
        ),
    }
    return {
        name: in_namespace(NAMESPACE, [node], _SPLIT.values())
        for name, node in nodes.items()
    }
