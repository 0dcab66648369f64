"""Delimited text holds what the cells hold, whoever reads it.

No text in it is ever calculated.
"""

from __future__ import annotations

import csv
import io
import re
import unicodedata
import zipfile
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.files.write.delimited import (
    DELIMITERS,
    ENCODINGS,
    DelimitedResult,
    Dialect,
    file_names,
    guarded,
    write_csv,
    write_csv_zip,
)
from core.files.write.texts import Sink
from core.grid.sheet import Sheet, Workbook
from core.values import from_serial
from tests.core.files.write.conftest import Error, Length, Moment, sheet_of
from tests.rows import every

FORMATS = ("General", "yyyy-mm-dd", "h:mm AM/PM", "d/m/yy hh:mm:ss", "[h]:mm", "0.00%", '"d"0')


def written(sheet: Sheet, *, date_1904: bool = False, **dialect: str) -> tuple[DelimitedResult, bytes]:
    stream = io.BytesIO()
    actual_written = write_csv(stream, sheet, FORMATS, dialect=Dialect(**dialect), date_1904=date_1904)
    assert actual_written.size_bytes == len(stream.getvalue())
    return actual_written, stream.getvalue()


def lines_of(rows: list[list[Any]], **options: Any) -> str:
    return written(sheet_of(rows), **{"encoding": "utf-8", **options})[1].decode()


def field(value: Any, **options: Any) -> str:
    """One cell beside another, as its field."""
    return lines_of([["x"], [value, 1]], **options).split("\r\n", 1)[1].removesuffix(",1\r\n")


@every(
    "value, text",
    [
        (None, ""),
        ("", '""'),
        ("a b", "a b"),
        ("a,b", '"a,b"'),
        ('say "hi"', '"say ""hi"""'),
        ("a\nb", '"a\nb"'),
        ("a;b", '"a;b"'),
        (" kept ", " kept "),
        (True, "TRUE"),
        (False, "FALSE"),
        (Error("#N/A"), "#N/A"),
        (Error("#DIV/0!"), "#DIV/0!"),
        (5.0, "5"),
        (-5.25, "-5.25"),
        (-0.0, "0"),
        (1e22, "1e+22"),
        (0.1 + 0.2, "0.30000000000000004"),
        (float("nan"), ""),
        (float("inf"), "#NUM!"),
        (float("-inf"), "#NUM!"),
        (Moment(45351, 1), "2024-02-29"),
        (Moment(45351.5625, 1), "2024-02-29T13:30:00"),
        (Moment(45351, 3), "2024-02-29T00:00:00"),
        (Moment(45351.5625, 2), "2024-02-29T13:30:00"),
        (Moment(0.5625, 2), "13:30:00"),
        (Moment(0.5625, 1), "13:30:00"),
        (Moment(0, 2), "00:00:00"),
        (Moment(0, 1), "0"),
        (Moment(1, 1), "1900-01-01"),
        (Moment(59, 1), "1900-02-28"),
        (Moment(60, 1), "1900-02-28"),
        (Moment(61, 1), "1900-03-01"),
        (Moment(0.9999999999, 2), "23:59:59.999"),
        (Moment(45350.9999999999, 1), "2024-02-29"),
        (Moment(0.123456789, 2), "02:57:46.667"),
        (Moment(1.5, 4), "36:00:00"),
        (Moment(100, 4), "2400:00:00"),
        (Moment(2958465, 1), "9999-12-31"),
        (Moment(2958466 - 1e-9, 1), "2958465.999999999"),
        (Moment(2958466, 1), "2958466"),
        (Moment(-1.5, 1), "-1.5"),
        (Moment(-1.5, 4), "-1.5"),
        (Length(36.5), "876:00:00"),
        (Length(0.25), "06:00:00"),
        (Length(-1.5), "-1.5"),
        (Moment(45351, 0), "2024-02-29"),
    ],
)
def test_a_cell(value: Any, text: str) -> None:
    assert field(value) == text


@every(
    "serial, place, text",
    [
        (0, 1, "1904-01-01"),
        (0.5, 1, "1904-01-01T12:00:00"),
        (0.5, 2, "12:00:00"),
        (43889, 1, "2024-02-29"),
        (2957003, 1, "9999-12-31"),
        (2957004, 1, "2957004"),
    ],
)
def test_dates_from_1904(serial: float, place: int, text: str) -> None:
    assert written(sheet_of([[Moment(serial, place), "x"]]), date_1904=True)[1] == f"\ufeff{text},x\r\n".encode()


@given(st.floats(1, 2_958_465), st.booleans())
def test_any_moment_is_the_calendars(serial: float, date_1904: bool) -> None:
    """Against the standard library's calendar: the same moment to the millisecond."""
    text = written(sheet_of([[Moment(serial, 3), "x"]]), date_1904=date_1904)[1].decode().lstrip("\ufeff")[:-4]
    result = from_serial(serial, date_1904=date_1904)
    if result is None:
        assert float(text) == serial
    else:
        assert text == result.isoformat(timespec="milliseconds" if result.microsecond else "seconds")


# Formulas that are none --------------------------------------------------------------------------------------------

GUARDED = [
    "=1+1", "+44 20 7946 0000", "+5", "-2+3", "-A1", "- see note", "@SUM(A1)", "\t=1", "\tx", "\rx", "\nx", " =1",
    "\u00a0=1", "\u3000\u200b=1", "\ufeff=1", "\u202e=1", "\u2066-x", "\u205f=1", "\U0000ff1d1", "\uff0b1", "\uff0dx",
    "\uff20A", "\ufe661", "\ufe62x", "\ufe63x", "\ufe6bx", "\u22125.25", "\x00=1", "\x7f=1", "\u00ad=1", '"=1"',
    "-5e", "-5e+", "-.", "-1.2.3", "-5%%", "-5 5", "-5,000", "-5\t", "--5", "-5-", "=", "+", "@", "-inf", "-0x1F",
    "-1 2", "-\u0665",
]  # fmt: skip
LEFT = ["-5.25", "-.5", "-5.", "-1e-3", "-2.5E+10", "-4%", "-5 ", " -5", "-", "--", "- - -", "a=1", "a-b", "x@y.com"]
LEFT += ["'=1", "1+1", "(5)", "\u2013 5", "5-", "", " ", "\u00e9=1", "€=1"]


def test_what_a_spreadsheet_would_calculate_is_guarded_and_counted() -> None:
    answer, data = written(sheet_of([["x"], *([text, 1] for text in [*GUARDED, *LEFT])]), encoding="utf-8")
    result = [row[0] for row in csv.reader(io.StringIO(data.decode(), newline=""))][1:]
    wanted = ["'\t'=1" if text == "\t=1" else f"'{text}" for text in GUARDED]
    assert result[: len(GUARDED)] == wanted
    assert result[len(GUARDED) :] == LEFT
    assert answer.guarded == len(GUARDED)
    assert [guarded(text) for text in [*GUARDED, *LEFT]] == result


@every(
    "text, wanted",
    [
        ("a;=1", "a;'=1"),
        ("a\n=1", "a\n'=1"),
        ("a\r\n@x", "a\r\n'@x"),
        ("a\t +1", "a\t' +1"),
        ("a|-5", "a|'-5"),
        ("a;;=1", "a;;'=1"),
        ('a;"=1"', 'a;\'"=1"'),
        ("a; \t\n =1", "a; \t\n' =1"),
        ("a,=1", "a,=1"),
        ("a;b=1", "a;b=1"),
        ("=a;=b", "'=a;'=b"),
        ("a;\uff1d1", "a;'\uff1d1"),
    ],
)
def test_a_cell_that_begins_elsewhere_is_guarded(text: str, wanted: str) -> None:
    assert next(csv.reader(io.StringIO(field(text), newline=""))) == [wanted]
    assert guarded(text) == wanted


def test_a_comma_within_a_text_counts_where_another_delimiter_parts() -> None:
    assert field("a,=1", delimiter=";").removesuffix(";1\r\n") == '"a,\'=1"'
    assert field("-", delimiter="\t").startswith("'-")


@every(
    "first, wanted", [("sep=x", "'sep=x"), ("SEP=:", "'SEP=:"), ("ID", '"ID"'), ("<html>", '"<html>"'), ("Id", "Id")]
)
def test_the_first_text_makes_no_other_file(first: str, wanted: str) -> None:
    assert lines_of([[first, 1], [first, 1]]) == f"{wanted},1\r\n{first},1\r\n"


PIECES = st.sampled_from([
    *"=+-@'\",;|\t\r\n ~5.e%aA(!&", "\uff1d", "\u00a0", "\u2212", "sep=", "A1", "cmd|' /C calc'!A0", "\u200b", "é",
    "WEBSERVICE(A1)",
])  # fmt: skip
UNSEEN = re.compile(r'["\s\x00-\x20\x7f-\xa0\xad\u180e\u200b-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff]*')
SIGNS = tuple("=+-@\uff1d\uff0b\uff0d\uff20\u2212")
HARMLESS = re.compile(r"-(\d+\.?\d*|\.\d+)([eE][+-]?\d+|%)? *([\",;|~\t]|\Z)|[- ]+([,;|~]|\Z)", re.ASCII)


def is_calculated(cell: str) -> bool:
    """Whether a spreadsheet may take a cell's text for a formula.

    By its first sign, but for plain numbers and hyphens, after which a delimiter that is none to this program makes
    no formula.
    """
    seen = cell[UNSEEN.match(cell).end() :]  # type: ignore[union-attr]
    return seen.startswith(SIGNS) and not HARMLESS.match(seen)


@given(
    st.lists(st.lists(st.lists(PIECES, max_size=6).map("".join), min_size=1, max_size=3), min_size=1, max_size=4),
    st.sampled_from(DELIMITERS),
)
def test_no_text_is_calculated_whatever_is_taken_for_the_delimiter(rows: list[list[str]], delimiter: str) -> None:
    answer, data = written(sheet_of(rows), encoding="utf-8", delimiter=delimiter)
    width = max(map(len, rows))
    changed = 0
    for taken in {delimiter, *",;|\t"}:
        read = list(csv.reader(io.StringIO(data.decode(), newline=""), delimiter=taken))
        assert [cell for line in read for cell in line if is_calculated(cell)] == [], taken
        if taken == delimiter:
            assert [len(line) for line in read] == [width] * len(rows)
            for line, row in zip(read, rows, strict=True):
                for cell, text in zip(line, row, strict=False):
                    changed += cell != text
                    # Nothing but apostrophes is put in.
                    assert cell == text or cell.replace("'", "") == text.replace("'", "")
    assert changed == answer.guarded


# Characters --------------------------------------------------------------------------------------------------------


def test_encodings() -> None:
    sheet = sheet_of([["Zürich", "5 €"], ["Łódź", "плюс?"]])
    for name in ENCODINGS:
        answer, data = written(sheet, encoding=name)
        text = data.decode(name)
        expected = "Zürich,5 €\r\nŁódź,плюс?\r\n"
        if name.startswith("utf"):
            assert (text.lstrip("\ufeff"), answer.replaced) == (expected, 0), name
            assert data.startswith((b"\xef\xbb\xbf", b"\xff\xfe")) == (name in ("utf-8-sig", "utf-16")), name
        else:
            lacking = [c for c in expected if c.encode(name, "ignore") == b""]
            assert (text, answer.replaced) == (expected.encode(name, "replace").decode(name), len(lacking)), name
            assert answer.replaced > 0, name


@every("given_name", ["UTF-8", "utf_8_sig", "latin1", "ISO-8859-1", "Windows-1252", "utf8"])
def test_an_encoding_has_several_names(given_name: str) -> None:
    written(sheet_of([["a"]]), encoding=given_name)


@every("delimiter", ["", ",,", '"', "'", "\r", "\n", "a", "5", "é", "=", "-", ".", "&", "^", " ", "\0", "\x7f"])
def test_a_delimiter_that_cannot_be(delimiter: str) -> None:
    with pytest.raises(ValueError, match="a delimiter is a tab or one of , ;"):
        Dialect(delimiter=delimiter)


@every("encoding", ["", "utf-7", "rot13", "idna", "x" * 10_000, "utf-8\0", "../latin-1"])
def test_an_encoding_that_cannot_be(encoding: str) -> None:
    with pytest.raises(ValueError, match="an encoding is one of utf-8-sig, utf-8, "):
        Dialect(encoding=encoding)


# Sizes -------------------------------------------------------------------------------------------------------------


def test_a_column_alone_keeps_its_blank_rows() -> None:
    assert lines_of([["a"], [None], ["b"]]) == 'a\r\n""\r\nb\r\n'


def test_cells_far_apart_and_long_texts_come_in_pieces() -> None:
    rows: list[list[Any]] = [[None] * 40 for _ in range(9_000)]
    rows[0][0] = rows[8_999][39] = "x" * 32_767
    for at in range(2_000):
        rows[at * 4][7] = "y" * 700 + str(at)
    read = list(csv.reader(io.StringIO(lines_of(rows), newline="")))
    assert read == [["" if cell is None else cell for cell in row] for row in rows]


def test_a_file_has_a_limit() -> None:
    sink = Sink(io.BytesIO().write, 10)
    sink.write(b"12345")
    with pytest.raises(ValueError, match="larger than 10 bytes"):
        sink.write(b"678901")
    far = sheet_of([[1.0]])
    wide = Sheet("Far", 0, "visible", (*far.columns, *[None] * 16_383), 1_048_576, far.text, far.formulas)
    with pytest.raises(ValueError, match="larger than 2,147,483,648 bytes"):
        written(wide)


def test_a_cell_that_its_sheet_does_not_have() -> None:
    sheet = sheet_of([["a", Moment(5.0, 9)]])
    with pytest.raises(IndexError):
        written(sheet)
    column = sheet.columns[0]
    assert column is not None
    broken = type(column)(0, column.kinds, column.numbers, np.array([7], np.int32), column.formats)
    with pytest.raises(IndexError):
        written(Sheet("S", 0, "visible", (broken,), 1, sheet.text, sheet.formulas))


# Several sheets ----------------------------------------------------------------------------------------------------


def test_an_archive_has_a_file_for_each_sheet() -> None:
    book = Workbook((sheet_of([["=1"]], "Loans"), sheet_of([["ü"]], "CON"), sheet_of([], "a/b")), False, FORMATS)
    streams = [io.BytesIO(), io.BytesIO()]
    answer, _ = (write_csv_zip(stream, book, dialect=Dialect(encoding="ascii")) for stream in streams)
    assert streams[0].getvalue() == streams[1].getvalue()
    with zipfile.ZipFile(streams[0]) as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == {
            "Loans.csv": b"'=1\r\n", "_CON.csv": b"?\r\n", "a_b.csv": b"",
        }  # fmt: skip
    assert [(item.sheet, item.guarded, item.replaced) for item in answer] == [
        ("Loans", 1, 0),
        ("CON", 0, 1),
        ("a/b", 0, 0),
    ]


def test_names_of_files() -> None:
    given_names = {
        "Loans": "Loans", "loans": "loans (2)", "a/b": "a_b", "a\\b": "a_b (2)", "..": "_", ".x": "_x", "-rf": "_rf",
        "~": "_ (2)", "CON": "_CON", "com1.x": "_com1.x", "lpt\u00b2": "_lpt\u00b2", "console": "console",
        "a\u202egpj": "a_gpj",
        "a\nb": "a_b (3)", "x. .": "x", "": "_ (3)", " ": "_ (4)", "\ufb01": "\ufb01", "fi": "fi (2)", "C:x": "C_x",
        "é" * 99: "é" * 60, "q" * 300: "q" * 120, "=cmd": "_cmd", "nul ": "_nul",
    }  # fmt: skip
    assert file_names(given_names) == list(given_names.values())


@given(st.lists(st.text(max_size=40), max_size=6))
def test_any_names_are_apart_and_plain(names: list[str]) -> None:
    result = file_names(names)
    assert len({unicodedata.normalize("NFKC", name).casefold() for name in result}) == len(names)
    for name in result:
        assert name.isprintable()
        assert not set(name) & set('/\\:*?"<>|')
        assert name not in ("", ".", "..")
        assert name[-1] not in ". "
        assert len(name.encode()) < 150
