"""Tables that a spreadsheet shows and does not run."""

from typing import Any, Final

import pandas as pd

__all__ = ["spreadsheet_safe"]

# What a cell begins with that Excel, LibreOffice or Google take for a formula.
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")


def spreadsheet_safe(frame: pd.DataFrame) -> pd.DataFrame:
    """Puts an apostrophe before every text that a spreadsheet would run as a formula.

    Numbers stay as they are, negative ones too.

    Args:
        frame: Any table; it is not changed.
    """
    safe = frame.rename(columns=_safe)
    for place, kind in enumerate(frame.dtypes):
        categories = isinstance(kind, pd.CategoricalDtype)
        if categories or pd.api.types.is_string_dtype(kind):
            texts = frame.iloc[:, place].astype(object)
            safe.isetitem(place, texts.map(_safe).to_numpy())
    return safe


def _safe(value: Any) -> Any:
    runs = isinstance(value, str) and value.startswith(_FORMULA)
    return f"'{value}" if runs else value
