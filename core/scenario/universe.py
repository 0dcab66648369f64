"""The loans of a portfolio as trades: what another fund holds, as offers.

What is held here, as sales.
"""

from __future__ import annotations

from datetime import timedelta
from math import isfinite
from typing import Any, Final, Literal

from core.portfolio import Portfolio
from core.portfolio.model.fields import Lien
from core.portfolio.model.ratings import AGENCY_OF, DEFAULTED, SCALE_A, SCALE_B
from core.portfolio.pages.identify import SUMMED
from core.scenario.trades import DATA_FIELDS, IDENTITY, TEXT_MAX, Trade
from core.values import EPOCH

_LIENS: Final = {
    Lien.FIRST_LIEN: "First Lien", Lien.SECOND_LIEN: "Second Lien", Lien.UNSECURED: "Unsecured", Lien.BOND: "Bond",
    Lien.OTHER: "Other",
}  # fmt: skip
_OF_A_LOT: Final = frozenset((*SUMMED, "par_value", "purchase_price"))
"""What is another's with another owner."""
_DAYS: Final = ("maturity_date", "default_date")
_TEXTS: Final = ("cusip", "borrower_name", "industry", *AGENCY_OF)


def offers(portfolio: Portfolio) -> list[Trade]:
    """Return a buy of each loan that performs and has par, a price and a name, of as much as is held; in the file's
    order."""
    par, price = portfolio.numbers.get("par_value"), portfolio.numbers.get("price")
    if par is None or price is None:
        return []
    gone = portfolio.defaulted()
    rows = (at for at in range(portfolio.row_count) if par[at] > 0 and price[at] > 0 and not gone[at])
    trades = (trade_of(portfolio, row, "buy", float(par[row])) for row in rows)
    return [trade for trade in trades if trade is not None]


def sales(portfolio: Portfolio) -> list[Trade]:
    """Return a sell of each loan that has par, a price and an identifier of its own, of all of it at the average price
    of its lots."""
    par, price = portfolio.numbers.get("par_value"), portfolio.numbers.get("price")
    if par is None or price is None:
        return []
    lots: dict[tuple[str, str], list[int]] = {}
    for row in range(portfolio.row_count):
        if par[row] > 0 and price[row] > 0 and (named := name_of(portfolio, row)) is not None:
            lots.setdefault(named, []).append(row)
    trades = []
    for (field, text), rows in lots.items():
        par_sum = float(par[rows].sum())
        average = float(par[rows] @ price[rows]) / par_sum
        own = {"isin": text} if field == "isin" else None
        named_by = {} if own else {field: text}
        trades.append(Trade(trade_type="sell", par_value=par_sum, price=average, loan_data=own, **named_by))  # type: ignore[arg-type]
    return trades


def name_of(portfolio: Portfolio, row: int) -> tuple[str, str] | None:
    """Return the first of a loan's identifiers, which names it in a trade, or None."""
    return next(((field, text) for field in IDENTITY if (text := _text(portfolio, field, row)) is not None), None)


def trade_of(portfolio: Portfolio, row: int, trade_type: Literal["buy", "sell"], par: float) -> Trade | None:
    """Return a trade that states all that a portfolio knows of a loan, apart from its owner's lot; None where nothing
    names it."""
    loan_data = _texts(portfolio, row) | _numbers(portfolio, row)
    if "base_rate_level" in loan_data:
        level = loan_data.pop("base_rate_level")
        loan_data.setdefault("base_rate", level)
    if "is_fixed" in portfolio.flags:
        loan_data["coupon_type"] = "fixed" if portfolio.flags["is_fixed"][row] else "floating"
    if portfolio.lien is not None and (lien := _LIENS.get(Lien(portfolio.lien[row]))):
        loan_data["lien_type"] = lien
    own = {name: loan_data.pop(name) for name in Trade.__struct_fields__ if loan_data.get(name) is not None}
    data = {name: value for name, value in loan_data.items() if name in DATA_FIELDS and value is not None}
    if "borrower_name" not in own and not any(name in own or name in data for name in IDENTITY):
        return None
    if "default_date" in data:
        data["default_date"] = data["default_date"].isoformat()
    return Trade(trade_type=trade_type, par_value=par, loan_data=data or None, **own)


def _texts(portfolio: Portfolio, row: int) -> dict[str, Any]:
    """Return the texts, the ratings and the flags of a loan."""
    loan_data: dict[str, Any] = {}
    for name in (*_TEXTS, *DATA_FIELDS):
        if name in _DAYS:
            continue
        if name in portfolio.ranks:
            loan_data[name] = _symbol(portfolio, name, row)
        elif (text := _text(portfolio, name, row)) is not None:
            loan_data[name] = text
        elif name in portfolio.flags and portfolio.flags[name][row]:
            loan_data[name] = True
    return loan_data


def _numbers(portfolio: Portfolio, row: int) -> dict[str, Any]:
    """Return the numbers and the days of a loan."""
    loan_data: dict[str, Any] = {}
    for name, column in portfolio.numbers.items():
        if name not in _OF_A_LOT and isfinite(column[row]):
            value = float(column[row])
            loan_data[name] = EPOCH + timedelta(days=value) if name in _DAYS else value
    return loan_data


def _text(portfolio: Portfolio, field: str, row: int) -> str | None:
    names = portfolio.names.get(field)
    if names is None or names.codes[row] < 0:
        return None
    text = names.values[names.codes[row]]
    return text if 0 < len(text) <= TEXT_MAX else None


def _symbol(portfolio: Portfolio, field: str, row: int) -> str | None:
    """Return a rating as written, else its rank's symbol; None if masked or absent."""
    rank = int(portfolio.ranks[field][row])
    if not 0 < rank <= DEFAULTED:
        return None
    scale = SCALE_A if AGENCY_OF[field] == "a" else SCALE_B
    return _text(portfolio, field, row) or (scale[rank - 1] if rank <= len(scale) else None)
