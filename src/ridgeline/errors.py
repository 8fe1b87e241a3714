"""Errors that a user can act on: what was got, what is allowed, what to do."""

__all__ = ["InputError", "MissingPackageError", "RidgelineError"]


class RidgelineError(Exception):
    """Base of every error whose message is written for the user."""


class InputError(RidgelineError, ValueError):
    """A file, a table or a parameter is not what Ridgeline needs."""


class MissingPackageError(RidgelineError, ImportError):
    """Something was asked for whose package is an extra that is not installed."""
