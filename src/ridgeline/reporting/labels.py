"""Features and components as people read them: titles and units."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ridgeline.reporting.words import value_text
from ridgeline.xnn.components import CategoryComponent, Component, PairComponent

__all__ = ["Label", "Labels", "category_texts", "component_title", "label_of"]


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
        title = label_of(component.feature, labels).title
        return f"{title}: {component.kind}" if component.special else title
    if isinstance(component, PairComponent):
        one, two = (label_of(name, labels).title for name in component.features)
        return f"{one} together with {two[0].lower()}{two[1:]}"
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


def category_texts(
    categories: Sequence[Any], feature: str, labels: Labels
) -> list[str]:
    """Categories, or special values in the unit of their feature, as they are read."""
    unit = label_of(feature, labels).unit
    texts = [_category_text(category, unit) for category in categories]
    # Two values that round to one text are told apart by all their digits.
    return [
        str(category) if texts.count(text) > 1 else text
        for category, text in zip(categories, texts, strict=True)
    ]


def _category_text(category: Any, unit: str) -> str:
    if category is None:
        return "missing"
    if isinstance(category, float):
        return value_text(category, unit)
    return str(category)


def _signed(weight: float) -> str:
    return f"{weight:+.2f}".replace("-", "\N{MINUS SIGN}")
