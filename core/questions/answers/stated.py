"""What a file states and lacks, and where the trustee differs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from core.insights.subject import Subject
from core.insights.words import listed, plain
from core.labels import spaced
from core.portfolio.model.classes import class_key, covers
from core.questions.answer import ROWS_SHOWN, Unit
from core.questions.answers.book import LoanSet, Unavailable
from core.questions.answers.statement import (
    AS_FILED,
    LESS_EARLIER,
    SUM_OF_PAR,
    Basis,
    Statement,
    book_of,
    loans_of,
    previous_of,
    unit_apart,
)
from core.questions.query import Condition, Query
from core.questions.vocabulary import QUANTITIES
from core.questions.wording import FIELD_WORDS
from core.values import day_of
from core.words import capitalize, counted

_OF_BOOK: Final = {
    "collateral_principal_amount": ("collateral_principal_amount", "performing par and principal cash"),
    "adjusted_collateral_principal_amount": ("adjusted", "numerator of the overcollateralisation tests"),
    "ccc_excess": ("ccc_excess", "par of the CCC bucket above its limit in the overcollateralisation tests"),
    "ccc_haircut": ("ccc_haircut", "what the CCC excess takes off the numerator of the overcollateralisation tests"),
    "defaulted_carried": ("defaulted_carried", "what defaulted loans are carried at"),
}
"""Facts of the loans: the key among the adjustments of the pool, and what it is."""

_FACT_WORDS: Final = {
    "as_of": "as-of date",
    "reinvestment_end": "end of the reinvestment period",
    "stated_maturity": "stated maturity of the deal",
    "next_payment": "next payment date",
    "deal_currency": "currency of the deal",
    "ccc_excess": "CCC excess",
    "ccc_haircut": "CCC haircut",
    "liabilities": "rated notes outstanding",
    "defaulted_carried": "carrying value of defaulted loans",
}
_DAYS: Final = frozenset(("as_of", "reinvestment_end", "closing_date", "stated_maturity", "next_payment"))


def fact_words(name: str) -> str:
    return _FACT_WORDS.get(name, name.replace("_", " "))


def answer_fact(query: Query, subject: Subject) -> Statement:
    """Answer a figure or a day of the deal.

    Raises:
        Unavailable: the file does not say.
    """
    statement = Statement(subject)
    name, is_previous = query.fact or "", query.period == "previous"
    side = previous_of(subject) if is_previous else subject
    value, unit, operation = _fact(name, book_of(subject, query.period) if name in _OF_BOOK else None, side)
    word = fact_words(name)
    text = statement.figure(word, value, unit, operation)
    statement.add(f"{capitalize(word)}{' in the month before' if is_previous else ''}: {text}.")
    if query.period == "change":
        before = previous_of(subject)
        book = LoanSet(subject, before.portfolio) if name in _OF_BOOK else None
        then, _, _ = _fact(name, book, before)
        first = statement.figure(f"{word} in the month before", then, unit, f"{operation}, of the earlier file")
        if isinstance(value, float) and isinstance(then, float):
            change = statement.figure(f"change of {word}", value - then, unit_apart(unit), LESS_EARLIER, sign=True)
            statement.add(f"It moved by {change}, from {first}.")
        else:
            statement.add(f"In the month before: {first}.")
    if name == "as_of" and subject.portfolio.deal.as_of_source in ("upload", "modified"):
        statement.warn("the file does not say its day: that of the file stands in")
    return statement


def _fact(name: str, book: LoanSet | None, subject: Subject) -> tuple[Any, Unit, str]:
    if name == "deal_currency":
        if subject.currency is None:
            raise Unavailable("the file does not say its currency")
        return subject.currency, "text", AS_FILED
    if book is not None:
        key, operation = _OF_BOOK[name]
        return book.pool.adjustments[key], "amount", operation
    if name == "liabilities":
        tranches = subject.measured.tranches
        if tranches is None:
            raise Unavailable("the file has no notes")
        total = float(np.nansum(tranches.current_balance[~tranches.is_income]))
        return total, "amount", "sum of current_balance of the notes that are no income notes"
    value: float | None = getattr(subject.measured.deal, name)
    if value is None:
        raise Unavailable(f"the file does not give the {fact_words(name)}")
    source = AS_FILED if value == getattr(subject.portfolio.deal, name) else "as the definition states it"
    if name in _DAYS:
        return day_of(value), "date", source
    return float(value), "percent" if name == "base_rate" else "amount", source


# ---- notes ----

_NOTE_COLUMNS: Final[dict[str, tuple[str, str, Unit]]] = {
    "par": ("balance", "current_balance", "amount"),
    "coupon": ("coupon", "coupon", "percent"),
    "spread": ("spread", "spread", "bps"),
}
"""A quantity of notes: its word, its column, its unit."""


def answer_notes(query: Query, subject: Subject) -> Statement:
    """Answer what balance, coupon and spread classes of notes have.

    Raises:
        Unavailable: the file does not have them.
    """
    statement = Statement(subject)
    tranches = subject.measured.tranches
    if tranches is None:
        raise Unavailable("the file has no notes")
    rows = class_rows(subject, query.classes)
    if query.is_count:
        count = statement.figure("number of classes", len(rows), "count", "rows of the notes")
        statement.add(f"{count} {'class' if len(rows) == 1 else 'classes'} of notes.")
    total = float(np.nansum(tranches.current_balance))
    for row in rows:
        of, texts = tranches.classes[row], []
        for quantity in query.quantities:
            name = "par" if quantity == "share" else quantity
            if name not in _NOTE_COLUMNS:
                raise Unavailable(f"the file does not give the {QUANTITIES[quantity].name} of notes")
            word, column, unit = _NOTE_COLUMNS[name]
            value = float(getattr(tranches, column)[row])
            text = statement.figure(word, value if np.isfinite(value) else None, unit, column, of=of)
            texts.append(f"{word} {text}")
            if quantity == "share" and total > 0:
                operation = "current_balance / that of all classes x 100"
                texts.append(statement.figure("share of the notes", value / total * 100, "percent", operation, of=of))
        statement.add(f"{statement.name(of)}: {', '.join(texts)}.")
    if len(rows) > 1 and "par" in query.quantities:
        amount = float(np.nansum(tranches.current_balance[rows]))
        statement.add(f"Together {statement.figure('balance together', amount, 'amount', 'sum of current_balance')}.")
    return statement


def class_rows(subject: Subject, classes: Sequence[str]) -> list[int]:
    """Return the rows of classes of notes.

    Raises:
        Unavailable: there is no such class.
    """
    tranches = subject.portfolio.tranches
    if tranches is None:
        raise Unavailable("the file has no notes")
    if tuple(classes) == ("*",):
        return list(range(len(tranches.classes)))
    rows: set[int] = set()
    incomes = tranches.is_income.tolist()
    for name in classes:
        key = class_key(name)
        own = {
            row
            for row, (label, is_income) in enumerate(zip(tranches.classes, incomes, strict=True))
            if (is_income if name == "SUB" else not is_income and covers(key, class_key(label)))
        }
        if not own:
            known = listed([plain(label) for label in tranches.classes])
            raise Unavailable(f"there is no class {plain(name)} among the notes: {known}")
        rows |= own
    return sorted(rows)


# ---- data ----

_LOOKED_FOR: Final = (
    "price", "rating", "spread", "coupon", "maturity", "industry", "country", "lien", "recovery", "facility_size",
    "quote_depth", "cusip",
)  # fmt: skip


def answer_data(query: Query, subject: Subject) -> Statement:
    """Answer what the data lack, what was assumed, or where the trustee differs."""
    statement = Statement(subject)
    {"breaks": _state_breaks, "warnings": _state_warnings}.get(query.fact or "", _state_gaps)(statement)
    return statement


def _state_breaks(statement: Statement) -> None:
    breaks = statement.subject.breaks
    if breaks is None:
        raise Unavailable("there is no comparison with a trustee's tape")
    total = sum(breaks.by_severity.values())
    operation = "open or acknowledged differences of the newest comparison"
    count = statement.figure("differences from the trustee", total, "count", operation)
    is_are = "is" if total == 1 else "are"
    tape = statement.name(breaks.tape)
    statement.add(f"{count} difference{'s' * (total != 1)} from the trustee's tape {tape} {is_are} open.")
    for name, parts in (("severity", breaks.by_severity), ("field", breaks.by_field)):
        texts = []
        for key, value in parts.items():
            if value:
                label, operation = f"differences by {name}", "of the newest comparison"
                text = statement.figure(label, value, "count", operation, of=str(key))
                texts.append(f"{spaced(plain(str(key)))} {text}")
        statement.add(f"By {name}: {', '.join(texts)}." if texts else "")
    for row in breaks.largest[:10]:
        who, theirs, ours = (
            statement.name(text)
            for text in (row.borrower_name or row.identifier, row.trustee_value, row.internal_value)
        )
        statement.add(f"{who}: {spaced(plain(row.field_name))}, trustee {theirs}, ours {ours}.")


def _state_warnings(statement: Statement) -> None:
    warnings = statement.subject.results.warnings
    count = statement.figure("warnings", len(warnings), "count", "warnings of the run")
    nouns = f"{count} warning{'s' * (len(warnings) != 1)}"
    statement.add(f"{nouns} of the run{':' if warnings else '.'}")
    for warning in warnings:
        text = warning.message
        statement.add(f"{statement.name(text[:79]) if len(text) < 79 else plain(text, 400)}.")


def _state_gaps(statement: Statement) -> None:
    book = LoanSet(statement.subject)
    has_gap = False
    for name in _LOOKED_FOR:
        rows = np.flatnonzero(book.has_par & book.meets(Condition(field=name, op="blank")))
        if not len(rows):
            continue
        has_gap, word = True, FIELD_WORDS[name]
        basis = Basis(f"number of loans with a blank {name}", book, rows)
        count = statement.figure(f"loans without {word}", len(rows), "count", basis, of=word)
        total, basis = float(book.par[rows].sum()), Basis(SUM_OF_PAR, book, rows)
        par = statement.figure(f"par without {word}", total, "amount", basis, of=word)
        statement.add(f"{loans_of(count, len(rows))} of {par} par without {word}.")
    if not has_gap:
        statement.add(
            "No loan lacks a price, rating, spread, rate, maturity, "
            "industry, country, lien, recovery rate, size, quotes or CUSIP."
        )
    skipped = statement.subject.results.skipped
    if skipped:
        statement.figure("skipped tests", len(skipped), "count", "skipped tests of the run")
        names = listed([plain(result.test_name) for result in skipped[:ROWS_SHOWN]])
        statement.add(f"{counted(len(skipped), 'test')} could not be run: {names}.")
    statement.warn(*book.remarks)
