"""The stages of a fit one by one: a fitted estimator is pruned, or refined.

Each function returns a new estimator; what was passed stays as it was. Training without
them is `fit` with `prune_share=None`.
"""

import copy
import math
from typing import TYPE_CHECKING, Any, TypeVar

from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from ridgeline.xnn import fitting
from ridgeline.xnn.profiling import keep_profile
from ridgeline.xnn.pruning import prune_scorer
from ridgeline.xnn.tables import prepare, row_losses, validation_parts

if TYPE_CHECKING:
    from ridgeline.xnn.estimator import BaseXNN

__all__ = ["prune", "refine"]

Model = TypeVar("Model", bound="BaseXNN")
_USUAL_SHARE = 0.95


def prune(
    model: Model,
    share: float | None = None,
    validation_data: tuple[Any, ...] | None = None,
) -> Model:
    """Keep the leading components of a fitted estimator.

    Parameters
    ----------
    model : XNNClassifier or XNNRegressor
        A fitted estimator, which is not changed.
    share : float or None, default=None
        Components are kept in the order of their importance ratios until these add up
        to more than this share. None takes the estimator's `prune_share`, or 95 %
        where that is None too.
    validation_data : tuple or None, default=None
        Rows that `validation_loss_` is measured on, as (X, y) or
        (X, y, sample_weight). Without them the loss is NaN, because the loss of all
        components is not that of some.

    Returns
    -------
    XNNClassifier or XNNRegressor
        A new estimator. `refine` adjusts what is left to the loss of the others.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeline import XNNRegressor, prune
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(500, 3))
    >>> trained = XNNRegressor(prune_share=None, max_epochs=50, random_state=0)
    >>> pruned = prune(trained.fit(X, np.sin(3 * X[:, 0])), share=0.01)
    >>> int((pruned.scales_ > 0).sum())
    1
    """
    check_is_fitted(model)
    if share is None:
        share = _USUAL_SHARE if model.prune_share is None else model.prune_share
    pruned = copy.copy(model)
    scorer = prune_scorer(model.scorer_, share)
    pruned.result_ = model.result_._replace(scorer=scorer, validation_loss=math.nan)
    if validation_data is not None:
        losses = row_losses(pruned, *validation_parts(validation_data))
        pruned.result_ = pruned.result_._replace(validation_loss=losses.mean)
    return pruned


def refine(
    model: Model,
    X: Any,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    validation_data: tuple[Any, ...] | None = None,
) -> Model:
    """Train the components in use once more, without L1 penalties.

    Projections stay as they are. Components that were pruned stay pruned.

    Parameters
    ----------
    model : XNNClassifier or XNNRegressor
        A fitted estimator, which is not changed.
    X : data frame or array of shape (n_samples, n_features)
        Rows to train on, with the columns of the fit.
    y : array of shape (n_samples,)
        Their responses or labels.
    sample_weight : array of shape (n_samples,) or None, default=None
        The weight of each row.
    validation_data : tuple or None, default=None
        Rows that choose the best epoch, as (X, y) or (X, y, sample_weight). Without
        them the estimator's `validation_fraction` of the rows is split off.

    Returns
    -------
    XNNClassifier or XNNRegressor
        A new estimator with the same projections.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeline import XNNRegressor, refine
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(500, 3))
    >>> y = np.sin(3 * X[:, 0])
    >>> model = XNNRegressor(max_epochs=50, random_state=0).fit(X, y)
    >>> refined = refine(model, X, y)
    >>> bool(np.allclose(refined.projection_, model.projection_))
    True
    """
    check_is_fitted(model)
    refined = copy.copy(model)
    seed = fitting.draw_seed(model.random_state)
    data = prepare(
        refined, X, y, sample_weight, validation_data, seed=seed, fitted=model.scorer_
    )
    refined.result_ = fitting.refine(refined, data, model.result_, seed)
    keep_profile(refined, X, y, sample_weight)
    fitting.forget_checkpoint(refined, "refinement")
    return refined
