"""A network of the project's own shape with random weights, and rows for it."""

import numpy as np
import pandas as pd

from ridgeline.lendingclub.schema import PURPOSES
from ridgeline.xnn.features import Features
from ridgeline.xnn.numeric_column import NumericColumn
from ridgeline.xnn.scaling import Scale
from ridgeline.xnn.scorer import Scorer, Spread, Subnetworks

RANGES = {
    "application_date": (2014.5, 2018.5),
    "amount": (0.0, 40_000.0),
    "risk_score": (450.0, 850.0),
    "dti": (0.0, 100.0),
    "employment_length": (0.0, 10.0),
}
NUMERIC = list(RANGES)


def make_scorer(seed: int = 0) -> Scorer:
    """Return a network of the shape of the project's own, with random weights."""
    rng = np.random.default_rng(seed)
    return Scorer(
        features=Features(
            (*NUMERIC, "purpose"),
            named=True,
            numbers={
                name: NumericColumn(Scale(np.array(limits), np.array([-1.0, 1.0])))
                for name, limits in RANGES.items()
            },
            categories={"purpose": tuple(PURPOSES)},
        ),
        classes=(0, 1),
        projection=np.linalg.qr(rng.normal(size=(5, 2)))[0],
        subnetworks=Subnetworks(
            (rng.normal(size=(2, 4, 1)), rng.normal(size=(2, 1, 4))),
            (rng.normal(size=(2, 4, 1)), rng.normal(size=(2, 1, 1))),
            "tanh",
        ),
        scales=np.array([2.0, 1.0]),
        effects=(rng.normal(size=len(PURPOSES)),),
        category_scales=np.array([0.5]),
        intercept=-0.3,
        spread=Spread(
            np.tile([-1.0, 0.0, 1.0], (2, 1)),
            np.full((2, 2), 0.5),
            (np.full(len(PURPOSES), 0.2),),
        ),
    )


def applications(count: int = 6) -> pd.DataFrame:
    """Return rows of features as the project's models take them."""
    rng = np.random.default_rng(1)
    low, high = [2015, 1000, 450, 0, 0], [2018.5, 40000, 850, 100, 10]
    frame = pd.DataFrame(rng.uniform(low, high, (count, 5)), columns=NUMERIC)
    purposes = pd.Categorical([PURPOSES[i % len(PURPOSES)] for i in range(count)])
    return frame.assign(purpose=purposes)
