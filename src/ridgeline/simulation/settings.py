"""What a user may set about the study; conf/base/parameters_simulation.yml explains."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from pydantic import Field, field_validator

from ridgeline.baselines.registry import BASELINES
from ridgeline.baselines.settings import BaselineSettings, check_settings
from ridgeline.parameters import Jobs, NotNegative, Parameters, close_match
from ridgeline.simulation.scenarios import SCENARIOS
from ridgeline.xnn.estimator import XNNRegressor
from ridgeline.xnn.search import COHERENCES, PAPER_GRID

__all__ = ["MODELS", "NETWORKS", "PAPER_NETWORK", "NetworkSearch", "StudySettings"]

# The enhanced network, which is the paper's, and one that is not: its projections may
# overlap.
NETWORKS: Final = ("xnn", "near")
# These, and every baseline that does regression.
MODELS: Final = (
    *NETWORKS,
    *(name for name, method in BASELINES.items() if "regression" in method.tasks),
)
# The study is one of the paper's model, whatever the estimators' defaults are: columns
# scaled by their ends, no values with an effect of their own, and constant factors of
# the cosine schedule's steps. What a user sets goes before it.
PAPER_NETWORK: Final[Mapping[str, Any]] = {
    "scaling": "minmax",
    "special_values": None,
    "cayley_step": 10.0,
    "relaxation": 0.0,
    "learning_rate": 0.01,
    "beyond_range": "extend",
}
_STEPS: Final = ("cayley_step", "learning_rate")
_FEWEST_ROWS: Final = 50


class NetworkSearch(Parameters):
    """How the enhanced network is tuned: the grid, lambda3, then several starts."""

    # Values to try by parameter of XNNRegressor; None takes the paper's 5 x 5 grid.
    grid: dict[str, list[Any]] | None = None
    # lambda3 to try at the penalties that the grid chose; one value is as it is.
    roughness: list[NotNegative] = Field(default=[1e-6, 10**-6.5, 1e-7], min_length=1)
    # Prices of overlap to try then, where projections may overlap: the largest within
    # one standard error of the smallest loss is taken.
    coherence: list[NotNegative] = Field(default_factory=list)
    # Random starts at the penalties that were chosen; the best by all rows is kept.
    n_starts: int = Field(default=6, ge=1)
    # Parameters of XNNRegressor that stay as they are set here.
    settings: dict[str, Any] = Field(default_factory=dict)

    @property
    def points(self) -> Mapping[str, Sequence[Any]]:
        """Values to try by parameter, whether they are set or the paper's."""
        return PAPER_GRID if self.grid is None else self.grid

    @field_validator("grid", "settings")
    @classmethod
    def _parameters_exist(cls, values: dict[str, Any] | None) -> dict[str, Any] | None:
        known = sorted(XNNRegressor().get_params())
        for key in values or {}:
            if key not in known:
                hint = close_match(key, known)
                message = f"the network has no parameter {key!r}: {hint}"
                raise ValueError(message)
        return values


def _near_search() -> NetworkSearch:
    return NetworkSearch(coherence=list(COHERENCES))


class StudySettings(Parameters):
    """Which cells are run, with which models, and where."""

    scenarios: list[str] = Field(default=list(SCENARIOS), min_length=1)
    sizes: list[int] = Field(default=[1_000, 2_000], min_length=1)
    repetitions: int = Field(default=3, ge=1)
    models: list[str] = Field(default=list(MODELS), min_length=1)
    validation_share: float = Field(default=0.2, gt=0, lt=1)
    test_rows: int = Field(default=10_000, ge=_FEWEST_ROWS)
    # Epochs of each fit of a network; None takes the schedule's.
    max_epochs: int | None = Field(default=None, ge=1)
    xnn: NetworkSearch = Field(default_factory=NetworkSearch)
    near: NetworkSearch = Field(default_factory=_near_search)
    baselines: dict[str, BaselineSettings] = Field(default_factory=dict)
    # Folder of the results, one file for each task.
    results: str = "data/07_model_output/study"
    # False reports what is stored and runs nothing, to look at an unfinished study.
    compute: bool = True
    n_jobs: Jobs = -1
    # Address of a Dask scheduler that does the work instead, such as
    # tcp://127.0.0.1:8786.
    scheduler: str | None = None
    # Seconds to wait for a scheduler or a worker from which nothing is heard. Workers
    # tell that they live while they compute: a long task is no silence.
    patience: float = Field(default=60, gt=0, allow_inf_nan=False)

    @field_validator("scenarios")
    @classmethod
    def _scenarios_exist(cls, values: list[str]) -> list[str]:
        return _known(values, list(SCENARIOS), "scenario")

    @field_validator("models")
    @classmethod
    def _models_exist(cls, values: list[str]) -> list[str]:
        return _known(values, list(MODELS), "model")

    @field_validator("baselines")
    @classmethod
    def _baselines_exist(
        cls, values: dict[str, BaselineSettings]
    ) -> dict[str, BaselineSettings]:
        _known(list(values), list(MODELS[len(NETWORKS) :]), "baseline")
        for name, own in values.items():
            check_settings(name, "regression", own)
        return values

    @field_validator("sizes")
    @classmethod
    def _sizes_are_enough(cls, values: list[int]) -> list[int]:
        for size in values:
            if size < _FEWEST_ROWS:
                message = (
                    f"n is {size}, but must be at least {_FEWEST_ROWS}, because a part "
                    "of the rows is set aside to choose by"
                )
                raise ValueError(message)
            _refuse_twice(values, size, "n")
        return values

    @field_validator("scheduler")
    @classmethod
    def _scheduler_is_an_address(cls, value: str | None) -> str | None:
        if value is not None and not re.fullmatch(r"[a-z]+://\S+", value):
            message = (
                f"the address is {value!r}, but must be one such as "
                "'tcp://127.0.0.1:8786', or null to work here"
            )
            raise ValueError(message)
        return value

    def network(self, name: str) -> NetworkSearch:
        """How one of the networks is tuned, with what all networks share."""
        if name == "xnn":
            return self.xnn.model_copy(update=self._shared(self.xnn.settings))
        # Not the paper's: it has the estimator's own way of training.
        own = {"projection": "near"} | self.near.settings
        shared = self._shared(own)["settings"]
        dropped = {*_STEPS, "relaxation"} - self.near.settings.keys()
        kept = {key: shared[key] for key in shared if key not in dropped}
        return self.near.model_copy(update={"settings": kept})

    def baseline(self, name: str) -> BaselineSettings:
        """How a baseline is tuned, with what all networks share if it is one."""
        own = self.baselines.get(name, BaselineSettings())
        if not BASELINES[name].is_xnn:
            return own
        # What a grid tries is not fixed.
        tried = own.grid or {}
        shared = self._shared(own.settings)["settings"]
        kept = {key: shared[key] for key in shared if key not in tried}
        return own.model_copy(update={"settings": kept})

    def _shared(self, settings: dict[str, Any]) -> dict[str, Any]:
        """Settings of a network: the paper's, the epochs, and what a user has set."""
        paper = dict(PAPER_NETWORK)
        if settings.get("schedule", "cosine") != "cosine":
            paper |= dict.fromkeys(_STEPS)  # another schedule has steps of its own
        epochs = {} if self.max_epochs is None else {"max_epochs": self.max_epochs}
        return {"settings": paper | epochs | settings}

    @property
    def largest(self) -> int:
        """The size whose networks are drawn."""
        return max(self.sizes)


def _known(values: list[str], known: list[str], what: str) -> list[str]:
    """Refuses names that there are not, and those that are there twice."""
    for value in values:
        if value not in known:
            # Not the closest: S9 is as close to each of the six.
            message = f"there is no {what} {value!r}: known are {', '.join(known)}"
            raise ValueError(message)
        _refuse_twice(values, value, what)
    return values


def _refuse_twice(values: list[Any], value: Any, what: str) -> None:
    if values.count(value) > 1:
        message = f"the {what} {value!r} is there twice; name each once"
        raise ValueError(message)
