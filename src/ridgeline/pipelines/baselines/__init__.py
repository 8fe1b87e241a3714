"""The methods that the network is compared with."""

from ridgeline.pipelines.baselines.pipeline import create_pipeline

__all__ = ["create_pipeline"]
