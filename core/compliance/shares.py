"""A definition's formulas over a portfolio.

Shares of par down the columns, values over totals and other tests.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from core.compliance.frequency import payments_a_year
from core.compliance.measures import Measurement, Pool, Unmeasurable
from core.definition.formulas import NUMBERS, Atom, Logic, column_of, fields_of, share_of, without_cells
from core.definition.terms import LOAN_FIELDS, LOAN_FLAGS, LOAN_TEXTS
from core.formula.columns import map_columns
from core.formula.evaluate import evaluate
from core.formula.language import FormulaError
from core.formula.ranges import Environment
from core.portfolio.cells.checkpoint import checkpoint
from core.portfolio.model.fields import STANDARD_TARGETS, Lien
from core.portfolio.model.portfolio import Names
from core.portfolio.model.ratings import DEFAULTED
from core.values import SERIAL_OF_1970

Bools = NDArray[np.bool_]

PIECE_ROWS: Final = 32_768
"""Rows that a part of a formula takes at once."""

KEPT_ROWS_MAX: Final = 64_000_000
"""Rows of all parts of formulas that are kept for the next test; each takes a byte or two."""

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
        self._par_by_value: dict[str, NDArray[np.float64]] = {}
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
        """(code of each row, values) of a field of few values; below 0 is blank.

        None where the file lacks it.
        """
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
            ranks = next((view.ranks[column] for column in _RANKS[field] if column in view.ranks), None)
            if ranks is None:
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
            raise Unmeasurable(_missing(["purchase_price"], self.pool))
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

        Raises:
            Unmeasurable: the file lacks what the formula reads.
        """
        part = share_of(text)
        self._ask_for(part)
        if isinstance(part, Atom) and (category := self._category_of(part)) is not None:
            true, unknown = self._of_values(part, category)
            par = self._par_by(category)
            return float(par @ true), float(par @ unknown)
        rows, open_rows = self._truth(part)
        return self._par_of(rows), 0.0 if open_rows is None else self._par_of(open_rows)

    def _category_of(self, atom: Atom) -> str | None:
        """Return the one field of few values that a part reads.

        Of the mapping's own fields a text or a flag.
        """
        if atom.category is None and len(atom.fields) == 1 and (name := self._own.get(atom.fields[0])) is not None:
            return None if name in self.pool.portfolio.numbers else atom.fields[0]
        return atom.category

    def _par_of(self, rows: Bools) -> float:
        return float(self.pool.weights @ rows)

    def _par_by(self, field: str) -> NDArray[np.float64]:
        """Return performing par by the value of a field, the last for blank."""
        if field not in self._par_by_value:
            column = self.category(field)
            assert column is not None
            codes, values = column
            sums = np.bincount(codes.astype(np.intp) + 1, self.pool.weights, len(values) + 1)
            self._par_by_value[field] = np.append(sums[1:], sums[0])
        return self._par_by_value[field]

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
            value = _truths(np.array([atom.program.run(_Timeless())], object))  # a constant reads nothing
            return np.full(count, value[0][0]), None
        if (category := self._category_of(atom)) is not None:
            return self._category_atom(atom, category)
        columns: dict[str, Any] = {}
        unknown: Bools | None = None
        for at, field in enumerate(atom.fields):
            column, blank = self._column(field, fill=field in atom.blank_matters)
            columns[column_of(at)] = column
            if blank is not None:
                unknown = blank if unknown is None else unknown | blank
        true, faulty = _run(atom, columns, count)
        if faulty is not None:
            unknown = faulty if unknown is None else unknown | faulty
        return (true, None) if unknown is None else (true & ~unknown, unknown)

    def _column(self, field: str, *, fill: bool) -> tuple[NDArray[Any], Bools | None]:
        """Return a field as a column of a formula over several, and which rows are blank.

        `fill`: these are told apart by that alone, and hold some number, since a column of numbers runs several times
        as fast as one with blanks.
        """
        numbers = self.number(field) if field in NUMBERS or field in self._own else None
        if numbers is None:
            column = self.category(field)
            assert column is not None
            codes, values = column
            if field in LOAN_FLAGS or field.startswith("is_") or self._own.get(field) in self.pool.portfolio.flags:
                return np.asarray(codes != 0), None
            if field not in _RANKS and field != "payments_a_year":
                texts = np.array([*values, None], object)[codes]
                return texts, codes < 0 if fill else None
            numbers = np.array([*values, np.nan])[codes]
        if not fill:
            return numbers, None
        if field not in self._filled:
            blank = np.isnan(numbers)
            has_blanks = bool(blank.any())
            self._filled[field] = (
                np.where(blank, 0.0, numbers) if has_blanks else numbers,
                blank if has_blanks else None,
            )
        return self._filled[field]

    def _of_values(self, atom: Atom, category: str) -> tuple[Bools, Bools]:
        """For each value of the atom's field, then for a blank.

        Whether it is TRUE, and whether that cannot be told.
        """
        checkpoint()
        column = self.category(category)
        assert column is not None
        listed = np.empty(len(column[1]) + 1, object)
        listed[:-1] = list(column[1])
        true, faulty = _truths(map_columns(atom.plan, {"A": listed}, atom.program))
        unknown = np.zeros(len(listed), np.bool_) if faulty is None else faulty
        unknown[-1] |= atom.needs_value
        return true & ~unknown, unknown

    def _category_atom(self, atom: Atom, category: str) -> tuple[Bools, Bools | None]:
        true, unknown = self._of_values(atom, category)
        column = self.category(category)
        assert column is not None
        codes = column[0]
        rows = codes.view(np.uint8) if codes.dtype == np.bool_ else codes
        if not unknown[:-1].any() and not (unknown[-1] and self._par_by(category)[-1]):
            return true[rows], None
        return true[rows], unknown[rows]


def _payments(names: Names) -> tuple[NDArray[Any], Sequence[Any]]:
    """(code of each row, payments a year); -1 where the text says no one number."""
    often = payments_a_year(names.values)
    values = sorted({each for each in often if each is not None})
    table = np.array([*(-1 if each is None else values.index(each) for each in often), -1], np.int32)
    return table[names.codes], values


class _Timeless(Environment):
    """A place without a clock, in which a date without a year is a mere text.

    A run gives the same in every year.
    """

    def year(self, is_cell: bool = False) -> None:
        return None


def _run(atom: Atom, columns: dict[str, NDArray[Any]], count: int) -> tuple[Bools, Bools | None]:
    """Return (TRUE, neither TRUE nor FALSE) of a part down its columns, by pieces that stay in the processor's cache:
    what the engine makes for a million rows at once is memory that the system gives by the page."""
    true = np.empty(count, np.bool_)
    unknown: Bools | None = None
    for start in range(0, count, PIECE_ROWS):
        checkpoint()
        piece = slice(start, start + PIECE_ROWS)
        part = {letters: column[piece] for letters, column in columns.items()}
        true[piece], faulty = _truths(map_columns(atom.plan, part, atom.program))
        if faulty is not None:
            unknown = np.zeros(count, np.bool_) if unknown is None else unknown
            unknown[piece] = faulty
    return true, unknown


def _either(true: Bools, unknown: Bools | None) -> Bools:
    return true if unknown is None else true | unknown


def _truths(values: NDArray[Any] | None) -> tuple[Bools, Bools | None]:
    """Return (TRUE, neither TRUE nor FALSE) of a formula's values.

    A number is TRUE unless it is 0, as in a sheet.
    """
    assert values is not None
    if values.dtype == np.bool_:
        return values, None
    if values.dtype.kind == "f":
        return values != 0, None
    answers = [
        value if isinstance(value, bool) else value != 0 if isinstance(value, int | float) else None for value in values
    ]
    faulty = np.array([answer is None for answer in answers], np.bool_)
    return np.array([bool(each) for each in answers], np.bool_), faulty if faulty.any() else None


def _missing(fields: Sequence[str], pool: Pool) -> str:
    return f"Skipped: required column(s) {', '.join(fields)} not found in sheet '{pool.portfolio.sheet_name}'"


def share_measure(text: str, of: str) -> Callable[[Pool], Measurement]:
    """Return the measure of a share.

    Par of the loans for which the formula is TRUE, in percent of a denominator.
    """

    def shared(pool: Pool) -> tuple[float, ...]:
        return fields_over(pool).share(text)

    def measured(pool: Pool) -> Measurement:
        par, unknown = pool.summed(("share", text), shared)
        divisor = divisor_of(pool, of)
        share_par = max(0.0, par)
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
    amount = _LATER[of](pool) if of in _LATER else totals(pool).get(of)
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


def totals(pool: Pool) -> dict[str, float]:
    """Return what the formulas of values may name, without what is not known."""
    target = pool.definition.conventions.target_par
    known = {
        "par": pool.par,
        "cash": pool.cash,
        "cpa": pool.cpa,
        "denominator": pool.denominator,
        "defaulted_par": pool.tally.defaulted_par,
        "fixed_par": pool.fixed_par,
        "floating_par": pool.par - pool.fixed_par,
        "loans": float(pool.tally.performing_rows),
    }
    if target is not None:
        known["target_par"] = target
    if np.isfinite(pool.as_of):
        known["as_of"] = pool.as_of + SERIAL_OF_1970
    return known


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
    known = totals(pool)
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
