"""Interpret a file: which reading of its open choices its own figures tie by."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

import numpy as np

from core.checked import checked
from core.compliance.conventions import PLAIN, definition_for
from core.compliance.pool_sums import Pool
from core.compliance.stated import with_stated
from core.definition.definition import Definition
from core.interpretation.candidates import Candidate, Readings
from core.interpretation.evidence import Evidence, PrintedFigure
from core.interpretation.interval import Interval, interval_of, is_telling
from core.interpretation.reading import read_by
from core.interpretation.search import TAKEN_LEAST, ChoiceResult, Search, Ties
from core.portfolio import Portfolio
from core.portfolio.model.facts import Fact, Facts
from core.portfolio.model.interpretation import Choice, HoldOut, Interpretation, Reading, Tie

NOTHING: Final = Interpretation(choices=[], figures=0, tied_before=0, tied=0, hold_out=None)
"""Of a file that prints nothing about itself."""


@checked
@np.errstate(over="ignore", invalid="ignore")  # a sum that overflows is no figure: no reading is searched for it
def interpret(
    portfolio: Portfolio, definition: Definition | str | None = None, *, hold_out: bool = False
) -> Interpretation:
    """Search the reading by which the figures that a file prints tie with ours.

    Args:
        portfolio: the loans, and the facts that their file prints.
        definition: the deal's rules, which outrank the search, or the name of a ready-made one; None for the market's
            standard.
        hold_out: whether each figure is left out once and inferred from the rest.

    Raises:
        UnknownDefinition: no ready-made definition has the name.
    """
    return _Interpreter(portfolio, definition).interpretation(hold_out=hold_out) if has_figures(portfolio) else NOTHING


@checked
@np.errstate(over="ignore", invalid="ignore")
def interpreted(portfolio: Portfolio, definition: Definition | str | None = None) -> Portfolio:
    """Return the same loans read by the choices that their file's figures decided, with the record of it.

    A definition outranks the search: with one nothing is applied, and a warning says where the file's figures tie by
    another reading.

    Raises:
        UnknownDefinition: no ready-made definition has the name.
    """
    if portfolio.interpretation is not None:
        return portfolio
    if not has_figures(portfolio):
        return replace(portfolio, interpretation=NOTHING)
    return _Interpreter(portfolio, definition).portfolio()


def has_figures(portfolio: Portfolio) -> bool:
    """Return whether there is anything to search: loans, and figures beside them."""
    if not portfolio.row_count or not portfolio.facts.all or not portfolio.facts.figures:
        return False
    par = portfolio.numbers.get("par_value")
    with np.errstate(over="ignore"):
        return par is not None and bool(np.isfinite(np.nansum(par))) and not bool(np.isnan(par).all())


class _Interpreter:
    """One interpretation of one file."""

    def __init__(self, portfolio: Portfolio, definition: Definition | str | None) -> None:
        self._rules = definition_for(portfolio, definition) or PLAIN
        self._is_stated = not self._rules.standard
        self._whole = portfolio
        self._evidence = Evidence(with_stated(portfolio, self._rules), self._rules)
        self._readings = self._evidence.readings
        self._base = {choice: listed[0] for choice, listed in self._readings.items()}
        self._intervals = _Intervals(self._evidence, self._base)
        self._search = Search(self._evidence, self._readings, self._intervals.idle_figures(self._readings))
        self._used = self._base if self._is_stated else self._search.run()
        self._decided = [self._search.decided(choice, self._used) for choice in self._readings]

    def interpretation(self, *, hold_out: bool) -> Interpretation:
        """Return the record of it."""
        choices = [self._choice(each) for each in self._decided]
        return Interpretation(
            choices=[choice for choice in choices if choice is not None],
            figures=sum(len(figure.printed) for figure in self._figures),
            tied_before=self._tied(self._base),
            tied=self._tied(self._used),
            hold_out=self._hold_out() if hold_out else None,
        )

    def portfolio(self) -> Portfolio:
        """Return the loans by what was decided, with the record."""
        record = self.interpretation(hold_out=False)
        return read_by(self._whole, record, self._rules if self._is_stated else None)

    @property
    def _figures(self) -> list[PrintedFigure]:
        return self._evidence.figures[: self._evidence.of_tests]

    def _tied(self, used: dict[str, Candidate]) -> int:
        return sum(len(self._evidence.ties(at, used, by_loans=False)) for at in range(self._evidence.of_tests))

    # ---- choices

    def _choice(self, choice_result: ChoiceResult) -> Choice | None:
        """Return the record of a choice.

        None where its readings are the same for these loans.
        """
        if choice_result.runner_up is None and len(self._search.different(choice_result.used.choice, self._used)) < 2:
            return None
        return Choice(
            name=choice_result.used.choice,
            state="stated" if self._is_stated else choice_result.state,
            reading=self._reading(choice_result.used, choice_result.ties),
            runner_up=None
            if choice_result.runner_up is None
            else self._reading(choice_result.runner_up, choice_result.runner_up_ties),
            differs=self._is_stated and self._differs(choice_result),
            changed=choice_result.used != self._base[choice_result.used.choice],
        )

    def _differs(self, choice_result: ChoiceResult) -> bool:
        """Return whether the runner-up ties two amounts more than what is stated, and loses none."""
        return (
            choice_result.runner_up is not None
            and not choice_result.lost
            and len(self._search.amounts(choice_result.runner_up_ties)) >= TAKEN_LEAST
        )

    def _reading(self, candidate: Candidate, ties: Ties) -> Reading:
        return Reading(option=candidate.option, words=candidate.words, ties=[self._tie(*tie) for tie in sorted(ties)])

    def _tie(self, at: int, part: str) -> Tie:
        figure = self._evidence.figures[at]
        return Tie(name=figure.name, part=part, printed=figure.printed[part], place=figure.place)  # type: ignore[arg-type, index]

    # ---- accuracy

    def _hold_out(self) -> HoldOut:
        """Leave each figure out that ties, and infer it from the rest."""
        tied = [at for at in range(self._evidence.of_tests) if self._deciding_parts(at, self._used)]
        right = sum(self._comes_out(at) for at in tied)
        return HoldOut(figures=len(tied), right=right)

    def _deciding_parts(self, at: int, used: dict[str, Candidate]) -> frozenset[str]:
        """Return what of a figure ties: its amounts where it prints any, else its value."""
        ties = self._evidence.ties(at, used, by_loans=False)
        return ties - {"value"} if self._evidence.figures[at].printed.keys() - {"value"} else ties

    def _comes_out(self, at: int) -> bool:
        if self._is_read_by(self._evidence.figures[at]):
            return False
        left_out = self._intervals.idle_figures(self._readings, at)
        search = Search(self._evidence, self._readings, left_out, _of_market(self._base, self._readings))
        return self._deciding_parts(at, self._used) <= self._deciding_parts(at, search.run())

    def _is_read_by(self, figure: PrintedFigure) -> bool:
        """Return whether the reader took a column or an amount because it gives this very figure."""
        deal = self._whole.deal
        codes = {(warning.code, field) for warning in self._whole.notes.warnings for field in (*warning.fields, "")}
        return (
            (figure.measure == "ic" and deal.interest_available is not None)
            or (figure.measure == "was" and not self._is_tied_unseen(figure))
            or (figure.measure == "warf" and deal.factor_ratings is not None)
            or (figure.measure == "ccc" and ("ratings_by_printed", f"rating_agency_{figure.agency}") in codes)
        )

    def _is_tied_unseen(self, figure: PrintedFigure) -> bool:
        """Return whether a figure ties by loans whose file prints nothing.

        How a spread is averaged may go by what it says.
        """
        pool = self._evidence.pool(self._used, by_loans=False)
        unseen = Pool(replace(pool.portfolio, facts=Facts()), pool.definition)
        return figure.ties(pool) <= figure.ties(unseen)


def _of_market(base: dict[str, Candidate], readings: Readings) -> dict[str, Candidate]:
    """Return readings to begin with that no sum of the file has decided."""
    names = [candidate for candidate in readings.get("families", ()) if candidate.option == "names"]
    return base | {name.choice: name for name in names}


class _Intervals:
    """What the OC ratios leave open, of all and of all but one."""

    def __init__(self, evidence: Evidence, base: dict[str, Candidate]) -> None:
        self._evidence = evidence
        self._base = base
        self._of: dict[int | None, int] = {}
        """By the ratio that is left out, None for all of them, the place of the interval among the figures."""
        self._intervals: dict[int, Interval] = {}
        pool = evidence.pool(base)
        listed = list(_ratios(evidence, pool))
        self._ratios = frozenset(at for at, _, _ in listed)
        for left_out in (None, *self._ratios):
            interval = interval_of((fact, balance) for at, fact, balance in listed if at != left_out)
            if interval is not None:
                self._of[left_out] = len(evidence.figures)
                self._intervals[len(evidence.figures)] = interval
                evidence.add(interval)

    def idle_figures(self, readings: Readings, at: int | None = None) -> frozenset[int]:
        """Return the figures that take no part where one is left out.

        The intervals of other cases among them, and one that several readings reach.
        """
        own = self._of.get(at if at in self._ratios else None)
        others = set(self._of.values()) - {own}
        if own is not None and not self._is_telling(own, readings):
            others.add(own)
        return frozenset(others if at is None else {*others, at})

    def _is_telling(self, at: int, readings: Readings) -> bool:
        """Return whether exactly one numerator of all readings lies inside, and not by coincidence."""
        interval = self._intervals[at]
        search = Search(self._evidence, readings, frozenset(self._of.values()))
        changes: dict[float, int] = {}
        for used in search.readings_of_oc():
            numerator = round(self._evidence.pool(used).adjustments["adjusted"], 2)
            count = sum(used[choice] != search.start[choice] for choice in used)
            changes[numerator] = min(count, changes.get(numerator, count))
        return is_telling(interval, changes)


def _ratios(evidence: Evidence, pool: Pool) -> Iterable[tuple[int, Fact, float]]:
    """(place, ratio, balance) of the printed OC ratios."""
    for at, figure in enumerate(evidence.figures):
        if figure.measure == "oc" and figure.fact is not None:
            ours = figure.measured(pool)
            if ours is not None:
                yield at, figure.fact, ours.denominator
