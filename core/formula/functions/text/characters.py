"""Text functions between characters and their codes, and between half and full width."""

from __future__ import annotations

import unicodedata
from typing import Final

from core.formula.functions.catalogue import Argument, Takes, function
from core.formula.functions.text.text import bounded
from core.formula.values.value import NA, VALUE, Failure

_TEXT: Final = Argument("text", Takes.TEXT, "The text.")


@function(
    "CHAR", "text", "Gives the character of a code of Windows' character set.",
    Argument("number", Takes.INTEGER, "The code, 1 to 255."),
    examples=(("=CHAR(65)", "A"), ("=CHAR(128)", "€")),
)  # fmt: skip
def char(number: int) -> str:
    if not 1 <= number <= 255:
        raise Failure(VALUE)
    # Five codes of Windows-1252 have no character; they stand for themselves.
    return bytes([number]).decode("cp1252") if number not in _UNDEFINED else chr(number)


_UNDEFINED: Final = frozenset((0x81, 0x8D, 0x8F, 0x90, 0x9D))


@function(
    "CODE", "text", "Gives the code of the first character in Windows' character set; 63 where it has none.", _TEXT,
    examples=(('=CODE("A")', 65.0), ('=CODE("€uro")', 128.0)),
)  # fmt: skip
def code(text: str) -> float:
    if not text:
        raise Failure(VALUE)
    if ord(text[0]) in _UNDEFINED:
        return float(ord(text[0]))
    return float(text[0].encode("cp1252", "replace")[0])


@function(
    "UNICHAR", "text", "Gives the character of a Unicode number.", Argument("number", Takes.INTEGER, "The number."),
    examples=(("=UNICHAR(66)", "B"), ("=UNICHAR(8364)", "€")),
)  # fmt: skip
def unichar(number: int) -> str:
    if not 1 <= number <= 0x10FFFF:
        raise Failure(VALUE)
    if 0xD800 <= number <= 0xDFFF or number & 0xFFFE == 0xFFFE:
        raise Failure(NA)
    return chr(number)


@function(
    "UNICODE", "text", "Gives the Unicode number of the first character.", _TEXT,
    examples=(('=UNICODE(" ")', 32.0), ('=UNICODE("€")', 8364.0)),
)  # fmt: skip
def unicode(text: str) -> float:
    if not text:
        raise Failure(VALUE)
    return float(ord(text[0]))


# Half-width katakana and their marks, U+FF61 to U+FF9F, each with its full-width form by compatibility (NFKC).
_HALF_KATAKANA: Final = [chr(point) for point in range(0xFF61, 0xFFA0)]
_FULL_OF: Final = {chr(point): chr(point + 0xFEE0) for point in range(0x21, 0x7F)} | {" ": "\u3000"}
_HALF_OF: Final = {full: half for half, full in _FULL_OF.items()}
_FULL_KATAKANA_OF: Final = {half: unicodedata.normalize("NFKC", half) for half in _HALF_KATAKANA}
_FULL_KATAKANA_OF["\uff9e"], _FULL_KATAKANA_OF["\uff9f"] = "\u309b", "\u309c"
_HALF_OF.update({full: half for half, full in _FULL_KATAKANA_OF.items()})
_VOICED: Final = {
    unicodedata.normalize("NFC", _FULL_KATAKANA_OF[half] + mark): half + half_mark
    for half in _HALF_KATAKANA[5:-2]
    for mark, half_mark in (("\u3099", "\uff9e"), ("\u309a", "\uff9f"))
    if len(unicodedata.normalize("NFC", _FULL_KATAKANA_OF[half] + mark)) == 1
}
_HALF_OF.update(_VOICED)
_FULL_OF_PAIR: Final = {half: full for full, half in _VOICED.items()}


@function(
    "ASC", "text", "Turns full-width letters, digits and katakana into half-width ones.", _TEXT,
    examples=(('=ASC("ＥＸＣＥＬ")', "EXCEL"), ('=ASC("エクセル")', "ｴｸｾﾙ")),
)  # fmt: skip
def asc(text: str) -> str:
    return bounded("".join(_HALF_OF.get(character, character) for character in text))


@function(
    "JIS", "text", "Turns half-width letters, digits and katakana into full-width ones.", _TEXT,
    examples=(('=JIS("EXCEL")', "ＥＸＣＥＬ"),),
)  # fmt: skip
@function(
    "DBCS", "text", "Turns half-width letters, digits and katakana into full-width ones.", _TEXT,
    examples=(('=DBCS("EXCEL")', "ＥＸＣＥＬ"), ('=DBCS("ｴｸｾﾙ")', "エクセル")),
)  # fmt: skip
def dbcs(text: str) -> str:
    shown: list[str] = []
    for character in text:
        pair = _FULL_OF_PAIR.get(_half_before(shown) + character) if character in "\uff9e\uff9f" else None
        if pair:
            shown[-1] = pair
        else:
            shown.append(_FULL_KATAKANA_OF.get(character) or _FULL_OF.get(character, character))
    return "".join(shown)


def _half_before(shown: list[str]) -> str:
    return _HALF_OF.get(shown[-1], "") if shown else ""
