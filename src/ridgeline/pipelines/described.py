"""Nodes named after their function and described by its docstring."""

import inspect
import warnings
from collections.abc import Callable
from typing import Any

from kedro.pipeline import node
from kedro.pipeline.node import Node
from kedro.pipeline.preview_contract import TextPreview

__all__ = ["described_node"]


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
