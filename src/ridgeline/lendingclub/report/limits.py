"""What the results do not say, in sentences that belong beside them."""

from collections.abc import Mapping, Sequence
from typing import Final

import pandas as pd

from ridgeline.lendingclub.report.labels import APPLICATION_LABELS
from ridgeline.reporting.labels import label_of
from ridgeline.reporting.words import listed

__all__ = ["limits"]

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


def limits(
    audit: pd.DataFrame,
    *,
    one_grid: bool,
    simulated: bool,
    beyond: Mapping[str, int] | None = None,
    warnings: Sequence[str] = (),
) -> list[str]:
    """Limits of a model of LendingClub's applications.

    Args:
        beyond: Cells of the test rows beyond the range of the training rows, by column.
        warnings: Further sentences, such as those about small numbers.
    """
    found = [*warnings]
    if simulated:
        found.append(
            "The applications are simulated in the published format: the figures show "
            "that the method works, and nothing about real applicants."
        )
    leak = _LEAK + (_ON_ONE_GRID if one_grid else _AS_PUBLISHED)
    if beyond:
        found.append(_beyond(beyond))
    return [*found, leak, _selection(audit), *_ALWAYS]


def _beyond(counts: Mapping[str, int]) -> str:
    total = sum(counts.values())
    of = listed(
        f"{label_of(name, APPLICATION_LABELS).title.lower()} ({count:,})"
        for name, count in sorted(counts.items(), key=lambda item: -item[1])
    )
    cells = "One cell" if total == 1 else f"{total:,} cells"
    return (
        f"{cells} of the test rows lie{'s' * (total == 1)} beyond the range of the "
        f"training rows: {of}. There the curves stay at their edges."
    )


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
