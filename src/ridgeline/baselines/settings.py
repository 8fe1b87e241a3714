"""What a user may set for one baseline."""

from typing import TYPE_CHECKING, Any

from pydantic import Field

from ridgeline.errors import InputError
from ridgeline.parameters import Parameters, close_match

if TYPE_CHECKING:
    from ridgeline.baselines.registry import Task

__all__ = ["BaselineSettings", "check_settings"]


class BaselineSettings(Parameters):
    """How one baseline is tuned and fitted."""

    # Values to try by parameter of the estimator; None takes the registry's grid, and
    # an empty grid tunes nothing.
    grid: dict[str, list[Any]] | None = None
    # Parameters of the estimator that stay as they are set here.
    settings: dict[str, Any] = Field(default_factory=dict)
    # Parameters that differ while points are compared, such as fewer epochs.
    tuning_settings: dict[str, Any] = Field(default_factory=dict)
    # Tune on a random sample of at most so many training rows; None takes all.
    tuning_rows: int | None = Field(default=None, ge=1)
    # Above so many training rows the method is not applicable; None takes the
    # registry's limit.
    max_rows: int | None = Field(default=None, ge=1)


def check_settings(name: str, task: "Task", settings: BaselineSettings) -> None:
    """Refuses settings that the baseline's estimator does not have.

    Raises:
        InputError: If the baseline, its task or a parameter is unknown, or a parameter
            has no value to try.
    """
    from ridgeline.baselines.registry import find_baseline

    known = find_baseline(name, task).parameter_names(task)
    named = [*settings.settings, *settings.tuning_settings, *(settings.grid or {})]
    for key in named:
        if key not in known:
            hint = close_match(key, known)
            message = f"The baseline {name!r} has no parameter {key!r}: {hint}"
            raise InputError(message)
    for key, values in (settings.grid or {}).items():
        if not values:
            message = (
                f"The grid of the baseline {name!r} has no value for {key!r}; name at "
                "least one, or leave it out."
            )
            raise InputError(message)
        if key in settings.settings or key in settings.tuning_settings:
            message = (
                f"The baseline {name!r} has {key!r} in its settings and in its grid; "
                "fix it or tune it, not both."
            )
            raise InputError(message)
