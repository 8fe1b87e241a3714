"""Nodes of the splitting pipeline."""

import ibis.expr.types as ir

from ridgeline.lendingclub import splitting, validation
from ridgeline.lendingclub.cleaning import CleaningRules
from ridgeline.lendingclub.splitting import SplitShares

__all__ = ["split_applications"]


def split_applications(
    applications: ir.Table, rules: CleaningRules, shares: SplitShares, seed: int
) -> tuple[ir.Table, ir.Table, ir.Table]:
    """Validate the clean table against the rules and split it by hash."""
    validation.validate_clean(applications, rules)
    sets = splitting.split_applications(applications, shares, seed)
    return sets["train"], sets["validation"], sets["test"]
