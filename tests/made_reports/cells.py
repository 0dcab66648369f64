"""How a value of a loan is printed in a cell, and what a reader can understand of the cell."""

from __future__ import annotations

import calendar
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from typing import Any, Final, NamedTuple

from tests.core.portfolio.conftest import Shown

KINDS: Final = {
    **dict.fromkeys(("par", "unfunded", "facility_size"), "money"),
    **dict.fromkeys(("price", "purchase_price"), "price"),
    "spread": "spread",
    **dict.fromkeys(("floor", "base_level", "all_in"), "rate"),
    **dict.fromkeys(("recovery_moodys", "recovery_sp", "recovery_fitch"), "recovery"),
    **dict.fromkeys(("maturity", "default_date"), "date"),
    **dict.fromkeys(("average_life", "quote_depth"), "number"),
    "lien": "lien",
    "country": "country",
    "index": "index",
    "fixed": "coupon_type",
    **dict.fromkeys(
        (
            "defaulted", "cov_lite", "dip", "current_pay", "deferring", "participation", "bond", "revolver",
            "delayed_draw",
        ),
        "flag",
    ),
}  # fmt: skip
"""Item -> kind of cell; text where none is named."""

NAMES: Final = {
    "US": "United States", "CA": "Canada", "GB": "United Kingdom", "LU": "Luxembourg", "NL": "Netherlands",
    "FR": "France", "DE": "Germany", "IE": "Ireland", "ES": "Spain",
}  # fmt: skip
LIENS: Final = {
    "words": {1: "First Lien", 2: "Second Lien", 3: "Unsecured", 4: "Senior Secured Bond"},
    "ordinals": {1: "1st Lien", 2: "2nd Lien", 3: "Unsec.", 4: "Bond"},
    "short": {1: "1L", 2: "2L", 3: "UNS", 4: "Bond"},
    "senior": {1: "Senior Secured", 2: "Second Lien", 3: "Senior Unsecured", 4: "Senior Secured Bond"},
    "loans": {1: "First Lien Senior Secured Loan", 2: "Second Lien Loan", 3: "Unsecured Debt", 4: "Secured Bond"},
}
FLAGS: Final = {
    "words": ("Yes", "No"),
    "letters": ("Y", "N"),
    "booleans": (True, False),
    "bits": (1, 0),
    "marks": ("X", None),
    "texts": ("True", "False"),
}
COUPON_TYPES: Final = {"words": ("Fixed", "Floating"), "short": ("Fix", "Float"), "codes": ("FXD", "FLT")}


@dataclass(frozen=True)
class Habits:
    """How one report prints."""

    rate: str = "percent"
    """fraction (under a percent format), bare (a fraction without format), percent, text (5.25%), comma or comma
    percent (5,25 and 5,25 %)."""
    spread: str = "same"
    """same as rates, or points (basis points)."""
    price: str = "percent"
    """percent of par, fraction, or comma."""
    money: float = 1.0
    """Units of an amount: 1, 1,000 or 1,000,000."""
    decimals: int = 2
    """Of an amount."""
    date: str = "date"
    """date, dots (31.12.2029), digits (20291231), words (31-Dec-2029), month (Dec-29) or american (12/31/2029)."""
    flag: str = "words"
    lien: str = "words"
    coupon_type: str = "words"
    country: str = "names"
    index: str = "tenor"
    blank: Any = None
    unrated: Any = None
    """In place of a rating that there is not."""
    sign: str = ""
    """Before amounts, which are texts then."""
    zero: Any = 0.0
    """In place of an amount that is undrawn of none."""
    brackets: bool = False
    """Negative amounts that are texts stand in brackets, without a sign."""
    comma: bool = False
    """Numbers are texts with a decimal comma and dots between thousands."""
    capitals: bool = False
    """Names in capitals."""


_RATINGS: Final = ("fitch", "moodys", "moodys_cfr", "moodys_facility", "sp", "sp_issuer", "sp_facility")


class CellValue(NamedTuple):
    """A cell and what it says in standard units."""

    cell: Any
    value: Any


def print_cell(item: str, value: Any, habits: Habits, currency: str) -> CellValue:
    """Print a value of an item."""
    if value is None:
        return CellValue(habits.unrated if item in _RATINGS else habits.blank, None)
    kind = KINDS.get(item)
    if kind is None:
        text = str(value)
        return CellValue(text.upper() if habits.capitals and item in ("borrower", "facility") else text, value)
    return _PRINTERS[kind](value, habits, currency)


def _number(value: float, habits: Habits, decimals: int) -> Any:
    value = round(value, decimals)
    if not habits.comma:
        return value
    return f"{value:,.{decimals}f}".translate(str.maketrans(",.", ".,"))


def _money(value: float, habits: Habits, currency: str) -> CellValue:
    scaled = round(value / habits.money, habits.decimals)
    if scaled == 0.0:
        return CellValue(habits.zero if not habits.comma else _number(0.0, habits, habits.decimals), 0.0)
    if habits.sign:
        return CellValue(f"{habits.sign}{scaled:,.{habits.decimals}f}", scaled * habits.money)
    if habits.brackets and scaled < 0:
        return CellValue(f"({_number(-scaled, habits, habits.decimals)})", scaled * habits.money)
    return CellValue(_number(scaled, habits, habits.decimals), scaled * habits.money)


def _price(value: float, habits: Habits, currency: str) -> CellValue:
    if habits.price == "fraction":
        return CellValue(round(value / 100, 5), value)
    return CellValue(_number(value, habits, 3), value)


def _rate(value: float, habits: Habits, currency: str) -> CellValue:
    return CellValue(_rate_cell(value, habits), value)


def _rate_cell(value: float, habits: Habits) -> Any:
    match habits.rate:
        case "fraction":
            return Shown(round(value / 100, 6), "0.00%")
        case "bare":
            return round(value / 100, 6)
        case "text":
            return f"{value:.4f}%"
        case "comma percent":
            return f"{_number(value, habits, 4)} %"
        case _:
            return _number(value, habits, 4)


def _spread(value: float, habits: Habits, currency: str) -> CellValue:
    if habits.spread == "points":
        return CellValue(_number(value, habits, 2), value)
    return CellValue(_rate_cell(value / 100, habits), value)


def _recovery(value: float, habits: Habits, currency: str) -> CellValue:
    return CellValue(_rate_cell(value, habits), value)


def _date(value: date, habits: Habits, currency: str) -> CellValue:
    if habits.date in _MONTHS:
        last = date(value.year, value.month, calendar.monthrange(value.year, value.month)[1])
        return CellValue(f"{value:{_MONTHS[habits.date]}}", last)
    return CellValue(_DATES[habits.date](value), value)


_MONTHS: Final = {"month": "%b-%y", "numbers of month": "%m/%Y", "whole month": "%B %Y", "short month": "%b %Y"}
"""Days of which only the month is printed: the month's last day."""

_DATES: Final[dict[str, Callable[[date], Any]]] = {
    "date": lambda day: day,
    "dots": lambda day: f"{day:%d.%m.%Y}",
    "digits": lambda day: int(f"{day:%Y%m%d}"),
    "words": lambda day: f"{day:%d-%b-%Y}",
    "american": lambda day: f"{day.month}/{day.day}/{day.year}",
    "iso": lambda day: f"{day:%Y-%m-%d}",
}


def _plain(value: float, habits: Habits, currency: str) -> CellValue:
    return CellValue(_number(value, habits, 2), value)


def _lien(value: int, habits: Habits, currency: str) -> CellValue:
    return CellValue(LIENS[habits.lien][value], value)


def _country(value: str, habits: Habits, currency: str) -> CellValue:
    return CellValue(NAMES[value] if habits.country == "names" else value, value)


def _index(value: str, habits: Habits, currency: str) -> CellValue:
    text = {"tenor": f"{value} 3M", "long": f"3 Month {value}", "term": f"Term {value}" if value == "SOFR" else value}
    return CellValue(text.get(habits.index, value), value)


def _coupon_type(value: bool, habits: Habits, currency: str) -> CellValue:
    return CellValue(COUPON_TYPES[habits.coupon_type][0 if value else 1], value)


def _flag(value: bool, habits: Habits, currency: str) -> CellValue:
    return CellValue(FLAGS[habits.flag][0 if value else 1], value)


_PRINTERS: Final[dict[str, Callable[[Any, Habits, str], CellValue]]] = {
    "money": _money,
    "price": _price,
    "rate": _rate,
    "spread": _spread,
    "recovery": _recovery,
    "date": _date,
    "number": _plain,
    "lien": _lien,
    "country": _country,
    "index": _index,
    "coupon_type": _coupon_type,
    "flag": _flag,
}
