"""Tables that a spreadsheet shows and does not run."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["spreadsheet_plain", "spreadsheet_safe"]

# What a cell begins with that Excel, LibreOffice or Google take for a formula.
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
_MARK: Final = "'"


def spreadsheet_safe(frame: pd.DataFrame) -> pd.DataFrame:
    """Puts an apostrophe before every text that a spreadsheet would run as a formula.

    Numbers stay as they are, negative ones too; the frame is not changed.
    """
    return _each_text(
        frame, lambda text: f"{_MARK}{text}" if text.startswith(_FORMULA) else text
    )


def spreadsheet_plain(frame: pd.DataFrame) -> pd.DataFrame:
    """Takes the apostrophes of `spreadsheet_safe` away again, in another frame."""
    marked = tuple(f"{_MARK}{sign}" for sign in _FORMULA)
    return _each_text(frame, lambda text: text[1:] if text.startswith(marked) else text)


def _each_text(frame: pd.DataFrame, change: Callable[[str], str]) -> pd.DataFrame:
    """Changes the texts among the cells, the headers and the index."""
    import pandas as pd  # heavy, and hooks import this module

    def changed(value: Any) -> Any:
        if isinstance(value, tuple):  # of an index with several levels
            return tuple(map(changed, value))
        return change(value) if isinstance(value, str) else value

    table = frame.rename(columns=changed)
    for place, kind in enumerate(frame.dtypes):
        categories = isinstance(kind, pd.CategoricalDtype)
        if categories or pd.api.types.is_string_dtype(kind):
            texts = frame.iloc[:, place].astype(object).map(changed)
            # A changed text would be none of the categories.
            table.isetitem(place, (texts if categories else texts.astype(kind)).array)
    if not isinstance(frame.index, pd.RangeIndex):
        table.index = frame.index.map(changed)
    return table.rename_axis(index=[changed(name) for name in frame.index.names])
