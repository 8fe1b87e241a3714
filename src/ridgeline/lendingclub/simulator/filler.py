"""The columns of the accepted file that a reader must skip, plausible in form only.

They carry no information: a small pool of rows is made once, each column from a seed of
its own, and every simulated loan takes one of them. The first half of the pool is for
loans before December 2015, when some columns did not exist yet and are empty.
"""

from functools import cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ridgeline.lendingclub.schema import ACCEPTED_COLUMNS, MONTH_NAMES
from ridgeline.lendingclub.simulator.blocks import Block, make_block
from ridgeline.lendingclub.simulator.profile import FREE_TITLES

__all__ = ["POOL", "filler_block"]

POOL: Final = 1024  # rows; an early and a late half
# What stands in cells that are no numbers; with what people wrote themselves come
# commas, quotes and line ends.
_TEXTS: Final[dict[str, tuple[str | None, ...]]] = {
    "term": (" 36 months", " 60 months"),
    "grade": tuple("ABCDEFG"),
    "sub_grade": ("A5", "B1", "B4", "C2", "C5", "D3", "E1"),
    "emp_title": (
        *("Teacher", "Manager", "Registered Nurse", "owner", None, "Analyst II"),
        *("Office Manager, North", 'Driver "CDL A"', "V.P., Finance"),
    ),
    "home_ownership": ("MORTGAGE", "RENT", "OWN"),
    "verification_status": ("Source Verified", "Not Verified", "Verified"),
    "loan_status": ("Fully Paid", "Current", "Charged Off", "Late (31-120 days)"),
    "pymnt_plan": ("n",),
    "url": ("https://lendingclub.com/browse/loanDetail.action?loan_id=68400000",),
    "desc": (
        *("Paying off three cards, then closing them.", *(None,) * 12),
        *('I call it my "fresh start" loan.', "Rates went up; I never missed a day."),
        "Roof, gutters, and a door.\nQuotes from two firms are in hand.",
    ),
    "title": ("Debt consolidation", "Credit card refinancing", None, *FREE_TITLES),
    "zip_code": ("112xx", "606xx", "770xx", "941xx"),
    "addr_state": ("NY", "IL", "TX", "CA"),
    "initial_list_status": ("w", "f"),
    "application_type": ("Individual", "Joint App"),
    "hardship_flag": ("N",),
    "disbursement_method": ("Cash", "DirectPay"),
    "debt_settlement_flag": ("N",),
}
_MONTHS: Final = ("_d", "_date", "_cr_line")  # how names of columns of months end
# How names show that hardly a loan has the cell (here none has) ...
_RARE: Final = (
    *("_joint", "sec_app_", "hardship_", "deferral_", "payment_plan_"),
    *("orig_projected_", "settlement_"),
)
# ... and that only loans of the new form have it.
_NEW: Final = (
    *("open_acc_6m", "open_act_il", "open_il_", "open_rv_", "total_bal_il", "il_util"),
    *("mths_since_rcnt_il", "max_bal_bc", "all_util", "inq_fi", "total_cu_tl"),
    "inq_last_12m",
)


@cache
def filler_block(first: str, last: str) -> Block:
    """The pool's rows of the columns from `first` to `last`, in the file's order."""
    start, stop = ACCEPTED_COLUMNS.index(first), ACCEPTED_COLUMNS.index(last) + 1
    columns = [_cells(place) for place in range(start, stop)]
    return make_block(ACCEPTED_COLUMNS[start:stop], zip(*columns, strict=True))


def _cells(place: int) -> NDArray[Any]:
    """A column's cells, shape (POOL,), `None` where one is empty."""
    name, generator = ACCEPTED_COLUMNS[place], np.random.default_rng(place)
    texts: list[str | None]
    if name in _TEXTS:
        texts = list(_TEXTS[name])
    elif any(part in name for part in _RARE):
        texts = [None]
    elif name.endswith(_MONTHS):
        texts = [f"{month}-{year}" for year in (2012, 2017) for month in MONTH_NAMES]
    else:
        # Counts and amounts as the file spells them: 12.0 when whole, else 445.38.
        numbers = generator.exponential(10.0 ** (place % 5), POOL)
        texts = [str(number) for number in numbers.round(place % 2 * 2).tolist()]
    cells = generator.choice(np.array(texts, dtype=object), POOL)
    if any(part in name for part in _NEW):
        cells[: POOL // 2] = None
    elif name == "desc":  # the new form does not ask for it
        cells[POOL // 2 :] = None
    return cells
