"""Figures of models side by side show what they are given, and leave no state."""

import numpy as np
import pandas as pd
import pytest
from drawn_figures import drawn, no_state  # noqa: F401

from ridgeline.errors import InputError
from ridgeline.reporting.figures import plot_calibration, plot_roc


def roc(power):
    x = np.linspace(0, 1, 30)
    return pd.DataFrame({"false_positive_rate": x, "true_positive_rate": x**power})


def test_roc_curves_are_those_given_and_the_best_is_named_first():
    curves = {"a": roc(0.5), "xnn.refined": roc(0.1)}
    aucs, titles = {"a": 0.7, "xnn.refined": 0.95}, {"a": "A $1 model"}
    figure = plot_roc(curves, aucs, titles, highlight="xnn.refined")
    axes = drawn(figure)["roc"]
    lines = {line.get_label()[8:]: line for line in axes.lines[1:]}
    assert list(lines) == ["xnn.refined", r"A \$1 model"]
    for line, name in zip(lines.values(), ("xnn.refined", "a"), strict=True):
        np.testing.assert_array_equal(np.column_stack(line.get_data()), curves[name])
    assert lines["xnn.refined"].get_linewidth() > lines[r"A \$1 model"].get_linewidth()
    texts = [text.get_text() for text in axes.get_legend().get_texts()]
    assert texts == ["0.9500  xnn.refined", r"0.7000  A \$1 model"]
    (corner,) = axes.child_axes
    assert len(corner.lines) == 2


def test_poor_models_have_no_enlarged_corner():
    figure = plot_roc({"a": roc(0.5)}, pd.Series({"a": 0.7}), {}, highlight="a")
    axes = drawn(figure)["roc"]
    assert not axes.child_axes
    with pytest.raises(InputError, match="'a' has no number"):
        plot_roc({"a": roc(0.5)}, {}, {}, highlight="a")


def test_calibration_is_drawn_as_given():
    curve = pd.DataFrame(
        {"predicted": [0.1, 0.6], "observed": [0.2, 0.5], "count": [50, 60]}
    )
    figure = plot_calibration(
        {"a": curve}, {"a": 0.1}, {}, highlight="a", event="default"
    )
    axes = drawn(figure)["calibration"]
    np.testing.assert_array_equal(axes.lines[1].get_xdata(), curve["predicted"])
    np.testing.assert_array_equal(axes.lines[1].get_ydata(), curve["observed"])
    assert len(axes.collections) == 1  # the band of the highlighted model
    assert axes.get_xlabel() == "predicted probability of default"
    assert axes.get_ylabel() == "observed default rate"
