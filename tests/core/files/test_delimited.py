"""Delimited text as the market writes it.

Encoding, delimiter and decimal sign are found, identifiers stay whole.
"""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.files.delimited import FORMATS, read_delimited
from core.files.errors import FileRefused, InvalidFormat, NoTable, ParseFailed
from core.grid.sheet import Value
from core.values import Kind
from tests.rows import every


def cells(data: bytes) -> list[list[Value]]:
    sheet = read_delimited(data, "loans")
    return [[sheet.value(row, column) for column in range(sheet.column_count)] for row in range(sheet.row_count)]


@every("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp1252"])
def test_encodings_are_found(encoding: str) -> None:
    assert cells("Émetteur;Café\n1;2\n".encode(encoding)) == [["Émetteur", "Café"], [1.0, 2.0]]


@every("delimiter", [",", ";", "\t", "|"])
@every("end", ["\n", "\r\n", "\r"])
def test_delimiters_and_line_ends_are_found(delimiter: str, end: str) -> None:
    """Titles above the header, and commas in names and figures, mislead nobody."""
    lines = [["Sample CLO, monthly"], ["Name", "Par", "Price"], ['"Acme, Inc."', "1000", "98.5"], ["B", "2000", "99"]]
    text = end.join(delimiter.join(line) for line in lines).replace("Sample CLO, monthly", '"Sample CLO, monthly"')
    result = cells(text.encode())
    assert result[0][0] == "Sample CLO, monthly"
    assert result[1:] == [["Name", "Par", "Price"], ["Acme, Inc.", 1000.0, 98.5], ["B", 2000.0, 99.0]]


def test_excels_own_hint_names_the_delimiter() -> None:
    assert cells(b"sep=|\r\na|b\r\n1|2\r\n") == [["a", "b"], [1.0, 2.0]]


def test_a_hint_that_names_no_delimiter_is_text() -> None:
    assert cells("sep=é;x\na;b\n1;2\n".encode())[0] == ["sep=é", "x"]
    assert cells("sep=é\na;b\n1;2\n".encode("cp1252"))[0] == ["sep=é", None]


@every("text, shown", [("5 %", "0%"), ("61,9 %", "0.0%"), ("135,24%", "0.00%"), ("0,12345%", "0.0000%"),
                       ("61,9", "General")])  # fmt: skip
def test_percentages_keep_the_digits_that_are_shown(text: str, shown: str) -> None:
    """In a file with a decimal comma, where they are read as numbers."""
    sheet = read_delimited(f"Test;Value\nA;{text}\nB;1,25\n".encode(), "tests")
    column = sheet.columns[1]
    assert column is not None
    assert FORMATS[int(column.span(1, 2).formats[0])] == shown


# text, value with a decimal point, value in a file whose decimal sign is a comma
FIGURES: list[tuple[str, Value, Value]] = [
    ("1234", 1234.0, 1234.0),
    ("-5", -5.0, -5.0),
    ("0", 0.0, 0.0),
    ("1234.5", 1234.5, None),
    ("0.0575", 0.0575, None),
    (".5", 0.5, None),
    ("1234,5", "1234,5", 1234.5),
    ("1,234,567.89", 1234567.89, None),
    ("1.234.567,89", "1.234.567,89", 1234567.89),
    ("1,234", "1,234", 1.234),
    ("1.234", 1.234, 1234.0),
    ("12.345.678", "12.345.678", 12345678.0),
    ("5.72%", "5.72%", None),
    ("5,725%", "5,725%", 0.05725),
    ("-1,5 %", "-1,5 %", -0.015),
    ("(1.000)", "(1.000)", -1000.0),
    ("(5)", "(5)", "(5)"),
    ("037833100", "037833100", "037833100"),
    ("12345E108", "12345E108", "12345E108"),
    ("1.23E+08", "1.23E+08", "1.23E+08"),
    ("123456789012345", 123456789012345.0, 123456789012345.0),
    ("1234567890123456", "1234567890123456", "1234567890123456"),
    ("31.12.2024", "31.12.2024", "31.12.2024"),
    ("2024-12-31", "2024-12-31", "2024-12-31"),
    ("1,2,3", "1,2,3", "1,2,3"),
    ("5.", "5.", "5."),
    ("00", "00", "00"),
    ("+5", "+5", "+5"),
    ("--5", "--5", "--5"),
    ("(-5)", "(-5)", "(-5)"),
    ("L+350", "L+350", "L+350"),
    ("-", "-", "-"),
    ('="00123"', "00123", "00123"),
    ('=""', "", ""),
    ("#N/A", "#N/A", "#N/A"),
    ("#1 Loan", "#1 Loan", "#1 Loan"),
]


@every("text, point, comma", FIGURES)
def test_figures_become_numbers_and_identifiers_stay_text(text: str, point: Value, comma: Value) -> None:
    """A figure that only a point explains (None here) makes the whole file one with points."""
    quoted = '"' + text.replace('"', '""') + '"'
    assert cells(f"a|b\n{quoted}|9.25\n".encode())[1][0] == point
    if comma is not None:
        assert cells(f"a|b\n{quoted}|9,25\n".encode())[1][0] == comma


def test_an_error_is_one_and_blanks_are_none() -> None:
    sheet = read_delimited(b"a,b,c\n#DIV/0!, ,\n", "x")
    assert (sheet.kind(1, 0), sheet.columns[1].stop, sheet.row_count) == (Kind.ERROR, 1, 2)


def test_quotes_hold_line_ends_quotes_and_delimiters() -> None:
    assert cells(b'a,b\n"x\ny ""z"", w",2\n"tail" more,3\nin "the" middle,4\n')[1:] == [
        ['x\ny "z", w', 2.0], ["tail more", 3.0], ['in "the" middle', 4.0]
    ]  # fmt: skip


BAD: list[tuple[bytes, type[FileRefused], str]] = [
    (b"one, line", InvalidFormat, "a single line"),
    (b"Dear all,\nno table.\n", InvalidFormat, "no delimiter"),
    (b"one\ncolumn\n", InvalidFormat, "no delimiter"),
    (b"\n\n", InvalidFormat, "no delimiter"),
    (b'a,b\nx,"y\n', ParseFailed, "quote in line 2 that is never closed"),
    (b'a,b\nx,"' + b"y" * 200_000 + b'"\n', ParseFailed, "longer than the limit of 131,068 bytes, from line 2"),
    (b"a,b\nx," + b"y" * 200_000 + b"\n", ParseFailed, "longer than the limit"),
    (b"a,b\n1,\x01\n", ParseFailed, "control characters in line 2"),
    (b"a,b\n" + b"1," * 20_000 + b"1\n2,3\n", ParseFailed, "past column 16,384"),
    (b"a,b\n" * 1_048_577, ParseFailed, "below row 1,048,576"),
    (b"\xff\xfea\n\x00\xd8", InvalidFormat, "no text in an encoding"),
    (b"a,b\n\x81\x8d,1\n", InvalidFormat, "no text in an encoding"),
]


@every("data, kind, hint", BAD, ids=lambda row: str(row[2]))
def test_what_is_no_table_is_refused_with_its_reason(data: bytes, kind: type[FileRefused], hint: str) -> None:
    with pytest.raises(kind, match=re.escape(hint)):
        read_delimited(data, "loans")


@given(
    st.lists(
        st.lists(st.text(st.characters(codec="utf-8", exclude_categories=("Cc",)), max_size=9), min_size=2, max_size=4)
    ),
    st.sampled_from(",;|\t"),
)
def test_any_text_comes_back_from_quotes(rows: list[list[str]], delimiter: str) -> None:
    """Whatever stands in quoted fields is the field, cell for cell.

    Numbers are the numbers that were written.
    """
    lines = [["x", "y"], ["v", "w"], *rows]
    text = "sep=" + delimiter + "\n" + "\n".join(
        delimiter.join('"' + field.replace('"', '""') + '"' for field in line) for line in lines
    )  # fmt: skip
    sheet = read_delimited(text.encode(), "x")
    for row, line in enumerate(lines):
        for column, field in enumerate(line):
            result = sheet.value(row, column)
            if isinstance(result, str):
                assert result == (field if not field.strip().startswith('="') else result)
            elif result is None:
                assert not field.strip(" \t\r\n")
            else:
                assert np.isclose(
                    float(result), float(re.sub(r"[.,](?=\d{3}(\D|$))", "", field) or "nan"), equal_nan=True
                ) or any(sign in field for sign in "%(,.")


@every("count", [9_000, 16_384])
def test_a_table_as_wide_as_a_sheet_is_read(count: int) -> None:
    """Its header alone is longer than what is looked at for the delimiter of other tables."""
    names = [f"Column {number}" for number in range(count)]
    for end, delimiter in (("\n", ","), ("\r\n", ";"), ("\r", "\t")):
        text = end.join(delimiter.join(cells) for cells in (names, ["1.5"] * count, ["2"] * count)) + end
        sheet = read_delimited(text.encode(), "wide")
        assert (sheet.row_count, sheet.column_count) == (3, count)
        assert (sheet.value(0, count - 1), sheet.value(1, count - 1)) == (names[-1], 1.5)


def test_a_column_past_the_limit_is_refused_by_its_name() -> None:
    names = [f"Column {number}" for number in range(16_385)]
    with pytest.raises(ParseFailed, match="column 16,384"):
        read_delimited("\n".join(",".join(cells) for cells in (names, ["1"] * 16_385)).encode(), "wide")


def test_a_long_text_without_lines_is_no_table() -> None:
    with pytest.raises(NoTable, match="single line"):
        read_delimited(b"word " * 200_000, "long")
    with pytest.raises(NoTable, match="no delimiter"):
        read_delimited(b"word\n" * 200_000, "long")
