"""The published files are opened, or refused with one clear sentence."""

import gzip

import pytest

from ridgeline.errors import InputError
from ridgeline.lendingclub.line_counting import LineCount
from ridgeline.lendingclub.reading import find_files, read_published
from ridgeline.lendingclub.schema import ACCEPTED_COLUMNS, REJECTED_COLUMNS


def read(connection, path, kind):
    return read_published(connection, find_files(str(path), kind), kind)


def test_every_cell_is_text(write_published, duckdb):
    table = read(duckdb, write_published("rejected"), "rejected").rows
    assert table.columns == REJECTED_COLUMNS
    assert {str(dtype) for dtype in table.schema().types} == {"string"}
    assert table["Risk_Score"].execute().to_list() == ["633.0"]


def test_gzip_is_read_like_plain_text(write_published, duckdb, tmp_path):
    plain = write_published("accepted", [{}, {"amount": "1000.0"}])
    packed = tmp_path / "accepted_packed.csv.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    rows = [read(duckdb, path, "accepted").rows.execute() for path in (plain, packed)]
    assert rows[0].equals(rows[1])


def test_pattern_joins_files_of_one_header(write_published, duckdb, tmp_path):
    write_published("rejected", [{}] * 2, "rejected_1.csv")
    write_published("rejected", [{}] * 3, "rejected_2.csv")
    table = read(duckdb, tmp_path / "rejected_*.csv", "rejected").rows
    assert table.count().execute() == 5


def test_files_of_different_headers_are_refused(write_published, tmp_path):
    write_published("rejected", name="rejected_1.csv")
    other = write_published("rejected", name="rejected_2.csv")
    other.write_text(other.read_text().replace("Policy Code", "Policy"))
    with pytest.raises(InputError, match="rejected_2.csv' has other columns than"):
        find_files(str(tmp_path / "rejected_*.csv"), "rejected")


def test_lines_that_are_no_rows_are_kept_aside(write_published, duckdb):
    path = write_published("rejected", [{}, {}])
    with path.open("a") as file:
        file.write("too,few,fields\n")
        file.write(",".join("abcdefghij") + "\n")
    table = read(duckdb, path, "rejected")
    assert table.rows.count().execute() == 2
    lines = table.malformed.execute().text.to_list()
    assert sorted(lines) == ["a,b,c,d,e,f,g,h,i,j", "too,few,fields"]
    # A second scan finds the same lines and reports them once.
    assert table.rows["State"].nunique().execute() == 0
    assert table.malformed.count().execute() == 2


def test_quoted_commas_quotes_and_newlines_stay_in_their_cell(write_published, duckdb):
    title = 'Car, "big"\nand new'
    path = write_published("rejected", [{"title": title}, {}])
    table = read(duckdb, path, "rejected")
    assert set(table.rows["Loan Title"].execute()) == {title, "debt_consolidation"}
    assert table.malformed.count().execute() == 0


def with_description(path, texts):
    """Fill `desc` of a published file, row by row."""
    header, *rows = [line.split(",") for line in path.read_text().splitlines()]
    for row, text in zip(rows, texts, strict=True):
        row[header.index("desc")] = text
    path.write_text("".join(",".join(cells) + "\n" for cells in [header, *rows]))
    return path


def test_descriptions_may_have_lines_and_every_line_is_counted(write_published, duckdb):
    text = '"I need it:\n\n- a ""roof"",\n- a car, a boat, a house"'
    path = write_published("accepted", [{}] * 3)
    table = read(duckdb, with_description(path, ["", text, ""]), "accepted")
    assert table.lines == LineCount(lines=6, blank=0, continued=3)
    assert table.rows.count().execute() == table.lines.rows == 3
    assert table.malformed.count().execute() == 0


def test_quote_that_a_description_does_not_close_is_named(write_published, duckdb):
    path = write_published("accepted", [{}] * 4)
    with_description(path, ["", '"I need it', "", 'a car"'])
    with pytest.raises(InputError, match="in line 3 and would swallow line 4, a row"):
        read(duckdb, path, "accepted")


def test_missing_file_says_where_people_get_it(tmp_path):
    with pytest.raises(InputError, match="No accepted file at .*nothing_here") as error:
        find_files(str(tmp_path / "nothing_here*.csv"), "accepted")
    assert "wordsforthewise/lending-club" in str(error.value)
    assert "--params accepted=PATH" in str(error.value)


def test_swapped_files_are_recognised(write_published):
    path = write_published("rejected")
    with pytest.raises(InputError, match="is LendingClub's rejected file.*Swap"):
        find_files(str(path), "accepted")


def test_missing_columns_are_named_with_what_was_found(write_published):
    path = write_published("accepted")
    header, rest = path.read_text().split("\n", 1)
    path.write_text(header.replace("dti,", "ratio,", 1) + "\n" + rest)
    with pytest.raises(InputError, match="lacks 'dti'.*begin with 'id', 'member_id'"):
        find_files(str(path), "accepted")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"PAR1\x15\x04\x15\xff\xfe\x00", "is a Parquet file, not a CSV file"),
        (b"PK\x03\x04\x14\x00\xff\xfe", "is a zip archive.*not a CSV file"),
        (b"\x1f\x8b\x08\x00\x00\x00\x00\x00trunc", "is cut off"),
        (b"Notes offered by Prospectus\nid,member_id\n", "'Notes offered by Pro"),
    ],
    ids=["empty", "parquet", "zip", "broken gzip", "first line of prose"],
)
def test_file_of_the_wrong_kind_is_refused(tmp_path, content, said):
    path = tmp_path / "accepted.csv"
    path.write_bytes(content)
    with pytest.raises(InputError, match=said):
        find_files(str(path), "accepted")


def test_folder_is_refused(tmp_path):
    with pytest.raises(InputError, match="is a folder"):
        find_files(str(tmp_path), "rejected")


def test_byte_order_mark_is_no_part_of_the_first_name(write_published, duckdb):
    path = write_published("accepted")
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    rows = read(duckdb, path, "accepted").rows
    assert rows.columns == ACCEPTED_COLUMNS
    assert rows.count().execute() == 1


def test_windows_line_ends(write_published, duckdb):
    path = write_published("rejected", [{}, {}])
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    table = read(duckdb, path, "rejected")
    assert table.rows["Policy Code"].nunique().execute() == 0
    assert table.rows["Employment Length"].execute().to_list() == ["< 1 year"] * 2
    assert table.malformed.count().execute() == 0
