"""Published files in pandas, without the code that the tests are about."""

import pandas as pd

from ridgeline.lendingclub.schema import RawFile

__all__ = ["parse_published"]


def parse_published(kind: RawFile, raw: pd.DataFrame) -> pd.DataFrame:
    """Brings either file's text to common columns, dates to the day."""
    if kind == "accepted":
        columns = ["loan_amnt", "issue_d", "purpose", "dti", "emp_length"]
        score = pd.to_numeric(raw["fico_range_low"]) + 2
    else:
        columns = ["Amount Requested", "Application Date", "Loan Title"]
        columns += ["Debt-To-Income Ratio", "Employment Length"]
        score = pd.to_numeric(raw["Risk_Score"])
    amount, date, title, dti, employment = (raw[column] for column in columns)
    return pd.DataFrame(
        {
            "amount": pd.to_numeric(amount),
            "date": pd.to_datetime(
                date, format="%b-%Y" if kind == "accepted" else "%Y-%m-%d"
            ),
            "title": title,
            "score": score,
            "dti": pd.to_numeric(dti.str.rstrip("%")),
            "employment": employment,
        }
    )
