"""Quantities of loans: of a set of them, of each by itself, ranked or looked up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from msgspec.structs import replace

from core.insights.subject import Subject
from core.insights.words import plain
from core.portfolio.model.ratings import SCALE_B
from core.questions.answer import ROWS_SHOWN
from core.questions.answers import changes, groups
from core.questions.answers.book import LoanSet, Unavailable
from core.questions.answers.quantities import (
    NAMED,
    TEXTS,
    add_cell,
    add_par_and_share,
    add_quantity,
    add_ratings,
    array_of,
    compare,
    flat,
    operation_of,
    tell_defaulted,
    unit_of,
    words_of,
)
from core.questions.answers.statement import COUNT_OF_LOANS, Basis, Rows, Statement, book_of, loans_of, yes_no
from core.questions.query import Condition, Query
from core.questions.tokens import names
from core.questions.vocabulary import QUANTITIES
from core.questions.wording import FIELD_WORDS, condition_words, conditions_words
from core.values import day_of
from core.words import capitalize, counted

_LOOKED_UP: Final = names("par price spread moodys_rating sp_rating fitch_rating maturity lien industry country")
_COLUMNS: Final = frozenset(
    names("price spread maturity coupon floor recovery facility_size days_past_due quote_depth purchase_price")
)
_COLUMN_OF_FLAG: Final = {
    "ccc": "rating", "unrated": "rating", "investment_grade": "rating", "past_due": "days_past_due",
    "distressed": "price",
}  # fmt: skip
"""What a list of loans with a flag shows of each."""


def answer_measure(query: Query, subject: Subject) -> Statement:
    """Answer a question on loans.

    Raises:
        Unavailable: the data do not have it.
    """
    statement = Statement(subject)
    book = book_of(subject, query.period)
    if query.period == "change":
        changes.state_change(query, statement, book)
    elif query.each:
        groups.state_each(query, statement, book)
    elif query.whole:
        groups.state_part(query, statement, book)
    else:
        _state(query, statement, book)
    statement.warn(*book.remarks)
    return statement


def _state(query: Query, statement: Statement, book: LoanSet) -> None:
    rows = np.flatnonzero(book.select(query.where))
    is_lookup = any(leaf.field in NAMED and leaf.op == "in" for leaf in flat(query.where))
    if query.group is None and is_lookup and not query.is_count:
        _look_up(query, statement, book, rows)
    elif query.group is None:
        _state_values(query, statement, book, rows)
    elif query.group == "loan":
        _state_loans(query, statement, book, rows)
    else:
        groups.state_groups(query, statement, book, rows)
    for leaf in flat(query.where):
        _tell_alike(leaf, statement)


def _tell_alike(leaf: Condition, statement: Statement) -> None:
    """State what an ambiguous word was taken for."""
    words = plain(leaf.words)
    if leaf.also:
        statement.warn(f"{words!r} is read as the {leaf.field}; the {leaf.also} has the name, too")
    if leaf.field == "rating" and leaf.low != leaf.high and leaf.words.upper() in SCALE_B:
        statement.warn(f"{words!r} is read as {condition_words(leaf)}")
    if leaf.op in ("in", "not in") and len(leaf.values) > 1:
        names = statement.listed_names(leaf.values)
        statement.warn(f"{words!r} can be {len(leaf.values)} names, which were taken together: {names}")


# ---- a set ----


def _state_values(query: Query, statement: Statement, book: LoanSet, rows: Rows, whose: str = "") -> None:
    """State quantities of one set of loans."""
    where = conditions_words(query.where)
    names = list(query.quantities)
    if query.having:
        verdicts = [
            compare(array_of([book.measure(having.quantity, rows, query.aggregate)]), having).all()
            for having in query.having
        ]
        statement.add(yes_no(all(verdicts)))
        names += [having.quantity for having in query.having if having.quantity not in names]
    elif query.is_yes_no and not set(names) - {"par", "share"}:
        statement.add(yes_no(len(rows) > 0))
    if query.is_count or not len(rows):
        count = statement.figure("number of loans", len(rows), "count", Basis(COUNT_OF_LOANS, book, rows))
        statement.add(f"{loans_of(count, len(rows))} {where or 'in the portfolio'}.")
    if not len(rows):
        for name in names or ["par", "share"]:
            if name in ("par", "share", "market_value"):
                basis = Basis(operation_of(name), book, rows)
                statement.figure(words_of(name, query.aggregate), 0.0, unit_of(name), basis)
        return
    names = _with_par(query, names, where)
    whose = whose or (f"the loans {where}" if where else "the portfolio")
    for name in names:
        _state_value(query, statement, book, rows, (name, whose))
    tell_defaulted(statement, book, rows, names)


def _with_par(query: Query, names: list[str], where: str) -> list[str]:
    """Return what is stated of a set."""
    if (query.is_count and where) or not (names or query.is_count):
        return [*names, *(name for name in ("par", "share") if name not in names)]
    if names == ["par"] and where and query.aggregate in (None, "total"):
        return ["par", "share"]
    return ["share", "par"] if names == ["share"] else names


def _state_value(query: Query, statement: Statement, book: LoanSet, rows: Rows, what: tuple[str, str]) -> None:
    name, whose = what
    how = query.aggregate if name != "share" or query.aggregate != "average" else None
    if name in TEXTS:
        raise Unavailable(f"the {QUANTITIES[name].name} is of single loans: name one, or ask for a list")
    if name == "maturity":
        _state_maturities(statement, book, rows, whose)
        return
    value, text = add_quantity(statement, book, name, rows, how)
    if value is None:
        raise Unavailable(f"no loan of {whose} has a {FIELD_WORDS.get(name, name)}")
    of = " of the collateral principal amount" if name == "share" else ""
    statement.add(f"{capitalize(words_of(name, how))} of {whose}: {text}{of}.")
    if name == "share" and book.pool.par > 0 and abs(book.pool.par - book.denominator) > 0.005:
        share = (book.measure("par", rows) or 0.0) / book.pool.par * 100
        operation = "sum of par_value of performing loans / sum of par_value of all performing loans x 100"
        text = statement.figure("share of performing par", share, "percent", Basis(operation, book, rows))
        statement.add(f"Of performing par alone: {text}.")
    if name == "spread" and how in (None, "average"):
        _state_spread_of_test(statement, book, rows)


def _state_spread_of_test(statement: Statement, book: LoanSet, rows: Rows) -> None:
    """State the average spread as its test counts it, where it can."""
    try:
        value, text = book.measure("was", rows), ""
    except Unavailable:
        return
    if value is not None:
        basis = Basis(operation_of("was"), book, rows, "was")
        text = statement.figure("weighted average spread", value, "percent", basis)
        statement.add(
            f"As the weighted average spread test counts it (floating loans, with the credit of floors): {text}."
        )


def _state_maturities(statement: Statement, book: LoanSet, rows: Rows, whose: str) -> None:
    maturity = book.number("maturity")
    known = rows[np.isfinite(maturity[rows])]
    if not len(known):
        raise Unavailable(f"no loan of {whose} has a maturity")
    first, last = (
        statement.figure(
            f"{word} maturity",
            day_of(float(end(maturity[known]))),
            "date",
            Basis(f"{least} maturity_date", book, known),
        )
        for word, least, end in (("earliest", "least", np.min), ("latest", "greatest", np.max))
    )
    statement.add(f"Maturities of {whose} go from {first} to {last}.")
    basis = Basis(operation_of("wal"), book, known, "wal")
    text = statement.figure("weighted average life", book.measure("wal", rows), "years", basis)
    statement.add(f"Their weighted average life is {text}.")


# ---- each loan ----


def _look_up(query: Query, statement: Statement, book: LoanSet, rows: Rows) -> None:
    """State what the file says of named loans."""
    if not len(rows):
        answer = f"No loan {conditions_words(query.where)} is held."
        statement.add(f"No. {answer}" if query.is_yes_no else answer)
        for name in ("count", "par"):
            basis = Basis(operation_of(name), book, rows)
            statement.figure("par" if name == "par" else "number of loans", 0, unit_of(name), basis)
        return
    names = list(query.quantities)
    if query.is_yes_no and not query.having:
        statement.add("Yes.")
        query = replace(query, is_yes_no=False)
    sums = {"par", "share", "market_value", "count", "warf", "diversity"}
    if query.aggregate is not None or (names and not set(names) - sums):
        _state_values(query, statement, book, rows)
        if len(rows) > 1:
            _list_loans(statement, book, rows, ["par"])
        return
    if not names:
        _state_values(query, statement, book, rows)
    elif len(rows) > 1 and any(QUANTITIES[name].is_average for name in names):
        numbers = tuple(name for name in names if name not in TEXTS)
        _state_values(replace(query, quantities=numbers), statement, book, rows)
    _list_loans(statement, book, rows, names or _LOOKED_UP, optional=not names)


def _has(book: LoanSet, name: str) -> bool:
    """Return whether the file has a column."""
    try:
        if name in TEXTS - {"rating"}:
            book.text_of(name, 0)
        elif name != "rating":
            book.number(name)
    except Unavailable:
        return False
    return True


def _list_loans(
    statement: Statement, book: LoanSet, rows: Rows, names: Sequence[str], *, optional: bool = False
) -> None:
    """State a line for each loan, with some of its columns."""
    columns = [name for name in names if not optional or _has(book, name)]
    for row in rows[:ROWS_SHOWN].tolist():
        label = statement.loan(book, row)
        cells: list[str] = []
        for name in columns:
            if name == "rating":
                cells += add_ratings(statement, book, row)
            else:
                word = FIELD_WORDS.get(name) or QUANTITIES[name].name
                cells.append(f"{word} {add_cell(statement, book, row, name)}")
        statement.add(f"{label}: {', '.join(cells)}{', defaulted' if book.defaulted[row] else ''}.")
    statement.add(statement.loans(len(rows)))


def _state_loans(query: Query, statement: Statement, book: LoanSet, rows: Rows) -> None:
    """State a list, a ranking or a number of loans."""
    for having in query.having:
        if having.quantity == "count":
            raise Unavailable("a loan has no number of loans")
        rows = rows[compare(book.number(having.quantity)[rows], having)]
    names = [name for name in query.quantities if name != "count"]
    if query.order is not None:
        _state_ranking(query, statement, book, rows, names)
        return
    if query.is_count or (query.is_yes_no and not names):
        _state_values(replace(query, quantities=tuple(names), group=None, having=()), statement, book, rows)
        if query.is_yes_no and 0 < len(rows) <= ROWS_SHOWN:
            _list_loans(statement, book, rows, ["par"])
        return
    where = conditions_words(query.where)
    count = statement.figure("number of loans", len(rows), "count", Basis(COUNT_OF_LOANS, book, rows))
    par, share = add_par_and_share(statement, book, rows)
    which = loans_of(count, len(rows)) + (f" {where}" if where else "")
    statement.add(f"{which}, {par} par, {share} of the collateral principal amount{':' if len(rows) else '.'}")
    order = rows[np.argsort(-book.par[rows], kind="stable")]
    columns = dict.fromkeys(["par", *names, *_columns_of(query.where)])
    _list_loans(statement, book, order, list(columns), optional=True)


def _columns_of(where: Sequence[Condition]) -> list[str]:
    """The columns that a list shows because it is by them."""
    names = []
    for leaf in flat(where):
        if leaf.field in _COLUMNS or leaf.field == "rating":
            names.append(leaf.field)
        if leaf.than in _COLUMNS:
            names.append(leaf.than)
        if leaf.field == "flag" and leaf.values[0] in _COLUMN_OF_FLAG:
            names.append(_COLUMN_OF_FLAG[leaf.values[0]])
    return names


def _state_ranking(query: Query, statement: Statement, book: LoanSet, rows: Rows, names: list[str]) -> None:
    """State the loans with the most or the least of something."""
    where = conditions_words(query.where)
    by = query.order_by or "par"
    values = book.number(by)
    rows = rows[np.isfinite(values[rows])]
    if not len(rows):
        raise Unavailable(f"no loan{f' {where}' if where else ''} has a {FIELD_WORDS.get(by, by)}")
    order = rows[np.argsort((-1.0 if query.order == "most" else 1.0) * values[rows], kind="stable")]
    first = query.place - 1 if query.place else 0
    top = order[first : query.place or query.limit or len(order)]
    if not len(top):
        raise Unavailable(f"there {'is' if len(order) == 1 else 'are'} only {counted(len(order), 'such loan')}")
    column = by if by != "rank" else "rating"
    columns = [column, *(name for name in names if name != by)]
    more = [name for name in names if name != by]
    averages = any(QUANTITIES[name].is_average or name in ("share", "diversity") for name in more)
    if len(top) > 1 and (query.aggregate is not None or averages):
        plain_query = replace(query, where=(), quantities=tuple(names) or ("par",), order=None, group=None, having=())
        _state_values(plain_query, statement, book, top, "these loans")
        columns = [column]
    elif len(top) > 1 and by in ("par", "share"):
        par, share = add_par_and_share(statement, book, top, together=True)
        statement.add(f"Together they are {par}, {share} of the collateral principal amount.")
    if by == "par":
        columns = ["par", "share", *columns[1:]]
    ties = np.count_nonzero(values[rows] == values[top[-1]])
    if ties > np.count_nonzero(values[top] == values[top[-1]]):
        statement.warn(f"{ties} loans share the last place: the first of them in the file are listed")
    _list_loans(statement, book, top, list(dict.fromkeys(columns)))
