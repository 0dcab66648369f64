"""Quantities by group, of sets beside each other, and of a part of a set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from core.insights.words import plain
from core.portfolio.cells.checkpoint import checkpoint
from core.portfolio.model.ratings import DEFAULTED, rank
from core.questions.answer import ROWS_SHOWN
from core.questions.answers.book import Group, LoanSet, Unavailable
from core.questions.answers.quantities import (
    TEXTS,
    add_par_and_share,
    add_quantity,
    array_of,
    compare,
    how_of,
    operation_of,
    tell_defaulted,
    unit_of,
    words_of,
)
from core.questions.answers.statement import SUM_OF_PAR, Basis, Rows, Statement, loans_of, unit_apart, yes_no
from core.questions.answers.tests import add_limit
from core.questions.query import Query
from core.questions.vocabulary import QUANTITIES
from core.questions.wording import FIELD_WORDS, NOUNS, condition_words, conditions_words
from core.values import day_of
from core.words import capitalize, counted, plural

TESTED_GROUPS_MAX: Final = 2_000
"""Groups whose measure of a test is worked out, each over its own loans."""
_ORDERED: Final = {"year", "rating", "rating_a", "rating_b", "rating_c"}
_LIMITS: Final = {
    "industry": ("industry_concentration", "second_industry_concentration"),
    "obligor": ("single_obligor_concentration", "top_5_concentration"),
}
"""The tests that limit groups."""


class _Table:
    """The groups that a query asks for, and what is stated of each."""

    def __init__(self, query: Query, statement: Statement, book: LoanSet, rows: Rows) -> None:
        self.query, self.statement, self.book, self.rows = query, statement, book, rows
        self.by = query.group or "obligor"
        self.noun = NOUNS[self.by]
        self.every = book.groups(self.by, book.mask_of(rows))
        self.performing = [group for group in self.every if book.performing[group.rows].any()] or self.every
        self.names = [name for name in query.quantities if name != "count"]
        if "count" in query.quantities:
            self.names = ["count", *self.names]
        self.order_by = query.order_by or (self.names[0] if self.names else "par")

    def nouns(self, count: int) -> str:
        return self.noun if count == 1 else plural(self.noun)

    def value(self, name: str, group: Group) -> float | None:
        """Return a quantity of a group."""
        if name == "maturity":
            maturity = self.book.number("maturity")[group.rows]
            known = maturity[np.isfinite(maturity)]
            return None if not len(known) else float(known.max() if self.query.order == "most" else known.min())
        if name in TEXTS:
            raise Unavailable(f"the {QUANTITIES[name].name} is of single loans")
        quantity = QUANTITIES.get(name)
        is_test = quantity is not None and quantity.test_id is not None and name != "price"
        if is_test and len(self.every) > TESTED_GROUPS_MAX:
            raise Unavailable(f"a test is measured for at most {TESTED_GROUPS_MAX:,} {plural(self.noun)}")
        checkpoint()
        return self.book.measure("warf" if name == "rank" else name, group.rows, self.how(name))

    def how(self, name: str) -> str | None:
        is_average = self.query.aggregate in ("average", "simple", "median")
        return self.query.aggregate if name == "par" and is_average else how_of(name, self.query.aggregate)

    def select(self) -> list[Group]:
        """Return the groups that are as the query wants them, in no order."""
        query = self.query
        groups = self.every if (query.where and query.order is None) or query.is_count else self.performing
        for having in query.having:
            values = array_of([self.value(having.quantity, group) for group in groups])
            groups = [group for group, is_in in zip(groups, compare(values, having).tolist(), strict=True) if is_in]
        return groups

    def sort(self, groups: list[Group]) -> list[Group]:
        """Return groups in the order in which they are stated."""
        if self.query.order is None and self.by in _ORDERED:
            return sorted(groups, key=lambda group: _place_of(self.by, group.label))
        keys = [self.value(self.order_by, group) for group in groups]
        sign = 1.0 if self.query.order == "least" else -1.0
        known = [(sign * key, at) for at, key in enumerate(keys) if key is not None]
        if missing := len(groups) - len(known):
            word = FIELD_WORDS.get(self.order_by, self.order_by)
            is_are = "is" if missing == 1 else "are"
            self.statement.warn(f"{missing} {self.nouns(missing)} without a {word} {is_are} left out")
        return [groups[at] for _, at in sorted(known, key=lambda pair: pair[0])]

    def cut(self, groups: list[Group]) -> list[Group]:
        """Return the groups in the places that are asked for."""
        last = self.query.place or self.query.limit
        if not last:
            return groups
        if self.query.order is not None and last < len(groups):
            ends = [self.value(self.order_by, group) for group in groups[last - 1 : last + 1]]
            if None not in ends and abs(float(ends[0] or 0.0) - float(ends[1] or 0.0)) < 1e-9:
                self.statement.warn(f"more {plural(self.noun)} than are shown share the last place")
        return groups[last - 1 : last] if self.query.place else groups[:last]

    def columns(self) -> list[str]:
        """Return the quantities that are stated of each group."""
        query = self.query
        ranked = [self.order_by] if query.order is not None else []
        compared = [having.quantity for having in query.having]
        names = list(dict.fromkeys([*ranked, *compared, *(self.names or ["par", "share"])]))
        if names in (["par"], ["share"]):
            names = ["par", "share"]
        names = ["warf" if name == "rank" else name for name in names]
        if query.is_count and "count" not in names:
            return ["count", *names] if query.order_by in (None, "count") else [*names, "count"]
        return names

    def cells(self, group: Group, columns: Sequence[str]) -> str:
        """State the quantities of one group, and return them as one text."""
        texts = []
        for name in columns:
            value = self.value(name, group)
            how = self.how(name)
            basis = Basis(operation_of(name, how), self.book, group.rows)
            if name == "maturity":
                day = None if value is None else day_of(value)
                text = self.statement.figure(
                    "maturity", day, "date", Basis("maturity_date", self.book, group.rows), of=group.label
                )
                texts.append(f"maturity {text}")
                continue
            word = words_of(name, how)
            text = self.statement.figure(word, value, unit_of(name), basis, of=group.label)
            if name == "count":
                text = loans_of(text, int(value or 0))
            texts.append(text if name in ("share", "count") or word == "par" else f"{word} {text}")
        return ", ".join(texts)


def state_groups(query: Query, statement: Statement, book: LoanSet, rows: Rows) -> None:
    """State quantities of groups of loans: ranked, filtered or counted."""
    table = _Table(query, statement, book, rows)
    if query.over_groups:
        _state_over(table)
        return
    if query.aspect == "place":
        _state_place(table)
        return
    groups = table.select()
    if query.is_yes_no:
        statement.add(yes_no(bool(groups)))
    if query.is_count and query.order is None and not table.names:
        _count(table, groups)
        return
    groups = table.sort(groups)
    total = len(groups)
    groups = table.cut(groups)
    if not groups:
        statement.figure(f"number of {plural(table.noun)}", 0, "count", Basis(f"number of {plural(table.noun)}", book))
        statement.add(f"No {table.noun} is so.")
        return
    _state_table(table, groups, total)


def _state_table(table: _Table, groups: list[Group], total: int) -> None:
    query, statement, book = table.query, table.statement, table.book
    columns = table.columns()
    if query.order is None and (query.having or (query.where and not table.names)):
        basis = Basis(f"number of {plural(table.noun)}", book)
        count = statement.figure(f"number of {plural(table.noun)}", total, "count", basis)
        statement.add(f"{count} {table.nouns(total)}:")
    of_sums = columns[:1] in (["par"], ["share"]) and query.order is None and bool(query.where)
    if len(groups) > 1 and (query.limit or of_sums) and table.order_by in ("par", "share"):
        rows = np.sort(np.concatenate([group.rows for group in groups]))
        par, share = add_par_and_share(statement, book, rows, together=True)
        statement.add(f"Together they are {par}, {share} of the collateral principal amount.")
    for group in groups[:ROWS_SHOWN]:
        label = statement.name(group.label)
        statement.add(f"{label}: {table.cells(group, columns)}.")
    statement.add(statement.loans(len(groups)))
    if query.aspect == "limit":
        for test_id in _LIMITS[table.by]:
            add_limit(statement, test_id)
    if book.defaulted[table.rows].any() and {"par", "share"} & set(columns):
        statement.warn("defaulted loans are left out of par and shares")


def _state_place(table: _Table) -> None:
    """State the place of a group among all of them, by par."""
    book = table.book
    every = table.sort(book.groups(table.by, book.performing))
    own = {group.label for group in table.performing}
    for at, group in enumerate(every, 1):
        if group.label in own:
            basis = Basis(f"place by {SUM_OF_PAR} among {plural(table.noun)}", book, group.rows)
            place = table.statement.figure("place", at, "count", basis, of=group.label)
            label = table.statement.name(group.label)
            table.statement.add(f"{label} is number {place} of {len(every):,} {plural(table.noun)} by par.")
            table.statement.add(f"{label}: {table.cells(group, ['par', 'share'])}.")


def _state_over(table: _Table) -> None:
    """State the average or the median par of groups."""
    query, book, groups = table.query, table.book, table.performing
    sums = np.array([float(book.par[group.rows[book.performing[group.rows]]].sum()) for group in groups])
    is_median = query.aggregate == "median"
    value = float(np.median(sums) if is_median else sums.mean())
    how = "median" if is_median else "plain average"
    operation = f"{how} over {plural(table.noun)} of the sum of par_value of performing loans"
    label = f"{query.aggregate} par of {plural(table.noun)}"
    text = table.statement.figure(label, value, "amount", Basis(operation, book, table.rows))
    where = f" with loans {conditions_words(query.where)}" if query.where else ""
    table.statement.add(
        f"{capitalize(query.aggregate or 'average')} par of the {counted(len(groups), table.noun)}{where}: {text}."
    )


def _count(table: _Table, groups: list[Group]) -> None:
    """State how many groups there are."""
    statement, book, nouns = table.statement, table.book, plural(table.noun)
    basis = Basis(f"number of distinct {nouns} of loans with a par", book, table.rows)
    count = statement.figure(f"number of {nouns}", len(groups), "count", basis)
    where = conditions_words(table.query.where)
    statement.add(f"{count} {table.nouns(len(groups))}{f' with loans {where}' if where else ''}.")
    if len(table.performing) != len(table.every) and not table.query.having:
        basis = Basis(f"number of distinct {nouns} of performing loans", book, table.rows)
        label = f"number of {nouns} with performing loans"
        text = statement.figure(label, len(table.performing), "count", basis)
        statement.add(f"{text} of them have performing loans.")


def _place_of(by: str, label: str) -> float:
    return float(label) if by == "year" else float(rank(label) or DEFAULTED)


# ---- sets beside each other ----


def state_each(query: Query, statement: Statement, book: LoanSet) -> None:
    """State the same quantities of several sets, and what lies between two of them."""
    names = list(query.quantities) or ["par", "share"]
    if names in (["par"], ["share"]):
        names = ["par", "share"]
    values: dict[str, list[float]] = {name: [] for name in names}
    labels = [plain(", ".join(part.values)) if part.op == "in" else condition_words(part) for part in query.each]
    for part, label in zip(query.each, labels, strict=True):
        rows = np.flatnonzero(book.select((*query.where, part)))
        texts = []
        for name in names:
            how = how_of(name, query.aggregate)
            value, text = add_quantity(statement, book, name, rows, how, of=label)
            texts.append(f"{words_of(name, how)} {text}")
            values[name].append(np.nan if value is None else value)
        statement.name(label)
        statement.add(f"{capitalize(label)}: {', '.join(texts)}.")
    if len(labels) == 2:
        _state_gaps(query, statement, labels, values)
    if query.order is not None:
        sign = 1.0 if query.order == "most" else -1.0
        keys = [sign * value if np.isfinite(value) else -np.inf for value in values[names[0]]]
        statement.sentences.insert(0, f"{capitalize(labels[keys.index(max(keys))])}.")


def _state_gaps(query: Query, statement: Statement, labels: list[str], values: dict[str, list[float]]) -> None:
    for name, (first, last) in values.items():
        if np.isfinite(first - last):
            word = words_of(name, how_of(name, query.aggregate))
            unit: Any = unit_apart(unit_of(name))
            text = statement.figure(f"difference in {word}", first - last, unit, "the first less the second", sign=True)
            statement.add(f"{capitalize(labels[0])} less {labels[1]} in {word}: {text}.")


def state_part(query: Query, statement: Statement, book: LoanSet) -> None:
    """State the share of a set within another."""
    whole, part = (np.flatnonzero(book.select(where)) for where in (query.whole, (*query.whole, *query.where)))
    performing = whole[book.performing[whole]]
    base = performing if len(performing) else whole
    amount, total = float(book.par[np.intersect1d(part, base)].sum()), float(book.par[base].sum())
    words = conditions_words(query.whole)
    if total <= 0:
        raise Unavailable(f"there is no par in the loans {words}")
    operation = "sum of par_value of the part / sum of par_value of the whole x 100, performing loans"
    text = statement.figure("share", amount / total * 100, "percent", Basis(operation, book, part))
    par = statement.figure("par", amount, "amount", Basis(operation_of("par"), book, part))
    rest = statement.figure("par of the whole", total, "amount", Basis(operation_of("par"), book, whole))
    statement.add(f"{text} of the loans {words} (by par) are {conditions_words(query.where)}: {par} of {rest}.")
    tell_defaulted(statement, book, whole, ())
