"""The loop over a page's characters gives what PDFium says of each, asked one by one."""

from __future__ import annotations

import ctypes
from random import Random

import numpy as np
import pypdfium2.raw as pdfium
import pytest

from core.files.pdf._characters import read_characters
from core.files.pdf.characters import read_pages
from tests.pdf_mutants import by_reportlab, by_typst, random_pages
from tests.raw_pdf import document

FUNCTIONS = (
    pdfium.FPDFText_GetUnicode,
    pdfium.FPDFText_GetLooseCharBox,
    pdfium.FPDFText_GetCharOrigin,
    pdfium.FPDFText_GetCharAngle,
    pdfium.FPDFText_GetTextObject,
    pdfium.FPDFText_HasUnicodeMapError,
    pdfium.FPDFTextObj_GetTextRenderMode,
)
CALLS = [ctypes.cast(function, ctypes.c_void_p).value or 0 for function in FUNCTIONS]
DOCUMENTS = {
    "no page": document([b""]),
    "one character": document([b"BT /F1 9 Tf 40 700 Td (7) Tj ET"]),
    "a table": document(),
    "reportlab": by_reportlab(),
    "turned": by_reportlab(wide=True, turned=True),
    "typst": by_typst(),
    **{f"random {seed}": random_pages(Random(seed)) for seed in range(8)},
}


def characters_one_by_one(text_page: pdfium.FPDF_TEXTPAGE, count: int) -> tuple[list[list[float]], list[int]]:
    """The naive twin: a call for each figure of each character."""
    rows, objects = [], []
    box, x, y = pdfium.FS_RECTF(), ctypes.c_double(), ctypes.c_double()
    for at in range(count):
        box.left = box.bottom = box.right = box.top = x.value = y.value = 0
        pdfium.FPDFText_GetLooseCharBox(text_page, at, box)
        pdfium.FPDFText_GetCharOrigin(text_page, at, x, y)
        code, angle = pdfium.FPDFText_GetUnicode(text_page, at), pdfium.FPDFText_GetCharAngle(text_page, at)
        item = pdfium.FPDFText_GetTextObject(text_page, at)
        unknown = pdfium.FPDFText_HasUnicodeMapError(text_page, at)
        mode = pdfium.FPDFTextObj_GetTextRenderMode(item) if item else -1
        rows.append([code, box.left, box.bottom, box.right, box.top, x.value, y.value, angle, unknown, mode])
        objects.append(ctypes.cast(item, ctypes.c_void_p).value or 0)
    return rows, objects


@pytest.mark.parametrize("name", list(DOCUMENTS))
def test_the_kernel_reads_what_its_twin_reads(name: str) -> None:
    data = DOCUMENTS[name]
    pdfium.FPDF_InitLibrary()
    document = pdfium.FPDF_LoadMemDocument64(data, len(data), None)
    for index in range(pdfium.FPDF_GetPageCount(document)):
        page = pdfium.FPDF_LoadPage(document, index)
        text_page = pdfium.FPDFText_LoadPage(page)
        count = pdfium.FPDFText_CountChars(text_page)
        rows, objects = characters_one_by_one(text_page, count)
        table, own = read_characters(ctypes.cast(text_page, ctypes.c_void_p).value or 0, count, *CALLS)
        assert table.shape == (count, 10)
        assert np.array_equal(table, np.array(rows, np.float64).reshape(-1, 10), equal_nan=True)
        assert own.tolist() == objects
        pdfium.FPDFText_ClosePage(text_page)
        pdfium.FPDF_ClosePage(page)
    pdfium.FPDF_CloseDocument(document)


def test_the_text_of_a_table_is_read_in_its_order() -> None:
    (page,) = read_pages(DOCUMENTS["a table"])
    text = "".join(map(chr, page.codes.tolist()))
    assert text.split()[:4] == ["Borrower", "Par", "Price", "Alder"]
    borrower = text.index("Borrower")
    assert page.origins[borrower].tolist() == pytest.approx([40, 700])
    assert not page.angles.any()
