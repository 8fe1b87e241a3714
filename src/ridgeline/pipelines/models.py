"""The models of the LendingClub study: their names, and what they are called."""

from typing import Final

from ridgeline.baselines.registry import BASELINES

__all__ = ["METHODS", "MODEL_TITLES", "STAGES"]

# The models that the network's stages leave, in their order.
STAGES: Final = ("trained", "pruned", "refined")
# Every baseline that classifies.
METHODS: Final = tuple(
    name for name, method in BASELINES.items() if "classification" in method.tasks
)
MODEL_TITLES: Final = {f"xnn.{stage}": f"xNN {stage}" for stage in STAGES} | {
    name: BASELINES[name].title for name in METHODS
}
