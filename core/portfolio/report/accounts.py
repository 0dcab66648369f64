"""The deal's accounts on any page: what principal and interest cash is, told by an account's name and its columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, Literal

from core.portfolio.cells.parsing import key
from core.portfolio.layout import header
from core.portfolio.notes import DataWarning
from core.portfolio.report.page import Cell, Page
from core.portfolio.report.tables import side_by_side, title_above

ACCOUNTS_MAX: Final = 200
"""Accounts of one table."""

_SET_ASIDE: Final = frozenset((
    "reserve", "reserves", "revolver", "revolving", "unfunded", "funding", "expense", "expenses", "hedge",
    "counterparty", "custodial", "custody", "payment", "smoothing", "contribution", "contributions",
    "supplemental", "deposit", "escrow", "margin", "distribution", "lending",
))  # fmt: skip
"""Words of accounts whose cash is neither principal nor collected interest."""

_OF_PRINCIPAL: Final = ("principal", "unused proceeds", "ramp up", "uninvested")
_NAMED: Final = frozenset(("account", "accounts", "account name", "account description"))
_CURRENCIES: Final = frozenset((
    "usd", "eur", "gbp", "chf", "cad", "aud", "jpy", "sek", "nok", "dkk", "pln",
))  # fmt: skip
_TRADED: Final = frozenset(("trd", "traded", "trade"))
_SETTLED: Final = frozenset(("stld", "settled", "settlement", "settle"))
_NOT_BALANCE: Final = frozenset((
    "opening", "beginning", "prior", "previous", "required", "target", "rate", "date", "number", "minimum",
    "excess", "deficit", "change", "debit", "credit", "deposits", "withdrawals", "no", "id", "type",
))  # fmt: skip
_MOVEMENTS: Final = frozenset((
    "transaction", "transactions", "payee", "debit", "credit", "counterparty", "trade-date",
))  # fmt: skip

Part = Literal["principal", "interest", "balance"]


@dataclass
class Accounts:
    """Cash by kind, in the deal's currency as far as names say it."""

    principal: float | None = None
    interest: float | None = None
    cells: dict[str, list[str]] = field(default_factory=dict)
    """"principal" and "interest" -> the cells with something in them that were added up."""
    currency: str | None = None
    """The one that accounts are named for."""
    warnings: list[DataWarning] = field(default_factory=list)
    sheet: str = ""
    """Where they stand."""


@dataclass(frozen=True)
class _Account:
    name: str
    parts: dict[Part, tuple[float, str]]
    """What of the account -> its amount and cell."""

    def words(self) -> list[str]:
        return key(self.name).split()


def kind_of(name: str) -> Literal["principal", "interest", "both"] | None:
    """Which cash stands on an account of that name; None for reserves and the like, "both" for a collection account."""
    words = key(name)
    if not _SET_ASIDE.isdisjoint(words.split()):
        return None
    if any(term in words for term in _OF_PRINCIPAL):
        return "principal"
    if "interest" in words:
        return "interest"
    return "both" if "collection" in words else None


def find_accounts(pages: Iterable[Page], currency: str | None) -> Accounts:
    """Principal and interest cash of the first page with a table of accounts; traded balances before settled ones.

    Several principal accounts are added up. One in another currency than the deal's is left out, and told.
    """
    for page in pages:
        listed = list(_accounts(page))
        counted = [(account, kind) for account in listed if (kind := kind_of(account.name)) is not None]
        if counted:
            found = _added(counted, currency)
            found.sheet = page.sheet.name
            return found
    return Accounts()


def _added(counted: list[tuple[_Account, Literal["principal", "interest", "both"]]], currency: str | None) -> Accounts:
    found = Accounts()
    own = currency.lower() if currency else next(
        (word for account, _ in counted for word in account.words() if word in _CURRENCIES), None
    )  # fmt: skip
    for account, kind in counted:
        others = [word for word in account.words() if word in _CURRENCIES and word != own]
        if own is not None and others:
            if any(amount for amount, _ in account.parts.values()):
                said = (
                    f"the account {account.name!r} is not in {own.upper()}, and not counted: the file's rate is needed"
                )
                found.warnings.append(DataWarning("other_currency", said))
            continue
        for part, (amount, cell) in account.parts.items():
            into = kind if part == "balance" else "interest" if "interest" in (kind, part) else "principal"
            if into == "both":
                continue
            setattr(found, into, (getattr(found, into) or 0.0) + amount)
            if amount:
                found.cells.setdefault(into, []).append(cell)
    found.currency = None if own is None else own.upper()
    return found


def _accounts(page: Page) -> Iterator[_Account]:
    """The accounts of the page's first table of them, total rows left out."""
    for at, row in enumerate(page.rows):
        cells = page.row(row)
        if any(not cell.text or cell.has_number for cell in cells.values()):
            continue
        named = [column for column, cell in cells.items() if "account" in key(cell.text)]
        if not named:
            continue
        first = next((column for column in named if key(cells[column].text) in _NAMED), named[0])
        beside = side_by_side(page, row, page.rows[-1] + 1)
        own = next((columns for columns in beside if first in columns), None)
        cells = {column: cell for column, cell in cells.items() if own is None or column in own}
        headers = {column: cell.text for column, cell in cells.items()}
        below = page.rows[at + 1 : at + 1 + ACCOUNTS_MAX]
        while below and (lower := page.row(below[0])) and own is None and _is_header(lower, first):
            headers = {column: f"{headers.get(column, '')} {lower[column].text if column in lower else ''}".strip()
                       for column in headers.keys() | lower.keys()}  # fmt: skip
            below = below[1:]
        parts = _parts({column: text for column, text in headers.items() if column > first})
        if not parts or any(not _MOVEMENTS.isdisjoint(key(text).split()) for text in headers.values()):
            continue
        found, titled = False, header.magnitude_of_title(title_above(page, row))
        for lower_row in below:
            name = page.cell(lower_row, first).text
            if not name or key(name).split()[:1] in (["total"], ["totals"], ["grand"]):
                if found:
                    return
                continue
            amounts: dict[Part, tuple[float, str]] = {}
            for part, column in parts.items():
                cell = page.cell(lower_row, column)
                if cell.has_number:
                    said = header.magnitude(headers[column])
                    scale = said if said != 1.0 else titled
                    amounts[part] = (cell.number * scale, page.place(lower_row, column))
            if amounts:
                found = True
                yield _Account(name, amounts)
        if found:
            return


def _is_header(cells: dict[int, Cell], first: int) -> bool:
    """Whether a row below the first of a header belongs to it: words under some columns, none under the names."""
    return first not in cells and all(cell.text and not cell.has_number for cell in cells.values())


def _parts(headers: dict[int, str]) -> dict[Part, int]:
    """Which column holds which part of an account's cash, those on a traded basis first."""
    options: list[tuple[int, int, Part]] = []
    for column, text in headers.items():
        words = frozenset(key(text).split())
        if words & _NOT_BALANCE:
            continue
        basis = 0 if words & _TRADED else 2 if words & _SETTLED else 1
        if "principal" in words:
            options.append((basis, column, "principal"))
        elif "interest" in words:
            options.append((basis, column, "interest"))
        elif words & {"balance", "balances", "cash", "amount", "total", "closing", "ending"}:
            options.append((basis, column, "balance"))
    parts: dict[Part, int] = {}
    for _, column, part in sorted(options):
        parts.setdefault(part, column)
    if "principal" in parts or "interest" in parts:
        parts.pop("balance", None)
    return parts
