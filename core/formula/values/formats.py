"""Excel's number formats.

A value as text under a format code, both as the locale of the calculation has them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from typing import Any, Final

from core.formula.values.coerce import to_text
from core.formula.values.days import SERIAL_MAX, split
from core.formula.values.locales import BY_MARK, DEFAULT, Locale, current
from core.formula.values.value import VALUE, Error
from core.values import DAYS_BETWEEN_SYSTEMS

CODE_MAX: Final = 255
"""Characters of a format code; Excel takes no longer one."""

_TEXT_MAX: Final = 32_767
_GENERAL_WIDTH: Final = 11
_DENOMINATOR_DIGITS_MAX: Final = 7
_CONVERGED: Final = 5e-8
"""The rest of a continued fraction that counts as nothing."""

_COLOR: Final = re.compile(r"black|blue|cyan|green|magenta|red|white|yellow|colou?r ?[0-9]{1,2}", re.IGNORECASE)
_CONDITION: Final = re.compile(r"(<=|>=|<>|<|>|=) *([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?)")
_CURRENCY: Final = re.compile(
    r"\$([^\]-]*)(?:-([0-9A-F]{0,8}|[A-Z]{1,8}(?:-[A-Z0-9]{1,8}){0,3}))?(?:,[0-9A-F]{1,8})?", re.IGNORECASE
)
"""A currency and a locale: by number, or by name as in [$-en-US]."""
_SYSTEM: Final = {"F800": "date", "X-SYSDATE": "date", "F400": "time", "X-SYSTIME": "time"}
"""Locales that stand for the long date and time of the machine."""
_NO_LITERAL: Final = frozenset('nNE"\\_*[')
"""What may not stand unquoted, alone or without its partner."""

_WORD: Final = r"""
      (?P<general>GENERAL)
    | "(?P<quoted>[^"]*)"
    | \\(?P<escaped>.)
    | _(?P<space>.)
    | \*(?P<fill>.)
    | \[(?P<elapsed>ELAPSED)\]
    | \[(?P<bracket>[^\]]*)\]
    | (?P<half>am/pm|a/p)
    | (?P<exponent>E[+-])
    | (?P<date>DATE|(?-i:e)+)
    | (?P<digit>[0#?])
    | (?P<text>@)
    | (?P<group>(?<=[0#?])[\u0020\u00a0\u202f](?=[0#?]))
    | (?P<literal>.)
    """
"""The words of a code. GENERAL, DATE and ELAPSED are the locale's; a blank among digits stands between thousands only
where it does in the locale."""

Token = tuple[str, str]
"""(kind, text). Kinds: text digit point comma percent exponent slash date minute elapsed half fraction general literal,
figure for 1 to 9, and plain for brackets that stand for nothing; in a fraction numerator and denominator too."""


class BadFormat(ValueError):
    """The code is no number format."""


@dataclass(frozen=True, slots=True)
class Section:
    """One part of a code between semicolons."""

    kind: str
    """number, scientific, fraction, date, text, general or literal."""
    tokens: tuple[Token, ...]
    condition: tuple[str, float] | None
    names: Locale | None = None
    """Whose names months and days have, where the code says so: [$-407]."""


def format_value(value: Any, code: str, date_1904: bool = False) -> str | Error:
    """Return a float, str, bool or None (as 0) as TEXT shows it.

    VALUE for a bad code, no such date, a text too long.
    """
    try:
        sections = parse(code, current())
        shown = _show(value, sections, date_1904)
    except BadFormat:
        return VALUE
    return shown if len(shown) <= _TEXT_MAX else VALUE


def shows_date(code: str) -> bool:
    """Return whether a code shows a day or a time in one of its sections."""
    try:
        return any(section.kind == "date" for section in parse(code, current()))
    except BadFormat:
        return False


@lru_cache(maxsize=1024)
def parse(code: str, locale: Locale = DEFAULT) -> tuple[Section, ...]:
    """Return a format code as its sections, one to four.

    A code of a file is in en-US. Raises BadFormat.
    """
    if len(code) > CODE_MAX:
        raise BadFormat(code)
    parts: list[list[Token]] = [[]]
    conditions: list[tuple[str, float] | None] = [None]
    words, english = _words_of(locale)
    for word in words.finditer(code):
        kind, text = str(word.lastgroup), word[word.lastgroup or 0]
        if kind in ("date", "elapsed"):
            text = text.lower().translate(english)
        if kind == "literal" and text == ";":
            parts.append([])
            conditions.append(None)
        elif kind == "bracket":
            condition = _bracket(text, parts[-1])
            conditions[-1] = condition or conditions[-1]
        elif kind == "exponent" and text[0] == "e" and not any(token[0] == "digit" for token in parts[-1]):
            parts[-1] += [("date", "e"), ("literal", text[1])]  # the year, as in e-mm-dd
        else:
            parts[-1].append(_token(kind, text, locale))
    sections = tuple(_section(tokens, condition, locale) for tokens, condition in zip(parts, conditions, strict=True))
    texts = sum(section.kind == "text" for section in sections)
    if len(sections) > 4 or texts > 1 or sum(condition is not None for condition in conditions) > 2:
        raise BadFormat(code)
    if len(sections) == 4 and sections[3].kind not in ("text", "literal", "general"):
        raise BadFormat(code)
    return sections


def _bracket(text: str, tokens: list[Token]) -> tuple[str, float] | None:
    """Return what stands in brackets.

    A condition (returned), a currency or locale (put among the tokens), or a colour.
    """
    condition = _CONDITION.fullmatch(text.strip())
    tokens.append(("plain", ""))
    if condition:
        return condition[1], float(condition[2])
    currency = _CURRENCY.fullmatch(text)
    if currency:
        locale = (currency[2] or "").upper().lstrip("0")
        if locale in _SYSTEM:
            tokens.append(("system", _SYSTEM[locale]))
        else:
            tokens.append(("literal", currency[1]))
            tokens.append(("names", locale))
    elif not _COLOR.fullmatch(text.strip()) and not re.fullmatch("DBNUM[1-4]", text.upper()):
        raise BadFormat(text)
    return None


@lru_cache
def _words_of(locale: Locale) -> tuple[re.Pattern[str], dict[int, str]]:
    """Return the words of a locale's codes, and its letters of dates in English ones.

    English letters are understood, too, where they mean nothing else there: a code from elsewhere shows a date rather
    than its own letters.
    """
    english = dict(zip(locale.letters, "ymdh", strict=True))
    english |= {letter: letter for letter in "ymdhsbg" if letter not in english}
    if locale.native_days:
        english["a"] = "a"
    units = {letter: [own for own, meant in english.items() if meant == letter] for letter in "hms"}
    elapsed = "|".join(f"{own}+" for letters in units.values() for own in letters)
    runs = "|".join(f"{letter}+" if letter != "a" else "a{3,4}" for letter in english)
    general = "|".join({re.escape(locale.general), "general"})
    pattern = _WORD.replace("GENERAL", general).replace("ELAPSED", elapsed).replace("DATE", runs)
    return re.compile(pattern, re.VERBOSE | re.IGNORECASE | re.DOTALL), str.maketrans(english)


def _token(kind: str, text: str, locale: Locale) -> Token:
    if kind in ("quoted", "escaped"):
        return "literal", text
    if kind == "space":
        return "literal", " "
    if kind == "fill":  # stretches with the cell's width; a text has none
        return "literal", ""
    if kind in ("date", "elapsed"):
        return kind, text.lower()
    if kind == "group":
        return ("comma" if locale.group.isspace() else "literal"), (locale.group if locale.group.isspace() else text)
    if kind == "literal":
        named = {locale.decimal: "point", locale.group: "comma", "%": "percent", "/": "slash"}.get(text, "literal")
        named = "figure" if text in "123456789" else named
        if text in _NO_LITERAL:
            raise BadFormat(text)
        return named, text
    return kind, text


def _section(tokens: list[Token], condition: tuple[str, float] | None, locale: Locale) -> Section:
    """Return what a section shows, and what its marks mean there."""
    names = next(
        (BY_MARK.get(text[-5:] if "-" in text else text[-4:]) for kind, text in tokens if kind == "names"), None
    )
    tokens = [token for token in tokens if token[0] != "names"]
    system = next((text for kind, text in tokens if kind == "system"), None)
    if system:
        return Section("date", parse(locale.long_date if system == "date" else locale.long_time)[0].tokens, condition)
    kinds = {kind for kind, _ in tokens}
    if kinds == {"plain"} and condition is None:  # only a colour
        return Section("general", (("general", ""),), None)
    tokens = [token for token in tokens if token[0] != "plain"]
    kinds.discard("plain")
    kind = _section_kind(kinds)
    _check_section(kind, kinds, tokens)
    if kind == "date":
        return Section("date", tuple(_date_tokens(tokens)), condition, names)
    return Section(kind, tuple(_fraction_tokens(tokens) if kind == "fraction" else tokens), condition)


def _section_kind(kinds: set[str]) -> str:
    """Return what a section with tokens of these kinds shows."""
    if "general" in kinds:
        return "general"
    if kinds & {"date", "elapsed", "half"}:
        return "date"
    if "text" in kinds:
        return "text"
    if "exponent" in kinds:
        return "scientific"
    if "digit" not in kinds:
        return "literal"
    return "fraction" if "slash" in kinds and "point" not in kinds else "number"


def _check_section(section: str, kinds: set[str], tokens: list[Token]) -> None:
    """
    Raises:
        BadFormat: a section holds what it cannot show.
    """
    if section == "general" and kinds - {"general", "literal", "figure", "percent", "comma", "slash", "point"}:
        raise BadFormat("General beside digits")
    if section == "text" and "digit" in kinds:
        raise BadFormat("digits beside @")
    if section == "literal" and "slash" in kinds:
        raise BadFormat("a fraction without its parts")
    if section == "scientific":
        mark = next(place for place, (kind, _) in enumerate(tokens) if kind == "exponent")
        if not all(any(kind in _DIGITS for kind, _ in part) for part in (tokens[:mark], tokens[mark:])):
            raise BadFormat("an exponent without its digits")


def _date_tokens(tokens: list[Token]) -> list[Token]:
    """Return the tokens of a date.

    Minutes apart from months, fractions of a second from literals.

    Other digits have no place in a date.
    """
    date_tokens: list[Token] = []
    for kind, text in tokens:
        last = date_tokens[-1] if date_tokens else ("", "")
        if kind == "digit":
            if text != "0" or last[0] not in ("point", "fraction"):
                raise BadFormat("digits in a date")
            date_tokens[-1] = ("fraction", last[1] + "0")
        elif kind in ("text", "exponent", "percent"):
            raise BadFormat("text, an exponent or a percentage in a date")
        else:
            date_tokens.append((kind, text))
    clock = [place for place, (kind, _) in enumerate(date_tokens) if kind in ("date", "elapsed")]
    parts = [("", " "), *(date_tokens[place] for place in clock), ("", " ")]
    for place, before, (kind, text), after in zip(clock, parts, parts[1:], parts[2:], strict=False):
        if kind == "date" and text in ("m", "mm"):
            between = before[1][0] == "s" and after[0] == "elapsed"
            if before[1][0] == "h" or after[1][0] == "s" or between:
                date_tokens[place] = ("minute", text)
    totals = {text[0] for kind, text in date_tokens if kind == "elapsed"}
    for place in clock:  # beside an elapsed part, the plain one of its unit shows the same
        kind, text = date_tokens[place]
        if text[0] in totals and (kind == "minute" or text[0] != "m"):
            date_tokens[place] = ("elapsed", text)
    return date_tokens


def _fraction_tokens(tokens: list[Token]) -> list[Token]:
    """Return the run of digits before the slash joined as the numerator, that behind it as the denominator (or a fixed
    one).

    Digits further left are the whole part, those further right only fill their places. Neither part has commas.
    """
    slash = next(place for place, token in enumerate(tokens) if token[0] == "slash")
    above = [place for place, token in enumerate(tokens[:slash]) if token[0] == "digit"]
    below = [
        place
        for place, (kind, text) in enumerate(tokens)
        if place > slash and (kind == "digit" or (kind == "figure" or (kind == "literal" and text.isdigit())))
    ]
    if not above or not below:
        raise BadFormat("a fraction without its parts")
    end = start = above[-1]
    while start - 1 in above:
        start -= 1
    last = below[0]
    while last + 1 in below:
        last += 1
    kinds = [kind for kind, _ in tokens]
    split = kinds[last + 1 : last + 2] == ["comma"] and last + 2 in below
    if split or kinds[max(start - 2, 0) : start] == ["digit", "comma"]:
        raise BadFormat("commas in a fraction")
    numerator = "".join(text for _, text in tokens[start : end + 1])
    denominator = "".join(text for _, text in tokens[below[0] : last + 1])
    filling = [("literal", " " if text == "?" else "0") if kind == "digit" else (kind, text) for kind, text in tokens]
    return [
        *tokens[:start],
        ("numerator", numerator),
        *tokens[end + 1 : below[0]],
        ("denominator", denominator),
        *filling[last + 1 :],
    ]


def _show(value: Any, sections: tuple[Section, ...], date_1904: bool) -> str:
    if isinstance(value, bool):
        value = "TRUE" if value else "FALSE"
    if isinstance(value, str):
        return _show_text(value, sections)
    number = float(value or 0.0)
    if len(sections) == 1 and sections[0].kind == "text":
        return str(to_text(number))
    section, positive = choose_section(number, sections)
    return _SHOWN[section.kind](section, abs(number) if positive else number, date_1904)


def _show_text(text: str, sections: tuple[Section, ...]) -> str:
    section = sections[-1]
    if len(sections) == 4 or section.kind == "text":
        return _substitute(section, lambda: text)
    return text


def _substitute(section: Section, text: Callable[[], str]) -> str:
    return "".join(text() if kind in ("text", "general") else word for kind, word in section.tokens)


def choose_section(number: float, sections: tuple[Section, ...]) -> tuple[Section, bool]:
    """Return the section for a number, and whether it shows the number without its sign."""
    numeric = sections[:-1] if len(sections) > 1 and sections[-1].kind == "text" else sections[:3]
    if not any(section.condition for section in numeric):
        place = 0 if len(numeric) == 1 else 1 if number < 0 else 2 if number == 0 and len(numeric) > 2 else 0
        return numeric[place], place == 1
    first, second = numeric[0], numeric[1] if len(numeric) > 1 else None
    if _meets(number, first.condition) if first.condition else number > 0:
        return first, _only_negative(first.condition)
    if second and second.condition:
        if _meets(number, second.condition):
            return second, _only_negative(second.condition)
        if len(numeric) < 3:
            raise BadFormat("no section for the number")
    elif second and (len(numeric) == 2 or number < 0):
        return second, len(numeric) == 3 or _leaves_negative(first.condition)
    if len(numeric) == 3:
        return numeric[2], False
    return Section("general", (("general", ""),), None), _leaves_negative(first.condition)


def _only_negative(condition: tuple[str, float] | None) -> bool:
    """Return whether a condition lets only negative numbers pass.

    They are shown without a sign of their own.
    """
    if condition is None:
        return False
    sign, limit = condition
    return (sign == "<" and limit <= 0) or (sign in ("<=", "=") and limit < 0)


def _leaves_negative(condition: tuple[str, float] | None) -> bool:
    """Return whether what a condition leaves over is shown without a sign, as Excel has it (not always where one
    would)."""
    if condition is None:
        return True
    sign, limit = condition
    return (sign in ("<", "<=", "<>") and limit < 0) or (sign in (">", ">=") and limit == 0)


def _meets(number: float, condition: tuple[str, float]) -> bool:
    sign, limit = condition
    return {
        "<": number < limit,
        "<=": number <= limit,
        ">": number > limit,
        ">=": number >= limit,
        "=": number == limit,
        "<>": number != limit,
    }[sign]


# -- numbers


def digits_of(number: float) -> tuple[str, int]:
    """Return the 15 significant digits of a number that is not negative, and where the point stands: 0.<digits> *
    10^point."""
    mantissa, _, exponent = f"{number:.14e}".partition("e")
    digits = mantissa.replace(".", "")
    return (digits, int(exponent) + 1) if digits.strip("0") else ("0", 1)


def fixed(number: float, decimals: int, scale: int = 0) -> tuple[str, str]:
    """Return (whole, decimals) of a number that is not negative times 10^scale, rounded half away from zero at 15
    digits.

    The whole part has no leading zero (it is empty below 1).
    """
    digits, point = digits_of(number)
    cut = point + scale + decimals
    if cut < 0:
        kept = 0
    elif cut >= len(digits):
        kept = int(digits) * 10 ** (cut - len(digits))
    else:
        kept = int(digits[:cut] or "0") + (digits[cut] >= "5")
    text = str(kept).rjust(decimals + 1, "0")
    whole = text[: len(text) - decimals]
    return whole.lstrip("0"), text[len(text) - decimals :]


_FILLING: Final = {"0": "0", "?": " ", "#": ""}
"""What stands in a place that no digit fills."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the digits of a number go among the words of a section."""

    words: tuple[str, ...]
    """The marks of digits, and the literals; nothing for commas."""
    before: tuple[int, ...]
    """The places of digits before the point."""
    after: tuple[int, ...]
    point: int
    scale: int
    """The power of ten that percent signs and trailing commas multiply by."""
    grouped: bool
    """Thousands have commas."""


_DIGITS: Final = frozenset(("digit", "figure"))


@lru_cache(maxsize=1024)
def layout_of(tokens: tuple[Token, ...]) -> Layout:
    """Of the commas, a run between two digits groups thousands (after the point it is nothing), and each behind the
    last digit of a part divides by a thousand; a run that follows no digit is one comma."""
    kinds = [kind for kind, _ in tokens]
    words = [word for _, word in tokens]
    point = kinds.index("point") if "point" in kinds else len(kinds)
    places = [place for place, kind in enumerate(kinds) if kind == "digit"]
    before, after = [place for place in places if place < point], [place for place in places if place > point]
    scale, grouped = 2 * kinds.count("percent"), False
    for kind, places_of_kind in groupby(range(len(kinds)), kinds.__getitem__):
        if kind != "comma":
            continue
        run = list(places_of_kind)
        last, following = kinds[run[0] - 1] if run[0] else "", kinds[run[-1] + 1 :]
        before_digit = bool(following) and following[0] in _DIGITS
        counts = last in _DIGITS or (last == "point" and not before_digit)
        for place in run if counts else run[1:]:
            words[place] = ""
        if counts and before_digit:
            grouped = grouped or (bool(before) and before[0] < run[0] < point)
        elif counts and (last == "point" or following[:1] == ["point"] or not _DIGITS.intersection(following)):
            scale -= 3 * len(run)
    return Layout(tuple(words), tuple(before), tuple(after), point, scale, grouped)


def _show_number(section: Section, number: float, date_1904: bool) -> str:
    """Return digits into their places, the literals among them kept."""
    layout = layout_of(section.tokens)
    whole, decimals = fixed(abs(number), len(layout.after), layout.scale)
    text = _fill(layout, whole, decimals)
    return "-" + text if number < 0 and (whole + decimals).strip("0") else text


def _fill(layout: Layout, whole: str, decimals: str) -> str:
    words = list(layout.words)
    _fill_whole(words, layout.before, whole, current().group if layout.grouped else "")
    filled = len(decimals.rstrip("0"))
    for index, place in enumerate(layout.after):
        words[place] = decimals[index] if index < filled else _FILLING[words[place]]
    if whole and not layout.before and layout.point < len(words):
        words[layout.point] = whole + words[layout.point]
    return "".join(words)


def _fill_whole(words: list[str], places: Sequence[int], whole: str, group: str = "") -> None:
    """Fill the places before the point; more digits go into the first."""
    rest = len(whole)
    for index, place in enumerate(reversed(places)):
        start = 0 if index == len(places) - 1 else max(rest - 1, 0)
        run = whole[start : max(rest, 0)] or _FILLING[words[place]]
        words[place] = _group(run, index, group) if group else run
        rest -= 1


def _group(run: str, index: int, group: str) -> str:
    """Return digits (the last of them `index` places left of the point) with a mark after each that ends a thousand."""
    if len(run) <= 1 and index % 3:
        return run
    if run == " ":
        return "  " if index else run
    out = ""
    for offset, digit in enumerate(reversed(run)):
        at = index + offset
        out = digit + (group if at and at % 3 == 0 else "") + out
    return out


def _show_scientific(section: Section, number: float, date_1904: bool) -> str:
    """Return percent signs and trailing commas scale nothing here, and zero fills all the places before the point."""
    tokens = section.tokens
    mark = next(place for place, (kind, _) in enumerate(tokens) if kind == "exponent")
    layout = layout_of(tokens[:mark])
    width, places = len(layout.before), len(layout.after)
    whole, decimals, exponent = mantissa_of(abs(number), width, places)
    letter = tokens[mark][1]
    text = _fill(layout, whole, decimals) + letter[0] + _power(tokens[mark + 1 :], exponent, letter[1])
    return "-" + text if number < 0 else text


def mantissa_of(number: float, width: int, places: int) -> tuple[str, str, int]:
    """Return (whole, decimals, exponent) of a number that is not negative, with so many digits before and behind the
    point."""
    if not number:
        return "0" * width, "0" * places, 0
    exponent = _engineering(digits_of(number)[1] - 1, width)
    whole, decimals = fixed(number, places, -exponent)
    if len(whole) > max(width, 1) or (not width and whole):  # rounding made one more digit
        exponent = _engineering(exponent + len(whole) - (1 if width else 0), width)
        whole, decimals = fixed(number, places, -exponent)
    return whole, decimals, exponent


def _power(tokens: tuple[Token, ...], exponent: int, sign: str) -> str:
    """Return the exponent in its places, its sign right before the first of them."""
    words = ["" if kind == "comma" else word for kind, word in tokens]
    places = [place for place, (kind, _) in enumerate(tokens) if kind == "digit"]
    _fill_whole(words, places, str(abs(exponent)))
    words.insert(places[0] if places else 0, "-" if exponent < 0 else sign.strip("-"))
    return "".join(words)


def _engineering(exponent: int, width: int) -> int:
    """Return the exponent that leaves up to `width` digits before the point, in steps of that many."""
    if width == 0:
        return exponent + 1
    return exponent // width * width


def _show_fraction(section: Section, number: float, date_1904: bool) -> str:
    kinds, words = [kind for kind, _ in section.tokens], [word for _, word in section.tokens]
    top, bottom = kinds.index("numerator"), kinds.index("denominator")
    upper, lower = words[top], words[bottom]
    over, under = fraction_of(abs(number), lower)
    places = [place for place, kind in enumerate(kinds[:top]) if kind == "digit"]
    whole, over = divmod(over, under) if places else (0, over)
    hidden = bool(places) and over == 0 and "0" not in upper
    if not hidden:
        words[top], words[bottom] = _pad(upper, str(over), left=True), _pad(lower, str(under), left=False)
    if places:
        ones = words[places[-1]]
        shown = whole or hidden or ones == "0" or (ones == "?" and over == 0)
        empty = range(places[-1] + 1, bottom + 1 if hidden else top if not shown else 0)
        blank = "?" in "".join(words[place] for place in places) + upper + (lower if hidden else "")
        for place in empty:  # what stands beside a part that is nothing
            words[place] = " " * len(words[place]) if blank else ""
        _fill_whole_part(words, places, str(whole) if shown else "")
    text = "".join(words)
    return "-" + text if number < 0 else text


def fraction_of(number: float, marks: str) -> tuple[int, int]:
    """Return numerator and denominator of a number that is not negative.

    A fixed denominator, or one of so many figures.
    """
    if any(character in "123456789" for character in marks):
        under = int("".join(character for character in marks if character.isdigit()))
        return int(fixed(number * under, 0)[0] or "0"), under
    return _near_fraction(number, 10 ** min(len(marks), _DENOMINATOR_DIGITS_MAX) - 1)


def _fill_whole_part(words: list[str], places: Sequence[int], whole: str) -> None:
    group = current().group
    commas = [place for place in range(places[0], places[-1]) if words[place] == group]
    for place in commas:
        words[place] = ""
    _fill_whole(words, places, whole, group if commas else "")


def _near_fraction(number: float, largest: int) -> tuple[int, int]:
    """Return the last convergent of a number's continued fraction whose denominator is not too large.

    In doubles, as Excel has it: 0.3 is 2/7 where one figure is allowed, and 1.3 is 1 1/3.
    """
    before, last = (0, 1), (1, 0)
    rest = number
    while last[1] < largest:
        part = math.floor(rest)
        before, last = last, (part * last[0] + before[0], part * last[1] + before[1])
        if rest - part < _CONVERGED:
            break
        rest = 1.0 / (rest - part)
    return last if last[1] <= largest else before


def _pad(marks: str, text: str, *, left: bool) -> str:
    """Return a part of a fraction filled up to its places.

    0 with zeros before it, ? with blanks (those not `left` behind).
    """
    missing = marks[: max(len(marks) - len(text), 0)]
    zeros, blanks = "0" * missing.count("0"), " " * missing.count("?")
    return blanks + zeros + text if left else zeros + text + blanks


# -- dates


_CLOCK: Final = frozenset(("minute", "elapsed", "half", "fraction"))
_PARTS_OF_A_DATE: Final = frozenset(("date", "minute", "half", "fraction"))
"""Without one of them, time elapsed alone is shown, which may be negative."""


def _show_date(section: Section, number: float, date_1904: bool) -> str:
    """Return the parts of a moment, rounded to what the format shows of a second.

    A day alone is not rounded up.
    """
    tokens = section.tokens
    places = max((len(text) for kind, text in tokens if kind == "fraction"), default=0) - 1
    unit = 10 ** max(places, 0)
    elapsed = not any(kind in _PARTS_OF_A_DATE for kind, _ in tokens)
    if not (0 <= number <= SERIAL_MAX + 1 or ((date_1904 or elapsed) and -SERIAL_MAX <= number < 0)):
        raise BadFormat("no such date")
    days = int(abs(number))
    clock = any(kind in _CLOCK or (kind == "date" and text[0] in "hs") for kind, text in tokens)
    ticks = int((abs(number) - days) * 86_400 * unit + (0.5 + 1e-6 if clock else 1e-4))
    days, ticks = days + ticks // (86_400 * unit), ticks % (86_400 * unit)
    seconds, fraction = divmod(ticks, unit)
    serial = days + (DAYS_BETWEEN_SYSTEMS if date_1904 else 0)
    if serial > SERIAL_MAX:
        raise BadFormat("no such date")
    year, month, day = split(serial)
    half = any(kind == "half" for kind, _ in tokens)
    hour = seconds // 3600
    moment = {
        "y": year, "e": year, "b": year + 543, "m": month, "d": day, "h": (hour % 12 or 12) if half else hour,
        "s": seconds % 60, "minute": seconds // 60 % 60, "weekday": (serial + 6) % 7,
        "elapsed": days * 86_400 + seconds, "hour": hour,
    }  # fmt: skip
    shown = str(fraction).rjust(max(places, 0), "0")
    names = section.names or current()
    text = "".join(_date_part(kind, word, moment, shown, names) for kind, word in tokens)
    return "-" + text if number < 0 else text


def _date_part(kind: str, word: str, moment: dict[str, int], fraction: str, names: Locale) -> str:
    if kind == "minute":
        return str(moment["minute"]).rjust(len(word), "0")
    if kind == "elapsed":
        return str(moment["elapsed"] // {"h": 3600, "m": 60, "s": 1}[word[0]]).rjust(len(word), "0")
    if kind == "fraction":
        return word[0] + fraction[: len(word) - 1]
    if kind == "half":
        afternoon = moment["hour"] >= 12
        if len(word) == 5:
            return "PM" if afternoon else "AM"
        return word[2] if afternoon else word[0]
    return _day_part(word, moment, names) if kind == "date" else word


def _day_part(word: str, moment: dict[str, int], names: Locale) -> str:
    """Return what a run of a letter of dates shows: dd, mmm, yyyy, aaaa."""
    letter, length = word[0], len(word)
    if letter == "g":
        return ""
    if letter in "yb":
        return f"{moment[letter]:04d}" if length > 2 else f"{moment[letter] % 100:02d}"
    if letter == "m" and length > 2:
        name = names.months[moment["m"] - 1]
        return names.months_short[moment["m"] - 1] if length == 3 else name[0] if length == 5 else name
    if letter == "d" and length > 2:
        return (names.days_short if length == 3 else names.days)[moment["weekday"]]
    if letter == "a":
        return (names.native_days or (names.days, names.days_short))[length == 3][moment["weekday"]]
    return str(moment[letter]).rjust(min(length, 2), "0")


# -- the rest


def _show_general(section: Section, number: float, date_1904: bool) -> str:
    shown = general_display(number).replace(".", current().decimal)
    return "".join(shown if kind == "general" else word for kind, word in section.tokens)


def _show_literal(section: Section, number: float, date_1904: bool) -> str:
    text = "".join(word for _, word in section.tokens)
    return "-" + text if number < 0 and text else text


def _show_as_text(section: Section, number: float, date_1904: bool) -> str:
    return _substitute(section, lambda: str(to_text(number)))


_SHOWN: Final[dict[str, Callable[[Section, float, bool], str]]] = {
    "number": _show_number, "scientific": _show_scientific, "fraction": _show_fraction, "date": _show_date,
    "general": _show_general, "literal": _show_literal, "text": _show_as_text,
}  # fmt: skip


def general_display(number: float) -> str:
    """Return a number under General, which has eleven places beside the sign.

    0.333333333, 1.23457E+11.
    """
    digits, point = digits_of(abs(number))
    sign = "-" if number < 0 else ""
    if -9 < point <= _GENERAL_WIDTH:
        whole, decimals = fixed(abs(number), max(_GENERAL_WIDTH - 1 - max(point, 1), 0))
        text = f"{whole or '0'}.{decimals}".rstrip("0").rstrip(".") if decimals else whole
        shown = len(text.replace(".", "").lstrip("0"))
        if len(whole) <= _GENERAL_WIDTH and (point > -4 or shown >= len(digits.rstrip("0"))):
            return sign + text
    mantissa, _, exponent = f"{float(f'0.{digits}e{point}'):.5e}".partition("e")
    return f"{sign}{mantissa.rstrip('0').rstrip('.')}E{exponent}"
