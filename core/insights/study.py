"""A subject while it is looked at.

Its runs, its columns, the other month's, and findings as they are written down.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from math import isfinite
from string import Formatter
from typing import Any, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from core.compliance.measuring import pools_of
from core.compliance.pool_sums import Pool
from core.compliance.result import Results, TestResult
from core.deals.movements import Pairs
from core.definition.terms import SUITE_TESTS
from core.insights.changes import defaulted, downgraded
from core.insights.columns import Columns
from core.insights.insight import (
    LOANS_SHOWN,
    Category,
    FigureCondition,
    FigureRecipe,
    InsightFigure,
    LoanRef,
    PortfolioChange,
    Stakeholder,
    Unit,
)
from core.insights.subject import Subject
from core.insights.words import decimals_between, plain, printed
from core.reconciliation import reconcile
from core.scenario.simulate import Simulator
from core.scenario.trades import Trade

Urgency = Literal["act", "near", "notable", "context", "background"]
Basis = Literal["measured", "projected", "extrapolated"]


@dataclass(frozen=True, kw_only=True)
class StudyFinding:
    """What a finder says, with a sentence more for each kind of reader.

    Braces name its figures and names.
    """

    key: str
    category: Category
    urgency: Urgency
    title: str
    headline: str
    more: Mapping[Stakeholder, str]
    methodology: str
    figures: dict[str, InsightFigure]
    names: dict[str, str]
    basis: Basis = "measured"
    weight: float = 0.0
    """Among findings of one urgency the heaviest come first."""
    coverage_pct: float = 100.0
    """Share of par whose rows have what the figures ask for."""
    remarks: list[str] = field(default_factory=list)
    """Further ones than those of the run on which its tests rest."""
    is_disputed: bool = False
    """Whether the file itself says otherwise."""
    tests: list[str] = field(default_factory=list)
    loans: list[LoanRef] = field(default_factory=list)
    loans_in_all: int = 0
    columns: list[str] = field(default_factory=list)

    @property
    def family(self) -> str:
        """The finder."""
        return self.key.partition(":")[0]


class NotKnown(Exception):
    """A sentence needs a figure that the loans do not give, such as the average of a short position: it is not said."""


class Study:
    """What finders ask for, each worked out once."""

    def __init__(self, subject: Subject, pool: Pool) -> None:
        self.subject = subject
        self.pool = pool
        self.results = subject.results
        self.by_id = {result.test_id: result for result in self.results}
        self.columns = Columns(pool)
        self._runs: dict[bytes, Results] = {}

    # The other month

    @cached_property
    def earlier(self) -> Columns | None:
        """The columns of the month before, paired with the newest loans, or None."""
        previous = self.subject.previous
        if previous is None:
            return None
        pools = pools_of(previous.portfolio, self.subject.definition)
        if not pools:
            return None
        earlier = Columns(pools[0])
        assert self.pairs is not None
        theirs, ours = self.pairs
        earlier.pair[theirs], self.columns.pair[ours] = ours, theirs
        earlier.other_month, self.columns.other_month = self.columns, earlier
        return earlier

    @cached_property
    def pairs(self) -> Pairs | None:
        """Rows of the month before and the newest rows of the same loans, or None."""
        previous = self.subject.previous
        if previous is None:
            return None
        return reconcile(previous.portfolio, self.subject.portfolio, ("missing_loan",)).pairs

    @cached_property
    def before(self) -> Results | None:
        """The tests over the month before, by the rules of the newest run."""
        previous = self.subject.previous
        return None if previous is None else self.subject.run(previous.portfolio, details=True, compare=True)

    # Tests

    def measure(self, test_id: str) -> str:
        """Return what a test measures as definitions say; "" for an own formula."""
        if test_id in SUITE_TESTS:
            return SUITE_TESTS[test_id]
        definition = self.subject.definition
        own = next((test for test in definition.tests if test.id == test_id), None) if definition else None
        if own is not None and own.measure:
            return own.measure
        return next((kind for kind in ("oc", "ic") if test_id.startswith(f"{kind}_class_")), "")

    def unit(self, test_result: TestResult) -> Unit:
        return test_result.unit  # type: ignore[return-value]

    def first(self, *measures: str) -> TestResult | None:
        """Return the test with the least cushion of those that measure one of these."""
        results = [result for result in self.results if self.measure(result.test_id) in measures]
        return min(results, key=lambda result: (result.cushion_pct is None, result.cushion_pct or 0.0), default=None)

    def after(self, change: PortfolioChange) -> Results:
        """Return the tests after a change.

        Raises:
            TradeError: it is a trade that cannot be made.
        """
        key = msgspec.json.encode(change)
        if key not in self._runs:
            if change.kind == "buy":
                self._runs[key] = self.simulator.simulate(msgspec.convert(change.trades, list[Trade])).after
            else:
                rows = self.columns.chosen(change.where)
                portfolio = self.subject.portfolio
                self._runs[key] = self.subject.run(
                    downgraded(portfolio, rows, change.notches)
                    if change.kind == "downgrade"
                    else defaulted(portfolio, rows)
                )
        return self._runs[key]

    @cached_property
    def simulator(self) -> Simulator:
        subject = self.subject
        return Simulator(
            subject.portfolio, subject.suite, **{**subject.rules, "test_ids": subject.test_ids, "details": False}
        )

    # Loans

    def floating(self) -> list[FigureCondition]:
        """Return what leaves fixed-rate loans out, whose spread a file may print as none or as 0."""
        return [FigureCondition("is_fixed", "equal", 0.0)] if self.columns.has("is_fixed") else []

    def borrower(self, row: int, book: Columns | None = None) -> str:
        """Return the name of a loan for a reader."""
        columns = book or self.columns
        names = columns.borrower
        if names is not None and names.codes[row] >= 0:
            return plain(names.values[int(names.codes[row])])
        return plain(columns.identifier(row) or f"loan {row + 1}")

    def is_usual(self, test_result: TestResult) -> bool:
        """Return whether a test is held to a usual limit of the market.

        The suite's, or of the ready-made definition.
        """
        definition = self.subject.definition
        is_ready_made = definition is not None and definition.standard
        return test_result.threshold_source == "suite" or (
            test_result.threshold_source == "definition" and is_ready_made
        )

    def covered(self, column: str) -> float:
        """Percent of performing par whose loans have a column."""
        known = self.columns.chosen([FigureCondition(column, "known")])
        return float(self.columns.par[known].sum() / self.pool.par * 100) if self.pool.par > 0 else 0.0

    def draft(self, key: str) -> FindingDraft:
        return FindingDraft(self, key)


class FindingDraft:
    """A finding that is being written.

    Every figure that its sentences may print is made here, with its recipe.
    """

    def __init__(self, study: Study, key: str) -> None:
        self.study = study
        self.key = key
        self.figures: dict[str, InsightFigure] = {}
        self.names: dict[str, str] = {}
        self.tests: list[str] = []
        self.rows: list[LoanRef] = []
        self.rows_in_all = 0
        self.columns: list[str] = []
        self.basis: Basis = "measured"
        self.is_disputed = False
        self.remarks: list[str] = []

    def __getitem__(self, key: str) -> float:
        """Return the value of a figure.

        Raises:
            NotKnown: the loans did not give it.
        """
        if key not in self.figures:
            raise NotKnown(key)
        value = self.figures[key].value
        assert not isinstance(value, date)
        return value

    # Figures

    def put(
        self,
        key: str,
        value: float | date,
        unit: Unit,
        recipe: FigureRecipe,
        *,
        name: str = "",
        noun: str = "",
        sign: bool = False,
        decimals: int | None = None,
    ) -> float:
        """Return a figure under the key by which sentences name it."""
        if not isinstance(value, date):
            if not isfinite(value):
                raise NotKnown(key)
            value = round(value, 9) if unit != "count" else int(value)
        text = printed(value, unit, currency=self.study.subject.currency, noun=noun, sign=sign, decimals=decimals)
        self.figures[key] = InsightFigure(
            name=name or key.replace("_", " "), value=value, unit=unit, text=text, recipe=recipe
        )
        return 0.0 if isinstance(value, date) else float(value)

    def loans(
        self,
        key: str,
        operation: str,
        unit: Unit,
        *where: FigureCondition,
        column: str | None = None,
        book: str = "newest",
        noun: str = "loan",
        **more: Any,
    ) -> float | None:
        """Return a figure over the loans that meet the conditions.

        None, and none put, where no loan gives one.
        """
        shown = {name: more.pop(name) for name in ("name", "sign", "decimals") if name in more}
        recipe = FigureRecipe(operation=operation, where=list(where), column=column, book=book, **more)  # type: ignore[arg-type]
        columns = self.study.columns if book == "newest" else self.study.earlier
        assert columns is not None
        value = columns.figure(recipe)
        self.columns += [item.column for item in where] + ([column] if column else ["par_value"])
        return None if value is None else self.put(key, value, unit, recipe, noun=noun, **shown)

    def test(
        self,
        key: str,
        test_id: str,
        part: str = "value",
        *,
        change: PortfolioChange | None = None,
        book: str = "newest",
        decimals: int | None = None,
    ) -> float | None:
        """Quote a part of a test's result; None where the run has no figure for it."""
        study = self.study
        results = study.after(change) if change else study.results if book == "newest" else study.before
        result = next((item for item in results or () if item.test_id == test_id), None)
        if result is None or results is None:
            return None
        own = study.by_id.get(test_id, result)
        unit = study.unit(own)
        value: Any
        if part == "slack":
            value, unit = abs(results.cushions[test_id]) * results.exact[test_id][1] / 100, "amount"
        elif part == "cushion":
            value, unit = results.cushions[test_id], "points" if unit == "percent" else unit
        elif part == "value":
            value = result.current_value
        elif part == "limit":
            value = result.threshold_value
        else:
            value = result.details.breakdown if result.details else {}
            for step in part.split("."):
                value = value.get(step) if isinstance(value, dict) else None
            if not isinstance(value, int | float):
                return None
            unit = "amount" if "." in part else "percent"
        if test_id not in self.tests:
            self.tests.append(test_id)
        if decimals is None and part in ("value", "limit"):
            decimals = decimals_between(result.current_value, result.threshold_value, unit)
        recipe = FigureRecipe(operation="test", test_id=test_id, part=part, change=change, book=book)  # type: ignore[arg-type]
        words = (
            f"{result.test_name}, {part}"
            + (", earlier" if book == "earlier" else "")
            + (f" after {change.kind}" if change else "")
        )
        return self.put(key, value, unit, recipe, name=plain(words, 120), decimals=decimals)

    def combined(
        self,
        key: str,
        operation: Literal["total", "difference", "quotient"],
        unit: Unit,
        *keys: str,
        times: float = 1.0,
        sign: bool = False,
        noun: str = "",
        decimals: int | None = None,
        name: str = "",
    ) -> float:
        """Return a figure made of others of this finding."""
        values = [self[item] for item in keys]
        if operation == "quotient" and not values[1]:
            raise NotKnown(key)
        if operation == "total":
            value = sum(values)
        else:
            value = values[0] - values[1] if operation == "difference" else values[0] / values[1]
        recipe = FigureRecipe(operation=operation, figures=[self.figures[item].name for item in keys], times=times)
        return self.put(key, value * times, unit, recipe, sign=sign, noun=noun, decimals=decimals, name=name)

    def quote(self, key: str, value: float | date, unit: Unit, place: str, **shown: Any) -> float:
        """Return a figure that stands somewhere as it is."""
        return self.put(key, value, unit, FigureRecipe(operation="given", place=place), **shown)

    def since(self) -> str:
        """Return the day of the earlier month, as a figure.

        Reports are not always a month apart.
        """
        previous = self.study.subject.previous
        if previous is None or previous.day is None:
            return "the month before"
        self.put("since", previous.day, "date", FigureRecipe(operation="given", book="earlier", place="deal.as_of"))
        return "{since}"

    def restated(self, key: str, of: str, **shown: Any) -> None:
        """Put a figure again, printed in another way: without its sign."""
        was = self.figures[of]
        assert not isinstance(was.value, date)
        recipe = FigureRecipe(operation="total", figures=[was.name], times=-1.0 if was.value < 0 else 1.0)
        self.put(key, abs(was.value), was.unit, recipe, **shown)

    # Names and loans

    def say(self, key: str, text: str) -> None:
        """Keep a name out of the file, for the sentences."""
        self.names[key] = plain(text)

    def list(
        self, rows: Sequence[int] | NDArray[np.intp], *, in_all: int | None = None, book: Columns | None = None
    ) -> None:
        """List the loans behind the finding, at most `LOANS_SHOWN` of them."""
        columns = book or self.study.columns
        for row in map(int, rows[:LOANS_SHOWN]):
            identifier = columns.identifier(row)
            self.rows.append(
                LoanRef(
                    row=row,
                    name=self.study.borrower(row, columns),
                    identifier=None if identifier is None else plain(identifier),
                    par=float(columns.par[row]),
                )
            )
        self.rows_in_all += len(rows) if in_all is None else in_all

    def largest(self, key: str, chosen: NDArray[np.bool_], most: int = 3, *, book: str = "newest") -> str:
        """Return the largest of these loans listed, and the template of the first few with their par."""
        columns = self.study.columns if book == "newest" else self.study.earlier
        assert columns is not None
        rows = columns.largest(chosen)
        self.list(rows, in_all=int(np.count_nonzero(chosen)), book=columns)
        return self.each(key, [int(row) for row in rows[:most]], columns)

    def each(self, key: str, rows: Sequence[int], columns: Columns | None = None, column: str = "par_value") -> str:
        """Return the template of some loans with their par, or another column's figure."""
        columns = columns or self.study.columns
        texts = []
        for at, row in enumerate(rows):
            self.say(f"{key}_name_{at}", self.study.borrower(row, columns))
            book = "newest" if columns is self.study.columns else "earlier"
            recipe = FigureRecipe(operation="sum", column=column, row=row, book=book, loans="all")  # type: ignore[arg-type]
            value = columns.par[row] if column == "par_value" else columns.numbers(column)[row]
            unit: Unit = {"par_value": "amount", "price": "price", "spread": "bps"}.get(column, "number")  # type: ignore[assignment]
            name = f"{column} of loan {row}" + (", earlier" if book == "earlier" else "")
            self.put(f"{key}_{at}", float(value), unit, recipe, name=name)
            texts.append(f"{{{key}_name_{at}}} ({{{key}_{at}}})")
        return ", ".join(texts)

    def finding(
        self,
        category: Category,
        urgency: Urgency,
        title: str,
        headline: str,
        *,
        methodology: str,
        weight: float = 0.0,
        coverage_pct: float = 100.0,
        **texts: str,
    ) -> StudyFinding:
        """Return what was written down.

        `texts` are the sentences for each kind of reader.

        Raises:
            NotKnown: one of them names a figure that the loans did not give.
        """
        for text in (title, headline, *texts.values()):
            for _, key, _, _ in Formatter().parse(text):
                if key is not None and key not in self.figures and key not in self.names:
                    raise NotKnown(key)
        return StudyFinding(
            key=self.key,
            category=category,
            urgency=urgency,
            title=title,
            headline=headline,
            more={reader: text for reader, text in texts.items() if text},  # type: ignore[misc]
            methodology=methodology,
            figures=self.figures,
            names=self.names,
            basis=self.basis,
            weight=weight,
            coverage_pct=coverage_pct,
            is_disputed=self.is_disputed,
            remarks=self.remarks,
            tests=self.tests,
            loans=self.rows,
            loans_in_all=self.rows_in_all,
            columns=list(dict.fromkeys(self.columns)),
        )


def share_of(study: Study) -> str:
    """Return what shares of par are of, in words."""
    same = study.pool.denominator == study.pool.cpa
    return "the collateral principal amount" + ("" if same else " (defaulted loans as the deal counts them)")
