"""The simulated files as files: bytes, layout, and the dirt that readers meet."""

import csv
import gzip
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from published_frames import parse_published

from ridgeline.errors import InputError
from ridgeline.lendingclub.schema import COLUMNS, RawFile
from ridgeline.lendingclub.simulator import CHUNK, simulate, write_published

ROWS: dict[RawFile, int] = {"accepted": 100_000, "rejected": 300_000}
KINDS: tuple[RawFile, ...] = ("accepted", "rejected")
CODES = ("debt_consolidation", "credit_card", "other", "home_improvement")


def _rows(batch: pa.RecordBatch) -> Iterator[tuple[str | None, ...]]:
    return zip(*batch.to_pydict().values(), strict=True)


def _window(frame: pd.DataFrame) -> pd.DataFrame:
    return frame[frame["date"].between("2015-01-01", "2018-06-30")]


@pytest.fixture(scope="module")
def raw() -> dict[RawFile, pd.DataFrame]:
    return {
        kind: pd.concat(
            (batch.to_pandas() for batch in simulate(kind, rows, 5)), ignore_index=True
        )
        for kind, rows in ROWS.items()
    }


@pytest.fixture(scope="module")
def parsed(raw: dict[RawFile, pd.DataFrame]) -> dict[RawFile, pd.DataFrame]:
    return {kind: parse_published(kind, frame) for kind, frame in raw.items()}


# --- The files as files ------------------------------------------------------------


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz"])
@pytest.mark.parametrize("kind", KINDS)
def test_equal_arguments_give_equal_bytes(
    tmp_path: Path, kind: RawFile, suffix: str
) -> None:
    paths = [tmp_path / f"{name}{suffix}" for name in "abc"]
    for path, seed in zip(paths, (3, 3, 4), strict=True):
        write_published(kind, path, CHUNK + 10, seed)
    first, again, other = (path.read_bytes() for path in paths)
    assert first == again
    assert first != other
    assert sorted(tmp_path.iterdir()) == paths  # no temporary file is left


@pytest.mark.parametrize("kind", KINDS)
def test_file_holds_the_cells_of_the_batches(tmp_path: Path, kind: RawFile) -> None:
    path = tmp_path / "file.csv.gz"
    write_published(kind, path, 3_000, 8)
    with gzip.open(path, "rt", newline="", encoding="utf-8") as file:
        head, *rows = csv.reader(file)
    assert tuple(head) == COLUMNS[kind]
    batches = simulate(kind, 3_000, 8)
    cells = [row for batch in batches for row in _rows(batch)]
    assert [["" if cell is None else cell for cell in row] for row in cells] == rows
    assert not any(cell == "" for row in cells for cell in row)  # empty is null


@pytest.mark.parametrize("kind", KINDS)
def test_longer_file_starts_with_the_shorter(tmp_path: Path, kind: RawFile) -> None:
    lines = []
    for rows in (7, CHUNK + 5, CHUNK + 20):
        path = tmp_path / f"{rows}.csv"
        write_published(kind, path, rows, 2)
        content = path.read_text(encoding="utf-8")
        lines.append(content.partition("Total amount funded")[0])
    assert lines[1].startswith(lines[0])
    assert lines[2].startswith(lines[1])
    assert len(lines[0]) < len(lines[1]) < len(lines[2])


@pytest.mark.parametrize("kind", KINDS)
def test_no_chunk_repeats_another(kind: RawFile) -> None:
    first, second, *_ = simulate(kind, 2 * CHUNK, 1)
    column = "dti" if kind == "accepted" else "Debt-To-Income Ratio"
    assert first[column] != second[column]


@pytest.mark.parametrize("rows", [0, 1, CHUNK, CHUNK + 1])
def test_number_of_rows_is_the_number_asked_for(rows: int) -> None:
    assert sum(batch.num_rows for batch in simulate("rejected", rows, 1)) == rows
    batches = list(simulate("accepted", rows, 1))
    ids = [text for batch in batches for text in batch["id"].to_pylist()]
    assert ids[:rows] == [str(number) for number in range(1, rows + 1)]
    assert len(ids) == rows + 2
    assert all(text.startswith("Total amount funded in policy") for text in ids[rows:])


def test_closing_lines_grow_with_the_accepted_file(
    raw: dict[RawFile, pd.DataFrame],
) -> None:
    last = raw["accepted"].iloc[-2:]
    assert last["id"].str.match(r"Total amount funded in policy code [12]: \d+$").all()
    assert last.drop(columns="id").isna().all(axis=None)
    *_, footer = simulate("accepted", 300_000, 1)
    assert footer.num_rows == round(33 * 300_000 / 2_260_668)


def test_failed_write_leaves_nothing(tmp_path: Path) -> None:
    target = tmp_path / "file.csv"
    target.mkdir()  # a folder cannot be replaced by a file
    with pytest.raises(OSError, match="directory"):
        write_published("rejected", target, 10, 1)
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize(
    ("kind", "rows", "seed", "words"),
    [
        ("approved", 1, 1, "'approved'.*accepted, rejected"),
        ("accepted", -1, 1, "rows=-1.*zero or more"),
        ("rejected", 1, -7, "seed=-7.*zero or more"),
    ],
)
def test_bad_input_is_refused_at_once(
    tmp_path: Path, kind: RawFile, rows: int, seed: int, words: str
) -> None:
    with pytest.raises(InputError, match=words):
        simulate(kind, rows, seed)
    with pytest.raises(InputError, match=words):
        write_published(kind, tmp_path / "file.csv", rows, seed)
    assert not list(tmp_path.iterdir())


# --- The dirt ----------------------------------------------------------------------


def test_rejected_cells_are_spelled_as_published(
    raw: dict[RawFile, pd.DataFrame],
) -> None:
    frame = raw["rejected"]
    for column, pattern in {
        "Amount Requested": r"\d+\.0",
        "Application Date": r"20(0[7-9]|1[0-8])-\d\d-\d\d",
        "Risk_Score": r"\d+\.0",
        "Debt-To-Income Ratio": r"-1%|\d+(\.\d|\.\d[1-9])?%",
        "Zip Code": r"\d\d\dxx",
        "State": r"[A-Z]{2}",
        "Employment Length": r"< 1 year|1 year|[2-9] years|10\+ years",
        "Policy Code": r"[02]\.0",
    }.items():
        assert frame[column].dropna().str.fullmatch(pattern).all(), column
    empty = frame.isna().any()
    assert set(empty[empty].index) == {
        *("Risk_Score", "Employment Length", "Loan Title"),
    }


def test_rejected_oddities_are_there(parsed: dict[RawFile, pd.DataFrame]) -> None:
    frame = parsed["rejected"]
    assert frame["score"].between(851, 990).sum() > 10
    assert (frame["score"] == 0).sum() > 10
    assert (frame["amount"] > 40_000).sum() > 100
    assert (frame["amount"] < 1_000).sum() > 0
    for code in (-1, 0, 100, 9_999, 99_999):
        assert (frame["dti"] == code).sum() > 5, code
    assert (frame["amount"] % 25 == 0).all()
    assert _window(frame)["score"].ge(300).eq(_window(frame)["score"].notna()).all()


def test_accepted_cells_are_spelled_as_published(
    raw: dict[RawFile, pd.DataFrame],
) -> None:
    frame = raw["accepted"].iloc[:-2]
    for column, pattern in {
        "loan_amnt": r"\d{4,5}\.0",
        "issue_d": r"[A-Z][a-z]{2}-20(0[7-9]|1[0-8])",
        "term": r" (36|60) months",
        "int_rate": r"\d+\.\d+",
        "emp_length": r"< 1 year|1 year|[2-9] years|10\+ years",
        "dti": r"-?\d+\.\d{1,2}",
        "zip_code": r"\d\d\dxx",
        "purpose": r"[a-z_]+",
    }.items():
        assert frame[column].dropna().str.fullmatch(pattern).all(), column
    low, high = (pd.to_numeric(frame[f"fico_range_{end}"]) for end in ("low", "high"))
    assert (low % 5 == 0).all()
    assert ((high - low) == np.where(low == 845, 5, 4)).all()
    assert frame["issue_d"].isna().mean() == pytest.approx(1e-4, abs=1.5e-4)
    assert frame["emp_title"].str.contains(",").any()
    assert frame["emp_title"].str.contains('"').any()
    assert frame["desc"].str.contains("\n").any()
    assert frame["member_id"].isna().all()


def test_columns_of_the_new_form_are_empty_before_it(
    raw: dict[RawFile, pd.DataFrame], parsed: dict[RawFile, pd.DataFrame]
) -> None:
    late = parsed["accepted"]["date"] >= "2015-12-01"
    for column in ("open_acc_6m", "inq_last_12m"):
        assert (
            raw["accepted"][column]
            .notna()[parsed["accepted"]["date"].notna()]
            .eq(late[parsed["accepted"]["date"].notna()])
            .all()
        )


def test_title_spelling_follows_the_date(
    parsed: dict[RawFile, pd.DataFrame],
) -> None:
    frame = parsed["rejected"]
    coded = frame["title"].isin(CODES)
    shown = frame["title"].isin(["Debt consolidation", "Other", "Home buying"])
    early = frame["date"].between("2010-01-01", "2016-08-31")
    late = frame["date"] >= "2017-12-01"
    assert coded[early].sum() > 8 * shown[early].sum()
    assert shown[early].any()
    assert not coded[late].any()
    free = ~frame["title"].isin(CODES) & frame["title"].str.contains("roof")
    assert free.any()
    assert frame.loc[free.fillna(False), "date"].max() < pd.Timestamp("2010-01-01")
