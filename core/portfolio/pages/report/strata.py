"""Stratifications, lists of loans and obligors, and pages that are empty.

What they add up to says of all loans what the loans' own rows leave blank.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from core.portfolio.model import ratings
from core.portfolio.model.facts import Agency, Fact, Facts, FactSubject
from core.portfolio.pages.report import words
from core.portfolio.pages.report.adding import LINE_TOLERANCE, adds_up
from core.portfolio.pages.report.blocks import Blocks, PageTable
from core.portfolio.pages.report.components import decimals_at
from core.portfolio.pages.report.lines import is_running
from core.portfolio.pages.report.page import ReportPage

ROWS_MAX: Final = 300
"""Rows of one table or list that become facts."""

FACTS_MAX: Final = 3_000
"""Such facts of one file."""

TITLE_ROWS_MAX: Final = 6
"""Rows above a text that says that there is nothing in which it is looked for of what."""

_LISTED: Final = frozenset((
    "ccc", "defaulted", "deferring", "current_pay", "discount", "dip", "long_dated", "obligors",
))  # fmt: skip
"""Lists that are read; lists of trades, payments and changes are about other days."""

_AGENCIES: Final[tuple[tuple[Agency, str], ...]] = (("a", "moodys"), ("b", "sp"), ("c", "fitch"))
_OF_LOANS: Final = re.compile(r"\b(?:asset|facility|issue|loan|security) ")
_BELOW: Final = re.compile(r"\b(?:and|or) (?:below|lower|worse|less)\b")


def find_strata(pages: Iterable[tuple[ReportPage, Blocks]]) -> list[Fact]:
    """Find rows and totals of stratifications and lists, and the empty pages."""
    facts: list[Fact] = []
    for page, blocks in pages:
        for table in blocks.tables:
            if table.kind == "stratification" and "amount" in table.columns:
                facts += _stratification(table)
            elif table.kind == "list" and "amount" in table.columns:
                facts += _lists(table)
        facts += _empty(page)
        if len(facts) >= FACTS_MAX:
            break
    return facts[:FACTS_MAX]


# ---- stratifications -----------------------------------------------------------------------------------------------


def _stratification(table: PageTable) -> Iterator[Fact]:
    heading = table.headers[table.columns["name"]]
    measure = _by_what(table, heading)
    if measure is None:
        return
    agency = agency_of(heading) or agency_of(table.title)
    group = f"{table.title} . {heading}"
    yield from _rows(table, table.rows, FactSubject(measure=measure, agency=agency), group, "stratification")


def _by_what(table: PageTable, heading: str) -> str | None:
    labels = [cell.text for row in table.rows if (cell := table.cell(row, "name")).is_words]
    if sum(map(words.is_rating_label, labels)) * 2 > len(labels):
        return "rating"
    for text in (heading, table.title):
        role = words.guess("page", text).role
        if role in ("industry", "country"):
            return role
    return None


def agency_of(text: str) -> Agency | None:
    """Return whose ratings or industries a text names, if it names just one agency's."""
    named_words = words.normal(text).split()
    named: list[Agency] = [agency for agency, name in _AGENCIES if name in named_words]
    return named[0] if len(named) == 1 else None


def _rows(table: PageTable, rows: Sequence[int], subject: FactSubject, group: str, kind: str) -> Iterator[Fact]:
    """Yield the rows of a table as facts, then its total, printed or added up."""
    scale = table.magnitude("amount")
    facts: list[Fact] = []
    total: Fact | None = None
    for row in rows[: ROWS_MAX + 1]:
        cell, name = table.cell(row, "amount"), table.cell(row, "name").text
        if not cell.has_number or cell.is_percent:
            continue
        fact = Fact(
            kind="stratification" if kind == "stratification" else "list",
            label=name,
            subject=subject,
            value=cell.number * scale,
            place=table.place(row, "amount"),
            unit="amount",
            decimals=decimals_at(cell.number, cell.decimals, scale),
            group=group,
        )
        if _is_total(table, row, fact, facts):
            total = fact
        else:
            facts.append(fact)
    yield from facts
    if total is not None and total.value is not None:
        yield _total(total, subject, group, [part.value or 0.0 for part in facts])


def _total(total: Fact, subject: FactSubject, group: str, parts: Sequence[float]) -> Fact:
    assert total.value is not None, "a total has an amount"
    is_sum = adds_up(total.value, parts)
    return Fact(
        kind="total",
        label=total.label,
        subject=subject,
        value=total.value,
        place=total.place,
        unit="amount",
        decimals=total.decimals,
        group=group,
        by="sum" if is_sum else "words",
        is_guessed=not is_sum,
    )


def _is_total(table: PageTable, row: int, fact: Fact, above: Sequence[Fact]) -> bool:
    """Return whether a row is its table's total: by the word, or by its sum."""
    texts = [cell.text for cell in table.page.row(row).values() if cell.is_words]
    if any(map(words.is_total, texts)):
        return True
    is_shorter = not fact.label or len(table.page.row(row)) * 2 <= len(table.headers)
    return is_shorter and len(above) > 1 and adds_up(fact.value or 0.0, [part.value or 0.0 for part in above])


# ---- lists ---------------------------------------------------------------------------------------------------------


def _lists(table: PageTable) -> Iterator[Fact]:
    """Return the lists of a table, each below its title alone in a row."""
    groups: dict[str, list[int]] = {}
    for row in table.rows:
        groups.setdefault(table.group(row), []).append(row)
    for title, rows in groups.items():
        measure = words.guess("page", title).role or words.guess("page", table.title).role
        if measure in _LISTED:
            subject = FactSubject(measure=measure, agency=agency_of(title))
            yield from _rows(table, rows, subject, title, "list")


# ---- pages that are empty ------------------------------------------------------------------------------------------


def _empty(page: ReportPage) -> Iterator[Fact]:
    for row, column, text in page.texts():
        if not words.says_none(text) or len(page.row(row)) > 1:
            continue
        title = _title_of(page, row)
        measure = words.guess("page", title).role
        if measure in _LISTED:
            yield Fact(
                kind="empty_page",
                label=title,
                subject=FactSubject(measure=measure, agency=agency_of(title)),
                value=0.0,
                place=page.place(row, column),
                unit="amount",
                group=title,
            )


def _title_of(page: ReportPage, row: int) -> str:
    """Return the nearest lone text above that is no running one; else the sheet."""
    for above in range(row - 1, max(-1, row - 1 - TITLE_ROWS_MAX), -1):
        cells = [cell.text for cell in page.row(above).values() if cell.is_words]
        if len(cells) == 1 and not is_running(cells[0]):
            return cells[0]
    return page.sheet.name


# ---- what they say of all loans ------------------------------------------------------------------------------------


def tables_of(facts: Facts, measure: str, agency: Agency | None) -> list[tuple[Fact, tuple[Fact, ...]]]:
    """Return (total, rows) of the stratifications that add up to their total."""
    tables: list[tuple[Fact, tuple[Fact, ...]]] = []
    for total in facts.of("total", measure):
        if total.subject is not None and total.subject.agency == agency and total.by == "sum":
            rows = tuple(
                fact
                for fact in facts.of("stratification", measure)
                if fact.group == total.group and fact.subject == total.subject
            )
            if rows:
                tables.append((total, rows))
    return tables


def rated_par(facts: Facts, agency: Agency, par: float) -> tuple[dict[int, float], tuple[str, ...]] | None:
    """Return (rating rank -> par, places) by a table that has all loans' par.

    None where there is none, or a row of it is no single rating. Of several the one of issuers goes before that of the
    loans' own ratings.
    """
    return next(rating_tables(facts, agency, par), None)


def rating_tables(facts: Facts, agency: Agency, par: float) -> Iterator[tuple[dict[int, float], tuple[str, ...]]]:
    """Yield every such table, those of issuers first."""
    tables = tables_of(facts, "rating", agency)
    for total, rows in sorted(tables, key=lambda table: _OF_LOANS.search(words.normal(table[0].group)) is not None):
        ranks = [(ratings.rank(row.label, agency), row.value or 0.0) for row in rows]
        if abs((total.value or 0.0) - par) > LINE_TOLERANCE * (len(rows) + 1):
            continue
        if any(not rank and amount for rank, amount in ranks) or any(
            _BELOW.search(words.normal(row.label)) for row in rows
        ):
            continue
        by_rank: dict[int, float] = {}
        for rank, amount in ranks:
            by_rank[rank] = by_rank.get(rank, 0.0) + amount
        yield by_rank, (total.place, *(row.place for row in rows))


def ccc_share(facts: Facts, agency: Agency, par: float) -> Fact | None:
    """Return the par of CCC+ (Caa1) and below by a table with all loans' par.

    Defaulted loans are left out. Its denominator is that par.
    """
    table = rated_par(facts, agency, par)
    if table is None:
        return None
    by_rank, places = table
    below = sum(amount for rank, amount in by_rank.items() if ratings.CCC <= rank < ratings.DEFAULTED)
    return Fact(
        kind="total",
        label="CCC+ (Caa1) and below",
        subject=FactSubject(measure="ccc", agency=agency),
        value=below,
        denominator=par,
        place=places[0],
        also=places[1:],
        unit="amount",
        by="sum",
    )


def industry_shares(facts: Facts, agency: Agency | None, par: float) -> tuple[Fact, ...]:
    """Return an industry table's rows, largest first, if it has all loans' par."""
    for total, rows in tables_of(facts, "industry", agency):
        if abs((total.value or 0.0) - par) <= LINE_TOLERANCE * (len(rows) + 1):
            return tuple(sorted(rows, key=lambda row: -(row.value or 0.0)))
    return ()


def defaulted_par(facts: Facts) -> Fact | None:
    """Return the par of the defaulted loans.

    What the list of them adds up to, else a line of a calculation, else zero where a page says that there are none.
    """
    rows = facts.of("list", "defaulted")
    if rows:
        return Fact(
            kind="total",
            label=rows[0].group,
            subject=FactSubject(measure="defaulted"),
            value=sum(row.value or 0.0 for row in rows),
            place=rows[0].place,
            also=tuple(row.place for row in rows[1:]),
            unit="amount",
            decimals=rows[0].decimals,
            by="sum",
        )
    lines = [line for line in facts.of("component", "defpar") if line.value is not None and not line.is_guessed]
    if lines:
        return lines[0]
    return next(iter(facts.of("empty_page", "defaulted")), None)
