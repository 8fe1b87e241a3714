"""What the models are called in tables and figures."""

from typing import Final

__all__ = ["MODEL_TITLES"]

MODEL_TITLES: Final = {
    "xnn.trained": "xNN trained",
    "xnn.pruned": "xNN pruned",
    "xnn.refined": "xNN refined",
    "logr": "Logistic regression",
    "svm": "Support vectors, SVM",
    "rf": "Random forest",
    "mlp": "Neural network (MLP)",
    "elm": "Extreme learning, ELM",
    "naive_xnn": "Naive xNN",
    "gam": "Additive model (GAM)",
}
