"""The table that models read: five numbers and the purpose, and the decision.

The clean table has the purpose one-hot, as the paper describes it. Models take it as
one categorical column: the network has one effect for each category, and baselines
encode it themselves, so that all models take the same columns. To everything after the
split LendingClub is one table among others, which `describe_applications` describes.
"""

from collections.abc import Sequence
from typing import Final

import ibis
import ibis.expr.types as ir
import pandas as pd

from ridgeline.lendingclub.schema import NUMERIC, PURPOSE_COLUMNS
from ridgeline.tables.description import ColumnLabel, TableDescription
from ridgeline.tables.sample import Sample, sample_of

__all__ = [
    "NUMERIC",
    "PURPOSE",
    "describe_applications",
    "in_model_form",
    "model_sample",
]

PURPOSE: Final = "purpose"
_LABELS: Final = {
    "application_date": ColumnLabel(title="Application date", unit="year"),
    "amount": ColumnLabel(title="Amount requested", unit="$"),
    "risk_score": ColumnLabel(title="Risk score", unit="points"),
    "dti": ColumnLabel(title="Debt-to-income ratio", unit="%"),
    "employment_length": ColumnLabel(title="Employment length", unit="years"),
    PURPOSE: ColumnLabel(title="Loan purpose"),
}


def describe_applications(
    *, simulated: bool = False, notes: Sequence[str] = ()
) -> TableDescription:
    """LendingClub's applications as one table among others.

    Args:
        simulated: Whether they are made up.
        notes: What belongs beside every result.
    """
    return TableDescription(
        name="lendingclub",
        title="Ridgeline: who is approved, and why",
        task="classification",
        target="approved",
        classes=(0, 1),
        numeric=NUMERIC,
        categorical=(PURPOSE,),
        labels=_LABELS,
        row="application",
        rows="applications",
        event="approval",
        class_names=("declined", "approved"),
        simulated=simulated,
        unseen="error",  # cleaning leaves no gap, and knows every purpose
        notes=tuple(notes),
    )


def in_model_form(applications: ir.Table) -> ir.Table:
    """Takes clean applications as models read them: the purpose in one column."""
    purpose = ibis.cases(
        *((applications[column] == 1, name) for name, column in PURPOSE_COLUMNS.items())
    )
    return applications.select(*NUMERIC, "approved", **{PURPOSE: purpose})


def model_sample(applications: pd.DataFrame) -> Sample:
    """Takes a set of the split as models do."""
    return sample_of(applications, describe_applications())
