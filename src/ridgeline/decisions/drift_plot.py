"""The figure of drift: an index for each distribution, against the two limits."""

import numpy as np
from matplotlib.figure import Figure

from ridgeline.decisions.drift import DRIFTED, MOVING, Drift, verdict
from ridgeline.drawing import (
    DOWN,
    ROWS,
    RULE,
    SMALL,
    TRUTH,
    UP,
    clean,
    name_bars,
    new_figure,
)

__all__ = ["plot_drift"]

_COLOURS = {"stable": UP, "moving": DOWN, "drifted": TRUTH}


def plot_drift(drift: Drift) -> Figure:
    """Draws a bar for the score, each component and each feature."""
    moved = drift.moved
    figure = new_figure(7.0, 0.9 + 0.24 * max(len(moved), 4))
    axes = figure.add_subplot(label="drift: psi")
    psi = np.array([one.psi for one in moved])
    axes.barh(
        np.arange(len(moved)),
        psi,
        0.7,
        color=[_COLOURS[verdict(one)] for one in psi.tolist()],
        zorder=2,
    )
    name_bars(axes, [_name(one.kind, one.name) for one in moved])
    for limit, words in ((MOVING, "moving"), (DRIFTED, "drifted")):
        axes.axvline(limit, **(RULE | {"color": ROWS}), zorder=1)
        # One above the other: beside a large index the two limits are close.
        height = 2 if limit == DRIFTED else 10
        axes.annotate(
            f"{words} from {limit:.2f}",
            (limit, 1),
            (2, height),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            fontsize=SMALL,
        )
    axes.set_xlim(0, max(1.1 * float(psi.max(initial=0)), 1.6 * DRIFTED))
    axes.set_xlabel("population stability index", fontsize=8)
    clean(axes)
    return figure


def _name(kind: str, name: str) -> str:
    return name if kind != "component" else f"{name} (component)"
