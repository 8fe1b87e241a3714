"""`ridgeline explain` and `ridgeline what-if`: one row, in words."""

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any

from ridgeline.command.models import open_model
from ridgeline.command.policies import chosen_policy
from ridgeline.command.reading import read_row

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["explain", "what_if"]


def explain(arguments: argparse.Namespace) -> None:
    """Shows what each feature adds to the decision about a row."""
    scorer, policy = open_model(arguments.model), chosen_policy(arguments)
    row = read_row(arguments.file, scorer, arguments.row, arguments.chunk_rows)
    from ridgeline.decisions.one_row import explain_row

    found = explain_row(scorer, row, policy)
    if arguments.json:
        _json(found.as_dict())
        return
    sys.stdout.write(f"row {arguments.row}: {found.summary}\n\n")
    _table(found.table)
    for rank, sentence in enumerate(found.sentences, start=1):
        sys.stdout.write(f"\nreason {rank}: {sentence}")
    sys.stdout.write("\n" if found.sentences else "")


def what_if(arguments: argparse.Namespace) -> None:
    """Shows the smallest change of each feature that changes the decision."""
    scorer, policy = open_model(arguments.model), chosen_policy(arguments)
    row = read_row(arguments.file, scorer, arguments.row, arguments.chunk_rows)
    from ridgeline.decisions.what_if import what_if as find

    found = find(scorer, row, policy)
    if arguments.json:
        _json(found.astype(object).where(found.notna(), None).to_dict("records"))
        return
    for outcome in found["outcome"].unique():
        sys.stdout.write(f"{outcome}:\n")
        for sentence in found.loc[found["outcome"] == outcome, "sentence"]:
            sys.stdout.write(f"  {sentence}\n")


def _table(table: "pd.DataFrame") -> None:
    text = table.to_string(index=False, float_format="{:+.4f}".format, na_rep="")
    sys.stdout.write(f"{text}\n")


def _json(value: Any) -> None:
    text = json.dumps(value, indent=2, ensure_ascii=False, default=str)
    sys.stdout.write(f"{text}\n")
