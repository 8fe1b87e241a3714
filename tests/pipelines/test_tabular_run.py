"""`kedro run --pipeline tabular` as a person types it: from any file to a report."""

import html
import json
import os
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from projects import copy_project, kedro_run, kedro_runs, turn_tracking_off
from sharing import made_once

SMOKE = ("--pipeline", "tabular", "--env", "smoke")


def in_one_line(text):
    """What a console says, wherever it breaks its lines."""
    return " ".join(text.split())


def words(page):
    """The text of a page."""
    bare = re.sub(r"data:image/png;base64,[A-Za-z0-9+/=]+", "", page)
    return in_one_line(html.unescape(re.sub(r"<[^>]+>", " ", bare)))


def houses(rows, seed):
    """A regression with a gap, a category, a date, a weight and a sensitive column."""
    rng = np.random.default_rng(seed)
    size = rng.uniform(40, 200, rows)
    town = rng.choice(["north", "south"], rows)
    price = 3_000 * size + 50_000 * (town == "north") + rng.normal(0, 9_000, rows)
    return pd.DataFrame(
        {
            "house_id": np.arange(rows),
            "size": np.where(rng.uniform(size=rows) < 0.05, np.nan, size),
            "town": town,
            "sold": pd.Timestamp("2023-01-01") + pd.to_timedelta(np.arange(rows), "D"),
            "trust": rng.uniform(0.5, 2, rows),
            "owner": rng.choice(["f", "m"], rows),
            "price": np.where(np.arange(rows) == 7, np.nan, price),
        }
    )


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """Return a project with runs of the example and of a CSV, and what was said."""

    def make(folder):
        project = copy_project(folder / "project")
        example = kedro_run(project, *SMOKE, quick=True)
        turn_tracking_off(project, "smoke")
        houses(600, 0).to_csv(folder / "My Houses.csv", index=False)
        own = {
            "table": folder / "My Houses.csv",
            "target": "price",
            "tabular.weight": "trust",
            "tabular.split.by": "time",
            "tabular.split.column": "sold",
            "tabular.row": "house",
            "tabular.rows": "houses",
        }
        given = ",".join(f"{key}={value}" for key, value in own.items())
        (project / "conf/smoke/parameters_tabular.yml").write_text(
            "tabular:\n  sensitive: [owner]\n"
        )
        houses_run = kedro_run(project, *SMOKE, "--params", given, quick=True)
        runs = (example, houses_run)
        return project, [(run.returncode, run.stdout + run.stderr) for run in runs]

    project, runs = made_once(tmp_path_factory, "tabular", make)
    for code, said in runs:
        assert code == 0, said
    return project, [in_one_line(said) for _, said in runs]


def folder_of(project, name):
    return project / "data/smoke/tables" / name


def test_columns_are_shown_before_anything_is_fitted(done):
    _, (example, own) = done
    shown, fitted = "Table example: 2,000 rows, target default", "Running node: tune_"
    assert example.index(shown) < example.index(fitted)
    assert "loan_id identifier left out" in example
    assert "age_band categorical sensitive" in example
    assert "Table my-houses: 600 rows, target price (regression)" in own
    assert "1 of 600 houses kept aside: not so that the target has a value" in own


def test_each_table_has_its_own_folder(done):
    project, _ = done
    assert not (project / "data/smoke/05_model_input").exists()
    identities = {
        json.loads((folder_of(project, name) / path).read_text())["split"]
        for name in ("example", "my-houses")
        for path in ["05_model_input/data_identity.json"]
    }
    assert len(identities) == 2


def test_sensitive_columns_are_kept_and_never_trained_on(done):
    project, _ = done
    for name, column in (("example", "age_band"), ("my-houses", "owner")):
        folder = folder_of(project, name)
        assert column in pd.read_parquet(folder / "05_model_input/train.parquet")
        models = list((folder / "06_models").glob("*.json"))
        assert len(models) > 10
        assert not any(f'"{column}"' in file.read_text() for file in models)
        page = words((folder / "08_reporting/model_report.html").read_text())
        assert f"never trained on: {column}" in page


def test_words_are_those_of_the_table(done):
    project, (example, own) = done
    page = words(
        (folder_of(project, "my-houses") / "08_reporting/model_report.html").read_text()
    )
    for text in ("RMSE", "houses", "A made-up house", "The model predicts price to be"):
        assert text in page
    for text in ("approv", "application", "odds", "AUC", "loan"):
        assert text not in page, text
    page = words(
        (folder_of(project, "example") / "08_reporting/model_report.html").read_text()
    )
    assert "which loans default" in page
    assert "probability of default" in page
    assert "approv" not in page
    assert "Models on the test rows (simulated data)" in example
    assert "Models on the test rows model RMSE" in own


def test_regression_is_compared_by_its_error(done):
    project, (_, own) = done
    reports = folder_of(project, "my-houses") / "08_reporting"
    table = pd.read_csv(reports / "comparison_table.csv")
    assert table["rmse"].is_monotonic_increasing
    assert {"lasso", "rf", "lightgbm", "xnn.refined", "gam"} <= set(table["model"])
    assert (table["rmse_low"] <= table["rmse"]).all()
    assert (table["rmse"] <= table["rmse_high"]).all()
    best = table.iloc[0]
    assert best["r2"] > 0.9
    reasons = json.loads((reports / "not_applicable.json").read_text())
    assert "classification alone" in reasons["Logistic regression"]
    assert "LightGBM: was fitted without weights" in own


def test_last_dates_are_the_test_rows(done):
    project, _ = done
    folder = folder_of(project, "my-houses")
    counts = {
        name: len(pd.read_parquet(folder / f"05_model_input/{name}.parquet"))
        for name in ("train", "validation", "test")
    }
    assert sum(counts.values()) == 599
    assert counts["test"] == 120
    aside = pd.read_parquet(folder / "02_intermediate/rows_aside.parquet")
    assert aside["house_id"].tolist() == [7]


def test_what_cannot_be_run_is_one_sentence(tmp_path):
    project = copy_project(tmp_path / "project")
    turn_tracking_off(project, "smoke")
    three = pd.DataFrame({"x": np.arange(60) / 7, "y": ["a", "b", "c"] * 20})
    three.to_parquet(tmp_path / "three.parquet")
    path = tmp_path / "three.parquet"
    cases = {
        "table=no.csv,target=y": "There is no table at",
        f"table={path}": "No target is set: pass --params target=COLUMN",
        f"table={path},target=y": "has 3 classes of text",
        f"table={path},target=z": "there is no column 'z'",
        f"table={path},target=y,tabular.wieght=x": "did you mean 'weight'",
    }
    runs = [(project, *SMOKE, "--params", given) for given in cases]
    other = ("--pipeline", "lendingclub", "--params", f"table={path}")
    runs.append((project, *other))
    said = [*cases.values(), "'lendingclub' reads other data"]
    for run, text in zip(kedro_runs(tmp_path, *runs), said, strict=True):
        assert run.returncode == 1
        assert text in in_one_line(run.stderr), run.stderr
        assert "Traceback" not in run.stdout + run.stderr


@pytest.mark.skipif(
    not os.environ.get("RIDGELINE_TABLES"), reason="RIDGELINE_TABLES names no folder"
)
def test_heloc_runs_and_knows_good_from_bad(tmp_path):
    project = copy_project(tmp_path / "project")
    turn_tracking_off(project, "smoke")
    path = Path(os.environ["RIDGELINE_TABLES"]) / "heloc.csv"
    own = f"table={path},target=RiskPerformance,tabular.positive=Bad"
    run = kedro_run(project, *SMOKE, "--params", own, quick=True)
    assert run.returncode == 0, run.stderr
    reports = project / "data/smoke/tables/heloc/08_reporting"
    table = pd.read_csv(reports / "comparison_table.csv").set_index("model")
    assert table["auc"]["xnn.refined"] > 0.75
    page = words((reports / "model_report.html").read_text())
    assert "RiskPerformance = Bad" in page
