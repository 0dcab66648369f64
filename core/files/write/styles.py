"""The styles part of an .xlsx file: number formats times a few named styles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, NamedTuple

from core.files.parts import BUILT_IN_FORMATS
from core.files.write import _xlsx as kernel
from core.files.write.xml import MAIN, XML, escape, quoteattr

StyleName = Literal[
    "header",
    "title",
    "good",
    "warning",
    "bad",
    "input",
    "note",
    "figures",
    "section",
    "total",
    "text",
    "aside",
    "heading",
]


class _Look(NamedTuple):
    """Colours are RRGGBB; the default is a plain black cell."""

    bold: bool = False
    italic: bool = False
    size: int = 11
    colour: str | None = None
    fill: str | None = None
    border: str | None = None
    rule: tuple[str, str] | None = None
    """A line at one side alone: "top" or "bottom", and its colour."""
    align: Literal["left", "center", "right"] | None = None
    indent: int = 0
    """Of text from the left, so that it keeps apart from figures before it."""
    wrap: bool = False


_LOOKS: Final[dict[StyleName | None, _Look]] = {
    None: _Look(),
    "header": _Look(bold=True, colour="FFFFFF", fill="1F3864", border="8497B0", wrap=True),
    "title": _Look(bold=True, size=14, colour="1F3864"),
    "good": _Look(colour="0B5394", fill="DDEBF7"),
    "warning": _Look(colour="7F6000", fill="FFF2CC"),
    "bad": _Look(bold=True, colour="9C0006", fill="FBD5D5"),
    "input": _Look(fill="FFFDE7", border="BFBFBF"),
    "note": _Look(italic=True, colour="595959"),
    "figures": _Look(bold=True, colour="FFFFFF", fill="1F3864", border="8497B0", align="right", wrap=True),
    "section": _Look(bold=True, size=12, colour="1F3864", rule=("bottom", "1F3864")),
    "total": _Look(bold=True, rule=("top", "595959")),
    "text": _Look(align="left", indent=1),
    "aside": _Look(italic=True, colour="595959", align="left", indent=1),
    "heading": _Look(bold=True, colour="FFFFFF", fill="1F3864", border="8497B0", align="left", indent=1, wrap=True),
}
"""Good is blue rather than green, so that people who confuse red and green see the difference from bad."""

STYLE_NAMES: Final = tuple(_LOOKS)
"""By the number that a cell's mark has."""

WRAPPED: Final = frozenset(name for name, look in _LOOKS.items() if look.wrap)
"""Styles in which a text is broken into lines."""

UNLOCKED: Final = 16
"""Added to the number of a style in a cell's mark: the cell may be changed on a protected sheet."""

DAY_FORMAT: Final = "yyyy-mm-dd"
MOMENT_FORMAT: Final = "yyyy-mm-dd hh:mm:ss"
"""The formats of dates that come without one."""

_PLAIN_DATES: Final = {kernel.DAY_FORMAT: DAY_FORMAT, kernel.MOMENT_FORMAT: MOMENT_FORMAT}

_OWN_FORMATS: Final = 164
"""The first number that a file may give to a format code of its own."""


def styles_xml(used: Sequence[tuple[int, int]], codes: Sequence[str]) -> bytes:
    """Return the styles part; `used` has (mark, index into `codes`) per style."""
    numbers = {code: number for number, code in BUILT_IN_FORMATS.items() if number not in _LOCAL_DATES}
    shown = [(mark, _PLAIN_DATES.get(at) or codes[at]) for mark, at in used]
    own: dict[str, int] = {}
    for _, code in shown:
        if code not in numbers and code not in own:
            own[code] = _OWN_FORMATS + len(own)
    numbers |= own
    looks = list(_LOOKS.values())
    styles = "".join(_style(mark, numbers[code]) for mark, code in shown)
    return (
        f'{XML}<styleSheet xmlns="{MAIN}">'
        + _with_count(
            "numFmts", [f'<numFmt numFmtId="{at}" formatCode={quoteattr(code)}/>' for code, at in own.items()]
        )
        + _with_count("fonts", [f"<font>{_font(look)}</font>" for look in looks])
        + _with_count("fills", _fills())
        + _with_count("borders", [_border(look) for look in looks])
        + '<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>'
        + f'<cellXfs count="{len(used)}">{styles}</cellXfs>'
        + '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles>'
        + _with_count("dxfs", [_difference(_LOOKS[name]) for name in FLAGS])
        + '<tableStyles count="0" defaultTableStyle="TableStyleMedium9" defaultPivotStyle="PivotStyleLight16"/>'
        + "</styleSheet>"
    ).encode()


FLAGS: Final[tuple[StyleName, ...]] = ("good", "warning", "bad")
"""Styles that a cell can have by what it says, in the order in which the styles part has them."""

_LOCAL_DATES: Final = frozenset((*range(27, 37), *range(50, 59)))
"""Numbers of the dates of East Asian locales, which share their code with a plain date."""


def _with_count(name: str, elements: list[str]) -> str:
    return f'<{name} count="{len(elements)}">{"".join(elements)}</{name}>' if elements else ""


def _font(look: _Look) -> str:
    return (
        ("<b/>" if look.bold else "")
        + ("<i/>" if look.italic else "")
        + f'<sz val="{look.size}"/>'
        + (f'<color rgb="FF{look.colour}"/>' if look.colour else "")
        + '<name val="Calibri"/><family val="2"/>'
    )


def _fills() -> list[str]:
    """Return the two fills that every file begins with, then one for each style but the plain one."""
    empty = [f'<fill><patternFill patternType="{kind}"/></fill>' for kind in ("none", "gray125")]
    return empty + [
        f'<fill><patternFill patternType="solid"><fgColor rgb="FF{look.fill}"/></patternFill></fill>'
        if look.fill
        else empty[0]
        for look in list(_LOOKS.values())[1:]
    ]


def _border(look: _Look) -> str:
    sides = ("left", "right", "top", "bottom")
    lines = {look.rule[0]: look.rule[1]} if look.rule else dict.fromkeys(sides, look.border) if look.border else {}
    drawn = "".join(
        f'<{side} style="thin"><color rgb="FF{lines[side]}"/></{side}>' if side in lines else f"<{side}/>"
        for side in sides
    )
    return f"<border>{drawn}<diagonal/></border>"


def _style(mark: int, number: int) -> str:
    named = mark % UNLOCKED
    look = _LOOKS[STYLE_NAMES[named]]
    fill = named + 1 if look.fill else 0
    text = f'<xf numFmtId="{number}" fontId="{named}" fillId="{fill}" borderId="{named}" xfId="0"'
    text += ' applyNumberFormat="1"' if number else ""
    text += ' applyFont="1"' if named else ""
    text += ' applyFill="1"' if look.fill else ""
    text += ' applyBorder="1"' if look.border or look.rule else ""
    inside = ""
    if look.wrap or look.align:
        text += ' applyAlignment="1"'
        placed = f' horizontal="{look.align}"' if look.align else ""
        placed += f' indent="{look.indent}"' if look.indent else ""
        inside += f"<alignment{placed}" + (' vertical="center" wrapText="1"/>' if look.wrap else "/>")
    if mark >= UNLOCKED:
        text += ' applyProtection="1"'
        inside += '<protection locked="0"/>'
    return f"{text}>{inside}</xf>" if inside else f"{text}/>"


def _difference(look: _Look) -> str:
    return (
        f'<dxf><font>{"<b/>" if look.bold else ""}<color rgb="FF{look.colour}"/></font>'
        f'<fill><patternFill><bgColor rgb="FF{look.fill}"/></patternFill></fill></dxf>'
    )


def flag_rule(words: Sequence[str], style: StyleName, range_name: str, priority: int) -> str:
    """Conditional formats.

    The cells of a range that say one of some words have a style.
    """
    rules = "".join(
        f'<cfRule type="cellIs" dxfId="{FLAGS.index(style)}" priority="{priority + at}" operator="equal">'
        f"<formula>{escape(chr(34) + word.replace(chr(34), chr(34) * 2) + chr(34))}</formula></cfRule>"
        for at, word in enumerate(words)
    )
    return f'<conditionalFormatting sqref="{range_name}">{rules}</conditionalFormatting>'
