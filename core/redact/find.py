"""Where in a text personal data stands, and of which kind.

By shape, check digits and the words before it.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import islice
from typing import Final, NamedTuple

from stdnum import iban, luhn, numdb
from stdnum.us import itin, ssn

from core.redact.kinds import KINDS
from core.redact.patterns import linear
from core.redact.phones import REGIONS, phones_in
from core.redact.plain import plain_of


class Span(NamedTuple):
    """Personal data in a text: characters `start` to `end - 1`."""

    start: int
    end: int
    kind: str


def find(text: str, kinds: Collection[str] = KINDS, regions: Sequence[str] = REGIONS) -> list[Span]:
    """Return the personal data of some kinds in a text, from the left, none over another; time linear in the text's
    length."""
    plain = plain_of(text)
    taken: list[Span] = []
    for name in KINDS:
        if name not in kinds:
            continue
        spans = phones_in(plain.text, regions) if name == "phone" else _FINDERS[name](plain.text)
        for start, end in spans:
            taken.append(Span(*plain.origin(start, end), name))
    return _apart(taken)


def _apart(spans: list[Span]) -> list[Span]:
    """Return spans without overlaps.

    Where two claim a character, the kind that comes first in the table has it.
    """
    if len(spans) < 2:
        return spans
    ranks = {name: rank for rank, name in enumerate(KINDS)}
    kept: list[Span] = []
    for span in sorted(set(spans), key=lambda span: (span.start, ranks[span.kind], -span.end)):
        if kept and span.start < kept[-1].end:
            last = kept[-1]
            kind = min(last.kind, span.kind, key=ranks.__getitem__)
            kept[-1] = Span(last.start, max(last.end, span.end), kind)  # what both claim is hidden as one
        else:
            kept.append(span)
    return kept


# Numbers with check digits


_RUN: Final = linear(r"[0-9]{14,}|[0-9]+(?:[ -][0-9]+){2,}")
"""Many digits, alone or in groups: what a card's or a social security number may stand in."""
_CARD_GROUPS: Final = ((4, 4, 4, 4), (4, 4, 4, 4, 3), (4, 6, 5), (4, 6, 4), (16,), (15,), (14,), (19,))
_CARD: Final = re.compile(
    r"4(?:\d{15}|\d{18})|5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}|3[47]\d{13}"
    r"|3(?:0[0-5]|[68]\d)\d{11}|(?:6011|64[4-9]\d|65\d\d)\d{12}|35(?:2[89]|[3-8]\d)\d{12}|62\d{14}(?:\d{3})?"
    r"|(?:50|5[6-8]|6304|6759|676[123])\d{12,14}"
)
"""Prefixes and lengths: Visa, Mastercard (both ranges), American Express, Diners, Discover, JCB, UnionPay, Maestro."""


def is_card(digits: str) -> bool:
    """Return whether digits are a card's.

    A known prefix with its length, and the check digit; all the same are none.
    """
    return _CARD.fullmatch(digits) is not None and len(set(digits)) > 1 and luhn.is_valid(digits)


def is_ssn(digits: str) -> bool:
    """Return whether nine digits can be a US social security or individual taxpayer number."""
    dashed = f"{digits[:3]}-{digits[3:5]}-{digits[5:]}"
    return len(digits) == 9 and (ssn.is_valid(dashed) or itin.is_valid(digits))


def _groups(text: str) -> Iterator[list[tuple[int, int]]]:
    """Yield the spans of the groups of each run of digits that begins and ends no longer word."""
    for match in _RUN.finditer(text):
        begin, end = match.span()
        at, spans = begin, []
        for group in re.split("[ -]", match[0]):
            spans.append((at, at + len(group)))
            at += len(group) + 1
        if text[end : end + 1].isalpha() or text[end : end + 1] == "_":
            spans.pop()
        if spans and (text[begin - 1 : begin].isalpha() or text[begin - 1 : begin] == "_") and begin:
            spans.pop(0)
        if spans:
            yield spans


def _windows(text: str, shapes: Sequence[tuple[int, ...]]) -> Iterator[tuple[int, int, str]]:
    """Yield groups in a row whose lengths are one of the shapes and that one sign divides: span and written."""
    for spans in _groups(text):
        lengths = [end - start for start, end in spans]
        for at in range(len(spans)):
            for shape in shapes:
                if tuple(lengths[at : at + len(shape)]) == shape:
                    start, end = spans[at][0], spans[at + len(shape) - 1][1]
                    signs = {text[last] for _, last in spans[at : at + len(shape) - 1]}
                    if len(signs) < 2 and text[start - 1 : start] != "." and not _is_fraction(text, end):
                        yield start, end, text[start:end]


def _is_fraction(text: str, end: int) -> bool:
    """Return whether a number goes on behind its digits: an amount, no identifier."""
    return text[end : end + 1] in {".", ","} and text[end + 1 : end + 2].isdigit()


def _cards(text: str) -> Iterator[tuple[int, int]]:
    for start, end, written in _windows(text, _CARD_GROUPS):
        if is_card(re.sub("[ -]", "", written)):
            yield start, end


_SSN_LABELLED: Final = linear(
    r"(?i)\b(?:ssn|social security(?: (?:no|number))?|itin)\b[.:# ]{0,3}([0-9]{3}[ -]?[0-9]{2}[ -]?[0-9]{4})\b"
)


def _ssns(text: str) -> Iterator[tuple[int, int]]:
    for start, end, written in _windows(text, ((3, 2, 4),)):
        alone = text[start - 1 : start] != "-" and text[end : end + 1] != "-"
        if "-" in written and alone and is_ssn(written.replace("-", "")):
            yield start, end
    for match in _SSN_LABELLED.finditer(text):
        yield match.span(1)


_IBAN: Final = linear(r"(?i)\b[A-Z]{2}[0-9]{2}(?:[ -]?[A-Z0-9]){11,40}")
_COUNTRY: Final = re.compile(r"\d+")
_IBAN_LENGTHS: Final[dict[str, int]] = {}


def _iban_length(country: str) -> int:
    """Return characters of a country's IBAN; 0 where it has none."""
    if country not in _IBAN_LENGTHS:
        structure = numdb.get("iban").info(country)[0][1].get("bban", "")
        _IBAN_LENGTHS[country] = 4 + sum(map(int, _COUNTRY.findall(structure))) if structure else 0
    return _IBAN_LENGTHS[country]


def _ibans(text: str) -> Iterator[tuple[int, int]]:
    for match in _IBAN.finditer(text):
        length, start = _iban_length(match[0][:2].upper()), match.start()
        places = [start + at for at, sign in enumerate(match[0]) if sign not in " -"][:length]
        if len(places) < length or not length or text[places[-1] + 1 : places[-1] + 2].isalnum():
            continue
        if iban.is_valid("".join(text[at] for at in places), check_country=False):
            yield start, places[-1] + 1


# Addresses


_LOCAL: Final = r"(?:\"[^\"@]{1,64}\"|[\pL\pN_%+\-][\pL\pN\pM._%+\-'*!#$^{|}~]*)"
_LABEL: Final = r"[\pL\pN](?:[\pL\pN\pM-]*[\pL\pN])?"
_EMAIL: Final = linear(rf"{_LOCAL}@{_LABEL}(?:\.{_LABEL})+")
_EMAIL_SPACED: Final = linear(
    rf"(?i){_LOCAL} {{0,2}}(?:@| ?[(\[{{<] ?at ?[)\]}}>] ?| at ) {{0,2}}"
    rf"{_LABEL}(?: ?(?:\.|[(\[{{<] ?dot ?[)\]}}>]| dot ) ?{_LABEL})+"
)
LABELS_MAX: Final = 20
"""Parts of a domain between its dots that are looked at."""
_DOT: Final = re.compile(r" ?(?:\.|[(\[{<] ?dot ?[)\]}>]| dot ) ?", re.IGNORECASE)
_TLD: Final = re.compile(r"[^\W\d_]{2,24}|xn--[a-z0-9-]{2,59}", re.IGNORECASE)
_COMMON: Final = re.compile("com|net|org|edu|gov|info|biz|io")
"""Ends of domains that no word at a sentence's begin is taken for."""
_COUNTRIES: Final = re.compile(
    "eu|us|uk|de|fr|nl|it|es|ch|at|be|lu|ie|se|no|dk|fi|pl|pt|cz|gr|jp|cn|hk|sg|au|nz|ca|mx|br|za|ae|co"
)
_SIGN: Final = re.compile(r" {0,2}(@| ?[(\[{<] ?at ?[)\]}>] ?| at ) {0,2}", re.IGNORECASE)


def _emails(text: str) -> Iterator[tuple[int, int]]:
    if "@" in text:
        yield from _plain_emails(text)
    if "@" in text or "at" in text.lower():
        yield from _spaced_emails(text)


def _plain_emails(text: str) -> Iterator[tuple[int, int]]:
    """Yield addresses as programs write them."""
    for match in _EMAIL.finditer(text):
        start, end = match.span()
        domain = match[0][match[0].rindex("@") + 1 :]
        labels = domain.split(".", LABELS_MAX)
        if len(labels) > LABELS_MAX:
            end -= len(labels.pop()) + 1
        while len(labels) > 1 and not _TLD.fullmatch(labels[-1]):
            end -= len(labels.pop()) + 1
        if len(labels) > 1:
            yield start, end


def _spaced_emails(text: str) -> Iterator[tuple[int, int]]:
    """Yield addresses as people write them: name at bank dot com."""
    for match in _EMAIL_SPACED.finditer(text):
        start, end = match.span()
        local, sign, domain = _SIGN.split(match[0], maxsplit=1)
        if not re.search(r"[^\W\d_]", local) or (sign == " at " and " dot " not in domain.lower()):
            continue
        dots = list(islice(_DOT.finditer(domain), LABELS_MAX))
        for last in range(len(dots) - 1, -1, -1):  # words of the next sentence are cut off again
            begin = dots[last].end()
            stop = dots[last + 1].start() if last + 1 < len(dots) else len(domain)
            tail, spaced = domain[begin:stop].casefold(), any(len(dot[0]) > 1 for dot in dots[: last + 1])
            if _COMMON.fullmatch(tail) or (not spaced and _COUNTRIES.fullmatch(tail)):
                yield start, end - (len(domain) - stop)
                break


_ADDRESS: Final = linear(r"(?i)\b(?:[0-9]{1,3}(?:\.[0-9]{1,3}){3}|[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){3,7})\b")
_SECTION: Final = re.compile(
    r"(?:section|sec\.?|clause|§|version|v\.?|schedule|exhibit|article|rule) ?$", re.IGNORECASE
)


def _ip_addresses(text: str) -> Iterator[tuple[int, int]]:
    for match in _ADDRESS.finditer(text):
        start, end = match.span()
        if text[start - 1 : start] == "." or (text[end : end + 1] == "." and text[end + 1 : end + 2].isdigit()):
            continue
        try:
            address = ipaddress.ip_address(match[0])
        except ValueError:
            continue
        if address.version == 4:
            long = any(len(part) == 3 for part in match[0].split("."))
            if not long or _SECTION.search(text[max(0, start - 12) : start]):  # 10.2.1.3 is a clause
                continue
        yield start, end


# What a word says that stands before it


_DATE: Final = (
    r"(?:[0-9]{1,4}[-/. ][0-9]{1,2}[-/. ][0-9]{2,4}"
    r"|[0-9]{1,2}(?:st|nd|rd|th|\.)?[ -]?(?:of )?[a-zäéû]{3,9}\.?[ ,-]{1,2}[0-9]{2,4}"
    r"|[a-zäéû]{3,9}\.? [0-9]{1,2}(?:st|nd|rd|th)?,? [0-9]{4})"
)
_BORN: Final = linear(
    r"(?i)\b(?:dob|d\.o\.b\.?|date of birth|birth ?date|born(?: on)?|geburtsdatum|geboren(?: am)?|n[ée]e? le)"
    rf"(?: ?- ?|[:. ]{{1,3}})({_DATE})\b"
)
_DOCUMENT: Final = linear(
    r"(?i)\b(?:passport|national (?:id|insurance)|driver'?s licen[cs]e|driving licen[cs]e|identity card|id card|nino)"
    r"(?: ?(?:no|nr|number|#))?[.:# ]{1,3}([A-Z]{0,5} ?[0-9][A-Z0-9 -]{4,16}[A-Z0-9]?)\b"
)
_NAME_WORD: Final = r"(?:\p{Lu}[\pL\pM'’-]*\.?|(?:de|da|di|del|der|den|van|von|la|le|bin|al)\b)"
_NAMED: Final = linear(
    r"(?:(?i:\b(?:contact(?: name| person)?|analysts?(?: name)?"
    r"|(?:prepared|reviewed|approved|checked|signed|verified) by|preparer|reviewer"
    r"|portfolio manager|relationship manager|trader|signatory|attn|attention|ansprechpartner))"
    r"\.? ?[:-] ?|(?i:\b(?:prepared|reviewed|approved|checked|signed|verified) by) |(?i:\battn\.?) )"
    rf"((?:(?:Mr|Mrs|Ms|Dr|Prof)\.? )?\p{{Lu}}[\pL\pM'’-]*\.?(?: {_NAME_WORD}){{1,4}})",
    ignore_case=False,
)


_NO_NAME: Final = re.compile(r" (?:tel|telefon|phone|fax|mobile|mob|direct|cell|e-?mail)\b", re.IGNORECASE)
"""What may follow a name without a sign between them."""


def _births(text: str) -> Iterator[tuple[int, int]]:
    for match in _BORN.finditer(text):
        yield match.span(1)


def _documents(text: str) -> Iterator[tuple[int, int]]:
    for match in _DOCUMENT.finditer(text):
        written = match[1].rstrip()
        while (last := re.search(r" [A-Z-]{2,}$", written, re.IGNORECASE)) is not None:  # the sentence that goes on
            written = written[: last.start()].rstrip()
        if sum(sign.isdigit() for sign in written) >= 5:
            yield match.start(1), match.start(1) + len(written)


_ORGANISATION: Final = re.compile(
    r"(?i)\b(?:llc|inc|incorporated|corp|corporation|company|co|ltd|limited|plc|lp|llp|sa|s\.a|sarl|s\.à|gmbh|ag|nv|bv|spa|srl"
    r"|pty|kg|se|clo|bank|bancorp|banque|trust|trustees?|funds?|capital|partners|partnership|holdings?|groups?|management"
    r"|manager|advisors?|advisers?|assets?|services?|securities|financial|finance|credit|dep(?:artmen)?t|desk|team|agency"
    r"|agent|office|operations|ops|committee|association|issuer|borrower|obligor|global|international|investments?|markets"
    r"|lending|loans?|administration|administrator|client|support|reporting|systems?|solutions|industries|party|above|below"
    r"|counsel|report|date|name|title|total|phone|telephone|e-?mail|address|national|analytics|ratings?|research|street)\b"
)
_PERSON: Final = re.compile(
    r"(?:(?:mr|mrs|ms|miss|dr|prof|sir)\.? )?[^\W\d_][\w'’.-]*(?: (?:[^\W\d_][\w'’.-]*)){1,4}"
    r"(?:,? (?:jr|sr|ii|iii|cfa|phd|md)\.?)*"
    r"|[^\W\d_][\w'’-]*(?: [^\W\d_][\w'’-]*)?, (?:[^\W\d_][\w'’.-]*)(?: [^\W\d_][\w'’.-]*){0,2}",
    re.IGNORECASE,
)
NAME_LENGTH_MAX: Final = 80
"""Characters of a person's name; longer texts are sentences."""


def is_person(written: str) -> bool:
    """Return whether a text can be a person's name.

    Two to five words, or "Surname, Given", and no word of an organisation.
    """
    written = " ".join(plain_of(written[: 2 * NAME_LENGTH_MAX]).text.split())
    if len(written) > NAME_LENGTH_MAX or any(sign.isdigit() for sign in written) or _ORGANISATION.search(written):
        return False
    names = re.split(r" ?(?:[;/&]| and ) ?", written)
    return all(_PERSON.fullmatch(name) for name in names)


def is_organisation(written: str) -> bool:
    """Return whether a text has a word that organisations and their desks have in their names."""
    return _ORGANISATION.search(written[: 4 * NAME_LENGTH_MAX]) is not None


def _persons(text: str) -> Iterator[tuple[int, int]]:
    for match in _NAMED.finditer(text):
        start, end = match.span(1)
        name = _NO_NAME.split(match[1])[0]
        end = start + len(name)
        organisation = _ORGANISATION.search(text[end : end + 40])
        follows = organisation is not None and not re.search(r"[,;:.()/\n-]", text[end : end + organisation.start()])
        if not follows and is_person(name):
            yield start, end - (name.endswith(".") and name[-3:-2].isalpha())  # an initial keeps its point


_FINDERS: Final[dict[str, Callable[[str], Iterator[tuple[int, int]]]]] = {
    "us_ssn": _ssns,
    "iban": _ibans,
    "payment_card": _cards,
    "identity_document": _documents,
    "birth_date": _births,
    "email": _emails,
    "person": _persons,
    "ip_address": _ip_addresses,
}
