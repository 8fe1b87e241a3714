"""Errors and warnings for users: what was got, what is allowed, what to do."""

import inspect
import warnings

__all__ = ["InputError", "MissingPackageError", "RidgelineError", "warn_user"]


class RidgelineError(Exception):
    """Base of every error whose message is written for the user."""


class InputError(RidgelineError, ValueError):
    """A file, a table or a parameter is not what Ridgeline needs."""


class MissingPackageError(RidgelineError, ImportError):
    """Something was asked for whose package is an extra that is not installed."""


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warns at the line that called Ridgeline, however deep inside the reason is."""
    frame, level = inspect.currentframe(), 1
    package = __name__.split(".", maxsplit=1)[0]
    while frame is not None and _package(frame.f_globals) == package:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def _package(names: dict[str, object]) -> str:
    """The package of the code that has these global names."""
    return str(names.get("__name__", "")).split(".", maxsplit=1)[0]
