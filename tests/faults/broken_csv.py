"""A hundred kinds of broken CSV: what is done to a good file, and what comes of it.

The good file is LendingClub's rejected one with ten rows. A mutation takes its bytes
and returns others.
"""

import bz2
import gzip
import io
import json
import lzma
import zipfile
from collections.abc import Callable
from typing import NamedTuple

from ridgeline.lendingclub.schema import ACCEPTED_COLUMNS, REJECTED_COLUMNS

Mutation = Callable[[bytes], bytes]

HEADER = ",".join(REJECTED_COLUMNS).encode()
LINE = b"15000.0,2015-10-29,debt_consolidation,633.0,54.58%,123xx,CA,< 1 year,0.0"
ROWS = 10
GOOD = b"\n".join([HEADER, *[LINE] * ROWS, b""])
MIDDLE = 5  # the row that most mutations touch; it is line 6 of the file


class Read(NamedTuple):
    """The file is read: so many rows, and so many lines set aside."""

    rows: int
    aside: int = 0
    unreadable: int = 0  # cells


def untouched(data):
    return data


def line(new: bytes, number: int = MIDDLE) -> Mutation:
    """Put another line, or several, in the place of a row."""

    def mutate(data):
        lines = data.split(b"\n")
        lines[number] = new
        return b"\n".join(lines)

    return mutate


def cell(column: str, text: str | bytes, number: int = MIDDLE) -> Mutation:
    """Put another text into one cell, as it is."""
    cells = LINE.split(b",")
    raw = text if isinstance(text, bytes) else text.encode()
    cells[REJECTED_COLUMNS.index(column)] = raw
    return line(b",".join(cells), number)


def every_line(change: Mutation) -> Mutation:
    """Change every line, the header too."""
    return lambda data: b"\n".join([*map(change, data.split(b"\n")[:-1]), b""])


def every_row(change: Mutation) -> Mutation:
    """Change every line below the header."""
    return lambda data: b"\n".join([HEADER, *map(change, data.split(b"\n")[1:-1]), b""])


def header(change: Mutation) -> Mutation:
    """Change the header alone."""
    return lambda data: data.replace(HEADER, change(HEADER))


def replaced(old: bytes, new: bytes) -> Mutation:
    return lambda data: data.replace(old, new)


def appended(tail: bytes) -> Mutation:
    return lambda data: data + tail


def in_turn(*mutations: Mutation) -> Mutation:
    def mutate(data):
        for mutation in mutations:
            data = mutation(data)
        return data

    return mutate


def content(data: bytes) -> Mutation:
    """Forget the good file."""
    return lambda _: data


def encoded(encoding: str) -> Mutation:
    return lambda data: data.decode().encode(encoding)


def columns_reversed(data):
    return every_line(lambda text: b",".join(text.split(b",")[::-1]))(data)


def all_quoted(data):
    return every_line(lambda text: b'"' + text.replace(b",", b'","') + b'"')(data)


def zipped(data):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("rejected.csv", data)
    return buffer.getvalue()


def title(text: str) -> Mutation:
    return cell("Loan Title", text)


windows = replaced(b"\n", b"\r\n")
TITLE, DATE, AMOUNT = "Loan Title", "Application Date", "Amount Requested"

# Name: what is done, and what is read.
READ: dict[str, tuple[Mutation, Read]] = {
    "untouched": (untouched, Read(10)),
    "no newline at the end": (lambda data: data[:-1], Read(10)),
    "windows line ends": (windows, Read(10)),
    "windows line ends but for the last": (lambda d: windows(d)[:-2], Read(10)),
    "byte order mark": (lambda data: b"\xef\xbb\xbf" + data, Read(10)),
    "mark and windows": (lambda d: b"\xef\xbb\xbf" + windows(d), Read(10)),
    "mark and quoted header": (lambda d: b"\xef\xbb\xbf" + all_quoted(d), Read(10)),
    "blank line": (line(b"\n" + LINE), Read(10)),
    "blank line for a row": (line(b""), Read(9)),
    "blank lines in a row": (line(b"\n\n\n" + LINE), Read(10)),
    "blank line under the header": (line(b"\n" + LINE, 1), Read(10)),
    "blank lines at the end": (appended(b"\n\n\n"), Read(10)),
    "blank lines of windows": (in_turn(appended(b"\n\n"), windows), Read(10)),
    "line of blanks": (line(b"   "), Read(9, 1)),
    "too few fields": (line(LINE.rpartition(b",")[0]), Read(9, 1)),
    "too many fields": (line(LINE + b",more"), Read(9, 1)),
    "one field": (line(b"hello"), Read(9, 1)),
    "first row too short": (line(b"1,2", 1), Read(9, 1)),
    "last row cut off": (lambda data: data[:-30], Read(9, 1)),
    "the same bad line twice": (line(b"1,2\n1,2"), Read(9, 2)),
    "half of the lines too long": (
        lambda d: b"\n".join([*d.split(b"\n")[:6], *[LINE + b",x"] * 5, b""]),
        Read(5, 5),
    ),
    "trailing comma in one line": (line(LINE + b","), Read(10)),
    "trailing commas and a cell": (line(LINE + b",,x"), Read(9, 1)),
    "trailing comma in all lines": (every_line(lambda text: text + b","), Read(10)),
    "index column without a name": (every_line(lambda text: b"," + text), Read(10)),
    "two columns without a name": (every_line(lambda t: t + b",,"), Read(10)),
    "one more column": (every_line(lambda text: text + b",more"), Read(10)),
    "columns in another order": (columns_reversed, Read(10)),
    "nothing but commas": (line(b"," * 8), Read(10)),
    "header once more": (line(HEADER + b"\n" + LINE), Read(11, 0, 5)),
    "footer of prose": (appended(b"Total amount funded: 460296150\n"), Read(10, 1)),
    "comment": (line(b"# a comment\n" + LINE), Read(10, 1)),
    "end-of-file sign of DOS": (appended(b"\x1a"), Read(10, 1)),
    "all cells quoted": (all_quoted, Read(10)),
    "quoted header": (header(lambda text: all_quoted(text + b"\n")[:-1]), Read(10)),
    "quoted comma": (title('"car, big"'), Read(10)),
    "doubled quotes": (title('"a ""big"" car"'), Read(10)),
    "nothing but quotes": (title('""""""'), Read(10)),
    "empty quoted cell": (title('""'), Read(10)),
    "cell of two lines": (title('"car\nand house"'), Read(10)),
    "cell of many lines": (title('"car\n' + "and house, too\n" * 50 + '"'), Read(10)),
    "cell with a blank line": (title('"car\n\nand house"'), Read(10)),
    "cell of two lines of windows": (title('"car\r\nand house"'), Read(10)),
    "cell of two lines in a windows file": (
        in_turn(windows, replaced(b"debt_consolidation", b'"a\nb"')),
        Read(10),
    ),
    "cells of two lines everywhere": (
        replaced(b"debt_consolidation", b'"debt\n""con"", solidation"'),
        Read(10),
    ),
    "two cells of two lines in a row": (
        line(
            LINE.replace(b"debt", b'"a\nb').replace(b"ion,", b'ion","c\n')[:-3] + b'"'
        ),
        Read(9, 1),
    ),
    "last cell of two lines, no newline": (
        lambda data: data[:-1].removesuffix(b"0.0") + b'"0\n.0"',
        Read(10),
    ),
    "carriage return in a quoted cell": (title('"car\rand house"'), Read(10)),
    "bad line of two lines": (line(b'1,"2\n3",4'), Read(9, 1)),
    "quote inside a cell": (title('5" pipe'), Read(10)),
    "two quotes inside a cell": (title('a "big" car'), Read(10)),
    "quote at the end of a cell": (title('pipe 5"'), Read(10)),
    "text behind a closing quote": (title('"big" car'), Read(9, 1)),
    "quote closed in another cell": (
        line(b'15000.0,"2015-10-29,debt",633.0,54%,1xx,CA,< 1 year,0.0'),
        Read(9, 1),
    ),
    "blank before a quote": (title(' "car, big"'), Read(10)),
    "blank behind a quote": (title('"car, big" '), Read(10)),
    "two blanks before a quote": (title('  "car"'), Read(10)),
    "backslash before a quote": (title('"car\\"'), Read(10)),
    "single quotes": (title("'car'"), Read(10)),
    "tab in a cell": (title("car\thouse"), Read(10)),
    "escape sequence in a title": (title("\x1b[31mred\x1b[0m"), Read(10)),
    "escape sequence in a number": (cell(AMOUNT, "\x1b[2J"), Read(10, 0, 1)),
    "escape sequence in a bad line": (line(b"\x1b]0;owned\x07"), Read(9, 1)),
    "delete signs": (title("\x7f\x08\x08"), Read(10)),
    "vertical tab and form feed": (title("car\x0b\x0chouse"), Read(10)),
    "line separator of Unicode": (title("car\u2028house\u2029\u0085"), Read(10)),
    "letters of many languages": (title("Автомобиль 車 🚗 é"), Read(10)),
    "right-to-left mark": (cell(AMOUNT, "\u202e0005"), Read(10, 0, 1)),
    "sign that parts unreadable cells": (
        line(LINE.replace(b"15000.0", "␟dti=5␟".encode())),
        Read(10, 0, 1),
    ),
    "title of a hundred kilobytes": (title("x" * 100_000), Read(10)),
    "title of almost two megabytes": (title("x" * 1_900_000), Read(10)),
    "long cell of many lines": (title('"' + "some words\n" * 100_000 + '"'), Read(10)),
    "amount in words": (cell(AMOUNT, "a lot"), Read(10, 0, 1)),
    "amount with a comma": (cell(AMOUNT, '"15,000.0"'), Read(10, 0, 1)),
    "amount with a currency": (cell(AMOUNT, "$15000"), Read(10, 0, 1)),
    "amount that is no number": (cell(AMOUNT, "nan"), Read(10, 0, 1)),
    "amount without end": (cell(AMOUNT, "-inf"), Read(10, 0, 1)),
    "amount beyond all numbers": (cell(AMOUNT, "1e999"), Read(10, 0, 1)),
    "score in words": (cell("Risk_Score", "very good"), Read(10, 0, 1)),
    "date infinity": (cell(DATE, "infinity"), Read(10, 0, 1)),
    "date minus infinity": (cell(DATE, "-infinity"), Read(10, 0, 1)),
    "date epoch": (cell(DATE, "epoch"), Read(10, 0, 1)),
    "date of the year 99999": (cell(DATE, "99999-01-01"), Read(10, 0, 1)),
    "date before Christ": (cell(DATE, "2015-10-29 (BC)"), Read(10, 0, 1)),
    "date that does not exist": (cell(DATE, "2015-02-30"), Read(10, 0, 1)),
    "date with a time": (cell(DATE, "2015-10-29 12:00:00"), Read(10, 0, 1)),
    "date with slashes": (cell(DATE, "2015/10/29"), Read(10, 0, 1)),
    "date of the US": (cell(DATE, "12/31/2016"), Read(10, 0, 1)),
    "date of Germany": (cell(DATE, "29.10.2015"), Read(10, 0, 1)),
    "month for a day": (cell(DATE, "Dec-2015"), Read(10, 0, 1)),
    "date with a blank": (cell(DATE, " 2015-10-29"), Read(10, 0, 1)),
}

SWALLOWED = b'15000.0,2015-10-29,"debt,633.0,54.58%,123xx,CA,< 1 year,0.0'
CLOSING = b'15000.0,2015-10-29,debt",633.0,54.58%,123xx,CA,< 1 year,0.0'
QUOTED = LINE.replace(b"debt_consolidation", b'"car, big"')

# Name: what is done, and words of the refusal.
REFUSED: dict[str, tuple[Mutation, str]] = {
    "empty": (content(b""), "is empty"),
    "one newline": (content(b"\n"), "begins with an empty line"),
    "blank line above the header": (lambda d: b"\n" + d, "begins with an empty line"),
    "header alone": (content(HEADER + b"\n"), "has a header and no row below it"),
    "header without newline": (content(HEADER), "has a header and no row"),
    "header and blank lines": (content(HEADER + b"\n\n\n"), "has a header and no row"),
    "no header": (lambda data: data.partition(b"\n")[2], "lacks 'Amount Requested'"),
    "half a header": (lambda data: data[:60], "lacks 'Debt-To-Income Ratio'"),
    "prose above the header": (
        lambda data: b"Notes offered by Prospectus\n" + data,
        "begin with 'Notes offered by Prospectus'",
    ),
    "escape sequence in the header": (
        lambda data: b"\x1b[2J\x1b[31m\n" + data,
        r"begin with '\\x1b\[2J\\x1b\[31m'",
    ),
    "the other file": (
        content(",".join(ACCEPTED_COLUMNS).encode() + b"\n"),
        "is LendingClub's accepted file.*Swap",
    ),
    "semicolons": (replaced(b",", b";"), "separated by semicolons.*commas"),
    "tabs": (replaced(b",", b"\t"), "separated by tabs"),
    "bars": (replaced(b",", b"|"), "separated by bars"),
    "header in lower case": (header(bytes.lower), "'amount requested'.*to the letter"),
    "header in upper case": (header(bytes.upper), "'RISK_SCORE'.*to the letter"),
    "blanks behind the commas": (
        header(replaced(b",", b", ")),
        "' Risk_Score'.*to the letter",
    ),
    "column twice": (header(replaced(b"State", b"Risk_Score")), "more than one column"),
    "column twice, in another case": (
        header(replaced(b"State", b"RISK_SCORE")),
        "more than one column 'Risk_Score', 'RISK_SCORE'",
    ),
    "needless column twice": (
        header(replaced(b"State", b"Zip Code")),
        "more than one column 'Zip Code'",
    ),
    "column missing": (header(replaced(b"Risk_Score", b"x")), "lacks 'Risk_Score'"),
    "quote in the header": (
        header(replaced(b",State", b',"State')),
        "header that is no",
    ),
    "endless header": (lambda data: b"x" * 200_000 + data, "has no header"),
    "carriage returns alone": (replaced(b"\n", b"\r"), "carriage return alone"),
    "one line of windows": (line(LINE + b"\r"), r"line 6 does not end in \\n"),
    "one line of unix": (
        lambda data: (
            windows(data).replace(b"\r\n", b"\n", 5).replace(b"\n", b"\r\n", 4)
        ),
        r"line 5 does not end in \\r\\n",
    ),
    "header of windows": (
        lambda data: data.replace(b"\n", b"\r\n", 1),
        r"line 2 does not end in \\r\\n",
    ),
    "carriage return in a cell": (title("car\rhouse"), "carriage return within line 6"),
    "carriage return at a cell's end": (
        title("car\r"),
        "carriage return within line 6",
    ),
    "carriage return behind a quoted cell": (
        line(QUOTED.replace(b"CA", b"C\rA")),
        "carriage return within line 6",
    ),
    "zero byte": (title("car\0house"), "zero byte in line 6"),
    "zeros at the end": (appended(b"\0" * 4096), "zero byte in line 12"),
    "nothing but zeros": (lambda data: b"\0" * len(data), "zero bytes"),
    "zeros from the middle on": (
        lambda data: data[:300] + b"\0" * (len(data) - 300),
        "zero byte in line 4",
    ),
    "UTF-16": (encoded("utf-16"), "UTF-16 text.*iconv"),
    "UTF-16, other end first": (
        lambda data: b"\xfe\xff" + data.decode().encode("utf-16-be"),
        "UTF-16 text.*iconv",
    ),
    "UTF-16 without mark": (encoded("utf-16-le"), "zero bytes: it is UTF-16"),
    "UTF-32": (encoded("utf-32"), "UTF-16 text"),
    "Latin-1": (cell(TITLE, b"caf\xe9"), "line 6 has the byte 0xe9.*iconv"),
    "Windows-1252": (cell(TITLE, b"\x93car\x94"), "line 6 has the byte 0x93"),
    "cut in a letter": (
        lambda data: data + "é".encode()[:1],
        "line 12 has the byte 0xc3",
    ),
    "letter spelt too long": (cell(TITLE, b"\xc0\xaf"), "byte 0xc0"),
    "half a surrogate": (cell(TITLE, b"\xed\xa0\x80"), "byte 0xed"),
    "header in Latin-1": (header(replaced(b"State", b"\xc9tat")), "no CSV in UTF-8"),
    "unbalanced quote in the first row": (
        line(SWALLOWED, 1),
        "opened in line 2 and would swallow line 3",
    ),
    "unbalanced quote": (line(SWALLOWED), "opened in line 6 and would swallow line 7"),
    "unbalanced quote in the last row": (line(SWALLOWED, ROWS), "opened in line 11"),
    "unbalanced quote at the very end": (
        lambda data: data + b'"',
        "opened in line 12 and it is not closed",
    ),
    "unbalanced quote before quoted cells": (
        in_turn(line(SWALLOWED, 3), line(QUOTED, 6)),
        "opened in line 4 and would swallow line 5",
    ),
    "two unbalanced quotes that fit": (
        in_turn(line(SWALLOWED, 3), line(CLOSING, 7)),
        "opened in line 4 and would swallow line 5",
    ),
    "two unbalanced quotes, one below the other": (
        in_turn(line(SWALLOWED, 3), line(CLOSING, 4)),
        "opened in line 4 and would swallow line 5",
    ),
    "unbalanced quote before a quoted row": (
        in_turn(line(SWALLOWED, 3), line(QUOTED, 4)),
        "opened in line 4 and would swallow line 5",
    ),
    "unbalanced quote among dates of the US": (
        in_turn(replaced(b"2015-10-29", b"10/29/2015"), line(SWALLOWED, 3)),
        "opened in line 4 and would swallow line 5",
    ),
    "unbalanced quote in windows": (
        in_turn(line(SWALLOWED), windows),
        "opened in line 6 and would swallow line 7",
    ),
    "unbalanced quote in the last cell": (
        line(LINE.replace(b",0.0", b',"0.0')),
        "opened in line 6 and would swallow line 7",
    ),
    "unbalanced quote behind a legal one": (
        line(QUOTED.replace(b"CA", b'"CA')),
        "opened in line 6 and would swallow line 7",
    ),
    "unbalanced quote under a cell of two lines": (
        in_turn(line(SWALLOWED, 6), title('"a\nb"')),
        "opened in line 8 and would swallow line 9",
    ),
    "cell of more than two megabytes": (title("x" * 2_000_001), "bytes in line 6"),
    "quoted cell of forty megabytes": (title(f'"{"x" * 40_000_000}"'), "in line 6"),
    "forty megabytes in many lines": (
        title('"' + "some words\n" * 4_000_000 + '"'),
        "opened in line 6 and not closed for 2,000,000 bytes",
    ),
    "endless last line": (appended(b"x" * 3_000_000), "bytes in line 12"),
    "all lines too long": (every_row(lambda t: t + b",x"), "None of the 10 lines"),
    "all lines too short": (every_row(lambda _: b"a,b"), "None of the 10.*'a,b'"),
    "all lines escape sequences": (every_row(lambda _: b"\x1b[2J"), r"'\\x1b\[2J'"),
    "all dates of the US": (
        replaced(b"2015-10-29", b"12/31/2016"),
        "10 of application_date, e.g. 12/31/2016.*2015-10-29",
    ),
    "all dates months": (replaced(b"2015-10-29", b"Dec-2015"), "e.g. Dec-2015"),
    "all dates infinity": (replaced(b"2015-10-29", b"infinity"), "e.g. infinity"),
    "all scores missing": (
        replaced(b"633.0", b""),
        "'missing_value'.*removes 10 of 10",
    ),
    "all years too late": (replaced(b"2015", b"2019"), "'outside_window'.*removes 10"),
    "year one": (cell(DATE, "0001-01-01"), "application_date: in_range"),
    "year 9999": (cell(DATE, "9999-12-31"), "application_date: in_range"),
    "columns shifted": (
        cell("Risk_Score", "15000.0"),
        "risk_score: in_range",
    ),
    "escape sequence beside a wrong number": (
        line(b"-5,2015-10-29,\x1b[2J,633.0,54.58%,1xx,CA,< 1 year,0.0"),
        r"amount: in_range[\s\S]*\\x1b\[2J",
    ),
    "zip archive": (zipped, "is a zip archive.*Unpack"),
    "bzip2 archive": (bz2.compress, "is a bzip2 archive.*Unpack"),
    "xz archive": (lzma.compress, "is an xz archive.*Unpack"),
    "gzip archive without the name": (gzip.compress, "Name it 'rejected.csv.gz'"),
    "Zstandard archive": (content(b"\x28\xb5\x2f\xfd\x04"), "Zstandard archive"),
    "7-Zip archive": (content(b"7z\xbc\xaf\x27\x1c\x00"), "7-Zip archive"),
    "RAR archive": (content(b"Rar!\x1a\x07\x00"), "RAR archive"),
    "tar archive": (
        lambda data: b"rejected.csv".ljust(257, b"\0") + b"ustar" + data,
        "is a tar archive",
    ),
    "Parquet file": (content(b"PAR1\x15\x04"), "is a Parquet file.*Export"),
    "old Excel workbook": (content(b"\xd0\xcf\x11\xe0\xa1"), "old Excel workbook"),
    "SQLite database": (content(b"SQLite format 3\x00"), "SQLite database"),
    "PDF document": (content(b"%PDF-1.7\n"), "is a PDF document"),
    "web page": (content(b"<!DOCTYPE html><html>Log in"), "is a web page.*login"),
    "JSON": (content(json.dumps({"a": 1}).encode()), "is JSON"),
    "list in JSON": (content(b'[{"a": 1}]'), "is JSON"),
}
