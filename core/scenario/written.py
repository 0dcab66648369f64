"""Trades as people write them: a line of words, a row of a table."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from datetime import date
from typing import Any, Final

from core.amounts import EXAMPLES, is_scale, read_amount, read_number
from core.scenario.trades import DATA_FIELDS, FIELD_TYPES, TRADES_MAX, Trade

COLUMNS_MAX: Final = 100
"""Columns of a table of trades."""

_NAMED: Final = {
    "cusip": "cusip", "loanx": "loanx_id", "loanxid": "loanx_id", "loanx_id": "loanx_id", "isin": "isin",
    "borrower": "borrower_name", "borrower_name": "borrower_name",
}  # fmt: skip
"""The words before what names a loan."""


_AMOUNTS: Final = frozenset(("par_value", "facility_size", "unfunded"))
"""Fields in the deal's currency, which may be written with a scale: 2.5mm."""


class WrittenError(ValueError):
    """What stands there is no trade; the text says why."""


def trade_of_words(text: str) -> Trade:
    """Return the trade of a line such as: sell 3,000,000 CUSIP 12345ABC9 at 98.5.

    Buy 2.5mm BORROWER Nova Inc at 99 rating_agency_a=B2 spread=375. Without CUSIP, LOANX, ISIN or BORROWER the name is
    a borrower's.

    Raises:
        WrittenError: it is none.
    """
    words = text.split()
    if len(words) < 3:
        raise WrittenError("a trade is: buy or sell, par, CUSIP or LOANX or BORROWER, which one, and perhaps: at price")
    if len(words) > 3 and is_scale(words[2]) and words[3].lower() in _NAMED:
        words[1:3] = [words[1] + words[2]]  # 2.5 mm CUSIP ...
    fields = {"trade_type": words[0].lower(), "par_value": words[1]}
    words = words[2:]
    while "=" in words[-1]:
        name, _, value = words.pop().partition("=")
        if name in fields:
            raise WrittenError(f"{name} is given twice")
        fields[name] = value
        if not words:
            raise WrittenError("nothing names its loan")
    if len(words) > 2 and words[-2].lower() == "at":
        fields["price"] = words[-1]
        words = words[:-2]
    named = _NAMED.get(words[0].lower())
    name = " ".join(words if named is None else words[1:])
    if not name:
        raise WrittenError("nothing names its loan")
    return trade_of({"borrower_name" if named is None else named: name} | fields)


def trades_of_table(text: str) -> list[Trade]:
    """Return the trades of a CSV whose header names their fields.

    trade_type, par_value, cusip, price, spread, country, ...

    Raises:
        WrittenError: it is none, or a row is no trade; with its line.
    """
    rows = csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""), strict=True)
    trades: list[Trade] = []
    header: list[str] | None = None
    try:
        for row in rows:
            cells = [cell.strip() for cell in row]
            if not any(cells):
                continue
            if header is None:
                header = [cell.lower().replace(" ", "_") for cell in cells]
                if len(header) > COLUMNS_MAX or len(set(header)) < len(header):
                    raise WrittenError(f"a header names at most {COLUMNS_MAX} fields, each once")
                continue
            if len(cells) > len(header):
                raise WrittenError(f"line {rows.line_num}: more cells than the header has")
            try:
                trades.append(trade_of(dict(zip(header, cells, strict=False))))
            except WrittenError as error:
                raise WrittenError(f"line {rows.line_num}: {error}") from error
            if len(trades) > TRADES_MAX:
                raise WrittenError(f"more than {TRADES_MAX:,} trades")
    except csv.Error as error:
        raise WrittenError(f"line {rows.line_num}: no CSV: {error}") from error
    return trades


def trade_of(written: Mapping[str, str]) -> Trade:
    """Return the trade of some fields as text; an empty text is none.

    Raises:
        WrittenError: a field is unknown, or its text is not of its kind.
    """
    fields: dict[str, Any] = {}
    data: dict[str, Any] = {}
    for name, text in written.items():
        if name not in Trade.__struct_fields__ and name not in DATA_FIELDS:
            raise WrittenError(f"no field of a trade is called {name[:60]!r}")
        if text:
            (fields if name in Trade.__struct_fields__ else data)[name] = _value(name, text)
    if fields.get("trade_type") not in ("buy", "sell"):
        raise WrittenError(f"a trade is a buy or a sell, not {written.get('trade_type', '')[:60]!r}")
    return Trade(**fields, loan_data=data or None)


def _value(name: str, text: str) -> Any:
    if name in _AMOUNTS:
        try:
            return read_amount(text)
        except ValueError:
            raise WrittenError(f"{name} must be an amount such as {EXAMPLES}, not {text[:60]!r}") from None
    if FIELD_TYPES.get(name, "string") == "number":
        try:
            return read_number(text)
        except ValueError:
            raise WrittenError(f"{name} must be a number, not {text[:60]!r}") from None
    if name == "maturity_date":
        try:
            return date.fromisoformat(text)
        except ValueError:
            raise WrittenError(f"{name} must be a day as YYYY-MM-DD, not {text[:60]!r}") from None
    return text
