"""The tests of a pool that is read piece by piece, by several threads.

What is read of a loan may depend on all loans: which word masks a rating, whether any loan has a spread. The first pass
assumes what the first loans say, and where all of them say otherwise another one follows.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Final, NoReturn

from core.compliance.conventions import definition_for
from core.compliance.ladders import Assumed
from core.compliance.limits import NO_THRESHOLDS
from core.compliance.pool_sums import Pool
from core.compliance.result import Results, Threshold, settle
from core.compliance.run import run_suite
from core.definition.definition import Definition
from core.definition.terms import AGENCIES
from core.pool._obligors import Obligors, TooManyObligors
from core.pool.absent import NotStreamed
from core.pool.chunk import Settled, obligor_columns
from core.pool.obligors import obligor_sums
from core.pool.outline import learn, outline_of, targets_of, with_counts, with_definition
from core.pool.partial import (
    FIRST_ROWS,
    OBLIGORS_MAX,
    ChunkPool,
    Plan,
    Sum,
    add_chunk,
    add_up,
    chunks,
    sum_of,
    too_many_obligors,
)
from core.pool.source import PoolRefused, PoolSource, RowGroups, open_pool, spans_of
from core.pool.streamed import Finished, MissingSum, StreamedPool
from core.pool.sums import PoolSums
from core.pool.tied import tied_rows
from core.portfolio import Portfolio
from core.portfolio.assemble.columns import deal_of, tranches_of
from core.portfolio.model.fields import Mapping as FieldMapping
from core.portfolio.model.portfolio import Deal, Tranches

PASSES_MAX: Final = 6
"""Passes over a pool before its readings are given up as never the same."""

THREADS: Final = 2
"""Parts of a pool that are added up at once, where the caller says nothing."""

Work = Callable[[Sequence["PoolTask"]], Iterator[PoolSums]]
"""Gives the sums of each task, in the tasks' order: what adds a pool up on other machines."""

ASKED_MAX: Final = 10_000
"""Sums that the tests of a definition ask for."""


@dataclass(frozen=True, slots=True)
class PoolQuestion:
    """What is asked of a pool."""

    source: PoolSource
    suite: str
    definition: Definition | str | None
    tranches: Tranches | None
    deal: Deal
    thresholds: Mapping[str, Threshold]
    obligors_max: int


@dataclass(frozen=True, slots=True)
class PoolTask:
    """A part of a pool to be added up, for any process that sees its files."""

    question: PoolQuestion
    settled: Settled
    span: RowGroups


def partial_sums(task: PoolTask) -> PoolSums:
    """Return what the loans of a part add up to.

    Raises:
        PoolRefused: a file is damaged, a value does not fit its field, or there are too many obligors.
    """
    run = _Run(task.question)
    return add_up(run.plan(task.settled)[0], task.span, run.asked(task.settled))


def run_pool(  # noqa: PLR0913 - the options of the library's function
    path: Path | str,
    suite: str = "standard",
    *,
    mapping: FieldMapping | None = None,
    tranches: Tranches | Mapping[str, Any] | None = None,
    deal: Deal | Mapping[str, Any] | None = None,
    definition: Definition | str | None = None,
    request_thresholds: Mapping[str, Threshold] = NO_THRESHOLDS,
    threads: int = THREADS,
    work: Work | None = None,
    obligors_max: int = OBLIGORS_MAX,
) -> Results:
    """Run a suite over the loans of Parquet files, in bounded memory.

    Columns have the names and units of `Portfolio.from_columns`, or names that a mapping of the caller's own gives
    them. The results are those of `run_suite` over the same loans in memory, but for tests that need all loans at once,
    which are skipped and say so. They depend neither on `threads` nor on `work`, which adds the parts up elsewhere.

    Raises:
        PoolRefused: the pool cannot be read, or is too large in some way that the text names.
        UnknownSuite, UnknownDefinition: as `run_suite`.
    """
    question = PoolQuestion(
        open_pool(Path(path), mapping), suite, definition, tranches_of(tranches), deal_of(deal), request_thresholds,
        obligors_max,
    )  # fmt: skip
    return _Run(question).results(threads, work)


class _Run:
    """A pool's question, asked until nothing that was assumed turns out otherwise."""

    def __init__(self, question: PoolQuestion) -> None:
        self._question = question
        self._sums: dict[Hashable, Sum] = {}

    def results(self, threads: int, work: Work | None) -> Results:
        """Return the results of the suite."""
        settled = self._first_guess()
        self._sums = dict(self.asked(settled))
        known = len(self._sums)
        for _ in range(PASSES_MAX):
            plan, outline = self.plan(settled)
            spans = spans_of(plan.source)
            # What tests ask of the last loans alone, no other process finds by the first ones.
            if work is None or len(self._sums) > known:
                parts = _by_threads(plan, spans, self._sums, threads)
            else:
                parts = work([PoolTask(self._question, settled, span) for span in spans])
            total = self._together(plan, parts)
            learned = learn(total, plan.settled, self._question.source, self._question.deal)
            if learned != settled:
                settled = learned
                continue
            try:
                return self._judge(plan, outline, total)
            except MissingSum as missing:
                self._sums[missing.key] = missing.of
                self._sums |= self._missing(plan, outline, total, self._first_loans(plan)[1])
        raise PoolRefused(f"{self._question.source.name}: the readings of its loans change with every pass")

    def _first_guess(self) -> Settled:
        """Return what the first loans say."""
        settled = Settled()
        for _ in range(PASSES_MAX):
            plan, _ = self.plan(settled)
            total, _ = self._first_loans(plan)
            learned = learn(total, plan.settled, self._question.source, self._question.deal)
            if learned == settled:
                break
            settled = learned
        return settled

    def asked(self, settled: Settled) -> Mapping[Hashable, Sum]:
        """Return what tests ask of the first loans, beside the sums of every pool."""
        plan, outline = self.plan(settled)
        total, pools = self._first_loans(plan)
        return self._missing(plan, outline, total, pools)

    def _missing(
        self, plan: Plan, outline: Portfolio, total: PoolSums, pools: Sequence[ChunkPool]
    ) -> dict[Hashable, Sum]:
        """Return what tests ask beside some sums; those of the first loans stand in."""
        sums: dict[Hashable, Sum] = {}
        for _ in range(ASKED_MAX):
            if not pools:
                break
            try:
                self._judge(plan, outline, total, is_whole=False)
                break
            except MissingSum as missing:
                sums[missing.key] = missing.of
                for assumed, pool in zip(plan.assumed, pools, strict=True):
                    total.views[assumed].asked[missing.key] = sum_of(missing.key, missing.of, pool)
        return sums

    def _first_loans(self, plan: Plan) -> tuple[PoolSums, list[ChunkPool]]:
        """Return the sums and the pools of the first loans, some of which have a par."""
        total = PoolSums(Obligors(plan.obligors_max))
        for span in spans_of(plan.source):
            for chunk in chunks(plan, span, rows_max=FIRST_ROWS):
                pools = add_chunk(total, chunk, plan, {})
                if pools:
                    return total, pools
        return total, []

    def _together(self, plan: Plan, parts: Iterable[PoolSums]) -> PoolSums:
        total: PoolSums | None = None
        for part in parts:
            if total is None:
                total = part
                continue
            try:
                total.add(part)
            except TooManyObligors:
                raise too_many_obligors(plan.obligors_max) from None
        return PoolSums(Obligors(plan.obligors_max)) if total is None else total

    def plan(self, settled: Settled) -> tuple[Plan, Portfolio]:
        """Return how the loans are read, and the portfolio without them."""
        question = self._question
        outline = outline_of(question.source, settled, question.deal, question.tranches)
        definition = definition_for(outline, question.definition)
        stated = with_definition(outline, definition)
        own = None if definition is None else _for_pieces(definition)
        assumed: tuple[Assumed, ...] = ("value", "best", "worst") if _may_have_bounds(definition) else ("value",)
        has_pairs = settled.has_pairs or bool(definition and definition.classifications.families)
        settled = settled._replace(has_pairs=has_pairs)
        names = obligor_columns(question.source, has_pairs=has_pairs)
        targets = targets_of(question.source, definition) | set(names)
        plan = Plan(question.source, targets, own, stated.deal, settled, assumed, question.obligors_max)
        return plan, outline

    def _judge(self, plan: Plan, outline: Portfolio, total: PoolSums, *, is_whole: bool = True) -> Results:
        question = self._question
        definition = definition_for(outline, question.definition)
        portfolio = with_counts(outline, total, question.source)
        pools: tuple[Pool, ...] = ()
        if total.row_count:
            stated = with_definition(portfolio, definition, total.loan_counts)
            finished = _finish(total, plan, definition)
            assumed = plan.assumed if any(view.has_bounds for view in total.views.values()) else plan.assumed[:1]
            ties = partial(tied_rows, plan, finished) if is_whole else _no_ties
            pools = tuple(StreamedPool(stated, definition, each, finished, ties) for each in assumed)
        results = run_suite(
            portfolio, question.suite, definition=question.definition, pools=pools,
            request_thresholds=question.thresholds,
        )  # fmt: skip
        settle(results)  # what their messages ask for is added up with the rest
        return results


def _no_ties(_price: float, _agency: int, _assumed: Assumed) -> NoReturn:
    """Refuse to read all loans for what the first ones are asked."""
    raise NotStreamed


def _by_threads(
    plan: Plan, spans: Sequence[RowGroups], sums: Mapping[Hashable, Sum], threads: int
) -> Iterator[PoolSums]:
    """Yield the sums of each part in their order.

    No more parts are under way than there are threads.
    """
    if threads < 2 or len(spans) < 2:
        yield from (add_up(plan, span, sums) for span in spans)
        return
    with ThreadPoolExecutor(threads) as executor:
        waiting = iter(spans)
        running = [executor.submit(add_up, plan, span, sums) for span in islice(waiting, threads)]
        while running:
            part = running.pop(0).result()
            running += [executor.submit(add_up, plan, span, sums) for span in islice(waiting, 1)]
            yield part


def _finish(total: PoolSums, plan: Plan, definition: Definition | None) -> Finished:
    names = {name for view in total.views.values() for name in view.industries.of} | set(total.obligor_industries)
    industries = tuple(sorted(names))
    columns = obligor_columns(plan.source, has_pairs=plan.settled.has_pairs)
    obligors = obligor_sums(total.obligors, columns, industries, total.obligor_industries, definition)
    return Finished(total, obligors, industries, _refusal(total, definition))


def _refusal(total: PoolSums, definition: Definition | None) -> str | None:
    """Return why the OC numerator needs all loans in memory; None where it does not."""
    if definition is None:
        return None
    par, marked = definition.par_value, total.notes
    has_excess = par.long_dated == "excess_at_zero" and marked["is_long_dated"]
    if has_excess or (par.current_pay == "excess_at_market" and marked["is_current_pay"]):
        return (
            "the definition carries the excess of long-dated or current pay loans below par: which these are needs "
            "all loans in memory at once, and a pool is read piece by piece"
        )
    return None


def _for_pieces(definition: Definition) -> Definition:
    """Return the definition without what only all loans together tell."""
    par, classes = definition.par_value, definition.classifications
    if par.long_dated == "excess_at_zero":
        par = replace(par, long_dated="par")
    if par.current_pay == "excess_at_market":
        par = replace(par, current_pay="par")
    classes = replace(classes, families=(), affiliates_by_name=False)
    return replace(definition, par_value=par, classifications=classes)


def _may_have_bounds(definition: Definition | None) -> bool:
    if definition is None:
        return False
    ratings = (getattr(definition.ratings, agency) for agency in AGENCIES)
    return any("bounds" in (each.masked, each.unrated) for each in ratings)
