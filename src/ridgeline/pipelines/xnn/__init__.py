"""The explainable network: tuning, training, pruning and refinement."""

from ridgeline.pipelines.xnn.pipeline import create_pipelines

__all__ = ["create_pipelines"]
