"""Wiring of the simulation study: tasks, tables, figures, and a child run a model."""

from kedro.pipeline import Pipeline, pipeline

from ridgeline.pipelines.described import described_node, in_namespace
from ridgeline.pipelines.models import for_model
from ridgeline.pipelines.simulation.nodes import (
    plot_study,
    run_tasks,
    tabulate_study,
    write_study_report,
)
from ridgeline.simulation.report.tables import collect_cells
from ridgeline.simulation.settings import MODELS

__all__ = ["create_pipeline"]

_SEED = {"seed": "params:seed"}


def create_pipeline() -> Pipeline:
    """Parameters -> results of all tasks, tables, figures and the report."""
    study = pipeline(
        [
            described_node(
                func=run_tasks,
                inputs={"settings": "params:study"} | _SEED,
                outputs=["study_results", "study_networks"],
            ),
            described_node(
                func=tabulate_study,
                inputs={"results": "study_results"},
                outputs=[
                    "study_summary",
                    "study_table",
                    "study_table_text",
                    "study_against_paper",
                    "study_recovery",
                    "study_overlap",
                ],
            ),
            described_node(
                func=plot_study,
                inputs={"summary": "study_summary", "networks": "study_networks"}
                | _SEED,
                outputs=["study_errors_plot", "study_network_plots"],
            ),
            described_node(
                func=write_study_report,
                inputs={
                    "results": "study_results",
                    "errors": "study_errors_plot",
                    "networks": "study_network_plots",
                }
                | _SEED,
                outputs="study_report",
            ),
        ]
    )
    return sum((_cells(model) for model in MODELS), start=study)


def _cells(model: str) -> Pipeline:
    node = described_node(
        func=for_model(collect_cells, model),
        inputs={"summary": "study_summary"},
        outputs="study_cells",
    )
    return in_namespace(model, [node], ("study_summary",))
