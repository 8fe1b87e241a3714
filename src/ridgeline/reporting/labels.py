"""Features and components as people read them: titles and units."""

from collections.abc import Mapping
from typing import NamedTuple

from ridgeline.xnn.components import CategoryComponent, Component

__all__ = ["Label", "Labels", "component_title", "label_of"]


class Label(NamedTuple):
    """How a feature is called and measured."""

    title: str
    unit: str = ""


Labels = Mapping[str, Label]


def label_of(name: str, labels: Labels) -> Label:
    """The label of a feature; one without is called by its name."""
    return labels.get(name, Label(name.replace("_", " ")))


def component_title(component: Component, labels: Labels) -> str:
    """What a component is a function of: a feature, or a mixture with its weights."""
    if isinstance(component, CategoryComponent):
        return label_of(component.name, labels).title
    places = component.leading
    titles = [label_of(component.feature_names[at], labels).title for at in places]
    if len(places) == 1:
        return titles[0]
    titles[1:] = [title[0].lower() + title[1:] for title in titles[1:]]
    *first, last = [
        f"{title} ({_signed(component.weights[at])})"
        for title, at in zip(titles, places, strict=True)
    ]
    return f"{', '.join(first)} and {last}"


def _signed(weight: float) -> str:
    return f"{weight:+.2f}".replace("-", "\N{MINUS SIGN}")
