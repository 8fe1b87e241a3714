"""The base of all parameter groups: typed, frozen, and strict about their keys."""

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Annotated, Any, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    model_validator,
)

from ridgeline.errors import InputError

__all__ = [
    "Globals",
    "Jobs",
    "NotNegative",
    "Parameters",
    "Positive",
    "Seed",
    "checked",
    "close_match",
]

_Value = TypeVar("_Value")


def _not_zero(value: int) -> int:
    if value == 0:
        message = "it is 0, but must be 1 or more, or -1 for one for each core"
        raise ValueError(message)
    return value


# What NumPy, scikit-learn and TensorFlow all take. No text, and not null: a run without
# a seed could not be repeated.
Seed = Annotated[int, Field(strict=True, ge=0, lt=2**32)]
Jobs = Annotated[int, AfterValidator(_not_zero)]  # processes, as joblib counts them
NotNegative = Annotated[float, Field(ge=0)]
Positive = Annotated[float, Field(gt=0)]


class Parameters(BaseModel):
    """A group of parameters. An unknown key is an error that names the close match."""

    # A limit that is not a number would let everything pass without a word.
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

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


class _SimulatedRows(Parameters):
    accepted: int = Field(strict=True, ge=1)
    rejected: int = Field(strict=True, ge=1)


class _Connection(BaseModel):
    model_config = ConfigDict(extra="allow")  # the rest is the engine's

    backend: str = Field(min_length=1)


class Globals(BaseModel):
    """What globals.yml says, as far as the project reads it; users may add keys."""

    model_config = ConfigDict(extra="allow")

    seed: Seed
    simulated_rows: _SimulatedRows
    connection: _Connection
    table: str = Field(min_length=1)
    example_rows: int = Field(strict=True, ge=100)


def close_match(key: str, known: list[str]) -> str:
    """A hint for a key that is not known: the one that was meant, or all there are."""
    close = get_close_matches(key, known, n=1)
    return f"did you mean '{close[0]}'?" if close else f"known are {', '.join(known)}."


def checked(kind: type[_Value], values: Any, where: str) -> _Value:
    """Build a group of parameters, or say in one sentence what is wrong with it.

    Args:
        kind: The group's class, or the type of a single value.
        values: Its keys and values, or the value.
        where: What the user has to open to change them.

    Raises:
        InputError: If a key is unknown or a value is not allowed.
    """
    try:
        return TypeAdapter(kind).validate_python(values)
    except ValidationError as error:
        by_key: dict[str, list[Any]] = {}
        for problem in error.errors():
            by_key.setdefault(_key(problem["loc"], values), []).append(problem)
        problems = "; ".join(_sentence(key, found) for key, found in by_key.items())
        message = f"{where}: {problems}{'' if problems.endswith('?') else '.'}"
        raise InputError(message) from error


def _key(location: tuple[Any, ...], values: Any) -> str:
    """The dotted name of what is wrong.

    Of a value that may have several types, Pydantic's location ends with the type.
    """
    parts = []
    for part in location:
        if isinstance(values, Mapping):
            values = values.get(part)
        elif isinstance(values, list) and isinstance(part, int):
            values = values[part]
        else:
            break
        parts.append(str(part))
    return ".".join(parts)


def _sentence(key: str, problems: list[Any]) -> str:
    # The message of a validator of our own, such as that of unknown keys, says all.
    own = problems[0].get("ctx", {}).get("error")
    if isinstance(own, ValueError):
        return (f"'{key}': {own}" if key else str(own)).rstrip(".")
    if problems[0]["type"] == "missing":
        return f"'{key}' is missing"
    said = [each["msg"].partition(" or instance of ")[0] for each in problems]
    reasons = [text[0].lower() + text[1:] for text in said]
    given = problems[0]["input"]
    return f"{repr(key) if key else 'it'} is {given!r}, but {' or '.join(reasons)}"
