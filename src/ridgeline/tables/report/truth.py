"""The model against the known truth of simulated data, where log-odds are additive.

Two comparisons. By component: its contribution to each row beside the true part of its
leading feature, which is fair where that feature dominates the projection; the effects
of that feature's special values count with its curve. By feature:
the model's average decision as a function of the feature alone (its partial dependence)
beside the true part, which is fair however the features are mixed. An importance is the
standard deviation over the rows of a part, as a share of their sum, the same for both.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ridgeline.errors import InputError
from ridgeline.reporting.own_axis import own_axis
from ridgeline.xnn.components import PairComponent, RidgeComponent
from ridgeline.xnn.explanation import explain
from ridgeline.xnn.scorer import Scorer

__all__ = ["TruthComparison", "compare_with_truth"]

Floats = NDArray[np.float64]
# Rows over which the other features are averaged, and values of a feature at which.
_BACKGROUND: Final = 500
_GRID: Final = 100
_GROUPS: Final = 20  # of rows by a feature's value
_COMPONENT_COLUMNS: Final = (
    "component importance feature weight dominated correlation smooth_correlation"
).split()


@dataclass(frozen=True, eq=False)
class TruthComparison:
    """What of the truth the model has found.

    Args:
        components: `component`, `importance`, `feature` (the leading one), `weight`,
            `dominated`, `correlation` of contribution and true part over the rows, and
            `smooth_correlation`, of their means in twentieths of the rows: a smooth
            curve cannot follow a spike at a single value, such as a ratio of exactly 0.
            A feature's special values have no row of their own but where no curve is.
        features: `feature`, `true_importance`, `model_importance`, `true_rank`,
            `model_rank`, `correlation` of partial dependence and true part over the
            rows; by true rank.
        curves: By feature: `value`, `log_odds` (mean 0 over the rows) and `share` of
            the rows at the value, or nearest to it.
    """

    components: pd.DataFrame
    features: pd.DataFrame
    curves: dict[str, pd.DataFrame]

    @property
    def same_order(self) -> bool:
        """Whether model and truth rank all features alike."""
        return bool((self.features["true_rank"] == self.features["model_rank"]).all())


def compare_with_truth(
    scorer: Scorer, X: pd.DataFrame, truth: Mapping[str, pd.DataFrame]
) -> TruthComparison:
    """Compares a fitted model with the true parts of the log-odds.

    Args:
        truth: For each column the `value` and `log_odds` of its part; a numeric value
            between two is interpolated.

    Raises:
        InputError: If a feature has no truth, or a category none.
    """
    missing = [name for name in scorer.features.names if name not in truth]
    if missing:
        message = (
            f"The truth lacks {missing[0]!r}; pass a table of value and log_odds for "
            f"each of {', '.join(scorer.features.names)}."
        )
        raise InputError(message)
    parts = pd.DataFrame(
        {name: _true_part(X[name], truth[name]) for name in scorer.features.names}
    )
    return TruthComparison(
        components=_by_component(scorer, X, parts),
        features=_by_feature(scorer, X, parts),
        curves={name: _centred(truth[name], X[name]) for name in scorer.features.names},
    )


def _by_component(scorer: Scorer, X: pd.DataFrame, parts: pd.DataFrame) -> pd.DataFrame:
    contributions = scorer.contributions(X)
    means = {name: float(X[name].mean()) for name in scorer.features.numbers}
    explanation = explain(scorer)
    axes = {c.name: own_axis(c, scorer.features, means) for c in explanation.ridges}
    with_curve = {axis.feature for axis in axes.values() if axis.dominated}
    special = {
        component.feature: contributions[
            :, scorer.component_names.index(component.name)
        ]
        for component in explanation.category_effects
        if component.special
    }
    rows = []
    for component in explanation.components:
        if isinstance(component, PairComponent):
            continue  # the simulator's parts are of one feature each
        part = contributions[:, scorer.component_names.index(component.name)]
        if isinstance(component, RidgeComponent):
            axis = axes[component.name]
            feature, weight, dominated = axis.feature, axis.weight, axis.dominated
            if dominated and feature in special:
                part = part + special[feature]
        elif component.special and component.feature in with_curve:
            continue
        else:
            feature, weight, dominated = component.feature, 1.0, True
        true = parts[feature].to_numpy()
        groups = _twentieths(X[feature])
        rows.append(
            {
                "component": component.name,
                "importance": component.importance,
                "feature": feature,
                "weight": weight,
                "dominated": dominated,
                "correlation": _correlation(part, true),
                "smooth_correlation": _correlation(
                    _group_means(part, groups), _group_means(true, groups)
                ),
            }
        )
    return pd.DataFrame(rows, columns=_COMPONENT_COLUMNS)


def _twentieths(column: "pd.Series[Any]") -> NDArray[np.intp]:
    """Which twentieth of the rows a row is in by its value; a category is its own."""
    if not pd.api.types.is_numeric_dtype(column):
        return np.asarray(pd.factorize(column)[0])
    values = column.to_numpy(dtype=np.float64)
    inner = np.unique(np.quantile(values, np.linspace(0, 1, _GROUPS + 1)[1:-1]))
    return np.searchsorted(inner, values, side="right")


def _group_means(values: Floats, groups: NDArray[np.intp]) -> Floats:
    """The mean of each row's group."""
    counts = np.bincount(groups)
    sums = np.bincount(groups, values)
    return np.asarray((sums / np.maximum(counts, 1))[groups])


def _by_feature(scorer: Scorer, X: pd.DataFrame, parts: pd.DataFrame) -> pd.DataFrame:
    names = scorer.features.names
    found = pd.DataFrame({name: _dependence(scorer, X, name) for name in names})
    correlations = [
        _correlation(found[name].to_numpy(), parts[name].to_numpy()) for name in names
    ]
    true, model = _shares(parts), _shares(found)
    table = pd.DataFrame(
        {
            "feature": list(names),
            "true_importance": true.to_numpy(),
            "model_importance": model.to_numpy(),
            "true_rank": true.rank(ascending=False, method="first").astype(int),
            "model_rank": model.rank(ascending=False, method="first").astype(int),
            "correlation": correlations,
        }
    )
    return table.sort_values("true_rank", ignore_index=True)


def _dependence(scorer: Scorer, X: pd.DataFrame, name: str) -> Floats:
    """The model's mean decision at each row's value of a feature."""
    # Evenly spaced rows; rows come shuffled from the split, so they are a sample.
    places = np.linspace(0, len(X) - 1, min(_BACKGROUND, len(X))).astype(np.intp)
    background = X.iloc[places].reset_index(drop=True)
    if name in scorer.features.categories:
        grid = np.array(X[name].unique(), dtype=object)
    else:
        values = X[name].to_numpy(dtype=np.float64)
        special = np.isin(values, scorer.features.numbers[name].masses)
        grid = np.unique(values)
        if len(grid) > _GRID:
            ordinary = values if special.all() else values[~special]
            grid = np.unique(np.quantile(ordinary, np.linspace(0, 1, _GRID)))
        # Special values are no part of the line through the others.
        grid = np.concatenate(
            [np.setdiff1d(grid, values[special]), np.unique(values[special])]
        )
    repeated = background.loc[background.index.repeat(len(grid))].copy()
    repeated[name] = np.tile(grid, len(background))
    decision = scorer.decision_function(repeated).reshape(-1, len(grid)).mean(axis=0)
    if name in scorer.features.categories:
        at = dict(zip(grid.tolist(), decision.tolist(), strict=True))
        return np.array([at[value] for value in X[name].tolist()])
    own = np.isin(grid, values[special])
    part = np.zeros(len(values))
    if not own.all():
        part = np.interp(values, grid[~own], decision[~own])
    places_of = np.searchsorted(grid[own], values[special])
    part[special] = decision[own][places_of]
    return np.asarray(part)


def _true_part(column: "pd.Series[Any]", truth: pd.DataFrame) -> Floats:
    log_odds = truth["log_odds"].to_numpy(dtype=np.float64)
    if pd.api.types.is_numeric_dtype(column):
        value = truth["value"].to_numpy(dtype=np.float64)
        return np.asarray(np.interp(column.to_numpy(dtype=np.float64), value, log_odds))
    at = dict(zip(truth["value"].tolist(), log_odds.tolist(), strict=True))
    strangers = set(column.tolist()) - set(at)
    if strangers:
        message = (
            f"The column {str(column.name)!r} has {min(strangers)!r}, for which there "
            f"is no truth; it must be one of {', '.join(map(str, at))}."
        )
        raise InputError(message)
    return np.array([at[value] for value in column.tolist()])


def _centred(truth: pd.DataFrame, column: "pd.Series[Any]") -> pd.DataFrame:
    """The true part with mean 0 over the rows, and the rows' share at each value."""
    values = truth["value"]
    if pd.api.types.is_numeric_dtype(column):
        numbers = values.to_numpy(dtype=np.float64)
        between = (numbers[1:] + numbers[:-1]) / 2
        nearest = np.searchsorted(between, column.to_numpy(dtype=np.float64))
        share = np.bincount(nearest, minlength=len(numbers)) / len(column)
    else:
        counts = pd.Series(column.tolist()).value_counts(normalize=True)
        share = np.array([counts.get(value, 0.0) for value in values])
    log_odds = truth["log_odds"].to_numpy(dtype=np.float64)
    return pd.DataFrame(
        {"value": values, "log_odds": log_odds - share @ log_odds, "share": share}
    )


def _shares(parts: pd.DataFrame) -> "pd.Series[float]":
    """Standard deviations over the rows, as shares of their sum."""
    deviations = parts.std(ddof=0)
    total = float(deviations.sum())
    shares = deviations / total if total > 0 else deviations
    return shares.reset_index(drop=True)


def _correlation(first: Floats, second: Floats) -> float:
    """Pearson's correlation; a part that does not vary has none."""
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        return float("nan")
    return float(np.corrcoef(first, second)[0, 1])
