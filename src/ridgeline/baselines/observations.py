"""Rows that a baseline is fitted on or chosen by: checked, sampled, joined."""

from typing import Any, Final, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ridgeline.baselines.registry import Columns, Task
from ridgeline.errors import InputError
from ridgeline.private_names.sklearn import safe_indexing
from ridgeline.xnn.features import is_frame

__all__ = ["CLASSES", "Observations", "checked_rows", "joined", "refuse_gaps", "some"]

CLASSES: Final = (0, 1)


class Observations(NamedTuple):
    """Features, responses and how much each row counts."""

    X: Any
    y: NDArray[Any]
    weight: NDArray[np.float64] | None = None

    @property
    def rows(self) -> tuple[Any, ...]:
        """As estimators of the house take them: without weights, a pair."""
        return tuple(self) if self.weight is not None else (self.X, self.y)


def joined(first: Observations, second: Observations) -> Observations:
    """The rows of both."""
    X = (
        pd.concat([first.X, second.X], ignore_index=True)
        if is_frame(first.X)
        else np.concatenate([first.X, second.X])
    )
    weight = None
    if first.weight is not None and second.weight is not None:
        weight = np.concatenate([first.weight, second.weight])
    return Observations(X, np.concatenate([first.y, second.y]), weight)


def refuse_gaps(X: Any, which: str) -> None:
    """Most baselines cannot take missing values, and all get the same rows."""
    gaps = pd.DataFrame(X).isna().sum()
    for name, count in gaps[gaps > 0].items():
        message = (
            f"The column {name!r} has missing values in {count:,} of the {which} rows, "
            "which most baselines cannot take; fill them or drop these rows."
        )
        raise InputError(message)


def some(
    train: Observations, count: int | None, columns: Columns, task: Task, seed: int
) -> Observations:
    """A random sample of the training rows with every category and class in it."""
    if count is None or count >= len(train.y):
        return train
    order = np.random.default_rng(seed).permutation(len(train.y))
    kinds = [train.X[name].iloc[order] for name in columns.categorical]
    if task == "classification":
        kinds.append(pd.Series(train.y[order]))
    first = np.zeros(len(order), dtype=bool)
    for kind in kinds:
        first |= ~kind.duplicated().to_numpy()
    chosen = np.sort(np.r_[order[first], order[~first]][:count])
    weight = None if train.weight is None else train.weight[chosen]
    return Observations(safe_indexing(train.X, chosen), train.y[chosen], weight)


def checked_rows(task: Task, rows: tuple[Any, ...], which: str) -> Observations:
    """Rows that every method can use.

    Args:
        rows: Features and responses, and weights where rows count differently.
    """
    X = rows[0] if is_frame(rows[0]) else np.asarray(rows[0])
    y = np.asarray(rows[1])
    if y.ndim != 1 or len(X) != len(y) or not len(y):
        message = (
            f"The {which} rows have {len(X)} rows of features and responses of the "
            f"shape {y.shape}; both must be as many, and at least one."
        )
        raise InputError(message)
    weight = rows[2] if len(rows) > 2 else None  # noqa: PLR2004
    return Observations(X, _checked_response(task, y, which), weight)


def _checked_response(task: Task, y: NDArray[Any], which: str) -> NDArray[Any]:
    if task == "classification":
        found = set(np.unique(y).tolist())
        if found != set(CLASSES):
            message = (
                f"The {which} responses have the values {sorted(found)[:5]}; "
                "classification needs both 0 and 1, and nothing else."
            )
            raise InputError(message)
        return y.astype(np.int64)
    if y.dtype.kind not in "biuf" or not np.isfinite(y).all():
        message = (
            f"The {which} responses have values that are missing or no finite "
            "numbers; fill or drop these rows."
        )
        raise InputError(message)
    return y.astype(np.float64)
