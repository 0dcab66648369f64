"""Elements of SVG as text.

Every value is escaped, every number has at most two decimals, the same each time.
"""

from __future__ import annotations

from html import escape
from math import isfinite
from typing import Final, NamedTuple

FONT: Final = "Libertinus Serif, Georgia, serif"

LABEL_PT: Final = 7.0

ADVANCE_EM: Final = 0.47
"""Width of a letter as a part of the type's size: digits are 0.465, and most labels are digits."""


class Chart(NamedTuple):
    """A drawing: its SVG, what it says in words for who does not see it, and its size in points."""

    svg: str
    alt: str
    width: float
    height: float


class Drawing:
    """Elements in the order in which they are painted.

    Places and sizes are points, y from the top.
    """

    def __init__(self, width: float, height: float) -> None:
        self.width, self.height = width, height
        self._elements: list[str] = []

    def rect(self, x: float, y: float, width: float, height: float, *, fill: str) -> None:
        if width > 0 and height > 0:
            self._add("rect", x=x, y=y, width=width, height=height, fill=fill)

    def line(self, x1: float, y1: float, x2: float, y2: float, *, stroke: str, width: float = 0.5) -> None:
        self._add("line", x1=x1, y1=y1, x2=x2, y2=y2, stroke=stroke, stroke_width=width)

    def path(self, points: list[tuple[float, float]], *, stroke: str, width: float, dash: str = "none") -> None:
        at = "L".join(f"{_number(x)} {_number(y)}" for x, y in points)
        self._add("path", d=f"M{at}", fill="none", stroke=stroke, stroke_width=width, stroke_dasharray=dash)

    def shape(self, points: list[tuple[float, float]], *, fill: str) -> None:
        at = "L".join(f"{_number(x)} {_number(y)}" for x, y in points)
        self._add("path", d=f"M{at}Z", fill=fill)

    def circle(self, x: float, y: float, radius: float, *, fill: str) -> None:
        self._add("circle", cx=x, cy=y, r=radius, fill=fill)

    def text(
        self,
        x: float,
        y: float,
        words: str,
        *,
        anchor: str = "start",
        fill: str,
        size: float = LABEL_PT,
        weight: str = "normal",
    ) -> None:
        self._add(
            "text", words, x=x, y=y, text_anchor=anchor, font_family=FONT, font_size=size, font_weight=weight, fill=fill
        )

    def hatched(self, x: float, y: float, width: float, height: float, *, stroke: str) -> None:
        """Slanted lines, which show in grey, too."""
        step, at = 3.0, x - height
        while at < x + width:
            low, high = max(at, x), min(at + height, x + width)
            if low < high:
                self.line(low, y + height - (low - at), high, y + height - (high - at), stroke=stroke, width=0.4)
            at += step

    def chart(self, alt: str) -> Chart:
        """Return the drawing as it stands."""
        size = {"width": f"{_number(self.width)}pt", "height": f"{_number(self.height)}pt"}
        frame = {"viewBox": f"0 0 {_number(self.width)} {_number(self.height)}", "role": "img", **size}
        marks = "".join(f' {name}="{value}"' for name, value in frame.items())
        words = f"<title>{escaped(alt)}</title>"
        svg = f'<svg xmlns="http://www.w3.org/2000/svg"{marks}>{words}{"".join(self._elements)}</svg>'
        return Chart(svg, alt, self.width, self.height)

    def _add(self, name: str, words: str | None = None, **values: str | float) -> None:
        marks = "".join(
            f' {key.replace("_", "-")}="{escaped(value) if isinstance(value, str) else _number(value)}"'
            for key, value in values.items()
            if value != "none" or key == "fill"
        )
        self._elements.append(f"<{name}{marks}/>" if words is None else f"<{name}{marks}>{escaped(words)}</{name}>")


def escaped(text: str) -> str:
    """Return the text as XML may hold it.

    Marks escaped, and without what no XML may contain.
    """
    return escape(
        "".join(
            character for character in text if character in "\t\n" or (character >= " " and character not in _NO_XML)
        )
    )


_NO_XML: Final = frozenset(map(chr, (*range(0x7F, 0xA0), *range(0xD800, 0xE000), 0xFFFE, 0xFFFF)))


def _number(value: float) -> str:
    assert isfinite(value), "a place on paper"
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def width_of(words: str, size: float = LABEL_PT) -> float:
    """About how wide a short label is, in points."""
    return len(words) * size * ADVANCE_EM
