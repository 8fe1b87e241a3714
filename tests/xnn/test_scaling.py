"""Numeric columns on [-1, 1]: what every scaling must do, and what each is for."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from ridgeline.xnn.scaling import Scale, learn_scale

SCALINGS = ("robust", "quantile", "minmax")
COLUMNS = arrays.arrays(
    np.float64,
    st.integers(1, 300),
    elements=st.one_of(
        st.floats(-1e6, 1e6, allow_subnormal=False), st.sampled_from([0.0, 1.0, -7.0])
    ),
)


@given(values=COLUMNS, scaling=st.sampled_from(SCALINGS))
def test_a_scale_rises_strictly_from_one_end_to_the_other(values, scaling):
    scale = learn_scale(values, scaling)
    if not scale.varying:
        assert np.ptp(values) == pytest.approx(0, abs=1e-290)
        return
    assert (np.diff(scale.knots) > 0).all()
    assert (np.diff(scale.places) > 0).all()
    assert scale.knots[[0, -1]].tolist() == [values.min(), values.max()]
    assert scale.places[[0, -1]].tolist() == [-1.0, 1.0]


@given(values=COLUMNS, scaling=st.sampled_from(SCALINGS))
def test_order_is_kept_and_nothing_lies_outside(values, scaling):
    scaled = learn_scale(values, scaling)(np.sort(values))
    assert (np.diff(scaled) >= 0).all()
    assert np.abs(scaled).max() <= 1 + 1e-15


@given(values=COLUMNS, scaling=st.sampled_from(SCALINGS))
def test_the_own_unit_comes_back(values, scaling):
    scale = learn_scale(values, scaling)
    if scale.varying:
        back = scale.inverse(scale(values))
        # Knots may be as close as places can tell apart.
        assert np.abs(back - values).max() <= 1e-6 * np.ptp(values)


@given(values=COLUMNS, scaling=st.sampled_from(SCALINGS))
def test_beyond_the_training_rows_it_stays_at_the_edge(values, scaling):
    scale = learn_scale(values, scaling)
    ends = scale(np.array([values.min(), values.max()]))
    far = scale(np.array([values.min() - 1e9, values.max() + 1e9]))
    assert far.tolist() == ends.tolist()


def test_a_column_without_tails_is_scaled_as_in_the_paper():
    rng = np.random.default_rng(0)
    for values in (rng.uniform(3, 5, 4000), rng.integers(0, 24, 4000).astype(float)):
        assert learn_scale(values, "robust").straight
        expected = 2 * (values - values.min()) / np.ptp(values) - 1
        assert np.allclose(learn_scale(values, "robust")(values), expected)


def test_one_extreme_cell_leaves_the_others_where_they_were():
    values = np.random.default_rng(1).normal(size=1000)
    before = learn_scale(values, "robust")(values)
    spoilt = learn_scale(np.append(values, 1e9), "robust")(values)
    assert np.abs(spoilt - before).max() < 0.35
    assert np.corrcoef(before, spoilt)[0, 1] > 0.999
    # While the paper's scaling leaves them one place.
    assert np.ptp(learn_scale(np.append(values, 1e9), "minmax")(values)) < 1e-7


def test_heavy_tails_use_the_whole_range():
    incomes = np.exp(np.random.default_rng(2).normal(10, 1.5, 5000))
    middle = np.quantile(incomes, [0.1, 0.9])
    assert np.ptp(learn_scale(incomes, "minmax")(middle)) < 0.1
    assert np.ptp(learn_scale(incomes, "robust")(middle)) > 0.8
    assert np.ptp(learn_scale(incomes, "quantile")(middle)) == pytest.approx(
        1.6, abs=0.1
    )


def test_a_value_that_most_rows_share_leaves_the_others_room():
    rng = np.random.default_rng(3)
    values = np.where(rng.random(5000) < 0.9, 0.0, np.exp(rng.normal(8, 1, 5000)))
    others = np.quantile(values[values > 0], [0.05, 0.95])
    assert np.ptp(learn_scale(values, "quantile")(others)) > 1.4


def test_a_constant_column_has_one_knot():
    scale = learn_scale(np.full(5, 3.0), "robust")
    assert scale == Scale(pytest.approx([3.0]), pytest.approx([0.0]))
    assert scale(np.array([1.0, 3.0])).tolist() == [0.0, 0.0]
