"""The profile of a fitted estimator, from the rows that it was fitted on."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from ridgeline.private_names.sklearn import safe_indexing
from ridgeline.xnn.observations import observations
from ridgeline.xnn.profile import MOST_ROWS, evenly_spaced, measure
from ridgeline.xnn.scorer import without_range_warnings

if TYPE_CHECKING:
    from ridgeline.xnn.estimator import BaseXNN

__all__ = ["keep_profile"]


def keep_profile(
    model: "BaseXNN", X: Any, y: ArrayLike, sample_weight: ArrayLike | None
) -> None:
    """Adds the profile of these rows to a fitted estimator's network.

    Args:
        model: The fitted estimator, which is changed.
        X: The rows of the fit as they were passed, those set aside too.
        y: Their responses or labels.
        sample_weight: The weight of each row.
    """
    classes = getattr(model, "classes_", None)
    rows, _ = observations(model, X, y, sample_weight, classes)
    count = len(rows.target)
    some = rows.take(evenly_spaced(count, MOST_ROWS)) if count > MOST_ROWS else rows
    with without_range_warnings():
        profile = measure(model.scorer_, *some[:3], rows=count, take=safe_indexing)
    scorer = replace(model.scorer_, profile=profile)
    model.result_ = model.result_._replace(scorer=scorer)
