"""The deal's accounts on any page: principal and interest cash."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Final, Literal

from core.portfolio.cells.text.dates import date_days
from core.portfolio.model.facts import Fact, FactSubject
from core.portfolio.model.notes import DataWarning
from core.portfolio.pages.report import words
from core.portfolio.pages.report.blocks import Blocks, PageTable
from core.portfolio.pages.report.components import decimals_at, role_of
from core.portfolio.pages.report.days import DATE
from core.portfolio.pages.report.figures import CURRENCIES
from core.portfolio.pages.report.identities import Item
from core.portfolio.pages.report.lines import PageLine, earlier_by_days
from core.portfolio.pages.report.page import PageCell
from core.portfolio.sheets.headings import wording

ACCOUNTS_MAX: Final = 200
"""Accounts of one page."""

SUMMED_MAX: Final = 6
"""Principal accounts of which every sum is tried as the deal's principal cash."""

_CALCULATED_LEAST: Final = 5.0
"""Weight from which an account's name is that of a calculated amount beside the accounts."""

_NEGATIVE: Final = re.compile(
    r"\b(?:opening|beginning|prior|previous|starting|deposits?|withdrawals?|debits?|credits?|receipts?|payments?|rate|"
    r"required|target|minimum|maximum|date|number|no|id|excess|deficit|change|count|movements?|activity|transfers?|"
    r"(?:in|out)flows?|unsettled|pending|accrued|accruals?|earned|yield)\b"
)
"""Words of columns that are no balance of the day."""

_BALANCE: Final = re.compile(r"\b(?:balances?|cash|amounts?|total|closing|ending|current|ledger|available|end)\b")
_INTEREST: Final = re.compile(r"\b(?:interest|income)\b")
_TOTAL: Final = re.compile(r"\btotal\b")
_CLOSING: Final = re.compile(r"\b(?:closing|ending|current|end)\b")
_CURRENCY_WORDS: Final = frozenset(word.lower() for word in (*CURRENCIES.values(), *CURRENCIES) if " " not in word)

_BASIS: Final = re.compile(r"\b(?:received|traded?|settlement|settled?|value) date(?: basis)?\b", re.IGNORECASE)
"""Words for a basis: they say nothing of what an account or a column is."""

Part = Literal["principal", "interest", "balance"]
Basis = Literal["traded", "", "settled"]
_BASES: Final[tuple[Basis, ...]] = ("traded", "", "settled")
"""Bases of balances, those that count first first."""


@dataclass(frozen=True, slots=True)
class Balance:
    """One amount of an account."""

    part: Part
    basis: Basis
    amount: float
    """Currency units of the account, or of the deal where the column says so."""
    place: str
    decimals: int | None


@dataclass(frozen=True, slots=True)
class Account:
    """A row of a table of accounts."""

    name: str
    role: str
    """principal, interest, collection, reserve, ...: a role of the words for accounts; "other" where none fits."""
    currency: str | None
    """ISO 4217; None where neither a column nor its name says one."""
    is_converted: bool
    """Its amounts are in the deal's currency, whatever its own is."""
    balances: tuple[Balance, ...]
    group: str
    """Title of its table."""
    others: tuple[Balance, ...] = ()
    """Amounts of columns that could be its balances as well, where they differ."""

    def amount(self, part: Part, basis: Basis) -> Balance | None:
        """Return its balance of a part on a basis."""
        return next((balance for balance in self.balances if balance.part == part and balance.basis == basis), None)


@dataclass
class Accounts:
    """The accounts of a file, and what cash they hold."""

    principal: float | None = None
    """By the likeliest reading of the first page that has accounts; the identity may prefer another."""
    interest: float | None = None
    cells: dict[str, list[str]] = field(default_factory=dict)
    """"principal" and "interest" -> the cells with something in them that were added up."""
    currency: str | None = None
    """That of most money, where the accounts name any."""
    warnings: list[DataWarning] = field(default_factory=list)
    open: dict[str, str] = field(default_factory=dict)
    """"principal" and "interest" -> what else their columns say, where nothing decides which one is the balance."""
    sheet: str = ""
    """Where they stand."""
    cash: tuple[Item, ...] = ()
    """Every reading of principal cash, the likeliest first: bases, and sums of some accounts."""
    collected: tuple[Item, ...] = ()
    """Every reading of interest cash."""
    amounts: tuple[Item, ...] = ()
    """Calculated amounts in the list of accounts, under the roles of lines: they are no accounts."""
    facts: tuple[Fact, ...] = ()


def find_accounts(pages: Iterable[Blocks], currency: str | None) -> Accounts:
    """Find principal and interest cash on the first page with accounts of either.

    Traded goes before settled balances, and a printed amount before a zero.

    Several principal accounts are added up. One in another currency than the deal's is left out, and told.
    """
    totals = Accounts()
    for blocks in pages:
        tables = [table for table in blocks.tables if table.kind == "accounts"]
        listed = [account for table in tables for account in _accounts(table)] or list(_statements(blocks.lines))
        accounts = _unlike(listed)[:ACCOUNTS_MAX]
        if not accounts:
            continue
        totals.facts += tuple(fact for account in accounts for fact in _facts(account))
        totals.amounts += tuple(item for account in accounts for item in _calculated_items(account))
        _read(totals, accounts, currency, tables[0].page.sheet.name if tables else blocks.lines[0].page.sheet.name)
    return totals


def _read(totals: Accounts, accounts: Sequence[Account], currency: str | None, sheet: str) -> None:
    own = _currency(accounts, currency)
    counted = [counted_account for counted_account in accounts if _is_counted(counted_account, own)]
    cash, interest = _options(counted, "principal", "cash"), _options(counted, "interest", "coll")
    is_first = not totals.cash and not totals.collected and bool(cash or interest)
    totals.cash += cash
    totals.collected += interest
    if not is_first:
        return
    totals.sheet, totals.currency = sheet, own
    for part, options in (("principal", cash), ("interest", interest)):
        best = next((option for option in options if option.amount), options[0] if options else None)
        if best is not None:
            setattr(totals, part, best.amount)
            totals.cells[part] = list(best.places)
    totals.open.update(_open(part, counted) for part in ("principal", "interest"))
    for account in accounts:
        if (
            account not in counted
            and account.role in ("principal", "interest")
            and any(balance.amount for balance in account.balances)
        ):
            assert own is not None, "only another currency leaves an account out"
            totals.warnings.append(
                DataWarning(
                    "other_currency",
                    f"the account {account.name!r} is not in {own}, and not counted: the file's rate is needed",
                    fields=("deal.principal_cash", "deal.interest_collected"),
                )
            )


def _open(part: Part, accounts: Sequence[Account]) -> tuple[str, str]:
    """Return (part, other amounts that could be its balance; "" for none)."""
    texts = [
        f"{balance.amount:,.2f} in {balance.place}"
        for account in accounts
        if account.role in (part, "collection")
        for balance in account.others
        if balance.part in (part, "balance")
    ]
    return part, " and ".join(texts)


def _is_counted(account: Account, own: str | None) -> bool:
    return account.is_converted or own is None or account.currency in (None, own)


def _currency(accounts: Sequence[Account], stated: str | None) -> str | None:
    """Return the stated currency, else that of most money, else of most accounts."""
    if stated is not None:
        return stated
    weights: dict[str, tuple[float, int]] = {}
    for account in accounts:
        if account.currency is not None and account.role != "calc":
            amount, count = weights.get(account.currency, (0.0, 0))
            weights[account.currency] = (
                amount + max((abs(balance.amount) for balance in account.balances), default=0.0),
                count + 1,
            )
    return max(weights, key=lambda name: weights[name], default=None)


# ---- cash ----------------------------------------------------------------------------------------------------------


def _options(accounts: Sequence[Account], part: Literal["principal", "interest"], role: str) -> tuple[Item, ...]:
    """Return the readings of one kind of cash: all accounts, then sums of some."""
    whole: list[Item] = []
    some: list[Item] = []
    for basis in _BASES:
        balances = [balance for account in accounts if (balance := _of(account, part, basis)) is not None]
        if not balances:
            continue
        balances = _without_sum(balances)
        whole.append(_add_up(balances, role))
        filled = [two for two in balances if two.amount]
        if 1 < len(filled) <= SUMMED_MAX:
            some += [
                _add_up(few, role) for count in range(len(filled) - 1, 0, -1) for few in combinations(filled, count)
            ]
    # A zero never beats a printed amount.
    return (*sorted(whole, key=lambda item: not item.amount), *some)


def _of(account: Account, part: Literal["principal", "interest"], basis: Basis) -> Balance | None:
    """Return an account's cash of a kind: its column, or its only balance by name."""
    if account.role not in ("principal", "interest", "collection"):
        return None
    own = account.amount(part, basis)
    if own is not None:
        # Interest that lies on the principal account is none of the principal's, and stays interest.
        return own
    return account.amount("balance", basis) if account.role == part else None


def _without_sum(balances: list[Balance]) -> list[Balance]:
    """Drop a balance that is the sum of the others, or repeats the only other."""
    filled = [balance for balance in balances if balance.amount]
    for total in filled:
        rest = [addend for addend in filled if addend is not total]
        if rest and abs(sum(addend.amount for addend in rest) - total.amount) < 0.006 * (len(rest) + 1):
            return [addend for addend in balances if addend is not total]
    return balances


def _add_up(balances: Sequence[Balance], role: str) -> Item:
    decimals = [balance.decimals for balance in balances if balance.decimals is not None]
    return Item(
        role,
        sum(balance.amount for balance in balances),
        tuple(balance.place for balance in balances if balance.amount),
        min(decimals) if decimals else None,
    )


# ---- tables --------------------------------------------------------------------------------------------------------


def _unlike(accounts: list[Account]) -> list[Account]:
    """Return a page's accounts without repetitions of the same amounts."""
    accounts_by_key: dict[tuple[str, tuple[float, ...]], Account] = {}
    for account in accounts:
        accounts_by_key.setdefault(
            (words.normal(account.name), tuple(balance.amount for balance in account.balances)), account
        )
    return list(accounts_by_key.values())


def _accounts(table: PageTable) -> Iterator[Account]:
    """Yield the rows of a table, totals left out."""
    name = table.columns.get("name", min(table.headers))
    columns = _columns(table, name)
    kind = next((at for at, text in table.headers.items() if at != name and "type" in words.normal(text).split()), None)
    currency = next((at for at, text in table.headers.items() if _is_currency_column(table, at, text)), None)
    is_converted = any(words.scores("column.a", table.headers[at]).get("deal", 0) > 0 for at, _, _ in columns)
    if currency is not None:
        # "Balance (EUR)" beside a column of currencies: all amounts are in that one.
        is_converted |= len({_currency_of(table.headers[at]) for at, _, _ in columns} - {None}) == 1
    for row in table.rows:
        label = table.page.cell(row, name).text
        read = list(_balances(table, row, columns))
        first = {(balance.part, balance.basis): balance for balance in reversed(read)}
        balances = tuple(balance for balance in read if first[balance.part, balance.basis] is balance)
        others = tuple(balance for balance in read if balance.amount != first[balance.part, balance.basis].amount)
        if not label or not balances or words.is_total(label):
            continue
        type_ = "" if kind is None else table.page.cell(row, kind).text
        named = None if currency is None else _currency_of(table.page.cell(row, currency).text)
        yield Account(
            label,
            _role(label, type_, table.sections.get(row, "")),
            named or _first_currency(label, table.sections.get(row, ""), table.title),
            is_converted,
            balances,
            table.title,
            others,
        )


def _statements(lines: Iterable[PageLine]) -> Iterator[Account]:
    """Yield accounts whose names stand above their opening and closing balance."""
    blocks: dict[tuple[int, str], list[PageLine]] = {}
    for line in lines:
        if line.title and " account " in words.normal(line.title):
            blocks.setdefault((line.block, line.title), []).append(line)
    for (_, title), block in blocks.items():
        balances = [line for line in block if _BALANCE.search(words.normal(line.label)) is not None]
        closing = [line for line in balances if _CLOSING.search(words.normal(line.label)) is not None]
        if len(balances) < 2 or len(closing) != 1:
            continue
        [line] = closing
        scale = line.page.scale
        decimals = decimals_at(line.value, line.decimals, scale)
        balance = Balance("balance", "", line.value * scale, line.place, decimals)
        yield Account(title, _role(title, ""), _currency_of(title), False, (balance,), line.page.sheet.name)


def _role(name: str, kind: str, section: str = "") -> str:
    """Return what an account is for: by its name, type or section."""
    for text in (_BASIS.sub(" ", name), kind, section):
        scores = words.scores("account", text)
        if scores.get("calc", 0.0) >= _CALCULATED_LEAST:
            return "calc"
        role = words.guess("account", text).role
        if role is not None:
            return role
    return "other"


def _columns(table: PageTable, name: int) -> list[tuple[int, Part, Basis]]:
    """Return the columns of balances: own currency and parts first."""
    candidates: list[tuple[int, Part, Basis, bool, bool]] = []
    earlier = earlier_by_days({column: PageCell(text) for column, text in table.headers.items()})
    for column, text in table.headers.items():
        heading = words.normal(text)
        if column == name or not _has_figures(table, column) or _NEGATIVE.search(_without_basis(heading)):
            continue
        part: Part = "principal" if "principal" in heading else "interest" if _INTEREST.search(heading) else "balance"
        basis: Basis = words.basis_of(text)  # type: ignore[assignment]
        is_named = _BALANCE.search(heading) or DATE.fullmatch(text.strip()) or _currency_of(text) is not None
        if (part == "balance" and not basis and not is_named) or column in earlier:
            continue
        scores = words.scores("column.a", text)
        candidates.append((column, part, basis, scores.get("deal", 0) > 0, scores.get("native", 0) > 0))
    if any(is_deal for *_, is_deal, _ in candidates):
        candidates = [candidate for candidate in candidates if candidate[3]]
    elif any(not is_native for *_, is_native in candidates):
        candidates = [candidate for candidate in candidates if not candidate[4]]
    if any(part != "balance" for _, part, *_ in candidates):
        candidates = [candidate for candidate in candidates if candidate[1] != "balance"]
    kinds: dict[tuple[Part, Basis], list[int]] = {}
    for column, part, basis, *_ in candidates:
        kinds.setdefault((part, basis), []).append(column)
    return [(column, *kind) for kind, columns in kinds.items() for column in _likeliest(table, columns)]


def _likeliest(table: PageTable, columns: list[int]) -> list[int]:
    """Return the likeliest of several columns of one kind of balance.

    That of the latest day, else the total of cash and investments, else that of the end; all of them where nothing
    decides.
    """
    latest: set[int] = set()
    for is_day_first in (True, False):
        days = {column: _day_of(table.headers[column], day_first=is_day_first) for column in columns}
        latest |= {max(columns, key=lambda column: days[column])} if all(days.values()) else set()
    if len(latest) == 1:
        return [*latest]
    for word in (_TOTAL, _CLOSING):
        named = [column for column in columns if word.search(words.normal(table.headers[column])) is not None]
        if len(named) == 1:
            return named
    return columns


def _day_of(heading: str, *, day_first: bool) -> float:
    """Return the day in a heading; 0 for none."""
    match = DATE.search(heading)
    day = 0.0 if match is None else date_days(match[0], day_first=day_first)
    return day if day == day else 0.0


def _without_basis(text: str) -> str:
    """Return a heading's words less its basis: "received date basis" is no date."""
    return _BASIS.sub(" ", text)


def _has_figures(table: PageTable, column: int) -> bool:
    return any(table.page.cell(row, column).has_number for row in table.rows)


def _balances(table: PageTable, row: int, columns: list[tuple[int, Part, Basis]]) -> Iterator[Balance]:
    titled = wording.magnitude_of_title(table.title)
    titled = titled if titled != 1.0 else table.page.scale
    for column, part, basis in columns:
        cell = table.page.cell(row, column)
        if not cell.has_number or cell.is_percent:
            continue
        printed_scale = wording.magnitude(table.headers[column])
        scale = printed_scale if printed_scale != 1.0 else titled
        yield Balance(
            part,
            basis,
            cell.number * scale,
            table.page.place(row, column),
            decimals_at(cell.number, cell.decimals, scale),
        )


def _is_currency_column(table: PageTable, column: int, text: str) -> bool:
    heading_words = words.normal(text).split()
    return bool({"ccy", "currency", "curr"} & set(heading_words)) and any(
        _currency_of(table.page.cell(row, column).text) is not None for row in table.rows
    )


def _first_currency(*texts: str) -> str | None:
    """Return the currency of the first text that names just one."""
    return next((currency for text in texts if (currency := _currency_of(text)) is not None), None)


def _currency_of(text: str) -> str | None:
    """Return the currency that a text names, if it names just one."""
    named = {CURRENCIES[word] for word in words.normal(text).split() if word in _CURRENCY_WORDS}
    return named.pop() if len(named) == 1 else None


# ---- warnings -----------------------------------------------------------------------------------------------------


def _calculated_items(account: Account) -> Iterator[Item]:
    """Yield a calculated amount beside the accounts, under the role of a line."""
    if account.role != "calc":
        return
    role, _ = role_of(account.name)
    balance = account.balances[0]
    if role is not None:
        yield Item(role, balance.amount, (balance.place,), balance.decimals)


def _facts(account: Account) -> Iterator[Fact]:
    """Yield an account as facts, one for each amount."""
    role = role_of(account.name)[0] if account.role == "calc" else account.role
    if role is None:
        return
    for balance in account.balances:
        yield Fact(
            kind="component" if account.role == "calc" else "account",
            label=account.name,
            subject=FactSubject(measure=role, detail=" ".join(filter(None, (balance.part, balance.basis)))),
            value=balance.amount,
            place=balance.place,
            unit="amount",
            decimals=balance.decimals,
            group=account.group,
        )
