"""Names of companies and identifiers with valid check digits, drawn at random."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Final

ALPHANUMERIC: Final = "0123456789ABCDEFGHJKLMNPQRSTUVWXYZ"

_FIRST: Final = (
    "Ard", "Bel", "Cor", "Dray", "Ever", "Fen", "Gran", "Hal", "Ing", "Jas", "Kel", "Lin", "Mer", "Nor", "Ost", "Pen",
    "Quil", "Ros", "Sil", "Thorn", "Ul", "Ver", "Wes", "Yar", "Zeph",
)  # fmt: skip
_SECOND: Final = (
    "bridge", "bury", "combe", "dale", "field", "gate", "haven", "ley", "mark", "mont", "point", "ridge", "stone",
    "ton", "vale", "well", "wick", "worth",
)  # fmt: skip
_BUSINESS: Final = (
    "Software", "Dental Partners", "Packaging", "Foods", "Aerospace", "Insurance Services", "Networks", "Logistics",
    "Health", "Energy", "Chemicals", "Media", "Education", "Gaming", "Building Products", "Payments", "Pharma",
    "Brands", "Environmental", "Automotive",
)  # fmt: skip
LEGAL: Final = {
    "US": ("Inc.", "LLC", "Holdings, LLC", "Corp.", "Buyer, Inc.", "Intermediate Holdings, Inc.", "L.P."),
    "CA": ("Ltd.", "Inc."),
    "GB": ("Limited", "PLC", "Bidco Limited"),
    "NL": ("B.V.", "N.V."),
    "DE": ("GmbH", "AG", "Holding GmbH"),
    "FR": ("SAS", "S.A."),
    "LU": ("S.a r.l.", "S.A."),
    "IE": ("DAC", "Limited"),
    "ES": ("S.A.", "S.L."),
}


def distinct(draw: Callable[[], str], used: set[str]) -> str:
    """Draw until nobody else has what is drawn."""
    while (text := draw()) in used:
        pass
    used.add(text)
    return text


def company(rng: Random, country: str, used: set[str]) -> str:
    """Draw a company's name that no other company has."""
    while True:
        stem = rng.choice(_FIRST) + rng.choice(_SECOND)
        name = f"{stem} {rng.choice(_BUSINESS)} {rng.choice(LEGAL[country])}"
        if stem not in used:
            used.add(stem)
            return name


def cusip(rng: Random) -> str:
    """Draw a CUSIP with its check digit."""
    body = "".join(rng.choice("0123456789") for _ in range(5))
    body += rng.choice(ALPHANUMERIC[10:]) + rng.choice(ALPHANUMERIC[10:]) + rng.choice("0123456789")
    values = [int(sign, 36) * (1 + at % 2) for at, sign in enumerate(body)]
    return body + str(-sum(value // 10 + value % 10 for value in values) % 10)


def isin(country: str, number: str) -> str:
    """Make an ISIN of a national number of nine characters."""
    digits = "".join(str(int(sign, 36)) for sign in country + number)
    doubled = [int(digit) * (2 - at % 2) for at, digit in enumerate(reversed(digits))]
    return country + number + str(-sum(value // 10 + value % 10 for value in doubled) % 10)


def loanx(rng: Random) -> str:
    """Draw a LoanX number of eight characters."""
    return f"LX{rng.randrange(100_000, 299_999)}"
