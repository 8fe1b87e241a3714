"""The hash of data is that of its bytes or its rows, and stays from run to run."""

import hashlib
from pathlib import Path

import pandas as pd
import pytest

from ridgeline.hashing import hash_of_files, hash_of_frame, hash_of_text
from ridgeline.tables.identity import identify_split

FRAME = pd.DataFrame({"amount": [1.5, 2.5], "purpose": ["car", "Ελλάδα"]})


def test_files_have_the_hash_of_their_bytes_in_the_order_given(tmp_path: Path) -> None:
    parts = tmp_path / "a", tmp_path / "b"
    contents = b"x" * (3 << 20), "Ελλάδα".encode()  # more than is read at once
    for path, content in zip(parts, contents, strict=True):
        path.write_bytes(content)
    assert hash_of_files(parts) == hashlib.sha256(b"".join(contents)).hexdigest()
    assert hash_of_files(parts[::-1]) != hash_of_files(parts)
    assert hash_of_text("Ελλάδα") == hash_of_files(parts[1:])


def test_frame_has_the_hash_that_stored_identities_have() -> None:
    known = "62933df74fb4f91c8e75d287f2f1b6b11737a67baccdc4642944c50697bf2dc4"
    numbers = FRAME[["amount"]]  # the type of texts has another name in each pandas
    assert hash_of_frame(numbers) == known
    assert identify_split({"train": numbers})["train"] == known


@pytest.mark.parametrize(
    "other",
    [
        FRAME.iloc[::-1],
        FRAME[["purpose", "amount"]],
        FRAME.astype({"amount": "float32"}),
        FRAME.replace(1.5, 1.25),
        FRAME.rename(columns={"amount": "Amount"}),
    ],
)
def test_other_rows_columns_or_types_have_another_hash(other: pd.DataFrame) -> None:
    assert hash_of_frame(other) != hash_of_frame(FRAME)


def test_the_index_does_not_count() -> None:
    assert hash_of_frame(FRAME.set_index(pd.Index([7, 8]))) == hash_of_frame(FRAME)


def test_cells_that_cannot_be_hashed_are_refused() -> None:
    with pytest.raises(TypeError):
        hash_of_frame(pd.DataFrame({"a": [[1], [2]]}))
