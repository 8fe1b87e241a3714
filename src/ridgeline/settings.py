"""Kedro's settings: hooks, and how configuration is read."""

import warnings

from ridgeline.config_loader import TableConfigLoader
from ridgeline.hooks import (
    ConsoleHook,
    NextStepsHook,
    ParametersHook,
    PlainErrorHook,
    TrackingHook,
)
from ridgeline.project_paths import ProjectPathsHook
from ridgeline.session import Session

# Kedro calls the last one first.
HOOKS = (
    PlainErrorHook(),
    NextStepsHook(),
    TrackingHook(),
    ParametersHook(),
    ProjectPathsHook(),
    ConsoleHook(),
)
SESSION_CLASS = Session

CONFIG_LOADER_CLASS = TableConfigLoader
CONFIG_LOADER_ARGS = {
    "base_env": "base",
    "default_run_env": "local",
    "config_patterns": {"mlflow": ["mlflow*", "mlflow*/**"]},
    # An environment, or --params, changes one leaf and not its whole group.
    "merge_strategy": {"parameters": "soft", "mlflow": "soft"},
}

# Our commands use --pipeline, which Kedro keeps until 2.0; we stay below 2.
warnings.filterwarnings("ignore", message="Option '--pipeline' is deprecated")
# Of no use to the reader of a run: what other packages tell their own developers.
warnings.filterwarnings("ignore", message="ORJSONResponse is deprecated")
warnings.filterwarnings("ignore", message="PySpark does not yet fully support pandas")
