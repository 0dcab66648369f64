"""Two months beside each other.

Quantities of loans, and the loans that came, went or moved.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import numpy as np

from core.insights.subject import Subject
from core.questions.answer import ROWS_SHOWN
from core.questions.answers.book import RATING_COLUMNS, LoanSet, Unavailable
from core.questions.answers.quantities import (
    NAMED,
    SUMS,
    TEXTS,
    add_cell,
    add_ratings,
    compare,
    flat,
    how_of,
    operation_of,
    unit_of,
    words_of,
)
from core.questions.answers.statement import (
    AS_FILED,
    LESS_EARLIER,
    SUM_OF_PAR,
    Basis,
    Rows,
    Statement,
    loans_of,
    previous_of,
    unit_apart,
    yes_no,
)
from core.questions.query import Query
from core.questions.vocabulary import QUANTITIES, RATING_AGENCIES
from core.questions.wording import FIELD_WORDS, MOVES, NOUNS, conditions_words, shown
from core.reconciliation import reconcile
from core.words import capitalize, plural

LEAST: Final = 1e-9
"""What counts as a move."""


# ---- quantities ----


def state_change(query: Query, statement: Statement, book: LoanSet) -> None:
    """State quantities of a set of loans, or of groups, in two months."""
    before = LoanSet(statement.subject, previous_of(statement.subject).portfolio)
    if query.group not in (None, "loan"):
        (_count_changes if query.is_count else _group_changes)(query, statement, before, book)
        return
    names = list(query.quantities) or (["count"] if query.is_count else ["par", "share"])
    if query.is_count and "count" not in names:
        names = ["count", *names]
    if names in (["par"], ["share"]):
        names = [*names, "share" if names == ["par"] else "par"]
    if any(leaf.field not in NAMED | {"industry", "country"} for leaf in flat(query.where)):
        statement.warn("the loans that are so in each of the two months are compared, which need not be the same ones")
    for name in names:
        if name in TEXTS:
            _text_changes(query, statement, before, book, name)
        else:
            _quantity_changes(query, statement, (before, book), name, is_first=name == names[0])
    statement.warn(*before.remarks)


def _quantity_changes(
    query: Query, statement: Statement, books: tuple[LoanSet, LoanSet], name: str, *, is_first: bool
) -> None:
    where = conditions_words(query.where)
    whose = f"the loans {where}" if where else "the portfolio"
    how = how_of(name, query.aggregate)
    rows = [np.flatnonzero(book.select(query.where)) for book in books]
    values = [book.measure(name, own, how) for book, own in zip(books, rows, strict=True)]
    then, now = ((0.0 if value is None else value) if name in SUMS else value for value in values)
    word, unit = words_of(name, how), unit_of(name)
    if then is None or now is None:
        raise Unavailable(f"one of the months has no {word} of {whose}")
    if query.is_yes_no and query.direction in ("up", "down") and is_first:
        statement.add(yes_no(now > then if query.direction == "up" else now < then))
    statement.add(
        f"{capitalize(word)} of {whose} moved by {_state_move(statement, books, rows, (name, how, then, now))}."
    )
    if name != "par":
        return
    all_par = [float(book.par[own].sum()) for book, own in zip(books, rows, strict=True)]
    if any(book.defaulted[own].any() for book, own in zip(books, rows, strict=True)):
        label = "change of par with defaulted loans"
        operation = f"{SUM_OF_PAR} of the newer month less the earlier"
        statement.figure(label, all_par[1] - all_par[0], unit, operation, sign=True)


def _state_move(
    statement: Statement,
    books: tuple[LoanSet, LoanSet],
    rows: list[Rows],
    what: tuple[str, str | None, float, float],
    of: str | None = None,
) -> str:
    """Add a quantity of both months and its change, and return them as one text."""
    name, how, then, now = what
    before, book = books
    word, unit = words_of(name, how), unit_of(name)
    operation = operation_of(name, how)
    basis = Basis(LESS_EARLIER, book, rows[1])
    change = statement.figure(f"change of {word}", now - then, unit_apart(unit), basis, of=of, sign=True)
    last = statement.figure(word, now, unit, Basis(operation, book, rows[1]), of=of)
    basis = Basis(f"{operation}, of the earlier file", before, rows[0])
    first = statement.figure(f"{word} in the month before", then, unit, basis, of=of)
    return f"{change}: from {first} to {last}"


def _text_changes(query: Query, statement: Statement, before: LoanSet, book: LoanSet, name: str) -> None:
    for side, when in ((before, "in the month before"), (book, "now")):
        for row in np.flatnonzero(side.select(query.where))[:ROWS_SHOWN].tolist():
            if name == "rating":
                texts = add_ratings(statement, side, row)
            else:
                texts = [f"{QUANTITIES[name].name} {add_cell(statement, side, row, name)}"]
            statement.add(f"{statement.name(side.name_of(row))} {when}: {', '.join(texts)}.")


def _count_changes(query: Query, statement: Statement, before: LoanSet, book: LoanSet) -> None:
    """State how many groups there are in two months."""
    by = query.group or "obligor"
    noun = plural(NOUNS[by])
    then, now = (len(side.groups(by, side.select(query.where))) for side in (before, book))
    change = statement.figure(f"change of number of {noun}", now - then, "count", LESS_EARLIER, sign=True)
    operation = f"number of distinct {noun}"
    first = statement.figure(f"number of {noun} in the month before", then, "count", Basis(operation, before))
    last = statement.figure(f"number of {noun}", now, "count", Basis(operation, book))
    statement.add(f"The number of {noun} moved by {change}, from {first} to {last}.")


def _group_changes(query: Query, statement: Statement, before: LoanSet, book: LoanSet) -> None:
    by = query.group or "obligor"
    name = query.quantities[0] if query.quantities else "share"
    how = how_of(name, query.aggregate)
    sides: list[dict[str, tuple[Rows, float | None]]] = []
    for side in (before, book):
        groups = side.groups(by, side.select(query.where))
        sides.append({group.label: (group.rows, side.measure(name, group.rows, how)) for group in groups})
    nothing = (np.zeros(0, np.intp), 0.0 if name in SUMS else None)
    moves = []
    for label in dict.fromkeys((*sides[1], *sides[0])):
        (then_rows, then), (now_rows, now) = (side.get(label, nothing) for side in sides)
        if now is not None and then is not None and abs(now - then) > LEAST:
            moves.append((now - then, label, [then_rows, now_rows], then, now))
    if query.direction in ("up", "down"):
        moves = [move for move in moves if (move[0] > 0) == (query.direction == "up")]
    signs = {"up": -1.0, "down": 1.0}
    sign = signs.get(query.direction or "", {"most": -1.0, "least": 1.0}.get(query.order or "", 0.0))
    moves.sort(key=lambda move: sign * move[0] if sign else -abs(move[0]))
    end = query.place or query.limit or ROWS_SHOWN
    if query.order is not None and end < len(moves) and abs(moves[end - 1][0] - moves[end][0]) < LEAST:
        statement.warn(f"more {plural(NOUNS[by])} than are shown share the last place")
    top = moves[end - 1 : end] if query.place else moves[:end]
    if not top:
        statement.add(f"No {NOUNS[by]} has moved so.")
    for _, label, rows, then, now in top:
        text = _state_move(statement, (before, book), rows, (name, how, then, now), label)
        statement.add(f"{statement.name(label)}: {text}.")


# ---- loans ----

_MOVED: Final = {
    "price": "price", "spread": "spread", "par": "par", "coupon": "coupon", "repriced": "spread", "paid_down": "par",
}  # fmt: skip
"""The field whose change a move is."""


class _Pairs:
    """The loans of two months, and which of them are the same."""

    def __init__(self, subject: Subject) -> None:
        self.book = LoanSet(subject)
        self.before = LoanSet(subject, previous_of(subject).portfolio)
        theirs, ours = reconcile(self.before.portfolio, self.book.portfolio, ("missing_loan",)).pairs
        both = self.before.has_par[theirs] & self.book.has_par[ours]
        self.earlier, self.later = theirs[both].astype(np.intp), ours[both].astype(np.intp)

    def select(self, mask: Any) -> None:
        self.earlier, self.later = self.earlier[mask], self.later[mask]


def answer_moves(query: Query, subject: Subject) -> Statement:
    """Answer which loans came, went or moved since the month before.

    Raises:
        Unavailable: there is no month before, or a column is missing.
    """
    statement = Statement(subject)
    pairs = _Pairs(subject)
    book, before = pairs.book, pairs.before
    if query.move in ("added", "removed"):
        side, known = (book, pairs.later) if query.move == "added" else (before, pairs.earlier)
        mask = side.select(query.where)
        mask[known] = False
        _list_moves(query, statement, side, np.flatnonzero(mask))
        return statement
    mask = book.select(query.where)[pairs.later]
    if query.move == "entered":
        _list_moves(query, statement, book, pairs.later[mask & ~before.select(query.where)[pairs.earlier]])
        return statement
    pairs.select(mask)
    if query.move == "newly_defaulted":
        defaulted = book.defaulted[pairs.later] & ~before.defaulted[pairs.earlier]
        _list_moves(query, statement, book, pairs.later[defaulted])
    elif query.move in ("downgraded", "upgraded", "rerated"):
        _state_rerated(query, statement, pairs)
    else:
        _state_field(query, statement, pairs)
    return statement


def count_moves(subject: Subject) -> dict[str, int]:
    """Return how many loans came, went, were downgraded."""
    counts = {}
    for move in ("added", "removed", "downgraded", "upgraded", "newly_defaulted"):
        try:
            statement = answer_moves(Query(kind="moves", move=move), subject)
        except Unavailable:
            continue
        counts[move] = int(next(figure.value for figure in statement.figures if figure.name == "number of loans"))  # type: ignore[arg-type]
    return counts


def _count_of(query: Query, statement: Statement, book: LoanSet, rows: Rows) -> None:
    words = MOVES[query.move or "added"]
    count = statement.figure("number of loans", len(rows), "count", Basis(f"number of loans {words}", book, rows))
    total = float(book.par[rows].sum())
    par = statement.figure("par", total, "amount", Basis(SUM_OF_PAR, book, rows))
    if query.is_yes_no:
        statement.add(yes_no(len(rows) > 0))
    statement.add(f"{loans_of(count, len(rows))} {words}, {par} par{':' if len(rows) else '.'}")
    if "share" in query.quantities:
        basis = Basis(operation_of("share"), book, rows)
        share = statement.figure("share", total / book.denominator * 100, "percent", basis)
        statement.add(f"That is {share} of the collateral principal amount.")


def _list_moves(
    query: Query, statement: Statement, book: LoanSet, rows: Rows, texts: dict[int, list[str]] | None = None
) -> None:
    """State loans by their par, with what is known of the move of each."""
    sign = 1.0 if query.order == "least" else -1.0
    rows = rows[np.argsort(sign * book.par[rows], kind="stable")][: query.limit if query.order else None]
    _count_of(query, statement, book, rows)
    for row in rows[:ROWS_SHOWN].tolist():
        basis = Basis(AS_FILED, book, np.array([row]), identifier=book.identifier_of(row))
        par = statement.figure("par", float(book.par[row]), "amount", basis, of=book.name_of(row))
        words = [f"par {par}"] if texts is None else texts[row]
        statement.add(f"{statement.loan(book, row)}: {', '.join(words)}.")
    statement.add(statement.loans(len(rows)))


def _state_rerated(query: Query, statement: Statement, pairs: _Pairs) -> None:
    """State loans that an agency rates otherwise than the month before."""
    names = [name for name in query.quantities if name in RATING_AGENCIES] or list(RATING_AGENCIES)
    mask = np.zeros(len(pairs.later), np.bool_)
    texts: dict[int, list[str]] = {int(row): [] for row in pairs.later.tolist()}
    seen = False
    for name in names:
        agency = RATING_AGENCIES[name]
        if any(RATING_COLUMNS[agency] not in side.view.ranks for side in (pairs.before, pairs.book)):
            continue
        seen = True
        then = pairs.before.ranks(agency)[pairs.earlier].astype(np.int64)
        now = pairs.book.ranks(agency)[pairs.later].astype(np.int64)
        moves = {"downgraded": now > then, "upgraded": now < then}.get(query.move or "", now != then)
        moves = moves & (then > 0) & (now > 0)
        for having in query.having:
            moves &= compare(np.abs(now - then).astype(np.float64), having)
        mask |= moves
        for place in np.flatnonzero(moves).tolist():
            row = int(pairs.later[place])
            first, last = pairs.before.text_of(name, int(pairs.earlier[place])), pairs.book.text_of(name, row)
            texts[row].append(f"{QUANTITIES[name].name} from {first} to {last}")
    if not seen:
        raise Unavailable("there are no ratings in both months")
    _list_moves(query, statement, pairs.book, pairs.later[mask], texts)


def _moves_so(query: Query, field: str, then: Any, change: Any) -> Any:
    """Return which changes are in the direction, and of the size."""
    direction = "down" if query.move == "paid_down" else query.direction
    with np.errstate(invalid="ignore"):
        mask = np.isfinite(change) & (np.abs(change) > LEAST)
        if direction is not None:
            mask &= change < 0 if direction in ("down", "worse") else change > 0
        for having in query.having:
            in_percent = having.unit == "percent" and field != "coupon"
            mask &= compare(np.abs(change / then * 100) if in_percent else np.abs(change), having)
    return mask


def _state_field(query: Query, statement: Statement, pairs: _Pairs) -> None:
    """State loans whose price, spread, par or rate is another than the month before."""
    field = _MOVED[query.move or "price"]
    then, now = pairs.before.number(field)[pairs.earlier], pairs.book.number(field)[pairs.later]
    change = now - then
    at = np.flatnonzero(_moves_so(query, field, then, change))
    sign = 1.0 if query.order == "least" else -1.0
    at = at[np.argsort(sign * np.abs(change[at]), kind="stable")]
    if query.move == "paid_down" and len(at):
        basis = Basis(LESS_EARLIER, pairs.book, pairs.later[at])
        paid = statement.figure("par paid down", -float(change[at].sum()), "amount", basis)
        statement.add(f"{paid} of par was paid down.")
    if query.order is not None and query.limit and query.limit < len(at):
        if np.isclose(*np.abs(change[at[query.limit - 1 : query.limit + 1]])):
            statement.warn("more loans than are shown share the last place")
        at = at[: query.limit]
    if query.order is None or not len(at):
        _count_of(query, statement, pairs.book, pairs.later[at])
    for place in at[:ROWS_SHOWN].tolist():
        _state_loan_move(statement, pairs, place, (field, float(then[place]), float(now[place])))
    statement.add(statement.loans(len(at)))


def _state_loan_move(statement: Statement, pairs: _Pairs, place: int, what: tuple[str, float, float]) -> None:
    field, then, now = what
    book, row = pairs.book, int(pairs.later[place])
    of, unit, word = book.name_of(row), unit_of(field), FIELD_WORDS[field]
    basis = Basis(LESS_EARLIER, book, np.array([row]), identifier=book.identifier_of(row))
    change = statement.figure(f"change of {word}", now - then, unit_apart(unit), basis, of=of, sign=True)
    earlier = replace(basis, operation="as the earlier file has it", book=None, rows=None)
    statement.figure(f"{word} in the month before", then, unit, earlier, of=of)
    statement.figure(word, now, unit, replace(basis, operation=AS_FILED), of=of)
    first, last = (shown(value, unit, currency=statement.subject.currency) for value in (then, now))
    statement.add(f"{statement.loan(book, row)}: {word} {change}, from {first} to {last}.")
