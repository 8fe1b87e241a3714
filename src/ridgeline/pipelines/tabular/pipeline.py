"""Wiring of any table, from the file to the three sets."""

from kedro.pipeline import Pipeline, pipeline

from ridgeline.pipelines.data.nodes import identify_data
from ridgeline.pipelines.described import described_node
from ridgeline.pipelines.tabular.nodes import (
    describe_columns,
    read_columns,
    split_table,
)
from ridgeline.tables.splitting import SETS

__all__ = ["create_pipeline"]

_READ = {"rows": "table_rows", "about": "table_about"}
_SETTINGS = {"settings": "params:tabular"}


def create_pipeline() -> Pipeline:
    """A CSV or Parquet file -> its description, and train, validation and test."""
    return pipeline(
        [
            described_node(
                func=read_columns,
                inputs={"table": "table_raw"},
                outputs=["table_rows", "malformed_lines", "table_about"],
            ),
            described_node(
                func=describe_columns,
                inputs=_READ | {"malformed": "malformed_lines"} | _SETTINGS,
                outputs=[
                    "table_description",
                    "table_truth",
                    "table_columns",
                    "rows_aside",
                    "cleaning_audit",
                ],
            ),
            described_node(
                func=split_table,
                inputs=_READ
                | {"table": "table_description", "seed": "params:seed"}
                | _SETTINGS,
                outputs=[*SETS, "input_example"],
            ),
            described_node(
                func=identify_data,
                inputs={name: name for name in SETS},
                outputs="data_identity",
            ),
        ]
    )
