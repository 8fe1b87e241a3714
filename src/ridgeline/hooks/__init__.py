"""Kedro hooks: parameters checked, MLflow told, errors in a sentence, what is next."""

from ridgeline.hooks.configuration import ParametersHook
from ridgeline.hooks.console import ConsoleHook, NextStepsHook
from ridgeline.hooks.sentences import PlainError, PlainErrorHook
from ridgeline.hooks.tracking import TrackingHook

__all__ = [
    "ConsoleHook",
    "NextStepsHook",
    "ParametersHook",
    "PlainError",
    "PlainErrorHook",
    "TrackingHook",
]
