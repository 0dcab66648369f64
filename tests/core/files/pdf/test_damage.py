"""A part of a PDF that does not unpack whole is known, and costs no time that grows with its tricks."""

from __future__ import annotations

import zlib

import pikepdf
import pytest

from core.files.pdf import read_pdf
from core.files.pdf.damage import UNPACKED_BYTES_MAX, has_damaged_part
from tests.conftest import within
from tests.hostile_pdfs import FILES, encrypted
from tests.pdf_mutants import by_reportlab, by_typst, rewritten
from tests.raw_pdf import TABLE, deflated, document, repeated_deflated, stream

FLATE = b"/Filter/FlateDecode"
PLAIN = by_reportlab()
WHOLE = {
    "reportlab": PLAIN,
    "typst": by_typst(),
    "object streams": rewritten(PLAIN, object_stream_mode=pikepdf.ObjectStreamMode.generate),
    "linearised": rewritten(PLAIN, linearize=True),
    "no filter": document(),
    "a list of one filter": document([deflated(TABLE)]),
    "deflated twice": document([deflated(TABLE, times=2)]),
    "without a checksum": document([stream(zlib.compress(TABLE)[:-4], FLATE)]),
    "with a line behind it": document([stream(zlib.compress(TABLE) + b"\r\n", FLATE)]),
    "another filter": document([TABLE, stream(b"not deflated", b"/Filter/DCTDecode")]),
}


@pytest.mark.parametrize("name", list(WHOLE))
def test_a_whole_document_is_whole(name: str) -> None:
    assert not has_damaged_part(WHOLE[name])
    assert all(remark.code != "page_not_read" for remark in read_pdf(WHOLE[name]).remarks)


@pytest.mark.parametrize("name", ["reportlab", "typst", "object streams", "linearised", "a list of one filter"])
def test_a_hole_in_a_part_is_known(name: str) -> None:
    data = WHOLE[name]
    start = data.index(b"stream", data.index(b"FlateDecode")) + 20
    end = data.index(b"endstream", start)
    middle = (start + end) // 2
    holed = data[:middle] + b"?" * min(40, end - middle) + data[middle + min(40, end - middle) :]
    assert len(holed) == len(data)
    assert has_damaged_part(holed)


def test_a_page_that_lost_its_rows_is_remarked() -> None:
    start = PLAIN.index(b"stream\n") + 7
    book = read_pdf(PLAIN[: start + 200] + bytes(40) + PLAIN[start + 240 :])
    assert sum(sheet.row_count for sheet in book.sheets) < 51
    (remark,) = [each for each in book.remarks if each.code == "page_not_read"]
    assert "damaged" in remark.message


def test_a_part_that_is_cut_off_is_known() -> None:
    assert has_damaged_part(document([stream(zlib.compress(TABLE)[:-40], FLATE)]))


def test_an_encrypted_document_tells_nothing() -> None:
    assert not has_damaged_part(encrypted(b"/V 1/R 2").replace(b"BT /F1", b"\0\0\0\0\0\0"))


@pytest.mark.parametrize(
    "data",
    [
        document([stream(repeated_deflated(bytes(2**20), 4 * UNPACKED_BYTES_MAX // 2**20), FLATE)]),
        b"<<" + FLATE + b">>stream\n" * 2_000_000,
        (b"1 0 obj<<" + FLATE + b">>stream\n") * 500_000 + b"endstream",
        b"1 0 obj<<" + b" " * 5_000_000 + FLATE + b">>" + b" " * 5_000_000 + b"stream\nendstream",
        FILES["a page that is listed a million times"].build(),
    ],
    ids=["a bomb", "parts without an end", "parts within a part", "blanks", "a long list"],
)
def test_tricks_take_little_time(data: bytes) -> None:
    with within(5):
        has_damaged_part(data)
