"""The kind that a user's file name promises, and the kind that the content is."""

from __future__ import annotations

import pytest

from core.files.errors import InvalidFormat
from core.files.kinds import EXTENSIONS, check_file_name, file_kind, stem_of
from tests.rows import every


@pytest.mark.parametrize(
    "name",
    [
        "../a.xlsx",
        "a/b.xlsx",
        "a\\b.xlsx",
        "a\0.xlsx",
        "a\n.xlsx",
        "",
        "x" * 300 + ".xlsx",
        "a.csv",
        "a",
        "a.xlsx.exe",
        ".xlsx",
    ],
)
def test_names_that_are_refused(name: str) -> None:
    with pytest.raises(InvalidFormat):
        check_file_name(name)


@pytest.mark.parametrize("name", ["a.xlsx", "A b.XLSM", "ü.x.xls"])
def test_names_that_pass(name: str) -> None:
    check_file_name(name)


def test_names_of_other_files_pass_where_they_are_read() -> None:
    for name in ("a.CSV", "a.xlsb", "a.ods", "a.zip", "a.xlsx", "a.XML", "a.htm", "a.html"):
        check_file_name(name, EXTENSIONS)
    with pytest.raises(InvalidFormat, match=r"\.txt or \.zip\.$"):
        check_file_name("a.exe", EXTENSIONS)


@every(
    "content, kind",
    [
        (b"a,b\n1,2\n", "csv"),
        ("a;b\n1;2\n".encode("utf-16"), "csv"),
        ("a;b\n1;2\n".encode("utf-16-be"), "csv"),
        ("ä;b\n".encode("cp1252"), "csv"),
    ],
)
def test_text_is_told_by_its_content(content: bytes, kind: str) -> None:
    assert file_kind(content) == kind


@every(
    "name, stem",
    [("Deal.xlsx", "Deal"), ("Q1.2024.CSV", "Q1.2024"), ("Fund No. 3", "Fund No. 3"), (".xlsx", ".xlsx"), ("", "")],
)
def test_a_name_without_its_extension(name: str, stem: str) -> None:
    assert stem_of(name) == stem
