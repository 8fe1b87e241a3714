"""CSV and Parquet as people have them; what cannot be read is one sentence."""

import ibis
import pandas as pd
import pytest

from ridgeline.errors import InputError
from ridgeline.tables.reading import read_table, table_name


@pytest.fixture
def engine():
    return ibis.duckdb.connect(preserve_insertion_order=False)


def test_csv_and_parquet_have_the_same_rows(engine, frame, tmp_path):
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.to_csv(tmp_path / "b.csv.gz", index=False)
    frame.to_csv(tmp_path / "c.tsv", index=False, sep="\t")
    frame.to_parquet(tmp_path / "d.parquet")
    for name in ("a.csv", "b.csv.gz", "c.tsv", "d.parquet"):
        read = read_table(engine, str(tmp_path / name))
        assert read.name == name[0]
        found = read.rows.order_by("number").execute()
        assert list(found.columns) == list(frame.columns)
        assert found["loss"].tolist() == pytest.approx(frame["loss"].tolist())
        assert found["job"].isna().sum() == frame["job"].isna().sum()
        assert read.rows["day"].type().is_date() or name[0] == "d"
        assert not read.malformed.count().execute()


def test_bad_lines_are_kept_and_types_hold_for_all_lines(engine, tmp_path):
    lines = ["a,b", *(f"{place},{place}" for place in range(30_000)), "1", "1,2,3"]
    path = tmp_path / "long.csv"
    path.write_text("\n".join([*lines, "7,late text", "NA,8"]) + "\n")
    read = read_table(engine, str(path))
    assert read.rows["b"].type().is_string()
    for _ in range(2):  # every scan reports them again
        assert read.rows.count().execute() == 30_002
    assert set(read.malformed.execute()["text"]) == {"1", "1,2,3"}
    assert len(read.malformed.execute()) == 2
    assert read.rows["a"].isnull().sum().execute() == 1


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("none.csv", None, "There is no table at"),
        ("empty.csv", b"", "is empty"),
        ("sheet.xlsx", b"PK", "is no file that ends in"),
        ("bad.parquet", b"no parquet at all", "cannot be read"),
        ("bytes.csv", bytes(range(256)), "cannot be read"),
    ],
)
def test_what_cannot_be_read_is_one_sentence(engine, tmp_path, name, content, said):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=said) as found:
        read_table(engine, str(tmp_path / name))
    assert "\n" not in str(found.value)


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("data/HELOC.csv", "heloc"),
        ("/data/House Prices 2024.csv.gz", "house-prices-2024"),
        ("../..parquet", "table"),
        ("example", "example"),
        ("a/../b.parquet", "b"),
    ],
)
def test_names_are_plain(path, name):
    assert table_name(path) == name


def test_example_is_the_same_for_a_seed():
    from ridgeline.tables.example import simulate_example

    pd.testing.assert_frame_equal(simulate_example(500, 1), simulate_example(500, 1))
    assert not simulate_example(500, 1).equals(simulate_example(500, 2))
    rows = simulate_example(5_000, 0)
    assert 0.1 < rows["default"].mean() < 0.4
    assert rows["income"].isna().mean() == pytest.approx(0.08, abs=0.02)
    assert rows["income"].max() > 30 * rows["income"].median()
