"""Networks, the truth, figures, frames and pages: whole files, or the former ones."""

import base64
import json
from dataclasses import replace

import ibis
import numpy as np
import pandas as pd
import pytest
from kedro.io import DataCatalog, DatasetError
from matplotlib.figure import Figure

from ridgeline.datasets import (
    AtomicTextDataset,
    ParquetFrameDataset,
    TruthCurvesDataset,
    XnnModelDataset,
)
from ridgeline.datasets.figure import FigureDataset
from ridgeline.errors import InputError
from ridgeline.lendingclub.modelling import model_sample
from ridgeline.lendingclub.schema import PURPOSES
from ridgeline.lendingclub.simulator.truth import log_odds_components

ROWS = {"accepted_rows": 2_270, "rejected_rows": 27_730}
PNG = b"\x89PNG\r\n\x1a\n"
# Rows keep no order in this engine unless a query asks for one, as in conf/base.
DUCKDB = {
    "backend": "duckdb",
    "database": ":memory:",
    "preserve_insertion_order": False,
}


def names(folder):
    return [path.name for path in folder.iterdir()]


def test_network_comes_back_through_a_catalog(
    tmp_path, known_network, make_applications
):
    entry = {
        "type": "ridgeline.datasets.XnnModelDataset",
        "filepath": str(tmp_path / "deep" / "xnn.json"),
        "metadata": {"kedro-viz": {"layer": "models"}},
    }
    catalog = DataCatalog.from_config({"xnn.refined": entry})
    assert not catalog.exists("xnn.refined")
    catalog.save("xnn.refined", known_network)
    assert catalog.exists("xnn.refined")
    rows = model_sample(make_applications(50, 0)).features
    np.testing.assert_array_equal(
        catalog.load("xnn.refined").predict_proba(rows),
        known_network.predict_proba(rows),
    )
    assert catalog["xnn.refined"].metadata == entry["metadata"]
    assert names(tmp_path / "deep") == ["xnn.json"]


def test_preview_of_a_network_is_its_importance(tmp_path, known_network):
    pruned = replace(known_network, scales=np.array([3.0, 0.0]))
    dataset = XnnModelDataset(filepath=str(tmp_path / "xnn.json"))
    dataset.save(pruned)
    shown = json.loads(dataset.preview())
    assert shown == {"importance_ratios": {"ridge 1": 0.8571, "purpose": 0.1429}}


def test_network_that_cannot_be_saved_leaves_the_former_file(tmp_path, known_network):
    dataset = XnnModelDataset(filepath=str(tmp_path / "xnn.json"))
    dataset.save(known_network)
    with pytest.raises(DatasetError) as failure:
        dataset.save(replace(known_network, intercept=float("nan")))
    assert isinstance(failure.value.__cause__, InputError)
    assert dataset.load().intercept == known_network.intercept
    assert names(tmp_path) == ["xnn.json"]


def test_damaged_network_is_refused_in_one_sentence(tmp_path, known_network):
    path = tmp_path / "xnn.json"
    dataset = XnnModelDataset(filepath=str(path))
    dataset.save(known_network)
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(DatasetError, match="cut off") as failure:
        dataset.load()
    assert isinstance(failure.value.__cause__, InputError)


def test_truth_of_simulated_files_adds_up_to_that_of_the_rows():
    curves = TruthCurvesDataset(**ROWS).load()
    # Two applications of one month: the score's curve is a mean over months, so that
    # it is left out of the sum.
    rows = pd.DataFrame(
        {
            "application_date": 2016.25,
            "amount": [5_000.0, 30_000.0],
            "risk_score": [660.0, 740.0],
            "dti": [10.0, 35.5],
            "employment_length": [2.0, 11.0],
            **{f"purpose_{name}": 0.0 for name in ("credit_card", "housing")},
            "purpose_debt_consolidation": [1.0, 0.0],
            "purpose_purchase": 0.0,
            "purpose_others": [0.0, 1.0],
        }
    )
    parts = log_odds_components(rows, **ROWS)
    assert set(curves) == set(parts)
    texts = rows.assign(purpose=["Debt Consolidation", "Others"])
    for name in set(parts) - {"risk_score"}:
        looked_up = curves[name].set_index("value")["log_odds"]
        np.testing.assert_allclose(
            looked_up.loc[texts[name]], parts[name], err_msg=name
        )
    assert curves["purpose"]["value"].to_list() == list(PURPOSES)
    score = curves["risk_score"].set_index("value")["log_odds"]
    assert score[740] > score[600]


def test_truth_of_real_files_is_not_known_and_none_is_written():
    dataset = TruthCurvesDataset()
    assert dataset.exists()
    assert dataset.load() == {}
    with pytest.raises(DatasetError, match="never written"):
        dataset.save({})


def figure(values=(0, 1)):
    made = Figure(figsize=(1, 1))
    made.add_subplot().plot(values)
    return made


def test_figure_is_a_picture_and_comes_back_as_its_bytes(tmp_path):
    path = tmp_path / "deep" / "plot.png"
    dataset = FigureDataset(filepath=str(path))
    dataset.save(figure())
    assert dataset.load() == path.read_bytes()
    assert dataset.load().startswith(PNG)
    assert base64.b64decode(dataset.preview()) == path.read_bytes()
    assert names(path.parent) == ["plot.png"]


def test_figure_that_cannot_be_drawn_leaves_the_former_file(tmp_path):
    dataset = FigureDataset(filepath=str(tmp_path / "plot.png"))
    dataset.save(figure())
    former = dataset.load()
    broken = figure()
    broken.text(0.5, 0.5, "$\\nothing{$")  # no mathematics: fails when it is drawn
    with pytest.raises(DatasetError):
        dataset.save(broken)
    assert dataset.load() == former
    dataset.save(figure((1, 0)))
    assert dataset.load() != former
    assert names(tmp_path) == ["plot.png"]


def test_frame_has_the_order_of_the_file_over_all_row_groups(tmp_path):
    dataset = ParquetFrameDataset(
        filepath=str(tmp_path / "frame.parquet"), connection=DUCKDB
    )
    count = 300_000  # DuckDB's row groups have 122,880
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"place": rng.permutation(count), "value": rng.random(count)})
    name = ibis.util.gen_name("rows")
    rows = dataset.connection.create_table(name, frame, temp=True)
    dataset.save(rows.order_by("place"))
    expected = frame.sort_values("place", ignore_index=True)
    pd.testing.assert_frame_equal(dataset.load(), expected)
    assert dataset.preview(nrows=3)["columns"] == ["place", "value"]
    assert len(dataset.preview(nrows=3)["data"]) == 3


def test_frame_of_a_folder_has_the_order_of_its_files(tmp_path):
    folder = tmp_path / "frame.parquet"
    folder.mkdir()
    for part in (2, 0, 1):  # as Spark writes them, one after the other or not
        frame = pd.DataFrame({"number": [2 * part, 2 * part + 1]})
        frame.to_parquet(folder / f"part-0000{part}.parquet")
    dataset = ParquetFrameDataset(filepath=str(folder), connection=DUCKDB)
    assert dataset.load()["number"].to_list() == [0, 1, 2, 3, 4, 5]


def test_page_is_written_whole(tmp_path):
    dataset = AtomicTextDataset(filepath=str(tmp_path / "deep" / "page.html"))
    dataset.save("<p>20 € – «half»</p>\n")
    with pytest.raises(DatasetError):
        dataset.save(b"bytes are no text")
    assert dataset.load() == "<p>20 € – «half»</p>\n"
    dataset.save("new")
    assert dataset.load() == "new"
    assert names(tmp_path / "deep") == ["page.html"]
