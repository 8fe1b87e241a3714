"""Matplotlib figures as PNG files, written atomically.

Not exported by the package: matplotlib takes half a second to import, and most runs of
a part of the pipeline draw nothing.
"""

from typing import Any

from kedro_datasets.matplotlib import MatplotlibDataset

from ridgeline.datasets.atomic import AtomicSave
from ridgeline.private_names.kedro import load_path

__all__ = ["FigureDataset"]


class FigureDataset(AtomicSave, MatplotlibDataset):  # type: ignore[misc]
    """`matplotlib.MatplotlibDataset` that never leaves half a file.

    Example:
        ```yaml
        roc_plot:
          type: ridgeline.datasets.figure.FigureDataset
          filepath: data/08_reporting/roc_plot.png
        ```
    """

    # Named, because a file that is being written has another ending; for print.
    DEFAULT_SAVE_ARGS: dict[str, Any] = {"format": "png", "dpi": 200}  # noqa: RUF012

    def load(self) -> bytes:
        """Return the picture as it was saved, for a report to embed."""
        return load_path(self).read_bytes()
