"""How much of a report is read rightly.

Loans, fields and figures, and what is wrong without a doubt.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Final

import numpy as np

import core
from core.portfolio import Portfolio
from tests.made_reports.cells import KINDS
from tests.made_reports.doubts import Doubts
from tests.made_reports.figures import Figure, figures_of
from tests.made_reports.model import Report, csv_of, workbook_of
from tests.made_reports.truth import FIELDS, GENERAL, RATED, Truth, truth_of

EPOCH: Final = date(1970, 1, 1)
WITHIN: Final = {"par": 0.02, "unfunded": 0.02, "facility_size": 1.0, "average_life": 0.006, "spread": 0.02}
"""Item -> how far a number may be from the printed one; other numbers 0.0006."""

Count = Counter[str]


@dataclass
class Miss:
    """A column of a report that is not read rightly."""

    style: str
    seed: int
    field: str
    heading: str
    counts: Count
    read_from: str
    feeds: str
    """Fields that the column feeds instead."""
    example: str
    is_silent: bool
    changes: str

    def line(self) -> str:
        counts = ", ".join(f"{count} {kind}" for kind, count in self.counts.items())
        silent = " WITHOUT A DOUBT" if self.is_silent else ""
        changes = f" [{self.changes}]" if self.changes else ""
        return (
            f"{self.style} {self.seed} {self.field}: {self.heading}; {counts}{silent}; "
            f"read from {self.read_from or '-'}, the column feeds {self.feeds or 'none'}; {self.example}{changes}"
        )


@dataclass
class Score:
    """Cells by style and field.

    Right, wrong, missing; and every column with a wrong or missing cell.
    """

    counts: dict[tuple[str, str], Count] = field(default_factory=lambda: defaultdict(Counter))
    misses: list[Miss] = field(default_factory=list)
    reports: Count = field(default_factory=Counter)
    changes: dict[str, Count] = field(default_factory=lambda: defaultdict(Counter))
    """Cells by change of the mutator."""
    figures: Count = field(default_factory=Counter)
    figure_misses: list[str] = field(default_factory=list)

    @property
    def share(self) -> float:
        total = sum(self.counts.values(), Counter())
        return total["right"] / max(1, total.total())

    @property
    def silent(self) -> list[str]:
        """Return lines of what is wrong without a doubt."""
        return [miss.line() for miss in self.misses if miss.is_silent] + [
            line for line in self.figure_misses if "WITHOUT A DOUBT" in line
        ]

    def add_field(
        self, report: Report, name: str, outcome: Outcome, heading: str, read_from: str, feeds: str, *, doubted: bool
    ) -> None:
        """Add the cells of one field of a report."""
        self.counts[report.style, name].update(outcome.counts)
        for change in report.changes:
            self.changes[change].update(outcome.counts)
        misses = Count({kind: count for kind, count in outcome.counts.items() if kind != "right" and count})
        if misses:
            is_silent = "wrong" in misses and not doubted
            self.misses.append(
                Miss(
                    report.style,
                    report.seed,
                    name,
                    heading,
                    misses,
                    read_from,
                    feeds,
                    outcome.example,
                    is_silent,
                    ", ".join(report.changes),
                )
            )

    def add_figure(self, report: Report, figure: Figure) -> None:
        """Add a figure of a report."""
        self.figures[figure.kind] += 1
        if figure.kind != "right":
            silent = " WITHOUT A DOUBT" if figure.kind == "wrong" and not figure.is_doubtful else ""
            changes = f" [{', '.join(report.changes)}]" if report.changes else ""
            self.figure_misses.append(
                f"{report.style} {report.seed} figure {figure.name}: {figure.read}, not {figure.printed}; "
                f"{figure.kind}{silent}{changes}"
            )


@dataclass
class Outcome:
    """Cells of one field of one report."""

    counts: Count = field(default_factory=Counter)
    example: str = ""

    def add(self, kind: str, loan: int, printed: Any, read: Any) -> None:
        self.counts[kind] += 1
        if kind == "wrong" or (kind == "missing" and not self.example):
            self.example = f"loan {loan}: {read!r}, not {printed!r}"


def read_report(report: Report) -> Portfolio:
    """Read a report in the form in which it comes."""
    if report.carrier == "csv":
        return Portfolio.from_workbook(core.read(csv_of(report), name=report.file_name))
    return Portfolio.from_workbook(workbook_of(report))


def score_report(score: Score, report: Report, portfolio: Portfolio) -> None:
    """Add one report to the score."""
    truth, doubts = truth_of(report), Doubts(portfolio)
    score.reports[report.style] += 1
    rows = matched_rows(truth, portfolio)

    def add(name: str, outcome: Outcome, heading: str, own: str) -> None:
        read_from = portfolio.source_cells.get(own, "")
        feeds = ", ".join(fed_by(report, portfolio, truth.columns[name])) if name in truth.columns else ""
        score.add_field(report, name, outcome, heading, read_from, feeds, doubted=doubts.of(own))

    add("loans", _score_rows(portfolio, rows), "-", "par_value")
    for item, values in truth.items.items():
        outcome, own = _best(item, values, rows, portfolio)
        add(item, outcome, truth.headings[item], own)
    general = {}
    for own, items in GENERAL.items():
        if best := _score_general(own, items, truth, rows, portfolio):
            add(f"any {own}", best[0], "-", own)
            general[own] = best[1]
    for own, outcome in _false_fields(report, truth, rows, portfolio):
        add(f"false {own}", outcome, "carried by no column", own)
    for figure in figures_of(report, truth, portfolio, general):
        score.add_figure(report, figure)


def fed_by(report: Report, portfolio: Portfolio, column: tuple[str, str]) -> list[str]:
    """Return fields that a column of a sheet feeds."""
    sheet, letters = column
    if report.carrier == "csv":
        sheet = report.file_name.removesuffix(".csv")
    elif report.is_stacked:
        sheet = "Report"
    start = f"'{sheet}'!{letters}"
    return [
        name
        for name, cells in portfolio.source_cells.items()
        if any(part.strip().startswith(start) and part.strip()[len(start)].isdigit() for part in cells.split(","))
    ]


def matched_rows(truth: Truth, portfolio: Portfolio) -> list[int | None]:
    """Row of the portfolio for each loan.

    By an id, else by names and par, each where only one fits.
    """
    rows: list[int | None] = [None] * truth.size
    used: set[int] = set()
    for key in _keys(truth, portfolio):
        printed, read = key
        places: dict[Any, list[int]] = defaultdict(list)
        for row, value in enumerate(read):
            if value is not None and row not in used:
                places[value].append(row)
        for loan, value in enumerate(printed):
            if rows[loan] is None and value is not None and len(places.get(value, ())) == 1:
                rows[loan] = places.pop(value)[0]
                used.add(rows[loan])  # type: ignore[arg-type]
    return rows


def _keys(truth: Truth, portfolio: Portfolio) -> Iterator[tuple[list[Any], list[Any]]]:
    """Pairs of what is printed and what is read, by which loans and rows find each other."""
    for item, name in (("loanx", "loanx_id"), ("cusip", "cusip"), ("isin", "isin")):
        if item in truth.items:
            yield list(map(_folded, truth.items[item])), list(map(_folded, _read(portfolio, name)))
    par = [None if value is None else round(value) for value in truth.items["par"]]
    read_par = [None if value is None else round(value) for value in _read(portfolio, "par_value")]
    names = [pair for pair in _NAMES if pair[0] in truth.items and pair[1] in portfolio.names]
    printed = [[_name(value) for value in truth.items[item]] for item, _ in names]
    read = [list(map(_folded, _read(portfolio, name))) for _, name in names]
    for own, its in zip(printed, read, strict=True):
        yield list(zip(own, par, strict=True)), list(zip(its, read_par, strict=True))
    if "maturity" in truth.items:
        days = [None if value is None else (value - EPOCH).days for value in truth.items["maturity"]]
        yield list(zip(par, days, strict=True)), list(zip(read_par, _read(portfolio, "maturity_date"), strict=True))
    yield par, read_par
    if len(names) > 1:
        yield list(zip(*printed, strict=True)), list(zip(*read, strict=True))
    yield from zip(printed, read, strict=True)


_NAMES: Final = (
    ("borrower", "borrower_name"), ("description", "facility_name"), ("facility", "facility_name"),
)  # fmt: skip


def _read(portfolio: Portfolio, name: str) -> list[Any]:
    """A field as plain values, None for blank.

    All None where the portfolio does not have it.
    """
    if name == "lien_type":
        return (
            [None] * portfolio.row_count if portfolio.lien is None else [int(lien) or None for lien in portfolio.lien]
        )
    if name in portfolio.numbers:
        return [None if np.isnan(value) else float(value) for value in portfolio.numbers[name]]
    if name in portfolio.names:
        column = portfolio.names[name]
        values = list(column.values)
        return [values[code] if code >= 0 else None for code in column.codes]
    if name in portfolio.flags:
        return [bool(value) for value in portfolio.flags[name]]
    return [None] * portfolio.row_count


def _name(value: Any) -> Any:
    return _folded(value[0] if isinstance(value, tuple) else value)


def _folded(value: Any) -> Any:
    return "".join(sign for sign in value.casefold() if sign.isalnum()) if isinstance(value, str) else value


_WATCH: Final = re.compile(r"[ *(/].*$")
"""A watch word or mark behind a rating."""


def _same(item: str, printed: Any, read: Any) -> bool:
    kind = KINDS.get(item, "text")
    if item in RATED:
        return isinstance(read, str) and _WATCH.sub("", read.strip()).upper() == printed.upper()
    if item == "description":
        return _folded(read) in map(_folded, printed)
    if kind in ("flag", "coupon_type"):
        return bool(printed) == bool(read)
    if kind == "date":
        return bool(read == (printed - EPOCH).days)
    if kind == "lien":
        return bool(read == printed or (printed == 4 and read == 1))
    if kind == "index":
        return isinstance(read, str) and printed in read.upper()
    if isinstance(printed, float | int):
        return isinstance(read, float) and abs(read - printed) <= WITHIN.get(item, 0.0006) + abs(printed) * 1e-9
    if item == "frequency":
        return bool(_FREQUENCIES.get(_folded(read), read) == _FREQUENCIES[_folded(printed)])
    return bool(_folded(printed) == _folded(read))


_FREQUENCIES: Final[dict[Any, int]] = {
    "quarterly": 4, "4": 4, "monthly": 12, "12": 12, "semiannual": 2, "semiannually": 2, "2": 2, "q": 4, "m": 12,
}  # fmt: skip


def _compared(item: str, values: list[Any], rows: list[int | None], read: list[Any]) -> Outcome:
    """Compare an item of all loans with a field."""
    outcome = Outcome()
    for loan, (printed, row) in enumerate(zip(values, rows, strict=True)):
        own = None if row is None else read[row]
        outcome.add(_kind(item, printed, own), loan, printed, own)
    return outcome


def _kind(item: str, printed: Any, read: Any) -> str:
    if printed is None:
        is_blank = read in (None, False, "") or _folded(read) in _NO_RATING
        return "right" if is_blank else "wrong"
    if read is None:
        return "right" if printed is False or (item == "unfunded" and printed == 0.0) else "missing"
    return "right" if _same(item, printed, read) else "wrong"


_NO_RATING: Final = ("nr", "na", "unrated", "wr", "")


def _has(portfolio: Portfolio, name: str) -> bool:
    if name == "lien_type":
        return portfolio.lien is not None
    return name in portfolio.numbers or name in portfolio.names or name in portfolio.flags


def _best(item: str, values: list[Any], rows: list[int | None], portfolio: Portfolio) -> tuple[Outcome, str]:
    """Compare with each field that may say the item, and take the best."""
    outcomes = []
    for name in FIELDS[item]:
        outcome = _compared(item, values, rows, _read(portfolio, name))
        if not _has(portfolio, name):
            # Nothing is read: blank cells are no merit of the reader's.
            filled = [value for value in values if value is not None] if any(values) else []
            outcome.counts = Counter(missing=len(filled))
        outcomes.append((outcome, name))
    return max(outcomes, key=lambda pair: pair[0].counts["right"])


def _score_general(
    name: str, items: tuple[str, ...], truth: Truth, rows: list[int | None], portfolio: Portfolio
) -> tuple[Outcome, str] | None:
    """Compare a field that one of several columns may feed.

    It must be one of them, the same for all loans.
    """
    carried = [item for item in items if item in truth.items]
    if not carried or name in {own for item in carried for own in FIELDS[item]}:
        return None
    read = _read(portfolio, name)
    outcomes = [(_compared(item, truth.items[item], rows, read), item) for item in carried]
    return max(outcomes, key=lambda pair: pair[0].counts["right"])


_DERIVED: Final = frozenset(
    ("obligor", "is_fixed", "is_bond", "is_second_lien", "years_to_maturity", "rating", "industry", "recovery_rate")
)


_ROW_IDS: Final = ("asset_id", "record_key")
"""Columns that name a row: their texts may be the id of its asset."""


def _false_fields(
    report: Report, truth: Truth, rows: list[int | None], portfolio: Portfolio
) -> Iterator[tuple[str, Outcome]]:
    """Fields that no column of the report carries, where they differ from what the deal's loans are."""
    carried = {name for item in truth.items for name in FIELDS[item]} | set(GENERAL) | _DERIVED
    items = {name: item for item, names in FIELDS.items() for name in names} | {
        "fx_rate": "fx_rate",
        "is_pik": "deferring",
    }
    if any(column.item in _ROW_IDS for page in report.pages for column in page.columns):
        carried.add("asset_id")
    for name in (*portfolio.numbers, *portfolio.names, *portfolio.flags):
        if name in carried or name == "facility_rating_agency_a":
            continue
        item = items.get(name)
        values = report.deal.items.get(item or "", [None] * truth.size)
        read = _read(portfolio, name)
        outcome = Outcome()
        for loan, (true, row) in enumerate(zip(values, rows, strict=True)):
            own = None if row is None else read[row]
            if own is None or own is False or own == "" or (item and true is not None and _same(item, true, own)):
                continue
            if item == "price" and true is not None and abs(own - true) <= _price_step(report, loan):
                continue
            outcome.add("wrong", loan, true, own)
        if outcome.counts:
            yield name, outcome


def _price_step(report: Report, loan: int) -> float:
    """How far a price of rounded amounts, market value over par, may be from the price that made them."""
    step = report.habits.money / 10**report.habits.decimals
    return float(100.0 * step / report.deal.items["par"][loan])


def _score_rows(portfolio: Portfolio, rows: list[int | None]) -> Outcome:
    """Count the loans that are read, and rows that are none."""
    matched = sum(row is not None for row in rows)
    counts = Count(right=matched, missing=len(rows) - matched, wrong=max(0, portfolio.row_count - matched))
    return Outcome(counts, f"{portfolio.row_count} rows, {len(rows)} loans, {portfolio.notes.message}")
