"""Contributions to the decision about each row as data frames, which need pandas."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from ridgeline.errors import InputError
from ridgeline.xnn.columns import REFUSED, Unseen
from ridgeline.xnn.scorer import Scorer
from ridgeline.xnn.sharing import weight_shares

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "By",
    "contributions_by",
    "contributions_frame",
    "feature_contributions_frame",
    "feature_parts_frame",
    "feature_shares",
]

Floats = NDArray[np.float64]
By = Literal["component", "feature"]
_PARTS: Final = ("main", "interaction")


def contributions_by(
    by: By, scorer: Scorer, X: Any, unseen: Unseen = REFUSED
) -> "pd.DataFrame":
    """The contributions of `Explanation.contributions`.

    Raises:
        InputError: If there is no such table, or X is not as the training rows.
    """
    if by == "component":
        return contributions_frame(scorer, X, unseen)
    if by == "feature":
        return feature_contributions_frame(scorer, X, unseen)
    message = f"by is {by!r}; it must be 'component' or 'feature'."
    raise InputError(message)


def contributions_frame(
    scorer: Scorer, X: Any, unseen: Unseen = REFUSED
) -> "pd.DataFrame":
    """What each component in use adds, the most important first.

    Raises:
        InputError: If X is not as the training rows, or names clash.
    """
    order = np.argsort(-scorer.all_scales, kind="stable")
    used = order[scorer.all_scales[order] != 0]
    names = _with_ends(
        [scorer.component_names[place] for place in used], "categorical feature"
    )
    return _frame(scorer, X, names, scorer.contributions(X, unseen)[:, used])


def feature_contributions_frame(
    scorer: Scorer, X: Any, unseen: Unseen = REFUSED
) -> "pd.DataFrame":
    """What each column of the table that takes part adds, the most important first.

    Raises:
        InputError: If X is not as the training rows, or names clash.
    """
    columns, places = _taking_part(scorer)
    names = _with_ends(columns, "feature")
    parts = scorer.feature_contributions(X, unseen)[:, places]
    return _frame(scorer, X, names, parts)


def feature_parts_frame(
    scorer: Scorer, X: Any, unseen: Unseen = REFUSED
) -> "pd.DataFrame":
    """Main part and interaction of each row and column of the table that takes part.

    Raises:
        InputError: If X is not as the training rows.
    """
    import pandas as pd

    columns, places = _taking_part(scorer)
    parts = scorer.feature_parts(X, unseen)[:, places]
    # Only the index of pandas labels rows; that of a list is a method.
    index = X.index if hasattr(X, "iloc") else pd.RangeIndex(len(parts))
    levels = [
        index.get_level_values(level).repeat(len(columns))
        for level in range(index.nlevels)
    ]
    features = pd.Index(columns)[np.tile(np.arange(len(columns)), len(parts))]
    return pd.DataFrame(
        parts.reshape(-1, len(_PARTS)),
        columns=list(_PARTS),
        index=pd.MultiIndex.from_arrays(
            [*levels, features], names=[*index.names, "feature"]
        ),
    )


def feature_shares(scorer: Scorer) -> dict[str, float]:
    """Importance of each projected or categorical column, the largest first."""
    features, ratios = scorer.features, scorer.importance_ratios
    shares = dict.fromkeys(features.projected_names, 0.0)
    # From the most important component on, as people read them.
    for place in np.argsort(-ratios, kind="stable"):
        if not ratios[place]:
            continue
        group = int(place) - len(scorer.scales)
        if (pair := group - len(scorer.category_scales)) >= 0:
            for name in scorer.pairs[pair].columns:
                shares[name] = shares.get(name, 0.0) + float(ratios[place]) / 2
            continue
        if group >= 0:
            name = features.group_columns[group]
            shares[name] = shares.get(name, 0.0) + float(ratios[place])
            continue
        parts = ratios[place] * weight_shares(scorer.projection[:, place])
        for name, part in zip(features.projected_names, parts, strict=True):
            shares[name] += float(part)
    return dict(sorted(shares.items(), key=lambda item: -item[1]))


def _taking_part(scorer: Scorer) -> tuple[list[str], list[int]]:
    """Columns that some component depends on, by importance, and their places."""
    names = [name for name, share in feature_shares(scorer).items() if share > 0]
    return names, [scorer.features.names.index(name) for name in names]


def _with_ends(inner: Sequence[str], what: str) -> list[str]:
    """The names between the intercept and the decision."""
    names = ["intercept", *inner, "decision"]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        message = (
            f"The {what} {twice!r} has the name of another column of the "
            "contributions; rename it before training."
        )
        raise InputError(message)
    return names


def _frame(scorer: Scorer, X: Any, names: list[str], parts: Floats) -> "pd.DataFrame":
    """Parts with the intercept before them and their sum behind them."""
    import pandas as pd

    decision = scorer.intercept + parts.sum(axis=1)
    intercept = np.full(len(parts), scorer.intercept)
    return pd.DataFrame(
        np.column_stack([intercept, parts, decision]),
        columns=names,
        index=X.index if hasattr(X, "iloc") else None,
    )
