"""What LendingClub's files do not say: sentences that belong beside every result."""

from typing import Final

import pandas as pd

__all__ = ["application_notes"]

_LEAK: Final = (
    "The published files give the decision away by their format: a declined "
    "application carries an exact score and a day, an accepted loan a five-point "
    "band and a month. "
)
_ON_ONE_GRID: Final = (
    "Here both classes were put on one grid, bands and months, so that no "
    "model can read the decision off the format."
)
_AS_PUBLISHED: Final = (
    "Here they were left as published (cleaning.one_grid is false), so every model "
    "that can see single values is flattered; do not take its AUC for skill."
)
_ALWAYS: Final = (
    "Employment length looks like a form's default for declined applications "
    "(less than one year for nearly all of them): its curve may describe the form "
    "and not the applicant.",
    "The two classes carry scores of different makers, so a step in the curve of "
    "the risk score may lie between two scores rather than between two applicants.",
    "The model describes decisions as they were made. It is not a cause, and not "
    "a judgement of who would have repaid.",
)


def application_notes(audit: pd.DataFrame, *, one_grid: bool) -> list[str]:
    """Limits of every model of LendingClub's applications.

    Args:
        audit: What cleaning removed.
        one_grid: Whether both classes were put on one grid.
    """
    leak = _LEAK + (_ON_ONE_GRID if one_grid else _AS_PUBLISHED)
    return [leak, _selection(audit), *_ALWAYS]


def _selection(audit: pd.DataFrame) -> str:
    rows = audit[(audit["section"] == "filter") & (audit["step"] == "missing_value")]
    declined = rows[rows["class"] == "rejected"]
    share = declined["removed"].sum() / max(declined["rows_in"].sum(), 1)
    return (
        f"Rows with an empty cell were dropped, {100 * share:.0f} % of the declined "
        "applications, most of them for want of a risk score. How many lack one "
        "depends on the month, so part of the effect of the application date is "
        "selection, and approval rates hold for scored applications only."
    )
