"""The names of the models of the LendingClub study."""

from typing import Final

from ridgeline.baselines.registry import BASELINES

__all__ = ["METHODS", "STAGES"]

# The models that the network's stages leave, in their order.
STAGES: Final = ("trained", "pruned", "refined")
# Every baseline that classifies.
METHODS: Final = tuple(
    name for name, method in BASELINES.items() if "classification" in method.tasks
)
