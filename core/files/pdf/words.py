"""Characters to words, words to lines, in a frame where text is upright."""

from __future__ import annotations

import itertools
import math
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.files.errors import ParseFailed
from core.files.pdf.characters import PageCharacters
from core.files.pdf.limits import PAGE_LINES_MAX

SIZE_OF_HEIGHT: Final = 0.86
"""A font's size by the height of its lines: 0.82 to 0.9 for the usual ones."""

WORD_GAP: Final = 0.15
"""Of the size: what parts two words. Spaces have 0.2 and more, letters of a word 0.05 at most."""
SPACE: Final = 0.3
"""Of the size: the width of a space, where a line has none."""
LARGE: Final = 4.0
"""Times a page's usual size: letters of a watermark,"""
PRINTED_OVER: Final = 5
"""if so many characters stand in one of them."""
TWICE: Final = 0.16
"""Of the size: how far apart a letter is printed twice, to look bold."""
SPACED_LETTERS: Final = 4
"""Letters in a row that stand apart, of a word that is spaced out,"""
SPACED_GAP: Final = 0.8
"""how far apart at most, of the size,"""
SPACED_WORDS: Final = 1.6
"""and how much wider the gaps between its words are."""
PIECE_GAP: Final = 0.08
"""Of the size: what parts two words of different pieces of the content."""
SAME_LINE: Final = 0.3
"""Of the size: how far baselines of a line differ, for fonts of several sizes side by side."""
SMALL: Final = 0.8
"""Of the line's size: what is smaller and raised is a footnote's mark."""
RAISED: Final = 0.12
MARK_GAP: Final = 0.6
"""Of the size: how far a mark stands behind its word,"""
MARK_CHARACTERS: Final = 12
"""and how many characters it has at most: "(1)(2)(3)"."""
MARK_REACH: Final = 0.75
"""Of the size: how high above a line its marks stand."""
_SLANT: Final = 0.05
"""Radians off the nearest right angle; what slants more is a watermark."""

_HYPHENS: Final = {0x02: 0x2D, 0xAD: 0x2D, 0x2010: 0x2D, 0x2011: 0x2D, 0x2212: 0x2D, 0xFFFE: 0x2D}
_LIGATURES: Final = ("ff", "fi", "fj", "fl", "ft")
"""The ends of letters that fonts have as one: their boxes end with their ink, before the next letter's place."""
_BULLETS: Final = "•●○■▪▫◦‣❖➢"
_ORDINALS: Final = ("st", "nd", "rd", "th")


class Word(NamedTuple):
    """A word and where it stands: from left to right, in points."""

    left: float
    right: float
    text: str
    first: int = 0
    """The piece of the page's content that its first character is printed by."""
    last: int = 0
    """Likewise its last."""


@dataclass(slots=True)
class TextLine:
    """Words on a baseline, from the left."""

    page: int
    """From 1."""
    number: int
    """Of the lines of its page, from 1 at the top."""
    baseline: float
    """Upwards, from the page's own origin."""
    size: float
    """Of its font, in points."""
    space: float
    """Width of its spaces, in points."""
    words: list[Word] = field(default_factory=list)
    has_pieces: bool = False
    """Its document prints cells in one piece, so that a new piece is a new cell."""

    @property
    def text(self) -> str:
        """The words with a space between them."""
        return " ".join(word.text for word in self.words)


@dataclass(frozen=True, slots=True)
class PageLines:
    """The lines of a page from the top."""

    number: int
    lines: list[TextLine]
    has_pictures: bool
    upward: list[TextLine] = field(default_factory=list)
    """Lines that run up the page, such as headings of narrow columns, as the page is held to read them."""
    downward: list[TextLine] = field(default_factory=list)
    """Likewise, down the page."""


def lines_of(page: PageCharacters) -> PageLines:
    """Return the lines of a page in the direction that most of its characters have.

    Raises:
        ParseFailed: more lines than the limit.
    """
    quarters = _quarters(page)
    if not (quarters >= 0).any():
        return PageLines(page.number, [], page.has_pictures)
    turn = int(np.bincount(quarters[quarters >= 0], minlength=4).argmax())
    along, across = _shift(page, turn)
    shifts = {0: (along, across), 3: (across, -along), 1: (-across, along)}
    lines, upward, downward = (_turned(page, quarters, (turn + aside) % 4, *shifts[aside]) for aside in (0, 3, 1))
    if len(lines) > PAGE_LINES_MAX:
        raise ParseFailed(f"Page {page.number} of the PDF has {len(lines):,} lines; the limit is {PAGE_LINES_MAX:,}.")
    for number, line in enumerate(lines, 1):
        line.number = number
    return PageLines(page.number, lines, page.has_pictures, upward, downward)


_Places = tuple[NDArray[np.uint32], NDArray[np.float64], NDArray[np.uint64]]
"""Codes, (left, right, baseline, size) of each character in the upright frame, and pieces of content."""


def _quarters(page: PageCharacters) -> NDArray[np.int64]:
    """Return by how many right angles each character is turned.

    -1 for what slants, is not shown, or is no character.
    """
    quarters = np.round(page.angles / (math.pi / 2)).astype(np.int64)
    is_straight = np.abs(page.angles - quarters * (math.pi / 2)) < _SLANT
    left, bottom, right, top = page.boxes.T
    crop = page.crop
    x, y = (left + right) / 2, (bottom + top) / 2
    is_seen = (x >= crop[0]) & (x <= crop[2]) & (y >= crop[1]) & (y <= crop[3])
    has_box = (right - left > 1e-3) & (top - bottom > 1e-3)
    is_text = is_straight & is_seen & has_box & (page.codes != 0)
    return np.where(is_text, quarters % 4, -1)


def _shift(page: PageCharacters, turn: int) -> tuple[float, float]:
    """Return by how much places move, along lines and across them.

    The page's lower left corner is at 0 then.
    """
    left, bottom, right, top = page.crop
    along, across = ((-left, -bottom), (top, -left), (right, top), (-bottom, right))[turn]
    return (along, across) if math.isfinite(along) and math.isfinite(across) else (0.0, 0.0)


def _turned(
    page: PageCharacters, quarters: NDArray[np.int64], turn: int, along: float, across: float
) -> list[TextLine]:
    """Return the lines in a direction, moved."""
    chosen = quarters == turn
    if not chosen.any():
        return []
    codes, places, pieces = _without_watermark(*_places(page, chosen, turn))
    return _lines(page.number, codes, places + np.array((along, along, across, 0.0)), pieces)


def _without_watermark(codes: NDArray[np.uint32], places: NDArray[np.float64], pieces: NDArray[np.uint64]) -> _Places:
    """Return the characters without those of a watermark.

    Its letters are many times as large, and other lines are printed over them.
    """
    is_large = places[:, 3] > LARGE * np.median(places[:, 3])
    if not is_large.any() or is_large.all():
        return codes, places, pieces
    small = places[~is_large]
    for left, right, baseline, size in places[is_large].tolist():
        over = (small[:, 0] > left) & (small[:, 1] < right) & (small[:, 2] > baseline) & (small[:, 2] < baseline + size)
        if over.sum() >= PRINTED_OVER:
            return codes[~is_large], small, pieces[~is_large]
    return codes, places, pieces


def _places(page: PageCharacters, chosen: NDArray[np.bool_], turn: int) -> _Places:
    left, bottom, right, top = page.boxes[chosen].T
    x, y = page.origins[chosen].T
    start, stop, baseline, height = {
        0: (left, right, y, top - bottom),
        1: (-top, -bottom, x, right - left),
        2: (-right, -left, -y, top - bottom),
        3: (bottom, top, -x, right - left),
    }[turn]
    return page.codes[chosen], np.stack((start, stop, baseline, height * SIZE_OF_HEIGHT), 1), page.objects[chosen]


def _lines(
    page: int, codes: NDArray[np.uint32], places: NDArray[np.float64], pieces: NDArray[np.uint64]
) -> list[TextLine]:
    order = np.argsort(-places[:, 2], kind="stable")
    codes, places, pieces = codes[order], places[order], pieces[order]
    lines = []
    start = 0
    baselines, sizes = places[:, 2].tolist(), places[:, 3].tolist()
    count = len(baselines)
    while start < count:
        stop = start + 1
        reference, size = baselines[start], sizes[start]
        while stop < count and reference - baselines[stop] <= SAME_LINE * max(size, sizes[stop]):
            if sizes[stop] > 1.05 * size:
                reference, size = baselines[stop], sizes[stop]
            stop += 1
        lines.append(_Run(codes[start:stop], places[start:stop], pieces[start:stop]))
        start = stop
    built = [_line(page, run) for run in _without_marks(lines)]
    return [line for line in built if line.words]


class _Run(NamedTuple):
    """The characters of a line, in any order."""

    codes: NDArray[np.uint32]
    places: NDArray[np.float64]
    pieces: NDArray[np.uint64]

    @property
    def size(self) -> float:
        return float(np.median(self.places[:, 3]))

    @property
    def baseline(self) -> float:
        return float(np.median(self.places[:, 2]))

    def joined(self, run: _Run) -> _Run:
        return _Run(
            np.concatenate((self.codes, run.codes)),
            np.concatenate((self.places, run.places)),
            np.concatenate((self.pieces, run.pieces)),
        )


def _without_marks(runs: list[_Run]) -> list[_Run]:
    """Return the lines without those that are only raised marks of the line below."""
    kept = []
    for at, run in enumerate(runs):
        below = runs[at + 1] if at + 1 < len(runs) else None
        if below is not None and _is_mark_line(run, below):
            ordinals = _ordinals(run)
            if ordinals is None:
                continue
            runs[at + 1] = below.joined(ordinals)
            continue
        kept.append(run)
    return kept


def _is_mark_line(run: _Run, below: _Run) -> bool:
    """Return whether a line has only marks that begin where words below it end."""
    size = below.size
    if run.places[:, 3].max() > SMALL * size or run.baseline - below.baseline > MARK_REACH * size:
        return False
    ends = np.sort(below.places[:, 1])
    starts = np.sort(run.places[:, 0])
    firsts = starts[np.concatenate(([True], np.diff(starts) > size))]
    nearest = np.searchsorted(ends, firsts + 0.3 * size) - 1
    return bool((nearest >= 0).all() and (firsts - ends[np.maximum(nearest, 0)] < 0.6 * size).all())


def _ordinals(run: _Run) -> _Run | None:
    """Return the letters of a raised "st", "nd", "rd" or "th".

    None where a line has none.
    """
    order = np.argsort(run.places[:, 0])
    text = "".join(map(chr, run.codes[order].tolist())).strip().lower()
    return run if text in _ORDINALS else None


def _line(page: int, run: _Run) -> TextLine:
    order = np.argsort(run.places[:, 0], kind="stable")
    codes, places, pieces = run.codes[order], run.places[order], run.pieces[order]
    size = float(np.median(places[:, 3]))
    is_large = places[:, 3] > SMALL * places[:, 3].max()
    baseline = float(np.median(places[is_large, 2]))
    is_raised = (places[:, 3] < SMALL * size) & (places[:, 2] - baseline > RAISED * size)
    if is_raised.any() and not is_raised.all():
        is_raised &= ~_is_ordinal(codes, is_raised) & _are_marks(codes, places, is_raised)
        codes, places, pieces = codes[~is_raised], places[~is_raised], pieces[~is_raised]
    spaces = (places[:, 1] - places[:, 0])[codes == ord(" ")]
    line = TextLine(page, 0, baseline, size, float(np.median(spaces)) if len(spaces) else SPACE * size)
    line.words = _words(codes.tolist(), places.tolist(), pieces.tolist())
    return line


def _are_marks(
    codes: NDArray[np.uint32], places: NDArray[np.float64], is_raised: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Return which raised characters are marks.

    A few right behind a word, and not a figure that stands higher.
    """
    are_marks = is_raised.copy()
    edges = np.flatnonzero(np.diff(np.concatenate(([False], is_raised, [False])).astype(np.int8))).reshape(-1, 2)
    for start, stop in edges.tolist():
        text = "".join(map(chr, codes[start:stop].tolist())).strip()
        is_far = start == 0 or places[start, 0] - places[start - 1, 1] > MARK_GAP * places[start - 1, 3]
        if is_far or len(text) > MARK_CHARACTERS or (len(text) > 1 and _has_decimals(text)):
            are_marks[start:stop] = False
    return are_marks


def _has_decimals(text: str) -> bool:
    """Return whether digits stand around a point or a comma."""
    return any(
        sign in ".," and text[at - 1].isdigit() and text[at + 1].isdigit() for at, sign in enumerate(text[1:-1], 1)
    )


def _is_ordinal(codes: NDArray[np.uint32], is_raised: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which raised characters are those of "1st" and its like."""
    is_ordinal = np.zeros(len(codes), np.bool_)
    pairs = zip(codes.tolist(), is_raised.tolist(), strict=True)
    text = "".join(chr(code) if raised else " " for code, raised in pairs)
    for ending in _ORDINALS:
        at = text.lower().find(f" {ending} ") + 1
        if at > 0 and chr(int(codes[at - 1])).isdigit():
            is_ordinal[at : at + 2] = True
    return is_ordinal


def _words(codes: list[int], places: list[list[float]], pieces: list[int]) -> list[Word]:
    words: list[Word] = []
    letters: list[str] = []
    begin = end = start_of_last = 0.0
    last, first_piece, last_piece = -1, 0, 0
    for code, (left, right, _, size), piece in zip(codes, places, pieces, strict=True):
        sign = _sign(code)
        if letters and code == last and 0.0 < left - start_of_last < TWICE * size:
            continue  # drawn twice, to look bold; letters of a ligature stand on the same place
        gap = left - end
        is_new = sign == " " or gap > WORD_GAP * size
        if piece != last_piece and not is_new and gap > PIECE_GAP * size:
            is_new = "".join(letters[-2:]) not in _LIGATURES
        if letters and is_new:
            words.append(Word(begin, end, "".join(letters), first_piece, last_piece))
            letters.clear()
        if sign == " ":
            continue
        if not letters:
            begin, end, first_piece = left, right, piece
        letters.append(sign)
        end = max(end, right)
        last, start_of_last, last_piece = code, left, piece
    if letters:
        words.append(Word(begin, end, "".join(letters), first_piece, last_piece))
    return list(_unspaced(words, places[0][3] if places else 0.0))


def _unspaced(words: list[Word], size: float) -> Iterator[Word]:
    """Yield the words, those whose letters stand apart as one: "T o t a l"."""
    at = 0
    while at < len(words):
        stop = at + 1
        while stop < len(words) and _is_spaced(words[stop - 1], words[stop], size):
            stop += 1
        letters, at = words[at:stop], stop
        if len(letters) < SPACED_LETTERS:
            yield from letters
            continue
        least = min(word.left - before.right for before, word in itertools.pairwise(letters))
        start = 0
        for place in range(1, len(letters) + 1):
            if place == len(letters) or letters[place].left - letters[place - 1].right > SPACED_WORDS * least:
                own = letters[start:place]
                text = "".join(word.text for word in own)
                yield Word(own[0].left, own[-1].right, text, own[0].first, own[-1].last)
                start = place


def _is_spaced(before: Word, word: Word, size: float) -> bool:
    return len(before.text) == len(word.text) == 1 and word.left - before.right < SPACED_GAP * size


def _sign(code: int) -> str:
    """Return a character as text has it; a space for what does not print."""
    sign = chr(_HYPHENS.get(code, code)) if code < 0x110000 and not 0xD800 <= code < 0xE000 else " "
    if sign.isalnum() and code < 0xA0:
        return sign
    if sign in _BULLETS:
        return " "
    if 0xFB00 <= code <= 0xFB06:
        return unicodedata.normalize("NFKC", sign)
    return sign if sign.isprintable() and not sign.isspace() else " "
