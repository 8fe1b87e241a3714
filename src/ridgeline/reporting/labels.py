"""Features as people read them: titles, units, and values in these units."""

from collections.abc import Mapping
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ridgeline.errors import InputError
from ridgeline.xnn.explanation import CategoryComponent, RidgeComponent
from ridgeline.xnn.features import Features

__all__ = [
    "APPLICATION_LABELS",
    "Label",
    "OwnAxis",
    "component_title",
    "label_of",
    "leading_features",
    "own_axis",
    "value_text",
]

Floats = NDArray[np.float64]
# A projection with a larger weight on one feature is a function of that feature, up to
# a rest that the eye does not see.
_DOMINATES: Final = 0.9
_MIXED: Final = 0.2  # weights from which on a feature is named in a mixture
_MONTHS: Final = (
    "January February March April May June July August September October November "
    "December"
).split()


class Label(NamedTuple):
    """How a feature is called and measured."""

    title: str
    unit: str = ""


APPLICATION_LABELS: Final[Mapping[str, Label]] = {
    "application_date": Label("Application date", "year"),
    "amount": Label("Amount requested", "$"),
    "risk_score": Label("Risk score", "points"),
    "dti": Label("Debt-to-income ratio", "%"),
    "employment_length": Label("Employment length", "years"),
    "purpose": Label("Loan purpose"),
}


class OwnAxis(NamedTuple):
    """A ridge function on the axis that people read it on, from left to right.

    That axis is the leading feature's own unit where it dominates the projection, and
    the projected value z otherwise.
    """

    feature: str  # that with the largest weight
    weight: float
    dominated: bool
    x: Floats
    curve: Floats
    edges: Floats  # of the bins of the training rows
    heights: Floats  # share of the training rows in each bin
    limits: tuple[float, float]  # of the feature, or of z, in the training rows

    def core(self, share: float = 0.98) -> tuple[float, float]:
        """The range that holds the middle share of the training rows."""
        tail = (1 - share) / 2
        reached = np.concatenate([[0.0], np.cumsum(self.heights)])
        low, high = np.interp((tail, 1 - tail), reached / reached[-1], self.edges)
        return max(float(low), self.limits[0]), min(float(high), self.limits[1])


def own_axis(
    component: RidgeComponent, features: Features, means: Mapping[str, float]
) -> OwnAxis:
    """Puts a ridge function on its leading feature's own axis, if one dominates.

    The other features, whose weights are small then, are held at their means.

    Args:
        component: Of an explanation.
        features: Of the same scorer: the scaling of the columns.
        means: Of the numeric columns in the data, by name.

    Raises:
        InputError: If a column has no mean.
    """
    missing = [name for name in component.feature_names if name not in means]
    if missing:
        message = (
            f"The means lack {missing[0]!r}; pass one for each numeric feature: "
            f"{', '.join(component.feature_names)}."
        )
        raise InputError(message)
    weights = component.weights
    lead = int(np.abs(weights).argmax())
    weight = float(weights[lead])
    length = float(np.linalg.norm(weights))
    dominated = length > 0 and abs(weight) / length > _DOMINATES
    x, edges = component.z, component.edges
    limits = (float(edges[0]), float(edges[-1]))
    if dominated:
        at = np.array([means[name] for name in component.feature_names])
        scaled = (at - features.centre) * features.factor
        rest = float(weights @ scaled) - weight * scaled[lead]
        slope = weight * features.factor[lead]
        x, edges = (
            features.centre[lead] + (part - rest) / slope for part in (x, edges)
        )
        reach = 1 / features.factor[lead]
        limits = (features.centre[lead] - reach, features.centre[lead] + reach)
    name = component.feature_names[lead]
    # A weight below zero turns the axis round.
    way = slice(None, None, -1 if dominated and weight < 0 else 1)
    return OwnAxis(
        name,
        weight,
        dominated,
        x[way],
        component.curve[way],
        edges[way],
        component.heights[way],
        limits,
    )


def label_of(name: str, labels: Mapping[str, Label] | None = None) -> Label:
    """The label of a feature; one without is called by its name."""
    known = APPLICATION_LABELS if labels is None else labels
    return known.get(name, Label(name.replace("_", " ")))


def component_title(
    component: RidgeComponent | CategoryComponent,
    labels: Mapping[str, Label] | None = None,
) -> str:
    """What a component is a function of: a feature, or a mixture with its weights."""
    if isinstance(component, CategoryComponent):
        return label_of(component.name, labels).title
    places = leading_features(component)
    titles = [label_of(component.feature_names[at], labels).title for at in places]
    if len(places) == 1:
        return titles[0]
    titles[1:] = [title[0].lower() + title[1:] for title in titles[1:]]
    *first, last = [
        f"{title} ({_signed(component.weights[at])})"
        for title, at in zip(titles, places, strict=True)
    ]
    return f"{', '.join(first)} and {last}"


def leading_features(component: RidgeComponent) -> list[int]:
    """Places of the features that make up a projection, by weight.

    That is the one that dominates, or all with a weight worth naming.
    """
    sizes = np.abs(component.weights) / (np.linalg.norm(component.weights) or 1.0)
    order = [int(place) for place in np.argsort(-sizes, kind="stable")]
    if sizes[order[0]] > _DOMINATES:
        return order[:1]
    return order[:1] + [place for place in order[1:] if sizes[place] >= _MIXED]


def value_text(value: float, unit: str = "") -> str:
    """A value of a feature with its unit, as in a sentence."""
    if unit == "year":
        months = round(12 * value)
        return f"{_MONTHS[months % 12]} {months // 12}"
    if unit == "$":
        return f"${value:,.0f}"
    if unit == "%":
        return f"{value:.0f} %"
    if unit == "years":
        return "1 year" if round(value, 1) == 1 else f"{round(value, 1):g} years"
    if unit == "points":
        return f"{value:.0f} points"
    return f"{value:.3g} {unit}".strip().replace("-", "\N{MINUS SIGN}")


def _signed(weight: float) -> str:
    return f"{weight:+.2f}".replace("-", "\N{MINUS SIGN}")
