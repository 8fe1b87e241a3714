"""Kedro's session, which refuses what cannot work and ends with all it has started."""

import multiprocessing
from typing import Any

from kedro.framework.context import KedroContext
from kedro.framework.project import settings
from kedro.framework.session import KedroSession
from kedro.runner import AbstractRunner, ParallelRunner, ThreadRunner

from ridgeline.errors import InputError
from ridgeline.hooks import TrackingHook
from ridgeline.hooks.configuration import check_environment, readable_configuration
from ridgeline.hooks.sentences import as_sentence
from ridgeline.interruption import (
    end_processes,
    interrupted_by_signals,
    was_interrupted,
)
from ridgeline.private_names.kedro import conf_source, is_async

__all__ = ["Session"]


class Session(KedroSession):
    """A session of this project; settings.py names it to Kedro."""

    def load_context(self) -> KedroContext:
        """Read the configuration, or say in a sentence why it cannot be read."""
        base, default = (
            settings.CONFIG_LOADER_ARGS[key] for key in ("base_env", "default_run_env")
        )
        environment = self.store.get("env") or default
        source = conf_source(self)
        with as_sentence():
            check_environment(source, environment)
            with readable_configuration(source, [base, environment]):
                return super().load_context()

    def run(self, *args: Any, **options: Any) -> dict[str, Any]:
        """Run a pipeline; a request to end is an interruption, as Ctrl-C is."""
        with as_sentence():
            _refuse_several_at_once(options.get("runner"))
        others = multiprocessing.active_children()
        with interrupted_by_signals():
            try:
                return super().run(*args, **options)
            except BaseException as error:
                if was_interrupted() or not isinstance(error, Exception):
                    self._tidy_up(others)
                raise

    def _tidy_up(self, others: list[Any]) -> None:
        end_processes(besides=others)
        for hook in settings.HOOKS:
            if isinstance(hook, TrackingHook):
                hook.close_interrupted()


def _refuse_several_at_once(runner: AbstractRunner | None) -> None:
    """Refuse what would use the one connection to the engine from several threads."""
    if isinstance(runner, ParallelRunner | ThreadRunner):
        got = f"the runner is {type(runner).__name__}"
    elif runner is not None and is_async(runner):
        got = "loading and saving are asynchronous"
    else:
        return
    message = (
        f"{got}, but all tables share one connection to their engine, which does one "
        "thing at a time: leave the option out, for SequentialRunner. Queries and fits "
        "use all cores under it."
    )
    raise InputError(message)
