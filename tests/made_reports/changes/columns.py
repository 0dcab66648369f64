"""Changes of a page's columns.

Other words, another order, merged cells, columns that carry nothing, blank headings.
"""

from __future__ import annotations

from random import Random
from typing import Any, Final

from tests.made_reports.changes.spelling import respelled
from tests.made_reports.model import Column, Page, Report
from tests.made_reports.rate_cells import rate_cells
from tests.made_reports.sinks import sink_column
from tests.made_reports.words import PHRASES, SINKS

BLANK_SHARE: Final = 0.2
"""Of the headings that are blanked."""

_APART: Final = ("report_date", "par_settled", "par_native", "fx_rate", "position_type")
"""Columns that stand beside others on purpose: a report that has none gets none."""

_MARKED: Final = ("(1)", "(a)", "(2)(3)", "*", "\u00b2", " (b)")


def rename(rng: Random, report: Report) -> bool:
    """Give some columns another heading, or another spelling of theirs."""
    for page in report.pages:
        share = rng.uniform(0.2, 0.7)
        for column in page.columns:
            if rng.random() < share:
                column.heading = _renamed(rng, column)
        _keep_distinct(page)
    return True


def _renamed(rng: Random, column: Column) -> str:
    words = column.heading
    if rng.random() < 0.6:
        words = rng.choice(_choices(column))
    return respelled(rng, words) if rng.random() < 0.6 else words


def _choices(column: Column) -> list[str]:
    unit = next((unit for unit in _UNITS if unit in column.heading), "")
    if column.item in SINKS:
        return SINKS[column.item]
    if column.item not in PHRASES:
        return [column.heading]
    by_register = PHRASES[column.item]
    registers = ["group"] if column.group else sorted(set(by_register) - {"group"})
    return [phrase + unit for register in registers for phrase in by_register[register]]


_UNITS: Final = (" (USD)", " (bps)", " bps", " (bp)", " (000s)", " ($000)", " (in thousands)")


def _keep_distinct(page: Page) -> None:
    """Number headings that are the same as one before, as nobody could tell the columns apart."""
    seen: set[tuple[str, str]] = set()
    for column in page.columns:
        for phrase in (column.heading, *_choices(column)):
            key = (column.group, "".join(filter(str.isalnum, phrase.lower())))
            if key not in seen:
                column.heading = phrase
                seen.add(key)
                break


def reorder(rng: Random, report: Report) -> bool:
    """Put the columns of each page in another order; those of a group stay together."""
    for page in report.pages:
        if is_carried_down(page):
            continue
        runs: list[list[Column]] = []
        for column in page.columns:
            if runs and column.group and runs[-1][-1].group == column.group:
                runs[-1].append(column)
            else:
                runs.append([column])
        rng.shuffle(runs)
        page.columns = [column for run in runs for column in run]
    return True


def is_carried_down(page: Page) -> bool:
    """Whether the borrower stands on a line of its own above its loans, in the first column."""
    column = page.column("borrower")
    return column is not None and not any(column.cells)


def merge_names(rng: Random, report: Report) -> bool:
    """Write issuer and facility into one cell, on every page that has both."""
    separator = rng.choice((" - ", " / ", " | "))
    words = rng.choice([phrase for phrases in PHRASES["description"].values() for phrase in phrases])
    merged = False
    for page in report.pages:
        borrower, facility = page.column("borrower"), page.column("facility")
        if borrower is None or facility is None or is_carried_down(page) or facility.values is None:
            continue
        cells = [f"{a}{separator}{b}" for a, b in zip(borrower.cells, facility.cells, strict=True)]
        whole = Column("description", words, list(cells), list(zip(cells, facility.values, strict=True)))
        whole.also = {"borrower": borrower.values or []}
        page.columns[page.columns.index(borrower)] = whole
        page.columns.remove(facility)
        merged = True
    return merged


def merge_rates(rng: Random, report: Report) -> bool:
    """Write index and spread into one cell."""
    for page in report.pages:
        spread, index = page.column("spread"), page.column("index")
        if spread is None or index is None or report.carrier == "csv" or spread.group or index.group:
            continue
        column = rate_cells(rng, report.deal, page.loans, has_all_in=page.column("all_in") is not None)
        column.heading = rng.choice(("Spread", "Rate", "Index / Spread", "Reference Rate + Spread", "Margin"))
        page.columns[page.columns.index(spread)] = column
        page.columns.remove(index)
        return True
    return False


def add_sinks(rng: Random, report: Report) -> bool:
    """Put columns that carry no field among the others."""
    for page in report.pages:
        own = {column.item for column in page.columns}
        sinks = [sink for sink in SINKS if sink not in own and sink not in _APART]
        for sink in rng.sample(sinks, rng.randrange(1, 5)):
            column = sink_column(rng, report.deal, page.loans, sink, report.habits)
            page.columns.insert(_place(rng, page), column)
        _keep_distinct(page)
    return True


def add_blank_columns(rng: Random, report: Report) -> bool:
    """Put empty columns among the others, as reports do that are made for printing."""
    for page in report.pages:
        for _ in range(rng.randrange(1, 4)):
            page.columns.insert(_place(rng, page), Column("blank", "", [None] * len(page.loans)))
    return True


def _place(rng: Random, page: Page) -> int:
    """Draw a place for a column that breaks no group."""
    places = [
        at
        for at in range(is_carried_down(page), len(page.columns) + 1)
        if not (0 < at < len(page.columns) and page.columns[at].group and page.columns[at - 1].group)
    ]
    return rng.choice(places)


def add_marks(rng: Random, report: Report) -> bool:
    """Put footnote marks behind names, and what they mean below the table."""
    for page in report.pages:
        marked: Column | None = page.column("borrower") or page.column("description")
        if marked is not None and not is_carried_down(page):
            marked.marks = [rng.choice(_MARKED) if rng.random() < 0.15 else "" for _ in marked.cells]
            page.foot += ["(1) Denotes a restructured obligation.", "(2) Unsettled as of the determination date."]
    return True


def add_watches(rng: Random, report: Report) -> bool:
    """Put marks of watches behind some ratings."""
    marks = rng.choice(((" *-", " *+"), ("*-", "*+"), (" (Neg)", " (Pos)"), (" /*-", " /*+")))
    for page in report.pages:
        for column in page.columns:
            if column.item in _RATED:
                column.marks = [rng.choice(marks) if cell and rng.random() < 0.08 else "" for cell in column.cells]
                column.marks = [
                    "" if cell in ("NR", "***") else own for cell, own in zip(column.cells, column.marks, strict=True)
                ]
    return True


_RATED: Final = ("moodys", "moodys_cfr", "moodys_facility", "sp", "sp_issuer", "sp_facility", "fitch")


def use_thousands(rng: Random, report: Report) -> bool:
    """Print amounts in thousands, and say so in their headings."""
    if report.habits.money != 1.0 or report.habits.comma or report.habits.sign:
        return False
    words = rng.choice((" (000s)", " ($000)", " (in thousands)"))
    for page in report.pages:
        for column in page.columns:
            if column.adds or column.item in ("facility_size", "par_native"):
                column.cells = [_thousandth(cell) for cell in column.cells]
                column.heading += words
    return True


def _thousandth(cell: Any) -> Any:
    return round(cell / 1_000, 5) if isinstance(cell, int | float) else cell


def blank_headings(rng: Random, report: Report) -> None:
    """Blank a fifth of the headings."""
    columns = [column for page in report.pages if page.is_current for column in page.columns if column.heading]
    for column in rng.sample(columns, round(len(columns) * BLANK_SHARE)):
        column.heading = column.group = ""
