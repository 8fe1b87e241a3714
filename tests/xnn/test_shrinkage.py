"""Rare categories are drawn to the average, by how much the rows say."""

import numpy as np
import pandas as pd
import pytest

from ridgeline import XNNClassifier, XNNRegressor
from ridgeline.xnn.first_look import Residuals
from ridgeline.xnn.shrinkage import effect_price


def more_rows(codes, target, count):
    """How many rows with the average response the price of an effect is worth."""
    left = Residuals(target, np.ones(len(codes)), 1.0)
    price = effect_price(codes, count, left, rows=len(codes), classify=False)
    return price * len(codes)


def test_the_price_is_that_of_the_rows_that_bayes_adds():
    """Means of categories with variance 4 and noise of variance 1: a quarter row."""
    rng = np.random.default_rng(0)
    codes = np.repeat(np.arange(400), 25)
    target = 2 * rng.normal(size=400)[codes] + rng.normal(size=len(codes))
    assert more_rows(codes, target, 400) == pytest.approx(0.25, rel=0.15)


def test_categories_that_differ_by_chance_alone_are_all_drawn_to_the_average():
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 300, 6000)
    assert more_rows(codes, rng.normal(size=6000), 300) > 300


def rare_categories(rng, effect, n=6000, count=1000):
    """Many rare categories, a strong number, and a response."""
    category = rng.integers(0, count, n)
    x = rng.uniform(-1, 1, n)
    y = 2 * x + effect[category] + 0.5 * rng.normal(size=n)
    names = pd.Categorical([f"c{code}" for code in category])
    return pd.DataFrame({"x": x, "place": names}), y, category


def test_noise_of_a_thousand_categories_is_not_memorised():
    rng = np.random.default_rng(2)
    X, y, _ = rare_categories(rng, np.zeros(1000))
    model = XNNRegressor(random_state=0, max_epochs=60).fit(X, y)
    table = model.explain().categories
    assert table.empty or table["effect"].abs().max() < 0.05


def test_rare_categories_with_effects_are_shrunk_as_far_as_it_pays():
    """Closer to the truth than their own means, and than the average."""
    rng = np.random.default_rng(3)
    truth = 0.5 * rng.normal(size=1000)
    X, y, category = rare_categories(rng, truth)
    model = XNNRegressor(random_state=0, max_epochs=200)
    model.fit(X, y, validation_data=(X, y))
    table = model.explain().categories.set_index("category")["effect"]
    codes = np.array([int(name[1:]) for name in table.index])
    found = table.to_numpy()
    sums = np.bincount(category, y - 2 * X["x"].to_numpy(), 1000)
    means = sums / np.maximum(np.bincount(category, minlength=1000), 1)
    means -= np.average(means, weights=np.bincount(category, minlength=1000))

    def error(effects):
        return np.mean((effects - truth[codes]) ** 2)

    assert error(found) < 0.9 * error(means[codes])
    assert error(found) < 0.5 * error(np.zeros(len(codes)))


def test_the_count_of_rows_is_shown():
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({"x": rng.normal(size=500), "g": rng.choice(list("abc"), 500)})
    y = (frame["g"] == "a") ^ (rng.random(500) < 0.1)
    model = XNNClassifier(random_state=0, max_epochs=40).fit(
        frame, y, validation_data=(frame, y)
    )
    shown = model.explain().categories.set_index("category")["rows"]
    assert shown.to_dict() == pytest.approx(frame["g"].value_counts().to_dict())
