"""Whatever is done to a raw file: every line is accounted for, or it is refused."""

import os
import random
import tempfile
from pathlib import Path

import broken_csv
import ibis
import pytest

from ridgeline.errors import InputError
from ridgeline.lendingclub.auditing import audit_cleaning, audit_text
from ridgeline.lendingclub.cleaning import CleaningRules
from ridgeline.lendingclub.headers import checked_header
from ridgeline.lendingclub.line_counting import LineCount, count_lines
from ridgeline.lendingclub.reading import PublishedTable, find_files, read_published
from ridgeline.lendingclub.validation import (
    validate_kept,
    validate_lines,
    validate_typed,
)
from ridgeline.pipelines.data.nodes import type_applications

RULES = CleaningRules()


def is_safe(text):
    """Tell whether a terminal shows a text as it is."""
    return all(sign.isprintable() or sign == "\n" for sign in text)


@pytest.fixture(scope="module")
def engine():
    """Return one engine for all files: a failure must not spoil the next one."""
    return ibis.duckdb.connect(preserve_insertion_order=False)


@pytest.fixture(scope="module")
def accepted(engine, tmp_path_factory):
    """Return a good accepted file of one row."""
    cells = {
        "loan_amnt": "12000.0",
        "issue_d": "Dec-2015",
        "purpose": "credit_card",
        "fico_range_low": "690.0",
        "fico_range_high": "694.0",
        "dti": "18.24",
        "emp_length": "10+ years",
    }
    columns = broken_csv.ACCEPTED_COLUMNS
    row = ",".join(cells.get(name, "") for name in columns)
    path = tmp_path_factory.mktemp("accepted") / "accepted.csv"
    path.write_text(f"{','.join(columns)}\n{row}\n")
    table = read(engine, path, "accepted")
    return PublishedTable(table.rows.cache(), table.malformed.cache(), table.lines)


def read(engine, path, kind="rejected"):
    return read_published(engine, find_files(str(path), kind), kind)


def typed_and_counted(accepted, rejected):
    """Take the road of a run to the point at which all lines have to add up."""
    typed, malformed, counts = type_applications(accepted, rejected)
    typed = typed.cache()
    lines = {name: LineCount(**count) for name, count in counts.items()}
    validate_lines(typed, malformed, lines)
    return typed, malformed, lines


def audit(typed, malformed, lines):
    """Return the audit by step."""
    audit = audit_cleaning(typed, malformed, lines, RULES)
    assert is_safe(audit_text(audit))
    validate_kept(audit)
    return audit[audit["class"] == "rejected"].set_index("step")


def test_there_are_more_than_a_hundred_kinds():
    assert len(broken_csv.READ) + len(broken_csv.REFUSED) > 150


@pytest.mark.parametrize("name", broken_csv.READ)
def test_every_line_is_a_row_or_set_aside(name, engine, accepted, tmp_path):
    mutate, expected = broken_csv.READ[name]
    data = mutate(broken_csv.GOOD)
    path = tmp_path / "rejected.csv"
    path.write_bytes(data)
    steps = audit(*typed_and_counted(accepted, read(engine, path)))
    assert steps.kept["line"] == expected.rows
    assert steps.removed["line"] == expected.aside
    unreadable = steps[steps.section == "unparseable"].removed
    assert unreadable.sum() == expected.unreadable
    lines_below_the_header = data.removesuffix(b"\n").count(b"\n")
    assert steps.rows_in["blank_line"] == lines_below_the_header
    assert lines_below_the_header == (
        expected.rows
        + expected.aside
        + steps.removed["blank_line"]
        + steps.removed["continued_line"]
    )


def run(accepted, rejected):
    typed, malformed, lines = typed_and_counted(accepted, rejected)
    validate_typed(typed)
    audit(typed, malformed, lines)


@pytest.mark.parametrize("name", broken_csv.REFUSED)
def test_one_sentence_names_the_cause(name, engine, accepted, tmp_path):
    mutate, words = broken_csv.REFUSED[name]
    path = tmp_path / "rejected.csv"
    path.write_bytes(mutate(broken_csv.GOOD))
    with pytest.raises(InputError, match=words) as error:
        run(accepted, read(engine, path))
    assert is_safe(str(error.value))


def mutants(count):
    """Yield good files with a few bytes changed, lost, doubled or moved, at random."""
    dangerous = [b'"', b",", b"\n", b"\r", b"\0", b'""', b"\xff", b'",', b'\n"', b" "]
    random_ = random.Random(0)
    good = broken_csv.all_quoted(broken_csv.GOOD) + broken_csv.GOOD.partition(b"\n")[2]
    for _ in range(count):
        data = good
        for _ in range(random_.randint(1, 3)):
            start = random_.randrange(len(broken_csv.HEADER) + 20, len(data))
            end = start + random_.choice([0, 1, 1, 40, 200])
            piece = random_.choice([b"", data[start:end] * 2, *dangerous])
            data = data[:start] + piece + data[end:]
        yield data


def complaint(path):
    """Return why a file is refused before an engine sees it; empty if it is not."""
    try:
        files = find_files(str(path), "rejected")
        count_lines(path, checked_header(path, "rejected"), "rejected")
    except InputError as error:
        return str(error)
    return "" if files == [str(path)] else "not found"


def adds_up(engine, paths):
    """Tell whether the engine's rows and lines set aside are all lines of the files."""
    table = read_published(engine, [str(path) for path in paths], "rejected")
    counted = table.rows.count().execute() + table.malformed.count().execute()
    return counted == table.lines.rows


def test_a_thousand_files_with_random_faults(engine, accepted, tmp_path):
    good, complaints = [], []
    for number, data in enumerate(mutants(1_000)):
        path = tmp_path / f"rejected_{number}.csv"
        path.write_bytes(data)
        if said := complaint(path):
            complaints.append(said)
        else:
            good.append(path)
    assert all(is_safe(said) for said in complaints)
    assert min(len(good), len(complaints)) > 400
    # Many at a time, because the engine takes longer to open a file than to read it.
    batches = [good[start : start + 20] for start in range(0, len(good), 20)]
    doubtful = [
        path for batch in batches if not adds_up(engine, batch) for path in batch
    ]
    wrong = [path for path in doubtful if not adds_up(engine, [path])]
    assert len(wrong) < 5
    for path in wrong:
        with pytest.raises(InputError, match="lines that begin a row"):
            typed_and_counted(accepted, read(engine, path))


def test_lines_that_do_not_add_up_stop_the_run(engine, accepted, tmp_path):
    path = tmp_path / "rejected.csv"
    path.write_bytes(broken_csv.GOOD)
    table = read(engine, path)
    one_more = table._replace(lines=table.lines._replace(lines=11))
    with pytest.raises(InputError, match="11 lines that begin a row, but 10 rows"):
        typed_and_counted(accepted, one_more)


def test_folder_link_and_device_are_called_so(tmp_path):
    link = tmp_path / "link.csv"
    link.symlink_to(tmp_path / "nowhere.csv")
    os.mkfifo(tmp_path / "pipe.csv")
    for path, words in {
        tmp_path: "is a folder",
        link: "is a link to a file that is not there",
        tmp_path / "pipe.csv": "is a special file",
    }.items():
        with pytest.raises(InputError, match=words):
            find_files(str(path) if path != link else f"{tmp_path}/li*.csv", "rejected")


def test_no_permission_is_said():
    is_root = os.geteuid() == 0
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        path = Path(folder) / "rejected.csv"
        path.write_bytes(broken_csv.GOOD)
        path.chmod(0)
        if is_root:  # who may read everything
            os.seteuid(65_534)
        try:
            with pytest.raises(InputError, match="cannot be read: Permission denied"):
                find_files(str(path), "rejected")
        finally:
            if is_root:
                os.seteuid(0)


def test_file_and_its_archive_are_not_read_as_two(tmp_path):
    for name in ("rejected.csv", "rejected.csv.gz"):
        (tmp_path / name).write_bytes(broken_csv.GOOD)
    with pytest.raises(InputError, match="every row would count twice"):
        find_files(str(tmp_path / "rejected*"), "rejected")


def test_brackets_in_a_name_are_no_pattern(engine, tmp_path):
    path = tmp_path / "rejected[1].csv"
    path.write_bytes(broken_csv.GOOD)
    assert read(engine, path).rows.count().execute() == broken_csv.ROWS
