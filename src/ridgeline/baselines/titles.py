"""What all models are called, in the LendingClub comparison and in the study."""

from collections.abc import Mapping
from typing import Final

from ridgeline.baselines.registry import BASELINES

__all__ = ["TITLES", "short_title"]

# The baselines have theirs in the registry; the networks are none of them.
TITLES: Final[Mapping[str, str]] = {
    "xnn": "xNN (enhanced)",
    "near": "xNN (near-orthogonal)",
    "xnn.trained": "xNN trained",
    "xnn.pruned": "xNN pruned",
    "xnn.refined": "xNN refined",
} | {name: method.title for name, method in BASELINES.items()}
# Where a column for each model must fit a page; others are short enough.
_SHORT: Final[Mapping[str, str]] = {
    "near": "xNN (near)",
    "naive_xnn": "xNN (naive)",
    "svm": "SVR",
    "rf": "RF",
    "mlp": "MLP",
    "elm": "ELM",
    "gam": "GAM",
}


def short_title(model: str) -> str:
    """What to call a model in a narrow table; one without a title keeps its name."""
    return _SHORT.get(model, TITLES.get(model, model))
