"""A query over one portfolio to its figures and sentences; those on tests are in `judging` and `supposing`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from msgspec.structs import replace as changed
from numpy.typing import NDArray

from core.insights.subject import Subject
from core.insights.words import listed, plain
from core.portfolio.model.ratings import SCALE_B
from core.questions.answer import ROWS_SHOWN
from core.questions.comparing import change, each, part
from core.questions.grouping import groups
from core.questions.loans import Book, Unavailable
from core.questions.measuring import (
    NAMED,
    RATINGS,
    TEXTS,
    Mask,
    cell,
    compared,
    flat,
    operation_of,
    par_and_share,
    quantity_words,
    ratings_of,
    tell_defaulted,
    unit_of,
)
from core.questions.query import Condition, Query
from core.questions.saying import Said, book_of, capital, facility_words, yes_no
from core.questions.vocabulary import QUANTITIES
from core.questions.wording import (
    FIELD_WORDS,
    condition_words,
    conditions_words,
)
from core.values import day_of
from core.words import counted


def measured(query: Query, subject: Subject) -> Said:
    """What is measured of loans.

    Raises:
        Unavailable: the data do not have it.
    """
    said = Said(subject)
    book = book_of(subject, query.period)
    if query.period == "change":
        change(query, said, book)
    elif query.each:
        each(query, said, book)
    elif query.whole:
        part(query, said, book)
    else:
        mask = book.chosen(query.where)
        if query.group is None and _is_lookup(query) and not query.is_count:
            _look_up(query, said, book, mask)
        elif query.group is None:
            _values(query, said, book, mask)
        elif query.group == "loan":
            _loans(query, said, book, mask)
        else:
            groups(query, said, book, mask)
        _tell_alike(query, said)
    said.warnings.update(book.remarks)
    return said


def _is_lookup(query: Query) -> bool:
    return any(one.field in NAMED and one.op == "in" for one in flat(query.where))


def _tell_alike(query: Query, said: Said) -> None:
    """Name what an ambiguous word was taken for."""
    for one in flat(query.where):
        if one.also:
            said.warnings[f"{plain(one.words)!r} is read as the {one.field}; the {one.also} has the name, too"] = None
        if one.field == "rating" and one.low != one.high and one.words.upper() in SCALE_B:
            said.warnings[f"{one.words!r} is read as {condition_words(one)}"] = None
        if one.op in ("in", "not in") and len(one.values) > 1:
            said.warnings[
                f"{plain(one.words)!r} can be {len(one.values)} names, which were taken together: "
                f"{listed([said.name(value) for value in one.values])}"
            ] = None


def _values(query: Query, said: Said, book: Book, mask: Mask, whose: str = "") -> None:
    """Quantities of one set of loans."""
    rows = np.flatnonzero(mask)
    where = conditions_words(query.where)
    whose = whose or (f"the loans {where}" if where else "the portfolio")
    names = list(query.quantities)
    if query.having:
        found = [book.measure(one.quantity, mask, query.aggregate) for one in query.having]
        values = [np.array([np.nan if value is None else value]) for value in found]
        said.sentences.append(
            yes_no(all(compared(value, one).all() for value, one in zip(values, query.having, strict=True)))
        )
        names = [*names, *(one.quantity for one in query.having if one.quantity not in names)]
    elif query.is_yes_no and not set(names) - {"par", "share"}:
        said.sentences.append(yes_no(len(rows) > 0))
    if query.is_count or not len(rows):
        count = said.figure("number of loans", len(rows), "count", operation_of("count", None), book=book, rows=rows)
        said.sentences.append(f"{count} loan{'s' * (len(rows) != 1)}{f' {where}' if where else ' in the portfolio'}.")
        if not len(rows):
            for name in names or ["par", "share"]:
                if name in ("par", "share", "market_value"):
                    said.figure(
                        quantity_words(name, query.aggregate),
                        0.0,
                        unit_of(name),
                        operation_of(name, None),
                        book=book,
                        rows=rows,
                    )
            return
    if (not names and not query.is_count) or (query.is_count and where):
        names = [*names, *(one for one in ("par", "share") if one not in names)]
    if names == ["par"] and where and query.aggregate in (None, "total"):
        names = ["par", "share"]
    if names == ["share"]:
        names = ["share", "par"]
    for name in names:
        _value(query, said, book, mask, name, whose)
    tell_defaulted(said, book, mask, names)


def _value(query: Query, said: Said, book: Book, mask: Mask, name: str, whose: str) -> None:
    how = query.aggregate
    rows = np.flatnonzero(mask)
    if name in TEXTS:
        raise Unavailable(f"the {QUANTITIES[name].name} is of single loans: name one, or ask for a list")
    if name == "maturity":
        _maturities(said, book, mask, whose)
        return
    if name == "share" and how == "average":
        how = None
    value = book.measure(name, mask, how)
    unit = unit_of(name)
    if value is None:
        raise Unavailable(f"no loan of {whose} has a {FIELD_WORDS.get(name, name)}")
    text = said.figure(quantity_words(name, how), value, unit, operation_of(name, how), book=book, rows=rows)
    of = " of the collateral principal amount" if name == "share" else ""
    said.sentences.append(f"{capital(quantity_words(name, how))} of {whose}: {text}{of}.")
    if name == "share" and book.pool.par > 0 and abs(book.pool.par - book.denominator) > 0.005:
        counted_rows = mask & book.performing if (mask & book.performing).any() else mask
        other = float(book.par[counted_rows].sum()) / book.pool.par * 100
        text = said.figure(
            "share of performing par",
            other,
            "percent",
            "sum of par_value of performing loans / sum of par_value of all performing loans x 100",
            book=book,
            rows=rows,
        )
        said.sentences.append(f"Of performing par alone: {text}.")
    if name == "spread" and how in (None, "average"):
        _with_floors(said, book, mask)


def _with_floors(said: Said, book: Book, mask: Mask) -> None:
    try:
        value = book.measure("was", mask)
    except Unavailable:
        return
    if value is not None:
        text = said.figure(
            "weighted average spread",
            value,
            "percent",
            operation_of("was", None),
            book=book,
            rows=np.flatnonzero(mask),
            test_id="was",
        )
        said.sentences.append(
            f"As the weighted average spread test counts it (floating loans, with the credit of floors): {text}."
        )


def _maturities(said: Said, book: Book, mask: Mask, whose: str) -> None:
    maturity = book.number("maturity")
    known = mask & np.isfinite(maturity)
    if not known.any():
        raise Unavailable(f"no loan of {whose} has a maturity")
    first, last = (day_of(float(end(maturity[known]))) for end in (np.min, np.max))
    rows = np.flatnonzero(known)
    one = said.figure("earliest maturity", first, "date", "least maturity_date", book=book, rows=rows)
    other = said.figure("latest maturity", last, "date", "greatest maturity_date", book=book, rows=rows)
    said.sentences.append(f"Maturities of {whose} go from {one} to {other}.")
    value = book.measure("wal", mask)
    text = said.figure(
        "weighted average life", value, "years", operation_of("wal", None), book=book, rows=rows, test_id="wal"
    )
    said.sentences.append(f"Their weighted average life is {text}.")


_LOOKED_UP: Final = (
    "par",
    "price",
    "spread",
    "moodys_rating",
    "sp_rating",
    "fitch_rating",
    "maturity",
    "lien",
    "industry",
    "country",
)


def _look_up(query: Query, said: Said, book: Book, mask: Mask) -> None:
    """What the file says of named loans."""
    rows = np.flatnonzero(mask)
    if not len(rows):
        said.sentences.append(
            f"No loan {conditions_words(query.where)} is held."
            if not query.is_yes_no
            else f"No. No loan {conditions_words(query.where)} is held."
        )
        said.figure("number of loans", 0, "count", operation_of("count", None), book=book, rows=rows)
        said.figure("par", 0.0, "amount", operation_of("par", None), book=book, rows=rows)
        return
    names = list(query.quantities)
    if query.is_yes_no:
        said.sentences.append("Yes.")
        query = changed(query, is_yes_no=False)
    if (
        names and all(name in ("par", "share", "market_value", "count", "warf", "diversity") for name in names)
    ) or query.aggregate is not None:
        _values(query, said, book, mask)
        if len(rows) > 1:
            _list_rows(said, book, rows, ["par"])
        return
    if not names:
        _values(query, said, book, mask)
        names = list(_LOOKED_UP)
    if len(rows) > 1 and any(QUANTITIES[name].is_average for name in query.quantities):
        _values(changed(query, quantities=tuple(one for one in names if one not in TEXTS)), said, book, mask)
    _list_rows(said, book, rows, names, optional=not query.quantities)


def _list_rows(said: Said, book: Book, rows: NDArray[np.intp], names: Sequence[str], *, optional: bool = False) -> None:
    """A line for each loan, with some of its columns."""
    given = []
    for name in names:
        try:
            if name in TEXTS:
                if (name in RATINGS and name != "rating") or name not in RATINGS:
                    book.text_of(name, 0)
            else:
                book.number(name)
            given.append(name)
        except Unavailable:
            if not optional:
                raise
    for row in rows[:ROWS_SHOWN].tolist():
        label = said.name(book.name_of(row))
        identifier = book.identifier_of(row)
        told = []
        for name in given:
            if name == "rating":
                told += ratings_of(said, book, row)
            else:
                told.append(f"{FIELD_WORDS.get(name) or QUANTITIES[name].name} {cell(said, book, row, name)}")
        facility = facility_words(said, book, row)
        defaulted = ", defaulted" if book.defaulted[row] else ""
        known = f" ({plain(identifier)})" if identifier else ""
        said.sentences.append(f"{label}{facility}{known}: {', '.join(told)}{defaulted}.")
        if identifier:
            said.names[plain(identifier)] = None
    if len(rows) > ROWS_SHOWN:
        said.sentences.append(f"{len(rows) - ROWS_SHOWN:,} more are not listed.")


def _loans(query: Query, said: Said, book: Book, mask: Mask) -> None:
    """A list, a ranking or a number of loans."""
    for having in query.having:
        if having.quantity == "count":
            raise Unavailable("a loan has no number of loans")
        mask = mask & compared(book.number("share" if having.quantity == "share" else having.quantity), having)
    rows = np.flatnonzero(mask)
    where = conditions_words(query.where)
    names = [one for one in query.quantities if one not in ("count",)]
    if query.order is None:
        if query.is_count or (query.is_yes_no and not names):
            _values(changed(query, quantities=tuple(names), group=None), said, book, mask)
            if query.is_yes_no and 0 < len(rows) <= ROWS_SHOWN:
                _list_rows(said, book, rows, ["par"])
            return
        count = said.figure("number of loans", len(rows), "count", operation_of("count", None), book=book, rows=rows)
        par, share = par_and_share(said, book, mask, rows)
        held = f"{count} loan{'s' * (len(rows) != 1)}{f' {where}' if where else ''}"
        said.sentences.append(
            f"{held}, {par} par, {share} of the collateral principal amount{':' if len(rows) else '.'}"
        )
        order = rows[np.argsort(-book.par[rows], kind="stable")]
        wanted = [*(names or []), *_columns_of(query.where)]
        _list_rows(said, book, order, list(dict.fromkeys(["par", *wanted])), optional=True)
        return
    by = query.order_by or "par"
    values = book.number(by)
    known = mask & np.isfinite(values)
    rows = np.flatnonzero(known)
    if not len(rows):
        raise Unavailable(f"no loan{f' {where}' if where else ''} has a {FIELD_WORDS.get(by, by)}")
    sign = -1.0 if query.order == "most" else 1.0
    order = rows[np.argsort(sign * values[rows], kind="stable")]
    chosen = order[query.place - 1 : query.place] if query.place else order[: query.limit or len(order)]
    if not len(chosen):
        raise Unavailable(f"there {'is' if len(order) == 1 else 'are'} only {counted(len(order), 'such loan')}")
    picked = np.zeros(len(mask), np.bool_)
    picked[chosen] = True
    shown_names = [by if by != "rank" else "rating", *(one for one in names if one != by)]
    if len(chosen) > 1 and (
        query.aggregate is not None
        or any(QUANTITIES[one].is_average or one in ("share", "diversity") for one in names if one != by)
    ):
        _values(
            changed(query, where=(), quantities=tuple(names) or ("par",), order=None, group=None), said, book, picked
        )
        shown_names = [by if by != "rank" else "rating"]
    elif len(chosen) > 1 and by in ("par", "share"):
        total, share = par_and_share(said, book, picked, chosen, together=True)
        said.sentences.append(f"Together they are {total}, {share} of the collateral principal amount.")
    if by == "par":
        shown_names = ["par", "share", *shown_names[1:]]
    ties = np.count_nonzero(values[rows] == values[chosen[-1]])
    if ties > np.count_nonzero(values[chosen] == values[chosen[-1]]):
        said.warnings[f"{ties} loans share the last place: the first of them in the file are listed"] = None
    _list_rows(said, book, chosen, list(dict.fromkeys(shown_names)))


def _columns_of(where: Sequence[Condition]) -> list[str]:
    """The columns that a list shows because it is by them."""
    found = []
    for one in flat(where):
        if one.field in (
            "price",
            "spread",
            "maturity",
            "coupon",
            "floor",
            "recovery",
            "facility_size",
            "days_past_due",
            "quote_depth",
            "purchase_price",
        ):
            found.append(one.field)
        elif one.field == "rating" or (one.field == "flag" and one.values[0] in ("ccc", "unrated", "investment_grade")):
            found.append("rating")
        elif one.field == "flag" and one.values[0] == "past_due":
            found.append("days_past_due")
        elif one.field == "flag" and one.values[0] == "distressed":
            found.append("price")
    return found
