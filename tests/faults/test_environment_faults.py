"""Each environment keeps to its own data, and every run to its project's folder."""

import html
import io
import re
import subprocess
from functools import partial
from pathlib import Path

import pandas as pd
import pytest
import yaml
from kedro.config import OmegaConfigLoader
from kedro.framework.context import KedroContext
from kedro.framework.hooks.manager import _create_hook_manager
from matplotlib.figure import Figure
from projects import PROJECT, command, copy_project, environment, turn_tracking_off

from ridgeline import settings
from ridgeline.errors import InputError
from ridgeline.evaluation.metrics import EvaluationSettings
from ridgeline.lendingclub.modelling import describe_applications, model_sample
from ridgeline.pipelines.baselines.nodes import fit_method
from ridgeline.pipelines.data.nodes import identify_data
from ridgeline.pipelines.evaluation.nodes import compare_models, evaluate_model
from ridgeline.pipelines.reporting.nodes import explain_network, write_report
from ridgeline.pipelines.xnn.nodes import refine_network, train_network
from ridgeline.pipelines.xnn.settings import XnnSettings
from ridgeline.project_paths import ProjectPathsHook
from ridgeline.reporting.example import example_decision, typical_decision
from ridgeline.tables.identity import identify_split
from ridgeline.tables.report.labels import labels_of

ENVIRONMENTS = {path.name for path in (PROJECT / "conf").iterdir() if path.is_dir()}
TABLE = describe_applications()
SETTINGS = EvaluationSettings(bootstrap_samples=50, calibration_bins=5)


def loader(project, env, **typed):
    return OmegaConfigLoader(
        str(project / "conf"),
        env=env,
        runtime_params=typed,
        **settings.CONFIG_LOADER_ARGS,
    )


def configured(project, env, **typed):
    """Parameters and catalog as a run has them that starts in the present folder."""
    hooks = _create_hook_manager()
    hooks.register(ProjectPathsHook())
    configuration = loader(project, env, **typed)
    context = KedroContext(project, configuration, env, "some_package", hooks)
    hooks.hook.after_context_created(context=context)
    return configuration["parameters"], configuration["catalog"]


def written(parameters, catalog):
    """Every path that a run writes to."""
    paths = [entry.get("filepath") or entry.get("path") for entry in catalog.values()]
    own = [path for path in paths if path and "*" not in path]
    return {
        *own,
        parameters["xnn"]["training"]["checkpoint"],
        parameters["study"]["results"],
    }


# --- A folder for each environment ---


def test_no_two_environments_write_to_one_path():
    found = {}
    for env in ENVIRONMENTS - {"local"}:  # the default one: base and a user's own
        configuration = loader(PROJECT, env)
        for path in written(configuration["parameters"], configuration["catalog"]):
            if path == configuration["globals"]["table"]:
                continue  # it is read, and never written
            assert found.setdefault(path, env) == env, path
    assert len(found) > 200


# --- From any folder ---


def test_paths_of_the_configuration_are_the_projects(tmp_path, monkeypatch):
    project = copy_project(tmp_path / "project")
    elsewhere = project / "notebooks" / "deep"
    elsewhere.mkdir(parents=True)
    local = {"xnn": {"training": {"checkpoint": "mine/checkpoints"}}}
    (project / "conf/local").mkdir(exist_ok=True)
    (project / "conf/local/parameters.yml").write_text(yaml.safe_dump(local))
    monkeypatch.chdir(elsewhere)
    parameters, catalog = configured(project, "local")
    folder = str(project / "data/07_model_output/study")
    assert parameters["study"]["results"] == folder
    assert parameters["xnn"]["training"]["checkpoint"] == str(
        project / "mine/checkpoints"
    )
    for name in ("accepted_raw", "applications_clean"):
        spill = catalog[name]["connection"]["temp_directory"]
        assert spill == str(project / "data/.spill")


def test_paths_of_the_command_line_are_of_where_it_is_typed(tmp_path, monkeypatch):
    project = copy_project(tmp_path / "project")
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    Path("mine.csv").touch()
    parameters, catalog = configured(
        project,
        "files",
        accepted="mine*.csv",
        rejected="data/01_raw/declined.csv",
        study={"results": "results"},
    )
    assert catalog["accepted_raw"]["filepath"] == str(tmp_path / "here" / "mine*.csv")
    # Not here: as in the configuration, which Kedro takes for the project's.
    assert catalog["rejected_raw"]["filepath"] == "data/01_raw/declined.csv"
    assert parameters["study"]["results"] == str(tmp_path / "here" / "results")


def test_run_from_a_folder_below_leaves_nothing_there(tmp_path):
    project = copy_project(tmp_path / "project")
    turn_tracking_off(project, "smoke")
    few = {"data": "data/smoke", "simulated_rows": {"accepted": 300, "rejected": 3_000}}
    (project / "conf/smoke/globals.yml").write_text(yaml.safe_dump(few))
    below = project / "notebooks" / "deep"
    below.mkdir(parents=True)
    done = subprocess.run(
        command("--pipeline", "data", "--env", "smoke"),
        cwd=below,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert list(below.iterdir()) == []
    made = {path.parts[0] for path in _files(project / "data")}
    assert made == {"smoke"}
    assert len(list((project / "data/smoke/01_raw").glob("*.csv"))) == 2
    assert list((project / "data/.spill").iterdir()) == []


def _files(folder):
    return [p.relative_to(folder) for p in folder.rglob("*") if p.is_file()]


# --- A model stays with its data ---


@pytest.fixture(scope="module")
def splits(make_applications):
    """Return two splits: the sets of each, and their identity."""
    sizes = {"train": 200, "validation": 100, "test": 300}
    found = []
    for seed in (0, 10):
        sets = {name: make_applications(n, seed + n) for name, n in sizes.items()}
        found.append((sets, identify_data(**sets)))
    return found


def fitted_on(identity):
    return {
        "fit_seconds": 1.0,
        "n_parameters": 9,
        "data_identity": identity["split"],
        "parameters": {"l1_projection": 1e-3, "l1_scales": 1e-3},
    }


def judge(network, report, sets, identity):
    return evaluate_model(
        "xnn.refined",
        model=network,
        report=report,
        test=sets["test"],
        table=TABLE,
        identity=identity,
        settings=SETTINGS,
        seed=1,
    )


def test_identity_is_of_the_rows_and_of_nothing_else(splits):
    (sets, identity), (_, other) = splits
    assert identify_data(**{name: rows.copy() for name, rows in sets.items()}) == (
        identity
    )
    assert not set(identity.values()) & set(other.values())
    changed = sets["validation"].copy()
    changed.loc[5, "amount"] += 1
    again = identify_split(sets | {"validation": changed})
    assert {name for name in identity if again[name] != identity[name]} == {
        "validation",
        "split",
    }


def test_evaluation_refuses_a_model_of_other_data(splits, known_network):
    (sets, identity), (_, other) = splits
    metrics, _ = judge(known_network, fitted_on(identity), sets, identity)
    assert metrics["n_test"] == 300
    for report in (fitted_on(other), {"fit_seconds": 1.0}):
        with pytest.raises(InputError, match=r"xnn\.refined was fitted on other data"):
            judge(known_network, report, sets, identity)


def test_evaluation_refuses_rows_that_the_last_split_did_not_leave(
    splits, known_network
):
    (sets, _), (_, other) = splits
    with pytest.raises(InputError, match="test rows are not those of the last split"):
        judge(known_network, fitted_on(other), sets, other)


def test_comparison_refuses_metrics_of_other_data(splits, known_network):
    (sets, identity), (_, other) = splits
    metrics, _ = judge(known_network, fitted_on(identity), sets, identity)
    of_others = metrics | {"data_identity": other["split"]}
    compare_models(TABLE, identity, rf=metrics, gam=metrics)
    with pytest.raises(InputError, match="gam was fitted on other data"):
        compare_models(TABLE, identity, rf=metrics, gam=of_others)


def test_fits_refuse_sets_of_two_splits_and_reports_carry_their_own(splits):
    (sets, identity), (others, other) = splits
    mixed = {"train": sets["train"], "validation": others["validation"]}
    settings = fit_method.__annotations__["settings"](grid={"C": [1.0]})
    fit = partial(fit_method, "logr")
    mixed["table"] = TABLE
    rows = {name: sets[name] for name in ("train", "validation")} | {"table": TABLE}
    _, report, _ = fit(**rows, identity=identity, settings=settings, seed=0)
    assert report["data_identity"] == identity["split"]
    network = {"tuning": pd.DataFrame(), "settings": XnnSettings(), "seed": 0}
    for one in (identity, other):
        with pytest.raises(InputError, match="not those of the last split"):
            fit(**mixed, identity=one, settings=settings, seed=0)
        with pytest.raises(InputError, match="not those of the last split"):
            train_network(**mixed, identity=one, penalties={}, **network)


def test_refinement_refuses_a_network_of_other_data(splits, known_network):
    (sets, identity), (_, other) = splits
    with pytest.raises(InputError, match=r"xnn\.pruned was fitted on other data"):
        refine_network(
            pruned=known_network,
            train=sets["train"],
            validation=sets["validation"],
            table=TABLE,
            identity=identity,
            training=fitted_on(other),
            settings=XnnSettings(),
            seed=0,
        )


# --- What a report shows ---


def picture():
    buffer = io.BytesIO()
    Figure(figsize=(0.1, 0.1)).savefig(buffer, format="png")
    return buffer.getvalue()


@pytest.fixture(scope="module")
def evidence(splits, known_network):
    """Return what the nodes of the reporting take, all of one split."""
    (sets, identity), _ = splits
    metrics, _ = judge(known_network, fitted_on(identity), sets, identity)
    return {
        "model": known_network,
        "test": sets["test"],
        "truth": {},
        "table": TABLE,
        "identity": identity,
        "refinement": fitted_on(identity),
        "metrics": metrics,
        "comparison": compare_models(TABLE, identity, **{"xnn.refined": metrics})[0],
    }


def report_of(evidence):
    from pandas import DataFrame

    columns = "section step rule class rows_in removed kept examples".split()
    drawn = ("roc", "calibration", "explanation", "marginals")
    return write_report(
        **evidence,
        found=[],
        bounds=[],
        audit=DataFrame(columns=columns),
        missing={},
        training={"rows": {}},
        seed=0,
        **dict.fromkeys(drawn, picture()),
    )


@pytest.mark.parametrize("stale", ["refinement", "metrics"])
def test_report_refuses_a_model_or_a_comparison_of_other_data(evidence, splits, stale):
    of_others = evidence | {stale: fitted_on(splits[1][1])}
    for write in (report_of, lambda given: explain_network(**given)):
        with pytest.raises(InputError, match=r"xnn\.refined was fitted on other data"):
            write(of_others)


def test_report_shows_nobodys_application(evidence):
    page = report_of(evidence)
    section = page[page.index('<section id="decision"') :].partition("</section>")[0]
    text = html.unescape(re.sub(r"<[^>]+>", " ", section))
    assert "A made-up application, nobody's own" in text
    rows = model_sample(evidence["test"]).features
    amount = re.search(r"Amount requested:\s+\$?([\d,]+)", text)[1]
    assert int(amount.replace(",", "")) == pytest.approx(
        rows["amount"].median(), rel=0.05
    )
    shown = typical_decision(
        evidence["model"], rows, labels_of(describe_applications())
    )
    assert all(value in text for value in shown.features.values())
    first = example_decision(
        evidence["model"], rows.head(1), labels_of(describe_applications())
    )
    assert first.features["Amount requested"] not in text


def test_few_rows_have_no_typical_application(evidence):
    rows = model_sample(evidence["test"]).features
    assert typical_decision(evidence["model"], rows.head(19), {}) is None
    assert typical_decision(evidence["model"], rows.head(20), {}) is not None
