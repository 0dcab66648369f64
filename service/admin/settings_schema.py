"""What a tenant's settings may be.

Currencies, time zones, locales and networks, each checked by its own standard.
"""

from __future__ import annotations

import re
from functools import cache
from ipaddress import ip_network
from typing import Final
from zoneinfo import available_timezones

from core.portfolio.cells.text.date_format import DateFormatError, date_reader
from core.reconciliation.rules import RULES

CURRENCIES: Final = frozenset(
    (
        *("AED", "AFN", "ALL", "AMD", "AOA", "ARS", "AUD", "AWG", "AZN", "BAM", "BBD", "BDT", "BHD", "BIF"),
        *("BMD", "BND", "BOB", "BOV", "BRL", "BSD", "BTN", "BWP", "BYN", "BZD", "CAD", "CDF", "CHE", "CHF"),
        *("CHW", "CLF", "CLP", "CNY", "COP", "COU", "CRC", "CUP", "CVE", "CZK", "DJF", "DKK", "DOP", "DZD"),
        *("EGP", "ERN", "ETB", "EUR", "FJD", "FKP", "GBP", "GEL", "GHS", "GIP", "GMD", "GNF", "GTQ", "GYD"),
        *("HKD", "HNL", "HTG", "HUF", "IDR", "ILS", "INR", "IQD", "IRR", "ISK", "JMD", "JOD", "JPY", "KES"),
        *("KGS", "KHR", "KMF", "KPW", "KRW", "KWD", "KYD", "KZT", "LAK", "LBP", "LKR", "LRD", "LSL", "LYD"),
        *("MAD", "MDL", "MGA", "MKD", "MMK", "MNT", "MOP", "MRU", "MUR", "MVR", "MWK", "MXN", "MXV", "MYR"),
        *("MZN", "NAD", "NGN", "NIO", "NOK", "NPR", "NZD", "OMR", "PAB", "PEN", "PGK", "PHP", "PKR", "PLN"),
        *("PYG", "QAR", "RON", "RSD", "RUB", "RWF", "SAR", "SBD", "SCR", "SDG", "SEK", "SGD", "SHP", "SLE"),
        *("SOS", "SRD", "SSP", "STN", "SVC", "SYP", "SZL", "THB", "TJS", "TMT", "TND", "TOP", "TRY", "TTD"),
        *("TWD", "TZS", "UAH", "UGX", "USD", "USN", "UYI", "UYU", "UYW", "UZS", "VED", "VES", "VND", "VUV"),
        *("WST", "XAF", "XCD", "XCG", "XOF", "XPF", "YER", "ZAR", "ZMW", "ZWG"),
    )
)
"""Codes of money and of funds in ISO 4217 (list one, January 2026); metals, bond units and test codes are left out."""

ISO8601: Final = "ISO8601"
"""The date format that calculations have where none is named."""
NO_ZONES: Final = frozenset(("Factory", "localtime"))
"""In a machine's folder of time zones, yet places of no one."""

LOCALE: Final = re.compile(r"([a-z]{2,3})(-[A-Z][a-z]{3})?(-([A-Z]{2})|-[0-9]{3})?")
"""Language, script and region of BCP 47: en, en-US, zh-Hant-TW, es-419."""
_LANGUAGES: Final = (
    "aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee "
    "el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is "
    "it iu ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms "
    "mt my na nb nd ne ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk "
    "sl sm sn so sq sr ss st su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi "
    "yo za zh zu fil gsw haw kok yue "
)
LANGUAGES: Final = frozenset(_LANGUAGES.split())
"""ISO 639-1, and those without a code there whose numbers spreadsheets know."""
_REGIONS: Final = (
    "AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY "
    "BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK "
    "FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR "
    "IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK "
    "ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM "
    "PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF "
    "TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW "
)
REGIONS: Final = frozenset(_REGIONS.split())
"""ISO 3166-1."""

CIDR: Final = re.compile(r"[0-9a-fA-F.:]+/[0-9]{1,3}")
"""The shape of a range; no netmask spelt out, no scope, no address alone."""


TOLERANCES: Final = tuple(name for name, rule in RULES.items() if rule.tolerance is not None)
"""The rules of a reconciliation that leave room for a difference."""


def wrong_currency(code: str) -> str | None:
    """Return why a text is no currency."""
    return None if code in CURRENCIES else "expected a currency code of ISO 4217 such as USD"


def wrong_timezone(name: str) -> str | None:
    """Return why a text is no time zone."""
    return None if name in _timezones() else "expected a time zone of the IANA database such as America/New_York"


@cache
def _timezones() -> frozenset[str]:
    return frozenset(available_timezones()) - NO_ZONES


def wrong_locale(name: str) -> str | None:
    """Return why a text is no locale."""
    match = LOCALE.fullmatch(name)
    is_known = match is not None and match[1] in LANGUAGES and (match[4] is None or match[4] in REGIONS)
    return None if is_known else "expected a locale such as en-US"


def wrong_date_format(text: str) -> str | None:
    """Return why a text is no format of dates: one has year, month and day."""
    if text == ISO8601:
        return None
    try:
        date_reader(text)
    except DateFormatError as error:
        return f"expected a date format such as YYYY-MM-DD or %d.%m.%Y: {error}"
    return None


def wrong_label(text: str) -> str | None:
    """Return why a text is no label: people read it on one line, in mails and tables."""
    if text != text.strip():
        return "expected no blanks at its beginning or end"
    return None if text.isprintable() else "expected one line of printable characters"


def wrong_network(text: str) -> str | None:
    """Return why a text is no range of addresses in CIDR form."""
    if not CIDR.fullmatch(text):
        return "expected a range in CIDR form such as 203.0.113.0/24 or 2001:db8::/32"
    try:
        ip_network(text)
    except ValueError as error:
        return str(error)
    return None


def wrong_rule(rule: str) -> str | None:
    """Return why a text is no rule with a tolerance."""
    return None if rule in TOLERANCES else f"the rules with a tolerance are {', '.join(TOLERANCES)}"
