"""Numbers, values and lists as they are written in a sentence."""

from collections.abc import Iterable
from typing import Any, Final

import pandas as pd

__all__ = ["listed", "number", "percent", "value_text"]

_MONTHS: Final = (
    "January February March April May June July August September October November "
    "December"
).split()


def number(value: Any, digits: int = 4) -> str:
    """A number with thousands; a dash where there is none."""
    if value is None or pd.isna(value):
        return "\N{EN DASH}"
    return f"{float(value):,.{digits}f}".replace("-", "\N{MINUS SIGN}")


def percent(share: float) -> str:
    """A share in percent."""
    return f"{100 * share:.1f} %"


def listed(names: Iterable[str]) -> str:
    """Names in a sentence, each once: a, b and c."""
    *most, last = dict.fromkeys(names)
    return f"{', '.join(most)} and {last}" if most else last


def value_text(value: float, unit: str) -> str:
    """A value of a feature with its unit, if it has one."""
    if unit == "year":
        months = round(12 * value)
        return f"{_MONTHS[months % 12]} {months // 12}"
    if unit == "$":
        return f"${value:,.0f}"
    if unit == "%":
        return f"{value:.0f} %"
    if unit == "years":
        return "1 year" if round(value, 1) == 1 else f"{round(value, 1):g} years"
    if unit == "points":
        return f"{value:.0f} points"
    return f"{value:.3g} {unit}".strip().replace("-", "\N{MINUS SIGN}")
