"""What a user may set about a fit: the estimators' parameters, each declared once.

A new parameter has three places: its field here, which is its name, type, default and
what is allowed; its sentence in `PARAMETERS`, which both estimators show; and its use.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from numbers import Integral, Real
from os import PathLike
from typing import Any, Final, Literal, get_args

import numpy as np

from ridgeline.private_names.sklearn import Interval, StrOptions
from ridgeline.xnn.architecture import Activation, Init, Projection
from ridgeline.xnn.columns import WhenBeyond, WhenUnknown
from ridgeline.xnn.features import Direction
from ridgeline.xnn.scaling import Scaling
from ridgeline.xnn.schedules import ScheduleName
from ridgeline.xnn.special_values import SpecialValues

__all__ = [
    "PARAMETERS",
    "PENALTIES",
    "Settings",
    "allowed_values",
    "document",
    "parameter",
]

# What the estimators that choose by themselves choose.
PENALTIES: Final = ("l1_projection", "l1_scales", "roughness")

_POSITIVE: Final = Interval(Real, 0, None, closed="neither")
_NOT_NEGATIVE: Final = Interval(Real, 0, None, closed="left")
_COUNT: Final = Interval(Integral, 1, None, closed="left")


def parameter(default: Any, *allowed: Any) -> Any:
    """A parameter with its default and what scikit-learn's validation allows."""
    return field(default=default, metadata={"allowed": list(allowed)})


def _one_of(names: Any) -> StrOptions:
    """One of the names of a literal type."""
    return StrOptions(set(get_args(names)))


@dataclass(kw_only=True, eq=False, repr=False)
class Settings:
    """How to fit a network; `PARAMETERS` describes each field."""

    n_subnetworks: int | None = parameter(None, _COUNT, None)
    hidden: Sequence[int] = parameter((10, 6), "array-like")
    activation: Activation = parameter("tanh", _one_of(Activation))
    projection: Projection = parameter("orthogonal", _one_of(Projection))
    coherence: float = parameter(0.3, _NOT_NEGATIVE)
    relaxation: float = parameter(0.4, Interval(Real, 0, 1, closed="left"))
    monotone: Mapping[str, Direction] | None = parameter(None, dict, None)
    init: Init = parameter("random", _one_of(Init))
    normalise: bool = parameter(True, "boolean")
    l1_projection: float = parameter(1e-3, _NOT_NEGATIVE)
    l1_scales: float = parameter(1e-3, _NOT_NEGATIVE)
    roughness: float = parameter(1e-6, _NOT_NEGATIVE)
    max_pairs: int = parameter(0, Interval(Integral, 0, None, closed="left"))
    prune_share: float | None = parameter(
        0.95, Interval(Real, 0, 1, closed="right"), None
    )
    schedule: ScheduleName = parameter("cosine", _one_of(ScheduleName))
    cayley_step: float | Literal["adaptive"] | None = parameter(
        None, _NOT_NEGATIVE, StrOptions({"adaptive"}), None
    )
    learning_rate: float | None = parameter(None, _POSITIVE, None)
    max_epochs: int | None = parameter(None, _COUNT, None)
    patience: int | None = parameter(None, _COUNT, None)
    refine_epochs: int | None = parameter(None, _COUNT, None)
    batch_size: int | None = parameter(None, _COUNT, None)
    validation_fraction: float = parameter(0.2, Interval(Real, 0, 1, closed="neither"))
    n_starts: int = parameter(1, _COUNT)
    checkpoint: str | PathLike[str] | None = parameter(None, str, PathLike, None)
    categorical_features: Sequence[str | int] | None = parameter(
        None, "array-like", None
    )
    scaling: Scaling = parameter("robust", _one_of(Scaling))
    special_values: SpecialValues = parameter(
        "auto", dict, "array-like", StrOptions({"auto"}), None
    )
    project_flags: bool = parameter(True, "boolean")
    unknown_category: WhenUnknown = parameter("error", _one_of(WhenUnknown))
    unknown_missing: WhenUnknown = parameter("error", _one_of(WhenUnknown))
    beyond_range: WhenBeyond = parameter("edge", _one_of(WhenBeyond))
    random_state: int | np.random.RandomState | None = parameter(None, "random_state")
    verbose: int = parameter(0, "verbose")


def allowed_values(settings: type[Settings] = Settings) -> dict[str, list[Any]]:
    """What each parameter may be, as scikit-learn's validation takes it."""
    return {each.name: each.metadata["allowed"] for each in fields(settings)}


def document(
    penalties: str,
    more: str = "",
    init: str = "",
    coherence: str = "",
    pairs: str = "",
) -> str:
    """The section on parameters of a docstring, with the parts that differ as given."""
    network = f"{_NETWORK}{coherence or _COHERENCE}{_WAYS}{init or _INIT}{_NORMALISE}"
    return f"{network}{penalties}{pairs or _PAIRS}{_FITTING}{more}"


_NETWORK: Final = """Parameters
    ----------
    n_subnetworks : int or None, default=None
        Number of ridge functions k. None takes one for each projected feature, at
        most 20. The paper takes at most 10. Only "near" and "free" projections can be
        more than the features.
    hidden : sequence of int, default=(10, 6)
        Units of each hidden layer of a subnetwork. `()` makes straight lines.
    activation : {"tanh", "sigmoid", "softplus"}, default="tanh"
        Activation of the hidden layers.
    projection : {"orthogonal", "near", "identity", "free"}, default="orthogonal"
        Constraint on the projection matrix W. "orthogonal" keeps W'W = I, "identity"
        gives each numeric feature a function of its own (a GAM), "near" has columns of
        length one that pay for their overlap, and "free" leaves W unconstrained.
"""
_COHERENCE: Final = """    coherence : float, default=0.3
        Price of projections that overlap: of the squared cosine between two of them,
        times their scales. It holds "near" projections apart, and orthogonal ones in
        the relaxed part of their training.
"""
_WAYS: Final = """    relaxation : float, default=0.4
        Share of the epochs in which projections may overlap as they like; then they are
        made orthogonal, and stay so, or pay their price if they are "near" ones. 0 is
        the paper's training, as is the schedule "paper".
    monotone : dict or None, default=None
        Directions of numeric features, such as `{"income": "increasing"}`. They hold by
        construction, for all other features at any value; missing values and codes
        are exempt, and "auto" finds no special values in these columns. Orthogonal
        projections give each of these features a function of its own, "near" ones may
        combine them.
"""
_INIT: Final = """    init : {"random", "features"}, default="random"
        What the projections start from: random directions, or one feature each, drawn
        at random where there are more features than ridge functions.
"""
_NORMALISE: Final = """    normalise : bool, default=True
        Whether ridge functions have mean 0 and norm 1 while they are trained.
"""
_PENALTIES: Final = """    l1_projection : float, default=0.001
        lambda1, the L1 penalty on the projection weights. The paper tunes it between
        1e-4 and 1e-2. All three penalties are for a response scaled to [-1, 1].
    l1_scales : float, default=0.001
        lambda2, the L1 penalty on the scales of the components, tuned likewise.
    roughness : float, default=1e-06
        lambda3, the weight of the mean squared second derivative of the ridge
        functions. The paper tunes it between 1e-7 and 1e-5.
"""
_PAIRS: Final = """    max_pairs : int, default=0
        Largest number of pairs of columns whose interaction is fitted. Pairs of columns
        in use join as long as validation gains by them; each adds a surface that has no
        part of a single column.
"""
_FITTING: Final = """    prune_share : float or None, default=0.95
        Components are kept in the order of their importance ratios until these add up
        to more than this share, and are then refined. None stops after training.
    schedule : {"cosine", "paper"}, default="cosine"
        "cosine" takes few epochs with large steps that fall to zero, "paper" thousands
        of epochs with small constant ones. It decides the next four parameters where
        they are None.
    cayley_step : float, "adaptive" or None, default=None
        tau, the step of the projection along the Stiefel manifold. "adaptive" divides
        it by the usual size of the gradient.
    learning_rate : float or None, default=None
        Step of Adam, which trains everything but an orthogonal projection.
    max_epochs : int or None, default=None
        Largest number of epochs of the training.
    patience : int or None, default=None
        Early stopping: training ends after this many epochs without a smaller
        validation loss.
    refine_epochs : int or None, default=None
        Largest number of epochs of the refinement. None takes a fifth of the training.
    batch_size : int or None, default=None
        Rows in a batch. None takes the paper's min(1000, 0.2 n).
    validation_fraction : float, default=0.2
        Share of the rows in the validation split, which chooses the best epoch, where
        `fit` is given no `validation_data`.
    n_starts : int, default=1
        Number of random starts. The one with the smallest validation loss is kept.
    checkpoint : str, path or None, default=None
        Folder in which a fit keeps its state, so that the same fit, after an
        interruption, goes on there and ends with the same model.
    categorical_features : sequence of str, int or bool, or None, default=None
        Names or positions of the categorical columns, or a mask with one boolean for
        each column. None takes the columns of a data frame that hold text or are of
        a categorical type. They are encoded here: one-hot columns are not needed. A
        missing value is a category of its own, and the effects of rare categories are
        drawn to the average.
    scaling : {"robust", "quantile", "minmax"}, default="robust"
        How numeric columns are brought to [-1, 1]. "robust" goes by value where the
        rows are and more by rank the heavier the tails are, "quantile" by rank,
        "minmax" by smallest and largest value, as in the paper.
    special_values : dict, sequence of float, "auto" or None, default="auto"
        Values of numeric columns that have an effect of their own. Numbers, of all
        columns or by column (`{"dti": [-7, -8]}`), are codes: they are no quantities
        and have the average value in projections. "auto", of all columns or of one,
        looks for values that many training rows share and whose rows differ from
        their neighbours; these stay in the projections too. Missing values always
        have an effect of their own.
    project_flags : bool, default=True
        Whether projections may also combine categorical features of two categories,
        as -1 and 1, so that a curve can differ between the two. "identity" projections
        never do.
    unknown_category : {"error", "average"}, default="error"
        What to do with a category that training has not seen: refuse it, or give it
        the average effect, which is none.
    unknown_missing : {"error", "average"}, default="error"
        What to do with a missing value in a column that was complete in training:
        refuse it, or give it the average value.
    beyond_range : {"edge", "extend", "error"}, default="edge"
        What to do with numbers beyond the range of the training rows: let the curves
        stay at their edges and say so; let straight scales go on, as in the paper; or
        refuse them.
    random_state : int, RandomState or None, default=None
        Seed of the weights, the validation split and the shuffling. The same seed
        gives the same model, bit for bit.
    verbose : int, default=0
        Whether to show progress bars with the time left.
"""
PARAMETERS: Final = document(_PENALTIES)
