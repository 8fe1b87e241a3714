"""Tables of the split that were damaged: refused in a sentence, or by their hash."""

import random

import ibis
import pandas as pd
import pytest
from kedro.io import DatasetError

from ridgeline.datasets import ParquetFrameDataset, ParquetTableDataset
from ridgeline.errors import InputError
from ridgeline.tables.identity import identify_split, verified_split

DUCKDB = {"backend": "duckdb", "database": ":memory:"}
MUTANTS = 1_000


def mutated(whole: bytes, rng: random.Random) -> bytes:
    """Return a file with a flipped bit, a few other bytes, or without its end."""
    place = rng.randrange(len(whole))
    kind = rng.choice(["bit", "bytes", "end"])
    if kind == "end":
        return whole[:place]
    if kind == "bit":
        other = bytes([whole[place] ^ (1 << rng.randrange(8))])
    else:
        other = rng.randbytes(8)
    return whole[:place] + other + whole[place + len(other) :]


def test_a_thousand_damaged_sets_are_refused_or_as_they_were(
    make_applications, tmp_path
):
    rows = make_applications(60, 0)
    identity = identify_split({"test": rows})
    path = tmp_path / "test.parquet"
    dataset = ParquetFrameDataset(filepath=str(path), connection=DUCKDB)
    rows.to_parquet(path)
    whole, rng = path.read_bytes(), random.Random(0)
    causes, found = [], 0
    for _ in range(MUTANTS):
        path.write_bytes(mutated(whole, rng))
        try:
            read = dataset.load()
        except DatasetError as error:
            causes.append(error.__cause__)
            continue
        try:
            verified_split(identity, test=read)
        except InputError:
            found += 1
            continue
        pd.testing.assert_frame_equal(read.reset_index(drop=True), rows)
    for cause in causes:
        assert isinstance(cause, InputError)
        assert "test.parquet' cannot be read, or was damaged" in str(cause)
    # Both ways are needed: Parquet has no checksum of its own.
    assert min(len(causes), found) > MUTANTS // 10


@pytest.mark.parametrize("content", [b"", b"PAR1", b"PAR1" + bytes(40) + b"PAR1"])
def test_a_table_that_is_none_is_named(tmp_path, content):
    path = tmp_path / "typed.parquet"
    path.write_bytes(content)
    dataset = ParquetTableDataset(filepath=str(path), connection=DUCKDB)
    with pytest.raises(DatasetError) as failure:
        dataset.load()
    assert "run the pipeline that makes it again" in str(failure.value.__cause__)


def test_a_table_that_is_missing_is_not_called_damaged(tmp_path):
    dataset = ParquetTableDataset(
        filepath=str(tmp_path / "none.parquet"), connection=DUCKDB
    )
    with pytest.raises(DatasetError) as failure:
        dataset.load()
    assert "damaged" not in str(failure.value)
    dataset.save(ibis.memtable({"a": [1]}))
    assert dataset.load().count().execute() == 1
