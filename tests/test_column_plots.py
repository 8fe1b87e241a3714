"""Curves in a column's own unit: few levels as points, heavy tails cut with a note."""

from dataclasses import replace

import numpy as np
import pytest
from drawn_figures import drawn, no_state  # noqa: F401
from known_model import make_known
from special_model import EFFECTS, LEVELS, make_levelled, make_special

from ridgeline.xnn.explanation import explain
from ridgeline.xnn.plots import plot_explanation
from ridgeline.xnn.scaling import Scale

LOW, HIGH = 1_000.0, 41_000.0
FAR = 2_000_000.0


def top_line(axes):
    return max(axes.lines, key=lambda line: line.get_zorder())


def heavy(*, up):
    """The known scorer with an amount of which few rows lie very far out."""
    known = make_known()
    knots = np.array([LOW, HIGH, FAR]) if up else np.array([-FAR, -HIGH, -LOW])
    places = np.array([-1.0, 0.999, 1.0]) if up else np.array([-1.0, -0.999, 1.0])
    numbers = dict(known.features.numbers)
    numbers["amount"] = replace(numbers["amount"], scale=Scale(knots, places))
    return replace(known, features=replace(known.features, numbers=numbers))


def test_few_levels_are_points():
    component = explain(make_levelled()).ridges[0]
    axes = drawn(plot_explanation(make_levelled()))
    line = top_line(axes["ridge 1: curve"])
    assert tuple(line.get_xdata()) == LEVELS
    np.testing.assert_array_equal(line.get_ydata(), component.level_curve)
    assert line.get_marker() == "o"
    ticks = axes["ridge 1: density"].get_xticks()
    assert (ticks == np.round(ticks)).all()
    # Other curves are lines, as ever.
    line = top_line(axes["ridge 2: curve"])
    assert line.get_marker() == "None"


@pytest.mark.parametrize("up", [True, False], ids=["up", "down"])
def test_a_long_tail_is_cut_and_said(up):
    axes = drawn(plot_explanation(heavy(up=up)))["ridge 2: density"]
    low, high = axes.get_xlim()
    assert high - low < 1.1 * (HIGH - LOW)
    assert low < (LOW if up else -HIGH)
    assert "about 0.25 % lie beyond" in axes.get_xlabel()


def test_other_axes_are_whole():
    axes = drawn(plot_explanation(make_known()))
    for name, ends in (("ridge 1", (500, 900)), ("ridge 2", (LOW, HIGH))):
        low, high = axes[f"{name}: density"].get_xlim()
        assert low <= ends[0] < ends[1] <= high
        assert "beyond" not in axes[f"{name}: density"].get_xlabel()


def test_special_values_are_bars_with_short_names():
    axes = drawn(plot_explanation(make_special()))
    bars = axes["amount: special values: effects"].patches
    np.testing.assert_allclose([bar.get_width() for bar in bars], EFFECTS)
    shares = axes["amount: special values: shares"]
    named = [text.get_text() for text in shares.get_yticklabels()]
    assert named == ["any other value", "10000", "20000", "30000"]
