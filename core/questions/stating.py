"""What the file states of the deal and its notes, what it lacks, and where the trustee differs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from core.insights.subject import Subject
from core.insights.words import listed, plain
from core.labels import spaced
from core.questions.answer import ROWS_SHOWN, Unit
from core.questions.loans import Book, Unavailable
from core.questions.query import Condition, Query
from core.questions.saying import Said, book_of, capital, previous_of
from core.questions.vocabulary import QUANTITIES
from core.questions.wording import (
    FIELD_WORDS,
)
from core.values import day_of
from core.words import counted


def fact(query: Query, subject: Subject) -> Said:
    """A figure or a day of the deal.

    Raises:
        Unavailable: the file does not say.
    """
    said = Said(subject)
    asked = query.fact or ""
    value, unit, operation = _fact(
        asked,
        book_of(subject, query.period) if asked in _OF_BOOK else None,
        subject if query.period != "previous" else previous_of(subject),
    )
    word = _FACT_WORDS.get(asked, asked.replace("_", " "))
    text = said.figure(word, value, unit, operation)
    when = " in the month before" if query.period == "previous" else ""
    said.sentences.append(f"{capital(word)}{when}: {text}.")
    if query.period == "change":
        then, _, _ = _fact(
            asked, Book(subject, previous_of(subject).portfolio) if asked in _OF_BOOK else None, previous_of(subject)
        )
        first = said.figure(f"{word} in the month before", then, unit, operation + ", of the earlier file")
        if isinstance(value, float) and isinstance(then, float):
            change = said.figure(
                f"change of {word}",
                value - then,
                "points" if unit == "percent" else unit,
                "the newer month less the earlier",
                sign=True,
            )
            said.sentences.append(f"It moved by {change}, from {first}.")
        else:
            said.sentences.append(f"In the month before: {first}.")
    if asked == "as_of" and subject.portfolio.deal.as_of_source in ("upload", "modified"):
        said.warnings["the file does not say its day: that of the file stands in"] = None
    return said


_OF_BOOK: Final = frozenset(
    ("collateral_principal_amount", "adjusted_collateral_principal_amount", "ccc_excess", "defaulted_carried")
)
_FACT_WORDS: Final = {
    "as_of": "as-of date",
    "reinvestment_end": "end of the reinvestment period",
    "stated_maturity": "stated maturity of the deal",
    "next_payment": "next payment date",
    "deal_currency": "currency of the deal",
    "ccc_excess": "CCC excess",
    "liabilities": "rated notes outstanding",
    "defaulted_carried": "carrying value of defaulted loans",
}


def _fact(asked: str, book: Book | None, subject: Subject) -> tuple[Any, Unit, str]:
    deal, tranches = subject.measured.deal, subject.measured.tranches
    if asked == "deal_currency":
        if subject.currency is None:
            raise Unavailable("the file does not say its currency")
        return subject.currency, "text", "as the file has it"
    if book is not None:
        adjusted = book.pool.adjustments
        operation = {
            "collateral_principal_amount": "performing par and principal cash",
            "adjusted_collateral_principal_amount": "numerator of the overcollateralisation tests",
            "ccc_excess": "par of the CCC bucket above its limit in the overcollateralisation tests",
            "defaulted_carried": "what defaulted loans are carried at",
        }[asked]
        return adjusted["adjusted" if asked == "adjusted_collateral_principal_amount" else asked], "amount", operation
    if asked == "liabilities":
        if tranches is None:
            raise Unavailable("the file has no notes")
        return (
            float(np.nansum(tranches.current_balance[~tranches.is_income])),
            "amount",
            "sum of current_balance of the notes that are no income notes",
        )
    value: float | None = getattr(deal, asked)
    word = _FACT_WORDS.get(asked, asked.replace("_", " "))
    if value is None:
        raise Unavailable(f"the file does not give the {word}")
    of_file = getattr(subject.portfolio.deal, asked)
    source = "as the file has it" if value == of_file else "as the definition states it"
    if asked in ("as_of", "reinvestment_end", "closing_date", "stated_maturity", "next_payment"):
        return day_of(value), "date", source
    return float(value), "percent" if asked == "base_rate" else "amount", source


def notes(query: Query, subject: Subject) -> Said:
    """Balance, coupon and spread of classes of notes.

    Raises:
        Unavailable: the file does not have them.
    """
    said = Said(subject)
    tranches = subject.measured.tranches
    if tranches is None:
        raise Unavailable("the file has no notes")
    at = class_rows(subject, query.classes)
    if query.is_count:
        count = said.figure("number of classes", len(at), "count", "rows of the notes")
        said.sentences.append(f"{count} {'class' if len(at) == 1 else 'classes'} of notes.")
    total = float(np.nansum(tranches.current_balance))
    for row in at:
        name = said.name(tranches.classes[row])
        told = []
        for quantity in query.quantities:
            if quantity in ("par", "share"):
                balance = said.figure(
                    "balance",
                    _known(tranches.current_balance[row]),
                    "amount",
                    "current_balance",
                    of=tranches.classes[row],
                )
                told.append(f"balance {balance}")
                if quantity == "share" and total > 0:
                    told.append(
                        said.figure(
                            "share of the notes",
                            float(tranches.current_balance[row]) / total * 100,
                            "percent",
                            "current_balance / that of all classes x 100",
                            of=tranches.classes[row],
                        )
                    )
            elif quantity == "coupon":
                text = said.figure(
                    "coupon", _known(tranches.coupon[row]), "percent", "coupon", of=tranches.classes[row]
                )
                told.append(f"coupon {text}")
            elif quantity == "spread":
                text = said.figure("spread", _known(tranches.spread[row]), "bps", "spread", of=tranches.classes[row])
                told.append(f"spread {text}")
            else:
                raise Unavailable(f"the file does not give the {QUANTITIES[quantity].name} of notes")
        said.sentences.append(f"{name}: {', '.join(told)}.")
    if len(at) > 1 and "par" in query.quantities:
        together = said.figure(
            "balance together", float(np.nansum(tranches.current_balance[at])), "amount", "sum of current_balance"
        )
        said.sentences.append(f"Together {together}.")
    return said


def _known(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def class_rows(subject: Subject, classes: Sequence[str]) -> list[int]:
    """The rows of classes of notes.

    Raises:
        Unavailable: there is no such class.
    """
    tranches = subject.portfolio.tranches
    if tranches is None:
        raise Unavailable("the file has no notes")
    from core.portfolio.model.classes import class_key, covers

    if tuple(classes) == ("*",):
        return list(range(len(tranches.classes)))
    found: list[int] = []
    for one in classes:
        if one == "SUB":
            rows = [row for row, is_income in enumerate(tranches.is_income.tolist()) if is_income]
        else:
            key = class_key(one)
            rows = [
                row
                for row, name in enumerate(tranches.classes)
                if not tranches.is_income[row] and covers(key, class_key(name))
            ]
        if not rows:
            raise Unavailable(
                f"there is no class {plain(one)} among the notes: {listed([plain(name) for name in tranches.classes])}"
            )
        found += rows
    return sorted(dict.fromkeys(found))


_LOOKED_FOR: Final = (
    "price",
    "rating",
    "spread",
    "coupon",
    "maturity",
    "industry",
    "country",
    "lien",
    "recovery",
    "facility_size",
    "quote_depth",
    "cusip",
)


def data(query: Query, subject: Subject) -> Said:
    """What the data lack, what was assumed, and where the trustee differs."""
    said = Said(subject)
    if query.fact == "breaks":
        breaks = subject.breaks
        if breaks is None:
            raise Unavailable("there is no comparison with a trustee's tape")
        total = sum(breaks.by_severity.values())
        count = said.figure(
            "differences from the trustee", total, "count", "open or acknowledged differences of the newest comparison"
        )
        said.sentences.append(
            f"{count} difference{'s' * (total != 1)} from the trustee's "
            f"tape {said.name(breaks.tape)} still stand{'s' * (total == 1)}."
        )
        for name, parts in (("severity", breaks.by_severity), ("field", breaks.by_field)):
            told = [
                (
                    f"{spaced(plain(str(key)))} "
                    f"{said.figure(f'differences by {name}', value, 'count', 'of the newest comparison', of=str(key))}"
                )
                for key, value in parts.items()
                if value
            ]
            if told:
                said.sentences.append(f"By {name}: {', '.join(told)}.")
        for one in breaks.largest[:10]:
            said.sentences.append(
                f"{said.name(one.borrower_name or one.identifier)}: {spaced(plain(one.field_name))}, "
                f"trustee {said.name(one.trustee_value)}, ours {said.name(one.internal_value)}."
            )
        return said
    book = Book(subject)
    if query.fact == "warnings":
        warnings = subject.results.warnings
        count = said.figure("warnings", len(warnings), "count", "warnings of the run")
        said.sentences.append(
            f"{count} warning{'s' * (len(warnings) != 1)} "
            f"stand{'s' * (len(warnings) == 1)} above the figures{':' if warnings else '.'}"
        )
        said.sentences += [
            f"{said.name(one.message[:79])}." if len(one.message) < 79 else f"{plain(one.message, 400)}."
            for one in warnings
        ]
        return said
    gaps = 0
    for name in _LOOKED_FOR:
        mask = book.held & book.meets(Condition(field=name, op="blank"))
        if mask.any():
            gaps += 1
            rows = np.flatnonzero(mask)
            count = said.figure(
                f"loans without {FIELD_WORDS[name]}",
                len(rows),
                "count",
                f"number of loans with a blank {name}",
                of=FIELD_WORDS[name],
                book=book,
                rows=rows,
            )
            par = said.figure(
                f"par without {FIELD_WORDS[name]}",
                float(book.par[mask].sum()),
                "amount",
                "sum of par_value",
                of=FIELD_WORDS[name],
                book=book,
                rows=rows,
            )
            said.sentences.append(f"{count} loan{'s' * (len(rows) != 1)} of {par} par without {FIELD_WORDS[name]}.")
    if not gaps:
        said.sentences.append(
            "No loan lacks a price, rating, spread, rate, maturity, "
            "industry, country, lien, recovery rate, size, quotes or CUSIP."
        )
    skipped = subject.results.skipped
    if skipped:
        said.figure("skipped tests", len(skipped), "count", "skipped tests of the run")
        said.sentences.append(
            f"{counted(len(skipped), 'test')} could not be run: "
            f"{listed([plain(one.test_name) for one in skipped[:ROWS_SHOWN]])}."
        )
    said.warnings.update(book.remarks)
    return said
