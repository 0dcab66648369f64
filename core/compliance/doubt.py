"""What makes a result doubtful.

What its inputs lack, what warnings say of them, sums that fail, other figures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from typing import Final, NamedTuple

from msgspec import UNSET

from core.compliance.agreement import CENT
from core.compliance.beside import Beside, beside, contradicts, difference_words
from core.compliance.conventions import printed_agency
from core.compliance.kernels import rounded
from core.compliance.matching import UnmatchedFigure
from core.compliance.pool_sums import Measurement, Pool
from core.compliance.result import Doubt, DoubtCode, Doubts, Source, Status, Verdict
from core.compliance.spans import Case, is_covered, lacking, missing, span
from core.compliance.suites import UNIT_SIGNS, Test
from core.definition.definition import DealTest
from core.definition.terms import SUITE_TESTS, TOTALS
from core.portfolio.model.facts import AGENCY_NAMES, Fact
from core.portfolio.model.inputs import ANY, concern_of, input_of, inputs_of
from core.portfolio.model.notes import DataWarning
from core.remembered import remembered

_RATED: Final = ("ratings",)
_CDO_MONITOR: Final = ("ratings", "obligor", "industry", "country", "life", "life_basis", "day")

_SPREAD: Final = ("rates", "base_rate", "coupon", "coupon_type")

_OC_READS: Final = ("cash", "notes", "ratings", "price", "purchase", "recovery", "accrued", "haircuts")

READS: Final[dict[str, tuple[str, ...]]] = {
    "obligor": ("obligor",),
    "top_obligors": ("obligor",),
    "industry": ("industry",),
    "country": ("country",),
    "country_group": ("country",),
    "country_of_group": ("country",),
    "senior_secured": ("lien", "secured"),
    "non_senior_secured": ("lien", "secured"),
    "cov_lite": ("cov_lite",),
    "fixed_rate": ("coupon_type",),
    "floating_rate": ("coupon_type",),
    "dip": ("is_dip",),
    "current_pay": ("is_current_pay",),
    "discount": ("purchase", "price", "coupon_type"),
    "bridge": ("is_bridge",),
    "participations": ("participation",),
    "pik": ("is_pik", "is_deferring"),
    "revolving": ("is_revolving", "is_delayed_draw"),
    "long_dated": ("is_long_dated",),
    "bonds": ("lien",),
    "pays_less_than_quarterly": ("payment_frequency",),
    "pays_semi_annually": ("payment_frequency",),
    "pays_annually": ("payment_frequency",),
    "foreign_country": ("country",),
    "small_facilities": ("size", "country"),
    "ccc": (*_RATED, "rating_table"),
    "warf": (*_RATED, "moodys_factor"),
    "warr": ("recovery", "recovery_agency"),
    "oc": _OC_READS,
    "ic": ("rates", "base_rate", "interest", "fees", "period", "day", "notes"),
    "reinvestment_oc": _OC_READS,
    "event_of_default": ("cash", "notes", "price"),
    "wal": ("life", "life_basis", "day"),
    "was": _SPREAD,
    "wac": ("rates", "coupon_type"),
    "diversity": ("obligor", "industry"),
    "delinquency": (),
    "price_below": ("price",),
    "average_price": ("price",),
    "quoted_depth": ("quotes",),
    "spwarf": _RATED,
    "default_rate_dispersion": _RATED,
    "obligor_diversity": ("obligor",),
    "industry_diversity": ("industry",),
    "regional_diversity": ("country",),
    "cdo_monitor_wal": ("life", "life_basis", "day", "ratings"),
    "sdr": _CDO_MONITOR,
    "bdr": (*_SPREAD, "recovery"),
    "cdo_monitor": (*_CDO_MONITOR, *_SPREAD, "recovery"),
}
"""Measure -> what it reads beside par, which loans are defaulted, and cash where it divides by it (see `FIELDS`)."""

_ALWAYS: Final = ("par", "default", ANY)

_WITH_CASH: Final = (None, "denominator", "denominator_and_unfunded", "cpa")
"""Denominators that have principal cash in them."""

_TOTALS: Final[Mapping[str, tuple[str, ...]]] = {
    "cash": ("cash",), "cpa": ("cash",), "denominator": ("cash",), "adjusted": READS["oc"], "interest": READS["ic"],
    "denominator_and_unfunded": ("cash",),
    "fixed_par": ("coupon_type",), "floating_par": ("coupon_type",), "obligors": ("obligor",), "as_of": ("day",),
}  # fmt: skip
"""What the totals read that a formula of values may name."""

_OC: Final = ("oc", "reinvestment_oc")
"""Measures that have one numerator."""

_OF_ROLES: Final = {
    "par": "par", "cash": "cash", "cpa": "cash", "coll": "interest", "tobe": "interest", "senior": "fees",
}  # fmt: skip
"""Role of a printed line -> what figures read of it."""

WHOLE_SHARE: Final = 1e-11
"""Part of an amount that is the rounding of its sum."""

_CHOSEN: Final[tuple[Source, ...]] = ("request", "workbook", "deal", "tenant")
"""Who sets a limit on purpose: a status by it is not the trustee's."""


class JudgedFigure(NamedTuple):
    """A figure as a run judges it."""

    test: Test
    measured: Measurement
    status: Status
    limit: float
    source: Source
    low: float | None
    """The ends of the figure where the definition takes masked ratings for a range."""
    high: float | None
    judge: Callable[[float], Status]
    """The status of another figure by the same limit."""


@remembered(1_024)
def _read_by_share(text: str) -> tuple[str, ...]:
    """Return what a share's formula reads, in the names of `FIELDS`."""
    from core.definition.formulas import fields_of, share_of

    return tuple(map(input_of, fields_of(share_of(text))))


def _read_of_loans(own: DealTest) -> Iterator[str]:
    """Yield what a test reads to tell the loans of which it is, and what it adds to their par."""
    for text in (own.share, own.among):
        if text is not None:
            yield from _read_by_share(text) if text.startswith("=") else READS[text]
    if "cash" in own.adds:
        yield "cash"


class Doubter:
    """Finds the doubts of the results of one run."""

    def __init__(
        self,
        pool: Pool | None,
        own: Mapping[str, DealTest],
        facts: Mapping[str, Fact],
        conflicts: Sequence[UnmatchedFigure] = (),
        *,
        compares: bool = True,
    ) -> None:
        """Args:
        pool: the sums; None where nothing was measured.
        own: the definition's tests by id.
        facts: the file's figure of a test, by test id.
        conflicts: figures of the file that stand beside no test of ours.
        compares: whether the loans are those of which the file speaks: not after trades.
        """
        self._pool = pool
        self._own = own
        self._facts = facts if compares else {}
        self._conflicts = conflicts if compares else ()
        self._compares = compares
        self._reads: dict[str, frozenset[str]] = {}
        self._beside: dict[str, Beside] = {}
        self.warnings: Sequence[DataWarning] = ()
        """Those of the run, once it has all of them."""

    def verdict(self, case: JudgedFigure) -> Verdict:
        """Return the ends of a figure that its inputs leave open, and whether its status may be wrong."""
        theirs, (measure, inputs) = self.beside(case.test, case.measured), self._inputs(case)
        low, high = case.low, case.high
        ends = None if _ties(theirs) else span(measure, inputs, with_ratings=low is None)
        is_open = ends is not None and _turns(case, *ends)
        if is_open and ends is not None:
            low, high = ends
        return Verdict(
            UNSET if low is None else rounded(low),
            UNSET if high is None else rounded(high),
            is_open
            or (not self._is_plain and self._is_otherwise(case) if theirs is None else _is_contradicted(case, theirs)),
        )

    def doubts(self, case: JudgedFigure) -> Doubts:
        """Return the trustee's own figure, and every doubt of ours."""
        theirs = self.beside(case.test, case.measured)
        lacks = missing(*self._inputs(case))
        all_doubts = [] if theirs is None else list(_of_difference(case, theirs))
        if not self._is_plain and (theirs is None or not theirs.is_to_the_cent):
            all_doubts += self._inherit(case.test)
        all_doubts += [
            Doubt("blank_inputs", f"{lack.pct:.2f} % of par has {lack.what}", self._cells([lack.input]))
            for lack in lacks
        ]
        all_doubts += self._of_warnings(case.test, {lack.input for lack in lacks})
        if not self._is_plain:
            all_doubts += self._of_facts(case.test)
            all_doubts += self._of_industries(case.test) if theirs is None else ()
        if _ties(theirs):  # what the trustee's figure confirms is no conflict
            all_doubts = [doubt for doubt in all_doubts if doubt.code != "conflict"]
        return Doubts(None if theirs is None else theirs.figure, all_doubts)

    def _inputs(self, case: JudgedFigure) -> tuple[str, Case]:
        """Return the measure of a figure, and what it is of."""
        assert self._pool is not None
        own = self._own.get(case.test.test_id)
        agency = None if own is None else own.agency
        is_of_some = own is not None and (own.among is not None or own.adds)
        measure = "share" if is_of_some else self._measure_of(case.test.test_id)
        return measure, Case(self._pool, case.measured, agency)

    def is_sure(self, test: Test, measured: Measurement) -> bool:
        """Return whether nothing makes a figure doubtful."""
        return self._is_plain and is_covered(measured) and (not self._open or self._open.isdisjoint(self.reads(test)))

    def is_settled(self, test: Test, measured: Measurement) -> bool:
        """Return whether nothing that it reads is missing, so that its status is not open, whatever else is to be
        doubted."""
        if not self._is_plain or not is_covered(measured):
            return False
        return not self._missing or self._missing.isdisjoint(self.reads(test))

    @cached_property
    def _is_plain(self) -> bool:
        """Whether nothing but blanks and warnings can make a figure of this run doubtful.

        The file prints nothing of itself, and cash is known.
        """
        if self._facts or self._conflicts or self._pool is None or self._lacks_cash:
            return False
        facts = self._pool.portfolio.facts
        return not (facts.all or facts.identities)

    @cached_property
    def _open(self) -> frozenset[str]:
        """What some loans lack, and what warnings are about."""
        return self._missing.union(*(inputs for _, inputs in self._inputs_of_warnings))

    @cached_property
    def _missing(self) -> frozenset[str]:
        """What some loans lack or do not show, of what the coverage of a figure does not tell."""
        lacks = frozenset[str]() if self._pool is None else lacking(self._pool)
        return lacks.union(
            *(inputs for warning, inputs in self._inputs_of_warnings if concern_of(warning) in _OF_MISSING)
        )

    def beside(self, test: Test, measured: Measurement | None) -> Beside | None:
        """Return the file's figure of a test beside ours; None where it has none."""
        fact = self._facts.get(test.test_id)
        if fact is None:
            return None
        if measured is None:
            return beside(fact, test, None)
        if test.test_id not in self._beside:
            self._beside[test.test_id] = beside(fact, test, measured)
        return self._beside[test.test_id]

    # ---- what a test reads

    def _measure_of(self, test_id: str) -> str:
        """Return the measure of a test; "share" or "value" for one by a formula."""
        own = self._own.get(test_id)
        if own is None:
            return SUITE_TESTS.get(test_id, "")
        return own.measure or ("share" if own.share is not None else "value")

    def reads(self, test: Test) -> frozenset[str]:
        """Return what a test reads, in the names of `FIELDS`."""
        test_id = test.test_id
        inputs = self._reads.get(test_id)
        if inputs is None:
            inputs = self._reads[test_id] = (
                frozenset((*_ALWAYS, *self._read_by(test_id, test)))
                if test_id in self._own
                else self._read_of_suite(SUITE_TESTS.get(test_id, ""), test)
            )
        return inputs

    def _read_of_suite(self, measure: str, test: Test) -> frozenset[str]:
        """Return what a test of the suites reads."""
        is_by_kind = measure == "warr" and not self._has_named_recoveries(None)
        divides = "cpa" in test.divides_by and (measure != "ic" or self._has_estimated_fees)
        return _suite_reads(measure, is_by_kind, divides)

    def _read_by(self, test_id: str, test: Test | None) -> Iterator[str]:
        own, measure = self._own.get(test_id), self._measure_of(test_id)
        if own is not None and own.value is not None:
            yield from self._read_by_formula(own.value, test_id)
            return
        if own is not None:
            yield from _read_of_loans(own)
        yield from READS.get(measure, ())
        if measure == "warr" and not self._has_named_recoveries(own):
            yield from ("lien", "ratings")
        if measure == "wac" and self._pool is not None and self._pool.definition.conventions.excess_spread != "none":
            yield from _SPREAD
        of = None if own is None else own.of
        divides = test is None or "cpa" in test.divides_by or measure == "share"
        if divides and of in _WITH_CASH and (measure != "ic" or self._has_estimated_fees):
            yield "cash"

    def _read_by_formula(self, text: str, test_id: str) -> Iterator[str]:
        """Yield what a formula over totals and other tests reads."""
        from core.definition.formulas import names_of

        for name in names_of(text, frozenset((*self._own, *TOTALS))):
            yield from _TOTALS.get(name, ())
            if name in self._own and name != test_id:
                yield from self._read_by(name, None)

    def _has_named_recoveries(self, own: DealTest | None) -> bool:
        """Return whether recovery rates are a named agency's, and not those of the kind of loan and its ratings."""
        named = None if self._pool is None else self._pool.view.recovery_agency
        return named in ("b", "c") or (own is not None and own.agency is not None)

    @cached_property
    def _has_estimated_fees(self) -> bool:
        return self._pool is not None and "estimated" in self._pool.interest["senior_fees_basis"]

    # ---- places

    def _cells(self, inputs: Iterable[str]) -> list[str]:
        """Cells that say some of what is read."""
        return list(dict.fromkeys(cell for name in inputs for cell in self._cells_by_input.get(name, ())))

    @cached_property
    def _cells_by_input(self) -> dict[str, list[str]]:
        cells: dict[str, list[str]] = {}
        for field, cell in ({} if self._pool is None else self._pool.portfolio.source_cells).items():
            cells.setdefault(input_of(field), []).append(cell)
        return cells

    # ---- warnings

    def _of_warnings(self, test: Test, missing_inputs: set[str]) -> Iterator[Doubt]:
        """Yield the warnings of the run that are about what a test reads.

        Not those that its own blanks tell better.
        """
        reads, own = self.reads(test), self._own.get(test.test_id)
        for warning, inputs in self._inputs_of_warnings:
            common = inputs & reads
            if not common or (warning.code in _TOLD_BY_SHARE and common <= missing_inputs):
                continue
            if own is not None and own.agency is not None and _is_of_another_agency(warning, own.agency):
                continue
            yield Doubt(concern_of(warning), warning.message, self._places(warning, common))

    @cached_property
    def _inputs_of_warnings(self) -> list[tuple[DataWarning, frozenset[str]]]:
        pairs = ((warning, inputs_of(warning)) for warning in self.warnings)
        return [(warning, inputs) for warning, inputs in pairs if inputs]

    def _places(self, warning: DataWarning, inputs: Iterable[str]) -> list[str]:
        cells = {} if self._pool is None else self._pool.portfolio.source_cells
        named = [cells[field] for field in warning.fields if field in cells]
        return list(dict.fromkeys(named)) or self._cells(sorted(inputs))

    # ---- what the file prints

    def _of_facts(self, test: Test) -> Iterator[Doubt]:
        """Figures that the file prints twice, and not alike."""
        if self._pool is None:
            return
        for unmatched in self._conflicts:
            fact = unmatched.published
            if unmatched.nearest == test.test_id and fact.conflict:
                yield Doubt("conflict", f"the file prints {fact.label!r} twice: {fact.conflict}", _places_of(fact))
        reads = self.reads(test)
        for fact in self._twice:
            role = "notes" if fact.kind == "note" else _OF_ROLES.get(fact.subject.measure if fact.subject else "", "")
            if role in reads:
                yield Doubt("conflict", f"the file prints {fact.label!r} twice: {fact.conflict}", _places_of(fact))

    def _of_industries(self, test: Test) -> Iterator[Doubt]:
        """Industries of one agency, where the file prints its own tests by another's alone and a deal's definition does
        not go by these."""
        pool = self._pool
        if pool is None or pool.goes_by_file or self._measure_of(test.test_id) != "industry":
            return
        own = self._own.get(test.test_id)
        asked = None if own is None else own.classification
        asked = asked if asked in AGENCY_NAMES else pool.view.industry_agency
        printed = self._agency_of_industries
        if asked is not None and printed is not None and asked != printed:
            ours, theirs = AGENCY_NAMES[asked], AGENCY_NAMES[printed]
            yield Doubt("conflict", f"it goes by {ours}'s industries, and the file's own tests by {theirs}'s", [])

    @cached_property
    def _agency_of_industries(self) -> str | None:
        """By whose industries alone the file prints tests."""
        return None if self._pool is None else printed_agency(self._pool.portfolio, "industry")

    @cached_property
    def _twice(self) -> list[Fact]:
        """The lines of calculations, totals, accounts and notes that contradict another place."""
        every = () if self._pool is None else self._pool.portfolio.facts.all
        kinds = ("component", "total", "account", "note")
        return [fact for fact in every if fact.conflict and fact.kind in kinds and not fact.is_prior]

    def _inherit(self, test: Test) -> Iterator[Doubt]:
        """Doubts of cash, of par and of their sum, for what divides by them or has them in it."""
        reads = self.reads(test)
        if "cash" in reads and self._lacks_cash:
            text = "no page says what principal cash there is: it counts as 0"
            yield Doubt("doubtful_cash", text, [])
        is_coverage = "notes" in reads
        if "cash" in reads and not is_coverage and self._other_denominator is not None:
            printed, place = self._other_denominator
            assert self._pool is not None
            text = f"the trustee divides by {printed:,.2f}, we by {self._pool.denominator:,.2f}"
            yield Doubt("doubtful_denominator", text, [place])
            return
        if "cash" in reads and is_coverage and test.test_id not in self._facts and self._other_numerator is not None:
            printed, place = self._other_numerator
            assert self._pool is not None
            ours = self._pool.adjustments["adjusted"]
            yield Doubt(
                "differs", f"the trustee's numerator of such tests is {printed:,.2f}, ours {ours:,.2f}", [place]
            )
        if (fault := self._fault) is None:
            return
        if "cash" in reads:  # what divides by cash, or has it in its numerator
            code: DoubtCode = fault.code if is_coverage else "doubtful_denominator"
            yield Doubt(code, fault.message, fault.places)
        elif fault.code == "doubtful_par" and not is_coverage:
            yield Doubt(fault.code, fault.message, fault.places)

    @property
    def _lacks_cash(self) -> bool:
        pool = self._pool
        if pool is None or pool.portfolio.deal.principal_cash is not None:
            return False
        return pool.definition.conventions.principal_cash != "none"

    @cached_property
    def _other_denominator(self) -> tuple[float, str] | None:
        """(amount, place) of the denominator that the file prints most often for shares, where none that it prints is
        ours."""
        printed: dict[float, list[str]] = {}
        for test_id, fact in self._facts.items():
            reads = frozenset(self._read_by(test_id, None))
            if fact.denominator is not None and "cash" in reads and "notes" not in reads and fact.unit != "amount":
                printed.setdefault(fact.denominator, []).append(fact.place)
        if self._pool is None or not printed or any(_is_same(self._pool.denominator, figure) for figure in printed):
            return None
        amount = max(printed, key=lambda each: len(printed[each]))
        return amount, printed[amount][0]

    @cached_property
    def _other_numerator(self) -> tuple[float, str] | None:
        """(amount, place) of the numerator that the file prints for overcollateralisation, where that is not ours."""
        if self._pool is None:
            return None
        for test_id, fact in self._facts.items():
            is_oc = self._measure_of(test_id) in _OC
            if is_oc and fact.numerator is not None:
                is_ours = _is_same(self._pool.adjustments["adjusted"], fact.numerator)
                return None if is_ours else (fact.numerator, fact.place)
        return None

    def _is_otherwise(self, case: JudgedFigure) -> bool:
        """Return whether the trustee's numerator or denominator of other tests would turn a status of which it prints
        none."""
        reads, measured = self.reads(case.test), case.measured
        if "cash" not in reads or self._pool is None or not measured.denominator:
            return False
        if "notes" not in reads:
            other_denominator = self._other_denominator
            value = None if other_denominator is None else measured.value * measured.denominator / other_denominator[0]
        else:
            is_oc = self._measure_of(case.test.test_id) in _OC
            numerator = self._other_numerator if is_oc else None
            value = None if numerator is None else numerator[0] / measured.denominator * 100
        return value is not None and _fails(case, value) != (case.status == "fail")

    @cached_property
    def _fault(self) -> Doubt | None:
        """Why our par and cash are not the collateral principal amount that the file prints; None where they are, or
        where it prints none."""
        pool = self._pool
        identity = None if pool is None else pool.portfolio.facts.identity("collateral_principal_amount")
        if pool is None or identity is None or not self._compares:
            return None
        cash = pool.portfolio.deal.principal_cash or 0.0
        carried = (0.0, pool.tally.defaulted_par, pool.tally.defaulted_carried)
        sums = {pool.par + own + amount for own in (pool.cash, cash) for amount in carried}
        if any(_is_same(amount, identity.total) for amount in sums):
            return None
        parts = dict(identity.parts)
        printed_par, printed_cash = parts.get("par", parts.get("perf")), parts.get("cash")
        has_par = printed_par is not None and any(_is_same(pool.par + amount, printed_par) for amount in carried)
        has_cash = identity.holds and printed_cash is not None and _is_same(cash, printed_cash)
        code: DoubtCode = "doubtful_par" if has_cash and not has_par else "doubtful_cash"
        apart = pool.par + cash - identity.total
        message = (
            f"par of {pool.par:,.2f} and principal cash of {cash:,.2f} do not make the collateral principal amount of "
            f"{identity.total:,.2f} that the file prints: {abs(apart):,.2f} "
            f"{'too much' if apart > 0 else 'is missing'}"
        )
        return Doubt(code, message, [*identity.places, *self._cells(["cash"])])


_OF_MISSING: Final = ("masked_inputs", "blank_inputs")


@cache
def _suite_reads(measure: str, is_by_kind: bool, has_cash: bool) -> frozenset[str]:
    """Return what a measure of the suites reads.

    Recovery rates by the kind of the loan, a denominator with cash in it.
    """
    more = (*(("lien", "ratings") if is_by_kind else ()), *(("cash",) if has_cash else ()))
    return frozenset((*_ALWAYS, *READS.get(measure, ()), *more))


_TOLD_BY_SHARE: Final = frozenset(("no_rating", "no_price", "no_maturity", "no_lien", "recovery_assumed"))
"""Warnings that count loans of which a doubt says the share of par."""


def _ties(theirs: Beside | None) -> bool:
    return theirs is not None and theirs.figure.agrees is True


def _is_same(ours: float, printed: float) -> bool:
    return abs(ours - printed) <= CENT + WHOLE_SHARE * abs(printed)


def _is_of_another_agency(warning: DataWarning, agency: str) -> bool:
    """Return whether a warning is about other agencies' ratings, or rating tables, alone."""
    fields = [field for field in warning.fields if input_of(field) in ("ratings", "rating_table")]
    own = (f"rating_agency_{agency}", f"deal.masked_ccc_{agency}")
    return bool(fields) and not any(field.startswith(own) for field in fields)


def _places_of(fact: Fact) -> list[str]:
    return list(dict.fromkeys((fact.place, *fact.also)))


def _fails(case: JudgedFigure, value: float) -> bool:
    return case.judge(value) == "fail"


def _turns(case: JudgedFigure, low: float, high: float) -> bool:
    """Return whether an end of a figure has another status than the figure, a warning being a pass."""
    is_failing = case.status == "fail"
    return _fails(case, low) != is_failing or _fails(case, high) != is_failing


def _has_own_limit(case: JudgedFigure, theirs: Beside) -> bool:
    """Return whether a tying figure is held to another limit than the trustee's."""
    trigger = theirs.figure.trigger
    return theirs.figure.agrees is True and trigger is not None and abs(trigger - case.limit) > theirs.fact.tolerance


def _is_contradicted(case: JudgedFigure, theirs: Beside) -> bool:
    """Return whether the trustee has the other status, and not for a limit that somebody set on purpose."""
    if not contradicts(theirs.figure, case.status):
        return False
    return not (_has_own_limit(case, theirs) and case.source in _CHOSEN)


def _of_difference(case: JudgedFigure, theirs: Beside) -> Iterator[Doubt]:
    """Yield what the trustee has otherwise.

    The figure, the status, or the limit of a definition.
    """
    is_contradicted, has_own_limit = _is_contradicted(case, theirs), _has_own_limit(case, theirs)
    is_of_definition = has_own_limit and case.source == "definition"
    if theirs.figure.agrees is not False and not is_contradicted and not is_of_definition:
        return
    places = _places_of(theirs.fact)
    if theirs.figure.agrees is not False and has_own_limit:
        sign, trigger = UNIT_SIGNS[case.test.unit], theirs.figure.trigger
        status = "" if theirs.figure.status is None else f", and has {theirs.figure.status}"
        message = (
            f"held to {case.limit:g}{sign}, the {case.source}'s limit; the trustee holds it to "
            f"{trigger:g}{sign}{status}"
        )
        yield Doubt("stand_in", message, places)
        return
    yield Doubt("differs", difference_words(case.test, theirs, case.measured, case.status), places)
