"""A definition's formulas over a portfolio.

Shares of par down the columns, values over totals and other tests.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from core.compliance.frequency import payments_a_year
from core.compliance.masks import OPERATIONS, PART_ROWS, Program, add_up, joined
from core.compliance.pool_sums import Measurement, Pool, Unmeasurable
from core.compliance.share_plan import (
    TRUTHS,
    Bools,
    Missing,
    SharePlan,
    Source,
    column_of_values,
    constant_truth,
    filled,
    plan_of,
    truth_of_columns,
    truth_of_values,
)
from core.definition.definition import Definition
from core.definition.formulas import NUMBERS, Atom, Logic, fields_of, without_cells
from core.definition.terms import LOAN_FIELDS, LOAN_FLAGS, LOAN_TEXTS
from core.formula.evaluate import evaluate
from core.formula.language import FormulaError
from core.portfolio.model.fields import STANDARD_TARGETS, Lien
from core.portfolio.model.portfolio import Names
from core.portfolio.model.ratings import DEFAULTED
from core.remembered import remembered_by_object
from core.threads import by_threads
from core.values import SERIAL_OF_1970

KEPT_ROWS_MAX: Final = 64_000_000
"""Rows of the parts of formulas that are kept, or run before a program; each takes a byte or two."""

_DATES: Final = frozenset(("maturity_date", "default_date"))
_DAYS_A_YEAR: Final = 365.25
_LIENS: Final = tuple("first_lien" if lien == Lien.BLANK else lien.name.lower() for lien in Lien)
_RANKS: Final = {
    "rank_a": ("rating_agency_a",),
    "rank_b": ("rating_agency_b",),
    "rank_c": ("rating_agency_c",),
    "rank": ("rating",),
    "facility_rank_a": ("rating_agency_a_facility", "facility_rating_agency_a"),
    "facility_rank_b": ("rating_agency_b_facility",),
    "facility_rank_c": ("rating_agency_c_facility",),
}
"""The columns of ranks that a name may mean, first choice first."""


class Fields:
    """The loans of a pool as the formulas of a definition name them.

    What was worked out is kept for the next test.
    """

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self._atoms: dict[str, tuple[Bools, Bools | None]] = {}
        self._categories: dict[str, tuple[NDArray[Any], Sequence[Any]] | None] = {}
        self._numbers: dict[str, NDArray[np.float64] | None] = {}
        self._filled: dict[str, tuple[NDArray[np.float64], Bools | None]] = {}
        self._shares: dict[str, tuple[float, float] | Missing] = {}
        portfolio = pool.portfolio
        every = (*portfolio.numbers, *portfolio.names, *portfolio.flags)
        self._own = {name.lower(): name for name in every if name not in LOAN_FIELDS and name not in STANDARD_TARGETS}
        """Fields of the mapping's own, by the names that formulas have for them."""

    def has(self, field: str) -> bool:
        """Return whether the file has the field."""
        if field in LOAN_FLAGS:
            return field in self.pool.view.flags
        if field not in LOAN_FIELDS:
            return field in self._own
        return (self.number(field) if field in NUMBERS else self.category(field)) is not None

    def category(self, field: str) -> tuple[NDArray[Any], Sequence[Any]] | None:
        """(code per row, below 0 for blank; values) of a field, or None if absent."""
        if field not in self._categories:
            self._categories[field] = self._category(field)
        return self._categories[field]

    def _category(self, field: str) -> tuple[NDArray[Any], Sequence[Any]] | None:
        view, portfolio = self.pool.view, self.pool.portfolio
        if field in self._own:
            return self._own_category(self._own[field])
        if field in LOAN_TEXTS:
            names = (portfolio if field == "country" else view).names.get(field)
            return None if names is None else (names.codes, names.values)
        if field in LOAN_FLAGS:
            flags = view.flags.get(field)
            return (np.zeros(portfolio.row_count, np.uint8) if flags is None else flags), (False, True)
        if field == "payments_a_year":
            names = view.names.get("payment_frequency")
            return None if names is None else _payments(names)
        if field == "lien":
            return None if view.lien is None else (view.lien, _LIENS)
        if field in _RANKS:
            if (ranks := self._ranks(field)) is None:
                return None
            shown = np.where(ranks > DEFAULTED, np.uint8(0), ranks)
            return shown.astype(np.int8) - 1, tuple(float(index) for index in range(1, DEFAULTED + 1))
        if field == "is_home":
            names = view.names.get("country")
            return None if names is None else ((names.codes < 0) | (names.codes == view.home), (False, True))
        assert field == "is_discount", field
        return self._discounts(), (False, True)

    def rows(self, part: Logic | Atom) -> tuple[Bools, Bools | None]:
        """Return (the loans for which a formula is TRUE, those of which it cannot be told; None for none).

        Raises:
            Unmeasurable: the file lacks what the formula reads.
        """
        self._ask_for(part)
        return self._truth(part)

    def _own_category(self, name: str) -> tuple[NDArray[Any], Sequence[Any]]:
        portfolio = self.pool.portfolio
        if (names := portfolio.names.get(name)) is not None:
            return names.codes, names.values
        if (flags := portfolio.flags.get(name)) is not None:
            return flags, (False, True)
        numbers = self._own_number(name)
        values, codes = np.unique(numbers, return_inverse=True)
        known = int(np.count_nonzero(~np.isnan(values)))
        return np.where(codes < known, codes, -1), values[:known].tolist()

    def _own_number(self, name: str) -> NDArray[np.float64]:
        column = self.pool.portfolio.numbers[name]
        return column + SERIAL_OF_1970 if name in self.pool.portfolio.own_dates else column

    def _discounts(self) -> Bools:
        # A discount obligation is one whether or not the OC numerator cuts it: the pass' own lines are off then.
        numbers, rules, flags = self.pool.view.numbers, self.pool.definition.par_value, self.pool.view.flags
        bought = numbers.get("purchase_price")
        if bought is None:
            raise Lacking(("purchase_price",), self.pool)
        fixed = flags.get("is_fixed", np.zeros(len(bought), np.uint8)) != 0
        low = (bought >= 0) & (bought < np.where(fixed, rules.discount_below_fixed, rules.discount_below))
        price = numbers.get("price")
        if price is None:
            return low
        return low & ~(price >= np.where(fixed, rules.discount_release_fixed, rules.discount_release))

    def number(self, field: str) -> NDArray[np.float64] | None:
        """Return a number of each row, NaN where blank; a date as a spreadsheet's number.

        None where the file lacks it.
        """
        if field not in self._numbers:
            self._numbers[field] = self._number(field)
        return self._numbers[field]

    def _number(self, field: str) -> NDArray[np.float64] | None:
        pool, numbers = self.pool, self.pool.view.numbers
        if field in self._own:
            name = self._own[field]
            return self._own_number(name) if name in pool.portfolio.numbers else None
        if field == "years_to_maturity":
            maturity = numbers.get("maturity_date")
            return None if maturity is None or np.isnan(pool.as_of) else (maturity - pool.as_of) / _DAYS_A_YEAR
        if field == "obligor_par":
            names = pool.view.names.get("obligor")
            if names is None:
                return None
            sums = np.append(np.bincount(names.codes + 1, pool.weights, len(names.values) + 1), np.nan)
            return np.where(names.codes < 0, np.nan, sums[names.codes + 1])
        column = numbers.get(field)
        return column + SERIAL_OF_1970 if column is not None and field in _DATES else column

    def share(self, text: str) -> tuple[float, float]:
        """(par of the performing loans for which the formula is TRUE, par of those of which it cannot be told).

        The first one works out all shares of the pool's definition.

        Raises:
            Unmeasurable: the file lacks what the formula reads.
        """
        if text not in self._shares:
            own = shares_of(self.pool.definition)
            self._add_up(plan_of(own if text in own else (text,)))
        sums = self._shares[text]
        if isinstance(sums, Missing):
            raise Unmeasurable(_missing(sums.columns, self.pool))
        return sums

    def _add_up(self, plan: SharePlan) -> None:
        bound = plan.bind(tuple(map(self._source, plan.fields)))
        beforehand = sum(isinstance(name, tuple) for name in bound.columns)
        if beforehand * self.pool.portfolio.row_count > KEPT_ROWS_MAX and len(plan.parts) > 1:
            texts = tuple(plan.parts)
            for half in (texts[: len(texts) // 2], texts[len(texts) // 2 :]):
                self._add_up(plan_of(half))
            return
        amounts = masked_sums(
            bound.program, [self._bytes_or_numbers(name) for name in bound.columns], self.pool.weights
        )
        for text, places in bound.sums.items():
            if isinstance(places, Missing):
                self._shares[text] = places
            else:
                true, unknown = places
                sums = amounts[true], 0.0 if unknown is None else amounts[unknown]
                self._shares[text] = self.pool.shares[text] = sums

    def _source(self, field: str) -> Source | Missing:
        """Return how a program reads a field."""
        if field in LOAN_FLAGS:
            return _FLAG if field in self.pool.view.flags else Missing((field,))
        if field in _RANKS:
            return Missing((field,)) if self._ranks(field) is None else _RANK
        if field in NUMBERS or self._own.get(field) in self.pool.portfolio.numbers:
            return self._number_source(field)
        try:
            column = self.category(field) if field in LOAN_FIELDS or field in self._own else None
        except Lacking as lacking:
            return Missing(lacking.columns)
        if column is None:
            return Missing((field,))
        codes, values = column
        if values == TRUTHS:
            return _FLAG
        return Source("B" if codes.dtype == np.uint8 else "i", values=tuple(values))

    def _number_source(self, field: str) -> Source | Missing:
        pool = self.pool
        if field in self._own:
            return Source("d", SERIAL_OF_1970 if self._own[field] in pool.portfolio.own_dates else 0.0, is_own=True)
        if field == "years_to_maturity":
            is_known = "maturity_date" in pool.view.numbers and not np.isnan(pool.as_of)
            return Source("d", -pool.as_of, _DAYS_A_YEAR) if is_known else Missing((field,))
        if field == "obligor_par":
            return _NUMBER if "obligor" in pool.view.names else Missing((field,))
        if field not in pool.view.numbers:
            return Missing((field,))
        return _DATE if field in _DATES else _NUMBER

    def _bytes_or_numbers(self, name: str | tuple[Atom, bool]) -> NDArray[Any]:
        """Return a column of a program."""
        view = self.pool.view
        if isinstance(name, tuple):
            atom, is_unknown = name
            true, unknown = self._truth(atom)
            column: NDArray[Any] | None = np.zeros(len(true), np.bool_) if is_unknown and unknown is None else true
            if is_unknown and unknown is not None:
                column = unknown
        elif name in self._own and (own := self._own[name]) in self.pool.portfolio.numbers:
            column = self.pool.portfolio.numbers[own]
        elif name in _RANKS:
            column = self._ranks(name)
        elif name in NUMBERS:
            source = "maturity_date" if name == "years_to_maturity" else name
            column = self.number(name) if name == "obligor_par" else view.columns[source]
        else:
            category = self.category(name)
            assert category is not None
            column = category[0]
        assert column is not None
        return _as_read(column)

    def _ranks(self, field: str) -> NDArray[np.uint8] | None:
        ranks = self.pool.view.ranks
        return next((ranks[column] for column in _RANKS[field] if column in ranks), None)

    def _category_of(self, atom: Atom) -> str | None:
        """Return the one field of few values that a part reads.

        Of the mapping's own fields a text or a flag.
        """
        if atom.category is None and len(atom.fields) == 1 and (name := self._own.get(atom.fields[0])) is not None:
            return None if name in self.pool.portfolio.numbers else atom.fields[0]
        return atom.category

    def _ask_for(self, part: Logic | Atom) -> None:
        """Refuse a formula whose fields the file lacks.

        One flag of several is enough, the others are FALSE then.
        """
        fields = sorted(fields_of(part))
        flags = [field for field in fields if field in LOAN_FLAGS]
        missing = [field for field in fields if field not in flags and not self.has(field)]
        if flags and not any(map(self.has, flags)):
            missing += flags
        if missing:
            raise Unmeasurable(_missing(missing, self.pool))

    def _truth(self, part: Logic | Atom) -> tuple[Bools, Bools | None]:
        """For each row whether the part is TRUE, and whether that cannot be told.

        In the logic of three values.
        """
        if isinstance(part, Atom):
            truth = self._atoms.get(part.text)
            if truth is None:
                truth = self._atom(part)
                if len(self._atoms) * self.pool.portfolio.row_count < KEPT_ROWS_MAX:
                    self._atoms[part.text] = truth
            return truth
        if part.operator == "NOT":
            true, unknown = self._truth(part.parts[0])
            return (~true if unknown is None else ~true & ~unknown), unknown
        both = part.operator == "AND"
        together: Bools | None = None
        open_rows: Bools | None = None
        for piece in part.parts:
            true, unknown = self._truth(piece)
            if together is None:
                together, open_rows = true, unknown
                continue
            if both:
                may = _either(true, unknown) & _either(together, open_rows)
                together = together & true
            else:
                may = _either(true, unknown) | _either(together, open_rows)
                together = together | true
            open_rows = None if unknown is None and open_rows is None else may & ~together
        assert together is not None
        return together, open_rows

    def _atom(self, atom: Atom) -> tuple[Bools, Bools | None]:
        count = self.pool.portfolio.row_count
        if not atom.fields:
            return np.full(count, constant_truth(atom)), None
        if (category := self._category_of(atom)) is not None:
            return self._category_atom(atom, category)
        columns = [self._column(field, fill=field in atom.blank_matters) for field in atom.fields]
        return truth_of_columns(atom, columns, count)

    def _column(self, field: str, *, fill: bool) -> tuple[NDArray[Any], Bools | None]:
        """Return a field as a column of a formula over several, and which rows are blank."""
        numbers = self.number(field) if field in NUMBERS or field in self._own else None
        if numbers is None:
            column = self.category(field)
            assert column is not None
            codes, values = column
            return column_of_values(tuple(values), codes, fill=fill)
        if not fill:
            return numbers, None
        if field not in self._filled:
            self._filled[field] = filled(numbers)
        return self._filled[field]

    def _category_atom(self, atom: Atom, category: str) -> tuple[Bools, Bools | None]:
        column = self.category(category)
        assert column is not None
        codes, values = column
        true, unknown = truth_of_values(atom, values)
        rows = codes.view(np.uint8) if codes.dtype == np.bool_ else codes
        return true[rows], unknown[rows] if unknown.any() else None


def _payments(names: Names) -> tuple[NDArray[Any], Sequence[Any]]:
    """(code of each row, payments a year); -1 where the text says no one number."""
    often = payments_a_year(names.values)
    values = sorted({each for each in often if each is not None})
    table = np.array([*(-1 if each is None else values.index(each) for each in often), -1], np.int32)
    return table[names.codes], values


def _either(true: Bools, unknown: Bools | None) -> Bools:
    return true if unknown is None else true | unknown


class Lacking(Unmeasurable):
    """The file lacks columns that a field is made from."""

    def __init__(self, columns: tuple[str, ...], pool: Pool) -> None:
        super().__init__(_missing(columns, pool))
        self.columns = columns


def _as_read(column: NDArray[Any]) -> NDArray[Any]:
    """Return a column as a program reads it."""
    if column.dtype == np.bool_:
        column = column.view(np.uint8)
    if column.dtype not in _READ:
        column = column.astype(np.int32)
    return np.ascontiguousarray(column)


_READ: Final = (np.dtype(np.float64), np.dtype(np.int32), np.dtype(np.uint8))
_NUMBER: Final = Source("d")
_DATE: Final = Source("d", SERIAL_OF_1970)
_FLAG: Final = Source("B", values=TRUTHS)
_RANK: Final = Source("B", values=tuple(float(rank) for rank in range(1, DEFAULTED + 1)), first=1)


def masked_sums(program: Program, columns: Sequence[NDArray[Any]], weights: NDArray[np.float64]) -> list[float]:
    """Return the sums of a program over all rows."""
    parts = max(1, -(-len(weights) // PART_ROWS))
    sums = np.zeros((parts, program.sums))

    def add(first: int, last: int) -> None:
        add_up(program, columns, weights, first, last, sums)

    by_threads(add, parts, parts // THREAD_PARTS)
    return joined(sums)


THREAD_PARTS: Final = 2
"""Parts of rows that a thread of its own is worth."""


def par_of(weights: NDArray[np.float64], rows: Bools) -> float:
    """Return what the loans in a mask weigh, added up as shares are."""
    return masked_sums(_MASK, [_as_read(rows)], weights)[0]


_MASK: Final = Program(
    [(OPERATIONS["bytes"], 0, 0, 0, (1.0, 255.0, 0.0, 1.0), False, None),
     (OPERATIONS["sum"], 0, 0, 0, (0.0, 0.0, 0.0, 1.0), False, None)],
    "B",
)  # fmt: skip


@remembered_by_object(32)
def shares_of(definition: Definition) -> tuple[str, ...]:
    """Return the formulas of a definition's shares."""
    return tuple(dict.fromkeys(test.share for test in definition.tests if test.enabled and test.share is not None))


def _missing(fields: Sequence[str], pool: Pool) -> str:
    return f"Skipped: required column(s) {', '.join(fields)} not found in sheet '{pool.portfolio.sheet_name}'"


def share_measure(text: str, of: str) -> Callable[[Pool], Measurement]:
    """Return the measure of a share.

    Par of the loans for which the formula is TRUE, in percent of a denominator.
    """
    key = ("share", text)

    def shared(pool: Pool) -> tuple[float, ...]:
        return fields_over(pool).share(text)

    def measured(pool: Pool) -> Measurement:
        par, unknown = pool.shares.get(text) or pool.summed(key, shared)
        divisor = divisor_of(pool, of)
        share_par = par if par > 0.0 else 0.0
        return Measurement(share_par / divisor * 100, share_par, divisor, pool.covered(pool.par - unknown))

    return measured


def fields_over(pool: Pool) -> Fields:
    """Return the loans of a pool as formulas name them, made once."""
    if pool.fields is None:
        pool.fields = Fields(pool)
    return pool.fields  # type: ignore[no-any-return]


def divisor_of(pool: Pool, of: str) -> float:
    """Return what a share is a share of.

    Raises:
        Unmeasurable: it is not known, or not above zero.
    """
    amount = _LATER[of](pool) if of in _LATER else pool.totals.get(of)
    if amount is None:
        raise Unmeasurable(f"{of} is not given: add it to the conventions of the definition")
    if not amount > 0:
        raise Unmeasurable(f"{of} is zero or negative")
    return amount


def unfunded_par(pool: Pool) -> float:
    """Return what is not drawn of the performing loans.

    Raises:
        Unmeasurable: the file has no such column.
    """
    return pool.summed(("unfunded",), lambda part: float(unfunded_of(part).sum()))


def unfunded_of(pool: Pool) -> NDArray[np.float64]:
    """Return what is not drawn of each performing loan.

    A blank is nothing, and so is that of a row without par.

    Raises:
        Unmeasurable: the file has no such column.
    """
    column = pool.view.numbers.get("unfunded")
    if column is None:
        raise Unmeasurable(_missing(["unfunded"], pool))
    counts = np.isfinite(column) & np.isfinite(pool.view.numbers["par_value"]) & ~pool.defaulted
    return np.where(counts, np.maximum(column, 0.0), 0.0)


_LATER: Final[Mapping[str, Callable[[Pool], float]]] = {
    "unfunded": lambda pool: unfunded_par(pool),
    "denominator_and_unfunded": lambda pool: pool.denominator + unfunded_par(pool),
    "adjusted": lambda pool: pool.adjustments["adjusted"],
    "interest": lambda pool: float(pool.interest["available"]),
    "obligors": lambda pool: float(pool.obligors[0]),
}
"""Totals that take a step of their own."""


def value_of(text: str, names: frozenset[str], pool: Pool) -> float:
    """Return the value of a formula over totals and the figures of other tests.

    Raises:
        Unmeasurable: one of them is not known, or the value is no number.
    """
    known = pool.totals
    context: dict[str, float] = {}
    for name in sorted(names):
        if name in pool.figures:
            context[name] = pool.figures[name]
        elif name in known:
            context[name] = known[name]
        elif name in _LATER:
            context[name] = _LATER[name](pool)
        else:
            raise Unmeasurable(f"{name} has no figure")
    text, called = without_cells(text, names)
    try:
        answer = evaluate(text, {called[name]: value for name, value in context.items()}).value
    except FormulaError as error:
        raise Unmeasurable(f"the formula has no value: {error.message}") from None
    if isinstance(answer, bool) or not isinstance(answer, int | float):
        raise Unmeasurable(f"the formula gives {str(answer)[:60]} and no number")
    return float(answer)
