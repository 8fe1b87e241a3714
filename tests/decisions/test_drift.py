"""Drift: indices against an independent computation, in chunks and on a page."""

import numpy as np
import pandas as pd
import pytest
from known_model import make_known, make_rows
from profiled_model import make_profiled, profiled
from special_model import make_special, special_rows

from ridgeline import InputError, drift
from ridgeline.decisions.drift import verdict

SCORER = make_profiled()


def test_training_rows_have_not_moved():
    for scorer, rows in (
        (SCORER, make_rows()),
        (profiled(make_special(), special_rows()), special_rows()),
    ):
        table = drift(scorer, rows).table
        assert table["psi"].max() < 1e-9
        assert set(table["verdict"]) == {"stable"}


def test_the_index_of_a_category():
    rows = make_rows(1_000).assign(purpose=["Housing"] * 400 + ["Others"] * 600)
    then = make_rows()["purpose"].value_counts(normalize=True)
    then = then[["Credit Card", "Housing", "Others"]].to_numpy()
    now = np.array([1e-4, 0.4, 0.6])
    expected = ((now - then) * np.log(now / then)).sum()
    table = drift(SCORER, rows).table.set_index(["kind", "name"])
    assert np.isclose(table.loc[("feature", "purpose"), "psi"], expected)
    assert table.loc[("feature", "purpose"), "verdict"] == "drifted"
    assert table.loc[("feature", "amount"), "verdict"] == "stable"


def test_other_rows_of_the_same_kind_move_as_chance_says():
    tables = [drift(SCORER, make_rows(2_000, seed)).table for seed in range(1, 21)]
    mean = np.mean([table["psi"] for table in tables], axis=0)
    np.testing.assert_allclose(mean, tables[0]["by_chance"], rtol=0.5)


def test_chunks_give_what_the_whole_gives():
    rows = make_rows(1_000, 4)
    whole = drift(SCORER, rows)
    parts = drift(SCORER, (rows[i : i + 90] for i in range(0, 1_000, 90)))
    pd.testing.assert_frame_equal(whole.table, parts.table)
    assert parts.rows == 1_000


def test_cells_that_training_had_not_count_as_drift():
    rows = make_rows(1_000).astype({"purpose": object, "amount": object})
    rows.loc[:499, "purpose"] = "Boat"
    rows.loc[:499, "amount"] = "unknown"
    found = drift(SCORER, rows)
    assert found.refused == 500
    table = found.table.set_index(["kind", "name"])
    for name in ("purpose", "amount"):
        assert table.loc[("feature", name), "verdict"] == "drifted"


def test_limits_have_names():
    assert [verdict(psi) for psi in (0.0, 0.0999, 0.1, 0.2499, 0.25, 9)] == [
        *("stable", "stable", "moving", "moving", "drifted", "drifted")
    ]


def test_page_and_figure(tmp_path):
    found = drift(SCORER, make_rows(500, 9).assign(amount=9_000.0))
    (axes,) = found.plot().axes
    assert len(axes.patches) == len(found.table)
    found.save(tmp_path / "drift.html")
    page = (tmp_path / "drift.html").read_text()
    assert page.count("<svg") == 1
    assert "from 0.25 drifted" in " ".join(page.split())
    # Nothing is fetched from anywhere.
    assert "src=" not in page
    assert "<link" not in page
    assert "<script" not in page


def test_names_cannot_break_the_page(tmp_path):
    rows = make_rows()
    bad = "<script>alert(1)</script>"
    rows = rows.assign(purpose=rows["purpose"].astype(object).replace("Others", bad))
    known = make_known()
    from dataclasses import replace

    features = replace(
        known.features, categories={"purpose": ("Credit Card", "Housing", bad)}
    )
    scorer = profiled(replace(known, features=features), rows)
    drift(scorer, rows).save(tmp_path / "drift.html")
    assert "<script" not in (tmp_path / "drift.html").read_text()


def test_refusals():
    with pytest.raises(InputError, match="does not remember its training rows"):
        drift(make_known(), make_rows())
    with pytest.raises(InputError, match="None of 3 rows can be scored"):
        drift(SCORER, make_rows(3).assign(amount=np.nan))
