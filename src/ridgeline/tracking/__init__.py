"""What a run tells MLflow, and how a broken MLflow does not stop the run.

Kedro's hook calls the recorder, which knows nodes and outputs; the recorder calls the
client, which knows MLflow. MLflow takes two seconds to import, so nothing here imports
it before a run starts.
"""

from ridgeline.tracking.client import TrackingError
from ridgeline.tracking.config import TrackingConfig, read_config, read_outputs
from ridgeline.tracking.recorder import Recorder

__all__ = [
    "Recorder",
    "TrackingConfig",
    "TrackingError",
    "read_config",
    "read_outputs",
]
