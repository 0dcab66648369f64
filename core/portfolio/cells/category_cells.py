"""Words to a category: industry, country, currency, lien, base rate."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from core.portfolio.cells.string_pool import key
from core.portfolio.model.fields import COUNTRIES, INDUSTRIES, Lien
from core.remembered import remembered

CATEGORY_LENGTH_MAX: Final = 200
"""Characters of a category's text that are looked at (lien, industry, country, ...); a longer one is kept as it is."""


_INDUSTRY_OF: Final = {}  # filled below, when the function that makes its keys is known


def _industry_key(text: str) -> str:
    lowered = text.lower()
    lowered = lowered.removeprefix("corp - ")
    return key(lowered).replace(" ", "")


_INDUSTRY_OF.update({_industry_key(name): name for name in INDUSTRIES})


_CODE_BESIDE: Final = re.compile(r"^[A-Z]?\d{1,8}\s*[-\u2013:.|)]?\s+|\s*[(\[]\d{1,8}[)\]]$")
"""The code of an industry before its name, or in brackets behind it."""


def _industry_beside_code(text: str) -> str | None:
    """Return the list's spelling of "31 - Transportation: Cargo"; None for others."""
    return _INDUSTRY_OF.get(_industry_key(name)) if (name := _CODE_BESIDE.sub("", text[:CATEGORY_LENGTH_MAX])) else None


def industries(texts: Iterable[str]) -> list[str]:
    """Return canonical industries: the list's spelling, else the least alike one."""
    texts = list(texts)
    keys = [_industry_key(text) if len(text) <= CATEGORY_LENGTH_MAX else text for text in texts]
    spelling: dict[str, str] = {}
    for text, text_key in zip(texts, keys, strict=True):
        known = _INDUSTRY_OF.get(text_key) or _industry_beside_code(text)
        spelling[text_key] = known or min(spelling.get(text_key, text), text)
    return [spelling[text_key] for text_key in keys]


_COUNTRY_OF: Final = {key(name): code for code, names in COUNTRIES.items() for name in (code, *names)}


def country(text: str) -> str:
    """Return the ISO code of a country that has one here, else the text.

    Beside a country may stand its code or one of its states: "Delaware, USA", "US-DE".
    """
    if len(text) > CATEGORY_LENGTH_MAX:
        return text
    return _COUNTRY_OF.get(key(text)) or _country_of_parts(text) or text


@remembered(4_096)
def _country_of_parts(text: str) -> str:
    """Return the country of a text of nothing but parts of its name, else "".

    Two letters alone count where no name tells the country: "CA" may be California.
    """
    parts = [words for part in _PARTS.split(text) if (words := key(part)) and words not in _BESIDE_NAMES]
    states = [_STATE_OF.get(part, "") for part in parts]
    if not all(state or part in _COUNTRY_OF for part, state in zip(parts, states, strict=True)):
        return ""
    names = {_COUNTRY_OF[part] for part in parts if part in _COUNTRY_OF and (len(part) > 2 or part in ("us", "uk"))}
    names = names or {state for part, state in zip(parts, states, strict=True) if len(part) > 2 and part != "georgia"}
    if names:
        return names.pop() if len(names) == 1 else ""
    return _COUNTRY_OF.get(parts[0], "") if parts and _SUBDIVISION.fullmatch(text.strip()) else ""


_PARTS: Final = re.compile(r"[,;:()/|\u2013\u2014-]")
_SUBDIVISION: Final = re.compile(r"[A-Z]{2}\s?(?:-\s?[A-Z]{2}|\([A-Z]{2}\))")
"""A country's code and that of a part of it, as ISO 3166-2 has them: "CA-ON"."""
_STATE_OF: Final = {
    name: code
    for code, names in {
        "US": "alabama alaska arizona arkansas california colorado connecticut delaware florida hawaii idaho illinois "
        "indiana iowa kansas kentucky louisiana maine maryland massachusetts michigan minnesota mississippi missouri "
        "montana nebraska nevada new_hampshire new_jersey new_mexico new_york north_carolina north_dakota ohio "
        "oklahoma oregon pennsylvania rhode_island south_carolina south_dakota tennessee texas utah vermont virginia "
        "georgia washington west_virginia wisconsin wyoming district_of_columbia "
        "al ak az ar ca co ct de fl ga hi id il in ia ks ky la me md ma mi mn ms mo mt ne nv nh nj nm ny nc nd oh ok "
        "or pa ri sc sd tn tx ut vt va wa wv wi wy dc",
        "CA": "alberta british_columbia manitoba new_brunswick nova_scotia ontario quebec saskatchewan ab bc mb ns on "
        "qc sk",
        "GB": "england_and_wales scotland wales northern_ireland eng sct wls nir",
    }.items()
    for name in (words.replace("_", " ") for words in names.split())
}
"""States and provinces by name and by code; Georgia alone is a country, too."""
_BESIDE_NAMES: Final = frozenset(("the", "republic of", "kingdom of", "grand duchy of"))


_CURRENCY_OF: Final = {
    word: code
    for code, words in {
        "USD": ("us dollar", "us dollars", "dollar", "dollars", "u s dollar", "united states dollar"),
        "EUR": ("euro", "euros"),
        "GBP": ("pound", "pounds", "sterling", "pound sterling", "british pound", "great british pound"),
        "CHF": ("swiss franc", "swiss francs"),
        "SEK": ("swedish krona",),
        "NOK": ("norwegian krone",),
        "DKK": ("danish krone",),
        "CAD": ("canadian dollar", "canadian dollars"),
        "AUD": ("australian dollar", "australian dollars"),
        "JPY": ("yen", "japanese yen"),
        "PLN": ("zloty", "polish zloty"),
    }.items()
    for word in words
}
_CURRENCY_SIGNS: Final = {"$": "USD", "US$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY"}


def currency(text: str) -> str:
    """Return the ISO 4217 code of a currency's name or sign, else upper case."""
    if len(text) > CATEGORY_LENGTH_MAX:
        return text
    return _CURRENCY_SIGNS.get(text.strip()) or _CURRENCY_OF.get(key(text)) or text.upper()


# In order: the first rule whose words stand in the text decides.
_LIENS: Final = (
    (
        re.compile(
            r"\b(second|2nd|third|3rd|2 ?l|junior) ?(lien|l|secured)?\b|\bnon (senior secured|first lien)\b"
            r"|\b1 5 lien\b|^[23]$|\bjr (lien|sec\w*)\b"
            r"|\b(zweit|dritt)rang\w*|\b([23]|2eme|2e|deuxieme|segundo|segunda|tweede|secondo) "
            r"(rang|rango|gravamen|pandrecht|hypotheek|grado)\b|\brang [23]\b|^segund[oa]$"
        ),
        Lien.SECOND_LIEN,
    ),
    (
        re.compile(
            r"\b(unsec\w*|non? secured|not secured|mezzanine?|mezz|subordinated|sub debt|(senior|snr|sr) (sub|uns))\b"
            r"|^(sub|uns|sun)$"
            r"|\b(unbesichert\w*|ungesichert\w*|nachrangig\w*|chirographaire|non (garanti|securise)e?s?|subordonnee?s?"
            r"|subordinad[oa]s?|no garantizad[oa]s?|sin garantia|quirografari[oa]s?|achtergesteld\w*|ongedekt\w*)\b"
        ),
        Lien.UNSECURED,
    ),
    # A bond that is not said to be unsecured or junior is senior secured as often as not: kept apart.
    (re.compile(r"\b(bonds?|notes?|fixed income|high yield)\b|^ssn$"), Lien.BOND),
    (
        re.compile(
            r"\b(first|1st|1 ?l|senior|sr|snr|secured|term loan|term loans|loan|loans|revolver|revolving|delayed draw"
            r"|ddtl|tl|tl ?[a-z]\d?|rcf|dip|unitranche|first out|last out|fllo|folo)\b|^1$|^sen sec\b"
            r"|\b(erstrang\w*|vorrangig\w*|besichert\w*|garantie?s?|garantizad[oa]s?)\b|\brang 1\b|^primer[oa]$"
            r"|\b(1|1er|1ere|premiere?|primera?|eerste|primo) (rang|rango|gravamen|pandrecht|hypotheek|grado)\b"
        ),
        Lien.FIRST_LIEN,
    ),
)  # fmt: skip


@remembered(4_096)
def lien(text: str) -> Lien:
    """Return the lien that the words of a text name; OTHER where they name none."""
    if len(text) > CATEGORY_LENGTH_MAX:
        return Lien.OTHER
    words = key(text)
    return next((place for rule, place in _LIENS if rule.search(words)), Lien.OTHER)


_FAMILIES: Final = (
    (re.compile(r"\bfixed\b"), "FIXED"),
    (re.compile(r"sofr|\btsfr"), "SOFR"),
    (re.compile(r"euribor|\beur0|^e$"), "EURIBOR"),
    (re.compile(r"libor|\bus0|^l$"), "LIBOR"),
    (re.compile(r"sonia"), "SONIA"),
    (re.compile(r"saron"), "SARON"),
    (re.compile(r"estr\b"), "ESTR"),
    (re.compile(r"corra"), "CORRA"),
    (re.compile(r"cdor"), "CDOR"),
    (re.compile(r"bbsy|bbsw"), "BBSY"),
    (re.compile(r"tibor"), "TIBOR"),
    (re.compile(r"prime|\bbase rate\b|\babr\b"), "PRIME"),
    (re.compile(r"^s$"), "SOFR"),
)
FLOATING_INDEXES: Final = tuple(dict.fromkeys(name for _, name in _FAMILIES if name != "FIXED"))
"""Families of reference rates, as `base_rate` names them."""

_OTHER_LIBOR: Final = re.compile(r"\b(chf|eur|gbp|jpy)\b")
"""Currencies of LIBOR but the dollar, which it is of where none is named."""
_TENOR: Final = re.compile(r"(?:^|[^0-9])0*(1|2|3|6|12) ?(?:m|mo|mos|mth|months?)\b")
_YEAR: Final = re.compile(r"\b(?:1 ?y|1 ?yr|1 ?years?|12 months)\b")


@remembered(4_096)
def base_rate(text: str) -> str:
    """Return a reference rate's index: "SOFR-3M", "PRIME", "FIXED"; else upper case."""
    if len(text) > CATEGORY_LENGTH_MAX:
        return text
    words = key(text)
    family = next((name for rule, name in _FAMILIES if rule.search(words)), None)
    if family is None:
        return " ".join(text.upper().split())
    if family == "LIBOR" and (currency := _OTHER_LIBOR.search(words)):
        family = f"{currency[1].upper()} LIBOR"
    tenor = "12" if _YEAR.search(words) else match[1] if (match := _TENOR.search(words)) else ""
    return f"{family}-{tenor}M" if tenor and family not in ("FIXED", "PRIME") else family


_FIXED_WORDS: Final = frozenset(("fxd", "fx", "fixd"))
_FLOATING_WORDS: Final = frozenset(("fl", "flt", "fltg", "fltr", "var", "frn", "adj", "arm"))
"""Abbreviations of the kinds of coupon."""


def coupon_is_fixed(text: str) -> int:
    """Return 1 for a fixed coupon, 0 for a floating one, -1 where unknown."""
    words = key(text)
    word_set = set(words.split())
    is_floating = "flo" in words or "variable" in words or "adjust" in words or bool(word_set & _FLOATING_WORDS)
    if ("fix" in words or word_set & _FIXED_WORDS) and "float" not in words:
        return 1
    return 0 if is_floating else -1
