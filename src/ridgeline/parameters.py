"""The base of all parameter groups: typed, frozen, and strict about their keys."""

from difflib import get_close_matches
from typing import Any

from pydantic import BaseModel, ConfigDict, model_validator

__all__ = ["Parameters"]


class Parameters(BaseModel):
    """A group of parameters. An unknown key is an error that names the close match."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _refuse_unknown_keys(cls, values: Any) -> Any:
        if isinstance(values, dict):
            for key in values:
                if key not in cls.model_fields:
                    raise ValueError(_unknown_key(str(key), list(cls.model_fields)))
        return values


def _unknown_key(key: str, known: list[str]) -> str:
    close = get_close_matches(key, known, n=1)
    hint = f"did you mean '{close[0]}'?" if close else f"known are {', '.join(known)}."
    return f"unknown parameter '{key}': {hint}"
