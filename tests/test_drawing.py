"""The drawing kit: names, bars and limits as they are drawn."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.gridspec import GridSpec

from ridgeline import drawing


@pytest.fixture
def axes():
    return drawing.new_figure(4, 3).add_subplot()


@given(st.text(st.characters(exclude_characters="…"), max_size=80), st.integers(6, 60))
def test_names_fit_and_keep_both_ends(name, longest):
    drawn = drawing.short(name, longest).replace(r"\$", "$")
    plain = " ".join(name.split())
    assert len(drawn) <= longest
    if len(plain) > longest:
        start, end = drawn.split("…")
        assert plain.startswith(start)
        assert plain.endswith(end)
    else:
        assert drawn == plain


def test_dollars_are_no_formulas(axes):
    assert drawing.axis_title("Price in $", "$") == r"Price in \$ (\$)"
    assert drawing.axis_title("Price", "") == "Price"


@pytest.mark.parametrize("upright", [False, True])
def test_bars_go_from_zero_in_the_colours_of_their_signs(axes, upright):
    drawing.signed_bars(axes, np.array([0.5, -1.0, 0.0]), upright=upright)
    drawn = [bar.get_height() if upright else bar.get_width() for bar in axes.patches]
    assert drawn == [0.5, -1, 0]
    colours = drawing.sign_colours(np.array([0.5, -1.0, 0.0]))
    assert colours == [drawing.UP, drawing.DOWN, drawing.UP]


def test_few_bars_do_not_grow_thicker():
    def height_of_a_bar(count):
        axes = drawing.new_figure(4, 3).add_subplot()
        drawing.signed_bars(axes, np.ones(count))
        drawing.name_bars(axes, [f"bar {place}" for place in range(count)])
        low, high = axes.get_ylim()
        assert low > high  # the first is on top
        return drawing.BAR / (low - high)

    assert height_of_a_bar(1) == pytest.approx(height_of_a_bar(drawing.FEWEST_BARS))
    assert height_of_a_bar(20) < height_of_a_bar(drawing.FEWEST_BARS)


def test_limits_have_margins_even_round_one_value():
    assert drawing.limits(np.array([1.0, 3.0, 2.0]), 0.1, 0.5) == (0.8, 4.0)
    assert drawing.limits(np.array([2.0]), 0.1, 0.1) == (1.9, 2.1)


def test_the_largest_are_taken_by_size():
    values = np.array([1.0, -3.0, 2.0])
    assert drawing.largest(values, 2).tolist() == [1, 2]
    assert drawing.largest(values, 3).tolist() == [0, 1, 2]  # all, in their order


def test_density_has_the_area_of_the_counts_and_bears_an_empty_width(axes):
    drawing.draw_density(
        axes, np.array([2.0, 3.0, 4.0]), np.array([0.0, 1.0, 1.0, 5.0])
    )
    (steps,) = axes.patches
    assert steps.get_data().values.tolist() == [2.0, 0.0, 1.0]


def test_a_ridge_function_stands_over_its_rows_and_beside_its_projection():
    figure = drawing.new_figure(6, 4)
    row = drawing.GridRow(figure, GridSpec(6, 2, figure), 1)
    z = np.linspace(-1, 1, 5)
    axes = drawing.draw_ridge_beside_projection(
        row,
        0,
        "ridge 1",
        curve=(z, z**2),
        density=(np.ones(2), np.array([-1.0, 0.0, 1.0])),
        weights=np.array([0.8, -0.6]),
        features=["age", "income"],
    )
    drawing.share_projection_axis(figure, 0.8)
    FigureCanvasAgg(figure).draw()
    labels = [part.get_label() for part in axes]
    assert labels == [f"ridge 1: {part}" for part in ("curve", "density", "projection")]
    curve, density, projection = (part.get_position() for part in axes)
    assert curve.y0 > density.y0
    assert (curve.x0, curve.x1) == pytest.approx((density.x0, density.x1))
    assert projection.x0 > curve.x1
    assert axes.curve.get_xlim() == axes.density.get_xlim()
    assert axes.projection.get_xlim() == pytest.approx((-0.864, 0.864))
    line = max(axes.curve.lines, key=lambda line: line.get_zorder())
    np.testing.assert_array_equal(line.get_ydata(), z**2)


def test_values_of_few_levels_are_points_over_bars_of_their_own():
    figure = drawing.new_figure(6, 4)
    levels, curve = np.array([0.0, 1.0, 3.0]), np.array([1.0, -1.0, 0.5])
    axes = drawing.draw_ridge_beside_projection(
        drawing.GridRow(figure, GridSpec(3, 2, figure), 0),
        0,
        "ridge 1",
        curve=(np.linspace(0, 3, 9), np.zeros(9)),
        density=(np.array([5.0, 0.0, 2.0, 4.0]), np.array([0, 0.1, 0.8, 1.1, 3.0])),
        weights=np.ones(1),
        features=["years"],
        points=(levels, curve),
    )
    line = max(axes.curve.lines, key=lambda line: line.get_zorder())
    np.testing.assert_array_equal(line.get_xdata(), levels)
    np.testing.assert_array_equal(line.get_ydata(), curve)
    (steps,) = axes.density.patches
    values, edges, _ = steps.get_data()
    assert edges.tolist() == [-0.5, 0.5, 2.0, 4.0]
    np.testing.assert_allclose(values * np.diff(edges), [5.0, 2.0, 4.0])


def test_a_bin_that_the_end_cuts_off_does_not_tower_above_the_others():
    figure = drawing.new_figure(6, 4)
    axes = drawing.draw_ridge_beside_projection(
        drawing.GridRow(figure, GridSpec(3, 2, figure), 0),
        0,
        "ridge 1",
        curve=(np.linspace(0, 3, 9), np.zeros(9)),
        density=(np.array([1.0, 2.0, 2.0, 1.0]), np.array([0.9, 1, 2, 3, 3.0])),
        weights=np.ones(1),
        features=["income"],
    )
    (steps,) = axes.density.patches
    values, edges, _ = steps.get_data()
    assert edges.tolist() == [0.9, 2.0, 3.0]
    np.testing.assert_allclose(values * np.diff(edges), [3.0, 3.0])


@pytest.mark.parametrize("unit", ["year", "years"])
def test_years_have_whole_ticks(axes, unit):
    axes.plot([2015.0, 2018.4], [0, 1])
    drawing.unit_ticks(axes, unit)
    axes.figure.canvas.draw()
    ticks = axes.get_xticks()
    assert (ticks == np.round(ticks)).all()


@pytest.mark.parametrize(
    ("largest", "written"), [(1.2e6, {"0", "500k", "1M"}), (4_000, {"0", "4000"})]
)
def test_large_numbers_are_short_and_have_no_factor_beside_the_axis(largest, written):
    figure = drawing.new_figure(4, 2)
    axes = figure.add_subplot()
    axes.set_xlim(0, largest)
    drawing.short_ticks(axes)
    figure.draw_without_rendering()
    assert written & {label.get_text() for label in axes.get_xticklabels()}
    assert axes.xaxis.get_offset_text().get_text() == ""
