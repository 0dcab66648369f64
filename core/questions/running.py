"""A query over one portfolio to its figures and sentences; those on tests are in `judging` and `supposing`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from msgspec.structs import replace as changed
from numpy.typing import NDArray

from core.insights.subject import Subject
from core.insights.words import listed, plain, plural
from core.portfolio.ratings import DEFAULTED
from core.questions.answer import LOANS_SHOWN, ROWS_SHOWN, Figure, Support, Unit
from core.questions.loans import Book, Group, Unavailable
from core.questions.query import Condition, Having, Query
from core.questions.vocabulary import QUANTITIES
from core.questions.wording import (
    FIELD_UNITS,
    FIELD_WORDS,
    NOUNS,
    condition_words,
    conditions_words,
    counted,
    shown,
)
from core.reconciliation import reconcile
from core.values import day_of

Mask = NDArray[np.bool_]


@dataclass
class Said:
    """What is said of one portfolio."""

    subject: Subject
    sentences: list[str] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)
    names: dict[str, None] = field(default_factory=dict)
    warnings: dict[str, None] = field(default_factory=dict)

    @property
    def currency(self) -> str | None:
        return self.subject.currency

    def figure(
        self,
        name: str,
        value: Any,
        unit: Unit,
        operation: str,
        *,
        of: str | None = None,
        identifier: str | None = None,
        book: Book | None = None,
        rows: NDArray[np.intp] | None = None,
        test_id: str | None = None,
        sign: bool = False,
    ) -> str:
        """Add a figure; its text for a sentence."""
        text = shown(value, unit, currency=self.currency, sign=sign)
        support = Support(
            operation=operation,
            columns={} if book is None else dict(book.columns_read),
            loans=None if rows is None else len(rows),
            rows=[] if rows is None else rows[:LOANS_SHOWN].tolist(),
            test_id=test_id,
        )
        if isinstance(value, np.generic):
            value = value.item()
        self.figures.append(
            Figure(
                name=name,
                of=None if of is None else plain(of),
                identifier=None if identifier is None else plain(identifier),
                subject=plain(self.subject.name),
                value=plain(value) if isinstance(value, str) else value,
                unit=unit,
                text=text,
                support=support,
            )
        )
        return text

    def name(self, text: str) -> str:
        """A name out of the data, as it is printed."""
        name = plain(text)
        self.names[name] = None
        return name


def previous_of(subject: Subject) -> Subject:
    """The month before.

    Raises:
        Unavailable: there is none.
    """
    if subject.previous is None:
        raise Unavailable("there is no earlier month of this deal to compare with")
    return subject.previous


def book_of(subject: Subject, period: str) -> Book:
    """The loans of the month that a query asks for."""
    if period != "previous":
        return Book(subject)
    return Book(subject, previous_of(subject).portfolio)


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
        if one.op in ("in", "not in") and len(one.values) > 1:
            said.warnings[
                f"{plain(one.said)!r} can be {len(one.values)} names, which were taken together: "
                f"{listed([said.name(value) for value in one.values])}"
            ] = None


def _operation(name: str, how: str | None) -> str:
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
            _yes_no(all(compared(value, one).all() for value, one in zip(values, query.having, strict=True)))
        )
        names = [*names, *(one.quantity for one in query.having if one.quantity not in names)]
    elif query.is_yes_no and not set(names) - {"par", "share"}:
        said.sentences.append(_yes_no(len(rows) > 0))
    if query.is_count or not len(rows):
        count = said.figure("number of loans", len(rows), "count", _operation("count", None), book=book, rows=rows)
        said.sentences.append(f"{count} loan{'s' * (len(rows) != 1)}{f' {where}' if where else ' in the portfolio'}.")
        if not len(rows):
            for name in names or ["par", "share"]:
                if name in ("par", "share", "market_value"):
                    said.figure(
                        _named(name, query.aggregate), 0.0, unit_of(name), _operation(name, None), book=book, rows=rows
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
    text = said.figure(_named(name, how), value, unit, _operation(name, how), book=book, rows=rows)
    of = " of the collateral principal amount" if name == "share" else ""
    said.sentences.append(f"{_capital(_named(name, how))} of {whose}: {text}{of}.")
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
            _operation("was", None),
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
        "weighted average life", value, "years", _operation("wal", None), book=book, rows=rows, test_id="wal"
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
        f"{_capital(counted(len(rows), 'defaulted loan'))} of {par} par "
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


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _yes_no(is_so: bool) -> str:
    return "Yes." if is_so else "No."


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
        said.figure("number of loans", 0, "count", _operation("count", None), book=book, rows=rows)
        said.figure("par", 0.0, "amount", _operation("par", None), book=book, rows=rows)
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
        facility = _facility(said, book, row)
        defaulted = ", defaulted" if book.defaulted[row] else ""
        known = f" ({plain(identifier)})" if identifier else ""
        said.sentences.append(f"{label}{facility}{known}: {', '.join(told)}{defaulted}.")
        if identifier:
            said.names[plain(identifier)] = None
    if len(rows) > ROWS_SHOWN:
        said.sentences.append(f"{len(rows) - ROWS_SHOWN:,} more are not listed.")


def _facility(said: Said, book: Book, row: int) -> str:
    names = book.portfolio.names.get("facility_name")
    if names is None or names.codes[row] < 0:
        return ""
    facility = names.values[int(names.codes[row])]
    return "" if facility == book.name_of(row) else f", {said.name(facility)}"


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
        count = said.figure("number of loans", len(rows), "count", _operation("count", None), book=book, rows=rows)
        par = said.figure("par", book.measure("par", mask), "amount", _operation("par", None), book=book, rows=rows)
        share = said.figure(
            "share of the collateral principal amount",
            book.measure("share", mask),
            "percent",
            _operation("share", None),
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
            "par together", book.measure("par", picked), "amount", _operation("par", None), book=book, rows=chosen
        )
        share = said.figure(
            "share together",
            book.measure("share", picked),
            "percent",
            _operation("share", None),
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
    listed_all = groups if (query.where and not _by_par(query)) or query.is_count else held

    def value(name: str, group: Group) -> float | None:
        mask_of = np.zeros(book.portfolio.row_count, np.bool_)
        mask_of[group.rows] = True
        if name == "rank":
            return book.measure("warf", mask_of)
        if name == "maturity":
            maturity = book.number("maturity")[group.rows]
            known = maturity[np.isfinite(maturity)]
            return None if not len(known) else float(known.max() if query.order == "most" else known.min())
        if name in _TEXTS:
            raise Unavailable(f"the {QUANTITIES[name].name} is of single loans")
        return book.measure(name, mask_of, query.aggregate if name not in ("par", "share", "count") else None)

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
            f"{_capital(query.aggregate or 'average')} par of the {counted(len(held), noun)}"
            f"{' with loans ' + conditions_words(query.where) if query.where else ''}: {text}."
        )
        return
    chosen = listed_all
    for having in query.having:
        found = [value(having.quantity, one) for one in chosen]
        kept = compared(np.array([np.nan if one is None else one for one in found]), having)
        chosen = [one for one, is_in in zip(chosen, kept.tolist(), strict=True) if is_in]
    if query.is_yes_no:
        said.sentences.append(_yes_no(bool(chosen)))
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
    if len(chosen) > 1 and query.limit and order_by in ("par", "share"):
        together = np.zeros(book.portfolio.row_count, np.bool_)
        together[np.concatenate([one.rows for one in chosen])] = True
        total = said.figure(
            "par together",
            book.measure("par", together),
            "amount",
            _operation("par", None),
            book=book,
            rows=np.flatnonzero(together),
        )
        share = said.figure(
            "share together",
            book.measure("share", together),
            "percent",
            _operation("share", None),
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
            word = _named(name, query.aggregate if name not in ("par", "share", "count") else None)
            if name == "count":
                text = said.figure(
                    "number of loans", found_value, "count", _operation("count", None),
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
                word, found_value, unit, _operation(name, query.aggregate), of=one.label, book=book, rows=one.rows
            )
            told.append(text if name in ("par", "share") else f"{word} {text}")
        said.sentences.append(f"{label}: {', '.join(told)}.")
    if len(chosen) > ROWS_SHOWN:
        said.sentences.append(f"{len(chosen) - ROWS_SHOWN:,} more are not listed.")
    if book.defaulted[np.flatnonzero(mask)].any() and any(one in wanted for one in ("par", "share")):
        said.warnings["defaulted loans are left out of par and shares"] = None


def _by_par(query: Query) -> bool:
    return query.order is not None


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
                _operation(name, query.aggregate),
                of=label,
                book=book,
                rows=rows,
            )
            told.append(f"{_named(name, query.aggregate)} {text}")
            found.setdefault(name, []).append(np.nan if value is None else value)
        said.names[label] = None
        said.sentences.append(f"{_capital(label)}: {', '.join(told)}.")
    if len(query.each) == 2:
        for name in names:
            gap = found[name][0] - found[name][1]
            if np.isfinite(gap):
                text = said.figure(
                    f"difference in {_named(name, query.aggregate)}",
                    gap,
                    _change_unit(name),
                    "the first less the second",
                    sign=True,
                )
                said.sentences.append(
                    f"{_capital(labels[0])} less {labels[1]} in {_named(name, query.aggregate)}: {text}."
                )
    if query.order is not None:
        values = found[names[0]]
        best = max(
            range(len(values)),
            key=lambda at: (
                (values[at] if query.order == "most" else -values[at]) if np.isfinite(values[at]) else -np.inf
            ),
        )
        said.sentences.insert(0, f"{_capital(labels[best])}.")


def _change_unit(name: str) -> Unit:
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
    par = said.figure("par", amount, "amount", _operation("par", None), book=book, rows=np.flatnonzero(part))
    rest = said.figure(
        "par of the whole", total, "amount", _operation("par", None), book=book, rows=np.flatnonzero(whole)
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
            _change_unit(name),
            "the newer month less the earlier",
            book=book,
            rows=rows,
            sign=True,
        )
        now = said.figure(word, values[1], unit, _operation(name, query.aggregate), book=book, rows=rows)
        then = said.figure(
            f"{word} in the month before",
            values[0],
            unit,
            _operation(name, query.aggregate) + ", of the earlier file",
            book=before,
            rows=np.flatnonzero(masks[0]),
        )
        if query.is_yes_no and query.direction in ("up", "down") and name == names[0]:
            said.sentences.append(
                _yes_no((values[1] > values[0]) == (query.direction == "up") and values[1] != values[0])
            )
        said.sentences.append(f"{_capital(word)} of {whose} moved by {change}: from {then} to {now}.")
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
            _change_unit(name),
            "the newer month less the earlier",
            of=label,
            book=book,
            sign=True,
        )
        first = said.figure(
            f"{_named(name, None)} in the month before",
            then,
            unit_of(name),
            _operation(name, query.aggregate),
            of=label,
            book=before,
        )
        last = said.figure(
            _named(name, None), now, unit_of(name), _operation(name, query.aggregate), of=label, book=book
        )
        said.sentences.append(f"{shown_label}: {text}, from {first} to {last}.")


# ---- loans that moved between two months ----

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
            _change_unit(field_name),
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
        said.sentences.append(_yes_no(len(rows) > 0))
    said.sentences.append(
        f"{count} loan{'s' * (len(rows) != 1)} {MOVES[query.move or 'added']}, {par} par{':' if len(rows) else '.'}"
    )
    if query.quantities and "share" in query.quantities:
        share = said.figure(
            "share",
            float(book.par[rows].sum()) / book.denominator * 100,
            "percent",
            _operation("share", None),
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
            f"{said.name(book.name_of(row))}{_facility(said, book, row)}{known}: {', '.join(told[row])}."
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


# ---- the deal, its notes, and the data ----


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
    said.sentences.append(f"{_capital(word)}{when}: {text}.")
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
    deal, tranches = subject.portfolio.deal, subject.portfolio.tranches
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
    if asked in ("as_of", "reinvestment_end", "closing_date", "stated_maturity", "next_payment"):
        return day_of(value), "date", "as the file has it"
    return float(value), "percent" if asked == "base_rate" else "amount", "as the file has it"


def notes(query: Query, subject: Subject) -> Said:
    """Balance, coupon and spread of classes of notes.

    Raises:
        Unavailable: the file does not have them.
    """
    said = Said(subject)
    tranches = subject.portfolio.tranches
    if tranches is None:
        raise Unavailable("the file has no notes")
    at = class_rows(subject, query.classes)
    if query.is_count:
        count = said.figure("number of classes", len(at), "count", "rows of the notes")
        said.sentences.append(f"{count} classes of notes.")
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
    from core.portfolio.classes import class_key, covers

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
                    f"{plain(str(key)).replace('_', ' ')} "
                    f"{said.figure(f'differences by {name}', value, 'count', 'of the newest comparison', of=str(key))}"
                )
                for key, value in parts.items()
                if value
            ]
            if told:
                said.sentences.append(f"By {name}: {', '.join(told)}.")
        for one in breaks.largest[:10]:
            said.sentences.append(
                f"{said.name(one.borrower_name or one.identifier)}: {plain(one.field_name).replace('_', ' ')}, "
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
            for one in warnings[:ROWS_SHOWN]
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
