"""What a model remembers of its training rows, and how its file keeps it."""

import json
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from known_model import PURPOSES, make_known, make_rows
from profiled_model import make_profiled, profiled
from special_model import SUMS, make_special, special_rows

from ridgeline import XNNClassifier, XNNRegressor, XNNRegressorCV, load, prune, refine
from ridgeline.errors import InputError
from ridgeline.xnn.profile import evenly_spaced
from ridgeline.xnn.storage import model_document, read_document

LIGHT = settings(max_examples=25, deadline=None)


def parts(part: Any) -> Any:
    """Return all that a profile holds, arrays as shape and bits."""
    if is_dataclass(part):
        return {f.name: parts(getattr(part, f.name)) for f in fields(part)}
    if isinstance(part, np.ndarray):
        return part.shape, part.tobytes()
    if isinstance(part, tuple):
        return [parts(each) for each in part]
    if isinstance(part, dict):
        return [(name, parts(each)) for name, each in part.items()]
    return part


def again(scorer):
    """Return a scorer after a way through the text of a file."""
    return read_document(json.loads(json.dumps(model_document(scorer))))


class TestHistograms:
    """Shares of the training rows."""

    @LIGHT
    @given(
        values=st.lists(st.floats(500, 900), min_size=1, max_size=60),
        seed=st.integers(0, 99),
    )
    def test_any_numbers(self, values, seed):
        rng = np.random.default_rng(seed)
        rows = make_rows(len(values), seed)
        rows["risk_score"] = values
        weight = rng.uniform(0.5, 2, len(rows))
        scorer = profiled(make_known(), rows, weight=weight)
        found = scorer.profile.columns["risk_score"]
        assert len(found.shares) <= 10
        assert found.edges[0] == min(values)
        assert found.edges[-1] == max(values)
        assert np.isclose(found.shares.sum(), 1)
        # Counted row by row, not by a sorted search.
        inner = found.edges[1:-1]
        at = [sum(edge <= value for edge in inner) for value in values]
        expected = np.bincount(at, weight, len(found.shares)) / weight.sum()
        np.testing.assert_allclose(found.shares, expected, atol=1e-12)
        places = found.places(scorer.features, "risk_score", rows["risk_score"])
        assert places.tolist() == at
        assert parts(again(scorer).profile) == parts(scorer.profile)

    def test_bins_have_about_the_same_share(self):
        profile = make_profiled().profile
        for each in (profile.columns["amount"], profile.score):
            np.testing.assert_allclose(each.shares, 0.1, atol=0.002)

    def test_few_values_have_a_bin_each(self):
        rows = make_rows(1000)
        rows["risk_score"] = np.where(np.arange(1000) < 970, 600.0, 650.0)
        found = profiled(make_known(), rows).profile.columns["risk_score"]
        np.testing.assert_allclose(found.shares, [0.97, 0.03])

    def test_categories_and_special_values(self):
        profile = profiled(make_special(), special_rows()).profile
        amount = profile.columns["amount"]
        np.testing.assert_allclose(amount.special, [0.1] * len(SUMS), atol=1e-9)
        np.testing.assert_allclose(amount.shares.sum(), 0.7, atol=1e-9)
        counts = special_rows()["purpose"].value_counts()[list(PURPOSES)] / 3_000
        np.testing.assert_allclose(profile.columns["purpose"].shares, counts)

    def test_strangers_and_new_gaps_have_a_place_of_their_own(self):
        scorer = make_profiled()
        columns, features = scorer.profile.columns, scorer.features
        cells = pd.Series(["Housing", "Boat", None], dtype=object)
        at = columns["purpose"].places(features, "purpose", cells)
        assert at.tolist() == [1, 3, 3]
        cells = pd.Series([-1e9, 1e9, np.nan])
        at = columns["amount"].places(features, "amount", cells)
        assert at.tolist() == [0, 9, 10]

    def test_components_are_those_in_use(self):
        profile = make_profiled(category_scale=0.0).profile
        assert list(profile.components) == ["ridge 1", "ridge 2"]


class TestReferences:
    """Mean rows by feature."""

    def test_groups_add_up_to_their_mean_decisions(self):
        scorer, rows = make_known(mixed=0.4), make_rows()
        target = (rows["amount"] > 20_000).to_numpy() * 1.0
        weight = np.random.default_rng(0).uniform(1, 2, len(rows))
        references = profiled(scorer, rows, target, weight).profile.references
        decision = scorer.decision_function(rows)
        for one in (0, 1):
            here = target == one
            mean = np.average(decision[here], weights=weight[here])
            total = scorer.intercept + references.groups[one].sum()
            assert np.isclose(total, mean)
            median = np.median(rows["amount"][here])
            assert abs(references.typical.groups[one, 1] - median) < 500

    def test_extremes_are_contributions_of_rows(self):
        scorer, rows = make_known(mixed=0.4), make_rows()
        found = profiled(scorer, rows).profile.references
        each = scorer.feature_contributions(rows)
        np.testing.assert_array_equal(found.extremes, [each.min(0), each.max(0)])
        best = each[:, 1].argmax()
        assert found.typical.extremes[1, 1] == rows["amount"].iloc[best]

    def test_bins_rise_and_stay_within_the_extremes(self):
        scorer = make_profiled()
        bins = scorer.profile.references.bins
        assert len(bins) == 20
        assert (np.diff(bins.sum(axis=1)) > 0).all()

    def test_one_score_is_one_bin(self):
        rows = make_rows(1).loc[[0] * 30].reset_index(drop=True)
        scorer = profiled(make_known(), rows, np.arange(30) % 2.0)
        assert len(scorer.profile.references.bins) == 1
        assert parts(again(scorer).profile) == parts(scorer.profile)

    def test_each_class_has_rows_where_contributions_are_dear(self):
        """A thousand sets for each row: few rows, and one of them of the rare class."""
        from ridgeline.xnn.profile import _reference_rows

        wide = replace(
            make_known(), projection=np.ones((12, 2)), scales=np.array([2.0, 1.0])
        )
        target = np.zeros(50_000)
        target[1_234] = 1.0
        chosen = _reference_rows(wide, target)
        assert 1_234 in chosen
        assert 500 <= len(chosen) < 5_000


def test_rows_are_evenly_spaced():
    assert evenly_spaced(5, 10).tolist() == [0, 1, 2, 3, 4]
    chosen = evenly_spaced(1_000_001, 101)
    assert chosen.tolist() == list(range(0, 1_000_001, 10_000))


class TestFile:
    """Optional, exact, and refused where it is not what a fit leaves."""

    def test_models_without_one_stay_as_they_are(self):
        document = model_document(make_known())
        assert "profile" not in document["model"]
        assert read_document(document).profile is None

    def test_size(self, make_scorer, tmp_path):
        scorer = make_scorer(n_features=10, n_subnetworks=10, hidden=(10, 6))
        X = np.random.default_rng(0).normal(size=(2_000, 10))
        rows = pd.DataFrame(X, columns=list(scorer.features.names))
        profiled(scorer, rows).save(tmp_path / "model.json")
        assert (tmp_path / "model.json").stat().st_size < 90_000

    @pytest.mark.parametrize("special", [True, False])
    def test_round_trip(self, tmp_path, special):
        scorer = (
            profiled(make_special(), special_rows()) if special else make_profiled()
        )
        scorer.save(tmp_path / "model.json")
        found = load(tmp_path / "model.json")
        assert parts(found.profile) == parts(scorer.profile)
        assert model_document(found) == model_document(scorer)

    @pytest.mark.parametrize(
        ("change", "said"),
        [
            (lambda p: p.update(rows=0), "not a positive number"),
            (lambda p: p.update(rows=True), "'rows' is missing or not of the type int"),
            (lambda p: p.update(more=1), "other keys"),
            (lambda p: p["columns"].pop(), "'columns' of the profile are not those"),
            (lambda p: p["columns"].reverse(), "'columns' of the profile are not"),
            (lambda p: p["components"].pop(), "'components' of the profile are not"),
            (lambda p: p["score"]["edges"].reverse(), "do not rise"),
            (lambda p: p["score"]["shares"].pop(), "'shares' has the shape"),
            (lambda p: p["columns"][0]["shares"].__setitem__(0, 2.0), "add up to one"),
            (lambda p: p["columns"][0].update(edges=[1.0]), "1 edges"),
            (lambda p: p["columns"][2].update(edges=[0.0, 1.0]), "2 edges"),
            (lambda p: p["references"]["bins"].reverse(), "lowest score first"),
            (lambda p: p["references"]["bins"].clear(), "0 bins"),
            (lambda p: p["references"]["extremes"].reverse(), "between the extremes"),
            (lambda p: p["references"]["typical_bins"].append(3), "list of lists"),
            (
                lambda p: p["references"]["typical_groups"][0].__setitem__(2, 7),
                "a category of 'purpose' that there is not",
            ),
            (
                lambda p: p["references"]["groups"][0].__setitem__(0, 1e200),
                "sums overflow",
            ),
            (lambda p: p["score"].update(note="x"), "not in the form of a saved model"),
        ],
    )
    def test_what_no_fit_leaves_is_refused(self, change, said):
        from ridgeline.xnn.content import model_content, read_content

        model = model_content(make_profiled())
        change(model["profile"])
        with pytest.raises(ValueError, match=said):
            read_content(model)


class TestFits:
    """Where a profile comes from, and where it goes."""

    X = np.random.default_rng(0).uniform(-1, 1, size=(400, 3))
    y = X[:, 0] + X[:, 1] ** 2

    def test_a_fit_has_one_and_pruning_drops_it(self, tmp_path):
        few = {"max_epochs": 20, "refine_epochs": 10, "random_state": 0}
        model = XNNRegressor(**few).fit(self.X, self.y)
        profile = model.scorer_.profile
        assert profile.rows == 400
        decision = model.scorer_.intercept + profile.references.groups.sum()
        assert np.isclose(decision, model.predict(self.X).mean())
        model.save(tmp_path / "model.json")
        assert parts(load(tmp_path / "model.json").profile) == parts(profile)
        second = XNNRegressor(**few).fit(self.X, self.y)
        assert parts(second.scorer_.profile) == parts(profile)
        pruned = prune(model, share=0.5)
        assert pruned.scorer_.profile is None
        refined = refine(
            pruned, self.X, self.y, sample_weight=np.r_[[0] * 100, [1] * 300]
        )
        assert refined.scorer_.profile.rows == 300

    def test_weights_count_as_rows(self):
        weight = np.random.default_rng(1).integers(1, 3, len(self.X))
        few = {"max_epochs": 5, "refine_epochs": 5, "random_state": 0}
        frame = pd.DataFrame(self.X, columns=list("abc")).assign(
            c=np.where(self.X[:, 2] > 0, "yes", "no")
        )
        model = XNNClassifier(**few).fit(frame, self.y > 0.3, sample_weight=weight)
        found = model.scorer_.profile.columns["c"].shares
        share = np.average(frame["c"] == "yes", weights=weight)
        np.testing.assert_allclose(found, [1 - share, share])

    def test_the_search_keeps_one(self):
        model = XNNRegressorCV(
            n_candidates=2, max_epochs=10, n_jobs=1, random_state=0, max_pairs=0
        ).fit(self.X, self.y)
        assert model.scorer_.profile.rows == 400


def test_an_error_of_a_user_is_one_sentence():
    broken = replace(make_profiled(), profile=replace(make_profiled().profile, rows=-1))
    with pytest.raises(InputError, match="cannot be saved, as 'rows' of the profile"):
        model_document(broken)
