"""A gzip archive is whole, or nothing of it is used."""

import gzip
import random
import zlib

import ibis
import pytest
from broken_csv import HEADER

from ridgeline.errors import InputError
from ridgeline.lendingclub.reading import find_files, read_published


def some_text(rows):
    """Write a file whose rows differ, so that its archive is not all repetition."""
    draw = random.Random(0).randint
    lines = [
        f"{draw(10, 400)}00.0,2016-0{draw(1, 9)}-01,other,{draw(300, 850)}.0,"
        f"{draw(0, 99)}.{draw(0, 99)}%,,,2 years,0.0"
        for _ in range(rows)
    ]
    return b"\n".join([HEADER, *(line.encode() for line in lines), b""])


TEXT = some_text(rows=25)
ARCHIVE = gzip.compress(TEXT, mtime=0)
TWO_MEMBERS = gzip.compress(TEXT[:500], mtime=0) + gzip.compress(TEXT[500:], mtime=0)


@pytest.fixture(scope="module")
def engine():
    """Return one engine for all files."""
    return ibis.duckdb.connect(preserve_insertion_order=False)


@pytest.fixture
def rows(engine, tmp_path):
    """Return a reader of an archive's rows, as text."""

    def read(data, name="rejected.csv.gz"):
        path = tmp_path / name
        path.write_bytes(data)
        table = read_published(engine, find_files(str(path), "rejected"), "rejected")
        lines = table.rows.execute().itertuples(index=False, name=None)
        return sorted(map(str, lines))

    return read


def flipped_bits(data):
    for position in range(len(data) * 8):
        damaged = bytearray(data)
        damaged[position // 8] ^= 1 << position % 8
        yield bytes(damaged)


def complaint(rows, data, whole):
    """Return why an archive is refused; empty if it says the same as the whole one."""
    try:
        assert rows(data) == whole
    except InputError as error:
        return str(error)
    return ""


def refused(rows, archives, words):
    """Count archives that are refused, each with one of the words."""
    whole = rows(ARCHIVE)
    complaints = [said for data in archives if (said := complaint(rows, data, whole))]
    assert all(any(word in said for word in words) for said in complaints)
    return len(complaints)


DAMAGED = ["is damaged", "is cut off", "behind the end", "unusual header"]


def test_no_single_flipped_bit_is_taken_for_the_file(rows):
    n_bits = 8 * len(ARCHIVE)
    assert n_bits > 2_500
    words = [*DAMAGED, "which its name hides"]
    n_refused = refused(rows, flipped_bits(ARCHIVE), words)
    # All but the time, the level and the system's name in the header, and what fills
    # the last byte: they say nothing of the text, which has to be the same.
    assert n_bits - 48 - 7 <= n_refused <= n_bits - 48


def test_no_part_of_an_archive_is_taken_for_the_file(rows):
    parts = [ARCHIVE[:length] for length in range(2, len(ARCHIVE))]
    assert refused(rows, parts, ["is cut off"]) == len(parts) > 300


def test_no_byte_may_follow_the_archive(rows):
    tails = [bytes([first]) * n for first in range(256) for n in (1, 9)]
    archives = [ARCHIVE + tail for tail in [*tails, TEXT, b"\x1f\x8b"]]
    assert refused(rows, archives, DAMAGED) == len(archives)


def test_lost_and_exchanged_bytes(rows):
    cuts = range(12, len(ARCHIVE) - 12, 3)
    lost = [ARCHIVE[:cut] + ARCHIVE[cut + 5 :] for cut in cuts]
    exchanged = [
        ARCHIVE[:cut]
        + ARCHIVE[cut + 4 : cut + 8]
        + ARCHIVE[cut : cut + 4]
        + ARCHIVE[cut + 8 :]
        for cut in cuts
    ]
    archives = [data for data in lost + exchanged if data != ARCHIVE]
    assert refused(rows, archives, DAMAGED) == len(archives)


def test_members_are_read_as_one_and_checked_each(rows):
    assert rows(TWO_MEMBERS) == rows(ARCHIVE)
    first_wrong = bytearray(TWO_MEMBERS)
    first_wrong[len(gzip.compress(TEXT[:500])) - 8] ^= 1  # its checksum
    for data in (bytes(first_wrong), TWO_MEMBERS[:-1], TWO_MEMBERS + b"\0"):
        with pytest.raises(InputError, match="damaged|cut off|behind the end"):
            rows(data)


def test_file_name_and_extra_field_in_the_archive(rows):
    name = ARCHIVE[:3] + b"\x08" + ARCHIVE[4:10] + b"rejected.csv\0" + ARCHIVE[10:]
    extra = ARCHIVE[:3] + b"\x04" + ARCHIVE[4:10] + b"\x02\0ab" + ARCHIVE[10:]
    assert rows(name) == rows(extra) == rows(ARCHIVE)


def test_archive_that_duckdb_cannot_open(rows):
    comment = ARCHIVE[:3] + b"\x10" + ARCHIVE[4:10] + b"hello\0" + ARCHIVE[10:]
    assert gzip.decompress(comment) == TEXT
    with pytest.raises(InputError, match="unusual header.*gzip -dc FILE"):
        rows(comment)


def test_name_and_content_have_to_agree(rows):
    with pytest.raises(InputError, match="plain text.*Name it 'rejected.csv'"):
        rows(TEXT)
    with pytest.raises(InputError, match=r"gzip archive.*Name it 'rejected.csv.gz'"):
        rows(ARCHIVE, "rejected.csv")
    with pytest.raises(InputError, match="plain text.*Name it 'rejected.csv'"):
        rows(TEXT, "rejected.csv.zst")
    with pytest.raises(InputError, match="gzip archive in a gzip archive"):
        rows(gzip.compress(ARCHIVE))


def test_damage_and_not_its_symptom_is_named(rows):
    # Stored without compression, a flipped bit makes an unbalanced quote of a 2.
    stored = zlib.compressobj(0, wbits=31)
    archive = bytearray(stored.compress(TEXT) + stored.flush())
    archive[archive.index(b"\n") + 1] = ord('"')
    with pytest.raises(InputError, match="is damaged.*incorrect data check"):
        rows(bytes(archive))
    archive[20] ^= 1  # a letter of the header
    with pytest.raises(InputError, match="is damaged.*incorrect data check"):
        rows(bytes(archive))
