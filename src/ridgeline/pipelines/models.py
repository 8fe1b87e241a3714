"""The names of the models that every table has."""

from collections.abc import Callable
from functools import partial, update_wrapper
from typing import Any, Final

from ridgeline.baselines.registry import BASELINES

__all__ = ["METHODS", "STAGES", "for_model"]

# The models that the network's stages leave, in their order.
STAGES: Final = ("trained", "pruned", "refined")
# Every baseline. One that does not do the task of a table says so in its report.
METHODS: Final = tuple(BASELINES)


def for_model(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """Return a node's function for one model.

    Args:
        function: Takes the model's name first, and the node's inputs by their names.
    """
    bound = update_wrapper(partial(function, name), function)
    # Kedro reads types of parameters by their place, which the name must not shift.
    del bound.__dict__["__wrapped__"]
    return bound
