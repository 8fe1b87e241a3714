"""What a user may set about scoring; conf/base explains every key."""

from typing import Any

from pydantic import Field

from ridgeline.decisions.policy import Policy, Reference, Side, load_policy
from ridgeline.parameters import Parameters
from ridgeline.tables.description import TableDescription

__all__ = ["ScoringSettings"]


class ScoringSettings(Parameters):
    """Which rows, and the policy about them."""

    applications: str | None = None
    policy: str | None = None
    cutoff: float | None = 0.5
    declined: Side = "below"
    reference: Reference = "approved"
    most_reasons: int = Field(default=4, ge=0, le=20)
    chunk_rows: int = Field(default=50_000, ge=1)

    def chosen_policy(self, table: TableDescription) -> Policy:
        """The policy of the file that is named; else in the words of the table."""
        if self.policy is not None:
            return load_policy(self.policy)
        own: dict[str, Any] = {}
        if not table.is_regression:
            own["references"] = {"approved": f"approved {table.rows}"}
        return Policy(
            cutoff=None if table.is_regression else self.cutoff,
            declined=self.declined,
            reference=self.reference,
            most_reasons=self.most_reasons,
            labels={
                name: label.title.lower()
                for name, label in table.labels.items()
                if name in table.features
            },
            formats={
                name: f"{{:,.6g}} {label.unit}"
                for name, label in table.labels.items()
                if name in table.numeric and label.unit
            },
            **own,
        )
