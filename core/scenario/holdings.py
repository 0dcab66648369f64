"""The loans of a portfolio as trades find them, and what trades in their order leave of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from math import isfinite
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.definition.definition import Definition
from core.portfolio import Portfolio
from core.portfolio.cells.identifiers import IdentifierIndex, agrees, may_be_one
from core.portfolio.cells.text_cells import letters_and_digits
from core.portfolio.model.notes import DataWarning
from core.portfolio.model.portfolio import Amortization, Names, Strings
from core.portfolio.model.ratings import RATING_FIELDS
from core.portfolio.pages.identify import SUMMED
from core.scenario.trades import (
    IDENTITY,
    TRADES_MAX,
    Trade,
    TradeError,
    TradeLoan,
    keys_of,
    loan_of,
    name_key,
    par_of,
    without_effect,
)

CENT: Final = 0.01
"""What a sell may exceed the holding by: amounts are printed to the cent."""

PAR_PRICE: Final = 100.0
"""Percent of par where no price is known."""


@dataclass(slots=True)
class BoughtLoan:
    """A loan, or a lot of one, that trades have added."""

    par: float
    loan: TradeLoan
    twin: int | None
    """The row of the portfolio whose fields it has where `loan` says nothing."""
    paid: float
    """Percent of par."""


@dataclass(slots=True)
class TradeEffect:
    """What trades do to a portfolio."""

    par: dict[int, float] = field(default_factory=dict)
    """Row of the portfolio -> what is left of its par; 0.0 where all of it is sold."""
    bought: list[BoughtLoan] = field(default_factory=list)
    cash: float = 0.0
    """What principal cash gains."""
    warnings: list[DataWarning] = field(default_factory=list)

    def of_par(self, par: float) -> TradeEffect:
        """Return what the same purchases of so much par each do; nothing may be sold."""
        cash = 0.0
        for lot in self.bought:
            cash -= par * lot.paid / 100
        return TradeEffect({}, [replace(lot, par=par) for lot in self.bought], cash, self.warnings)


class Index:
    """The rows of a column of names, by the name."""

    def __init__(self, names: Names) -> None:
        self.names = names

    @cached_property
    def code(self) -> Callable[[str], int]:
        """What gives the code of a name, -1 for none; built when it is first asked."""
        return self.names.by_text()

    @cached_property
    def code_of_bare(self) -> dict[str, int]:
        """The code of each identifier by its letters and digits, where no other one has the same."""
        codes: dict[str, int] = {}
        several: set[str] = set()
        for code, name in enumerate(self.names.values):
            bare = letters_and_digits(name)
            if codes.setdefault(bare, code) != code:
                several.add(bare)
        return {bare: code for bare, code in codes.items() if bare and bare not in several}

    @cached_property
    def prints(self) -> IdentifierIndex:
        """The names as identifiers that may be printed in another way."""
        return IdentifierIndex(tuple(self.names.values))

    @cached_property
    def _order(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        codes = self.names.codes
        order = np.argsort(codes, kind="stable")
        return order, np.cumsum(np.bincount(codes + 1, minlength=len(self.names.values) + 1))

    def rows(self, code: int) -> list[int]:
        """Return the rows of a name, in their order."""
        order, starts = self._order
        return order[starts[code] : starts[code + 1]].tolist()  # type: ignore[no-any-return]


class Holdings:
    """A portfolio's loans by identifier, made once for many lists of trades."""

    def __init__(self, portfolio: Portfolio, definition: Definition | None = None) -> None:
        """Args:
        definition: by which the tests run; None for the suites' conventions.
        """
        self.portfolio = portfolio
        self.definition = definition
        self._indexes: dict[str, Index] = {}

    def index(self, field: str) -> Index:
        """Return the index of a column of names that the portfolio has."""
        if field not in self._indexes:
            self._indexes[field] = Index(self.portfolio.names[field])
        return self._indexes[field]

    @cached_property
    def borrowers(self) -> Index | None:
        """Each borrower's spellings by distinctive name, or None without names."""
        if self.borrower_field is None:
            return None
        named = keys_of(self.portfolio.names[self.borrower_field].values)
        return Index(Names(named.codes, Strings(named.text)))

    @cached_property
    def borrower_field(self) -> str | None:
        """The column that names borrowers."""
        return next((field for field in ("borrower_name", "obligor") if field in self.portfolio.names), None)

    @cached_property
    def schedule(self) -> Amortization | None:
        """The scheduled payments in the order of their loans' rows."""
        amortization = self.portfolio.amortization
        if amortization is None:
            return None
        order = np.argsort(amortization.row, kind="stable")
        return Amortization(
            row=amortization.row[order], days=amortization.days[order], amount=amortization.amount[order]
        )

    def traded(self, trades: Sequence[Trade]) -> TradeEffect:
        """Return what trades do, one after the other.

        Raises:
            TradeError: a trade that cannot be made; it names which.
        """
        if len(trades) > TRADES_MAX:
            raise TradeError(TRADES_MAX, f"a scenario has at most {TRADES_MAX:,} trades")
        run = _Run(self)
        for at, trade in enumerate(trades):
            par, loan = par_of(trade, at), loan_of(trade, at)
            if trade.loan_data:
                messages = (f"trade {at + 1}: {message}" for message in without_effect(trade.loan_data))
                run.change.warnings += (DataWarning("loan_data", message) for message in messages)
            if trade.trade_type == "sell":
                run.sell(at, par, loan)
            else:
                run.buy(at, par, loan)
        return run.change


def _is_same(identifier: str | None, written: str) -> bool:
    """Return whether two identifiers are the same letters and digits."""
    return identifier is not None and letters_and_digits(identifier) == letters_and_digits(written)


class _Run:
    """The state while trades are made in their order."""

    def __init__(self, holdings: Holdings) -> None:
        self.holdings = holdings
        self.portfolio = holdings.portfolio
        self.change = TradeEffect()

    def _warn(self, code: str, at: int, message: str) -> None:
        self.change.warnings.append(DataWarning(code, f"trade {at + 1} {message}"))

    # ---- what a trade means

    def _meant(self, at: int, loan: TradeLoan) -> tuple[list[int], list[BoughtLoan]]:
        """Return the rows and bought lots of the first of a trade's identifiers that any has."""
        for name in IDENTITY:
            written = loan.texts.get(name)
            if written is None:
                continue
            rows = self._identify(at, name, written, loan)
            lots = [lot for lot in self.change.bought if _is_same(self._text_of(lot, name), written)]
            if rows or lots:
                return rows, lots
        return [], []

    def _of_borrower(self, loan: TradeLoan) -> tuple[list[int], list[BoughtLoan]]:
        """Return the same of its borrower.

        A loan with another identifier than the trade's is another loan.
        """
        lots = [lot for lot in self.change.bought if loan.key and self._key_of(lot) == loan.key]
        return (
            [row for row in self._rows_of(loan.key) if self._may_be(loan, partial(self._row_text, row))],
            [lot for lot in lots if self._may_be(loan, partial(self._text_of, lot))],
        )

    def _identify(self, at: int, field: str, written: str, loan: TradeLoan) -> list[int]:
        """Return the rows of an identifier, as it is written or in another print of it.

        Raises:
            TradeError: several loans could be meant.
        """
        if field not in self.portfolio.names:
            return []
        index = self.holdings.index(field)
        code = index.code(written)
        if code < 0:
            code = index.code_of_bare.get(letters_and_digits(written), -1)
        if code >= 0:
            return index.rows(code)
        if field != "loanx_id":
            return []
        names = index.names.values
        places = [place for place in sorted(index.prints.of(written)) if may_be_one(written, names[place])]
        if len(places) > 1:
            raise TradeError(at, f"LoanX id {written} may be {' or '.join(names[place] for place in places)}")
        rows = [row for place in places for row in index.rows(place)]
        if not rows or (loan.key and not set(rows) <= set(self._rows_of(loan.key))):
            return []
        sure = "" if agrees(written, names[places[0]]) else ", which may be another loan"
        self._warn("trade_match", at, f"means {names[places[0]]} by LoanX id {written}{sure}")
        return rows

    def _rows_of(self, key: str) -> list[int]:
        field, borrowers = self.holdings.borrower_field, self.holdings.borrowers
        code = -1 if borrowers is None else borrowers.code(key)
        if field is None or borrowers is None or code < 0:
            return []
        spellings = borrowers.rows(code)
        return sorted(row for code in spellings for row in self.holdings.index(field).rows(code))

    def _may_be(self, loan: TradeLoan, text_of: Callable[[str], str | None]) -> bool:
        return all(
            (text := text_of(field)) is None or _is_same(text, loan.texts[field])
            for field in IDENTITY
            if field in loan.texts
        )

    def _row_text(self, row: int, field: str) -> str | None:
        names = self.portfolio.names.get(field)
        return None if names is None or names.codes[row] < 0 else names.values[names.codes[row]]

    def _text_of(self, lot: BoughtLoan, field: str) -> str | None:
        text = lot.loan.texts.get(field)
        return text if text is not None or lot.twin is None else self._row_text(lot.twin, field)

    def _key_of(self, lot: BoughtLoan) -> str:
        field = self.holdings.borrower_field
        if lot.loan.key or lot.twin is None or field is None:
            return lot.loan.key
        return name_key(self._row_text(lot.twin, field) or "")

    def _par(self, row: int) -> float:
        """Return what is left of a row's par."""
        left = self.change.par.get(row)
        return left if left is not None else self._number(row, "par_value") or 0.0

    def _number(self, row: int | None, field: str) -> float | None:
        column = self.portfolio.numbers.get(field)
        return None if row is None or column is None or not isfinite(column[row]) else float(column[row])

    # ---- sells and buys

    def sell(self, at: int, par: float, loan: TradeLoan) -> None:
        """Take par off the loan's lots, pro rata.

        Raises:
            TradeError: no such loan is held, or less than that.
        """
        rows, lots = self._meant(at, loan)
        if not rows and not lots:
            rows, lots = self._of_borrower(loan)
        lots_in_order: list[tuple[float, int | None, BoughtLoan | None]] = [(self._par(row), row, None) for row in rows]
        lots_in_order += [(lot.par, None, lot) for lot in lots]
        lots_in_order = [each for each in lots_in_order if each[0] > 0]
        total = sum(amount for amount, _, _ in lots_in_order)
        if not lots_in_order:
            raise TradeError(at, f"sells {_name(loan)}, of which nothing is held")
        if par > total + CENT:
            raise TradeError(at, f"sells {par:,.2f} of {_name(loan)}, of which {total:,.2f} is held")
        left = 0.0 if par >= total - CENT / 2 else 1.0 - par / total
        price = loan.numbers.get("price")
        unpriced = False
        for amount, row, lot in lots_in_order:
            own = price
            if own is None:
                own = self._number(row, "price") if lot is None else self._price_of(lot)
                unpriced |= own is None
            sold = amount - amount * left
            self.change.cash += sold * (PAR_PRICE if own is None else own) / 100
            if row is not None:
                self.change.par[row] = amount * left
            elif lot is not None:
                lot.par = amount * left
        self.change.bought = [lot for lot in self.change.bought if lot.par > 0]
        if price is None:
            paid = "100, since the holding has no price" if unpriced else "the holding's price"
            self._warn("trade_price", at, f"sells {_name(loan)} without a price: it is sold at {paid}")

    def _price_of(self, lot: BoughtLoan) -> float | None:
        return lot.loan.numbers.get("price") or self._number(lot.twin, "price")

    def buy(self, at: int, par: float, loan: TradeLoan) -> None:
        """Add a loan, or a lot of one that is held.

        Raises:
            TradeError: it is bought for nothing, or several loans could be meant.
        """
        numbers = loan.numbers
        rows, lots = self._meant(at, loan)
        twin = max(rows, key=lambda row: (self._par(row), -row), default=None)
        price = numbers.get("price")
        if price == 0:
            raise TradeError(at, f"buys {_name(loan)} at a price of 0")
        if price is None:
            self._warn("trade_price", at, f"buys {_name(loan)} without a price: it is paid for at 100")
        paid = PAR_PRICE if price is None else price
        numbers.setdefault("purchase_price", paid)
        self.change.cash -= par * paid / 100
        if twin is None and lots:
            twin = lots[0].twin
            _follow(loan, lots[0].loan)
        if rows or lots:
            self._warn("trade_match", at, f"buys more of {_name(loan)}: it is as held in what it does not state")
        else:
            self._complete(at, loan)
        if self._number(twin, "price") is None:
            numbers.setdefault("price", paid)
        self.change.bought.append(BoughtLoan(par, loan, twin, paid))

    def _complete(self, at: int, loan: TradeLoan) -> None:
        """Give a new loan its obligor and what that says, and tell what it lacks."""
        texts, names = loan.texts, self.portfolio.names
        rows = self._rows_of(loan.key)
        known = [] if not rows else [field for field in _OF_BORROWER if field not in texts]
        followed = {field: text for field in known if (text := self._row_text(rows[0], field)) is not None}
        texts |= followed
        if "obligor" not in texts:
            obligor = texts.get("issuer_id") if "issuer_id" in names else None
            texts["obligor"] = obligor or loan.key or next(texts[field] for field in IDENTITY if field in texts)
        if shown := [field for field in followed if field not in ("obligor", "issuer_id")]:
            self._warn("trade_fields", at, f"takes the {' and '.join(shown)} of {_name(loan)} from its other loans")
        index, all_in = texts.get("base_rate"), loan.numbers.get("all_in_rate")
        if index == "FIXED" or (index is None and all_in is not None and "spread" not in loan.numbers):
            loan.flags.setdefault("is_fixed", True)
        self._leave_out(at, loan)
        absent = [f"{field} ({counts})" for field, counts in _ABSENT.items() if self._lacks(loan, field)]
        absent[:0] = self._unrated(loan)
        if absent:
            self._warn("trade_fields", at, f"buys {_name(loan)} without {', '.join(absent)}")

    def _lacks(self, loan: TradeLoan, field: str) -> bool:
        portfolio = self.portfolio
        if field == "lien_type":
            return portfolio.lien is not None and loan.lien is None
        if field in portfolio.flags:
            return field not in loan.flags
        has = field in portfolio.numbers or field in portfolio.names
        return has and field not in loan.numbers and field not in loan.texts

    def _unrated(self, loan: TradeLoan) -> list[str]:
        """Return the ratings that a loan lacks.

        Under a definition those of each agency of the file, since each has tests.
        """
        known = [field for field in RATING_FIELDS if field in self.portfolio.ranks]
        if self.holdings.definition is not None:
            text = "as the definition has loans that the agency does not rate"
            asked = known if known == ["rating"] else [field for field in known if field != "rating"]
            return [f"{field} ({text})" for field in asked if not loan.ranks.get(field)]
        return ["a rating (unrated: as Caa3, and in the CCC bucket)"] if known and not any(loan.ranks.values()) else []

    def _leave_out(self, at: int, loan: TradeLoan) -> None:
        """Under a definition an agency that rates nothing in the file has no ratings.

        One loan's would make its ladder rate all others.
        """
        if self.holdings.definition is None:
            return
        strange = [name for name in loan.ranks if name not in self.portfolio.ranks]
        for name in strange:
            del loan.ranks[name], loan.texts[name]
        if strange:
            self._warn(
                "trade_fields", at, f"states {', '.join(strange)}, which no loan of the portfolio has: it is left out"
            )


def _follow(loan: TradeLoan, model: TradeLoan) -> None:
    """Fill what a lot does not state from an earlier one."""
    loan.numbers = {name: its for name, its in model.numbers.items() if name not in SUMMED} | loan.numbers
    loan.texts = model.texts | loan.texts
    loan.flags = model.flags | loan.flags
    for name, rank in model.ranks.items():
        if loan.texts.get(name) == model.texts.get(name):
            loan.ranks.setdefault(name, rank)
    loan.lien = model.lien if loan.lien is None else loan.lien
    loan.key = loan.key or model.key


def _name(loan: TradeLoan) -> str:
    """Return the loan as its trade names it."""
    texts = loan.texts
    named = (("cusip", "CUSIP "), ("loanx_id", "LoanX id "), ("isin", "ISIN "), ("borrower_name", ""))
    for name, words in named:
        if name in texts:
            return words + texts[name]
    raise AssertionError("a trade names its loan")


_OF_BORROWER: Final = ("obligor", "issuer_id", "industry", "industry_a", "industry_b", "industry_c", "country")
"""What all loans of a borrower share."""


_ABSENT: Final = {
    "maturity_date": "no life", "spread": "no interest", "industry": "unclassified", "country": "as home",
    "recovery_rate": "that of its kind", "lien_type": "first lien", "facility_size": "of no size",
    "quote_depth": "no quotes", "cov_lite": "with covenants",
}  # fmt: skip
"""What a test asks of a loan, and what holds where it is not stated."""
