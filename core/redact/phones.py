"""Telephone numbers.

What is written as one, and is one of a country that the caller named.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

import phonenumbers

from core.redact.patterns import linear

REGIONS: Final = ("US", "GB", "IE", "DE", "FR", "NL", "CH", "IT", "LU")
"""Countries whose national way of writing a number is known without being told."""

_EXTENSION: Final = r"(?:[ ,;]{0,2}(?:ext?\.?|extension|x)[ .:]{0,2}[0-9]{1,6}\b)?"
_INTERNATIONAL: Final = linear(
    r"(?i)(?:\+|\b00|\b011[ -])[ ]?[1-9](?:[ ./-]{0,2}(?:\(0?[0-9]{0,4}\))?[ ./-]{0,2}[0-9]){6,14}\b" + _EXTENSION
)
_NATIONAL: Final = linear(
    r"(?i)(?:(?:\b1[-. ]?)?\([0-9]{2,5}\)[ -]?[0-9]{2,8}(?:[ .-][0-9]{2,8}){0,4}"
    r"|\b(?:1[-. ])?[2-9][0-9]{2}[-.][2-9][0-9]{2}[-.][0-9]{4}"
    r"|\b0[1-9][0-9]{0,4}(?:[ /-][0-9]{2,8}){1,5})\b" + _EXTENSION
)
_LABELLED: Final = linear(
    r"(?i)\b(?:(?:tele)?phone|tel|telefon|t[eé]l|t[eé]l[eé]phone|fax|mobile|mob|cell|cell ?phone|handy|direct dial"
    r"|dial-?in|whatsapp|ph)(?: ?(?:no|nr|number|#))?(?:\.? ?[:.#]|) ?(\+?[0-9(][0-9 ()./-]{5,24}[0-9]"
    + _EXTENSION
    + ")"
)
NATIONAL_DIGITS_LEAST: Final = 9
"""Digits of a number that nothing but its groups tells; Germany has shorter ones, and 06/2030 is a month."""
_GROUPS: Final = re.compile(r"\d+")


def phones_in(text: str, regions: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield spans of telephone numbers in a plain text; one may come twice.

    Without a country's code in front, and without a word such as "Tel." before it, a number counts only where it is
    grouped as its country prints it: "020 7946 0958", never "12 345 678".
    """
    for match in _INTERNATIONAL.finditer(text):
        start, end = match.span()
        if _stands_alone(text, start, end) and _is_international(match[0]):
            yield start, end
    for match in _LABELLED.finditer(text):
        start, end = match.span(1)
        if not text[end : end + 1].isalnum() and _has_label(match[1], tuple(regions)):
            yield start, end
    for match in _NATIONAL.finditer(text):
        start, end = match.span()
        if _stands_alone(text, start, end) and _is_national(match[0], tuple(regions)):
            yield start, end


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Return whether no longer word, number or formula goes on at either side.

    "SOFR+3.25", "1-212-555-0123-4", "@+49".
    """
    before, after = text[start - 1 : start], text[end : end + 2]
    if before.isalnum() or before in {"_", "-", ".", "/", "*", "$", "%", "#"}:
        return False
    return not (after[:1].isalnum() or (after[:1] in {"-", "/", ".", ",", "*", "%", "_"} and after[1:].isalnum()))


@lru_cache(maxsize=4_096)
def _is_international(written: str) -> bool:
    groups = _GROUPS.findall(re.split(r"(?i)[,;]|e?xt", written)[0])
    digits = sum(map(len, groups))
    if re.fullmatch(r"\+ ?\d+\.\d+", written):  # a spread: +3.25000
        return False
    in_thousands = len(groups) > 2 and len(groups[0]) <= 3 and all(len(group) == 3 for group in groups[1:])
    if in_thousands and digits <= 9:  # +12 345 678 is a change of par
        return False
    if not written.startswith("+"):
        written = "+" + re.sub(r"^(?:00|011)[ -]?", "", written)
        if len(groups) == 1:  # 00442079460958 may be any account
            return False
    return _is_valid(written.replace("(0)", ""), None)


@lru_cache(maxsize=4_096)
def _has_label(written: str, regions: tuple[str, ...]) -> bool:
    digits = sum(map(len, _GROUPS.findall(written)))
    if written.startswith("+"):
        return _is_international(written)
    if re.fullmatch(r"\d{3}[-. ]\d{4}", written):
        return True
    return digits >= 7 and any(_is_valid(written, region) for region in regions)


@lru_cache(maxsize=4_096)
def _is_national(written: str, regions: tuple[str, ...]) -> bool:
    """Return whether some region prints the number in these very groups."""
    if sum(map(len, _GROUPS.findall(written))) < NATIONAL_DIGITS_LEAST:
        return False
    for region in regions:
        try:
            number = phonenumbers.parse(written, region)
        except phonenumbers.NumberParseException:
            continue
        if not phonenumbers.is_valid_number_for_region(number, region):
            continue
        own = re.split(r"(?i)[,;]|e?xt|x", written)[0]
        number.extension = None
        printed = phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.NATIONAL)
        groups, printed_groups = _GROUPS.findall(own), _GROUPS.findall(printed)
        if groups in (printed_groups, ["1", *printed_groups]):
            return True
    return False


def _is_valid(written: str, region: str | None) -> bool:
    try:
        return phonenumbers.is_valid_number(phonenumbers.parse(written, region))
    except phonenumbers.NumberParseException:
        return False


def canonical_phone(written: str, regions: Sequence[str]) -> str:
    """Return the number in international digits where it can be read, so that all its prints have one token."""
    for region in (None, *regions):
        try:
            number = phonenumbers.parse(written, region)
        except phonenumbers.NumberParseException:
            continue
        if phonenumbers.is_valid_number(number):
            return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)
    return "".join(_GROUPS.findall(written))
