"""A deal's monthly report in four manners.

Workbooks of pages, of one sheet and with last month's loans, or flat files.

The loans' fields stand on many pages, as real reports have them, with the habits that a reader must see through:
stacked headers, the day above the header or in a footer, one column of mixed identifiers, masked ratings, totals
without a word, brackets for negatives, units in headers, decimal commas. A seed decides which habits a report has.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, Final
from zipfile import ZIP_DEFLATED, ZipInfo

import numpy as np

from core.files.write import Writable, write_workbook_rows
from core.files.write.deflated import zip_writer
from core.generate.deal import GeneratedDeal, GenerateError, check_words
from core.generate.draws import Chance
from core.generate.sheets import deal_name, with_dots, with_month_name
from core.generate.tables import AS_OF, BASE_RATE_PERCENT, CURRENCY, INDEX_NAME, TRANCHES

REPORTS: Final = {"pages": "xlsx", "flat": "zip", "sheet": "xlsx", "months": "xlsx"}
"""Manner of a report -> what its file's name ends in: a workbook of pages, an archive of delimited files, one sheet, a
workbook with last month's loans."""

LOANS_MAX: Final = 100_000
"""Loans of a report; its rows are made whole, a page for each field."""

MASKED: Final = ("*", "***")
MASKED_SHARE: Final = 6.0
"""Percent of the third agency's ratings that are masked."""

DISCOUNTED: Final = 80.0
"""Loans bought below this price stand on the page of discounted loans."""


Row = Sequence[Writable]


@dataclass(frozen=True, slots=True)
class GeneratedPage:
    """One page: its name and rows, and the number format of each column."""

    name: str
    rows: list[Row]
    formats: tuple[str | None, ...] = ()


@dataclass(frozen=True, slots=True)
class ExpectedLoan:
    """What a careful reader finds of one loan.

    Numbers in the units of `Portfolio`, None is blank.
    """

    identifier: str
    """The one that the report prints: LoanX id, else ISIN, else CUSIP; empty without any."""
    borrower_name: str
    facility_name: str
    par_value: float
    price: float
    purchase_price: float | None
    """Of discounted loans alone: the pages of the others do not say it."""
    spread: float | None
    floor: float | None
    all_in_rate: float
    recovery_rate: float
    maturity_date: float
    rating_agency_a: str
    rating_agency_b: str
    rating_agency_c: str
    """Empty where there is none, a mask where there is one that is not shown."""
    industry: str
    country: str
    lien_type: str
    is_defaulted: bool
    cov_lite: bool
    is_dip: bool
    is_current_pay: bool


@dataclass(frozen=True, slots=True)
class Note:
    """One class of notes."""

    name: str
    balance: float
    spread: float | None
    coupon: float | None
    oc_trigger: float | None
    ic_trigger: float | None


@dataclass(frozen=True, slots=True)
class StatedFigure:
    """A figure that the report states, as it is printed."""

    name: str
    value: float
    trigger: float
    passed: bool


@dataclass(frozen=True, slots=True)
class GeneratedReport:
    """A report and what it says."""

    manner: str
    seed: int
    name: str
    pages: tuple[GeneratedPage, ...]
    loans: tuple[ExpectedLoan, ...]
    notes: tuple[Note, ...]
    principal_cash: float
    interest_collected: float
    as_of: str
    published: tuple[StatedFigure, ...]
    delimiter: str = ","
    encoding: str = "utf-8"

    @property
    def extension(self) -> str:
        """What the report's file name ends in."""
        return REPORTS[self.manner]

    def files(self) -> list[tuple[str, bytes]]:
        """Return the pages as delimited texts by their file names."""
        return [(f"{page.name}.csv", self._delimited(page)) for page in self.pages]

    def _delimited(self, page: GeneratedPage) -> bytes:
        text = io.StringIO(newline="")
        csv.writer(text, delimiter=self.delimiter).writerows(
            ["" if value is None else value for value in row] for row in page.rows
        )
        return text.getvalue().encode(self.encoding)

    def write(self, path: Path | str, progress: Callable[[int], None] | None = None) -> None:
        """Write the report.

        A workbook or an archive, always the same bytes for the same report.

        Args:
            progress: called with the number of rows of each page that is written.
        """
        if self.extension == "xlsx":
            write_workbook_rows(
                path,
                {page.name: page.rows for page in self.pages},
                number_formats={page.name: page.formats for page in self.pages},
            )
        else:
            with open(path, "wb") as stream, zip_writer(stream) as archive:
                for name, data in self.files():
                    archive.writestr(ZipInfo(name), data, ZIP_DEFLATED)
        if progress is not None:
            progress(sum(len(page.rows) for page in self.pages))

    def write_answers(self, path: Path | str) -> None:
        """Write what a careful reader finds, as one JSON object.

        Loans, notes, cash, day, published figures.
        """
        answers = {
            "as_of": self.as_of,
            "principal_cash": self.principal_cash,
            "interest_collected": self.interest_collected,
            "loans": [_members(loan) for loan in self.loans],
            "notes": [_members(note) for note in self.notes],
            "published": [_members(figure) for figure in self.published],
        }
        Path(path).write_text(json.dumps(answers, indent=1) + "\n", encoding="utf-8")


def _members(record: ExpectedLoan | Note | StatedFigure) -> dict[str, Any]:
    return {name: getattr(record, name) for name in type(record).__dataclass_fields__}


def generate_report(deal: GeneratedDeal, manner: str, seed: int = 7) -> GeneratedReport:
    """Return the report of a deal, the same for the same arguments.

    Args:
        manner: of REPORTS.
        seed: which habits the report has, and which ratings are masked.

    Raises:
        GenerateError: an unknown manner, or more than LOANS_MAX loans.
    """
    check_words("report", (manner,), REPORTS)
    if deal.loans > LOANS_MAX:
        raise GenerateError(f"a report has at most {LOANS_MAX:,} loans, not {deal.loans:,}")
    chance = Chance(seed, deal.loans)
    loans = _loans(deal, chance)
    notes = _notes(deal)
    cash = float(deal.book.cash)
    if chance.stream("cash").random() < 0.4:  # bought and not settled yet
        cash = -cash
    interest = float(np.round(deal.book.par.sum() * 0.011, 2))
    published = _published(loans, notes, cash)
    figures: dict[str, Any] = {
        "seed": seed,
        "name": deal_name(deal.book),
        "loans": loans,
        "notes": notes,
        "principal_cash": cash,
        "interest_collected": interest,
        "as_of": AS_OF,
        "published": published,
    }
    style = _Style.drawn(chance, loans)
    if manner in _WORKBOOKS:
        return GeneratedReport(manner=manner, pages=tuple(_WORKBOOKS[manner](style, figures).all()), **figures)
    pages = tuple(_Flat(style, figures).all())
    return GeneratedReport(manner=manner, pages=pages, delimiter=style.delimiter, encoding=style.encoding, **figures)


# ---- what the report says ------------------------------------------------------------------------------------------


def _loans(deal: GeneratedDeal, chance: Chance) -> tuple[ExpectedLoan, ...]:
    columns: dict[str, list[Any]] = {}
    for name, column in deal.portfolio_columns().items():
        if isinstance(column, tuple):
            columns[name] = [column[1][code] if code >= 0 else "" for code in column[0].tolist()]
        else:
            columns[name] = column.tolist()
    third = columns["rating_agency_c"]
    masked = chance.share("masked", deal.loans, MASKED_SHARE).tolist()
    which = chance.stream("mask").integers(len(MASKED), size=deal.loans).tolist()
    columns["rating_agency_c"] = [
        MASKED[mask] if hidden and text else text for text, hidden, mask in zip(third, masked, which, strict=True)
    ]
    columns["identifier"] = [
        loanx or isin or cusip
        for loanx, isin, cusip in zip(columns["loanx_id"], columns["isin"], columns["cusip"], strict=True)
    ]
    columns["purchase_price"] = [price if price < DISCOUNTED else None for price in columns["purchase_price"]]
    for name in ("spread", "floor"):
        columns[name] = [None if value != value else value for value in columns[name]]
    names = tuple(ExpectedLoan.__dataclass_fields__)
    return tuple(ExpectedLoan(*values) for values in zip(*(columns[name] for name in names), strict=True))


def _notes(deal: GeneratedDeal) -> tuple[Note, ...]:
    return tuple(
        Note(
            name,
            percent / 100.0 * deal.book.target_par,
            spread,
            None if spread is None else BASE_RATE_PERCENT + spread / 100.0,
            oc_trigger,
            ic_trigger,
        )
        for name, percent, spread, oc_trigger, ic_trigger, _ in TRANCHES
    )


def _published(loans: tuple[ExpectedLoan, ...], notes: tuple[Note, ...], cash: float) -> tuple[StatedFigure, ...]:
    """Return the principal amount over each class, without haircuts, and the weighted averages, to two decimals."""
    performing = [loan for loan in loans if not loan.is_defaulted]
    par = np.array([loan.par_value for loan in performing])
    amount = float(par.sum()) + cash
    publisheds: list[StatedFigure] = []
    senior = 0.0
    for note in notes:
        senior += note.balance
        if note.oc_trigger is not None:
            ratio = round(amount / senior * 100.0, 2)
            name = "A/B" if note.name == "B" else note.name
            publisheds.append(
                StatedFigure(f"Class {name} Par Value Test", ratio, note.oc_trigger, ratio >= note.oc_trigger)
            )
    recovery = round(float(np.average([loan.recovery_rate for loan in performing], weights=par)), 2)
    publisheds.append(StatedFigure("Minimum Weighted Average Recovery Rate Test", recovery, 43.0, recovery >= 43.0))
    lite = round(float(par[[loan.cov_lite for loan in performing]].sum()) / amount * 100.0, 2)
    publisheds.append(StatedFigure("Cov-Lite Loans", lite, 60.0, lite <= 60.0))
    return tuple(publisheds)


# ---- habits --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Style:
    """The habits of one report."""

    day: Callable[[date], Writable]
    day_format: str | None
    rate: Callable[[float | None], Writable]
    """Of percent points."""
    rate_format: str | None
    as_of_below: bool
    stacked: bool
    total_word: str | None
    scale: float
    """Of the notes' balances, which their header says."""
    no: str
    decimal_comma: bool
    delimiter: str
    encoding: str
    order: tuple[int, ...]
    """Of the pages with loans."""

    @classmethod
    def drawn(cls, chance: Chance, loans: tuple[ExpectedLoan, ...]) -> _Style:
        stream = chance.stream("report style")
        days = [_day(loan.maturity_date) for loan in loans]
        written: list[tuple[Callable[[date], Writable], str | None]] = [
            (lambda day: day, "dd/mm/yyyy"),
            (_short, None),
            (with_month_name, None),
        ]
        if any(day.day > 12 for day in days):  # else nobody can tell the day from the month
            written.append((_with_slashes, None))
        rates: list[tuple[Callable[[float | None], Writable], str | None]] = [
            (lambda value: value, "0.00###"),
            (lambda value: None if value is None else round(value / 100.0, 9), "0.00###%"),
            (lambda value: None if value is None else f"{value:.5f}%", None),
        ]
        day, day_format = written[int(stream.integers(len(written)))]
        rate, rate_format = rates[int(stream.integers(len(rates)))]
        comma = bool(stream.random() < 0.5)
        return cls(
            day=day,
            day_format=day_format,
            rate=rate,
            rate_format=rate_format,
            as_of_below=bool(stream.random() < 0.4),
            stacked=bool(stream.random() < 0.6),
            total_word=("Total Balance", "Total", None)[int(stream.integers(3))],
            scale=(1.0, 1_000.0, 1_000_000.0)[int(stream.integers(3))],
            no=("-", "No", "N")[int(stream.integers(3))],
            decimal_comma=comma,
            delimiter=";" if comma else (",", "\t", "|", ";")[int(stream.integers(4))],
            encoding=("utf-8", "utf-8-sig", "utf-16", "cp1252")[int(stream.integers(4))],
            order=tuple(stream.permutation(4).tolist()),
        )

    def unit(self) -> str:
        """Return what the header of the notes' balances says."""
        return {1.0: "", 1_000.0: " (000s)", 1_000_000.0: " ($mm)"}[self.scale]


def _day(days: float) -> date:
    day: date = np.datetime64(int(days), "D").astype(date)
    return day


def _short(day: date) -> str:
    text = with_month_name(day)
    return text[:-4] + text[-2:]


def _with_slashes(day: date) -> str:
    return f"{day.day:02}/{day.month:02}/{day.year}"


# ---- pages ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Column:
    """A column of a page.

    The lines of its header, its cells, and whether they are dates, rates or amounts.
    """

    header: tuple[str, str]
    cells: list[Any]
    kind: str = ""


class _Pages:
    """A workbook of pages with titles, stacked headers, lists of some loans, and totals."""

    def __init__(self, style: _Style, figures: dict[str, Any]) -> None:
        self.style, self.figures = style, figures
        self.loans: tuple[ExpectedLoan, ...] = figures["loans"]

    def all(self) -> list[GeneratedPage]:
        """Return the pages in their order."""
        loans = [self.characteristics(), self.classification(), self.flags(), self.ratings()]
        lists = [self.defaulted(), self.discounted()]
        return [
            self.summary(),
            *(loans[at] for at in self.style.order),
            *(page for page in lists if page is not None),
            self.accounts(),
            self.notes(),
            self.tests(),
        ]

    def titled(self, title: str, rows: list[Row], formats: Sequence[str | None] = ()) -> GeneratedPage:
        day = f"As of: {_with_slashes(date.fromisoformat(AS_OF))}"
        top: list[Row] = [(self.figures["name"],), (title,)]
        below: list[Row] = []
        if self.style.as_of_below:
            below = [(), (day,)]
        else:
            top.append((day,))
        return GeneratedPage(title, [*top, (), *rows, *below], tuple(formats))

    def listed(
        self, title: str, loans: Sequence[ExpectedLoan], columns: list[_Column], *, total: int | None = None
    ) -> GeneratedPage:
        style = self.style
        rows: list[Row] = []
        if style.stacked:
            rows += [[column.header[0] or None for column in columns], [column.header[1] for column in columns]]
        else:
            rows.append([" ".join(part for part in column.header if part) for column in columns])
        written: dict[str, Callable[[Any], Writable]] = {"date": lambda days: style.day(_day(days)), "rate": style.rate}
        cells = [[written.get(column.kind, _same)(value) for value in column.cells] for column in columns]
        rows += [list(row) for row in zip(*cells, strict=True)]
        if total is not None:
            last: list[Writable] = [None] * len(columns)
            last[total] = sum(loan.par_value for loan in loans)
            if style.total_word is not None:
                last[0] = style.total_word
            rows.append(last)
        formats = {"date": style.day_format, "rate": style.rate_format, "amount": "#,##0.00"}
        return self.titled(title, rows, [formats.get(column.kind) for column in columns])

    def named(self, loans: Sequence[ExpectedLoan]) -> list[_Column]:
        """Return what every page begins with."""
        return [
            _Column(("Issue/Facility", "Identifier"), [loan.identifier or None for loan in loans]),
            _Column(("", "Issuer Name"), [loan.borrower_name for loan in loans]),
            _Column(("", "Facility Name"), [loan.facility_name for loan in loans]),
        ]

    def field(self, header: tuple[str, str], name: str, kind: str = "", factor: float = 1.0) -> _Column:
        values = [getattr(loan, name) for loan in self.loans]
        if factor != 1.0:
            values = [None if value is None else round(value * factor, 6) for value in values]
        return _Column(header, [None if value == "" else value for value in values], kind)

    def flag(self, header: tuple[str, str], name: str) -> _Column:
        return _Column(header, ["Yes" if getattr(loan, name) else self.style.no for loan in self.loans])

    def characteristics(self) -> GeneratedPage:
        return self.listed(
            "Asset Characteristics I",
            self.loans,
            [
                *self.named(self.loans),
                self.field(("Principal", "Balance"), "par_value", "amount"),
                _Column(("Coupon", "Type"), ["Fixed" if loan.spread is None else "Floating" for loan in self.loans]),
                self.field(("Current", "Spread"), "spread", "rate", 0.01),
                self.field(("Index", "Floor Rate"), "floor", "rate"),
                self.field(("Current", "Coupon"), "all_in_rate", "rate"),
                _Column(("Index", "Type"), [None if loan.spread is None else INDEX_NAME for loan in self.loans]),
                self.field(("Maturity", "Date"), "maturity_date", "date"),
                self.field(("Market", "Price"), "price"),
            ],
            total=3,
        )

    def classification(self) -> GeneratedPage:
        return self.listed(
            "Asset Characteristics II",
            self.loans,
            [
                *self.named(self.loans),
                self.field(("Principal", "Balance"), "par_value", "amount"),
                self.field(("Moody's Industry", "Classification"), "industry"),
                self.field(("Security", "Level"), "lien_type"),
                _Column(("", "Currency"), [CURRENCY] * len(self.loans)),
                self.field(("Issuer", "Country"), "country"),
            ],
            total=3,
        )

    def flags(self) -> GeneratedPage:
        return self.listed(
            "Asset Characteristics III",
            self.loans,
            [
                *self.named(self.loans),
                self.flag(("Cov-Lite", "Loan"), "cov_lite"),
                self.flag(("DIP", "Loan"), "is_dip"),
                self.flag(("Current Pay", "Obligation"), "is_current_pay"),
            ],
        )

    def ratings(self) -> GeneratedPage:
        return self.listed(
            "Rating Detail And Recovery",
            self.loans,
            [
                *self.named(self.loans),
                self.field(("Principal", "Balance"), "par_value", "amount"),
                self.field(("Moody's", "Rating"), "rating_agency_a"),
                self.field(("S&P", "Rating"), "rating_agency_b"),
                self.field(("Fitch", "Rating"), "rating_agency_c"),
                self.field(("Moody's", "Recovery Rate"), "recovery_rate"),
            ],
            total=3,
        )

    def some(self, title: str, loans: list[ExpectedLoan], price: bool) -> GeneratedPage | None:
        if not loans:
            return None
        columns = [
            *self.named(loans),
            _Column(("Principal", "Balance"), [loan.par_value for loan in loans], "amount"),
            _Column(("Market", "Price"), [loan.price for loan in loans]),
        ]
        if price:
            columns.append(_Column(("Purchase", "Price"), [loan.purchase_price for loan in loans]))
        return self.listed(title, loans, columns)

    def defaulted(self) -> GeneratedPage | None:
        return self.some("Defaulted Obligation Detail", [loan for loan in self.loans if loan.is_defaulted], False)

    def discounted(self) -> GeneratedPage | None:
        bought = [loan for loan in self.loans if loan.purchase_price is not None]
        return self.some("Discounted Obligations", bought, True)

    def summary(self) -> GeneratedPage:
        par = sum(loan.par_value for loan in self.loans)
        rows: list[Row] = [
            ("Closing Date:", "15/06/2024"),
            ("Deal Currency:", CURRENCY),
            ("Aggregate Principal Balance:", par),
        ]
        return self.titled("Executive Summary", rows)

    def accounts(self) -> GeneratedPage:
        cash = self.figures["principal_cash"]
        shown = f"({-cash:,.2f})" if cash < 0 else f"{cash:,.2f}"
        rows: list[Row] = [
            ("Account Name", "Principal Balance", "Interest Balance"),
            ("INTEREST ACCOUNT", "0.00", f"{self.figures['interest_collected']:,.2f}"),
            ("PRINCIPAL ACCOUNT", shown, "0.00"),
        ]
        return self.titled("Proceeds Account Summary", rows)

    def notes(self) -> GeneratedPage:
        style = self.style
        rows: list[Row] = [("Class", f"Current Balance{style.unit()}", "Spread", "Coupon", "OC Trigger", "IC Trigger")]
        for note in self.figures["notes"]:
            spread = None if note.spread is None else note.spread / 100.0
            rows.append((note.name, note.balance / style.scale, spread, note.coupon, note.oc_trigger, note.ic_trigger))
        return self.titled("Note Information", rows)

    def tests(self) -> GeneratedPage:
        rows: list[Row] = [("Test Description", "Threshold", "Current", "Result")]
        rows += [
            (figure.name, f"{figure.trigger:.2f}%", f"{figure.value:.2f}%", "Passed" if figure.passed else "Failed")
            for figure in self.figures["published"]
        ]
        return self.titled("Test Summary", rows)


def _same(value: Writable) -> Writable:
    return value


class _Sheet(_Pages):
    """One sheet: notes, accounts and tests above the loans, these by industry with subtotals, today's figures beside
    last month's, footers and the header again after each page.
    """

    def all(self) -> list[GeneratedPage]:
        """Return the sheet."""
        loans = sorted(self.loans, key=lambda loan: loan.industry)
        rows: list[Row] = [(self.figures["name"],), (f"As of {with_month_name(date.fromisoformat(AS_OF))}",), ()]
        for part in (self.notes(), self.accounts(), self.tests()):
            rows += [(part.name,), *(row for row in part.rows if len(row) > 1), ()]
        return [GeneratedPage("Report", [*rows, ("Collateral Obligations",), *self.listing(loans)])]

    def listing(self, loans: list[ExpectedLoan]) -> list[Row]:
        """Return the loans with their header, group by group."""
        group: Row = (None, None, None, "Prior Month", "Current Month", "Prior Month", "Current Month")
        names: Row = (
            "Identifier",
            "Obligor",
            "Facility",
            "Principal Balance",
            "Principal Balance",
            "Market Price",
            "Market Price",
            "Cost Price",
            "Coupon Type",
            "Spread (%)",
            "Floor (%)",
            "All In Rate",
            "Index",
            "Maturity Date",
            "Moody's",
            "S&P",
            "Fitch",
            "Moody's Recovery Rate",
            "Moody's Industry",
            "Country",
            "Security Level",
            "Is_Second_Lein",
            "Defaulted",
            "Cov-Lite",
            "DIP",
            "Current Pay",
        )
        rows: list[Row] = [group, names]
        for at, loan in enumerate(loans):
            if at and at % PAGE_LOANS == 0:
                rows += [
                    ("Some Trustee, N.A.", None, None, "Confidential", f"Page {at // PAGE_LOANS} of many"),
                    group,
                    names,
                ]
            rows.append(self.line(loan))
            if at + 1 == len(loans) or loans[at + 1].industry != loan.industry:
                same = [each for each in loans if each.industry == loan.industry]
                rows.append((len(same), f"Total {loan.industry}", None, None, sum(each.par_value for each in same)))
        total: Row = (len(loans), "Total", None, None, sum(loan.par_value for loan in loans))
        return [*rows, total, (), ("Prepared for the noteholders",)]

    def line(self, loan: ExpectedLoan) -> Row:
        """Return a loan's cells."""

        def flag(is_yes: bool) -> str:
            return "Yes" if is_yes else self.style.no

        is_second = loan.lien_type == "Second Lien"
        return (
            loan.identifier or None,
            loan.borrower_name,
            loan.facility_name,
            loan.par_value * 1.01,
            loan.par_value,
            loan.price - 1.0,
            loan.price,
            loan.purchase_price,
            "Fixed" if loan.spread is None else "Floating",
            None if loan.spread is None else round(loan.spread / 100.0, 6),
            loan.floor,
            loan.all_in_rate,
            None if loan.spread is None else INDEX_NAME,
            with_month_name(_day(loan.maturity_date)),
            loan.rating_agency_a or None,
            loan.rating_agency_b or "NR",
            loan.rating_agency_c or None,
            loan.recovery_rate,
            loan.industry,
            loan.country,
            "Senior Secured" if is_second else loan.lien_type,
            flag(is_second),
            flag(loan.is_defaulted),
            flag(loan.cov_lite),
            flag(loan.is_dip),
            flag(loan.is_current_pay),
        )


class _Months(_Pages):
    """Loans on sheets by month, today's on two of them; industries by issuer.

    Notes and accounts side by side.
    """

    def all(self) -> list[GeneratedPage]:
        """Return the pages, last month's first."""
        half = (len(self.loans) + 1) // 2
        old = self.page("Loans Feb 26", self.loans, 1.1)
        now = [self.page("Loans Mar 26", self.loans[:half]), self.page("Loans Mar 26 (2)", self.loans[half:])]
        issuers = {loan.borrower_name: (loan.borrower_name, loan.industry, loan.country) for loan in self.loans}
        industries = GeneratedPage(
            "Issuers", [("Obligor", "Moody's Industry", "Country of Domicile"), *issuers.values()]
        )
        return [old, self.beside(), *now, industries, self.flags(), self.ratings(), self.tests()]

    def page(self, name: str, loans: Sequence[ExpectedLoan], times: float = 1.0) -> GeneratedPage:
        """Return some of the loans, their par times so much."""
        header: Row = (
            "Obligor",
            "Facility",
            "LXID / CUSIP",
            "Par ($000)",
            "Bid",
            "Cost",
            "Coupon Type",
            "Margin (bps)",
            "Floor",
            "All In Rate",
            "Index",
            "Maturity",
            "Lien Type",
            "Defaulted",
        )
        rows: list[Row] = [
            (
                loan.borrower_name,
                loan.facility_name,
                loan.identifier or None,
                loan.par_value * times / 1e3,
                loan.price,
                loan.purchase_price,
                "Fixed" if loan.spread is None else "Floating",
                loan.spread,
                loan.floor,
                loan.all_in_rate,
                None if loan.spread is None else INDEX_NAME,
                self.style.day(_day(loan.maturity_date)),
                loan.lien_type,
                "Y" if loan.is_defaulted else None,
            )
            for loan in loans
        ]
        formats = [None] * len(header)
        return self.titled(name, [header, *rows], [*formats[:11], self.style.day_format])

    def beside(self) -> GeneratedPage:
        """Return notes, and accounts on their right."""
        notes, accounts = ([row for row in part.rows if len(row) > 1] for part in (self.notes(), self.accounts()))
        blank: Row = (None,) * len(accounts[0])
        accounts += [blank] * (len(notes) - len(accounts))
        return self.titled("Summary", [(*note, None, *two) for note, two in zip(notes, accounts, strict=True)])


PAGE_LOANS: Final = 40
"""Loans between two footers of the one sheet."""

_WORKBOOKS: Final = {"pages": _Pages, "sheet": _Sheet, "months": _Months}


class _Flat:
    """Files with a header row each, underscores in the headers, and constant columns of the deal."""

    def __init__(self, style: _Style, figures: dict[str, Any]) -> None:
        self.style, self.figures = style, figures
        self.loans: tuple[ExpectedLoan, ...] = figures["loans"]

    def all(self) -> list[GeneratedPage]:
        """Return the files, by name."""
        return [self.collateral(), self.assets(), self.notes(), self.accounts(), self.tests()]

    def number(self, value: float | None, decimals: int = 5) -> str:
        if value is None:
            return ""
        text = f"{value:.{decimals}f}"
        return text.replace(".", ",") if self.style.decimal_comma else text

    def file(self, name: str, headers: str, rows: Sequence[Row]) -> GeneratedPage:
        common = (self.figures["name"], with_month_name(date.fromisoformat(AS_OF)))
        return GeneratedPage(
            name, [("Deal_Name", "As_Of_Date", *headers.split(",")), *((*common, *row) for row in rows)]
        )

    def collateral(self) -> GeneratedPage:
        number = self.number
        return self.file(
            "Collateral",
            "Issuer_Name,Security_Name,Principal_Balance,Native_Currency,Coupon_Type,All_In_Rate,Index_Type,"
            "Index_Floor_Rate,Current_Spread,Country_Name,Moodys_Industry_Name,Moodys_Rating,SP_Rating,Fitch_Rating,"
            "Maturity_Date,Identifier,Market_Value",
            [
                (
                    loan.borrower_name,
                    loan.facility_name,
                    number(loan.par_value, 3),
                    CURRENCY,
                    "Fixed" if loan.spread is None else "Floating",
                    number(loan.all_in_rate),
                    "" if loan.spread is None else INDEX_NAME,
                    number(loan.floor),
                    number(None if loan.spread is None else loan.spread / 100.0),
                    loan.country,
                    loan.industry,
                    loan.rating_agency_a,
                    loan.rating_agency_b,
                    loan.rating_agency_c,
                    with_dots(_day(loan.maturity_date)),
                    loan.identifier,
                    number(loan.price),
                )
                for loan in self.loans
            ],
        )

    def assets(self) -> GeneratedPage:
        words = {True: "TRUE", False: "FALSE"}
        return self.file(
            "Asset_Level",
            "Issuer_Name,Security_Name,Identifier,Principal_Balance,Lien_Type,Is_Default,Is_Current_Pay,Is_DIP,Cov_Lite,"
            "Moodys_Recovery_Rate,Purchase_Price",
            [
                (
                    f" {loan.borrower_name:<40}",
                    loan.facility_name,
                    loan.identifier,
                    self.number(loan.par_value, 3),
                    loan.lien_type,
                    words[loan.is_defaulted],
                    words[loan.is_current_pay],
                    words[loan.is_dip],
                    words[loan.cov_lite],
                    self.number(loan.recovery_rate),
                    self.number(loan.purchase_price),
                )
                for loan in self.loans
            ],
        )

    def notes(self) -> GeneratedPage:
        style, number = self.style, self.number
        return self.file(
            "Notes",
            f"Tranche_Name,Current_Principal{style.unit()},Coupon,Spread,OC_Trigger,IC_Trigger",
            [
                (
                    note.name,
                    number(note.balance / style.scale),
                    number(note.coupon),
                    number(None if note.spread is None else note.spread / 100.0),
                    number(note.oc_trigger),
                    number(note.ic_trigger),
                )
                for note in self.figures["notes"]
            ],
        )

    def accounts(self) -> GeneratedPage:
        return self.file(
            "Accounts",
            "Account_Name,Balance",
            [
                ("Principal Account", self.number(self.figures["principal_cash"], 2)),
                ("Interest Account", self.number(self.figures["interest_collected"], 2)),
            ],
        )

    def tests(self) -> GeneratedPage:
        return self.file(
            "Test_Results",
            "Test_Name,Trigger,Current_Value,Status",
            [
                (
                    figure.name,
                    self.number(figure.trigger, 2) + "%",
                    self.number(figure.value, 2) + "%",
                    "Passed" if figure.passed else "Failed",
                )
                for figure in self.figures["published"]
            ],
        )
