"""The base of all parameter groups: typed, frozen, and strict about their keys."""

from difflib import get_close_matches
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from ridgeline.errors import InputError

__all__ = ["Parameters", "checked", "close_match"]

_Group = TypeVar("_Group", bound=BaseModel)


class Parameters(BaseModel):
    """A group of parameters. An unknown key is an error that names the close match."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _refuse_unknown_keys(cls, values: Any) -> Any:
        if isinstance(values, dict):
            for key in values:
                if key not in cls.model_fields:
                    hint = close_match(str(key), list(cls.model_fields))
                    message = f"unknown parameter '{key}': {hint}"
                    raise ValueError(message)
        return values


def close_match(key: str, known: list[str]) -> str:
    """A hint for a key that is not known: the one that was meant, or all there are."""
    close = get_close_matches(key, known, n=1)
    return f"did you mean '{close[0]}'?" if close else f"known are {', '.join(known)}."


def checked(group: type[_Group], values: Any, where: str) -> _Group:
    """Build a group of parameters, or say in one sentence what is wrong with it.

    Args:
        group: The group's class.
        values: Its keys and values.
        where: What the user has to open to change them.

    Raises:
        InputError: If a key is unknown or a value is not allowed.
    """
    try:
        return group.model_validate(values)
    except ValidationError as error:
        problems = "; ".join(_sentence(item) for item in error.errors())
        message = f"{where}: {problems}{'' if problems.endswith('?') else '.'}"
        raise InputError(message) from error


def _sentence(problem: Any) -> str:
    key = ".".join(str(part) for part in problem["loc"])
    # The message of a validator of our own, such as that of unknown keys, says all.
    own = problem.get("ctx", {}).get("error")
    if isinstance(own, ValueError):
        return (f"'{key}': {own}" if key else str(own)).rstrip(".")
    reason = problem["msg"][0].lower() + problem["msg"][1:]
    return f"{repr(key) if key else 'it'} is {problem['input']!r}, but {reason}"
