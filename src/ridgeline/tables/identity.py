"""Which split a model comes from, so that none is judged on the rows of another."""

from collections.abc import Mapping
from typing import Any, Final

import pandas as pd

from ridgeline.errors import InputError
from ridgeline.hashing import hash_of_frame, hash_of_text

__all__ = ["IDENTITY", "check_fitted_on", "identify_split", "verified_split"]

IDENTITY: Final = "data_identity"  # key of the reports
_SPLIT: Final = "split"


def identify_split(sets: Mapping[str, pd.DataFrame]) -> dict[str, str]:
    """Hashes of a split's sets by their names, and of all together under `split`."""
    hashes = {name: hash_of_frame(rows) for name, rows in sets.items()}
    whole = hash_of_text(" ".join(hashes.values()))
    return hashes | {_SPLIT: whole}


def verified_split(identity: Mapping[str, str], **sets: pd.DataFrame) -> str:
    """The split's hash, if these sets are of it.

    Raises:
        InputError: If a set has other rows, such as those of an interrupted run.
    """
    for name, rows in sets.items():
        if identity.get(name) != hash_of_frame(rows):
            message = (
                f"The {name} rows are not those of the last split, which was "
                "interrupted or done twice at once: run `kedro run --pipeline data` "
                "again, or `--pipeline tabular` for a table of your own, with your "
                "--env and --params."
            )
            raise InputError(message)
    return identity[_SPLIT]


def check_fitted_on(split: str, name: str, report: Mapping[str, Any]) -> None:
    """Refuses a model of other data.

    Raises:
        InputError: If the model was fitted on the rows of another split.
    """
    if report.get(IDENTITY) != split:
        message = (
            f"{name} was fitted on other data than the present train, validation and "
            "test rows: run `kedro run --pipeline lendingclub` (or tabular), or at "
            "least tuning, training, pruning, refinement, baselines and evaluation, "
            "with your --env and --params."
        )
        raise InputError(message)
