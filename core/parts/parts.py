"""The parts of a figure of a run.

Which they are, that they add up, and what room is left until the limit.
"""

from __future__ import annotations

from functools import cached_property
from math import fsum
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from core.compliance.conventions import definition_for
from core.compliance.deal_suite import with_coverage
from core.compliance.kernels import rounded
from core.compliance.measuring import pools_of
from core.compliance.pool_sums import Pool
from core.compliance.result import Skipped, TestResult
from core.compliance.suites import DEAL_SUITE
from core.definition.definition import DealTest, Definition
from core.frames.figures import DECIMALS
from core.grid.places import page_words, row_place
from core.parts.breakup import Amount, Breakup
from core.parts.catalogue import BUILDERS, SUITES, by_share, tolerance_of
from core.parts.content import COLUMNS, PARTS_SHOWN, FigurePart, FigureParts, Room
from core.portfolio import Portfolio
from core.portfolio.model.framed import column_of
from core.portfolio.model.ratings import RATING_FIELDS

NO_SUM: Final = "the figure is of the pool as a whole, and no sum over its loans"
NO_FORMULA: Final = "the figure is a formula over other figures: {formula}"
NO_LOANS: Final = "there are no loans to take the figure apart by"
NOT_HERE: Final = "the definition has no test {test_id} any more"


def figure_parts(
    portfolio: Portfolio,
    result: TestResult | Skipped,
    *,
    suite: str = "standard",
    definition: Definition | str | None = None,
    offset: int = 0,
    limit: int | None = PARTS_SHOWN,
) -> FigureParts:
    """Return what is behind a figure of a run.

    Parts that add up to its numerator, those that weigh most first.

    Args:
        portfolio: the loans that the run read.
        result: the test's result with its details, or the record that it was skipped.
        suite: the run's.
        definition: the rules by which it was run.
        offset: parts to pass over.
        limit: parts of the page; None for all.
    """
    if isinstance(result, Skipped):
        return no_parts(result, result.reason, offset=offset, limit=limit or 0)
    breakup = _breakup(portfolio, result, suite, definition)
    if isinstance(breakup, str):
        return no_parts(result, breakup, offset=offset, limit=limit or 0)
    return _Page(*breakup, result).parts(offset, limit)


def no_parts(result: TestResult | Skipped, reason: str, *, offset: int = 0, limit: int = PARTS_SHOWN) -> FigureParts:
    """Return the answer for a figure that has no parts, and why."""
    shared: dict[str, Any] = {
        "test_id": result.test_id,
        "test_name": result.test_name,
        "reason": reason,
        "sum": None,
        "tolerance": None,
        "adds_up": None,
        "room": None,
        "columns": [],
        "items": [],
        "total": 0,
        "offset": offset,
        "limit": limit,
    }
    if isinstance(result, Skipped):
        nothing: dict[str, Any] = dict.fromkeys(("value", "formula", "numerator", "denominator"))
        return FigureParts(**shared, **nothing, unit="", decimals=DECIMALS, cell_refs=[])
    numerator, denominator = _ratio(result)
    return FigureParts(
        **shared,
        unit=result.unit,
        decimals=result.decimals,
        value=result.current_value,
        formula=_formula(result),
        numerator=numerator,
        denominator=denominator,
        cell_refs=_cells(result),
    )


def _ratio(result: TestResult) -> tuple[float | None, float | None]:
    """Return what the run has above and below the line."""
    breakdown = {} if result.details is None else result.details.breakdown
    return breakdown.get("numerator"), breakdown.get("denominator")


def _formula(result: TestResult) -> str | None:
    return None if result.details is None else result.details.formula


def _cells(result: TestResult) -> list[str]:
    return [] if result.details is None else result.details.cell_refs


def _breakup(
    portfolio: Portfolio, result: TestResult, suite: str, definition: Definition | str | None
) -> tuple[Pool, Breakup] | str:
    """Return the sums that the run went over and the parts of its figure, or why there are none."""
    rules = definition_for(portfolio, definition)
    pool = next(iter(pools_of(portfolio, rules)), None)
    if pool is None:
        return NO_LOANS
    if suite != DEAL_SUITE:
        test, builder = SUITES[result.test_id]
        return pool, builder(pool, test)
    own = None if rules is None else _test_of(rules, pool, result.test_id)
    if own is None:
        return NOT_HERE.format(test_id=result.test_id)
    if own.value is not None:
        return NO_FORMULA.format(formula=own.value)
    if own.share is not None:
        return pool, by_share(pool, own)
    build = BUILDERS.get(own.measure or "")
    return NO_SUM if build is None else (pool, build(pool, own))


def _test_of(rules: Definition, pool: Pool, test_id: str) -> DealTest | None:
    """Return a definition's test, those by the classes of the file too."""
    if rules.standard:
        rules, _ = with_coverage(rules, pool)
    return next((test for test in rules.tests if test.id == test_id), None)


class _Page:
    """The parts of one figure, in order."""

    def __init__(self, pool: Pool, breakup: Breakup, result: TestResult) -> None:
        self._portfolio = pool.portfolio
        self._breakup = breakup
        self._result = result
        self._numerator, self._denominator = _ratio(result)
        loans, weights = breakup.loans, breakup.weights
        adds = np.zeros(0) if loans is None else loans
        counts = adds != 0 if weights is None else (adds != 0) | (weights != 0)
        rows = np.flatnonzero(counts)
        amounts = [*breakup.amounts, *self._short(fsum(adds[rows]) + fsum(amount.amount for amount in breakup.amounts))]
        weight = np.concatenate((adds[rows], [amount.amount for amount in amounts]))
        self._all = weight
        self._order = np.lexsort((np.arange(len(weight)), -np.abs(weight)))
        self._rows = rows
        self._amounts = amounts

    def _short(self, total: float) -> list[Amount]:
        """Return what makes a net short position none, as the measures count it."""
        is_short = self._breakup.is_share and total < 0 and self._numerator == 0
        return [Amount("haircut", "A net short position counts as none", -total)] if is_short else []

    def parts(self, offset: int, limit: int | None) -> FigureParts:
        """Return a page."""
        result, total = self._result, len(self._order)
        end = total if limit is None else offset + limit
        chosen = self._order[offset:end].tolist()
        summed, tolerance = fsum(self._all), tolerance_of(self._all)
        numerator = self._numerator
        return FigureParts(
            test_id=result.test_id,
            test_name=result.test_name,
            unit=result.unit,
            decimals=result.decimals,
            value=result.current_value,
            formula=_formula(result),
            numerator=numerator,
            denominator=self._denominator,
            reason=None,
            sum=rounded(summed),
            tolerance=tolerance,
            adds_up=None if numerator is None else abs(summed - numerator) <= tolerance,
            room=self._room(),
            cell_refs=_cells(result),
            columns=self._columns,
            items=[self._part(at) for at in chosen],
            total=total,
            offset=offset,
            limit=total if limit is None else limit,
        )

    def _room(self) -> Room | None:
        """Par until the limit at an unchanged denominator.

        What reaches it from below is to buy, from above to sell.
        """
        result, numerator, denominator = self._result, self._numerator, self._denominator
        if not self._breakup.is_share or result.threshold_type == "exact" or numerator is None or denominator is None:
            return None
        gap = result.threshold_value / 100 * denominator - numerator
        return Room(rounded(max(0.0, gap)), rounded(max(0.0, -gap)))

    def _part(self, at: int) -> FigurePart:
        if at < len(self._rows):
            row = int(self._rows[at])
            return self._loan("loan", "", row, float(self._all[at]), self._average(row))
        amount = self._amounts[at - len(self._rows)]
        if amount.row is not None:
            return self._loan(amount.kind, amount.name, amount.row, amount.amount, {})
        return FigurePart(
            kind=amount.kind,
            name=amount.name,
            place=None,
            row=None,
            amount=rounded(amount.amount),
            fields={name: rounded(value) for name, value in amount.fields.items()},
        )

    def _average(self, row: int) -> dict[str, float]:
        """Return the weight and the value of a loan in an average."""
        loans, weights = self._breakup.loans, self._breakup.weights
        if loans is None or weights is None or not weights[row]:
            return {}
        return {"weight": rounded(float(weights[row])), "value": rounded(float(loans[row] / weights[row]))}

    def _loan(self, kind: Any, words: str, row: int, amount: float, more: dict[str, float]) -> FigurePart:
        known = {name: value for name in self._known if (value := self._value(name, row)) is not None}
        name = str(next((known[each] for each in _NAMES if known.get(each)), ""))
        sheet_row = self._sheet_row(row)
        page, line = self._portfolio.page_line(sheet_row or 0) or (None, None)
        return FigurePart(
            kind=kind,
            name=f"{words}: {name}" if words and name else words or name,
            place=self._place(sheet_row),
            row=sheet_row,
            page=page,
            line=line,
            amount=rounded(amount),
            fields={**known, **more},
        )

    def _sheet_row(self, row: int) -> int | None:
        rows = self._portfolio.sheet_rows
        return None if rows is None or not rows[row] else int(rows[row])

    def _place(self, sheet_row: int | None) -> str | None:
        """Return the cell of the loan's par, by the range of its column."""
        if sheet_row is None:
            return None
        page_line = self._portfolio.page_line(sheet_row)
        pages = "" if page_line is None else page_words(*page_line)
        return row_place(self._portfolio.source_cells.get("par_value", ""), sheet_row - 1, pages)

    @cached_property
    def _known(self) -> dict[str, NDArray[Any]]:
        """The columns that are shown of loans, each by the first field that the file has of it."""
        agency = self._breakup.agency
        fields = {
            **_FIELDS,
            "rating": ((f"rating_agency_{agency}",) if agency else ()) + RATING_FIELDS,
        }
        present = set(self._portfolio.columns)
        known = {}
        for name, options in fields.items():
            field = next((option for option in options if option in present), None)
            if field is not None:
                known[name] = column_of(self._portfolio, field).array()
        return known

    def _value(self, name: str, row: int) -> str | float | None:
        value = self._known[name][row]
        if value is None or value == "" or value != value:
            return None
        return str(value) if isinstance(value, str) else rounded(float(value))

    @property
    def _columns(self) -> list[str]:
        used = {name for amount in self._amounts for name in amount.fields}
        if len(self._rows) or any(amount.row is not None for amount in self._amounts):
            used |= set(self._known)
        if self._breakup.weights is not None:
            used |= {"weight", "value"}
        return [name for name in COLUMNS if name in used]


_NAMES: Final = ("borrower", "facility", "identifier")
_FIELDS: Final = {
    "borrower": ("borrower_name", "obligor"),
    "facility": ("facility_name",),
    "identifier": ("cusip", "loanx_id", "isin"),
    "industry": ("industry",),
    "price": ("price",),
    "par": ("par_value",),
}
"""What is shown of a loan, by the fields that may have it."""
