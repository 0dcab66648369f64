"""How programs put glyphs on a page: one by one, with offsets for spaces, twice, spaced, by matrices, in any order."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, Final

from reportlab.pdfbase.pdfmetrics import stringWidth

from tests.pdf_layouts.paper import Paper


class OneByOne(Paper):
    """Each glyph in a text object of its own, spaces left out."""

    def put(self, x: float, y: float, text: str, font: str, size: float) -> None:
        self.canvas.setFont(font, size)
        for at, sign in enumerate(text):
            if sign != " ":
                self.canvas.drawString(x + stringWidth(text[:at], font, size), y, sign)


class Raw(Paper):
    """Text operators as they come: `operators` of a text in a font that is set."""

    def operators(self, text: str, size: float) -> str:
        return f"({self.escaped(text)}) Tj"

    def escaped(self, text: str) -> str:
        return str(self.canvas._escape(text.encode("cp1252")))

    def put(self, x: float, y: float, text: str, font: str, size: float) -> None:
        name = self.canvas._doc.getInternalFontName(font)
        self.canvas._code.append(f"BT {name} {size:.2f} Tf {x:.3f} {y:.3f} Td {self.operators(text, size)} ET")


class Coded(Raw):
    """Codes that mean nothing: the order in which characters first come, from 1."""

    def __init__(self) -> None:
        super().__init__()
        self.codes: dict[str, int] = {}

    def escaped(self, text: str) -> str:
        return "".join(f"\\{self.codes.setdefault(sign, len(self.codes) + 1):03o}" for sign in text)


class OffsetsForSpaces(Raw):
    """Kerned pairs, and offsets where spaces are."""

    def operators(self, text: str, size: float) -> str:
        pieces: list[str] = []
        for at, word in enumerate(text.split(" ")):
            pieces += ["-278"] if at else []
            pieces += ["18"] if at and word[:1] in "AVTW" else []
            for half in (word[: len(word) // 2], word[len(word) // 2 :]):
                pieces += [f"({self.escaped(half)})", "12"] if half else []
        return f"[{' '.join(pieces)}] TJ"


class Spaced(Raw):
    """Headers and titles in bold with space between their letters."""

    def put(self, x: float, y: float, text: str, font: str, size: float) -> None:
        if not font.endswith("Bold"):
            super().put(x, y, text, font, size)
            return
        self.canvas._code.append("1.1 Tc")
        super().put(x, y, text, font, size * 0.72)
        self.canvas._code.append("0 Tc")


class Twice(Paper):
    """Bold by drawing twice, a quarter of a point apart."""

    def put(self, x: float, y: float, text: str, font: str, size: float) -> None:
        super().put(x, y, text, font, size)
        if font.endswith("Bold") or text[:1].isdigit():
            super().put(x + 0.25, y, text, font, size)


class Scaled(Raw):
    """Fonts of size 1 that matrices make large, horizontally narrowed a little, as several programs write them."""

    def put(self, x: float, y: float, text: str, font: str, size: float) -> None:
        name = self.canvas._doc.getInternalFontName(font)
        self.canvas._code.append(
            f"q .1 0 0 .1 0 0 cm BT {name} 1 Tf 96 Tz {size * 10:.2f} 0 0 {size * 10:.2f} {x * 10:.2f} {y * 10:.2f} Tm"
            f" {self.operators(text, size)} ET Q"
        )


class Shuffled(Paper):
    """The texts of a page in any order."""

    def __init__(self) -> None:
        super().__init__()
        self._texts: list[tuple[float, float, str, str, float]] = []

    def put(self, x: float, y: float, text: str, font: str, size: float) -> None:
        self._texts.append((x, y, text, font, size))

    def end(self) -> None:
        Random(len(self._texts)).shuffle(self._texts)
        for text in self._texts:
            super().put(*text)
        self._texts.clear()
        super().end()


class ByWords(Paper):
    """Each word in a text object of its own."""

    def put(self, x: float, y: float, text: str, font: str, size: float) -> None:
        self.canvas.setFont(font, size)
        words = text.split(" ")
        for at, word in enumerate(words):
            self.canvas.drawString(x + stringWidth(" ".join([*words[:at], ""]) if at else "", font, size), y, word)


class SplitRuns(Raw):
    """Texts in several objects that begin in the middle of words, each moved by a little."""

    def put(self, x: float, y: float, text: str, font: str, size: float) -> None:
        start = 0
        for stop in [*range(3 + len(text) % 4, len(text), 5 + len(text) % 3), len(text)]:
            shift = 0.012 * size * (stop % 3 - 1)
            super().put(x + stringWidth(text[:start], font, size) + shift, y, text[start:stop], font, size)
            start = stop


class WholeLines(Raw):
    """All texts of a line and a font in one object, parted by offsets alone."""

    def __init__(self) -> None:
        super().__init__()
        self._texts: dict[tuple[float, str, float], list[tuple[float, str]]] = {}

    def put(self, x: float, y: float, text: str, font: str, size: float) -> None:
        self._texts.setdefault((y, font, size), []).append((x, text))

    def end(self) -> None:
        for (y, font, size), texts in self._texts.items():
            self.put_line(y, font, size, sorted(texts))
        self._texts.clear()
        super().end()

    def put_line(self, y: float, font: str, size: float, texts: list[tuple[float, str]]) -> None:
        """Put the texts of a line, from the left."""
        name = self.canvas._doc.getInternalFontName(font)
        place = texts[0][0]
        pieces: list[str] = []
        for x, text in texts:
            pieces += [f"{(place - x) / size * 1000:.1f}", f"({self.escaped(text)})"]
            place = x + stringWidth(text, font, size)
        self.canvas._code.append(f"BT {name} {size:.2f} Tf {texts[0][0]:.3f} {y:.3f} Td [{' '.join(pieces)}] TJ ET")


class Listing(WholeLines):
    """All texts of a line in one string of a typewriter's font, padded with spaces."""

    def put_line(self, y: float, font: str, size: float, texts: list[tuple[float, str]]) -> None:
        width = stringWidth(" ", font, size)
        line = ""
        for x, text in texts:
            line = line.ljust(max(round((x - texts[0][0]) / width), len(line) + bool(line))) + text
        Raw.put(self, texts[0][0], y, line, font, size)


def in_font(name: str, change: Callable[[str], str] = str) -> type[Paper]:
    """Return a paper that sets all regular text in another font, changed on its way."""

    class InFont(Paper):
        def put(self, x: float, y: float, text: str, font: str, size: float) -> None:
            is_bold = font.endswith("Bold")
            super().put(x, y, text if is_bold else change(text), font if is_bold else name, size)

    return InFont


HANDS: Final[dict[str, Any]] = {
    "one_by_one": OneByOne,
    "by_words": ByWords,
    "offsets_for_spaces": OffsetsForSpaces,
    "spaced_headings": Spaced,
    "fake_bold": Twice,
    "scaled_matrices": Scaled,
    "shuffled_order": Shuffled,
    "split_runs": SplitRuns,
    "whole_lines": WholeLines,
}
"""Papers that differ in nothing but how glyphs come to stand on them."""

BY_SEED: Final[tuple[type[Paper], ...]] = (Paper, ByWords, WholeLines, OneByOne, SplitRuns, OffsetsForSpaces)
"""Of large documents, one after another."""
