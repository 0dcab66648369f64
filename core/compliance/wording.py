"""What a result says in words and details.

Its message, its cells, the classes of its coverage test.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cached_property, partial
from typing import Any, Final, Literal

from msgspec import UNSET

from core.compliance.coverage import ClassLimit, Role
from core.compliance.doubt import Doubter, JudgedFigure
from core.compliance.kernels import rounded
from core.compliance.limits import ResolvedThreshold, RunLimits, decimals_for, resolve
from core.compliance.measures import COVERAGE_LEAST_PCT
from core.compliance.pool_sums import Measurement, Pool, Unmeasurable
from core.compliance.result import (
    Details,
    Direction,
    Doubts,
    Status,
    Verdict,
)
from core.compliance.suites import TESTS, UNIT_SIGNS, Test
from core.compliance.verdicts import judge
from core.frames.figures import decimals_of
from core.portfolio import Portfolio

_WORDS: Final[dict[tuple[Direction, bool], tuple[str, str]]] = {
    ("max", True): ("is within the", "limit"),
    ("max", False): ("is above the", "limit"),
    ("min", True): ("meets the", "minimum"),
    ("min", False): ("is below the", "minimum"),
    ("exact", True): ("is at the required", "level"),
    ("exact", False): ("differs from the required", "level"),
}


def _message(test: Test, measured: Measurement, limit: ResolvedThreshold, status: Status, cushion: float | None) -> str:
    """One readable line, such as.

    Largest obligor 2.30 % is within the 2.50 % limit (cushion 0.20).
    """
    sign = UNIT_SIGNS[test.unit]
    verb, noun = _WORDS[limit.direction, status != "fail"]
    places = ".2f"
    if status == "fail" and f"{measured.value:.2f}" == f"{limit.value:.2f}":
        places = ".6f"  # a breach that two decimals do not show
    text = f"{test.name} {measured.value:{places}}{sign} {verb} {limit.value:{places}}{sign} {noun}"
    if status == "warning":
        side = "above" if limit.direction == "max" else "below"
        text += f" but at or {side} the {limit.warning:.2f}{sign} warning level"
    if cushion is not None:
        text += f" (cushion {cushion:{places}})"
    if measured.coverage_pct is not None and measured.coverage_pct < COVERAGE_LEAST_PCT:
        text += f" (covers {measured.coverage_pct:.2f}% of par)"
    return text


def _rows(portfolio: Portfolio, pool: Pool) -> dict[str, Any]:
    """Return what became of the sheet's rows; the same for every test of a run."""
    tally, notes = pool.tally, portfolio.notes
    return {
        "loans": portfolio.row_count,
        "performing": tally.performing_rows,
        "defaulted": tally.defaulted_rows,
        "ignored_blank_par": tally.blank_rows if notes.ignored_blank_par is None else notes.ignored_blank_par,
        "negative_par_rows": tally.negative_rows if notes.negative_par_rows is None else notes.negative_par_rows,
        **{name: count for name in _LOSSES if (count := getattr(notes, name))},
    }


_LOSSES: Final = (
    "sheets_not_read", "rows_after_end", "no_collateral_rows", "unidentified_rows", "placeholder_identifiers",
    "destroyed_identifiers", "unreadable_cells", "error_cells", "zero_prices", "zero_purchase_prices", "lots",
    "conflicting_lots",
)  # fmt: skip
"""Fields of `Notes` that are shown where there are any: sheets and rows left out, rows added up, cells of no use."""


_SURE: Final = Verdict(UNSET, UNSET, doubtful=False)
"""Of a figure whose status nothing leaves open."""


_CELLS_OF: Final = {"coupon_type": ("is_fixed", "coupon_type")}


class ResultMaker:
    """Makes the messages, the details and the doubts of a run, when they are read."""

    def __init__(
        self,
        portfolio: Portfolio,
        pool: Pool | None,
        limits: RunLimits,
        resolved: Mapping[int, ResolvedThreshold],
        doubter: Doubter,
        include_cushion: bool,
        details: bool,
    ) -> None:
        self._doubter = doubter
        self._portfolio = portfolio
        self._limits = limits
        self._resolved = resolved
        self._pool = pool
        self._include_cushion = include_cushion
        self._has_details = details

    def texts(
        self, test: Test, measured: Measurement, limit: ResolvedThreshold, judgement: tuple[float, Status], *_: Any
    ) -> tuple[str, Details | None]:
        """Return the message and the details of a test."""
        cushion = rounded(judgement[0]) if self._include_cushion else None
        message = _message(test, measured, limit, judgement[1], cushion)
        return message, self._details(test, measured, limit) if self._has_details else None

    def form(self, test: Test, measured: Measurement, limit: ResolvedThreshold, *_: Any) -> tuple[str, int]:
        """Return the unit of a test's figures, and the decimals to show them with."""
        rounding = None if self._limits.definition is None else decimals_for(test, self._limits)
        return test.unit, decimals_of(test.unit, measured.value, limit.value, rounding)

    def doubts(self, test: Test, measured: Measurement, *args: Any) -> Doubts:
        """Return what to doubt of a test."""
        if self._doubter.is_sure(test, measured):
            return Doubts(None, [])
        return self._doubter.doubts(self._case(test, measured, *args))

    def verdict(
        self,
        test: Test,
        measured: Measurement,
        limit: ResolvedThreshold,
        judgement: tuple[float, Status],
        low: float | None,
        high: float | None,
    ) -> Verdict:
        """How far a test may be wrong.

        `low` and `high` are the ends of its figure where masked ratings move it.
        """
        if self.is_settled(test, measured, limit, judgement, low, high):
            return _SURE
        return self._doubter.verdict(self._case(test, measured, limit, judgement, low, high))

    def is_settled(self, test: Test, measured: Measurement, *rest: Any) -> bool:
        """Return whether nothing leaves the status of a test open.

        `rest` is as `verdict` has it.
        """
        _, _, low, _ = rest
        return low is None and self._doubter.is_settled(test, measured)

    def _case(
        self,
        test: Test,
        measured: Measurement,
        limit: ResolvedThreshold,
        judgement: tuple[float, Status],
        low: float | None,
        high: float | None,
    ) -> JudgedFigure:
        decimals = None if self._limits.definition is None else decimals_for(test, self._limits)
        return JudgedFigure(
            test,
            measured,
            judgement[1],
            limit.value,
            limit.source,
            low,
            high,
            lambda value: judge(value, limit, decimals)[1],
        )

    @cached_property
    def _rows(self) -> dict[str, Any]:
        assert self._pool is not None  # something was measured
        return _rows(self._portfolio, self._pool)

    @cached_property
    def _classes(self) -> _JudgedClasses:
        assert self._pool is not None
        return _JudgedClasses(self._pool, self._limits, self._resolved)

    def _details(self, test: Test, measured: Measurement, limit: ResolvedThreshold) -> Details:
        portfolio, limits = self._portfolio, self._limits
        cells = portfolio.source_cells
        refs = (
            [
                cells[field]
                for options in test.alternatives
                for option in options
                for field in _CELLS_OF.get(option, (option,))
                if field in cells
            ]
            if cells
            else []
        )
        breakdown: dict[str, Any] = {
            "unit": test.unit,
            "numerator": rounded(measured.numerator),
            "denominator": rounded(measured.denominator),
            "coverage_pct": 100.0 if measured.coverage_pct is None else rounded(measured.coverage_pct),
            "warning_threshold": limit.warning,
            "threshold_source": limit.source,
            "rows": self._rows,
        }
        if limit.source == "sheet" and (printed := limits.sheet.limits.get(test.test_id)) is not None:
            breakdown["threshold_from"] = f"{printed.name}, {printed.cell}" if printed.cell else printed.name
        breakdown.update(measured.break_down())
        if test.sheet_trigger is not None:
            breakdown["classes"] = self._classes.of(test, limit)
        if portfolio.deal.principal_cash is None and "cpa" in test.divides_by:
            breakdown["principal_cash"] = "not given: counted as 0"
        return Details(test.formula, refs, breakdown)


_Kind = Literal["oc", "ic"]


_Limits = dict[int, tuple[ResolvedThreshold, int | None]]
"""Limit and decimals by a class's place among the tested ones."""


class _JudgedClasses:
    """The classes that coverage tests look at, each as this run judges it."""

    def __init__(self, pool: Pool, limits: RunLimits, resolved: Mapping[int, ResolvedThreshold]) -> None:
        self._pool = pool
        self._limits = limits
        self._resolved = resolved  # by the test's identity: a definition's test may have the id of one of the suites
        self._usual: dict[_Kind, tuple[_Limits, list[dict[str, Any]]]] = {}

    def of(self, test: Test, limit: ResolvedThreshold) -> list[dict[str, Any]]:
        """Judged by this test the class that it looks at, by the suites' other tests of the kind theirs, by the file's
        triggers the rest.
        """
        structure, role = self._pool.structure, test.sheet_trigger
        assert structure is not None
        assert role is not None
        kind: _Kind = "ic" if role.endswith("_ic") else "oc"
        last = len(structure.oc if kind == "oc" else structure.ic) - 1
        if kind not in self._usual:
            usual: _Limits = {}
            for class_test in _CLASS_TESTS[kind]:
                with suppress(Unmeasurable):  # taken out of runs, it holds its class to nothing
                    resolved = self._resolved.get(id(class_test)) or resolve(class_test, self._pool, self._limits)
                    usual[_place(class_test.sheet_trigger, last)] = (
                        resolved,
                        decimals_for(class_test, self._limits),
                    )
            self._usual[kind] = usual, self._rows(kind, usual)
        usual, rows = self._usual[kind]
        place, own = _place(role, last), (limit, decimals_for(test, self._limits))
        if usual.get(place) == own:
            return rows
        return [*rows[:place], *self._rows(kind, {place: own}, [place]), *rows[place + 1 :]]

    def _rows(self, kind: _Kind, limits: _Limits, places: Iterable[int] | None = None) -> list[dict[str, Any]]:
        return self._pool.classes(
            kind,
            {
                place: ClassLimit(limit.value, limit.direction, partial(judge, limit=limit, decimals=decimals))
                for place, (limit, decimals) in limits.items()
            },
            places,
        )


def _place(role: Role | None, last: int) -> int:
    return 0 if role in ("senior_oc", "senior_ic") else last


_CLASS_TESTS: Final = {
    kind: [test for test in TESTS.values() if test.sheet_trigger in (f"junior_{kind}", f"senior_{kind}")]
    for kind in ("oc", "ic")
}
"""The suites' tests of the most junior and the most senior tested class."""
