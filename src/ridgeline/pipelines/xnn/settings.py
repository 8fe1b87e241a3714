"""What a user may set about the explainable network; conf/base explains every key."""

from typing import Any, Literal, Self

from pydantic import Field, PositiveInt, field_validator, model_validator

from ridgeline.lendingclub.modelling import NUMERIC, PURPOSE
from ridgeline.parameters import Jobs, NotNegative, Parameters, close_match
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
]


class NetworkSettings(Parameters):
    """The architecture."""

    n_subnetworks: int | None = Field(default=None, ge=1)
    hidden: list[PositiveInt] = [10, 6]
    activation: Activation = "tanh"
    projection: Literal["orthogonal", "near"] = "orthogonal"
    coherence: NotNegative = 0.3
    max_pairs: int = Field(default=0, ge=0)

    @model_validator(mode="after")
    def _orthogonal_ones_are_few(self) -> Self:
        asked, most = self.n_subnetworks, len(NUMERIC)
        if self.projection == "orthogonal" and asked is not None and asked > most:
            message = (
                f"n_subnetworks is {asked}, but orthogonal projections are at most as "
                f"many as the {most} numeric columns: set it to {most} or less, or "
                "projection to near"
            )
            raise ValueError(message)
        return self


class ColumnSettings(Parameters):
    """How the network takes the numeric columns."""

    scaling: Scaling = "robust"
    special_values: (
        Literal["auto"] | list[float] | dict[str, list[float] | Literal["auto"]] | None
    ) = "auto"
    beyond_range: WhenBeyond = "edge"
    monotone: dict[str, Direction] | None = None

    @field_validator("special_values", "monotone")
    @classmethod
    def _columns_exist(cls, given: Any) -> Any:
        for name in given if isinstance(given, dict) else ():
            if name not in NUMERIC:
                hint = close_match(name, list(NUMERIC))
                message = f"there is no numeric column {name!r}: {hint}"
                raise ValueError(message)
        return given


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

    def estimator_parameters(
        self, penalties: dict[str, float], seed: int
    ) -> dict[str, Any]:
        """Parameters of `XNNClassifier` for these settings."""
        return {
            **self.network.model_dump(),
            **self.columns.model_dump(),
            "categorical_features": [PURPOSE],
            **self.training.model_dump(),
            "prune_share": self.pruning.share,
            "refine_epochs": self.refinement.max_epochs,
            **penalties,
            "random_state": seed,
            "verbose": 1,
        }
