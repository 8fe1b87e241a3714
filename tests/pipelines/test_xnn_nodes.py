"""The network's stages, node by node, and as one fit."""

import joblib
import numpy as np
import pandas as pd
import pytest
from kedro.io import DataCatalog, MemoryDataset
from kedro.runner import SequentialRunner

from ridgeline.baselines.sizes import explainable_network
from ridgeline.errors import InputError
from ridgeline.lendingclub.modelling import describe_applications, model_sample
from ridgeline.pipeline_registry import register_pipelines
from ridgeline.pipelines.xnn import nodes as xnn_nodes
from ridgeline.pipelines.xnn.nodes import (
    prune_network,
    refine_network,
    train_network,
    tune_penalties,
)
from ridgeline.pipelines.xnn.settings import XnnSettings
from ridgeline.tables.identity import identify_split
from ridgeline.xnn.estimator import XNNClassifier

SEED = 5
TABLE = describe_applications()
SHARE = 0.8
STAGES = ("training", "pruning", "refinement")
SETTINGS = XnnSettings.model_validate(
    {
        "network": {"n_subnetworks": 3, "hidden": [4]},
        # Sizes for which all fits here share one compiled program.
        "tuning": {
            "roughness": [1e-6, 1e-7],
            "l1_projection": [1e-3],
            "l1_scales": [1e-2, 1e-4],
            "rows": 390,
        },
        "training": {"max_epochs": 15, "batch_size": 80, "checkpoint": None},
        "pruning": {"share": SHARE},
        "refinement": {"max_epochs": 5},
    }
)
PENALTIES = {"roughness": 1e-6, "l1_projection": 1e-3, "l1_scales": 2e-3}
TUNING = pd.DataFrame({"validation_loss": [0.1, 0.2, 0.3]})
OF_A_REPORT = {
    *("fits", "fit_seconds", "epochs", "stop_reason", "validation_loss"),
    *("orthogonality_error", "n_parameters", "n_components", "importance_ratios"),
    *("largest_cosine", "smallest_eigenvalue"),
}


@pytest.fixture(scope="module")
def sets(make_applications):
    return {"train": make_applications(400, 0), "validation": make_applications(200, 1)}


@pytest.fixture(scope="module")
def chain(sets):
    """Run training, pruning and refinement as pipelines, on data in memory."""
    given = sets | {
        "data_identity": identify_split(sets),
        "table_description": TABLE.to_json(),
        "xnn.best_parameters": PENALTIES,
        "xnn.tuning_table": TUNING,
        "params:xnn": SETTINGS,
        "params:seed": SEED,
    }
    catalog = DataCatalog({name: MemoryDataset(data) for name, data in given.items()})
    results = {}
    for stage in STAGES:
        found = SequentialRunner().run(register_pipelines()[stage], catalog)
        results |= {name: dataset.load() for name, dataset in found.items()}
        for name, dataset in found.items():
            catalog[name] = dataset
    return results


def weights(scorer):
    """All numbers of a model, and the names of its parts."""
    return [
        scorer.projection,
        *scorer.subnetworks.kernels,
        *scorer.subnetworks.biases,
        scorer.scales,
        *scorer.effects,
        scorer.category_scales,
        np.array(scorer.intercept),
    ]


def assert_equal(one, other):
    for ours, theirs in zip(weights(one), weights(other), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_stages_one_by_one_are_one_fit_bit_for_bit(chain, sets):
    parameters = SETTINGS.estimator_parameters(PENALTIES, SEED, TABLE) | {"verbose": 0}
    model = XNNClassifier(**parameters)
    rows, held = (model_sample(sets[name]) for name in ("train", "validation"))
    model.fit(*rows, validation_data=held)
    assert_equal(chain["xnn.refined"], model.scorer_)
    losses = [
        chain[f"xnn.{stage}_history"]["validation_loss"]
        for stage in ("training", "refinement")
    ]
    np.testing.assert_array_equal(pd.concat(losses), model.history_["validation_loss"])


def test_nodes_repeat_and_leave_their_inputs_alone(chain, sets):
    before = {name: rows.copy(deep=True) for name, rows in sets.items()}
    report = chain["xnn.training_report"]
    kept = report.copy()
    identity = identify_split(sets)
    trained, *_ = train_network(
        **sets,
        identity=identity,
        table=TABLE,
        penalties=PENALTIES,
        tuning=TUNING,
        settings=SETTINGS,
        seed=SEED,
    )
    assert_equal(trained, chain["xnn.trained"])
    pruned, *_ = prune_network(
        trained=trained,
        validation=sets["validation"],
        table=TABLE,
        training=report,
        settings=SETTINGS,
    )
    assert_equal(trained, chain["xnn.trained"])
    refined, *_ = refine_network(
        pruned=pruned,
        **sets,
        identity=identity,
        table=TABLE,
        training=report,
        settings=SETTINGS,
        seed=SEED,
    )
    assert_equal(pruned, chain["xnn.pruned"])
    assert_equal(refined, chain["xnn.refined"])
    assert report == kept
    for name, rows in sets.items():
        pd.testing.assert_frame_equal(rows, before[name])


def test_another_seed_gives_another_network(chain, sets):
    trained, *_ = train_network(
        **sets,
        identity=identify_split(sets),
        table=TABLE,
        penalties=PENALTIES,
        tuning=TUNING,
        settings=SETTINGS,
        seed=SEED + 1,
    )
    assert not np.array_equal(trained.projection, chain["xnn.trained"].projection)


def test_tuning_chooses_from_the_grid_by_its_first_rows(chain, sets):
    spoilt = sets["train"].copy()
    spoilt.loc[SETTINGS.tuning.rows :, "approved"] ^= 1
    found = []
    with joblib.parallel_config(backend="sequential"):  # the program is compiled here
        for train in (sets["train"], spoilt):
            held = sets["validation"]
            rows = {"train": train, "validation": held, "table": TABLE}
            found.append(tune_penalties(**rows, settings=SETTINGS, seed=SEED))
    (best, table), (again, _) = found
    assert best == again
    tuning = SETTINGS.tuning
    assert len(table) == len(tuning.roughness) + len(tuning.l1_scales)
    assert set(table["roughness"]) == set(tuning.roughness)
    assert set(table["l1_scales"]) >= set(tuning.l1_scales)
    assert table["validation_loss"].is_monotonic_increasing
    chosen = table.loc[table["chosen"], list(PENALTIES)]
    assert chosen.to_dict("records") == [best]


def test_pruning_keeps_the_fewest_components_above_the_share(chain, sets):
    trained, pruned = chain["xnn.trained"], chain["xnn.pruned"]
    kept = pruned.all_scales > 0
    ratios = trained.importance_ratios
    assert ratios[kept].sum() > SHARE
    assert ratios[kept].sum() - ratios[kept].min() <= SHARE
    assert 0 < kept.sum() < len(kept)
    np.testing.assert_array_equal(pruned.all_scales[kept], trained.all_scales[kept])
    again, *_ = prune_network(
        trained=trained,
        validation=sets["validation"],
        table=TABLE,
        training={},
        settings=SETTINGS,
    )
    assert_equal(again, pruned)


def test_importance_table_is_cumulative_and_says_what_is_kept(chain):
    table = chain["xnn.importance_table"]
    trained, pruned = chain["xnn.trained"], chain["xnn.pruned"]
    assert table["importance_ratio"].is_monotonic_decreasing
    np.testing.assert_allclose(table["cumulative"], table["importance_ratio"].cumsum())
    assert table["cumulative"].iloc[-1] == pytest.approx(1)
    by_name = table.set_index("component")
    for name, ratio, scale in zip(
        trained.component_names,
        trained.importance_ratios,
        pruned.all_scales,
        strict=True,
    ):
        assert by_name.loc[name, "importance_ratio"] == ratio
        assert by_name.loc[name, "kept"] == (scale > 0)


def test_refinement_moves_everything_but_the_projections(chain):
    pruned, refined = chain["xnn.pruned"], chain["xnn.refined"]
    np.testing.assert_allclose(refined.projection, pruned.projection, atol=1e-6)
    assert (refined.all_scales > 0).sum() == (pruned.all_scales > 0).sum()
    assert not np.array_equal(refined.scales, pruned.scales)


def test_reports_have_the_agreed_numbers(chain):
    models = {"training": "trained", "pruning": "pruned", "refinement": "refined"}
    for stage, name in models.items():
        report, model = chain[f"xnn.{stage}_report"], chain[f"xnn.{name}"]
        assert set(report) >= OF_A_REPORT
        assert report["n_components"] == (model.all_scales > 0).sum()
        assert report["n_parameters"] == explainable_network(model)
        assert report["parameters"] == PENALTIES
        assert report["fits"] == len(TUNING) + 1
        assert report["orthogonality_error"] < 1e-5
        assert 0 <= report["largest_cosine"] < 1e-9
        assert report["smallest_eigenvalue"] == pytest.approx(1, abs=1e-9)
        assert sum(report["importance_ratios"].values()) == pytest.approx(1)
        assert not any(" " in key for key in report["importance_ratios"])
    assert chain["xnn.training_report"]["rows"] == {"train": 400, "validation": 200}
    # The time of the refined model is that of all stages.
    seconds = [chain[f"xnn.{stage}_report"]["fit_seconds"] for stage in STAGES]
    assert seconds[0] == seconds[1] < seconds[2]


def test_history_has_one_row_for_each_epoch(chain):
    for stage, epochs in (("training", 15), ("refinement", 5)):
        history = chain[f"xnn.{stage}_history"]
        assert history["epoch"].to_list() == list(range(1, epochs + 1))
        assert pd.api.types.is_integer_dtype(history["epoch"])
        assert set(history["stage"]) == {stage}
        assert chain[f"xnn.{stage}_report"]["epochs"] == epochs
        best = chain[f"xnn.{stage}_report"]["validation_loss"]
        assert best == pytest.approx(history["validation_loss"].min(), rel=1e-6)


def test_columns_are_taken_as_set(sets):
    codes = {"scaling": "quantile", "special_values": {"dti": [20.0]}}
    codes = {"columns": codes | {"beyond_range": "extend"}}
    settings = SETTINGS.model_copy(
        update={"columns": XnnSettings.model_validate(codes).columns}
    )
    parameters = settings.estimator_parameters(PENALTIES, SEED, TABLE)
    assert parameters["scaling"] == "quantile"
    assert parameters["special_values"] == {"dti": [20.0]}
    assert parameters["beyond_range"] == "extend"
    assert parameters["categorical_features"] == ["purpose"]
    default = SETTINGS.estimator_parameters(PENALTIES, SEED, TABLE)
    assert (default["scaling"], default["special_values"]) == ("robust", "auto")


def test_monotone_columns_are_taken_as_set():
    asked = {"columns": {"monotone": {"dti": "decreasing"}}}
    settings = SETTINGS.model_copy(
        update={"columns": XnnSettings.model_validate(asked).columns}
    )
    parameters = settings.estimator_parameters(PENALTIES, SEED, TABLE)
    assert parameters["monotone"] == {"dti": "decreasing"}
    assert SETTINGS.estimator_parameters(PENALTIES, SEED, TABLE)["monotone"] is None
    other = XnnSettings.model_validate({"columns": {"monotone": {"dtj": "decreasing"}}})
    with pytest.raises(InputError, match="there is no numeric column 'dtj'.*'dti'"):
        other.check_columns(TABLE)
    with pytest.raises(ValueError, match="'increasing' or 'decreasing'"):
        XnnSettings.model_validate({"columns": {"monotone": {"dti": "down"}}})


def test_a_special_value_of_an_unknown_column_is_refused():
    other = XnnSettings.model_validate({"columns": {"special_values": {"dtj": [1.0]}}})
    with pytest.raises(InputError, match="there is no numeric column 'dtj'.*'dti'"):
        other.check_columns(TABLE)


def test_pairs_and_overlap_are_keys_of_the_pipeline(sets, monkeypatch):
    """Pairs join the model that is trained, and no point of the search."""
    network = {"projection": "near", "coherence": 0.1, "max_pairs": 2}
    settings = SETTINGS.model_copy(
        update={"network": SETTINGS.network.model_copy(update=network)}
    )
    searched = []

    def no_search(model, *_, **__):
        searched.append(model.get_params())
        raise InterruptedError

    monkeypatch.setattr(xnn_nodes, "penalty_search", no_search)
    with pytest.raises(InterruptedError):
        tune_penalties(**sets, table=TABLE, settings=settings, seed=SEED)
    trained = settings.estimator_parameters(PENALTIES, SEED, TABLE)
    for parameters, pairs in ((searched[0], 0), (trained, 2)):
        assert parameters["projection"] == "near"
        assert parameters["coherence"] == 0.1
        assert parameters["max_pairs"] == pairs


def test_overlapping_projections_may_be_many():
    many = {"network": {"n_subnetworks": 9, "projection": "near"}}
    settings = XnnSettings.model_validate(many)
    assert settings.network.n_subnetworks == 9
    settings.check_columns(TABLE)
    many["network"]["projection"] = "orthogonal"
    with pytest.raises(InputError, match="at most as many as the 5 numeric columns"):
        XnnSettings.model_validate(many).check_columns(TABLE)
