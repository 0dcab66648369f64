"""Characters to words and lines: what a page shows is what is read."""

from __future__ import annotations

import pytest

from core.files.pdf.characters import read_pages
from core.files.pdf.words import PageLines, lines_of
from tests.raw_pdf import deflated, document, more_from


def lines_drawn(content: bytes, *, box: bytes = b"[0 0 612 792]", page: bytes = b"") -> PageLines:
    (read,) = read_pages(document([b"BT /F1 10 Tf " + content + b" ET"], box=box, page=page))
    return lines_of(read)


def texts_drawn(content: bytes, *, box: bytes = b"[0 0 612 792]", page: bytes = b"") -> list[str]:
    return [line.text for line in lines_drawn(content, box=box, page=page).lines]


def at(left: float, baseline: float, text: bytes, *, size: float = 10) -> bytes:
    return b"/F1 %g Tf 1 0 0 1 %g %g Tm (%b) Tj " % (size, left, baseline, text)


def test_lines_run_from_the_top_and_words_from_the_left() -> None:
    page = lines_drawn(at(300, 600, b"Par") + at(40, 600, b"Alder Media") + at(40, 700, b"Loans"))
    assert [(line.number, line.text) for line in page.lines] == [(1, "Loans"), (2, "Alder Media Par")]
    first, second, third = page.lines[1].words
    assert (first.text, second.text, third.text) == ("Alder", "Media", "Par")
    assert (first.left, third.left) == pytest.approx((40, 300), abs=0.01)
    assert page.lines[1].baseline == pytest.approx(600)
    assert page.lines[1].size == pytest.approx(10, rel=0.15)
    assert page.lines[1].space == pytest.approx(2.78, abs=0.01)


def test_words_that_no_space_parts_are_parted_by_their_gap() -> None:
    """A gap of 0.15 of the size, or 0.08 where the page prints them apart; letters of a word stand closer."""
    assert texts_drawn(b"1 0 0 1 40 700 Tm [(Alder) -300 (Media)] TJ") == ["Alder Media"]
    assert texts_drawn(b"1 0 0 1 40 700 Tm [(Al) -50 (der)] TJ") == ["Alder"]
    width = 10 * (0.667 + 0.222 + 0.556 + 0.556 + 0.333)
    assert texts_drawn(at(40, 700, b"Alder") + at(40 + width + 1, 700, b"Media")) == ["Alder Media"]
    assert texts_drawn(at(40, 700, b"Alder") + at(40 + width + 0.3, 700, b"Media")) == ["AlderMedia"]


def test_baselines_of_a_line_may_differ_a_little() -> None:
    assert texts_drawn(at(40, 700, b"Alder") + at(100, 698, b"Par")) == ["Alder Par"]
    assert texts_drawn(at(40, 700, b"Alder") + at(100, 694, b"Par")) == ["Alder", "Par"]


def test_a_footnote_mark_is_dropped() -> None:
    assert texts_drawn(at(40, 700, b"Alder") + at(64, 704, b"2", size=6) + at(100, 700, b"5.00")) == ["Alder 5.00"]
    high = at(64, 706, b"2", size=6)
    assert texts_drawn(at(40, 700, b"Alder") + high + at(100, 700, b"5.00")) == ["Alder 5.00"]


def test_several_footnote_marks_are_dropped() -> None:
    marks = at(64, 704, b"(1)(2)(3)", size=6)
    assert texts_drawn(at(40, 700, b"Alder") + marks + at(120, 700, b"5.00")) == ["Alder 5.00"]


def test_a_small_figure_that_stands_higher_is_no_mark() -> None:
    """It stands apart from its word, or has decimals."""
    far = at(100, 702, b"7", size=6)
    assert texts_drawn(at(40, 700, b"Alder") + far + at(120, 700, b"Media")) == ["Alder 7 Media"]
    near = at(64, 702, b"7.25", size=6)
    assert texts_drawn(at(40, 700, b"Alder") + near + at(120, 700, b"Media")) == ["Alder 7.25 Media"]


def test_bullets_are_no_words() -> None:
    assert texts_drawn(at(40, 700, b"\\225 Alder \\225 Media")) == ["Alder Media"]


def test_the_ending_of_an_ordinal_stays() -> None:
    assert texts_drawn(at(40, 700, b"1") + at(45.6, 704, b"st", size=6) + at(60, 700, b"Lien")) == ["1st Lien"]


def test_a_bold_letter_that_is_printed_twice_is_one_letter() -> None:
    twice = at(40, 700, b"Total 110") + at(40.3, 700, b"Total 110")
    assert texts_drawn(twice) == ["Total 110"]


def test_letters_that_stand_apart_are_words() -> None:
    assert texts_drawn(b"4 Tc 1 0 0 1 40 700 Tm (Total) Tj") == ["Total"]
    assert texts_drawn(b"4 Tc 1 0 0 1 40 700 Tm [(Total) -900 (Cash)] TJ") == ["Total Cash"]


@pytest.mark.parametrize(("code", "text"), [(b"\\255", "-"), (b"\\226", "–"), (b"\\240", "")])
def test_signs_are_those_of_plain_text(code: bytes, text: str) -> None:
    """Soft hyphens are hyphens, and a space that does not break is a space."""
    assert texts_drawn(at(40, 700, b"A" + code + b"B")) == [f"A{text or ' '}B"]


@pytest.mark.parametrize("matrix", [b"1 0 0 1 100 200", b"0 1 -1 0 400 100", b"-1 0 0 -1 500 600", b"0 -1 1 0 100 600"])
def test_the_direction_of_most_text_is_upright(matrix: bytes) -> None:
    content = b"%b Tm (Borrower) Tj 0 -20 Td (Alder 5.00) Tj" % matrix
    assert texts_drawn(content) == ["Borrower", "Alder 5.00"]
    assert texts_drawn(content, page=b"/Rotate 90") == ["Borrower", "Alder 5.00"]


def test_what_runs_up_or_down_is_no_line() -> None:
    turned = b"0 1 -1 0 300 400 Tm (up) Tj 0 -1 1 0 350 400 Tm (down) Tj "
    page = lines_drawn(at(40, 700, b"Borrower") + turned)
    assert [line.text for line in page.lines] == ["Borrower"]
    assert [line.text for line in page.upward] == ["up"]
    assert [line.text for line in page.downward] == ["down"]


def test_what_slants_is_a_watermark() -> None:
    assert texts_drawn(at(40, 700, b"Borrower") + b"0.7 0.7 -0.7 0.7 100 300 Tm (DRAFT) Tj") == ["Borrower"]


def test_large_letters_behind_lines_are_a_watermark() -> None:
    rows = b"".join(at(60, 700 - 12 * row, b"Alder Media 1,000.00") for row in range(10))
    assert texts_drawn(at(40, 620, b"DRAFT", size=90) + rows) == ["Alder Media 1,000.00"] * 10
    assert texts_drawn(at(40, 300, b"DRAFT", size=90) + rows)[-1] == "DRAFT"


def test_what_lies_outside_the_page_is_not_shown() -> None:
    text = at(40, 700, b"shown") + at(700, 700, b"beside") + at(40, 900, b"above")
    assert texts_drawn(text) == ["shown"]
    assert texts_drawn(at(40, 700, b"shown") + at(40, 100, b"cut"), page=b"/CropBox[0 200 612 792]") == ["shown"]


def test_places_count_from_the_corner_of_the_page() -> None:
    (word,) = lines_drawn(at(140, 900, b"Par"), box=b"[100 200 712 992]").lines[0].words
    assert word.left == pytest.approx(40, abs=0.01)


def test_a_page_without_text_has_no_line() -> None:
    page = lines_drawn(b"")
    assert (page.lines, page.upward, page.downward, page.has_pictures) == ([], [], [], False)


def test_ligatures_are_letters() -> None:
    """The font says that its letter x is U+FB01."""
    own = b"1 begincodespacerange <00><ff> endcodespacerange 1 beginbfchar <78> <fb01> endbfchar "
    own += b"1 beginbfrange <41><77><0041> endbfrange"
    font = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/ToUnicode %d 0 R>>" % more_from()
    (read,) = read_pages(document([b"BT " + at(40, 700, b"Ofxce") + b"ET"], font=font, more=[deflated(own)]))
    assert [line.text for line in lines_of(read).lines] == ["Office"]
