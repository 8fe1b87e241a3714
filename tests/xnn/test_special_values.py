"""Codes that a user names, and point masses that the training rows show."""

import numpy as np
import pytest

from ridgeline.errors import InputError
from ridgeline.xnn.first_look import look
from ridgeline.xnn.special_values import asked_specials, point_masses, warn_of_absent

NAMES = ("dti", "income")


def masses(values, target, *, classify=False, more=None):
    columns = {"x": np.asarray(values, dtype=float)}
    target = np.asarray(target, dtype=float)
    first = look(columns | (more or {}), {}, target, classify=classify)
    return point_masses(columns, first).get("x", ())


def heaped(rng, n=6000):
    """A column with a heap at 0 and at 50 among continuous values."""
    values = rng.uniform(0, 100, n)
    values[rng.random(n) < 0.05] = 0.0
    values[rng.random(n) < 0.05] = 50.0
    return values


@pytest.mark.parametrize("seed", range(5))
def test_a_point_mass_that_differs_is_found(seed):
    rng = np.random.default_rng(seed)
    x = heaped(rng)
    y = np.sin(x / 20) + 0.5 * (x == 50) + 0.3 * rng.normal(size=len(x))
    assert masses(x, y) == (50.0,)


@pytest.mark.parametrize("seed", range(5))
def test_being_frequent_is_not_enough(seed):
    rng = np.random.default_rng(seed)
    x = heaped(rng)
    assert masses(x, np.sin(x / 20) + 0.3 * rng.normal(size=len(x))) == ()


@pytest.mark.parametrize("seed", range(5))
def test_whole_numbers_on_a_curve_are_none(seed):
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 80, 6000).astype(float)
    chance = 1 / (1 + np.exp(-(x - 40) / 10))
    assert masses(x, rng.random(len(x)) < chance, classify=True) == ()


def test_a_class_has_them_too():
    rng = np.random.default_rng(0)
    x = heaped(rng)
    chance = np.where(x == 0, 0.02, 0.3)
    assert masses(x, rng.random(len(x)) < chance, classify=True) == (0.0,)


def test_what_another_column_explains_is_none():
    rng = np.random.default_rng(0)
    x = heaped(rng)
    other = np.where(x == 50, 1.0, 0.0)
    y = other + 0.1 * rng.normal(size=len(x))
    assert masses(x, y, more={"other": other}) == ()
    assert masses(x, y) == (50.0,)


def test_gaps_do_not_count():
    rng = np.random.default_rng(0)
    x = heaped(rng)
    y = 0.5 * (x == 50) + 0.3 * rng.normal(size=len(x))
    x[rng.random(len(x)) < 0.2] = np.nan
    assert masses(x, y) == (50.0,)


def test_the_parameter_is_read_in_all_its_forms():
    assert asked_specials(None, NAMES) == ({}, ())
    assert asked_specials("auto", NAMES) == ({}, NAMES)
    codes, auto = asked_specials([-7, -8, -7], NAMES)
    assert codes == {"dti": (-7.0, -8.0), "income": (-7.0, -8.0)}
    assert auto == ()
    codes, auto = asked_specials({"dti": "auto", "income": [-9]}, NAMES)
    assert (codes, auto) == ({"income": (-9.0,)}, ("dti",))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("automatic", "'automatic'; as a text it must be 'auto'"),
        ({"dtl": [0]}, "'dtl' is not a column; the columns are 'dti', 'income'"),
        ({"dti": [float("nan")]}, "nan for column 'dti'"),
        ({"dti": ["none"]}, "'none' for column 'dti'"),
        ([True], "True for all columns"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(given, words):
    with pytest.raises(InputError, match=words):
        asked_specials(given, NAMES)


def test_a_special_value_that_never_occurs_is_said():
    columns = {"dti": np.array([0.0, 1.0])}
    with pytest.warns(UserWarning, match="-8.0 for the column 'dti', which no row has"):
        warn_of_absent({"dti": [0, -8]}, columns)
