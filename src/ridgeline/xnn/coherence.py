"""How far the projections of a fitted network overlap, with NumPy alone.

Orthonormal projections do not: what one of them tells, no other does. Near-orthogonal
ones may, and a reader has to know by how much.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ridgeline.xnn.scorer import Scorer

__all__ = ["Coherence", "coherence", "coherence_warnings", "overlaps"]

Floats = NDArray[np.float64]
# From this cosine on two projections share more than half of their squared length.
_ONE_STORY: Final = 0.7
# A component with less importance changes no decision.
_TINY_IMPORTANCE: Final = 0.01


class Coherence(NamedTuple):
    """The overlap of the projections in use."""

    largest_cosine: float  # between two of them, 0 where all are orthogonal
    smallest_eigenvalue: float  # of their Gram matrix, 1 where all are orthogonal


def overlaps(scorer: Scorer) -> Floats:
    """Absolute cosines between the projections in use, zero on the diagonal."""
    used = scorer.projection[:, scorer.scales > 0]
    length = np.linalg.norm(used, axis=0)
    unit = used / np.where(length > 0, length, 1.0)
    cosines = np.minimum(np.abs(unit.T @ unit), 1.0)
    np.fill_diagonal(cosines, 0.0)
    return np.asarray(cosines)


def coherence(scorer: Scorer) -> Coherence:
    """The largest overlap of two projections, and how near all are to dependence."""
    used = scorer.projection[:, scorer.scales > 0]
    length = np.linalg.norm(used, axis=0)
    unit = used / np.where(length > 0, length, 1.0)
    values = np.linalg.eigvalsh(unit.T @ unit)
    return Coherence(
        float(overlaps(scorer).max(initial=0.0)),
        float(np.clip(values.min(initial=1.0), 0.0, 1.0)),
    )


def coherence_warnings(scorer: Scorer) -> tuple[str, ...]:
    """A sentence for each two components that tell one story."""
    used = np.flatnonzero(scorer.scales)
    cosines, ratios = overlaps(scorer), scorer.importance_ratios[used]
    sentences = []
    for one, other in zip(*np.nonzero(np.triu(cosines >= _ONE_STORY)), strict=True):
        if min(ratios[one], ratios[other]) >= _TINY_IMPORTANCE:
            first, second = (scorer.component_names[used[at]] for at in (one, other))
            sentences.append(
                f"Components {first} and {second} have almost the same projection "
                f"(cosine {cosines[one, other]:.2f}): they tell one story, so read "
                "their sum, or fit with a larger coherence."
            )
    return tuple(sentences)
