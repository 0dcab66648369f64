"""How much of a report is read rightly, and what is wrong without a doubt."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from core.portfolio import Portfolio
from core.portfolio.model.facts import Fact, Facts
from tests.made_pages.book import Book
from tests.made_pages.cells import Expectation

CENT = 0.005 + 1e-9


@dataclass
class Score:
    """Counts of what is read rightly, and a line for each that is not."""

    right: dict[str, int] = field(default_factory=dict)
    all: dict[str, int] = field(default_factory=dict)
    misses: list[str] = field(default_factory=list)
    silent: list[str] = field(default_factory=list)
    """Wrong, and nothing says that it may be."""

    def count(self, kind: str, *, is_right: bool, line: str = "", is_silent: bool = False) -> None:
        self.all[kind] = self.all.get(kind, 0) + 1
        self.right[kind] = self.right.get(kind, 0) + is_right
        if not is_right:
            self.misses.append(f"{kind}: {line}")
        if is_silent:
            self.silent.append(f"{kind}: {line}")

    @property
    def share(self) -> float:
        return sum(self.right.values()) / max(1, sum(self.all.values()))

    def table(self, lines: int = 40) -> str:
        counts = [f"{kind:15} {self.right.get(kind, 0):6} of {count:6}" for kind, count in sorted(self.all.items())]
        return "\n".join(
            [
                *counts,
                f"{self.share:.2%} right, {len(self.silent)} wrong without a doubt",
                *self.silent[:lines],
                "--",
                *self.misses[:lines],
            ]
        )


def score_book(score: Score, book: Book, portfolio: Portfolio) -> None:
    """Add one report to the score."""
    facts = portfolio.facts
    for figure in book.says:
        _scorers[figure.kind](score, book, portfolio, figure)
    _score_amounts(score, book, portfolio)
    _score_defaults(score, book, portfolio)
    for line in _false_tests(book, facts):
        score.silent.append(f"false test: seed {book.seed} {line}")


def is_doubted(fact: Fact) -> bool:
    return fact.is_guessed or bool(fact.conflict)


def _at(facts: tuple[Fact, ...], place: str) -> Fact | None:
    return next((fact for fact in facts if fact.place == place), None) or next(
        (fact for fact in facts if place in fact.also), None
    )


def _score_test(score: Score, book: Book, portfolio: Portfolio, expectation: Expectation) -> None:
    fact = _at(portfolio.facts.figures, expectation.place)
    line = f"seed {book.seed} {expectation.place} {expectation.label!r}"
    if fact is None:
        score.count("test", is_right=False, line=f"{line} not read")
        return
    missing, wrong = _differences(expectation, fact)
    score.count(
        "test",
        is_right=not missing and not wrong and fact.kind == "test",
        line=f"{line}: {'; '.join(wrong + missing) or fact.kind}",
        is_silent=bool(wrong) and not is_doubted(fact),
    )


def _differences(expectation: Expectation, fact: Fact) -> tuple[list[str], list[str]]:
    """Return fields that are not read, and fields that are read wrongly."""
    pairs: list[tuple[str, Any, Any, float]] = [
        ("value", expectation.value, fact.value, expectation.within + 1e-9),
        ("numerator", expectation.numerator, fact.numerator, CENT),
        ("denominator", expectation.denominator, fact.denominator, CENT),
        ("trigger", expectation.trigger, fact.trigger, 1e-6),
    ]
    missing, wrong = [], []
    for name, printed, own, within in pairs:
        if own is None and printed is not None:
            missing.append(f"no {name}")
        elif printed is not None and abs(own - printed) > within:
            wrong.append(f"{name} {own}, not {printed}")
        elif printed is None and own is not None:
            wrong.append(f"{name} {own}, which is not printed")
    for name, printed, own in (("side", expectation.side, fact.direction), ("status", expectation.status, fact.status)):
        if own != printed:
            (missing if own is None else wrong).append(f"{name} {own}, not {printed}")
    if fact.subject is None:
        missing.append("no subject")
        return missing, wrong
    wanted = {"classes": (), "agency": None, "rank": None, "aggregate": None, "with_cash": False} | expectation.subject
    for name, printed in wanted.items():
        if getattr(fact.subject, name) != printed:
            wrong.append(f"{name} {getattr(fact.subject, name)!r}, not {printed!r}")
    return missing, wrong


def _score_row(score: Score, book: Book, portfolio: Portfolio, expectation: Expectation) -> None:
    """A line of a list or of a table by rating, industry or country."""
    near = [fact for fact in portfolio.facts.of(expectation.kind) if _row_of(fact.place) == _row_of(expectation.place)]  # type: ignore[arg-type]
    line = f"seed {book.seed} {expectation.place} {expectation.label!r}"
    assert expectation.value is not None
    with_amount = [fact for fact in near if fact.value is not None and abs(fact.value - expectation.value) <= CENT]
    measure = expectation.subject.get("measure")
    of_kind = [
        fact for fact in with_amount if measure is None or (fact.subject and fact.subject.measure.startswith(measure))
    ]
    others = sorted({fact.subject.measure for fact in with_amount if fact.subject})
    reason = f"{line}: {'not read' if not near else others or [fact.value for fact in near]}"
    is_wrong = bool(others) and not of_kind and not any(map(is_doubted, with_amount))
    score.count(expectation.kind, is_right=bool(of_kind), line=reason, is_silent=is_wrong)


def _score_empty(score: Score, book: Book, portfolio: Portfolio, expectation: Expectation) -> None:
    sheets = {_row_of(fact.place)[0] for fact in portfolio.facts.of("empty_page")}
    score.count(
        "empty_page",
        is_right=expectation.sheet in sheets,
        line=f"seed {book.seed} {expectation.place} {expectation.label!r}",
    )


def _score_note(score: Score, book: Book, portfolio: Portfolio, expectation: Expectation) -> None:
    """The current balance of a class, in the deal's order of classes."""
    names = [figure_beside.label for figure_beside in book.says if figure_beside.kind == "note"]
    tranches = portfolio.tranches
    at = names.index(expectation.label)
    own = None if tranches is None or at >= len(tranches.classes) else float(tranches.current_balance[at])
    is_right = own is not None and expectation.value is not None and abs(own - expectation.value) <= CENT
    score.count(
        "note",
        is_right=is_right,
        line=f"seed {book.seed} {expectation.place} {expectation.label!r}: {own}, not {expectation.value}",
        is_silent=own is not None and not is_right,
    )


def _score_amounts(score: Score, book: Book, portfolio: Portfolio) -> None:
    """Principal cash, the parts of interest coverage, and both numerators.

    Each with the identity that doubts it.
    """
    deal, own, facts = portfolio.deal, book.deal, portfolio.facts
    fees = None if deal.senior_fees is None else abs(deal.senior_fees)
    rows = [
        ("cash", own.cash, deal.principal_cash, "collateral_principal_amount"),
        ("collected", own.collected, deal.interest_collected, "ic_numerator"),
        ("receivable", own.receivable, deal.interest_receivable, "ic_numerator"),
        ("senior items", sum(own.fees), fees, "ic_numerator"),
        ("par numerator", own.adjusted, _total(facts, "oc_numerator"), "oc_numerator"),
        ("interest numerator", own.interest, _total(facts, "ic_numerator"), "ic_numerator"),
    ]
    for name, cents, read_amount, identity in rows:
        is_right = read_amount is not None and abs(read_amount - cents / 100) <= CENT
        is_silent = read_amount is not None and not is_right and not _is_unsure(facts, identity)
        line = f"seed {book.seed}: {read_amount}, not {cents / 100} ({facts.identity(identity)})"
        score.count(name, is_right=is_right, line=line, is_silent=is_silent)


def _total(facts: Facts, name: str) -> float | None:
    """Return the total of an identity that holds."""
    identity = facts.identity(name)
    return identity.total if identity is not None and identity.holds else None


def _is_unsure(facts: Facts, name: str) -> bool:
    """Return whether the identity fails, or others would hold as well."""
    identity = facts.identity(name)
    return identity is not None and not (identity.holds and identity.is_proved)


def _score_defaults(score: Score, book: Book, portfolio: Portfolio) -> None:
    """Defaulted par: the list's loans, and never those of the lists stacked above and below it."""
    read_par = float(np.sum(portfolio.numbers["par_value"][portfolio.defaulted()]))
    is_right = abs(read_par - book.deal.defaulted / 100) <= CENT
    line = f"seed {book.seed}: {read_par}, not {book.deal.defaulted / 100}"
    score.count("defaulted par", is_right=is_right, line=line, is_silent=not is_right and read_par > 0)


def _false_tests(book: Book, facts: Facts) -> Iterator[str]:
    """Tests that no page prints, and figures beside which a test of the same subject has another value."""
    tests = [printed_test for printed_test in book.says if printed_test.kind == "test"]
    places = {printed_test.place for printed_test in tests}
    values = {_subject_key(printed_test.subject): printed_test for printed_test in tests}
    for fact in facts.figures:
        if is_doubted(fact) or fact.place in places or places & set(fact.also):
            continue
        if fact.kind == "test":
            yield f"{fact.place} {fact.label!r}: {fact.value}"
        elif fact.subject is not None and fact.value is not None and fact.subject.detail is None:
            test = values.get(_subject_key({name: getattr(fact.subject, name) for name in SUBJECT_FIELDS}))
            if test is not None and test.value is not None and abs(test.value - fact.value) > test.within + 1e-9:
                yield f"{fact.place} {fact.label!r}: {fact.value}, a test says {test.value}"


SUBJECT_FIELDS = ("measure", "classes", "agency", "rank", "aggregate", "with_cash", "subset")


def _subject_key(subject: dict[str, Any]) -> tuple[Any, ...]:
    defaults: dict[str, Any] = {"classes": (), "with_cash": False}
    return tuple(subject.get(name, defaults.get(name)) for name in SUBJECT_FIELDS)


def _row_of(place: str) -> tuple[str, str]:
    """Return sheet and row of a cell."""
    sheet, _, cell = place.rpartition("!")
    return sheet.strip("'").replace("''", "'"), cell.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ$")


_scorers = {
    "test": _score_test,
    "list": _score_row,
    "stratification": _score_row,
    "empty_page": _score_empty,
    "note": _score_note,
}
