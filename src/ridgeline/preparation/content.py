"""A preparation in the types of JSON, and back; a file without one has none."""

from typing import Any, Final

from ridgeline.preparation.recipes import Format, Preparation, Recipe, Step
from ridgeline.preparation.steps import OPTIONS

__all__ = ["preparation_content", "read_preparation"]

_KEY: Final = "preparation"
_MOST: Final = 10_000  # recipes, sources or steps


def preparation_content(preparation: Preparation | None) -> dict[str, Any]:
    """The formats with their recipes, in their order; nothing where there is none."""
    if preparation is None:
        return {}
    return {_KEY: [_format_content(form) for form in preparation.formats]}


def read_preparation(
    model: dict[str, Any], columns: tuple[str, ...]
) -> Preparation | None:
    """The preparation of what `preparation_content` gave.

    Args:
        model: The content of a model file.
        columns: Of the model, each of which every format has to make.

    Raises:
        ValueError: If it is anything else; the message says which part.
    """
    if _KEY not in model:
        return None
    formats = tuple(_format(each, columns) for each in _list(model[_KEY], _KEY))
    names = {form.name for form in formats}
    _demand(0 < len(names) == len(formats), "formats are none, or one is there twice")
    return Preparation(formats)


def _format_content(form: Format) -> dict[str, Any]:
    recipes = [
        {
            "column": recipe.column,
            "sources": list(recipe.sources),
            "steps": [{"do": step.name} | dict(step.options) for step in recipe.steps],
        }
        for recipe in form.recipes
    ]
    return {"name": form.name, "recipes": recipes}


def _format(content: Any, columns: tuple[str, ...]) -> Format:
    _keys(content, {"name", "recipes"}, "a format")
    recipes = tuple(_recipe(each) for each in _list(content["recipes"], "recipes"))
    made = tuple(recipe.column for recipe in recipes)
    _demand(made == columns, "the recipes are not of the model's columns in order")
    return Format(_text(content["name"], "a format's name"), recipes)


def _recipe(content: Any) -> Recipe:
    _keys(content, {"column", "sources", "steps"}, "a recipe")
    sources = tuple(
        _text(each, "a source") for each in _list(content["sources"], "sources")
    )
    _demand(0 < len(set(sources)) == len(sources), "sources are none or one is twice")
    steps = tuple(_step(each) for each in _list(content["steps"], "steps"))
    _demand(bool(steps), "a recipe has no steps")
    means = [step.name for step in steps].count("mean")
    _demand(means <= 1, "a recipe has two means")
    _demand(len(sources) == 1 or means == 1, "a recipe leaves several columns")
    return Recipe(_text(content["column"], "a recipe's column"), sources, steps)


def _step(content: Any) -> Step:
    name = content.get("do") if isinstance(content, dict) else None
    _demand(type(name) is str and name in OPTIONS, "a step is not one that there is")
    known = OPTIONS[str(name)]
    _keys(content, {"do", *known}, f"the step {name!r}")
    for key, fits in known.items():
        _demand(fits(content[key]), f"{key!r} of the step {name!r} is not allowed")
    return Step(str(name), {key: content[key] for key in known})


def _list(content: Any, what: str) -> list[Any]:
    _demand(type(content) is list and len(content) <= _MOST, f"{what} is no list")
    return list(content)


def _text(content: Any, what: str) -> str:
    _demand(type(content) is str, f"{what} is no text")
    return str(content)


def _keys(content: Any, keys: set[str], what: str) -> None:
    fits = type(content) is dict and content.keys() == keys
    _demand(fits, f"{what} does not have the keys {', '.join(sorted(keys))}")


def _demand(holds: bool, otherwise: str) -> None:
    if not holds:
        raise ValueError(otherwise)
