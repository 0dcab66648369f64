"""The text of a cell to a number with its printed format, a day, or text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from core.files.cells import Cell
from core.files.figures import uses_comma, value_of_text
from core.files.pdf.phrases import FIGURE_CHARACTERS_MAX
from core.values import Kind

_CURRENCY: Final = re.compile(
    r"(?P<open>\()?(?P<sign>-)?\s*(?P<mark>(?:US|C|CA|A|AU|HK)?[$€£¥]|USD|EUR|GBP|CAD|AUD|CHF|JPY)\s*(?P<rest>[-(]?[.,]*\d[\d.,]*(?(open)|\)?))(?P<close>\))?"
)
_TRAILING: Final = re.compile(r"(?P<rest>[.,]*\d[\d.,]*)\s*(?P<mark>[$€£¥]|USD|EUR|GBP|CAD|AUD|CHF)")
_MARKED: Final = re.compile(
    r"(?P<figure>\(?-?[$€£¥]?\s?\d[\d.,]*%?\)?)\s*(?:(?:\(\d{1,2}\)|\(\w\)|\[\d{1,2}\]|[*†‡§#^¹²³⁴⁵⁶⁷⁸⁹⁰]),?\s*)+"
)
_MARKS: Final = re.compile(r"(?:\(\d{1,2}\)\s*,?){2,}")
"""Footnotes alone, as a column of notes has them."""
_PERCENT_BEHIND: Final = re.compile(r"\(\s*(?P<rest>\d[\d.,]*)\s*\)\s*%")
"""A negative percentage as filings print it: the sign behind the brackets."""
_DASH: Final = re.compile(r"\A[\u2012\u2013\u2014\u2212](?=[$€£¥]?\d)")
"""Dashes in front of a figure: a minus."""
_SPACED: Final = re.compile(
    r"\(?-?\d{1,3}(?:(?:[ '\u2019\u00a0\u202f]\d{3})+[.,]\d+|(?:[ '\u2019\u00a0\u202f]\d{3}){2,})\)?%?"
)
"""Thousands parted by spaces, as in French, or apostrophes, as in Swiss print."""
_PARTING: Final = re.compile(r"[ '\u2019\u00a0\u202f]")
_YEAR: Final = re.compile(r"\((?:19|20)\d\d\)")
"""The end of a name, and no negative figure, which has its thousands parted."""
_RAISED: Final = "¹²³⁴⁵⁶⁷⁸⁹⁰⁽⁾"
_FIGURES: Final = re.compile(r"[(]?-?[$€£¥]?\s?([\d.,]*\d)\s?%?[)]?")


class PrintedFormats:
    """Number formats of a workbook by their codes."""

    def __init__(self) -> None:
        self._by_code: dict[str, int] = {"General": 0}

    def __getitem__(self, code: str) -> int:
        return self._by_code.setdefault(code, len(self._by_code))

    @property
    def codes(self) -> tuple[str, ...]:
        """All codes in their order."""
        return tuple(self._by_code)


def has_comma(texts: Iterable[str]) -> bool:
    """Return whether the decimal sign of a document's figures is a comma."""
    short = (text for text in texts if len(text) <= FIGURE_CHARACTERS_MAX)
    return uses_comma(match[1] for text in short if (match := _FIGURES.fullmatch(text)) is not None)


def cell_of(text: str, formats: PrintedFormats, *, comma: bool) -> Cell:
    """Return the cell of a text; figures get the format in which they are printed."""
    if len(text) > FIGURE_CHARACTERS_MAX:
        return Cell(Kind.TEXT, text=text)
    text = text.rstrip(_RAISED).rstrip() or text
    if _YEAR.fullmatch(text) is not None:
        return Cell(Kind.TEXT, text=text)
    value = _value(text, comma=comma)
    if value is None and _MARKS.fullmatch(text) is None and (match := _MARKED.fullmatch(text)) is not None:
        value = _value(match["figure"], comma=comma)
    if value is None:
        return Cell(Kind.TEXT, text=text)
    kind, number, code = value
    return Cell(kind, number, format=formats[code])


def _value(text: str, *, comma: bool) -> tuple[Kind, float, str] | None:
    mark = ""
    text = _PERCENT_BEHIND.sub(r"(\g<rest>%)", _DASH.sub("-", text))
    if (match := _CURRENCY.fullmatch(text)) is not None and bool(match["open"]) == bool(match["close"]):
        mark, text = match["mark"], f"{match['open'] or ''}{match['sign'] or ''}{match['rest']}{match['close'] or ''}"
    elif (match := _TRAILING.fullmatch(text)) is not None:
        mark, text = match["mark"], match["rest"]
    if _SPACED.fullmatch(text) is not None:
        text = _PARTING.sub("", text)
    if text[:1] == "+" and text[1:2].isdigit():
        text = text[1:]
    value = None if text.endswith(" -") else value_of_text(text, comma=comma)
    if value is None or value[0] != Kind.NUMBER:
        return value if not mark else None
    kind, number, code = value
    return kind, number, _printed_format(text, code, mark, comma=comma)


def _printed_format(text: str, code: str, mark: str, *, comma: bool) -> str:
    """Return the number format that shows a figure as it is printed."""
    digits = text.strip("()-% ")
    point, group = (",", ".") if comma else (".", ",")
    whole, _, rest = digits.partition(point)
    own = ("#,##0" if group in whole else "0") + (f".{'0' * len(rest)}" if rest else "")
    if "%" in code:
        own += "%"
    if mark:
        own = f'"{mark}"{own}'
    return "General" if own == "0" else own
