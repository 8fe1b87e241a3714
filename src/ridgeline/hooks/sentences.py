"""Errors as the user sees them: a sentence where there is one, and nothing acts."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

import click
from kedro.framework.cli.utils import KedroCliError
from kedro.framework.hooks import hook_impl
from kedro.validation.exceptions import DataValidationError

from ridgeline.errors import RidgelineError

__all__ = ["PlainError", "PlainErrorHook", "as_sentence", "printable"]

logger = logging.getLogger(__name__)


def printable(text: str) -> str:
    """A text in which every sign shows and none acts on a terminal.

    Cells of a raw file, and names of files, may hold escape sequences, bells or signs
    that turn the direction of writing.
    """
    if text.isprintable():
        return text
    return "".join(
        sign
        if sign.isprintable() or sign in "\n\t"
        else sign.encode("unicode_escape").decode()
        for sign in text
    )


class PlainError(KedroCliError):
    """An error that the command line shows as its sentence alone.

    Kedro's own display asks Python for the exception being handled; click 8.5 shows
    errors after that moment, so it would read "NoneType: None".
    """

    def __init__(self, message: str) -> None:
        super().__init__(printable(message))

    def show(self, file: IO[Any] | None = None) -> None:
        """Print the sentence."""
        click.ClickException.show(self, file)


class PlainErrorHook:
    """Shows an error that was written for the user as a sentence, not a traceback.

    The original error stays chained for Python code, and goes to the debug log:
    `kedro run` has no option to show it.
    """

    # Last, because raising here keeps the hooks after this one from being called.
    @hook_impl(trylast=True)
    def on_pipeline_error(self, error: Exception) -> None:
        """Raise the sentence, if the chain of causes holds one."""
        chain = list(_chain(error))
        for cause in chain:
            if isinstance(cause, RidgelineError | DataValidationError):
                logger.debug("The error in full:", exc_info=error)
                raise PlainError(str(cause)) from error
        for cause in chain:
            # Its traceback is shown, with the cells that an engine's error quotes.
            cause.args = tuple(
                printable(part) if isinstance(part, str) else part
                for part in cause.args
            )


@contextmanager
def as_sentence() -> Iterator[None]:
    """For places outside Kedro's own error handling, where PlainErrorHook is deaf."""
    try:
        yield
    except RidgelineError as error:
        raise PlainError(str(error)) from error


def _chain(error: BaseException) -> Iterator[BaseException]:
    """An error, its cause, the cause of that, and so on."""
    cause: BaseException | None = error
    seen: set[int] = set()
    while cause is not None and id(cause) not in seen:
        yield cause
        seen.add(id(cause))
        cause = cause.__cause__ or cause.__context__
