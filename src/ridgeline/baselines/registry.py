"""The baselines as data: what each is called, tries, and is built from.

A new baseline is one entry in `BASELINES`, and one in the parameters of the run.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple

from sklearn.compose import ColumnTransformer
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import Lasso, LogisticRegression
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder
from sklearn.svm import SVC, SVR

from ridgeline.baselines import sizes
from ridgeline.baselines.boosting import (
    LightGBMClassifier,
    LightGBMRegressor,
    missing_library,
)
from ridgeline.baselines.elm import ELMClassifier, ELMRegressor
from ridgeline.baselines.gaps import CategoryGaps, NumberGaps
from ridgeline.errors import InputError
from ridgeline.xnn.estimator import XNNClassifier, XNNRegressor
from ridgeline.xnn.features import is_frame
from ridgeline.xnn.search import PAPER_GRID

__all__ = ["BASELINES", "Baseline", "Columns", "Task", "find_baseline"]

Task = Literal["classification", "regression"]
# What becomes of the validation rows when a model is fitted:
#   "judge"      nothing: they only choose among the grid's points;
#   "join"       they are added to the training rows, of which the estimator itself sets
#                the same share aside to stop early;
#   "calibrate"  a logistic regression on them turns scores into probabilities;
#   "stop"       the estimator is given them to stop early.
Validation = Literal["judge", "join", "calibrate", "stop"]

_POWERS: Final = (1e-2, 1e-1, 1e0, 1e1, 1e2)
_NUMERIC_RANGE: Final = (-1, 1)


class Columns(NamedTuple):
    """Names of a frame's columns by their kind; both empty for an array."""

    numeric: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    lenient: bool = False  # gaps are filled, and strange categories have no effect

    @classmethod
    def of(cls, X: Any, lenient: bool = False) -> "Columns":
        """Tells a pandas frame's columns apart: text and categories, or numbers."""
        if not is_frame(X):
            return cls()
        names = [str(name) for name in X.columns]
        texts = set(X.select_dtypes(["category", "object", "string"]).columns)
        return cls(
            tuple(name for name in names if name not in texts),
            tuple(name for name in names if name in texts),
            lenient,
        )


@dataclass(frozen=True)
class Baseline:
    """One method."""

    title: str  # its name for people
    estimators: Mapping[Task, type[Any]]
    size: Callable[[Any], int]  # counts the parameters of a fitted estimator
    # Values to try by parameter of the estimator; the paper's.
    grid: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    # Parameters that differ from the estimator's defaults.
    settings: Mapping[str, Any] = field(default_factory=dict)
    validation: Validation = "judge"
    max_rows: int | None = None  # training rows; above, it is not applicable
    prepared: bool = True  # columns are scaled and encoded in front of the estimator
    parallel: bool = False  # one fit can use all cores
    weighted: bool = True  # it takes weights of the rows
    # Says why the method cannot be used on this machine, or None.
    missing: Callable[[], str | None] = lambda: None

    @property
    def tasks(self) -> tuple[Task, ...]:
        """What the method can do."""
        return tuple(self.estimators)

    @property
    def is_xnn(self) -> bool:
        """Whether the method is a kind of explainable network."""
        return XNNClassifier in self.estimators.values()

    def parameter_names(self, task: Task) -> list[str]:
        """Names of the estimator's parameters."""
        return sorted(self.estimators[task]().get_params(deep=False))

    def build(self, task: Task, columns: Columns, seed: int, **settings: Any) -> Any:
        """An estimator that takes rows as they are, not fitted yet.

        The settings, parameters of the estimator, go before those of the registry.
        """
        values = dict(self.settings) | settings
        if "random_state" in self.parameter_names(task):
            values.setdefault("random_state", seed)
        if not self.prepared and columns.categorical:
            values.setdefault("categorical_features", list(columns.categorical))
        estimator = self.estimators[task](**values)
        if not self.prepared:
            return estimator
        return Pipeline([("prepare", _preparation(columns)), ("model", estimator)])


def find_baseline(name: str, task: str) -> Baseline:
    """The baseline of a name.

    Raises:
        InputError: If there is none of the name, or it does not do the task.
    """
    if name not in BASELINES:
        message = f"There is no baseline {name!r}; known are {', '.join(BASELINES)}."
        raise InputError(message)
    found = BASELINES[name]
    if task not in found.tasks:
        message = (
            f"The baseline {name!r} does {' and '.join(found.tasks)}, not {task!r}; "
            "choose another baseline for this task."
        )
        raise InputError(message)
    return found


def _preparation(columns: Columns) -> Any:
    """Scales numbers to [-1, 1] and gives each category a column."""
    scale = MinMaxScaler(_NUMERIC_RANGE)
    if not columns.numeric and not columns.categorical:
        return scale
    encode = OneHotEncoder(sparse_output=False)
    if columns.lenient:
        # A flag says where a number was missing; a gap among categories is one of them.
        scale = Pipeline([("fill", NumberGaps()), ("scale", scale)])
        encode.set_params(handle_unknown="ignore")
        encode = Pipeline([("fill", CategoryGaps()), ("encode", encode)])
    return ColumnTransformer(
        [
            ("numeric", scale, list(columns.numeric)),
            ("categorical", encode, list(columns.categorical)),
        ]
    )


_XNNS: Final[dict[Task, type[Any]]] = {
    "classification": XNNClassifier,
    "regression": XNNRegressor,
}

BASELINES: Final[dict[str, Baseline]] = {
    "logr": Baseline(
        title="Logistic regression",
        estimators={"classification": LogisticRegression},
        settings={"max_iter": 1000},
        size=sizes.linear,
    ),
    "lasso": Baseline(
        title="LASSO",
        estimators={"regression": Lasso},
        grid={"alpha": _POWERS},
        size=sizes.linear,
    ),
    "svm": Baseline(
        title="Support vectors, SVM",
        estimators={"classification": SVC, "regression": SVR},
        grid={"C": _POWERS, "gamma": _POWERS},
        settings={"cache_size": 1000},  # MB, of the kernel: half the time of some fits
        size=sizes.support_vectors,
        validation="calibrate",
        max_rows=20_000,  # time grows with the square of the rows, or faster
    ),
    "rf": Baseline(
        title="Random forest",
        estimators={
            "classification": RandomForestClassifier,
            "regression": RandomForestRegressor,
        },
        grid={"max_depth": (3, 4, 5, 6, 7, 8)},
        settings={"n_estimators": 100},
        size=sizes.forest,
        parallel=True,
    ),
    "lightgbm": Baseline(
        title="LightGBM",
        estimators={
            "classification": LightGBMClassifier,
            "regression": LightGBMRegressor,
        },
        grid={
            "num_leaves": (7, 15, 31),
            "learning_rate": (0.03, 0.1),
            "min_child_samples": (20, 100),
        },
        # The validation rows end most fits before a tenth of these rounds.
        settings={"n_estimators": 2000, "subsample": 0.8, "colsample_bytree": 0.8},
        size=sizes.boosted_trees,
        validation="stop",
        parallel=True,
        weighted=False,
        missing=missing_library,
    ),
    "mlp": Baseline(
        title="Neural network (MLP)",
        estimators={"classification": MLPClassifier, "regression": MLPRegressor},
        settings={
            "hidden_layer_sizes": (100, 60),
            "activation": "tanh",
            "early_stopping": True,
            "max_iter": 1000,
        },
        size=sizes.perceptron,
        validation="join",
    ),
    "elm": Baseline(
        title="Extreme learning ELM",
        estimators={"classification": ELMClassifier, "regression": ELMRegressor},
        grid={
            "n_nodes": (20, 50, 100, 200, 500),
            "rbf_width": (1e-4, 1e-3, 1e-2, 1e-1, 1e0),
        },
        size=sizes.extreme_learning_machine,
    ),
    "naive_xnn": Baseline(
        title="Naive xNN",
        estimators=_XNNS,
        grid=PAPER_GRID,
        settings={"projection": "free", "normalise": False, "roughness": 0.0},
        size=sizes.explainable_network,
        validation="stop",
        prepared=False,
    ),
    "gam": Baseline(
        title="Additive model (GAM)",
        estimators=_XNNS,
        grid={"l1_scales": PAPER_GRID["l1_scales"]},
        settings={"projection": "identity"},
        size=sizes.explainable_network,
        validation="stop",
        prepared=False,
    ),
}
