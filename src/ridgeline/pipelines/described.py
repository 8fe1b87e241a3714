"""Nodes named after their function, described by its docstring, and put together."""

import inspect
import warnings
from collections.abc import Callable, Collection
from typing import Any

from kedro.pipeline import Pipeline, node, pipeline
from kedro.pipeline.node import Node
from kedro.pipeline.preview_contract import TextPreview

__all__ = ["described_node", "in_namespace"]


def described_node(
    func: Callable[..., Any],
    inputs: dict[str, str],
    outputs: str | list[str],
    name: str | None = None,
) -> Node:
    """Make a node that carries its function's name.

    Kedro-Viz shows the first line of the docstring beside the node.

    Args:
        inputs: Argument of the function to dataset.
        name: Where one function serves several nodes, the node's own.
    """
    sentence = (inspect.getdoc(func) or func.__name__).splitlines()[0]
    with warnings.catch_warnings():
        # Previews of nodes are new in Kedro, which says so at every start.
        warnings.filterwarnings("ignore", message="The 'preview_fn' feature")
        # The comparison takes datasets of the methods' namespaces on purpose.
        warnings.filterwarnings("ignore", message="One or more dataset names contain")
        return node(
            func=func,
            inputs=inputs,
            outputs=outputs,
            name=name or func.__name__,
            preview_fn=lambda: TextPreview(sentence),
        )


def in_namespace(
    namespace: str, nodes: list[Node], shared: Collection[str]
) -> Pipeline:
    """Put nodes where all data are their own but parameters and what is shared."""
    taken = {name for node in nodes for name in node.inputs}
    return pipeline(
        nodes,
        namespace=namespace,
        inputs=taken.intersection(shared),
        parameters={name for name in taken if name.startswith("params:")},
    )
