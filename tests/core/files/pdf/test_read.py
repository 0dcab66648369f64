"""Whole documents: what is read, what is refused, and what is remarked."""

from __future__ import annotations

from io import BytesIO

import pytest
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from core.files.errors import ParseFailed
from core.files.pdf import characters, read_pdf, words
from core.grid.sheet import ReadingRemark
from tests.hostile_pdfs import locked, picture
from tests.raw_pdf import TABLE, TABLE_CELLS, deflated, document, more_from
from tests.typed_pages import LEFT, TOP, cells_of, tables_of, type_lines, typed

LOANS = """
    Borrower             Par    Price
    Alder Holdings  1,000.00    99.50
    Birch Media       250.00    98.25
"""
LOAN_CELLS = [["Borrower", "Par", "Price"], ["Alder Holdings", 1_000.0, 99.5], ["Birch Media", 250.0, 98.25]]
PICTURE = ImageReader(BytesIO(b"P5 2 2 255 \x00\x80\x80\x00"))


def refusal_of(data: bytes) -> str:
    with pytest.raises(ParseFailed) as raised:
        read_pdf(data)
    return str(raised.value)


def test_a_table_is_a_sheet() -> None:
    assert tables_of(document()) == [TABLE_CELLS]
    assert tables_of(typed(LOANS)) == [LOAN_CELLS]
    assert read_pdf(typed(LOANS)).remarks == ()


@pytest.mark.parametrize(
    ("module", "limit", "value", "message"),
    [
        (characters, "PAGES_MAX", 2, "The PDF has 3 pages; the limit is 2."),
        (characters, "PAGE_CHARACTERS_MAX", 60, "Page 1 of the PDF has {} characters; the limit is 60."),
        (characters, "CHARACTERS_MAX", 200, "The PDF has more characters than the limit of 200; page 3 passes it."),
        (words, "PAGE_LINES_MAX", 2, "Page 1 of the PDF has 3 lines; the limit is 2."),
    ],
    ids=["pages", "characters of a page", "characters", "lines of a page"],
)
def test_a_limit_is_named(
    monkeypatch: pytest.MonkeyPatch, module: object, limit: str, value: int, message: str
) -> None:
    """Three pages of three lines with 63 letters and the spaces between them."""
    data = typed(*[LOANS] * 3)
    monkeypatch.setattr(module, limit, value)
    text = refusal_of(data)
    start, _, end = message.partition("{}")
    assert text.startswith(start)
    assert text.endswith(end)


def test_a_limit_is_the_last_that_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(characters, "PAGES_MAX", 3)
    monkeypatch.setattr(words, "PAGE_LINES_MAX", 3)
    assert tables_of(typed(*[LOANS] * 3))


def test_a_password_is_named() -> None:
    assert refusal_of(locked()) == "The PDF is protected by a password; remove it and send the file again."


@pytest.mark.parametrize("data", [b"", b"%PDF-1.7\n", document()[:300], b"PK\x03\x04"])
def test_a_damaged_file_is_refused(data: bytes) -> None:
    assert refusal_of(data) == ("The PDF is damaged: its pages cannot be found. Print it to a new PDF and send that.")


def test_a_scan_is_refused() -> None:
    text = refusal_of(picture(2, 2, b"\x00\x80\x80\x00"))
    assert text.startswith("The PDF has no text: its pages are pictures (a scan). Ask for the report as a spreadsheet")
    assert refusal_of(document([b""])).startswith("The PDF has no text: its pages are empty. ")


def test_text_that_is_not_seen_is_no_text() -> None:
    """A scan with the text that a program recognised, drawn invisibly, is still a scan."""
    recognised = b"BT 3 Tr " + TABLE.removeprefix(b"BT ")
    text = refusal_of(picture(2, 2, b"\x00\x80\x80\x00", text=recognised))
    assert text.startswith("The PDF has no text: its pages are pictures (a scan).")
    assert text.endswith("is not read, since its figures may be wrong.")
    assert tables_of(document([TABLE + b" BT 3 Tr /F1 10 Tf 1 0 0 1 440 680 Tm (77.00) Tj ET"])) == [TABLE_CELLS]


def test_a_page_that_is_a_scan_is_remarked() -> None:
    buffer = BytesIO()
    canvas = Canvas(buffer, pagesize=(1_000, 800))
    type_lines(canvas, LOANS)
    canvas.showPage()
    canvas.drawImage(PICTURE, 0, 0, 1_000, 800)
    canvas.showPage()
    canvas.save()
    book = read_pdf(buffer.getvalue())
    assert [cells_of(sheet) for sheet in book.sheets] == [LOAN_CELLS]
    message = "page 2 is a picture without text (a scan) and was not read"
    assert book.remarks == (ReadingRemark("page_not_read", message),)


@pytest.mark.parametrize(
    ("stamp", "scanned"),
    [(["Received by the court"], True), (["Received", "Page 7"], True), (["Received", "by the", "court"], False)],
)
def test_a_scan_may_have_a_stamp(stamp: list[str], scanned: bool) -> None:
    """Two lines at most, none of them in columns."""
    buffer = BytesIO()
    canvas = Canvas(buffer, pagesize=(1_000, 800))
    type_lines(canvas, LOANS)
    canvas.showPage()
    canvas.drawImage(PICTURE, 0, 0, 1_000, 800)
    type_lines(canvas, "\n".join(stamp))
    canvas.showPage()
    canvas.save()
    book = read_pdf(buffer.getvalue())
    assert [remark.code for remark in book.remarks] == ["page_not_read"] * scanned


def test_a_scan_with_a_stamp_alone_is_refused() -> None:
    stamp = b"BT /F1 10 Tf 1 0 0 1 40 700 Tm (Received by the court) Tj ET"
    text = refusal_of(picture(2, 2, b"\x00\x80\x80\x00", text=stamp))
    assert text.startswith("The PDF has no text: its pages are pictures (a scan).")


def test_a_picture_beside_text_is_no_scan() -> None:
    buffer = BytesIO()
    canvas = Canvas(buffer, pagesize=(1_000, 800))
    canvas.drawImage(PICTURE, LEFT, TOP + 20, 20, 20)
    type_lines(canvas, LOANS)
    canvas.save()
    assert read_pdf(buffer.getvalue()).remarks == ()


def test_numbers_of_pages_alone_are_no_report() -> None:
    message = "The PDF has text, but nothing beside the numbers of its pages."
    assert refusal_of(typed("Page 1 of 2", "Page 2 of 2")) == message


def letters(count: int) -> bytes:
    """A table, and this many of the letters a to e, which stand for codes without a meaning."""
    text = b"BT /F1 10 Tf 1 0 0 1 40 500 Tm (" + (b"abcde" * count)[:count] + b") Tj ET"
    upper = TABLE.replace(b"orrower", b"ORROWER").replace(b"lder Holdings", b"LDER HOLDINGS")
    upper = upper.replace(b"irch Media", b"IRCH MEDIA").replace(b"edar Foods", b"EDAR FOODS")
    upper = upper.replace(b"(Par)", b"(PAR)").replace(b"(Price)", b"(PRICE)")
    lines = b"".join(b"<%02x> <%04x> " % (ord("a") + at, 0xE000 + at) for at in range(5))
    own = b"1 begincodespacerange <00><ff> endcodespacerange 5 beginbfchar " + lines + b"endbfchar "
    own += b"1 beginbfrange <20><5f><0020> endbfrange"
    font = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/ToUnicode %d 0 R>>" % more_from()
    return document([upper + b" " + text], font=font, more=[deflated(own)])


def test_a_few_characters_without_a_meaning_are_left_out() -> None:
    book = read_pdf(letters(8))
    assert cells_of(book.sheets[0])[1][:3] == ["ALDER HOLDINGS", 1_000_000.0, 99.5]
    (remark,) = book.remarks
    assert remark.code == "page_not_read"
    assert remark.message.startswith("8 characters in the font 'Helvetica' on page")
    assert remark.message.endswith(" 1 were left out: the font does not say what its characters mean")


def test_two_signs_without_a_meaning_are_bullets() -> None:
    assert read_pdf(letters(2)).remarks == ()


def test_a_font_without_meaning_is_named() -> None:
    """More than twenty characters, and more than a twentieth of the page."""
    assert refusal_of(letters(21)) == (
        "The text of page 1 is in the font 'Helvetica', which does not say what its characters mean, so it cannot be "
        "read. Ask for the report as a spreadsheet or as a PDF with plain fonts."
    )
    assert read_pdf(letters(20)).sheets
