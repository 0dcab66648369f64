"""Loans that came, went, or have another rating, price, spread or par than the month before."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.insights.subject import Subject
from core.insights.words import plain
from core.questions.answer import ROWS_SHOWN
from core.questions.loans import Book, Unavailable
from core.questions.query import Query
from core.questions.running import change_unit, compared, operation_of, unit_of
from core.questions.saying import Said, facility_words, previous_of, yes_no
from core.questions.vocabulary import QUANTITIES
from core.questions.wording import (
    FIELD_WORDS,
    shown,
)
from core.reconciliation import reconcile

Mask = NDArray[np.bool_]

_MOVED: Final = {
    "price": "price",
    "spread": "spread",
    "par": "par",
    "coupon": "coupon",
    "repriced": "spread",
    "paid_down": "par",
}


def moved(query: Query, subject: Subject) -> Said:
    """Loans that came, went, or have another rating, price, spread or par than the month before.

    Raises:
        Unavailable: there is no month before, or a column is missing.
    """
    said = Said(subject)
    book, before = Book(subject), Book(subject, previous_of(subject).portfolio)
    theirs, ours = reconcile(before.portfolio, book.portfolio, ("missing_loan",)).pairs
    kept = before.held[theirs] & book.held[ours]
    if query.move in ("added", "removed"):
        side, known = (book, ours[kept]) if query.move == "added" else (before, theirs[kept])
        mask = side.chosen(query.where)
        mask[known] = False
        rows = np.flatnonzero(mask)
        order = rows[np.argsort(-side.par[rows], kind="stable")]
        _tell_moved(
            query, said, side, order, {int(row): [f"par {_cell_later(side, int(row), said)}"] for row in order.tolist()}
        )
        return said
    earlier, later = theirs[kept].astype(np.intp), ours[kept].astype(np.intp)
    chosen = book.chosen(query.where)[later]
    if query.move == "entered":
        rows = later[chosen & ~before.chosen(query.where)[earlier]]
        rows = rows[np.argsort(-book.par[rows], kind="stable")]
        _tell_moved(
            query, said, book, rows, {int(row): [f"par {_cell_later(book, int(row), said)}"] for row in rows.tolist()}
        )
        return said
    earlier, later = earlier[chosen], later[chosen]
    if query.move in ("downgraded", "upgraded", "rerated"):
        _rerated(query, said, before, book, earlier, later)
        return said
    if query.move == "newly_defaulted":
        rows = later[book.defaulted[later] & ~before.defaulted[earlier]]
        _tell_moved(
            query, said, book, rows, {int(row): [f"par {_cell_later(book, int(row), said)}"] for row in rows.tolist()}
        )
        return said
    field_name = _MOVED[query.move or "price"]
    then, now = before.number(field_name)[earlier], book.number(field_name)[later]
    change = now - then
    direction = query.direction
    if query.move == "paid_down":
        direction = "down"
    if query.order is not None and direction is None:
        direction = "up" if query.order == "most" else "down"
    with np.errstate(invalid="ignore"):
        is_moved = np.isfinite(change) & (np.abs(change) > 1e-9)
        if direction in ("down", "worse"):
            is_moved &= change < 0
        elif direction in ("up", "better"):
            is_moved &= change > 0
        for having in query.having:
            size = (
                np.abs(change / then * 100) if having.unit == "percent" and field_name != "coupon" else np.abs(change)
            )
            is_moved &= compared(size, having)
    at = np.flatnonzero(is_moved)
    at = at[np.argsort(-np.abs(change[at]), kind="stable")]
    if query.order is not None and query.limit:
        at = at[: query.limit]
    unit = unit_of(field_name)
    told: dict[int, list[str]] = {}
    rows = later[at]

    def tell(place: int) -> list[str]:
        row = int(later[place])
        of, identifier = book.name_of(row), book.identifier_of(row)
        text = said.figure(
            f"change of {FIELD_WORDS[field_name]}",
            float(change[place]),
            change_unit(field_name),
            "the newer month less the earlier",
            of=of,
            identifier=identifier,
            book=book,
            rows=np.array([row]),
            sign=True,
        )
        first = shown(float(then[place]), unit, currency=said.currency)
        last = shown(float(now[place]), unit, currency=said.currency)
        said.figure(
            f"{FIELD_WORDS[field_name]} in the month before",
            float(then[place]),
            unit,
            "as the earlier file has it",
            of=of,
            identifier=identifier,
        )
        said.figure(
            FIELD_WORDS[field_name],
            float(now[place]),
            unit,
            "as the file has it",
            of=of,
            identifier=identifier,
            book=book,
            rows=np.array([row]),
        )
        return [f"{FIELD_WORDS[field_name]} {text}, from {first} to {last}"]

    ranked = query.order is not None
    for place in at[:ROWS_SHOWN].tolist():
        told[int(later[place])] = []
    if not ranked or not len(rows):
        _count_moved(query, said, book, rows)
    for place in at[:ROWS_SHOWN].tolist():
        told[int(later[place])] = tell(place)
    _list_moved(said, book, rows, told)
    return said


def _cell_later(book: Book, row: int, said: Said) -> str:
    return shown(float(book.par[row]), "amount", currency=said.currency)


def _count_moved(query: Query, said: Said, book: Book, rows: NDArray[np.intp]) -> None:
    from core.questions.wording import MOVES

    mask = np.zeros(book.portfolio.row_count, np.bool_)
    mask[rows] = True
    count = said.figure(
        "number of loans", len(rows), "count", f"number of loans {MOVES[query.move or 'added']}", book=book, rows=rows
    )
    par = said.figure("par", float(book.par[rows].sum()), "amount", "sum of par_value", book=book, rows=rows)
    if query.is_yes_no:
        said.sentences.append(yes_no(len(rows) > 0))
    said.sentences.append(
        f"{count} loan{'s' * (len(rows) != 1)} {MOVES[query.move or 'added']}, {par} par{':' if len(rows) else '.'}"
    )
    if query.quantities and "share" in query.quantities:
        share = said.figure(
            "share",
            float(book.par[rows].sum()) / book.denominator * 100,
            "percent",
            operation_of("share", None),
            book=book,
            rows=rows,
        )
        said.sentences.append(f"That is {share} of the collateral principal amount.")


def _tell_moved(query: Query, said: Said, book: Book, rows: NDArray[np.intp], told: dict[int, list[str]]) -> None:
    if query.order is not None:
        order = rows[np.argsort(-book.par[rows] if query.order == "most" else book.par[rows], kind="stable")]
        rows = order[: query.limit] if query.limit else order
    _count_moved(query, said, book, rows)
    for row in rows[:ROWS_SHOWN].tolist():
        said.figure(
            "par",
            float(book.par[row]),
            "amount",
            "as the file has it",
            of=book.name_of(row),
            identifier=book.identifier_of(row),
            book=book,
            rows=np.array([row]),
        )
    _list_moved(said, book, rows, told)


def _list_moved(said: Said, book: Book, rows: NDArray[np.intp], told: dict[int, list[str]]) -> None:
    for row in rows[:ROWS_SHOWN].tolist():
        identifier = book.identifier_of(row)
        if identifier:
            said.names[plain(identifier)] = None
        known = f" ({plain(identifier)})" if identifier else ""
        said.sentences.append(
            f"{said.name(book.name_of(row))}{facility_words(said, book, row)}{known}: {', '.join(told[row])}."
        )
    if len(rows) > ROWS_SHOWN:
        said.sentences.append(f"{len(rows) - ROWS_SHOWN:,} more are not listed.")


def _rerated(
    query: Query, said: Said, before: Book, book: Book, earlier: NDArray[np.intp], later: NDArray[np.intp]
) -> None:
    """Loans that an agency rates otherwise than the month before."""
    named = {"moodys_rating": "a", "sp_rating": "b", "fitch_rating": "c"}
    agencies = [named[one] for one in query.quantities if one in named] or ["a", "b", "c"]
    found = np.zeros(len(later), np.bool_)
    told: dict[int, list[str]] = {int(row): [] for row in later.tolist()}
    seen = False
    for agency in agencies:
        column = {"a": "rating_agency_a", "b": "rating_agency_b", "c": "rating_agency_c"}[agency]
        if column not in book.view.ranks or column not in before.view.ranks:
            continue
        seen = True
        then, now = (side.ranks(agency)[rows].astype(np.int64) for side, rows in ((before, earlier), (book, later)))
        both = (then > 0) & (now > 0)
        moves = {"downgraded": now > then, "upgraded": now < then, "rerated": now != then}[
            query.move or "rerated"
        ] & both
        found |= moves
        name = {value: key for key, value in named.items()}[agency]
        for place in np.flatnonzero(moves).tolist():
            row = int(later[place])
            first, last = before.text_of(name, int(earlier[place])), book.text_of(name, row)
            told[row].append(f"{QUANTITIES[name].name} from {first} to {last}")
    if not seen:
        raise Unavailable("there are no ratings in both months")
    rows = later[found]
    rows = rows[np.argsort(-book.par[rows], kind="stable")]
    _tell_moved(query, said, book, rows, told)
