"""Figures in tests: rendered, and without a trace in pyplot."""

import pytest
from matplotlib import pyplot as plt
from matplotlib.backends.backend_agg import FigureCanvasAgg

__all__ = ["drawn", "no_state"]


def drawn(figure):
    """Render, so that what cannot be laid out fails; return axes by label."""
    FigureCanvasAgg(figure).draw()
    return {str(axes.get_label()): axes for axes in figure.axes}


@pytest.fixture(autouse=True)
def no_state():
    """Fail where a figure is left to pyplot; for modules that import it."""
    before = plt.get_fignums(), dict(plt.rcParams)
    yield
    assert (plt.get_fignums(), dict(plt.rcParams)) == before
