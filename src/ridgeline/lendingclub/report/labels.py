"""What the features of an application are called, and measured in."""

from collections.abc import Mapping
from typing import Final

from ridgeline.reporting.labels import Label

__all__ = ["APPLICATION_LABELS"]

APPLICATION_LABELS: Final[Mapping[str, Label]] = {
    "application_date": Label("Application date", "year"),
    "amount": Label("Amount requested", "$"),
    "risk_score": Label("Risk score", "points"),
    "dti": Label("Debt-to-income ratio", "%"),
    "employment_length": Label("Employment length", "years"),
    "purpose": Label("Loan purpose"),
}
