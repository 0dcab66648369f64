"""The characters of a page: what they are and where."""

from __future__ import annotations

from io import BytesIO

import numpy as np
import pytest
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from core.files.errors import ParseFailed
from core.files.pdf.characters import PageCharacters, read_pages
from tests.hostile_pdfs import encrypted, locked, picture
from tests.raw_pdf import deflated, document, more_from


def page_of(content: bytes, *, page: bytes = b"") -> PageCharacters:
    (read,) = read_pages(document([content], page=page))
    return read


def text_of(page: PageCharacters) -> str:
    return "".join(map(chr, page.codes.tolist())).strip()


def test_characters_in_the_order_of_the_content() -> None:
    page = page_of(b"BT /F1 10 Tf 1 0 0 1 40 700 Tm (AB) Tj ET")
    assert text_of(page) == "AB"
    assert page.origins.tolist() == [pytest.approx([40, 700]), pytest.approx([46.67, 700], abs=0.01)]
    left, bottom, right, top = page.boxes[0].tolist()
    assert (left, right) == pytest.approx((40, 46.67), abs=0.01)
    assert bottom < 700 < top
    assert page.crop == (0, 0, 612, 792)
    assert (page.number, page.has_pictures, page.unreadable) == (1, False, {})
    assert page.objects[0] == page.objects[1]


def test_each_operator_is_a_piece() -> None:
    page = page_of(b"BT /F1 10 Tf 1 0 0 1 40 700 Tm (A) Tj (B) Tj ET")
    assert page.objects[0] != page.objects[1]


@pytest.mark.parametrize(("matrix", "angle"), [(b"1 0 0 1", 0), (b"0 1 -1 0", 3), (b"-1 0 0 -1", 2), (b"0 -1 1 0", 1)])
def test_angles_run_clockwise(matrix: bytes, angle: int) -> None:
    page = page_of(b"BT /F1 10 Tf %b 300 300 Tm (AB) Tj ET" % matrix)
    quarters = np.round(page.angles / (np.pi / 2)).astype(int) % 4
    assert set(quarters.tolist()) == {angle}


def test_the_rotation_of_a_page_changes_no_place() -> None:
    content = b"BT /F1 10 Tf 1 0 0 1 40 700 Tm (AB) Tj ET"
    upright, turned = page_of(content), page_of(content, page=b"/Rotate 90")
    assert np.array_equal(upright.origins, turned.origins)
    assert np.array_equal(upright.angles, turned.angles)


@pytest.mark.parametrize("mode", [3, 7])
def test_invisible_characters_are_dropped(mode: int) -> None:
    page = page_of(b"BT /F1 10 Tf 1 0 0 1 40 700 Tm (A) Tj %d Tr 1 0 0 1 40 600 Tm (BC) Tj ET" % mode)
    assert text_of(page) == "A"


@pytest.mark.parametrize("mode", [0, 1, 2, 4])
def test_characters_that_are_seen_are_kept(mode: int) -> None:
    assert text_of(page_of(b"BT /F1 10 Tf %d Tr 1 0 0 1 40 600 Tm (BC) Tj ET" % mode)) == "BC"


def mapped(text: bytes, first: int, *, name: bytes = b"Helvetica") -> bytes:
    """A page of this text in a font whose codes from 32 on stand for others."""
    font = b"<</Type/Font/Subtype/Type1/BaseFont/%b/ToUnicode %d 0 R>>" % (name, more_from())
    own = b"1 begincodespacerange <00><ff> endcodespacerange 1 beginbfrange <20><7e><%04x> endbfrange" % first
    return document([b"BT /F1 10 Tf 1 0 0 1 40 700 Tm (" + text + b") Tj ET"], font=font, more=[deflated(own)])


def test_windows_symbol_encoding_is_plain_text() -> None:
    """Codes from U+F020 to U+F0FF stand for Latin letters, in a font that is none of pictures."""
    (page,) = read_pages(mapped(b"Par", 0xF020))
    assert text_of(page) == "Par"


@pytest.mark.parametrize("name", [b"Wingdings", b"ZapfDingbats", b"ABCDEF+WebDings"])
def test_a_font_of_pictures_says_nothing(name: bytes) -> None:
    """Boxes that are ticked, say; they are neither text nor remarked."""
    (page,) = read_pages(mapped(b"Par", 0xF020, name=name))
    assert text_of(page).strip("\0") == ""
    assert page.unreadable == {}


def test_pictures_are_known() -> None:
    (page,) = read_pages(picture(2, 2, b"\x00\x80\x80\x00"))
    assert page.has_pictures
    assert len(page.codes) == 0


@pytest.mark.parametrize("data", [locked(), encrypted(b"/V 9/R 9")], ids=["a password", "an unknown way"])
def test_a_protected_document_is_refused(data: bytes) -> None:
    with pytest.raises(ParseFailed, match="protected"):
        list(read_pages(data))


def test_a_document_without_pages_is_refused() -> None:
    with pytest.raises(ParseFailed, match="damaged: its pages cannot be found"):
        list(read_pages(document([])))


def test_characters_without_a_meaning_are_counted_by_font() -> None:
    (page,) = read_pages(mapped(b"Par", 0xE000))
    assert page.unreadable == {"Helvetica": 3}
    assert text_of(page).strip("\0") == ""
    (page,) = read_pages(mapped(b"Pa", 0xE000))
    assert page.unreadable == {}


@pytest.mark.parametrize(("side", "expected"), [(400, False), (500, True)])
def test_a_picture_counts_where_it_covers_much_of_the_page(side: int, expected: bool) -> None:
    """Three tenths: here of a million square points."""
    buffer = BytesIO()
    canvas = Canvas(buffer, pagesize=(1_000, 1_000))
    canvas.drawImage(ImageReader(BytesIO(b"P5 2 2 255 \x00\x80\x80\x00")), 0, 0, side, 650)
    canvas.save()
    (page,) = read_pages(buffer.getvalue())
    assert page.has_pictures is expected


@pytest.mark.parametrize(("count", "expected"), [(100, False), (101, True)])
def test_many_drawings_may_be_letters(count: int, expected: bool) -> None:
    page = page_of(b"".join(b"%d 10 m %d 20 l S " % (at, at + 3) for at in range(count)))
    assert page.has_pictures is expected
