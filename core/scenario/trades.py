"""A trade as its author states it, checked and read into the fields of a loan."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from difflib import get_close_matches
from math import isfinite
from typing import Any, Final, Literal

import msgspec
import numpy as np

from core.frames.brief import brief
from core.portfolio.cells import category_cells, string_pool, text_cells
from core.portfolio.cells.identifiers import standard
from core.portfolio.cells.text_cells import TextColumn
from core.portfolio.model.fields import AUXILIARY_FIELDS, STANDARD_CLO_FIELDS, Lien
from core.portfolio.model.portfolio import Strings
from core.portfolio.model.ratings import AGENCY_OF, is_not_rated, rank
from core.portfolio.pages.identify import name_keys
from core.remembered import remembered
from core.values import EPOCH

TradeType = Literal["buy", "sell"]

TRADES_MAX: Final = 1_000
"""Trades of one scenario."""

AMOUNT_MAX: Final = 1e15
"""Any figure of a trade, in its own unit."""

PRICE_MAX: Final = 1_000.0
"""Percent of par."""

HINTS_MAX: Final = 5
"""Keys of a trade's `loan_data` for which the nearest known key is named."""

NEAR: Final = 0.65
"""How alike two names are of which one may be meant for the other: colour is not country."""

NEAR_LENGTH_MAX: Final = 40
"""Characters of a key for which anything is near."""

TEXT_MAX: Final = 500
"""Characters of a text of a trade."""


class Trade(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A buy or a sell.

    A sell needs what names the loan; a buy what the tests ask of a loan, too.
    """

    trade_type: TradeType
    par_value: float | None = None
    """In the deal's currency, above zero; needed."""
    cusip: str | None = None
    loanx_id: str | None = None
    borrower_name: str | None = None
    price: float | None = None
    """Percent of par."""
    spread: float | None = None
    """Basis points."""
    rating_agency_a: str | None = None
    rating_agency_b: str | None = None
    rating_agency_c: str | None = None
    industry: str | None = None
    maturity_date: date | None = None
    loan_data: dict[str, Any] | None = None
    """Other fields of a loan by their names in standard_clo (`DATA_FIELDS`), in the units of `Portfolio`; other keys do
    nothing, and a simulation warns of them."""

    __repr__ = brief


class TradeError(ValueError):
    """A trade that cannot be made."""

    def __init__(self, trade: int, reason: str) -> None:
        """Args:
        trade: its place in the list, from 0.
        reason: for a reader, without the place.
        """
        super().__init__(f"trade {trade + 1}: {reason}")
        self.trade = trade
        self.reason = reason


_OWN: Final = (
    "cusip", "borrower_name", "price", "spread", "rating_agency_a", "rating_agency_b", "rating_agency_c", "industry",
    "maturity_date",
)  # fmt: skip
"""Fields of a loan that a trade states itself."""

_OF_THE_FILE: Final = ("as_of", "fx_rate", "currency")
"""Fields of the file rather than of a loan: a trade is in the deal's currency, on the deal's day."""

FIELD_TYPES: Final = {each.target: each.type for each in (*STANDARD_CLO_FIELDS, *AUXILIARY_FIELDS)}

DATA_FIELDS: Final = tuple(name for name in FIELD_TYPES if name not in (*_OWN, *_OF_THE_FILE, "par_value"))
"""What of `Trade.loan_data` says something of a loan; whatever else stands there does nothing."""

_READ_OF_DATA: Final = frozenset(DATA_FIELDS)

_PERCENT: Final = ("recovery_rate", "recovery_rate_a", "recovery_rate_b", "recovery_rate_c")
_NOT_NEGATIVE: Final = frozenset(
    (*_PERCENT, "price", "purchase_price", "facility_size", "days_past_due", "quote_depth", "average_life", "unfunded")
)


@dataclass(slots=True)
class TradeLoan:
    """What a trade says of its loan, in the units and under the names of `Portfolio`."""

    numbers: dict[str, float] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    flags: dict[str, bool] = field(default_factory=dict)
    ranks: dict[str, int] = field(default_factory=dict)
    lien: Lien | None = None
    key: str = ""
    """What tells its borrower from others; "" without a name."""


class _Fault(ValueError):
    """A field that cannot be; the text is the reason."""


def par_of(trade: Trade, at: int) -> float:
    """Return the par of a trade.

    Raises:
        TradeError: it has none, or none that can be.
    """
    par = trade.par_value
    if par is None:
        raise TradeError(at, "no par_value")
    if isinstance(par, bool) or not isinstance(par, int | float) or not isfinite(par) or not 0 < par <= AMOUNT_MAX:
        raise TradeError(at, f"par_value must be above 0 and at most {AMOUNT_MAX:.0e}, not {_show(par)}")
    return float(par)


def loan_of(trade: Trade, at: int) -> TradeLoan:
    """Return what a trade says of its loan.

    Raises:
        TradeError: it names no loan, or a field or a value cannot be.
    """
    if trade.trade_type not in ("buy", "sell"):
        raise TradeError(at, f"trade_type must be buy or sell, not {_show(trade.trade_type)}")
    loan = TradeLoan()
    try:
        loan_data = {name: value for name, value in dict(trade.loan_data or {}).items() if name in _READ_OF_DATA}
        for name in (*_OWN, "loanx_id"):
            value = getattr(trade, name)
            if value is None:
                continue
            if name in loan_data and loan_data[name] != value:
                raise _Fault(f"{name} is {_show(value)} and in loan_data {_show(loan_data[name])}")
            loan_data[name] = value
        for name, value in loan_data.items():
            if value is not None:
                _take(loan, name, value)
    except _Fault as fault:
        raise TradeError(at, str(fault)) from None
    loan.key = name_key(loan.texts["borrower_name"]) if "borrower_name" in loan.texts else ""
    if not loan.key and not any(name in loan.texts for name in IDENTITY):
        raise TradeError(at, f"nothing names its loan: add {', '.join(IDENTITY)} or borrower_name")
    return loan


IDENTITY: Final = ("cusip", "loanx_id", "isin")
"""The identifiers that name a loan, in the order in which they are asked."""


def without_effect(loan_data: Iterable[object] | None) -> list[str]:
    """Of each key of a trade's `loan_data` that says nothing of a loan, why it does nothing; what is near for the first
    `HINTS_MAX`."""
    messages, unknown = list[str](), 0
    for name in loan_data or ():
        if name in _READ_OF_DATA:
            continue
        if name in _OF_THE_FILE:
            messages.append(f"loan_data.{name} does nothing: a trade is on the deal's day and in its currency")
        elif name in (*_OWN, "par_value", "trade_type"):
            messages.append(f"loan_data.{name} does nothing: {name} is a field of the trade itself")
        else:
            messages.append(_unknown(name, is_hinted=unknown < HINTS_MAX))
            unknown += 1
    return messages


def _unknown(name: object, *, is_hinted: bool) -> str:
    near = _near(str(name).lower()) if is_hinted and len(str(name)) <= NEAR_LENGTH_MAX else None
    hint = f"; did you mean {near}?" if near else ""
    return f"loan_data has the key {_show(name)}, which does nothing: it is no field of standard_clo{hint}"


@remembered(4_096)
def _near(name: str) -> str | None:
    return next(iter(get_close_matches(name, (*DATA_FIELDS, *_OWN, "par_value"), n=1, cutoff=NEAR)), None)


def _take(loan: TradeLoan, name: str, value: Any) -> None:
    """Read one value into the loan.

    Raises:
        _Fault: it cannot be.
    """
    kind = FIELD_TYPES[name]
    if name in AGENCY_OF:
        _take_rating(loan, name, value)
    elif name in _SPECIAL and not (name == "base_rate" and isinstance(value, str)):
        _SPECIAL[name](loan, value)
    elif kind == "number":
        loan.numbers[name] = _number(name, value)
    elif kind == "date":
        loan.numbers[name] = _day(name, value)
    elif kind == "boolean":
        loan.flags[name] = _flag(name, value)
    elif text := _READ.get(name, _plain)(_text(name, value)):
        loan.texts[name] = text


def _take_rating(loan: TradeLoan, name: str, value: Any) -> None:
    symbol = _text(name, value)
    place = rank(symbol, AGENCY_OF[name])
    if not place and not is_not_rated(symbol):
        raise _Fault(f"{name} is no rating of its agency: {_show(symbol)}")
    loan.texts[name], loan.ranks[name] = symbol, place


def _take_coupon_type(loan: TradeLoan, value: Any) -> None:
    fixed = category_cells.coupon_is_fixed(_text("coupon_type", value))
    if fixed < 0:
        raise _Fault(f"coupon_type must be fixed or floating, not {_show(value)}")
    loan.flags["is_fixed"] = fixed == 1


def _take_lien_type(loan: TradeLoan, value: Any) -> None:
    loan.lien = Lien(category_cells.lien(_text("lien_type", value)))


def _take_base_rate(loan: TradeLoan, value: Any) -> None:
    loan.numbers["base_rate_level"] = _number("base_rate", value)


_SPECIAL: Final = {"base_rate": _take_base_rate, "coupon_type": _take_coupon_type, "lien_type": _take_lien_type}
"""Fields that a loan keeps under another name, or in another form; a base rate only where it is a number."""


def _number(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value) or abs(value) > AMOUNT_MAX:
        raise _Fault(f"{name} must be a finite number, not {_show(value)}")
    most = 100.0 if name in _PERCENT else PRICE_MAX if name.endswith("price") else AMOUNT_MAX
    if value > most or (value < 0 and name in _NOT_NEGATIVE):
        raise _Fault(f"{name} must be between 0 and {most:g}, not {_show(value)}")
    return float(value)


def _day(name: str, value: Any) -> float:
    if isinstance(value, str):
        try:
            value = date.fromisoformat(value)
        except ValueError:
            value = None
    if not isinstance(value, date):
        raise _Fault(f"{name} must be a day as YYYY-MM-DD")
    return float(value.toordinal() - EPOCH.toordinal())


def _flag(name: str, value: Any) -> bool:
    if value in (0, 1):
        return bool(value)
    word = value.strip().lower() if isinstance(value, str) and len(value) <= TEXT_MAX else ""
    if word not in _FLAG_WORDS:
        raise _Fault(f"{name} must be true or false, not {_show(value)}")
    return _FLAG_WORDS[word]


_FLAG_WORDS: Final = {
    "true": True,
    "yes": True,
    "y": True,
    "1": True,
    "false": False,
    "no": False,
    "n": False,
    "0": False,
}


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise _Fault(f"{name} must be a text, not {_show(value)}")
    if len(value) > TEXT_MAX:
        raise _Fault(f"{name} is longer than {TEXT_MAX} characters")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise _Fault(f"{name} is no valid text") from None
    return value.strip()


def _plain(text: str) -> str:
    return "" if text.upper() in string_pool.NULL_WORDS else text


def _identifier(text: str) -> str:
    return standard(_plain(text))


@remembered(4_096)
def _industry(text: str) -> str:
    return category_cells.industries([text])[0] if _plain(text) else ""


_READ: Final[dict[str, Callable[[str], str]]] = {
    "cusip": _identifier, "loanx_id": _identifier, "isin": _identifier, "country": category_cells.country,
    "base_rate": category_cells.base_rate,
    "industry": _industry,
}  # fmt: skip


@remembered(4_096)
def name_key(name: str) -> str:
    """Return the distinctive words of a company's name; "" without any."""
    named = keys_of([name])
    return named.text[0] if named.codes[0] >= 0 else ""


def keys_of(names: Sequence[str]) -> TextColumn:
    """Return the same of many names, which are distinct.

    A key for each, none where nothing is left of it.
    """
    if isinstance(names, Strings):
        return name_keys(TextColumn(np.arange(len(names), dtype=np.int32), names.text))
    return name_keys(TextColumn(*text_cells.pool_of(names)))


def _show(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
