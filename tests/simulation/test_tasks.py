"""One task: the same numbers again, anywhere; data of its own; a whole record."""

import json
import time
from typing import Any

import numpy as np
import pytest
from tiny_study import PAPER_MODELS, numbers, tiny

from ridgeline.simulation.settings import MODELS, PAPER_NETWORK
from ridgeline.simulation.study import StudyResult
from ridgeline.simulation.tasks import Task, TaskData, draw_data, run_task
from ridgeline.xnn.columns import Unseen
from ridgeline.xnn.storage import read_document

# Rows of a test may lie beyond the range of the few that a network is trained on.
pytestmark = pytest.mark.filterwarnings("ignore:.* beyond the range")
SETTINGS = tiny("unused")
TASK = Task("S1", 60, 0, "lasso")
COMMON = {
    "scenario", "n", "repetition", "model", "seconds", "validation_loss",
    "n_parameters", "n_components", "orthogonality_error", "chosen", "fits", "mse",
    "excess",
}  # fmt: skip
NETWORKS = {
    "overlap_mean", "overlap_max", "correlation_mean",
    "cosine_mean", "cosine_min", "curve_error",
}  # fmt: skip
# Of S3 at 50 rows, the third repetition, of a study with the seed 7.
DRAWN = (0.7646248530687109, 2.4006493097359547, 0.8493511516628833, 1232453669)


def arrays(rows: TaskData) -> list[np.ndarray]:
    """Return all that was drawn."""
    return [part for sample in rows[:3] for part in sample]


def same(one: TaskData, other: TaskData) -> bool:
    """Tell whether two draws are equal bit for bit."""
    pairs = zip(arrays(one), arrays(other), strict=True)
    return all(np.array_equal(a, b) for a, b in pairs)


def share(first: np.ndarray, second: np.ndarray) -> float:
    """Return the share of the first's values that are among the second's."""
    return float(np.isin(first, second).mean())


class TestRows:
    """What a task draws."""

    @pytest.mark.parametrize("model", MODELS)
    def test_the_model_does_not_matter(self, model: str) -> None:
        first = draw_data(TASK, SETTINGS, 0)
        other = draw_data(TASK._replace(model=model), SETTINGS, 0)
        assert same(first, other)
        assert first.model_seed == other.model_seed

    @pytest.mark.parametrize(
        ("other", "seed"),
        [
            (TASK._replace(scenario="S2"), 0),
            (TASK._replace(n=61), 0),
            (TASK._replace(repetition=1), 0),
            (TASK, 1),
        ],
        ids=["scenario", "size", "repetition", "seed"],
    )
    def test_other_tasks_have_other_data(self, other: Task, seed: int) -> None:
        first, second = draw_data(TASK, SETTINGS, 0), draw_data(other, SETTINGS, seed)
        for one, another in zip(arrays(first), arrays(second), strict=True):
            assert share(one, another) == 0
        assert first.model_seed != second.model_seed

    def test_no_row_is_used_twice(self) -> None:
        train, validation, test, _ = draw_data(TASK, SETTINGS, 0)
        assert share(train.features, test.features) == 0
        assert share(validation.features, test.features) == 0
        assert share(train.features, validation.features) == 0

    @pytest.mark.parametrize(
        ("n", "held_share", "held"),
        [(1_000, 0.2, 200), (10_000, 0.2, 2_000), (55, 0.2, 11), (50, 0.3, 15),
         (50, 0.001, 1), (50, 0.999, 49)],
    )  # fmt: skip
    def test_sizes(self, n: int, held_share: float, held: int) -> None:
        settings = tiny("unused", validation_share=held_share, test_rows=70)
        train, validation, test, _ = draw_data(TASK._replace(n=n), settings, 0)
        assert [len(part.response) for part in (train, validation, test)] == [
            n - held, held, 70,
        ]  # fmt: skip
        assert train.features.shape == (n - held, 10)

    def test_as_they_were(self) -> None:
        # Stored results stay true only as long as the same task draws the same rows.
        train, validation, test, seed = draw_data(Task("S3", 50, 2, "rf"), SETTINGS, 7)
        assert train.features[0, 0] == pytest.approx(DRAWN[0], rel=1e-15)
        assert validation.response[-1] == pytest.approx(DRAWN[1], rel=1e-12)
        assert test.truth[0] == pytest.approx(DRAWN[2], rel=1e-12)
        assert seed == DRAWN[3]


class TestRecords:
    """What a task leaves."""

    @pytest.mark.parametrize("model", PAPER_MODELS)
    def test_fields(self, whole: StudyResult, model: str) -> None:
        records = [record for record in whole.records if record["model"] == model]
        assert [record["scenario"] for record in records] == ["S1", "S2"]
        for record in records:
            is_network = model in {"xnn", "naive_xnn"}
            more = NETWORKS if is_network else set()
            own = {"excess_all_rows"} if model == "xnn" else set()
            assert set(record) == COMMON | more | own
            assert record == json.loads(json.dumps(record))
            assert (record["n"], record["repetition"]) == (60, 0)
            assert record["seconds"] > 0
            assert record["n_parameters"] > 0
            assert isinstance(json.loads(record["chosen"]), dict)
            assert (record["n_components"] is not None) == is_network
            assert (record["orthogonality_error"] is not None) == is_network
            # The multilayer perceptron has its validation rows join the others.
            assert (record["validation_loss"] is None) == (model == "mlp")
            # Noise and what is missed are apart: E mse = excess + 1. With 500 rows the
            # noise alone has a standard error of 0.06, and its product with what is
            # missed one of 2 sqrt(excess / 500).
            error = 0.06 + 2 * (record["excess"] / 500) ** 0.5
            assert record["mse"] - record["excess"] == pytest.approx(1, abs=4 * error)
            assert record["excess"] > 0

    def test_the_enhanced_network_is_orthogonal(self, whole: StudyResult) -> None:
        for record in whole.records:
            if record["model"] == "xnn":
                assert record["overlap_max"] < 1e-6
                assert json.loads(record["chosen"]) == {
                    "l1_projection": 1e-3, "l1_scales": 1e-3, "roughness": 1e-6,
                }  # fmt: skip
            if record["model"] == "naive_xnn":
                assert record["overlap_max"] > 0.05

    def test_networks_give_their_numbers(self, whole: StudyResult) -> None:
        for record in whole.records:
            if record["model"] not in {"xnn", "naive_xnn"}:
                assert record["model"] not in whole.networks[record["scenario"]]
                continue
            task = Task(*(record[name] for name in Task._fields))
            scorer = read_document(whole.networks[task.scenario][task.model])
            test = draw_data(task, SETTINGS, 0).test
            predicted = scorer.predict(test.features, Unseen(beyond="extend"))
            excess = np.mean((predicted - test.truth) ** 2)
            assert excess == pytest.approx(record["excess"], rel=1e-4)
            assert np.count_nonzero(scorer.scales) == record["n_components"]

    def test_too_many_rows(self) -> None:
        settings = tiny("unused", baselines={"svm": {"max_rows": 47}})
        began = time.process_time()
        result = run_task(TASK._replace(model="svm"), settings, 0)
        spent = time.process_time() - began
        assert result.network is None
        assert 0 < result.record.pop("seconds") < spent
        assert result.record == {
            "scenario": "S1", "n": 60, "repetition": 0, "model": "svm", "fits": 0,
            "not_applicable": "not applicable, because 48 training rows are above its "
            "limit of 47 (max_rows).",
        }  # fmt: skip


class TestSameNumbers:
    """The same task gives the same numbers, bit for bit."""

    @pytest.mark.parametrize("model", PAPER_MODELS)
    def test_here(self, whole: StudyResult, model: str) -> None:
        settings = tiny("unused", models=list(PAPER_MODELS))
        again = run_task(Task("S2", 60, 0, model), settings, 0).record
        [before] = [
            record
            for record in whole.records
            if (record["scenario"], record["model"]) == ("S2", model)
        ]
        assert numbers([again]) == numbers([before])

    def test_in_another_process(
        self, whole: StudyResult, elsewhere: dict[str, Any]
    ) -> None:
        models = {record["model"] for record in elsewhere["records"]}
        assert len(models) == 6
        before = [
            record
            for record in whole.records
            if record["scenario"] == "S1" and record["model"] in models
        ]
        assert numbers(elsewhere["records"]) == numbers(before)


def test_names_for_people() -> None:
    assert str(Task("S4", 10_000, 9, "naive_xnn")) == "S4 n=10,000 no. 10 naive_xnn"


class TestPapersNetwork:
    """The study is of the paper's model, whatever the estimators' defaults are."""

    @pytest.mark.parametrize("model", ["xnn", "naive_xnn", "gam"])
    def test_it_is_what_networks_are_fitted_with(self, model: str) -> None:
        settings = tiny("unused", max_epochs=7, baselines={}, xnn={})
        own = settings.network(model) if model == "xnn" else settings.baseline(model)
        assert own.settings == {
            "scaling": "minmax",
            "special_values": None,
            "cayley_step": 10.0,
            "relaxation": 0.0,
            "learning_rate": 0.01,
            "beyond_range": "extend",
            "max_epochs": 7,
        }
        assert settings.baseline("rf").settings == {}

    def test_what_a_user_sets_goes_before_it(self) -> None:
        settings = tiny(
            "unused",
            xnn={"settings": {"scaling": "robust"}},
            baselines={"gam": {"grid": {"learning_rate": [0.1, 0.2]}}},
        )
        expected = dict(PAPER_NETWORK)
        assert settings.network("xnn").settings == expected | {"scaling": "robust"}
        del expected["learning_rate"]
        assert settings.baseline("gam").settings == expected

    def test_another_schedule_has_its_own_steps(self) -> None:
        settings = tiny("unused", xnn={"settings": {"schedule": "paper"}})
        own = settings.network("xnn").settings
        assert own["cayley_step"] is None
        assert own["learning_rate"] is None
        assert own["scaling"] == "minmax"

    def test_the_network_itself_has_it(self, whole: StudyResult) -> None:
        found = [each for models in whole.networks.values() for each in models.values()]
        assert found
        for document in found:
            numbers = read_document(document).features.numbers.values()
            assert all(number.scale.straight for number in numbers)
            assert not any(number.special_values for number in numbers)


class TestNear:
    """The network whose projections may overlap, which is not the paper's."""

    def test_its_price_is_chosen_and_its_overlap_told(self) -> None:
        settings = tiny(
            "unused",
            models=["near"],
            near={
                "grid": {"l1_scales": [1e-3, 1e-2]},
                "roughness": [1e-6],
                "coherence": [10.0, 0.001],
                "n_starts": 2,
                "settings": {"hidden": [4], "max_epochs": 5, "refine_epochs": 5},
            },
        )
        result = run_task(TASK._replace(model="near"), settings, 0)
        record = result.record
        assert record["fits"] == 2 + 2 + 2
        assert json.loads(record["chosen"])["coherence"] in {10.0, 0.001}
        assert record["excess"] > 0
        assert record["overlap_max"] >= 0
        assert result.network is not None

    def test_it_has_the_estimators_way_of_training(self) -> None:
        own = tiny("unused").network("near").settings
        assert own["projection"] == "near"
        assert own["scaling"] == "minmax"
        assert not {"cayley_step", "learning_rate", "relaxation"} & own.keys()

    def test_what_is_set_for_it_holds(self) -> None:
        chosen = {"relaxation": 0.2, "learning_rate": 0.02}
        own = tiny("unused", near={"settings": chosen}).network("near").settings
        assert own["relaxation"] == 0.2
        assert own["learning_rate"] == 0.02
