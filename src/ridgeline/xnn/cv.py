"""Estimators that choose their penalties by themselves, in the manner of `LassoCV`."""

from dataclasses import dataclass, fields
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self, get_args

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from numpy.typing import ArrayLike
from sklearn.base import is_classifier
from sklearn.model_selection import check_cv
from sklearn.utils.validation import check_is_fitted

from ridgeline.errors import InputError
from ridgeline.private_names.sklearn import (
    Interval,
    StrOptions,
    safe_indexing,
    validate_params,
)
from ridgeline.xnn import fitting
from ridgeline.xnn.architecture import Init
from ridgeline.xnn.candidates import Tried, choose, results_table, try_candidates
from ridgeline.xnn.columns import Unseen
from ridgeline.xnn.estimator import ATTRIBUTES, BaseXNN, XNNClassifier, XNNRegressor
from ridgeline.xnn.pair_stage import adjust, join_pairs
from ridgeline.xnn.profiling import keep_profile
from ridgeline.xnn.progress import count_fits
from ridgeline.xnn.settings import (
    PENALTIES,
    Settings,
    allowed_values,
    document,
    parameter,
)
from ridgeline.xnn.tables import Prepared, prepare

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["XNNClassifierCV", "XNNRegressorCV"]

_COUNT: Final = Interval(Integral, 1, None, closed="left")


@dataclass(kw_only=True, eq=False, repr=False)
class _SearchSettings(Settings):
    """The parameters of the estimators, with ranges of the penalties."""

    coherence: Any = parameter((1e-3, 10.0), "array-like")
    init: Any = parameter("both", StrOptions({*get_args(Init), "both"}))
    l1_projection: Any = parameter((1e-5, 1e-1), "array-like")
    l1_scales: Any = parameter((1e-4, 1e-2), "array-like")
    roughness: Any = parameter((1e-9, 1e-5), "array-like")
    max_pairs: int = parameter(5, Interval(Integral, 0, None, closed="left"))
    n_candidates: int = parameter(32, _COUNT)
    max_seconds: float | None = parameter(
        None, Interval(Real, 0, None, closed="neither"), None
    )
    cv: Any = parameter(None, "cv_object", None)
    standard_errors: float = parameter(1.0, Interval(Real, 0, None, closed="left"))
    use_all_rows: bool = parameter(True, "boolean")
    n_jobs: int | None = parameter(-1, Integral, None)


class _BaseCV(_SearchSettings, BaseXNN):
    """What the two estimators share."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = allowed_values(
        _SearchSettings
    )

    results_: pd.DataFrame
    l1_projection_: float
    l1_scales_: float
    roughness_: float
    coherence_: float  # where projections are "near"

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        validation_data: tuple[Any, ...] | None = None,
    ) -> Self:
        """Try candidates, choose one by validation, and adjust it to all rows.

        Parameters
        ----------
        X : data frame or array of shape (n_samples, n_features)
            Training rows.
        y : array of shape (n_samples,)
            Responses, or labels of two classes.
        sample_weight : array of shape (n_samples,) or None, default=None
            The weight of each row. A weight of two counts as the row twice.
        validation_data : tuple or None, default=None
            Rows that choose, as (X, y) or (X, y, sample_weight). Without them
            `validation_fraction` of the rows is split off, or `cv` makes folds.

        Returns
        -------
        self : XNNClassifierCV or XNNRegressorCV
            The fitted estimator.
        """
        validate_params(self)
        ranges = {name: _range(name, getattr(self, name)) for name in self._tried()}
        seed = fitting.draw_seed(self.random_state)
        data = prepare(self, X, y, sample_weight, validation_data, seed=seed)
        adjusts = self.use_all_rows and validation_data is None
        if adjusts:
            rows = len(data.training.target) + len(data.validation.target)
            data = data._replace(other_rows=rows)
        splits = [data]
        if self.cv is not None:
            if validation_data is not None:
                message = (
                    "cv and validation_data are both given; pass one of them, as "
                    "either the folds or the validation rows choose."
                )
                raise InputError(message)
            splits = self._folds(X, y, sample_weight, seed)
        with count_fits(self.n_candidates, bool(self.verbose)) as done:
            found = try_candidates(
                self._settings(),
                splits,
                ranges,
                get_args(Init) if self.init == "both" else (self.init,),
                seed,
                count=self.n_candidates,
                seconds=self.max_seconds,
                n_jobs=self.n_jobs,
                done=done,
            )
        chosen = choose(found, self.standard_errors)
        self.results_ = results_table(found, chosen)
        self._keep(found[chosen], data, folds=self.cv is not None)
        if adjusts:
            self._adjust_to_all(data, X, y, sample_weight, seed)
        keep_profile(self, X, y, sample_weight)
        return self

    def plot_candidates(self) -> "Figure":
        """Draw the validation loss of each candidate against its terms.

        Returns
        -------
        Figure
            A matplotlib figure of its own.
        """
        from ridgeline.xnn.candidates_plot import plot_candidates

        check_is_fitted(self)
        return plot_candidates(self.results_, classify=is_classifier(self))

    def _tried(self) -> tuple[str, ...]:
        """What is chosen: the penalties, and what near projections pay to overlap."""
        return (*PENALTIES, "coherence") if self.projection == "near" else PENALTIES

    def _settings(self) -> Settings:
        """The plain parameters, without progress bars and states of each candidate."""
        plain = {each.name: getattr(self, each.name) for each in fields(Settings)}
        for name in (*PENALTIES, "coherence", "init"):
            del plain[name]  # a range here; each candidate has its own
        return Settings(**plain | {"verbose": 0, "checkpoint": None})

    def _folds(self, X: Any, y: Any, sample_weight: Any, seed: int) -> list[Prepared]:
        """Training and validation rows of each fold."""
        labels = np.asarray(y)
        folds = check_cv(self.cv, labels, classifier=is_classifier(self))
        weight = None if sample_weight is None else np.asarray(sample_weight)
        return [
            prepare(
                self,
                safe_indexing(X, train),
                labels[train],
                None if weight is None else weight[train],
                (
                    safe_indexing(X, held),
                    labels[held],
                    None if weight is None else weight[held],
                ),
                seed=seed,
                unseen=Unseen("average", "average"),
            )
            for train, held in folds.split(np.zeros(len(labels)), labels)
        ]

    def _keep(self, tried: Tried, data: Prepared, *, folds: bool) -> None:
        """Takes over a candidate: its fit, or with folds a fit of all of them."""
        for name, value in tried.candidate.penalties.items():
            setattr(self, f"{name}_", value)
        own = self._chosen = tried.candidate.settings(self._settings())
        seed = tried.candidate.seed
        # Folds leave a model each: the chosen penalties are fitted once more.
        result = fitting.fit(own, data, seed) if folds else tried.fits[0]
        # A worker of the search has TensorFlow and its program at hand.
        (self.result_,) = Parallel(n_jobs=self.n_jobs)(
            [delayed(join_pairs)(own, data, result, seed, self.standard_errors)]
        )
        if data.classes is not None:
            self.classes_ = data.classes

    def _adjust_to_all(
        self, part: Prepared, X: Any, y: Any, weight: Any, seed: int
    ) -> None:
        """Adjusts the chosen model to all rows, those that chose it too."""
        chosen = self.result_
        data = prepare(
            self, X, y, weight, (X, y, weight), seed=seed, fitted=chosen.scorer
        )
        # In the shape of the search, whose program is compiled.
        data = data._replace(
            validation=part.validation, other_rows=len(part.training.target)
        )
        (whole,) = Parallel(n_jobs=self.n_jobs)(
            [delayed(adjust)(self._chosen, data, chosen, seed)]
        )
        # The loss of rows that were trained on says nothing.
        self.result_ = whole._replace(
            validation_loss=chosen.validation_loss, history=chosen.history
        )


def _range(name: str, given: Any) -> tuple[float, float]:
    """Smallest and largest value of a penalty."""
    values = np.asarray(given, dtype=np.float64).ravel()
    if (
        len(values) not in {1, 2}
        or not (values > 0).all()
        or (np.diff(values) < 0).any()
    ):
        message = (
            f"{name} is {given!r}; it must be the smallest and the largest value to "
            "try, both positive, such as (1e-4, 1e-2)."
        )
        raise InputError(message)
    return float(values[0]), float(values[-1])


_PARAMETERS: Final = document(
    """    l1_projection : (float, float), default=(1e-05, 0.1)
        Smallest and largest lambda1 to try, the L1 penalty on the projection weights.
        All three penalties are for a response scaled to [-1, 1].
    l1_scales : (float, float), default=(0.0001, 0.01)
        Smallest and largest lambda2 to try, the L1 penalty on the scales.
    roughness : (float, float), default=(1e-09, 1e-05)
        Smallest and largest lambda3 to try, the weight of the mean squared second
        derivative of the ridge functions.
""",
    """    n_candidates : int, default=32
        How many combinations of penalties and starts are tried. Half of them have a
        quarter of the epochs; the best of these are tried with all of them.
    max_seconds : float or None, default=None
        Time after which no further candidate is begun. With it the same seed may give
        another model on a slower machine.
    cv : int, cross-validation generator or None, default=None
        Folds that choose, as in scikit-learn. None chooses by one validation split,
        which is as many times faster as there are folds.
    standard_errors : float, default=1.0
        The one-standard-error rule: how many standard errors above the smallest
        validation loss a model with fewer terms may be. 0 takes the smallest loss.
    use_all_rows : bool, default=True
        Whether the chosen model is adjusted to all rows at last, those that chose it
        too, projections included. Never done with `validation_data`.
    n_jobs : int or None, default=-1
        Number of processes; -1 uses every core.
""",
    """    init : {"both", "random", "features"}, default="both"
        What the projections of a candidate start from: random directions, or one
        feature each. "both" tries each for half of the candidates.
""",
    """    coherence : (float, float), default=(0.001, 10.0)
        Smallest and largest price of overlap to try with "near" projections, which are
        chosen along with the penalties by the rule of `standard_errors`: terms count
        overlap, so that it is a rule towards orthogonality. Other projections do not
        take it; the relaxed training of orthogonal ones has the price 0.3.
""",
    """    max_pairs : int, default=5
        Largest number of pairs of columns whose interaction is fitted, after the
        penalties are chosen. How many there are, the one-standard-error rule says,
        towards fewer; 0 leaves them out.
""",
)
_ATTRIBUTES: Final = f"""{ATTRIBUTES.rstrip()}
    results_ : DataFrame
        A row for each candidate: penalties, start (`init` and its seed), validation
        loss, standard error of its difference to the best, components, terms (the
        features to read in them, and once more where projections overlap), epochs,
        seconds, and which is chosen. With "near" projections also `coherence`.
    l1_projection_, l1_scales_, roughness_ : float
        The penalties that were chosen.
    coherence_ : float
        The price of overlap that was chosen; only there with "near" projections.
"""


class XNNRegressorCV(_BaseCV, XNNRegressor):
    __doc__ = f"""Explainable network for a numeric response that chooses its penalties.

    Candidates are fitted on all cores, spread over the ranges of the three penalties,
    each from a start of its own. Among those whose validation loss is within one
    standard error of the smallest, the one with the fewest terms is chosen, and
    adjusted to all rows.

    {_PARAMETERS}{_ATTRIBUTES}
    See Also
    --------
    XNNClassifierCV : The same for two classes.
    XNNRegressor : One fit with given penalties.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeline import XNNRegressorCV
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(500, 3))
    >>> model = XNNRegressorCV(n_candidates=3, max_epochs=50, n_jobs=1, random_state=0)
    >>> len(model.fit(X, np.sin(3 * X[:, 0]) + X[:, 1]).results_)
    3
    """


class XNNClassifierCV(_BaseCV, XNNClassifier):
    __doc__ = f"""Explainable network for two classes that chooses its penalties.

    Candidates are fitted on all cores, spread over the ranges of the three penalties,
    each from a start of its own. Among those whose validation loss is within one
    standard error of the smallest, the one with the fewest terms is chosen, and
    adjusted to all rows.

    {_PARAMETERS}{_ATTRIBUTES.rstrip()}
    classes_ : ndarray of shape (2,)
        The two labels.

    See Also
    --------
    XNNRegressorCV : The same for a numeric response.
    XNNClassifier : One fit with given penalties.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgeline import XNNClassifierCV
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(500, 3))
    >>> model = XNNClassifierCV(n_candidates=3, max_epochs=50, n_jobs=1, random_state=0)
    >>> model.fit(X, X[:, 0] > X[:, 1]).predict_proba(X).shape
    (500, 2)
    """
