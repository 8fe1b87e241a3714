"""Wiring of the evaluation: the same node for each model, then the comparison."""

from kedro.pipeline import Pipeline, pipeline

from ridgeline.pipelines.described import described_node, in_namespace
from ridgeline.pipelines.evaluation.nodes import (
    compare_models,
    evaluate_model,
    plot_curves,
)
from ridgeline.pipelines.models import METHODS, STAGES, for_model
from ridgeline.pipelines.xnn.pipeline import NAMESPACE

__all__ = ["create_pipeline"]

# By stage of the network, the report that tells how its model came about.
_REPORTS = dict(
    zip(STAGES, ("training_report", "pruning_report", "refinement_report"), strict=True)
)
_TABLE = {"table": "table_description"}
_TEST = {"test": "test", "identity": "data_identity"} | _TABLE
_PARAMETERS = {"settings": "params:evaluation", "seed": "params:seed"}


def create_pipeline() -> Pipeline:
    """Models and test rows -> metrics of each, the comparison and its figures."""
    stages = [f"{NAMESPACE}.{stage}" for stage in STAGES]
    metrics = {name: f"{name}_metrics" for name in stages}
    metrics |= {name: f"{name}.metrics" for name in METHODS}
    curves = {name: f"{name}_curves" for name in stages}
    curves |= {name: f"{name}.curves" for name in METHODS}
    comparison = pipeline(
        [
            described_node(
                func=compare_models,
                inputs={"identity": "data_identity"} | _TABLE | metrics,
                outputs=["comparison_table", "not_applicable"],
            ),
            described_node(
                func=plot_curves,
                inputs={"comparison": "comparison_table"} | _TABLE | curves,
                outputs=["roc_plot", "calibration_plot"],
            ),
        ]
    )
    evaluated = sum((_baseline(name) for name in METHODS), start=_network())
    return evaluated + comparison


def _network() -> Pipeline:
    nodes = [
        described_node(
            func=for_model(evaluate_model, f"{NAMESPACE}.{stage}"),
            inputs={"model": stage, "report": report} | _TEST | _PARAMETERS,
            outputs=[f"{stage}_metrics", f"{stage}_curves"],
            name=f"evaluate_{stage}",
        )
        for stage, report in _REPORTS.items()
    ]
    return in_namespace(NAMESPACE, nodes, _TEST.values())


def _baseline(name: str) -> Pipeline:
    node = described_node(
        func=for_model(evaluate_model, name),
        inputs={"model": "model", "report": "report"} | _TEST | _PARAMETERS,
        outputs=["metrics", "curves"],
    )
    return in_namespace(name, [node], _TEST.values())
