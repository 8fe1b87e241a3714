"""Kedro's session, which refuses what cannot work and ends with all it has started."""

import multiprocessing
from typing import Any

from kedro.framework.context import KedroContext
from kedro.framework.project import settings
from kedro.framework.session import KedroSession
from kedro.runner import AbstractRunner, ParallelRunner, ThreadRunner

from ridgeline.config_loader import run_of_a_table
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

_TABULAR = {"table", "tabular"}  # pipelines that read a table of the user's own
# Those that read other data, whatever table is named on the command line.
_OTHERS = {
    *("ingestion", "cleaning", "splitting", "data", "lendingclub", "simulation"),
    *("__default__", None),
}
_OF_A_TABLE = ("table", "target")  # parameters of the command line


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
        given = args[0] if args else options.get("pipeline_name")
        names = options.get("pipeline_names") or [given]
        of_a_table = bool(_TABULAR.intersection(names))
        with as_sentence():
            _refuse_several_at_once(options.get("runner"))
            typed = self.store.get("runtime_params") or {}
            _refuse_another_table(names, [key for key in _OF_A_TABLE if key in typed])
        others = multiprocessing.active_children()
        with interrupted_by_signals(), run_of_a_table(of_a_table):
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


def _refuse_another_table(names: list[str | None], typed: list[str]) -> None:
    """Refuse to name a table to a pipeline that reads other data."""
    others = [name for name in names if name in _OTHERS]
    if typed and others:
        message = (
            f"parameter '{typed[0]}' is for --pipeline tabular and for the pipelines "
            f"of its models, and '{others[0] or '__default__'}' reads other data: add "
            f"--pipeline tabular, or leave {typed[0]} out."
        )
        raise InputError(message)


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
