"""Features and components as people read them: titles and units."""

from collections.abc import Mapping
from typing import Final, NamedTuple

import numpy as np

from ridgeline.reporting.own_axis import DOMINATES
from ridgeline.xnn.explanation import CategoryComponent, RidgeComponent

__all__ = ["Label", "Labels", "component_title", "label_of", "leading_features"]

_MIXED: Final = 0.2  # weights from which on a feature is named in a mixture


class Label(NamedTuple):
    """How a feature is called and measured."""

    title: str
    unit: str = ""


Labels = Mapping[str, Label]


def label_of(name: str, labels: Labels) -> Label:
    """The label of a feature; one without is called by its name."""
    return labels.get(name, Label(name.replace("_", " ")))


def component_title(
    component: RidgeComponent | CategoryComponent, labels: Labels
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
    if sizes[order[0]] > DOMINATES:
        return order[:1]
    return order[:1] + [place for place in order[1:] if sizes[place] >= _MIXED]


def _signed(weight: float) -> str:
    return f"{weight:+.2f}".replace("-", "\N{MINUS SIGN}")
