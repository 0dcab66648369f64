"""What a tenant's settings may be: currencies, time zones, locales and networks, each checked by its own standard."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from ipaddress import ip_network
from typing import Final
from zoneinfo import available_timezones

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

NO_ZONES: Final = frozenset(("Factory", "localtime"))
"""In a machine's folder of time zones, yet places of no one."""

LOCALE: Final = re.compile(r"[a-z]{2,3}(-[A-Z][a-z]{3})?(-([A-Z]{2}|[0-9]{3}))?")
"""Language, script and region of BCP 47: en, en-US, zh-Hant-TW, es-419."""

CIDR: Final = re.compile(r"[0-9a-fA-F.:]+/[0-9]{1,3}")
"""The shape of a range; no netmask spelt out, no scope, no address alone."""


TOLERANCES: Final = tuple(name for name, rule in RULES.items() if rule.tolerance is not None)
"""The rules of a reconciliation that leave room for a difference."""

Check = Callable[[str], str | None]
"""What is wrong with a value; None when nothing is."""


def wrong_currency(code: str) -> str | None:
    """Why a text is no currency."""
    return None if code in CURRENCIES else "expected a currency code of ISO 4217 such as USD"


def wrong_timezone(name: str) -> str | None:
    """Why a text is no time zone."""
    return None if name in _timezones() else "expected a time zone of the IANA database such as America/New_York"


@cache
def _timezones() -> frozenset[str]:
    return frozenset(available_timezones()) - NO_ZONES


def wrong_locale(name: str) -> str | None:
    """Why a text is no locale."""
    return None if LOCALE.fullmatch(name) else "expected a locale such as en-US"


def wrong_network(text: str) -> str | None:
    """Why a text is no range of addresses in CIDR form; one with bits behind its prefix is none."""
    if not CIDR.fullmatch(text):
        return "expected a range in CIDR form such as 203.0.113.0/24 or 2001:db8::/32"
    try:
        ip_network(text)
    except ValueError as error:
        return str(error)
    return None


def wrong_rule(rule: str) -> str | None:
    """Why a text is no rule with a tolerance."""
    return None if rule in TOLERANCES else f"the rules with a tolerance are {', '.join(TOLERANCES)}"
