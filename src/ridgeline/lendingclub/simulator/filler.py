"""The columns of the accepted file that a reader must skip, plausible in form only.

They carry no information: a small pool of rows is made once from a fixed seed, and
every simulated loan takes one of them. The first half of the pool is for loans before
December 2015, when some columns did not exist yet and are empty.
"""

from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ridgeline.lendingclub.schema import ACCEPTED_COLUMNS
from ridgeline.lendingclub.simulator.blocks import Block, make_block
from ridgeline.lendingclub.simulator.profile import MONTH_NAMES

__all__ = ["POOL", "filler_block"]

POOL: Final = 1024  # rows; an early and a late half
_SEED: Final = 20_070_601

# Numbers: mean (or `%` for a percentage), decimals, percent of empty cells.
_NUMBERS: Final = """
annual_inc 78000 0 0          installment 445 2 0            delinq_2yrs 0.3 0 0
inq_last_6mths 0.6 0 0        mths_since_last_delinq 34 0 51 open_acc 11.6 0 0
mths_since_last_record 72 0 84 pub_rec 0.2 0 0               revol_bal 16700 0 0
revol_util % 1 0.1            total_acc 24 0 0               out_prncp 4400 2 0
out_prncp_inv 4400 2 0        total_pymnt 12000 2 0          total_pymnt_inv 12000 2 0
total_rec_prncp 9500 2 0      total_rec_int 2400 2 0         total_rec_late_fee 1.5 1 0
recoveries 140 2 0            collection_recovery_fee 24 4 0 last_pymnt_amnt 3400 2 0
last_fico_range_high 690 0 0  last_fico_range_low 686 0 0    tot_coll_amt 230 0 3
mths_since_last_major_derog 44 0 74  policy_code 0 0 0       tot_cur_bal 142000 0 3
collections_12_mths_ex_med 0.02 0 0  annual_inc_joint 123000 0 0  dti_joint 19 2 0
acc_now_delinq 0.01 0 0       open_acc_6m 0.9 0 0            open_act_il 2.8 0 0
open_il_12m 0.7 0 0           open_il_24m 1.6 0 0            mths_since_rcnt_il 21 0 3
total_bal_il 35000 0 0        il_util % 0 14                 open_rv_12m 1.3 0 0
open_rv_24m 2.8 0 0           max_bal_bc 5800 0 0            all_util % 0 0
total_rev_hi_lim 34500 0 3    inq_fi 1 0 0                   total_cu_tl 1.5 0 0
inq_last_12m 2 0 0            acc_open_past_24mths 4.5 0 2   avg_cur_bal 13500 0 3
bc_open_to_buy 11400 0 3      bc_util % 1 3                  delinq_amnt 12 0 0
chargeoff_within_12_mths 0.01 0 0    mo_sin_old_il_acct 126 0 6   mort_acc 1.6 0 2
mo_sin_old_rev_tl_op 181 0 3  mo_sin_rcnt_rev_tl_op 14 0 3   mo_sin_rcnt_tl 8 0 3
mths_since_recent_bc 24 0 3   mths_since_recent_bc_dlq 39 0 77
mths_since_recent_inq 7 0 12  mths_since_recent_revol_delinq 36 0 67
num_accts_ever_120_pd 0.5 0 3 num_actv_bc_tl 3.7 0 3         num_actv_rev_tl 5.6 0 3
num_bc_sats 4.8 0 2           num_bc_tl 7.7 0 3              num_il_tl 8.4 0 3
num_op_rev_tl 8.2 0 3         num_rev_accts 14 0 3           num_rev_tl_bal_gt_0 5.6 0 3
num_sats 11.6 0 2             num_tl_120dpd_2m 0.01 0 6      num_tl_30dpd 0.01 0 3
num_tl_90g_dpd_24m 0.1 0 3    num_tl_op_past_12m 2.1 0 3     pct_tl_nvr_dlq % 1 3
percent_bc_gt_75 % 1 3        pub_rec_bankruptcies 0.1 0 0.1 tax_liens 0.05 0 0
tot_hi_cred_lim 178000 0 3    total_bal_ex_mort 51000 0 2    total_bc_limit 23000 0 2
total_il_high_credit_limit 43700 0 3 revol_bal_joint 33600 0 12
sec_app_inq_last_6mths 0.6 0 12      sec_app_mort_acc 1.5 0 12
sec_app_open_acc 11.5 0 12    sec_app_revol_util % 1 14      sec_app_open_act_il 3 0 12
sec_app_num_rev_accts 12.5 0 12      sec_app_chargeoff_within_12_mths 0.05 0 12
sec_app_collections_12_mths_ex_med 0.08 0 12  sec_app_fico_range_low 666 0 12
sec_app_mths_since_last_major_derog 37 0 66   sec_app_fico_range_high 670 0 12
deferral_term 3 0 0           hardship_amount 155 2 0        hardship_length 3 0 0
hardship_dpd 14 0 0           hardship_payoff_balance_amount 11600 2 0
hardship_last_payment_amount 194 2 0
orig_projected_additional_accrued_interest 455 2 30
settlement_amount 5000 2 0    settlement_percentage % 1 0    settlement_term 13 0 0
"""

# Texts: what can stand in the cell, the likelier ones more than once.
_TEXTS: Final = {
    "term": (" 36 months",) * 5 + (" 60 months",) * 2,
    "sub_grade": tuple(f"{grade}{step}" for grade in "ABBCCDEFG" for step in "12345"),
    "emp_title": (
        *("Teacher", "Manager", "Registered Nurse", "Driver", "Supervisor", "owner"),
        *(None, "Sales", "Office Manager, North", 'Driver "CDL A"', "RN", "Engineer"),
        *("V.P., Finance", "Analyst II", "police officer", "Cook", None, "Mechanic"),
    ),
    "home_ownership": (*("MORTGAGE",) * 5, *("RENT",) * 4, "OWN", "OWN", "ANY"),
    "verification_status": ("Source Verified", "Not Verified", "Verified"),
    "loan_status": (
        *("Fully Paid",) * 24,
        *("Current",) * 19,
        *("Charged Off",) * 6,
        *("Late (31-120 days)", "In Grace Period", "Late (16-30 days)"),
    ),
    "pymnt_plan": ("n",),
    "initial_list_status": ("w", "w", "f"),
    "application_type": ("Individual",),
    "verification_status_joint": ("Source Verified", "Not Verified", "Verified"),
    "hardship_flag": ("N",),
    "hardship_type": ("INTEREST ONLY-3 MONTHS DEFERRAL",),
    "hardship_reason": ("NATURAL_DISASTER", "UNEMPLOYMENT", "MEDICAL", "DISABILITY"),
    "hardship_status": ("COMPLETED", "COMPLETED", "BROKEN", "ACTIVE"),
    "hardship_loan_status": ("Current", "In Grace Period", "Late (16-30 days)"),
    "disbursement_method": (*("Cash",) * 30, "DirectPay"),
    "debt_settlement_flag": ("N",),
    "settlement_status": ("ACTIVE", "COMPLETE", "BROKEN"),
}
# Early borrowers described their loan; commas, quotes and line ends come with it.
_DESCRIPTIONS: Final = (
    "Paying off three cards, then closing them.",
    'I call it my "fresh start" loan.',
    "Rates went up; I did not miss a payment.",
    "Roof, gutters, and a door.\nQuotes from two firms are in hand.",
)
# Months, by the years that they lie in.
_MONTHS: Final = {
    "earliest_cr_line": (1985, 2012),
    "last_pymnt_d": (2017, 2019),
    "next_pymnt_d": (2019, 2019),
    "last_credit_pull_d": (2017, 2019),
    "sec_app_earliest_cr_line": (1988, 2014),
    "hardship_start_date": (2017, 2018),
    "hardship_end_date": (2017, 2018),
    "payment_plan_start_date": (2017, 2018),
    "debt_settlement_flag_date": (2017, 2019),
    "settlement_date": (2017, 2019),
}

# Columns that are filled together or not at all: how a name shows it, percent filled
# in the early half and in the late half.
_TOGETHER: Final = (
    (("_joint", "sec_app_"), 0.0, 7.0),
    (("hardship_", "deferral_", "payment_plan_", "orig_projected_"), 0.2, 1.0),
    (("settlement_",), 1.5, 2.0),
    (("open_acc_6m", "open_act_il", "open_il_", "open_rv_", "total_bal_il"), 0.0, 100),
    (("mths_since_rcnt_il", "il_util", "max_bal_bc", "all_util"), 0.0, 100.0),
    (("inq_fi", "total_cu_tl", "inq_last_12m"), 0.0, 100.0),
)

Cells = NDArray[np.object_]


@cache
def filler_block(first: str, last: str) -> Block:
    """The pool's rows of the columns from `first` to `last`, in the file's order."""
    start, stop = ACCEPTED_COLUMNS.index(first), ACCEPTED_COLUMNS.index(last) + 1
    names = ACCEPTED_COLUMNS[start:stop]
    pool = _pool()
    return make_block(names, zip(*(pool[name] for name in names), strict=True))


@cache
def _pool() -> dict[str, Cells]:
    """All filler columns, shape (POOL,) each, `None` where a cell is empty."""
    generator = np.random.default_rng(_SEED)
    pool = {name: np.full(POOL, None, dtype=object) for name in ACCEPTED_COLUMNS}
    words = _NUMBERS.split()
    for name, mean, decimals, empty in zip(
        words[::4], words[1::4], words[2::4], words[3::4], strict=True
    ):
        pool[name] = _numbers(generator, mean, int(decimals), float(empty))
    for name, texts in _TEXTS.items():
        pool[name] = generator.choice(np.array(texts, dtype=object), POOL)
    for name, (first, last) in _MONTHS.items():
        years = generator.integers(first, last + 1, POOL)
        months = generator.choice(np.array(MONTH_NAMES, dtype=object), POOL)
        pool[name] = np.array(
            [f"{month}-{year}" for month, year in zip(months, years, strict=True)],
            dtype=object,
        )
    _empty_together(generator, pool)
    pool["grade"] = np.array([text[0] for text in pool["sub_grade"]], dtype=object)
    pool["int_rate"] = np.array([_rate(text) for text in pool["sub_grade"]], object)
    pool["policy_code"][:] = "1.0"
    pool["url"] = np.array([_address(row) for row in range(POOL)], dtype=object)
    described = generator.choice(POOL // 2, POOL // 8, replace=False)
    pool["desc"][described] = np.resize(np.array(_DESCRIPTIONS, object), POOL // 8)
    joint = pool["annual_inc_joint"] != np.array(None)
    pool["application_type"][joint] = "Joint App"
    return pool


def _numbers(
    generator: np.random.Generator, mean: str, decimals: int, empty: float
) -> Cells:
    """Numbers as the file spells them: 12.0 when whole, else 445.38."""
    if mean == "%":
        values = generator.uniform(0, 100, POOL)
    else:
        values = generator.exponential(float(mean), POOL)
    texts = [str(float(value)) for value in np.round(values, decimals)]
    cells = np.array(texts, dtype=object)
    cells[100 * generator.random(POOL) < empty] = None
    return cells


def _empty_together(generator: np.random.Generator, pool: dict[str, Cells]) -> None:
    """Empties the cells of columns that most rows, or early rows, do not have."""
    late = np.arange(POOL) >= POOL // 2
    for marks, early_share, late_share in _TOGETHER:
        filled = 100 * generator.random(POOL) < np.where(late, late_share, early_share)
        for name, cells in pool.items():
            if any(mark in name for mark in marks) and not name.endswith("_flag"):
                cells[~filled] = None


def _rate(sub_grade: str) -> str:
    """An interest rate that grows with the grade."""
    return str(round(5.32 + 3.7 * "ABCDEFG".index(sub_grade[0]) + int(sub_grade[1]), 2))


def _address(row: int) -> str:
    """The link of a loan, as the file spells it."""
    return (
        f"https://lendingclub.com/browse/loanDetail.action?loan_id={68_400_000 + row}"
    )
