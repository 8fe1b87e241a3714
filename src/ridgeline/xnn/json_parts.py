"""Parts of an object of JSON, each of the type and shape that it must have.

Whatever is not raises a ValueError whose message says which part.
"""

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["array", "arrays", "demand", "part_of"]

Floats = NDArray[np.float64]
_Type = TypeVar("_Type")


def part_of(part: Any, key: str, kind: type[_Type]) -> _Type:
    """A part of an object of JSON, if it is of this type of Python."""
    value = part.get(key) if isinstance(part, dict) else None
    if type(value) is kind:
        return value
    message = f"{key!r} is missing or not of the type {kind.__name__}"
    raise ValueError(message)


def arrays(
    part: dict[str, Any], key: str, shapes: Sequence[tuple[int, ...]]
) -> tuple[Floats, ...]:
    values = part_of(part, key, list)
    fit = len(values) == len(shapes)
    demand(fit, f"{key!r} has {len(values)} arrays where {len(shapes)} fit")
    pairs = zip(values, shapes, strict=True)
    return tuple(array({key: value}, key, shape) for value, shape in pairs)


def array(part: dict[str, Any], key: str, shape: tuple[int, ...]) -> Floats:
    """Nested lists as an array of the shape that fits the other parts."""
    values = part.get(key)
    try:
        # Booleans count as numbers for NumPy, where numbers stand beside them.
        array = np.array(None if _has_boolean(values) else values)
    except ValueError:  # rows of unequal lengths
        array = np.array(None)
    # Empty lists do not tell how many columns their rows would have had.
    if array.size == 0 and 0 in shape:
        return np.empty(shape)
    finite = array.dtype.kind in "iuf" and bool(np.isfinite(array).all())
    demand(finite, f"{key!r} is not an array of finite numbers")
    fit = array.shape == shape
    demand(fit, f"{key!r} has the shape {array.shape} where {shape} fits")
    return array.astype(np.float64)


def _has_boolean(values: Any) -> bool:
    if isinstance(values, list):
        return any(map(_has_boolean, values))
    return isinstance(values, bool)


def demand(holds: bool | np.bool_, otherwise: str) -> None:
    if not holds:
        raise ValueError(otherwise)
