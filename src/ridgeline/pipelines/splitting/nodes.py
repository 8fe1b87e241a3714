"""Nodes of the splitting pipeline."""

import ibis.expr.types as ir
import pandas as pd

from ridgeline.lendingclub import splitting, validation
from ridgeline.lendingclub.cleaning import CleaningRules
from ridgeline.lendingclub.identity import identify_split
from ridgeline.lendingclub.modelling import model_sample
from ridgeline.lendingclub.splitting import SplitShares

__all__ = ["identify_data", "split_applications"]

_EXAMPLE_ROWS = 5


def split_applications(
    applications: ir.Table, rules: CleaningRules, shares: SplitShares, seed: int
) -> tuple[ir.Table, ir.Table, ir.Table, pd.DataFrame]:
    """Validate the clean table, split it by hash, and take a few rows as an example."""
    validation.validate_clean(applications, rules)
    sets = splitting.split_applications(applications, shares, seed)
    # By their hash they are rows at random, and always the same.
    some = applications.order_by("row_key").limit(_EXAMPLE_ROWS).to_pandas()
    example = model_sample(some).features
    return sets["train"], sets["validation"], sets["test"], example


def identify_data(
    train: pd.DataFrame, validation: pd.DataFrame, test: pd.DataFrame
) -> dict[str, str]:
    """Hash the sets as they were saved: models carry it, and stay with their data."""
    return identify_split({"train": train, "validation": validation, "test": test})
