"""A query over one portfolio to its figures and sentences; those on tests are in `judging` and `supposing`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from msgspec.structs import replace as changed
from numpy.typing import NDArray

from core.insights.subject import Subject
from core.insights.words import listed, plain, plural
from core.portfolio.cells.checkpoint import checkpoint
from core.portfolio.ratings import DEFAULTED, SCALE_B
from core.questions.answer import ROWS_SHOWN, Unit
from core.questions.loans import Book, Group, Unavailable
from core.questions.query import Condition, Having, Query
from core.questions.saying import Said, book_of, capital, facility_words, previous_of, yes_no
from core.questions.vocabulary import QUANTITIES
from core.questions.wording import (
    FIELD_UNITS,
    FIELD_WORDS,
    NOUNS,
    condition_words,
    conditions_words,
    counted,
)
from core.values import day_of

Mask = NDArray[np.bool_]

TESTED_GROUPS_MAX: Final = 2_000
"""Groups whose measure of a test is worked out, each over its own loans."""


# ---- measures of loans ----

_RATINGS: Final = frozenset(("rating", "moodys_rating", "sp_rating", "fitch_rating"))
_TEXTS: Final = _RATINGS | {"lien", "industry", "country", "cusip", "loanx", "isin", "index", "currency"}
_NAMED: Final = frozenset(("obligor", "facility", "cusip", "loanx", "isin"))


def unit_of(name: str, how: str | None = None) -> Unit:
    """The unit of a quantity."""
    if name in FIELD_UNITS:
        return FIELD_UNITS[name]
    return QUANTITIES[name].unit


def measured(query: Query, subject: Subject) -> Said:
    """What is measured of loans.

    Raises:
        Unavailable: the data do not have it.
    """
    said = Said(subject)
    book = book_of(subject, query.period)
    if query.period == "change":
        _change(query, said, book)
    elif query.each:
        _each(query, said, book)
    elif query.whole:
        _part(query, said, book)
    else:
        mask = book.chosen(query.where)
        if query.group is None and _is_lookup(query) and not query.is_count:
            _look_up(query, said, book, mask)
        elif query.group is None:
            _values(query, said, book, mask)
        elif query.group == "loan":
            _loans(query, said, book, mask)
        else:
            _groups(query, said, book, mask)
        _tell_alike(query, said)
    said.warnings.update(book.remarks)
    return said


def _is_lookup(query: Query) -> bool:
    return any(one.field in _NAMED and one.op == "in" for one in _flat(query.where))


def _flat(where: Sequence[Condition]) -> list[Condition]:
    return [leaf for one in where for leaf in (one.any_of if one.any_of and one.field != "not" else (one,))]


def _tell_alike(query: Query, said: Said) -> None:
    """Name what an ambiguous word was taken for."""
    for one in _flat(query.where):
        if one.also:
            said.warnings[f"{plain(one.said)!r} is read as the {one.field}; the {one.also} has the name, too"] = None
        if one.field == "rating" and one.low != one.high and one.said.upper() in SCALE_B:
            said.warnings[f"{one.said!r} is read as {condition_words(one)}"] = None
        if one.op in ("in", "not in") and len(one.values) > 1:
            said.warnings[
                f"{plain(one.said)!r} can be {len(one.values)} names, which were taken together: "
                f"{listed([said.name(value) for value in one.values])}"
            ] = None


def operation_of(name: str, how: str | None) -> str:
    if name == "count":
        return "number of loans with a par"
    if name == "share":
        return "sum of par_value of performing loans / collateral principal amount x 100"
    if name in ("par", "market_value", "unfunded") and how in (None, "total"):
        what = {"par": "par_value", "market_value": "par_value x price / 100", "unfunded": "unfunded"}[name]
        return f"sum of {what} of performing loans"
    test_id = QUANTITIES[name].test_id if name in QUANTITIES else None
    if test_id is not None and how in (None, "average") and name != "price":
        return f"measure of the test {test_id} over these loans, performing ones"
    words = {"simple": "plain average", "median": "median", "total": "sum"}.get(
        how or "", "average weighted by par_value"
    )
    if how == "average" and name in ("par", "market_value", "facility_size"):
        words = "plain average"
    return f"{words} of {FIELD_WORDS.get(name, name)} of performing loans that have one"


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
                        _named(name, query.aggregate),
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
    _tell_defaulted(said, book, mask, names)


def _value(query: Query, said: Said, book: Book, mask: Mask, name: str, whose: str) -> None:
    how = query.aggregate
    rows = np.flatnonzero(mask)
    if name in _TEXTS:
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
    text = said.figure(_named(name, how), value, unit, operation_of(name, how), book=book, rows=rows)
    of = " of the collateral principal amount" if name == "share" else ""
    said.sentences.append(f"{capital(_named(name, how))} of {whose}: {text}{of}.")
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
        _with_floors(said, book, mask, whose)


def _with_floors(said: Said, book: Book, mask: Mask, whose: str) -> None:
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


def _tell_defaulted(said: Said, book: Book, mask: Mask, names: Sequence[str]) -> None:
    """What amounts and averages leave out."""
    out = mask & book.defaulted
    if not out.any() or not (mask & book.performing).any():
        return
    rows = np.flatnonzero(out)
    par = said.figure(
        "par of defaulted loans, not counted above",
        float(book.par[out].sum()),
        "amount",
        "sum of par_value of defaulted loans",
        book=book,
        rows=rows,
    )
    said.sentences.append(
        f"{capital(counted(len(rows), 'defaulted loan'))} of {par} par "
        f"{'is' if len(rows) == 1 else 'are'} left out of amounts, shares and averages."
    )
    if "par" in names:
        said.figure(
            "par with defaulted loans",
            float(book.par[mask].sum()),
            "amount",
            "sum of par_value",
            book=book,
            rows=np.flatnonzero(mask),
        )


def _named(name: str, how: str | None) -> str:
    if name == "share":
        return "share of the collateral principal amount"
    if name == "spread" and how in (None, "average"):
        return "average contractual spread"
    word = FIELD_WORDS.get(name) or QUANTITIES[name].name
    if how == "median":
        return f"median {word}"
    if how == "simple" or (how == "average" and name in ("par", "market_value", "facility_size")):
        return f"unweighted average {word}"
    quantity = QUANTITIES.get(name)
    if quantity is not None and quantity.is_average and not quantity.name.startswith("weighted"):
        return f"average {word}" if how != "total" else f"total {word}"
    return QUANTITIES[name].name if name in QUANTITIES else word


# Loans one by one

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
        _values(changed(query, quantities=tuple(one for one in names if one not in _TEXTS)), said, book, mask)
    _list_rows(said, book, rows, names, optional=not query.quantities)


def _list_rows(said: Said, book: Book, rows: NDArray[np.intp], names: Sequence[str], *, optional: bool = False) -> None:
    """A line for each loan, with some of its columns."""
    given = []
    for name in names:
        try:
            if name in _TEXTS:
                if (name in _RATINGS and name != "rating") or name not in _RATINGS:
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
                told += _ratings(said, book, row)
            else:
                told.append(f"{FIELD_WORDS.get(name) or QUANTITIES[name].name} {_cell(said, book, row, name)}")
        facility = facility_words(said, book, row)
        defaulted = ", defaulted" if book.defaulted[row] else ""
        known = f" ({plain(identifier)})" if identifier else ""
        said.sentences.append(f"{label}{facility}{known}: {', '.join(told)}{defaulted}.")
        if identifier:
            said.names[plain(identifier)] = None
    if len(rows) > ROWS_SHOWN:
        said.sentences.append(f"{len(rows) - ROWS_SHOWN:,} more are not listed.")


def _ratings(said: Said, book: Book, row: int) -> list[str]:
    told = []
    for name in ("moodys_rating", "sp_rating", "fitch_rating"):
        try:
            text = book.text_of(name, row)
        except Unavailable:
            continue
        if text is not None:
            told.append(f"{QUANTITIES[name].name} {_cell(said, book, row, name)}")
    return told or ["no rating"]


def _cell(said: Said, book: Book, row: int, name: str) -> str:
    """What a column says of a loan, as a figure of the answer."""
    of, identifier, at = book.name_of(row), book.identifier_of(row), np.array([row])
    word = FIELD_WORDS.get(name) or QUANTITIES[name].name
    if name in _TEXTS:
        text = book.text_of(name, row)
        unit: Unit = "rating" if name in _RATINGS else "text"
        if text is not None and unit == "text":
            said.names[plain(text)] = None
        return said.figure(word, text, unit, "as the file has it", of=of, identifier=identifier, book=book, rows=at)
    value = float(book.number(name)[row])
    if name == "maturity":
        return said.figure(
            word, day_of(value), "date", "as the file has it", of=of, identifier=identifier, book=book, rows=at
        )
    if name == "was":
        word = "contractual spread"
    unit = "bps" if name == "was" else unit_of(name)
    return said.figure(
        word,
        None if np.isnan(value) else value,
        unit,
        "as the file has it",
        of=of,
        identifier=identifier,
        book=book,
        rows=at,
    )


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
        par = said.figure("par", book.measure("par", mask), "amount", operation_of("par", None), book=book, rows=rows)
        share = said.figure(
            "share of the collateral principal amount",
            book.measure("share", mask),
            "percent",
            operation_of("share", None),
            book=book,
            rows=rows,
        )
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
        raise Unavailable(f"there are only {len(order)} such loans")
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
        total = said.figure(
            "par together", book.measure("par", picked), "amount", operation_of("par", None), book=book, rows=chosen
        )
        share = said.figure(
            "share together",
            book.measure("share", picked),
            "percent",
            operation_of("share", None),
            book=book,
            rows=chosen,
        )
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
    for one in _flat(where):
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


def compared(values: NDArray[np.float64], having: Having) -> Mask:
    """Which values fulfil a comparison; a blank does not."""
    with np.errstate(invalid="ignore"):
        if having.op == "between":
            assert having.high is not None
            return np.asarray((values >= having.value) & (values <= having.high))
        operators: dict[str, Callable[..., Any]] = {
            "<": np.less,
            "<=": np.less_equal,
            ">": np.greater,
            ">=": np.greater_equal,
            "=": np.isclose,
        }
        return np.asarray(operators[having.op](values, having.value) & np.isfinite(values))


# Groups

_ORDERED: Final = {"year", "rating", "rating_a", "rating_b", "rating_c"}


def _groups(query: Query, said: Said, book: Book, mask: Mask) -> None:
    by = query.group or "obligor"
    groups = book.groups(by, mask)
    noun = NOUNS[by]
    names = [one for one in query.quantities if one != "count"]
    held = [one for one in groups if book.performing[one.rows].any()] or groups
    if "count" in query.quantities:
        names = ["count", *names]
    listed_all = groups if (query.where and query.order is None) or query.is_count else held

    def value(name: str, group: Group) -> float | None:
        if name == "rank":
            return book.measure_rows("warf", group.rows)
        if name == "maturity":
            maturity = book.number("maturity")[group.rows]
            known = maturity[np.isfinite(maturity)]
            return None if not len(known) else float(known.max() if query.order == "most" else known.min())
        if name in _TEXTS:
            raise Unavailable(f"the {QUANTITIES[name].name} is of single loans")
        if QUANTITIES[name].test_id is not None and name != "price" and len(groups) > TESTED_GROUPS_MAX:
            raise Unavailable(f"a test is measured for at most {TESTED_GROUPS_MAX:,} {plural(noun)}")
        checkpoint()
        return book.measure_rows(name, group.rows, _how(query, name))

    if query.over_groups:
        sums = np.array([float(book.par[one.rows[book.performing[one.rows]]].sum()) for one in held])
        figure = float(np.median(sums) if query.aggregate == "median" else sums.mean())
        operation = (
            f"{'median' if query.aggregate == 'median' else 'plain average'} "
            f"over {plural(noun)} of the sum of par_value of performing loans"
        )
        text = said.figure(
            f"{query.aggregate} par of {plural(noun)}",
            figure,
            "amount",
            operation,
            book=book,
            rows=np.flatnonzero(mask),
        )
        said.sentences.append(
            f"{capital(query.aggregate or 'average')} par of the {counted(len(held), noun)}"
            f"{' with loans ' + conditions_words(query.where) if query.where else ''}: {text}."
        )
        return
    chosen = listed_all
    for having in query.having:
        found = [value(having.quantity, one) for one in chosen]
        kept = compared(np.array([np.nan if one is None else one for one in found]), having)
        chosen = [one for one, is_in in zip(chosen, kept.tolist(), strict=True) if is_in]
    if query.is_yes_no:
        said.sentences.append(yes_no(bool(chosen)))
    if query.is_count and query.order is None and not names:
        count = said.figure(
            f"number of {plural(noun)}",
            len(chosen),
            "count",
            f"number of distinct {plural(noun)} of loans with a par",
            book=book,
            rows=np.flatnonzero(mask),
        )
        where = conditions_words(query.where)
        said.sentences.append(
            f"{count} {noun if len(chosen) == 1 else plural(noun)}{f' with loans {where}' if where else ''}."
        )
        if len(held) != len(groups) and not query.having:
            other = said.figure(
                f"number of {plural(noun)} with performing loans",
                len(held),
                "count",
                f"number of distinct {plural(noun)} of performing loans",
                book=book,
                rows=np.flatnonzero(mask & book.performing),
            )
            said.sentences.append(f"{other} of them have performing loans.")
        return
    order_by = query.order_by or (names[0] if names else "par")
    if query.order is not None or by not in _ORDERED:
        keys = [value(order_by, one) for one in chosen]
        sign = 1.0 if query.order == "least" else -1.0
        ranked = sorted(
            (at for at in range(len(chosen)) if keys[at] is not None), key=lambda at: sign * float(keys[at] or 0.0)
        )
        missing = [at for at in range(len(chosen)) if keys[at] is None]
        if missing:
            said.warnings[
                (
                    f"{len(missing)} {noun if len(missing) == 1 else plural(noun)} without a "
                    f"{FIELD_WORDS.get(order_by, order_by)} {'is' if len(missing) == 1 else 'are'} left out"
                )
            ] = None
        chosen = [chosen[at] for at in ranked]
    else:
        chosen = sorted(chosen, key=lambda one: _place_of(by, one.label))
    total_rows = len(chosen)
    last = query.place or query.limit
    if query.order is not None and last and last < len(chosen):
        ends = [value(order_by, one) for one in chosen[last - 1 : last + 1]]
        if None not in ends and abs(float(ends[0] or 0.0) - float(ends[1] or 0.0)) < 1e-9:
            said.warnings[f"more {plural(noun)} than are shown share the last place"] = None
    if query.place:
        chosen = chosen[query.place - 1 : query.place]
    elif query.limit:
        chosen = chosen[: query.limit]
    if not chosen:
        said.figure(f"number of {plural(noun)}", 0, "count", f"number of {plural(noun)}", book=book)
        said.sentences.append(f"No {noun} is so.")
        return
    wanted = list(
        dict.fromkeys(
            [
                *([order_by] if query.order is not None else []),
                *(one.quantity for one in query.having),
                *(names or ["par", "share"]),
            ]
        )
    )
    if wanted in (["par"], ["share"]):
        wanted = ["par", "share"]
    if "rank" in wanted:
        wanted[wanted.index("rank")] = "warf"
    if query.is_count and "count" not in wanted:
        wanted = ["count", *wanted] if query.order_by in (None, "count") else [*wanted, "count"]
    if (query.having and query.order is None) or (query.where and query.order is None and not names):
        count = said.figure(f"number of {plural(noun)}", total_rows, "count", f"number of {plural(noun)}", book=book)
        said.sentences.append(f"{count} {noun if total_rows == 1 else plural(noun)}:")
    adds_up = bool(query.limit) or (bool(query.where) and query.order is None and wanted[:1] in (["par"], ["share"]))
    if len(chosen) > 1 and adds_up and order_by in ("par", "share"):
        together = np.zeros(book.portfolio.row_count, np.bool_)
        together[np.concatenate([one.rows for one in chosen])] = True
        total = said.figure(
            "par together",
            book.measure("par", together),
            "amount",
            operation_of("par", None),
            book=book,
            rows=np.flatnonzero(together),
        )
        share = said.figure(
            "share together",
            book.measure("share", together),
            "percent",
            operation_of("share", None),
            book=book,
            rows=np.flatnonzero(together),
        )
        said.sentences.append(f"Together they are {total}, {share} of the collateral principal amount.")
    for one in chosen[:ROWS_SHOWN]:
        label = said.name(one.label)
        told = []
        for name in wanted:
            found_value = value(name, one)
            unit = unit_of(name)
            word = _named(name, _how(query, name))
            if name == "count":
                text = said.figure(
                    "number of loans", found_value, "count", operation_of("count", None),
                    of=one.label, book=book, rows=one.rows,
                )  # fmt: skip
                told.append(f"{text} loan{'s' * (found_value != 1)}")
                continue
            if name == "maturity":
                text = said.figure(
                    "maturity", day_of(found_value), "date", "maturity_date", of=one.label, book=book, rows=one.rows
                )
                told.append(f"maturity {text}")
                continue
            text = said.figure(
                word, found_value, unit, operation_of(name, query.aggregate), of=one.label, book=book, rows=one.rows
            )
            told.append(text if name == "share" or word == "par" else f"{word} {text}")
        said.sentences.append(f"{label}: {', '.join(told)}.")
    if len(chosen) > ROWS_SHOWN:
        said.sentences.append(f"{len(chosen) - ROWS_SHOWN:,} more are not listed.")
    if book.defaulted[np.flatnonzero(mask)].any() and any(one in wanted for one in ("par", "share")):
        said.warnings["defaulted loans are left out of par and shares"] = None


def _how(query: Query, name: str) -> str | None:
    """How a quantity of a group is made: a total of shares and counts, whatever is averaged beside them."""
    if name == "par" and query.aggregate in ("average", "simple", "median"):
        return query.aggregate
    return None if name in ("par", "share", "count") else query.aggregate


def _place_of(by: str, label: str) -> float:
    if by == "year":
        return float(label)
    from core.portfolio.ratings import rank

    return float(rank(label) or DEFAULTED)


# Sets beside each other, parts of sets, and the month before


def _each(query: Query, said: Said, book: Book) -> None:
    names = list(query.quantities) or ["par", "share"]
    if names == ["par"] or names == ["share"]:
        names = ["par", "share"]
    found: dict[str, list[float]] = {}
    labels = [plain(", ".join(one.values)) if one.op == "in" else condition_words(one) for one in query.each]
    for one, label in zip(query.each, labels, strict=True):
        mask = book.chosen((*query.where, one))
        rows = np.flatnonzero(mask)
        told = []
        for name in names:
            value = book.measure(name, mask, query.aggregate if name not in ("par", "share") else None)
            text = said.figure(
                _named(name, query.aggregate),
                value,
                unit_of(name),
                operation_of(name, query.aggregate),
                of=label,
                book=book,
                rows=rows,
            )
            told.append(f"{_named(name, query.aggregate)} {text}")
            found.setdefault(name, []).append(np.nan if value is None else value)
        said.names[label] = None
        said.sentences.append(f"{capital(label)}: {', '.join(told)}.")
    if len(query.each) == 2:
        for name in names:
            gap = found[name][0] - found[name][1]
            if np.isfinite(gap):
                text = said.figure(
                    f"difference in {_named(name, query.aggregate)}",
                    gap,
                    change_unit(name),
                    "the first less the second",
                    sign=True,
                )
                said.sentences.append(
                    f"{capital(labels[0])} less {labels[1]} in {_named(name, query.aggregate)}: {text}."
                )
    if query.order is not None:
        values = found[names[0]]
        best = max(
            range(len(values)),
            key=lambda at: (
                (values[at] if query.order == "most" else -values[at]) if np.isfinite(values[at]) else -np.inf
            ),
        )
        said.sentences.insert(0, f"{capital(labels[best])}.")


def change_unit(name: str) -> Unit:
    unit = unit_of(name)
    return "points" if unit in ("percent", "price") else unit


def _part(query: Query, said: Said, book: Book) -> None:
    """The share of a set within another."""
    whole, part = book.chosen(query.whole), book.chosen((*query.whole, *query.where))
    of_performing = whole & book.performing if (whole & book.performing).any() else whole
    part_performing = part & of_performing
    amount, total = float(book.par[part_performing].sum()), float(book.par[of_performing].sum())
    if total <= 0:
        raise Unavailable(f"there is no par in the loans {conditions_words(query.whole)}")
    text = said.figure(
        "share",
        amount / total * 100,
        "percent",
        "sum of par_value of the part / sum of par_value of the whole x 100, performing loans",
        book=book,
        rows=np.flatnonzero(part),
    )
    par = said.figure("par", amount, "amount", operation_of("par", None), book=book, rows=np.flatnonzero(part))
    rest = said.figure(
        "par of the whole", total, "amount", operation_of("par", None), book=book, rows=np.flatnonzero(whole)
    )
    said.sentences.append(
        f"{text} of the loans {conditions_words(query.whole)} (by "
        f"par) are {conditions_words(query.where)}: {par} of {rest}."
    )
    _tell_defaulted(said, book, whole, ())


def _change(query: Query, said: Said, book: Book) -> None:
    """Quantities of a set of loans in two months."""
    subject = said.subject
    before = Book(subject, previous_of(subject).portfolio)
    if query.group not in (None, "loan") and query.is_count:
        _count_changes(query, said, before, book)
        return
    if query.group not in (None, "loan"):
        _group_changes(query, said, before, book)
        return
    names = list(query.quantities) or (["count"] if query.is_count else ["par", "share"])
    if query.is_count and "count" not in names:
        names = ["count", *names]
    if names == ["par"]:
        names = ["par", "share"]
    if names == ["share"]:
        names = ["share", "par"]
    where = conditions_words(query.where)
    whose = f"the loans {where}" if where else "the portfolio"
    if any(one.field not in _NAMED | {"industry", "country"} for one in _flat(query.where)):
        said.warnings[
            "the loans that are so in each of the two months are compared, which need not be the same ones"
        ] = None
    masks = [one.chosen(query.where) for one in (before, book)]
    for name in names:
        if name in _TEXTS:
            _text_changes(said, before, book, masks, name)
            continue
        values = [
            one.measure(name, mask, query.aggregate if name not in ("par", "share", "count") else None)
            for one, mask in zip((before, book), masks, strict=True)
        ]
        if name in ("par", "share", "count"):
            values = [0.0 if value is None else value for value in values]
        word, unit = _named(name, query.aggregate) if name != "count" else "number of loans", unit_of(name)
        rows = np.flatnonzero(masks[1])
        if values[0] is None or values[1] is None:
            raise Unavailable(f"one of the months has no {word} of {whose}")
        change = said.figure(
            f"change of {word}",
            values[1] - values[0],
            change_unit(name),
            "the newer month less the earlier",
            book=book,
            rows=rows,
            sign=True,
        )
        now = said.figure(word, values[1], unit, operation_of(name, query.aggregate), book=book, rows=rows)
        then = said.figure(
            f"{word} in the month before",
            values[0],
            unit,
            operation_of(name, query.aggregate) + ", of the earlier file",
            book=before,
            rows=np.flatnonzero(masks[0]),
        )
        if query.is_yes_no and query.direction in ("up", "down") and name == names[0]:
            said.sentences.append(
                yes_no((values[1] > values[0]) == (query.direction == "up") and values[1] != values[0])
            )
        said.sentences.append(f"{capital(word)} of {whose} moved by {change}: from {then} to {now}.")
        if name in ("par", "share"):
            held = [float(one.par[mask].sum()) for one, mask in zip((before, book), masks, strict=True)]
            performing = [
                float(one.par[mask & one.performing].sum()) for one, mask in zip((before, book), masks, strict=True)
            ]
            if name == "par" and held != performing:
                said.figure(
                    "change of par with defaulted loans",
                    held[1] - held[0],
                    "amount",
                    "sum of par_value of the newer month less the earlier",
                    sign=True,
                )
    said.warnings.update(before.remarks)


def _text_changes(said: Said, before: Book, book: Book, masks: Sequence[Mask], name: str) -> None:
    for one, mask, when in ((before, masks[0], "in the month before"), (book, masks[1], "now")):
        for row in np.flatnonzero(mask)[:ROWS_SHOWN].tolist():
            told = (
                _ratings(said, one, row)
                if name == "rating"
                else [f"{QUANTITIES[name].name} {_cell(said, one, row, name)}"]
            )
            said.sentences.append(f"{said.name(one.name_of(row))} {when}: {', '.join(told)}.")


def _count_changes(query: Query, said: Said, before: Book, book: Book) -> None:
    """How many groups there are in two months."""
    noun = plural(NOUNS[query.group or "obligor"])
    then, now = (len(one.groups(query.group or "obligor", one.chosen(query.where))) for one in (before, book))
    change = said.figure(
        f"change of number of {noun}", now - then, "count", "the newer month less the earlier", sign=True
    )
    first = said.figure(
        f"number of {noun} in the month before", then, "count", f"number of distinct {noun}", book=before
    )
    last = said.figure(f"number of {noun}", now, "count", f"number of distinct {noun}", book=book)
    said.sentences.append(f"The number of {noun} moved by {change}, from {first} to {last}.")


def _group_changes(query: Query, said: Said, before: Book, book: Book) -> None:
    by = query.group or "obligor"
    name = query.quantities[0] if query.quantities else "share"
    sides = []
    for one in (before, book):
        mask = one.chosen(query.where)
        values = {}
        for group in one.groups(by, mask):
            of = np.zeros(one.portfolio.row_count, np.bool_)
            of[group.rows] = True
            values[group.label] = one.measure(
                name, of, query.aggregate if name not in ("par", "share", "count") else None
            )
        sides.append(values)
    nothing = 0.0 if name in ("par", "share", "count") else None
    moves = []
    for label in dict.fromkeys((*sides[1], *sides[0])):
        now, then = sides[1].get(label, nothing), sides[0].get(label, nothing)
        if now is not None and then is not None and abs(now - then) > 1e-9:
            moves.append((now - then, label, then, now))
    if query.direction in ("up", "down"):
        moves = [one for one in moves if (one[0] > 0) == (query.direction == "up")]
    if (query.order is not None and query.direction != "down") or query.direction == "up":
        moves.sort(key=lambda one: -one[0] if query.order != "least" else one[0])
    elif query.direction == "down":
        moves.sort(key=lambda one: one[0])
    else:
        moves.sort(key=lambda one: -abs(one[0]))
    chosen = moves[query.place - 1 : query.place] if query.place else moves[: query.limit or ROWS_SHOWN]
    if not chosen:
        said.sentences.append(f"No {NOUNS[by]} has moved so.")
    for change, label, then, now in chosen:
        shown_label = said.name(label)
        text = said.figure(
            f"change of {_named(name, None)}",
            change,
            change_unit(name),
            "the newer month less the earlier",
            of=label,
            book=book,
            sign=True,
        )
        first = said.figure(
            f"{_named(name, None)} in the month before",
            then,
            unit_of(name),
            operation_of(name, query.aggregate),
            of=label,
            book=before,
        )
        last = said.figure(
            _named(name, None), now, unit_of(name), operation_of(name, query.aggregate), of=label, book=book
        )
        said.sentences.append(f"{shown_label}: {text}, from {first} to {last}.")
