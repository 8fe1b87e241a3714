"""What a user may set about the explainable network; conf/base explains every key."""

from typing import Any, Literal

from pydantic import Field, PositiveInt

from ridgeline.errors import InputError
from ridgeline.parameters import Jobs, NotNegative, Parameters, close_match
from ridgeline.tables.description import TableDescription
from ridgeline.xnn.architecture import Activation
from ridgeline.xnn.columns import WhenBeyond
from ridgeline.xnn.features import Direction
from ridgeline.xnn.scaling import Scaling
from ridgeline.xnn.schedules import ScheduleName
from ridgeline.xnn.search import PAPER_GRID, ROUGHNESS

__all__ = [
    "ColumnSettings",
    "NetworkSettings",
    "PruningSettings",
    "RefinementSettings",
    "TrainingSettings",
    "TuningSettings",
    "XnnSettings",
    "with_columns",
]


def with_columns(parameters: dict[str, Any], table: TableDescription) -> dict[str, Any]:
    """Parameters of a network, with what a table says about its columns."""
    taken = parameters | {
        "categorical_features": list(table.categorical),
        "unknown_category": table.unseen,
        "unknown_missing": table.unseen,
    }
    if table.monotone:
        taken["monotone"] = (parameters.get("monotone") or {}) | table.monotone
    if table.special_values:
        others = parameters.get("special_values", "auto")
        if not isinstance(others, dict):
            # Point masses beside a monotone curve would break it; codes are exempt.
            free = [
                name
                for name in table.numeric
                if others != "auto" or name not in (taken.get("monotone") or {})
            ]
            others = dict.fromkeys(free, others) if others else {}
        codes = {name: list(own) for name, own in table.special_values.items()}
        taken["special_values"] = others | codes
    return taken


class NetworkSettings(Parameters):
    """The architecture."""

    n_subnetworks: int | None = Field(default=None, ge=1)
    hidden: list[PositiveInt] = [10, 6]
    activation: Activation = "tanh"
    projection: Literal["orthogonal", "near"] = "orthogonal"
    coherence: NotNegative = 0.3
    max_pairs: int = Field(default=0, ge=0)


class ColumnSettings(Parameters):
    """How the network takes the numeric columns."""

    scaling: Scaling = "robust"
    special_values: (
        Literal["auto"] | list[float] | dict[str, list[float] | Literal["auto"]] | None
    ) = "auto"
    beyond_range: WhenBeyond = "edge"
    monotone: dict[str, Direction] | None = None


class TuningSettings(Parameters):
    """The penalties to try, and how many rows choose among them."""

    roughness: list[NotNegative] = Field(default=list(ROUGHNESS), min_length=1)
    l1_projection: list[NotNegative] = Field(
        default=list(PAPER_GRID["l1_projection"]), min_length=1
    )
    l1_scales: list[NotNegative] = Field(
        default=list(PAPER_GRID["l1_scales"]), min_length=1
    )
    standard_errors: float = Field(default=1.0, ge=0)
    rows: int | None = Field(default=20_000, ge=100)
    max_epochs: int | None = Field(default=None, ge=1)
    n_jobs: Jobs = -1


class TrainingSettings(Parameters):
    """SOS-BP: steps, epochs, and where its state is kept while it runs."""

    schedule: ScheduleName = "cosine"
    cayley_step: NotNegative | Literal["adaptive"] | None = None
    learning_rate: float | None = Field(default=None, gt=0)
    relaxation: float = Field(default=0.4, ge=0, lt=1)
    max_epochs: int | None = Field(default=None, ge=1)
    patience: int | None = Field(default=None, ge=1)
    batch_size: int | None = Field(default=None, ge=1)
    n_starts: int = Field(default=1, ge=1)
    checkpoint: str | None = "data/06_models/.checkpoints"


class PruningSettings(Parameters):
    """How much of the importance the kept components must exceed."""

    share: float = Field(default=0.95, gt=0, le=1)


class RefinementSettings(Parameters):
    """Epochs after pruning."""

    max_epochs: int | None = Field(default=None, ge=1)


class XnnSettings(Parameters):
    """All groups of the network."""

    network: NetworkSettings = Field(default_factory=NetworkSettings)
    columns: ColumnSettings = Field(default_factory=ColumnSettings)
    tuning: TuningSettings = Field(default_factory=TuningSettings)
    training: TrainingSettings = Field(default_factory=TrainingSettings)
    pruning: PruningSettings = Field(default_factory=PruningSettings)
    refinement: RefinementSettings = Field(default_factory=RefinementSettings)

    def check_columns(self, table: TableDescription) -> None:
        """Refuse what the columns of a table do not allow.

        Raises:
            InputError: If a column is unknown, or projections are more than there can
                be.
        """
        known = list(table.numeric)
        for key in ("special_values", "monotone"):
            given = getattr(self.columns, key)
            for name in given if isinstance(given, dict) else ():
                if name not in known:
                    hint = close_match(name, known)
                    message = (
                        f"parameters 'xnn': 'columns.{key}': there is no numeric "
                        f"column {name!r}: {hint}"
                    )
                    raise InputError(message)
        asked, most = self.network.n_subnetworks, len(known)
        orthogonal = self.network.projection == "orthogonal"
        if orthogonal and asked is not None and asked > most:
            message = (
                f"parameters 'xnn': 'network': n_subnetworks is {asked}, but "
                "orthogonal projections are at most as many as the "
                f"{most} numeric columns: set it to {most} or less, or projection to "
                "near."
            )
            raise InputError(message)

    def estimator_parameters(
        self, penalties: dict[str, float], seed: int, table: TableDescription
    ) -> dict[str, Any]:
        """Parameters of `XNNClassifier` or `XNNRegressor` for these settings."""
        return {
            **self.network.model_dump(),
            **with_columns(self.columns.model_dump(), table),
            **self.training.model_dump(),
            "prune_share": self.pruning.share,
            "refine_epochs": self.refinement.max_epochs,
            **penalties,
            "random_state": seed,
            "verbose": 1,
        }
