"""One decision of a model with its reasons: what each component added."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import pandas as pd

from ridgeline.errors import InputError
from ridgeline.reporting.labels import Labels, component_title, label_of
from ridgeline.reporting.words import value_text
from ridgeline.xnn.columns import REFUSED, Unseen
from ridgeline.xnn.components import CategoryComponent, Component, PairComponent
from ridgeline.xnn.explanation import contributions_frame, explain
from ridgeline.xnn.scorer import Scorer

__all__ = ["ExampleDecision", "Reason", "example_decision", "typical_decision"]

_NEAR: Final = 0.1  # percent
_FEWEST: Final = 20  # rows whose middle is nobody's own value


@dataclass(frozen=True)
class Reason:
    """What one component added."""

    title: str
    value: str  # of the features that it looks at
    contribution: float  # log-odds, or in the unit of the target
    odds_factor: float | None  # of a classifier


@dataclass(frozen=True)
class ExampleDecision:
    """A row, its prediction, and the reasons, the strongest first."""

    features: dict[str, str]  # values by title
    probability: float | None  # of the second class; a regression has none
    intercept: float
    reasons: tuple[Reason, ...]
    made_up: bool = False  # of typical values, and nobody's

    @property
    def decision(self) -> float:
        """The log-odds, or the predicted number: intercept and reasons together."""
        return self.intercept + sum(reason.contribution for reason in self.reasons)

    @property
    def probability_text(self) -> str:
        """The probability in percent; one near 0 or 1 is not rounded to it."""
        if self.probability is None:
            return ""
        percent = 100 * self.probability
        if percent < _NEAR or percent > 100 - _NEAR:
            return f"below {_NEAR} %" if percent < _NEAR else f"above {100 - _NEAR} %"
        return f"{percent:.1f} %"

    @property
    def reach(self) -> float:
        """The largest contribution in size, for a common scale."""
        return max((abs(reason.contribution) for reason in self.reasons), default=0.0)


def example_decision(
    scorer: Scorer, row: pd.DataFrame, labels: Labels, unseen: Unseen = REFUSED
) -> ExampleDecision:
    """Takes the decision about one row apart.

    Args:
        unseen: What to do with cells whose like training has not seen.

    Raises:
        InputError: If there is not exactly one row.
    """
    if len(row) != 1:
        message = f"There are {len(row)} rows; pass one, such as X.iloc[[0]]."
        raise InputError(message)
    parts = contributions_frame(scorer, row, unseen).iloc[0]
    odds = scorer.classes is not None
    texts = {name: _text(row[name].iloc[0], name, labels) for name in row.columns}
    reasons = [
        Reason(
            component_title(component, labels),
            _values(component, texts),
            float(parts[component.name]),
            float(np.exp(parts[component.name])) if odds else None,
        )
        for component in explain(scorer).components
    ]
    reasons.sort(key=lambda reason: -abs(reason.contribution))
    return ExampleDecision(
        {label_of(name, labels).title: text for name, text in texts.items()},
        float(scorer.predict_proba(row, unseen)[0, 1]) if odds else None,
        float(parts["intercept"]),
        tuple(reasons),
    )


def typical_decision(
    scorer: Scorer, rows: pd.DataFrame, labels: Labels
) -> ExampleDecision | None:
    """Takes the decision about a made-up row apart, for pages to hand on.

    It has the median of each number and the most frequent of each category, so that it
    is like many rows and nobody's own.

    Returns:
        None where the rows are so few that their middle could be one of them.
    """
    if len(rows) < _FEWEST:
        return None
    typical = {name: [_typical(rows[name])] for name in rows.columns}
    unseen = Unseen("average", "average")
    example = example_decision(scorer, pd.DataFrame(typical), labels, unseen)
    return replace(example, made_up=True)


def _typical(values: "pd.Series[Any]") -> Any:
    if pd.api.types.is_numeric_dtype(values):
        # One that occurs: there is no half year of employment.
        return values.quantile(interpolation="lower")
    return values.mode(dropna=False).iloc[0]


def _values(component: Component, texts: Mapping[str, str]) -> str:
    """Values of the features that a component looks at, by weight."""
    if isinstance(component, CategoryComponent):
        return texts[component.feature]
    if isinstance(component, PairComponent):
        return ", ".join(texts[name] for name in component.features)
    named = component.leading
    return ", ".join(texts[component.feature_names[place]] for place in named)


def _text(value: Any, name: str, labels: Labels) -> str:
    if isinstance(value, str):
        return value
    if pd.isna(value):
        return "missing"
    if not isinstance(value, int | float | np.number):
        return str(value)
    return value_text(float(value), label_of(name, labels).unit)
