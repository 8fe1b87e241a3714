"""What a run tells MLflow, and how a broken MLflow does not stop the run.

MLflow takes two seconds to import, so nothing here imports it before a run starts.
"""

from ridgeline.tracking.client import Tracker, TrackingError
from ridgeline.tracking.config import TrackingConfig, read_config
from ridgeline.tracking.recorder import NodeRecorder

__all__ = [
    "NodeRecorder",
    "Tracker",
    "TrackingConfig",
    "TrackingError",
    "read_config",
]
