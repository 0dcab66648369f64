"""The names of fields and files as clients write them (RFC 2231, 2047, 6266, 7578)."""

from __future__ import annotations

import pytest
from python_multipart.multipart import parse_options_header

from service.platform.http.disposition import plain_disposition
from tests.rows import every


def names(header: str | bytes) -> tuple[str | None, str | None]:
    """The field's name and the file's, as the form's parser reads them."""
    raw = header.encode() if isinstance(header, str) else header
    _, options = parse_options_header(plain_disposition(raw))
    field, file = (options.get(name) for name in (b"name", b"filename"))
    return field.decode() if field is not None else None, file.decode() if file is not None else None


@every(
    "header, file",
    [
        ('form-data; name="file"; filename="b.xlsx"', "b.xlsx"),
        ('form-data; name="file"; filename="März 📈.xlsx"', "März 📈.xlsx"),
        ("form-data; name=\"file\"; filename*=utf-8''M%C3%A4rz.xlsx", "März.xlsx"),
        ("form-data; name=\"file\"; filename*=UTF-8'de'M%C3%A4rz%201.xlsx", "März 1.xlsx"),
        ("form-data; name=\"file\"; filename*=iso-8859-1''M%E4rz.xlsx", "März.xlsx"),
        ('form-data; name="file"; filename="Marz.xlsx"; filename*=utf-8\'\'M%C3%A4rz.xlsx', "März.xlsx"),
        ('form-data; name="file"; filename*=utf-8\'\'M%C3%A4rz.xlsx; filename="Marz.xlsx"', "März.xlsx"),
        (
            'form-data; name="file"; filename="=?UTF-8?B?TcOkcnoueGxzeA==?="; filename*=utf-8\'\'M%C3%A4rz.xlsx',
            "März.xlsx",
        ),
        ('form-data; name="file"; filename="=?UTF-8?B?TcOkcnoueGxzeA==?="', "März.xlsx"),
        ('form-data; name="file"; filename="=?iso-8859-1?q?M=E4rz_1=2Exlsx?="', "März 1.xlsx"),
        ('form-data; name="file"; filename="=?UTF-8?B?TcOk?= =?UTF-8?B?cnoueGxzeA==?="', "März.xlsx"),
        ('form-data; name="file"; filename="=?no-such-set?B?TcOk?=.xlsx"', "=?no-such-set?B?TcOk?=.xlsx"),
        ('form-data; name="file"; filename*0*=utf-8\'\'M%C3%A4; filename*1="rz.xlsx"', "März.xlsx"),
        ('form-data; name="file"; filename="deals/March.xlsx"', "March.xlsx"),
        ('form-data; name="file"; filename="D:\\dh\\res\\March.xlsx"', "March.xlsx"),
        ('form-data; name="file"; filename="\\\\server\\share\\March.xlsx"', "March.xlsx"),
        ('form-data; name="file"; filename="a\\b/March.xlsx"', "March.xlsx"),
        ("form-data; name=\"file\"; filename*=utf-8''deals%2FMarch.xlsx", "March.xlsx"),
        ('form-data; name="file"; filename="=?UTF-8?B?ZGVhbHMvTWFyY2gueGxzeA==?="', "March.xlsx"),
        ('form-data; name="file"; filename="../../etc/March.xlsx"', "March.xlsx"),
        ('form-data; name="file"; filename="deals/Q\\"1\\".xlsx"', 'Q"1".xlsx'),
        ('form-data; name="file"; filename="deals/a;b=c.xlsx"', "a;b=c.xlsx"),
        ('form-data; name="file"; filename="deals/"', ""),
        ('form-data; NAME="file"; FileName="deals/March.xlsx"', "March.xlsx"),
    ],
    ids=lambda row: row[0][24:],
)
def test_the_last_part_of_the_decoded_name_counts(header: str, file: str) -> None:
    assert names(header) == ("file", file)


def test_a_name_in_another_encoding_stays_readable() -> None:
    assert names('form-data; name="file"; filename="deals/März.xlsx"'.encode("latin-1")) == ("file", "März.xlsx")


def test_a_field_has_no_file_name() -> None:
    assert names("form-data; name*=utf-8''n%C3%A4me") == ("näme", None)
    assert names('form-data; name="a/b"') == ("a/b", None)


@pytest.mark.parametrize(
    "header",
    [
        "form-data; name=\"file\"; filename*=utf-8''a; filename*0=b",
        "form-data; name=\"file\"; filename*=no-such-set''%E4.xlsx",
        'form-data; name="file"; filename*=',
        'form-data; name="file"; filename*' + "9" * 4000 + "=x",
        "*;" * 2000,
        "/",
    ],
)
def test_what_cannot_be_understood_raises_nothing(header: str) -> None:
    names(header)
