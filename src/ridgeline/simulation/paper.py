"""The figures that the paper prints for its simulation study, to compare ours with.

Table "Testing MSE comparison under Scenarios 1-6" (label Simu) in Section 4.2 of
Z. Yang, A. Zhang and A. Sudjianto, "Enhancing Explainability of Neural Networks
through Architecture Constraints": means over ten repetitions, on 10,000 test rows.
"""

from collections.abc import Mapping
from typing import Final

import pandas as pd

__all__ = [
    "CITATION",
    "NOT_COMPARABLE",
    "NOT_COMPARABLE_REASON",
    "PAPER_MSE",
    "SCENARIO_TITLES",
]

CITATION: Final = (
    "Z. Yang, A. Zhang and A. Sudjianto, Enhancing Explainability of Neural Networks "
    "through Architecture Constraints, Section 4.2, table “Testing MSE comparison "
    "under Scenarios 1–6”"
)
SCENARIO_TITLES: Final[Mapping[str, str]] = {
    "S1": "additive, orthogonal projections",
    "S2": "additive, near-orthogonal projections",
    "S3": "not additive, exponential of products",
    "S4": "not additive, product of power and root",
    "S5": "not additive, ratio of sums",
    "S6": "not additive, sine times exponential",
}
NOT_COMPARABLE: Final = ("S3", "S5")
NOT_COMPARABLE_REASON: Final = (
    "The paper's figures for S3 and S5 were not made from the formulas that it prints: "
    "under these formulas no linear model can have a test MSE below 2.63 (S3) or 1.76 "
    "(S5), but the paper's LASSO has about 1.36 and 1.24. We implement the printed "
    "formulas, and compare the models in S3 and S5 with each other only."
)
_COLUMNS: Final = ("xnn", "naive_xnn", "svm", "rf", "mlp", "elm", "lasso")
_PRINTED: Final[Mapping[tuple[str, int], tuple[float, ...]]] = {
    ("S1", 1_000): (1.086, 1.088, 1.274, 1.415, 1.232, 1.476, 2.584),
    ("S1", 2_000): (1.039, 1.043, 1.168, 1.308, 1.121, 1.260, 2.548),
    ("S1", 5_000): (1.007, 1.009, 1.090, 1.251, 1.043, 1.149, 2.561),
    ("S1", 10_000): (1.004, 1.005, 1.069, 1.239, 1.023, 1.091, 2.600),
    ("S2", 1_000): (1.068, 1.065, 1.460, 1.189, 1.134, 1.622, 2.141),
    ("S2", 2_000): (1.030, 1.031, 1.305, 1.119, 1.066, 1.384, 2.131),
    ("S2", 5_000): (1.002, 1.002, 1.169, 1.067, 1.019, 1.254, 2.116),
    ("S2", 10_000): (1.002, 1.000, 1.109, 1.054, 1.011, 1.167, 2.129),
    ("S3", 1_000): (1.100, 1.099, 1.109, 1.127, 1.115, 1.177, 1.370),
    ("S3", 2_000): (1.038, 1.065, 1.060, 1.092, 1.058, 1.108, 1.362),
    ("S3", 5_000): (1.005, 1.019, 1.022, 1.057, 1.018, 1.057, 1.349),
    ("S3", 10_000): (1.003, 1.009, 1.016, 1.057, 1.012, 1.037, 1.361),
    ("S4", 1_000): (1.095, 1.135, 1.196, 1.280, 1.220, 1.356, 2.121),
    ("S4", 2_000): (1.052, 1.068, 1.127, 1.182, 1.140, 1.208, 2.098),
    ("S4", 5_000): (1.032, 1.024, 1.065, 1.110, 1.058, 1.103, 2.087),
    ("S4", 10_000): (1.030, 1.035, 1.045, 1.089, 1.030, 1.060, 2.118),
    ("S5", 1_000): (1.069, 1.062, 1.074, 1.154, 1.069, 1.145, 1.243),
    ("S5", 2_000): (1.045, 1.030, 1.041, 1.101, 1.041, 1.081, 1.237),
    ("S5", 5_000): (1.013, 1.003, 1.015, 1.060, 1.014, 1.029, 1.231),
    ("S5", 10_000): (1.010, 1.001, 1.012, 1.052, 1.011, 1.020, 1.240),
    ("S6", 1_000): (1.105, 1.083, 1.187, 1.168, 1.083, 1.292, 1.300),
    ("S6", 2_000): (1.058, 1.040, 1.141, 1.107, 1.047, 1.203, 1.300),
    ("S6", 5_000): (1.027, 1.003, 1.074, 1.064, 1.018, 1.105, 1.289),
    ("S6", 10_000): (1.027, 1.003, 1.054, 1.050, 1.012, 1.078, 1.287),
}
# One row for each scenario, n and model, with the paper's test MSE as `mse`; the models
# have our names: the paper's xNN (enhanced) is `xnn`, its SVR is `svm`.
PAPER_MSE: Final = pd.DataFrame(
    [
        (scenario, n, model, mse)
        for (scenario, n), printed in _PRINTED.items()
        for model, mse in zip(_COLUMNS, printed, strict=True)
    ],
    columns=["scenario", "n", "model", "mse"],
)
