"""The published LendingClub files as they are: columns, levels and spellings.

Facts only. What is done with them stands in `reading`, `typing` and `cleaning`.
"""

from typing import Final, Literal

__all__ = [
    "ACCEPTED_COLUMNS",
    "COLUMNS",
    "EMPLOYMENT_LEVELS",
    "LABELS",
    "MONTH_NAMES",
    "NUMERIC",
    "PURPOSES",
    "PURPOSE_COLUMNS",
    "REJECTED_COLUMNS",
    "SOURCES",
    "TITLE_PURPOSES",
    "RawFile",
]

REJECTED_COLUMNS: Final = (
    "Amount Requested",
    "Application Date",
    "Loan Title",
    "Risk_Score",
    "Debt-To-Income Ratio",
    "Zip Code",
    "State",
    "Employment Length",
    "Policy Code",
)

ACCEPTED_COLUMNS: Final = tuple(
    """
id member_id loan_amnt funded_amnt funded_amnt_inv term int_rate installment grade
sub_grade emp_title emp_length home_ownership annual_inc verification_status issue_d
loan_status pymnt_plan url desc purpose title zip_code addr_state dti delinq_2yrs
earliest_cr_line fico_range_low fico_range_high inq_last_6mths
mths_since_last_delinq mths_since_last_record open_acc pub_rec revol_bal revol_util
total_acc initial_list_status out_prncp out_prncp_inv total_pymnt total_pymnt_inv
total_rec_prncp total_rec_int total_rec_late_fee recoveries collection_recovery_fee
last_pymnt_d last_pymnt_amnt next_pymnt_d last_credit_pull_d last_fico_range_high
last_fico_range_low collections_12_mths_ex_med mths_since_last_major_derog
policy_code application_type annual_inc_joint dti_joint verification_status_joint
acc_now_delinq tot_coll_amt tot_cur_bal open_acc_6m open_act_il open_il_12m
open_il_24m mths_since_rcnt_il total_bal_il il_util open_rv_12m open_rv_24m
max_bal_bc all_util total_rev_hi_lim inq_fi total_cu_tl inq_last_12m
acc_open_past_24mths avg_cur_bal bc_open_to_buy bc_util chargeoff_within_12_mths
delinq_amnt mo_sin_old_il_acct mo_sin_old_rev_tl_op mo_sin_rcnt_rev_tl_op
mo_sin_rcnt_tl mort_acc mths_since_recent_bc mths_since_recent_bc_dlq
mths_since_recent_inq mths_since_recent_revol_delinq num_accts_ever_120_pd
num_actv_bc_tl num_actv_rev_tl num_bc_sats num_bc_tl num_il_tl num_op_rev_tl
num_rev_accts num_rev_tl_bal_gt_0 num_sats num_tl_120dpd_2m num_tl_30dpd
num_tl_90g_dpd_24m num_tl_op_past_12m pct_tl_nvr_dlq percent_bc_gt_75
pub_rec_bankruptcies tax_liens tot_hi_cred_lim total_bal_ex_mort total_bc_limit
total_il_high_credit_limit revol_bal_joint sec_app_fico_range_low
sec_app_fico_range_high sec_app_earliest_cr_line sec_app_inq_last_6mths
sec_app_mort_acc sec_app_open_acc sec_app_revol_util sec_app_open_act_il
sec_app_num_rev_accts sec_app_chargeoff_within_12_mths
sec_app_collections_12_mths_ex_med sec_app_mths_since_last_major_derog hardship_flag
hardship_type hardship_reason hardship_status deferral_term hardship_amount
hardship_start_date hardship_end_date payment_plan_start_date hardship_length
hardship_dpd hardship_loan_status orig_projected_additional_accrued_interest
hardship_payoff_balance_amount hardship_last_payment_amount disbursement_method
debt_settlement_flag debt_settlement_flag_date settlement_status settlement_date
settlement_amount settlement_percentage settlement_term
""".split()
)

# The two published files.
RawFile = Literal["accepted", "rejected"]

# `approved` of an application in each file.
LABELS: Final[dict[RawFile, int]] = {"accepted": 1, "rejected": 0}

COLUMNS: Final[dict[RawFile, tuple[str, ...]]] = {
    "accepted": ACCEPTED_COLUMNS,
    "rejected": REJECTED_COLUMNS,
}

# The cells that Ridgeline reads, by what they mean. An accepted loan carries the
# two ends of a FICO band where a declined application carries one score.
SOURCES: Final[dict[RawFile, dict[str, str]]] = {
    "accepted": {
        "amount": "loan_amnt",
        "application_date": "issue_d",
        "title": "purpose",
        "score_low": "fico_range_low",
        "score_high": "fico_range_high",
        "dti": "dti",
        "employment_length": "emp_length",
    },
    "rejected": {
        "amount": "Amount Requested",
        "application_date": "Application Date",
        "title": "Loan Title",
        "risk_score": "Risk_Score",
        "dti": "Debt-To-Income Ratio",
        "employment_length": "Employment Length",
    },
}

# What is a number of an application, or is made one.
NUMERIC: Final = tuple(
    "application_date amount risk_score dti employment_length".split()
)

# How the accepted file spells months.
MONTH_NAMES: Final = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()

# The paper codes 0 to 10 years, and 11 for more than ten. The files have no plain
# "10 years"; the code is kept free for it.
EMPLOYMENT_LEVELS: Final = {
    "< 1 year": 0,
    "1 year": 1,
    **{f"{years} years": years for years in range(2, 11)},
    "10+ years": 11,
}

# By purpose the titles that belong to it, in lower case with blanks for underscores, so
# that `credit_card` (the code that declined applications carry until 2016-17, and
# accepted loans throughout) and `Credit card refinancing` (the display name after that)
# meet in one purpose. A title that is not listed is Others.
_TITLES: Final = {
    "Credit Card": ("credit card", "credit card refinancing"),
    "Debt Consolidation": ("debt consolidation",),
    "Housing": ("home", "home improvement", "home buying", "house"),
    "Purchase": ("car", "car financing", "major purchase"),
    "Others": (
        *("business", "business line of credit", "business loan", "educational"),
        *("green loan", "learning and training", "medical", "medical expenses"),
        *("moving", "moving and relocation", "other", "renewable energy"),
        *("small business", "vacation", "wedding", "wedding expenses"),
    ),
}
PURPOSES: Final = tuple(_TITLES)
TITLE_PURPOSES: Final = {
    title: purpose for purpose, titles in _TITLES.items() for title in titles
}
# The one-hot columns of the clean table.
PURPOSE_COLUMNS: Final = {
    purpose: f"purpose_{purpose.lower().replace(' ', '_')}" for purpose in PURPOSES
}
