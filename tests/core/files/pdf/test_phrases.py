"""What stands together on a line, and what a gap parts."""

from __future__ import annotations

import pytest

from core.files.pdf.phrases import (
    are_parted,
    gaps,
    is_amount,
    is_figure,
    is_value,
    mark_pieces,
    phrases,
    sure_gaps,
    tidy,
    without_leaders,
)
from core.files.pdf.words import TextLine, Word
from tests.rows import every
from tests.typed_pages import tables_of, typed


def line_of(*words: tuple[float, float, str], pieces: list[int] | None = None, has_pieces: bool = False) -> TextLine:
    """A line in a font of ten points, whose spaces are three wide; each word is a piece if nothing else is given."""
    numbers = pieces or list(range(len(words)))
    own = [Word(left, right, text, at, at) for (left, right, text), at in zip(words, numbers, strict=True)]
    return TextLine(1, 1, 700.0, 10.0, 3.0, own, has_pieces)


@every(
    "text, figure, value, amount",
    [
        ("1,234.50", True, True, True),
        ("(12.30)", True, True, True),
        ("8.90%", True, True, True),
        ("$5.00", True, True, True),
        ("-", True, True, False),
        ("7", True, True, False),
        ("2021", True, True, False),
        ("3021", True, True, True),
        ("(2021)", False, False, False),
        ("30-Sep-2024", False, True, True),
        ("9/30/2024", False, True, True),
        ("Alder", False, False, False),
        ("B2", False, False, False),
        ("1" * 40, True, True, True),
        ("1" * 41, False, False, False),
    ],
)
def test_what_a_word_is(text: str, figure: bool, value: bool, amount: bool) -> None:
    assert (is_figure(text), is_value(text), is_amount(text)) == (figure, value, amount)


@every(
    "text, rest",
    [
        ("Cash......", "Cash"),
        ("Inc.", "Inc."),
        ("Inc..", "Inc.."),
        ("..", ""),
        ("Fees····", "Fees"),
        ("Net…………", "Net"),
    ],
)
def test_points_that_lead_to_the_next_column(text: str, rest: str) -> None:
    assert without_leaders(text) == rest


def test_a_currency_sign_joins_the_figure_of_its_cell() -> None:
    line = line_of((10, 40, "Cash"), (100, 106, "$"), (150, 190, "1,234.50"), (240, 246, "$"), (280, 284, "—"))
    tidy(line)
    assert [(word.text, word.left, word.right) for word in line.words] == [
        ("Cash", 10, 40),
        ("$ 1,234.50", 100, 190),
        ("—", 240, 284),
    ]


def test_signs_behind_a_figure_join_it_unless_they_stand_far_away() -> None:
    line = line_of(
        (10, 25, "8.90"), (27, 34, "%"), (60, 75, "(12.5"), (76, 79, ")"), (110, 120, "45"), (123, 140, "bps")
    )
    tidy(line)
    assert [word.text for word in line.words] == ["8.90%", "(12.5)", "45bps"]
    far = line_of((10, 25, "8.90"), (51, 58, "%"))
    tidy(far)
    assert [word.text for word in far.words] == ["8.90", "%"]


def test_dotted_leaders_are_dropped() -> None:
    line = line_of((10, 60, "Cash......"), (65, 120, "..........."), (130, 160, "45.00"))
    tidy(line)
    assert [(word.text, word.right) for word in line.words] == [("Cash", 30), ("45.00", 160)]


def test_a_wide_gap_parts_phrases() -> None:
    """Seven tenths of the size, and more than 1.6 spaces."""
    line = line_of((10, 40, "Alder"), (47, 80, "Media"), (87.1, 110, "B2"))
    assert phrases(line) == [(0, 2), (2, 3)]
    assert list(gaps(line)) == [(80, 87.1)]
    line.space = 5.0
    assert phrases(line) == [(0, 3)]
    assert phrases(line_of()) == []


def test_a_label_is_parted_from_its_value() -> None:
    """By two tenths of the size behind a colon, where a figure or a date follows."""
    assert phrases(line_of((10, 30, "Date:"), (32, 60, "9/30/2024"))) == [(0, 1), (1, 2)]
    assert phrases(line_of((10, 30, "Fund:"), (32, 60, "Alder"))) == [(0, 2)]


def test_gaps_that_part_columns_for_certain() -> None:
    """More than 1.2 times the size, or three that are wide."""
    two = line_of((10, 40, "A"), (51, 60, "B"), (80, 90, "C"))
    assert list(sure_gaps(two)) == [(60, 80)]
    assert list(sure_gaps(line_of((10, 40, "A"), (51, 60, "B"), (71, 90, "C")))) == []
    assert len(list(sure_gaps(line_of((10, 40, "A"), (51, 60, "B"), (71, 80, "C"), (91, 99, "D"))))) == 3


@pytest.mark.parametrize(
    ("before", "word", "parted"),
    [
        ("1,000.00", "Alder", True),
        ("Alder", "1,000.00", True),
        ("Alder", "7", False),
        ("2028", "Notes", False),
        ("Sep", "1,000.00", False),
        ("1,000.00", "Sep", False),
        ("SOFR+", "3.50%", False),
    ],
)
def test_words_a_space_apart_that_can_only_be_two_cells(before: str, word: str, parted: bool) -> None:
    assert are_parted(Word(0, 9, before, 1, 1), Word(12, 20, word, 2, 2), has_pieces=False) is parted


def test_pieces_part_words_where_they_are_cells() -> None:
    first, second, third = Word(0, 9, "Alder", 1, 1), Word(12, 20, "Media", 1, 1), Word(22, 30, "B2", 2, 2)
    assert not are_parted(first, second, has_pieces=True)
    assert are_parted(second, third, has_pieces=True)
    line = TextLine(1, 1, 700.0, 10.0, 3.0, [first, second, third], has_pieces=True)
    assert phrases(line) == [(0, 2), (2, 3)]


CLOSE = ((10.0, 40.0, "Alder"), (43.0, 80.0, "Media"), (120.0, 140.0, "B2"))


@pytest.mark.parametrize(
    ("pieces", "expected"), [([1, 1, 2], True), ([1, 2, 3], False), ([1, 1, 1], False)], ids=["cells", "words", "lines"]
)
def test_what_a_program_prints_in_one_piece(pieces: list[int], expected: bool) -> None:
    lines = [line_of(*CLOSE, pieces=pieces) for _ in range(5)]
    mark_pieces(lines)
    assert [line.has_pieces for line in lines] == [expected] * 5


def test_cells_that_are_printed_in_several_pieces_are_none() -> None:
    lines = [line_of(*CLOSE, pieces=[1, 1, 2]) for _ in range(5)]
    for line in lines:
        line.words[2] = line.words[2]._replace(last=3)
    mark_pieces(lines)
    assert not any(line.has_pieces for line in lines)


def test_cells_of_one_piece_each_may_stand_a_space_apart() -> None:
    assert tables_of(
        typed(
            """
            Issuer Name|Loan Type
            Alder Media|B Term
            Birch|      C Bridge Loan
            Cedar Hotel|D
            """,
            pieces="marked",
        )
    ) == [[["Issuer Name", "Loan Type"], ["Alder Media", "B Term"], ["Birch", "C Bridge Loan"], ["Cedar Hotel", "D"]]]
