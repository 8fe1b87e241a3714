"""Model files of format 1, which Ridgeline 0.1 wrote, as those of format 2.

They had numbers scaled by smallest and largest value alone, no special values, and did
not tell how many rows there were.
"""

from typing import Any

__all__ = ["upgraded"]


def upgraded(model: Any) -> Any:
    """The content of a file of format 1 in the form of format 2.

    Args:
        model: In the types of JSON. What is not whole is left to the reader of format
            2, which says so.
    """
    try:
        features = dict(model["features"])
        categorical = {column["name"] for column in features["categories"]}
        numeric = [name for name in features["names"] if name not in categorical]
        ends = zip(numeric, features.pop("centre"), features.pop("factor"), strict=True)
        numbers = [_number(*column) for column in ends]
        features |= {"numbers": numbers, "flags": []}
        spread = model["spread"] | {"rows": None}
    except (ArithmeticError, AttributeError, KeyError, TypeError, ValueError):
        return model
    return model | {"features": features, "spread": spread}


def _number(name: str, centre: float, factor: float) -> dict[str, Any]:
    """A numeric column; a factor of zero marks a constant one."""
    # One below zero makes knots that fall, which are refused.
    varies = factor != 0
    half = 1 / factor if varies else 0.0
    ends = [centre - half, centre + half]
    return {
        "name": name,
        "knots": ends if varies else [centre],
        "places": [-1.0, 1.0] if varies else [0.0],
        "seen": ends,
        "neutral": 0.0,
        "codes": [],
        "masses": [],
        "missing": False,
        "levels": [],
    }
