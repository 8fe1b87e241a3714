"""Datasets read and write whole files, or leave the former one."""

import json
import logging

import ibis
import pandas as pd
import pytest
from kedro.io import DatasetError

from ridgeline.datasets import (
    AtomicCsvDataset,
    AtomicJsonDataset,
    ParquetTableDataset,
    PublishedCsvDataset,
    SimulatedCsvDataset,
)
from ridgeline.errors import InputError

DUCKDB = {"backend": "duckdb", "database": ":memory:"}


@pytest.fixture
def table(tmp_path):
    """Return a Parquet dataset and its engine."""
    return ParquetTableDataset(
        filepath=str(tmp_path / "deep" / "table.parquet"), connection=DUCKDB
    )


def rows(connection, numbers):
    frame = pd.DataFrame({"number": numbers, "text": [f"t{n}" for n in numbers]})
    name = ibis.util.gen_name("rows")
    return connection.create_table(name, frame, temp=True)


def test_parquet_comes_back_as_it_went(table):
    assert not table.exists()
    table.save(rows(table.connection, [1, 2, 3]))
    assert table.exists()
    assert table.load().order_by("number").execute().number.to_list() == [1, 2, 3]


def test_failed_save_keeps_the_former_file(table, tmp_path):
    table.save(rows(table.connection, [1, 2, 3]))
    good = rows(table.connection, range(100_000))
    failing = good.mutate(
        wrong=ibis.ifelse(good.number == 99_999, "x", "1").cast("int")
    )
    with pytest.raises(DatasetError):
        table.save(failing)
    assert table.load().count().execute() == 3
    table.save(rows(table.connection, [4]))
    assert table.load().count().execute() == 1
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["table.parquet"]


@pytest.mark.parametrize("kind", ["accepted", "rejected"])
def test_text_that_is_not_utf8_is_refused_with_its_line(write_published, kind):
    path = write_published(kind, [{}, {"title": "caf\u00e9"}])
    path.write_bytes(path.read_bytes().replace("\u00e9".encode(), b"\xe9"))
    dataset = PublishedCsvDataset(filepath=str(path), kind=kind, connection=DUCKDB)
    with pytest.raises(
        DatasetError, match="line 3 has the byte 0xe9.*iconv"
    ) as failure:
        dataset.load()
    assert isinstance(failure.value.__cause__, InputError)


def test_content_hash_is_of_the_rows_and_not_of_their_order(table):
    hashes = []
    for numbers in ([1, 2, 3], [3, 1, 2], [1, 2], [1, 2, 2], [1, 2, 4]):
        table.save(rows(table.connection, numbers))
        hashes.append(table.content_hash())
    assert hashes[0] == hashes[1]
    assert len(set(hashes)) == 4


def test_preview_is_what_kedro_viz_shows(table):
    table.save(rows(table.connection, range(10)))
    preview = table.preview(nrows=3)
    assert preview["columns"] == ["number", "text"]
    assert len(preview["data"]) == 3
    json.dumps(preview)


@pytest.mark.parametrize(
    ("dataset", "data"),
    [
        (AtomicCsvDataset, pd.DataFrame({"a": [1, 2]})),
        (AtomicJsonDataset, {"a": [1.5, 2.5]}),
    ],
)
def test_small_files_are_written_whole(dataset, data, tmp_path):
    file = dataset(filepath=str(tmp_path / "file"))
    file.save(data)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    with pytest.raises(DatasetError):
        file.save({"not": object()})
    # The failed save has left the former file as it was.
    assert list(file.load()["a"]) == list(data["a"])


def test_published_file_is_read_and_never_written(write_published):
    path = write_published("rejected", [{}, {}])
    dataset = PublishedCsvDataset(
        filepath=str(path), kind="rejected", connection=DUCKDB
    )
    assert dataset.exists()
    assert dataset.load().rows.count().execute() == 2
    assert len(dataset.preview(nrows=1)["data"]) == 1
    with pytest.raises(DatasetError, match="never written"):
        dataset.save("anything")


def test_fingerprint_follows_the_bytes(write_published):
    path = write_published("rejected", [{}])
    dataset = PublishedCsvDataset(filepath=str(path), kind="rejected")
    before = dataset.fingerprint()
    write_published("rejected", [{"amount": "1000.0"}])
    assert dataset.fingerprint() != before


def test_simulated_file_is_made_once(tmp_path, caplog):
    caplog.set_level(logging.INFO, logger="ridgeline")
    arguments = {"path": str(tmp_path), "kind": "accepted", "rows": 50, "seed": 3}
    dataset = SimulatedCsvDataset(**arguments, connection=DUCKDB)
    assert dataset.exists()
    assert len(dataset.preview(nrows=2)["data"]) == 2
    assert not list(tmp_path.iterdir())  # a preview writes nothing
    assert dataset.load().rows["loan_amnt"].count().execute() == 50
    first = dataset.fingerprint()
    again = SimulatedCsvDataset(**arguments, connection=DUCKDB)
    assert again.fingerprint() == first
    assert caplog.text.count("Simulating 50 rows") == 1
    other = SimulatedCsvDataset(**arguments | {"seed": 4}, connection=DUCKDB)
    assert other.fingerprint() != first
