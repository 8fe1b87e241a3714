"""What the models are called in tables and figures."""

from typing import Final

__all__ = ["MODEL_TITLES"]

MODEL_TITLES: Final = {
    "xnn.trained": "xNN trained",
    "xnn.pruned": "xNN pruned",
    "xnn.refined": "xNN refined",
    "logr": "Logistic regression",
    "svm": "Support vector machine",
    "rf": "Random forest",
    "mlp": "Multi-layer perceptron",
    "elm": "Extreme learning machine",
    "naive_xnn": "Naive xNN",
    "gam": "Additive model (GAM)",
}
