"""A portfolio's loans as a query asks for them.

Which fulfil its conditions, their groups, what they come to.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import isfinite
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from core.compliance.measuring import pools_of
from core.compliance.pool_sums import Measurement, Pool, Unmeasurable
from core.compliance.suites import TESTS
from core.insights.subject import Subject
from core.portfolio import Portfolio
from core.portfolio.model.facts import AGENCY_NAMES
from core.portfolio.model.fields import Lien
from core.portfolio.model.portfolio import Amortization, Names, without_figures_of_loans
from core.portfolio.model.ratings import AGENCY_OF, CCC, DEFAULTED, MASKED, SCALE_A, SCALE_B, UNBUCKETED, watch
from core.questions.query import Condition
from core.questions.vocabulary import NAME_COLUMNS, QUANTITIES, RATING_AGENCIES, RATINGS

Mask = NDArray[np.bool_]
Floats = NDArray[np.float64]

DISTRESSED_BELOW: Final = 80.0
"""Percent of par below which a loan is called distressed: the line of the market's discount obligations."""

INVESTMENT_GRADE: Final = 10
"""The worst rank of investment grade."""

_DAYS_MAX: Final = 400_000.0


class Unavailable(Exception):
    """What a query asks for and the data do not have; the text says it for a reader."""


@dataclass(frozen=True, slots=True)
class Group:
    """Loans that have something in common."""

    label: str
    rows: NDArray[np.intp]


_FLAG_COLUMNS: Final = {
    "cov_lite": ("cov_lite",), "fixed": ("is_fixed",), "dip": ("is_dip",), "current_pay": ("is_current_pay",),
    "deferring": ("is_deferring", "is_pik"), "participation": ("participation",), "bridge": ("is_bridge",),
    "revolver": ("is_revolving",), "delayed_draw": ("is_delayed_draw",), "long_dated": ("is_long_dated",),
}  # fmt: skip
_LIENS: Final = {
    "first_lien": (Lien.BLANK, Lien.FIRST_LIEN), "second_lien": (Lien.SECOND_LIEN,), "unsecured": (Lien.UNSECURED,),
    "bond": (Lien.BOND,),
}  # fmt: skip
_DENIALS: Final = {"performing": "defaulted", "floating": "fixed", "covenanted": "cov_lite"}
LIEN_WORDS: Final = {
    Lien.BLANK: "first lien", Lien.FIRST_LIEN: "first lien", Lien.SECOND_LIEN: "second lien", Lien.UNSECURED:
    "unsecured", Lien.BOND: "bond", Lien.OTHER: "other",
}  # fmt: skip
RATING_COLUMNS: Final = {"a": "rating_agency_a", "b": "rating_agency_b", "c": "rating_agency_c"}

COMPARE: Final[dict[str, np.ufunc]] = {
    "<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal, "=": np.equal, "!=": np.not_equal,
}  # fmt: skip


class LoanSet:
    """A portfolio by the rules of a subject's runs."""

    def __init__(self, subject: Subject, portfolio: Portfolio | None = None) -> None:
        """Args:
        portfolio: another one than the subject's own, such as last month's.
        """
        self.subject = subject
        self.portfolio = subject.portfolio if portfolio is None else portfolio
        pools = subject.pools if portfolio is None else pools_of(portfolio, subject.definition)
        if not pools:
            raise Unavailable("the file has no loans")
        self.pool: Pool = pools[0]
        self.view = self.pool.view
        par = self.view.numbers["par_value"]
        self.has_par: Mask = np.isfinite(par) & (par != 0.0)
        self.par: Floats = np.where(np.isfinite(par), par, 0.0)
        self.defaulted: Mask = self.pool.defaulted & self.has_par
        self.performing: Mask = self.has_par & ~self.pool.defaulted
        self.columns_read: dict[str, str | None] = {}
        """Fields that a query has read, with their cells."""
        self.remarks: dict[str, None] = {}
        """What a reader has to know of how the conditions were read."""

    # Columns

    def note(self, column: str) -> None:
        self.columns_read[column] = self.portfolio.source_cells.get(column)

    def number(self, field: str) -> Floats:
        """A number of each loan, NaN where it is blank.

        Raises:
            Unavailable: the file does not have it.
        """
        if field == "par":
            self.note("par_value")
            return self.par
        if field == "share":
            return np.asarray(self.par / self.denominator * 100)
        if field == "market_value":
            return np.asarray(self.par * self.number("price") / 100)
        if field in ("years", "wal"):
            years = self.pool.years
            if years is None:
                raise Unavailable(_lacks("maturity_date"))
            self.note("maturity_date")
            return years
        if field in ("rank", "warf", "rating"):
            return self.worst_first
        if field in RATING_AGENCIES:
            return self._ranks_or_nan(RATING_AGENCIES[field])
        column = column_of("spread" if field == "was" else field)
        values = self.view.numbers.get(column or "")
        if column is None or values is None:
            raise Unavailable(_lacks(column or field))
        self.note(column)
        return np.where(np.isfinite(values), values, np.nan)

    def names(self, field: str) -> Names:
        """Names of each loan.

        Raises:
            Unavailable: the file does not have them.
        """
        names = self.portfolio.names.get(NAME_COLUMNS[field])
        if names is None:
            raise Unavailable(_lacks(NAME_COLUMNS[field]))
        self.note(NAME_COLUMNS[field])
        return names

    def ranks(self, agency: str | None) -> NDArray[np.uint8]:
        """Return ranks by an agency, 0 where it has none; by any for None.

        Raises:
            Unavailable: the file has no rating.
        """
        if agency is None:
            columns = [column for column in (*RATING_COLUMNS.values(), "rating") if column in self.view.ranks]
            if not columns:
                raise Unavailable(_lacks("ratings"))
            first = np.zeros(self.portfolio.row_count, np.uint8)
            for column in columns:
                self.note(column)
                ranks = self.view.ranks[column]
                first = np.where((first == 0) & (ranks <= DEFAULTED), ranks, first)
            return first
        column = RATING_COLUMNS[agency]
        if column not in self.view.ranks:
            if "rating" in self.view.ranks:
                self.remarks[
                    f"the file has no rating of {AGENCY_NAMES[agency]}: the deal's own rating column counts"
                ] = None
                column = "rating"
            else:
                raise Unavailable(f"the file has no ratings of {AGENCY_NAMES[agency]}")
        self.note(column)
        ranks = self.view.ranks[column]
        return np.where(ranks <= DEFAULTED, ranks, np.uint8(0))

    def _ranks_or_nan(self, agency: str | None) -> Floats:
        ranks = self.ranks(agency).astype(np.float64)
        ranks[ranks == 0] = np.nan
        return ranks

    @cached_property
    def worst_first(self) -> Floats:
        """The rank by which a loan's rating factor goes."""
        return self._ranks_or_nan(None)

    @cached_property
    def denominator(self) -> float:
        """The collateral principal amount, with defaulted loans as the deal counts them.

        Raises:
            Unavailable: it is not above zero.
        """
        if not self.pool.denominator > 0:
            raise Unavailable("the collateral principal amount is not above zero")
        return self.pool.denominator

    def mask_of(self, rows: Any = ()) -> Mask:
        """Return which loans are these."""
        mask = np.zeros(self.portfolio.row_count, np.bool_)
        mask[np.asarray(rows, np.intp)] = True
        return mask

    # Conditions

    def select(self, where: Sequence[Condition]) -> Mask:
        """The loans with a par that fulfil every condition, defaulted ones included."""
        mask = self.has_par.copy()
        for condition in where:
            mask &= self.meets(condition)
        return mask

    def meets(self, condition: Condition) -> Mask:
        """Return which loans fulfil a condition."""
        if condition.field == "not":
            return ~self.meets(condition.any_of[0])
        if condition.any_of:
            return np.asarray(np.logical_or.reduce([self.meets(part) for part in condition.any_of]))
        if condition.field == "flag":
            mask = self._flag(condition.values[0], condition.agency)
            return ~mask if condition.op == "is not" else mask
        if condition.op in ("blank", "known"):
            blank = self._blank(condition)
            return blank if condition.op == "blank" else ~blank
        if condition.op in ("in", "not in"):
            mask = self._named(condition.field, condition.values)
            return mask if condition.op == "in" else ~mask
        if condition.op == "top":
            return self._in_the_largest(condition)
        return self._beside(condition) if condition.than else self._compared(condition)

    def _compared(self, condition: Condition) -> Mask:
        low, high = condition.low, condition.high
        if condition.field == "rating":
            ranks = self.ranks(condition.agency)
            return np.asarray((ranks > 0) & (ranks >= (low or 0)) & (ranks <= (high or 0)))
        values = self.number(condition.field)
        known = np.isfinite(values)
        with np.errstate(invalid="ignore"):
            if condition.op != "between":
                return np.asarray(COMPARE[condition.op](values, low) & known)
            above = True if low is None else values >= low
            return np.asarray(known & above & (True if high is None else values <= high))

    def _beside(self, condition: Condition) -> Mask:
        """The loans whose field is above or below another one of theirs."""
        if condition.field == "rating":
            first, last = (self.ranks(agency).astype(np.float64) for agency in (condition.agency, condition.than))
            known = (first > 0) & (last > 0)
            return np.asarray(known & ((first > last) if condition.op == "<" else (first < last)))
        first = self.number(condition.field)
        if condition.than == "was":  # the portfolio's, in percent
            last = np.full(len(first), (self.measure("was", np.flatnonzero(self.has_par)) or np.nan) * 100)
        else:
            last = self.number(condition.than)
        with np.errstate(invalid="ignore"):
            return np.asarray(COMPARE[condition.op](first, last))

    def _in_the_largest(self, condition: Condition) -> Mask:
        """The loans of the groups in some places by par."""
        groups = self.groups(condition.field, self.performing)
        assert condition.low is not None
        assert condition.high is not None
        sign = -1.0 if condition.low > 0 else 1.0
        groups.sort(key=lambda group: sign * float(self.par[group.rows].sum()))
        mask = self.mask_of()
        by, _ = self._codes(condition.field)
        for group in groups[int(abs(condition.low)) - 1 : int(abs(condition.high))]:
            mask |= by == by[group.rows[0]]
        return mask

    def _named(self, field: str, values: tuple[str, ...]) -> Mask:
        if field == "obligor":
            names = self.borrowers
            # Whoever is one obligor by its identifier is one, however its loans spell it.
            rows = _rows_of(names, values)
            obligor = self.view.names.get("obligor")
            self.note("borrower_name")
            if obligor is None:
                return rows
            codes = np.unique(obligor.codes[rows])
            return rows | np.isin(obligor.codes, codes[codes >= 0])
        return _rows_of(self.names(field), values)

    def _blank(self, condition: Condition) -> Mask:
        field = condition.field
        if field == "rating":
            if condition.agency is None:
                return self._unrated()
            column = RATING_COLUMNS[condition.agency]
            if column not in self.view.ranks:
                return ~self.mask_of()
            self.note(column)
            return np.asarray(self.view.ranks[column] == 0)
        if field == "lien":
            return np.asarray(self._lien() == Lien.BLANK)
        if field in NAME_COLUMNS:
            names = self.portfolio.names.get(NAME_COLUMNS[field])
            if names is None:
                self.remarks[f"the file has no column {NAME_COLUMNS[field]}"] = None
                return ~self.mask_of()
            self.note(NAME_COLUMNS[field])
            empty = np.array([*(not text.strip() for text in names.values), True], np.bool_)
            return np.asarray(empty[names.codes])
        try:
            return np.isnan(self.number(field))
        except Unavailable:
            self.remarks[f"the file has no column {column_of(field) or field}"] = None
            return ~self.mask_of()

    def _lien(self) -> NDArray[np.uint8]:
        if self.view.lien is None:
            raise Unavailable(_lacks("lien_type"))
        self.note("lien_type")
        return self.view.lien

    def _unrated(self) -> Mask:
        mask = ~self.mask_of()
        for column in (*RATING_COLUMNS.values(), "rating"):
            if column in self.view.ranks:
                self.note(column)
                ranks = self.view.ranks[column]
                mask &= (ranks == 0) | (ranks == UNBUCKETED)
        return mask

    def _flag(self, flag: str, agency: str | None) -> Mask:
        if flag in _LIENS:
            return np.asarray(np.isin(self._lien(), _LIENS[flag]))
        if flag in _DENIALS:
            return ~self._flag(_DENIALS[flag], None)
        if flag in _FLAGS:
            return np.asarray(_FLAGS[flag](self, agency))
        for column in _FLAG_COLUMNS[flag]:
            if column in self.view.flags:
                self.note(column)
                return np.asarray(self.view.flags[column] != 0)
        if flag == "long_dated":
            return np.asarray(self.number("maturity") > self._day("stated_maturity", "when the deal matures"))
        raise Unavailable(_lacks(_FLAG_COLUMNS[flag][0]))

    def _day(self, name: str, words: str) -> float:
        day: float | None = getattr(self.portfolio.deal, name)
        if day is None:
            raise Unavailable(f"the file does not say {words}")
        return day

    def _not_senior(self) -> Mask:
        lien = self._lien()
        junior = np.asarray(lien >= Lien.SECOND_LIEN)
        return junior & (lien != Lien.BOND) if self.pool.definition.ratings.bonds_secured else junior

    def _at_home(self, *, is_home: bool) -> Mask:
        names = self.view.names.get("country")
        if names is None:
            raise Unavailable(_lacks("country"))
        self.note("country")
        return np.asarray((names.codes >= 0) & ((names.codes == self.view.home) == is_home))

    def _distressed(self) -> Mask:
        self.remarks[f"distressed is read as priced below {DISTRESSED_BELOW:g}"] = None
        return np.asarray(self.number("price") < DISTRESSED_BELOW)

    def _investment_grade(self) -> Mask:
        ranks = self.ranks(None)
        return np.asarray((ranks > 0) & (ranks <= INVESTMENT_GRADE))

    def _small(self) -> Mask:
        rules, names = self.view.rules, self.view.names.get("country")
        at_home = True if names is None else (names.codes < 0) | (names.codes == self.view.home)
        return np.asarray(self.number("facility_size") < np.where(at_home, rules.small_home, rules.small_abroad))

    def _discount(self) -> Mask:
        rules, fixed = self.view.rules, self.view.flags.get("is_fixed")
        is_fixed = np.zeros(self.portfolio.row_count, np.bool_) if fixed is None else fixed != 0
        low = self.number("purchase_price") < np.where(is_fixed, rules.discount_fixed, rules.discount)
        price = self.view.numbers.get("price")
        return low if price is None else low & ~(price >= np.where(is_fixed, rules.release_fixed, rules.release))

    def _without_rating(self, agency: str | None) -> Mask:
        if agency is None:
            return self._unrated()
        return self._blank(Condition(field="rating", op="blank", agency=agency))

    def in_bucket(self, agency: str | None) -> Mask:
        """Loans of an agency's CCC bucket, of any for None."""
        counting = self.pool.definition.par_value.ccc_agencies if agency is None else (agency,)
        agencies = [name for name in counting if RATING_COLUMNS[name] in self.view.ranks]
        own = self.view.ranks.get("rating")
        if not agencies and own is None:
            raise Unavailable(_lacks("ratings"))
        mask = self.mask_of()
        nobody = ~self.mask_of()
        for column in RATING_COLUMNS.values():
            if column in self.view.ranks:
                nobody &= self.view.ranks[column] == 0
        for name in agencies:
            column = RATING_COLUMNS[name]
            self.note(column)
            ranks = self.view.ranks[column]
            mask |= (ranks >= CCC) & (ranks < MASKED)
        if own is not None:
            self.note("rating")
            mask |= nobody & (own >= CCC) & (own < MASKED)
            nobody = nobody & (own == 0)
        return mask | nobody

    def _watched(self) -> Mask:
        mask = np.zeros(self.portfolio.row_count, np.bool_)
        seen = False
        for column in (*(f"watch_{name}" for name in "abc"), *AGENCY_OF):
            names = self.portfolio.names.get(column)
            if names is not None:
                seen = True
                table = np.array([*(watch(text) != 0 for text in names.values), False], np.bool_)
                mask |= table[names.codes]
        if not seen or not mask.any():
            raise Unavailable("the file has no watch marks")
        return mask

    # Labels

    @cached_property
    def borrowers(self) -> Names:
        """The column that names borrowers for a reader.

        Raises:
            Unavailable: there is none.
        """
        for column in ("borrower_name", "obligor"):
            if column in self.portfolio.names:
                return self.portfolio.names[column]
        raise Unavailable(_lacks("borrower_name"))

    def name_of(self, row: int) -> str:
        """Return the borrower of a loan, else its facility, else its place."""
        texts = (self.text_in(column, row) for column in ("borrower_name", "facility_name", "obligor"))
        return next((text for text in texts if text), f"loan {row + 1}")

    def facility_of(self, row: int) -> str | None:
        return self.text_in("facility_name", row)

    def text_in(self, column: str, row: int) -> str | None:
        """Return what a column of names says of a loan; None where it is blank."""
        names = self.portfolio.names.get(column)
        text = "" if names is None or names.codes[row] < 0 else names.values[int(names.codes[row])]
        return text if text.strip() else None

    def identifier_of(self, row: int) -> str | None:
        texts = (self.text_in(column, row) for column in ("cusip", "loanx_id", "isin"))
        return next((text for text in texts if text), None)

    def text_of(self, field: str, row: int) -> str | None:
        """What a column of names says of a loan; a rating as its agency writes it."""
        if field in RATINGS:
            agency = RATING_AGENCIES.get(field)
            rank = int(self.ranks(agency)[row])
            if not 0 < rank <= DEFAULTED:
                return None
            return (SCALE_A[rank - 1] if rank <= len(SCALE_A) else "D") if agency in (None, "a") else SCALE_B[rank - 1]
        if field == "lien":
            return LIEN_WORDS[Lien(int(self._lien()[row]))]
        names = self.names(field)
        return names.values[int(names.codes[row])] if names.codes[row] >= 0 else None

    def groups(self, by: str, mask: Mask) -> list[Group]:
        """The loans of a set by what they have in common."""
        rows = np.flatnonzero(mask)
        if by == "loan":
            return [Group(self.name_of(int(row)), np.array([row])) for row in rows]
        codes, labels = self._codes(by)
        codes = codes[rows]
        known = codes >= 0
        if not known.all():
            missing = int((~known).sum())
            loans = f"{missing:,} loan{'s' * (missing != 1)} without {BLANK_WORDS.get(by, by)}"
            self.remarks[f"{loans} stand in no group"] = None
        rows, codes = rows[known], codes[known]
        order = np.argsort(codes, kind="stable")
        rows, codes = rows[order], codes[order]
        starts = np.flatnonzero(np.append(True, codes[1:] != codes[:-1])) if len(codes) else np.zeros(0, np.intp)
        groups = []
        for start, end in zip(starts, [*starts[1:], len(codes)][: len(starts)], strict=True):
            own = rows[start:end]
            largest = int(own[np.argmax(np.abs(self.par[own]))])
            groups.append(Group(self.name_of(largest) if by == "obligor" else labels[int(codes[start])], own))
        return groups

    def _codes(self, by: str) -> tuple[NDArray[np.intp], Sequence[str]]:
        if by == "obligor":
            names = self.view.names.get("obligor")
            if names is None:
                raise Unavailable(_lacks("borrower_name"))
            self.note("borrower_name")
            return names.codes.astype(np.intp), names.values
        if by in ("rating", "rating_a", "rating_b", "rating_c"):
            agency = by.removeprefix("rating").removeprefix("_") or None
            if agency is None:
                agency = next((name for name, column in RATING_COLUMNS.items() if column in self.view.ranks), None)
            scale = (*(SCALE_A if agency in (None, "a") else SCALE_B), "D")[:DEFAULTED]
            return self.ranks(agency).astype(np.intp) - 1, scale
        if by == "lien":
            lien = np.where(self._lien() == Lien.BLANK, np.uint8(Lien.FIRST_LIEN), self._lien())
            return lien.astype(np.intp), [LIEN_WORDS[lien_type] for lien_type in Lien]
        if by == "year":
            maturity = self.number("maturity")
            known = np.isfinite(maturity) & (np.abs(maturity) < _DAYS_MAX)
            years = np.full(len(maturity), -1, np.intp)
            years[known] = np.floor(maturity[known]).astype("M8[D]").astype("M8[Y]").astype(np.intp) + 1970
            return np.where(years > 2500, -1, years), _Years()
        if by == "coupon_type":
            return self._flag("fixed", None).astype(np.intp), ("floating", "fixed")
        names = self.names(by)
        return names.codes.astype(np.intp), names.values

    # What they come to

    def measure(self, name: str, rows: NDArray[np.intp], how: str | None = None) -> float | None:
        """Return a quantity of some loans; None where no loan gives one.

        Amounts, shares and averages are of the performing loans, of a set without any of all of it.

        Args:
            how: average (weighted by par), simple, median, total; None for what the quantity has by itself.

        Raises:
            Unavailable: the file does not have it.
        """
        performing = rows[self.performing[rows]]
        every, rows = rows, performing if len(performing) else rows
        if name == "count":
            return float(len(every))
        if name in ("par", "share") and how in (None, "total"):
            self.note("par_value")
            total = float(self.par[rows].sum())
            return total if name == "par" else total / self.denominator * 100
        if not len(rows) and name != "market_value":
            return None
        if name in ("market_value", "unfunded") and how in (None, "total"):
            return float(np.nansum(self.number(name)[rows]))
        test_id = QUANTITIES[name].test_id if name in QUANTITIES else None
        if test_id is not None and how in (None, "average") and name != "price":
            return self._tested(test_id, rows)
        values = self.number(name)[rows]
        known = np.isfinite(values)
        if how == "average" and name in ("par", "market_value", "facility_size"):
            how = "simple"
        return _aggregate(values[known], self.par[rows][known], how) if known.any() else None

    def _tested(self, test_id: str, rows: NDArray[np.intp]) -> float | None:
        try:
            measured: Measurement = TESTS[test_id].measure(Pool(take(self.portfolio, rows), self.subject.definition))
        except (Unmeasurable, ZeroDivisionError) as reason:
            raise Unavailable(str(reason) or "it cannot be measured") from None
        for column in TESTS[test_id].columns:
            for name in column.split(" or "):
                if name in self.portfolio.numbers or name in self.portfolio.names or name in self.portfolio.ranks:
                    self.note(name)
        return measured.value if isfinite(measured.value) else None


_FLAGS: Final[dict[str, Callable[[LoanSet, str | None], Mask]]] = {
    "not_senior": lambda book, _: book._not_senior(),
    "defaulted": lambda book, _: book.pool.defaulted,
    "foreign": lambda book, _: book._at_home(is_home=False),
    "domestic": lambda book, _: book._at_home(is_home=True),
    "unrated": lambda book, agency: book._without_rating(agency),
    "ccc": lambda book, agency: book.in_bucket(agency),
    "investment_grade": lambda book, _: book._investment_grade(),
    "past_due": lambda book, _: book.number("days_past_due") > 0,
    "distressed": lambda book, _: book._distressed(),
    "unpriced": lambda book, _: book._blank(Condition(field="price", op="blank")),
    "matured": lambda book, _: book.number("maturity") < book._day("as_of", "its day"),
    "watch": lambda book, _: book._watched(),
    "small": lambda book, _: book._small(),
    "discount": lambda book, _: book._discount(),
}
"""Flags that a loan has by its figures and not by a column of its own."""

BLANK_WORDS: Final = {
    "rating": "a rating", "rating_a": "a Moody's rating", "rating_b": "an S&P rating", "rating_c": "a Fitch rating",
    "year": "a maturity", "industry": "an industry", "country": "a country", "obligor": "a borrower",
    "currency": "a currency", "index": "an index",
}  # fmt: skip


_PLAIN: Final[dict[str, Callable[[Floats], Any]]] = {"median": np.median, "simple": np.mean, "total": np.sum}


def _aggregate(values: Floats, par: Floats, how: str | None) -> float | None:
    if how in _PLAIN:
        return float(_PLAIN[how](values))
    weight = float(par.sum())
    return float(par @ values / weight) if weight > 0 else None


class _Years(Sequence[str]):
    """The label of each year."""

    def __len__(self) -> int:
        return 2501

    def __getitem__(self, at: int) -> str:  # type: ignore[override]
        return str(at)


def _rows_of(names: Names, values: Sequence[str]) -> Mask:
    wanted = frozenset(values)
    table = np.array([*(text in wanted for text in names.values), False], np.bool_)
    return np.asarray(table[names.codes])


def column_of(field: str) -> str | None:
    """Return the column of a quantity of a loan."""
    return QUANTITIES[field].column if field in QUANTITIES else None


def _lacks(column: str) -> str:
    return f"the file has no column for {column.replace('_', ' ')}"


def take(portfolio: Portfolio, rows: NDArray[np.intp]) -> Portfolio:
    """Some loans of a portfolio, without its cash and notes."""
    place = np.full(portfolio.row_count, -1, np.int64)
    place[rows] = np.arange(len(rows))
    schedule = portfolio.amortization
    if schedule is not None:
        at = place[schedule.row]
        schedule = Amortization(row=at[at >= 0], days=schedule.days[at >= 0], amount=schedule.amount[at >= 0])
    return replace(
        portfolio,
        row_count=len(rows),
        numbers={name: column[rows] for name, column in portfolio.numbers.items()},
        names={name: Names(column.codes[rows], column.values) for name, column in portfolio.names.items()},
        flags={name: column[rows] for name, column in portfolio.flags.items()},
        ranks={name: column[rows] for name, column in portfolio.ranks.items()},
        lien=None if portfolio.lien is None else portfolio.lien[rows],
        tranches=None,
        deal=replace(without_figures_of_loans(portfolio.deal), principal_cash=0.0),
        amortization=schedule,
        lots=None if portfolio.lots is None else portfolio.lots[rows],
        conflicting=None if portfolio.conflicting is None else portfolio.conflicting[rows],
        sheet_rows=None if portfolio.sheet_rows is None else portfolio.sheet_rows[rows],
    )
