"""How each of the three trustees writes a tape.

Which identifiers it shows, its columns, headers, dates and marks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import repeat
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from core.files.write import Writable
from core.generate.deal import SHEET_ROWS_MAX
from core.generate.draft import Columns, TapeDraft
from core.generate.draws import Chance
from core.generate.sheets import with_dots, with_month_name
from core.generate.tables import AS_OF, CURRENCY, INDEX_NAME
from core.portfolio.model.ratings import SCALE_A

PAGE_LINES: Final = 60
"""Lines of the tape on one page, where it has pages."""

_CHUNK: Final = 10_000
"""Lines that are turned into Python values at a time."""


@dataclass(frozen=True, slots=True)
class TapeLines:
    """Lines of a tape's sheet: the row of the tape and the par of each."""

    row: NDArray[np.int64]
    par: NDArray[np.float64]
    first: int
    """Of the first line among all of them."""

    def __len__(self) -> int:
        return len(self.row)


Cells = Callable[[Columns, TapeLines, Chance], list[Writable]]
"""The cells of one column on some lines. Chance decides by the whole tape, so chunks make no difference."""


@dataclass(frozen=True, slots=True)
class PrintedColumn:
    """A column of a tape's sheet."""

    header: tuple[str, ...]
    """Its lines, from above; an empty one is blank."""
    cells: Cells
    number_format: str | None = None


@dataclass(frozen=True, slots=True)
class TrusteeSheet:
    """A tape's sheet, ready to be written: rows are made as they are taken."""

    name: str
    columns: Columns
    printed: tuple[PrintedColumn, ...]
    lines: TapeLines
    top: list[Sequence[Writable]]
    """Titles above the header."""
    bottom: list[Sequence[Writable]]
    chance: Chance
    page_footer: str | None = None
    """Between two pages, with the number of the first and the header again; None has no pages."""

    @property
    def header(self) -> list[Sequence[Writable]]:
        """The header's rows."""
        return [
            [line or None for line in lines] for lines in zip(*(column.header for column in self.printed), strict=True)
        ]

    @property
    def number_formats(self) -> list[str | None]:
        """The number format of each column."""
        return [each.number_format for each in self.printed]

    @property
    def row_count(self) -> int:
        """All rows from the top of the sheet."""
        breaks = 0 if self.page_footer is None else max(0, len(self.lines) - 1) // PAGE_LINES
        height = len(self.header)
        return len(self.top) + height + len(self.lines) + breaks * (1 + height) + len(self.bottom)

    def rows(self) -> Iterator[Sequence[Writable]]:
        """All rows from the top of the sheet."""
        yield from self.top
        yield from self.header
        for number, row in enumerate(self._line_rows()):
            if self.page_footer is not None and number and number % PAGE_LINES == 0:
                yield (f"{self.page_footer}, page {number // PAGE_LINES}",)
                yield from self.header
            yield row
        yield from self.bottom

    def _line_rows(self) -> Iterator[Sequence[Writable]]:
        for start in range(0, len(self.lines), _CHUNK):
            cut = slice(start, start + _CHUNK)
            part = TapeLines(self.lines.row[cut], self.lines.par[cut], start)
            yield from zip(*(column.cells(self.columns, part, self.chance) for column in self.printed), strict=True)


@dataclass(frozen=True, slots=True)
class TapeStyle:
    """How one trustee writes a tape."""

    show_identifiers: Callable[[TapeDraft], None]
    """Take away from the draft the identifiers that this trustee does not print."""
    sheet: Callable[[Columns, Chance], TrusteeSheet]


# ---- cells ---------------------------------------------------------------------------------------------------------


def _par(_: Columns, lines: TapeLines, __: Chance) -> list[Writable]:
    return list(lines.par.tolist())


def _constant(value: Writable) -> Cells:
    return lambda _, lines, __: list(repeat(value, len(lines)))


def _numbers(field: str, factor: float = 1.0, blank: str | None = None) -> Cells:
    """Numbers in the field's own unit times a factor, to five decimals."""

    def cells(columns: Columns, lines: TapeLines, _: Chance) -> list[Writable]:
        values = np.round(np.asarray(columns[field], np.float64)[lines.row] * factor, 5).tolist()
        return [blank if value != value else value for value in values]

    return cells


def _texts(field: str, words: Callable[[str], str] = str, blank: str | None = None) -> Cells:
    """Texts, each as the trustee words it."""

    def cells(columns: Columns, lines: TapeLines, _: Chance) -> list[Writable]:
        return [words(text) if text else blank for text in _read(columns[field], lines)]

    return cells


def _read(column: Any, lines: TapeLines) -> list[str]:
    if isinstance(column, tuple):
        codes, values = column
        return [values[code] if code >= 0 else "" for code in codes[lines.row].tolist()]
    texts: list[str] = column[lines.row].tolist()
    return texts


def _pad(text: str) -> str:
    return f" {text:<12}"


def _index(word: str) -> Callable[[str], str]:
    """Return the trustee's word for the book's index; another one as it stands."""
    return lambda text: word if text == INDEX_NAME else text


def _dates(write: Callable[[date], str]) -> Cells:
    def cells(columns: Columns, lines: TapeLines, _: Chance) -> list[Writable]:
        days = np.asarray(columns["maturity_date"], np.float64)[lines.row].astype("datetime64[D]")
        return [write(day) for day in days.tolist()]

    return cells


def _with_slashes(day: date) -> str:
    return f"{day.month:02}/{day.day:02}/{day.year}"


def _flags(field: str, no: Writable, yes: Writable) -> Cells:
    def cells(columns: Columns, lines: TapeLines, _: Chance) -> list[Writable]:
        return [yes if flag else no for flag in np.asarray(columns[field])[lines.row].tolist()]

    return cells


def _in_some(percent: float, question: str, cells: Cells, changed: Callable[[Writable], Writable]) -> Cells:
    """Return the cells, some of them changed: the same ones for the same tape."""

    def chosen(columns: Columns, lines: TapeLines, chance: Chance) -> list[Writable]:
        picked = chance.share(question, len(np.asarray(columns["par_value"])), percent)[lines.row].tolist()
        values = cells(columns, lines, chance)
        return [changed(value) if pick else value for value, pick in zip(values, picked, strict=True)]

    return chosen


# ---- trustee_a: the workbook of the monthly report -----------------------------------------------------------------

_LOANX_SHARE, _ISIN_SHARE = 80.0, 50.0
"""Percent of loans that trustee_a names by their LoanX id where they have one, and of the others by their ISIN."""
_WATCH_SHARE, _CONFIDENTIAL_SHARE = 6.0, 5.0


def _one_identifier(draft: TapeDraft) -> None:
    """One identifier of each loan: the LoanX id mostly, else the ISIN or the CUSIP."""
    cusip, loanx, isin = (draft.identifiers[name] for name in ("cusip", "loanx_id", "isin"))
    count = len(draft.lines)
    by_loanx = draft.chance.share("named by loanx", count, _LOANX_SHARE) | (cusip == "")
    by_loanx &= (loanx != "") & ~draft.shown
    by_isin = draft.chance.share("named by isin", count, _ISIN_SHARE) & (isin != "") & ~draft.shown & ~by_loanx
    loanx[~by_loanx] = ""
    isin[~by_isin] = ""
    cusip[by_loanx | by_isin] = ""


def _mixed_identifier(columns: Columns, lines: TapeLines, _: Chance) -> list[Writable]:
    identifiers = (_read(columns[name], lines) for name in ("loanx_id", "isin", "cusip"))
    return [loanx or isin or cusip or None for loanx, isin, cusip in zip(*identifiers, strict=True)]


def _on_watch(value: Writable) -> Writable:
    return f"{value} *-" if value in SCALE_A else value


def _confidential(value: Writable) -> Writable:
    """Return an estimate that is kept confidential.

    For a loan without a rating, so that it hides none.
    """
    return "***" if value is None else value


_REPORT: Final = (
    PrintedColumn(("LoanX ID /", "CUSIP"), _mixed_identifier),
    PrintedColumn(("Issuer", "Name"), _texts("borrower_name")),
    PrintedColumn(("Issue", "Name"), _texts("facility_name")),
    PrintedColumn(("Principal", "Balance"), _par, "#,##0.00"),
    PrintedColumn(("Unfunded", "Amount"), _constant(0.0), "#,##0.00"),
    PrintedColumn(("Market", "Price"), _numbers("price"), "0.00###"),
    PrintedColumn(("Index", ""), _texts("base_rate", _index("3 Month Term SOFR"), "-")),
    PrintedColumn(("Current", "Spread"), _numbers("spread", 0.01, "-"), "0.00###"),
    PrintedColumn(("Index", "Floor Rate"), _numbers("floor", blank="-"), "0.00###"),
    PrintedColumn(("All In", "Rate"), _numbers("all_in_rate"), "0.00###"),
    PrintedColumn(("Maturity", "Date"), _dates(with_month_name)),
    PrintedColumn(
        ("Moody's", "Rating WARF"), _in_some(_WATCH_SHARE, "on watch", _texts("rating_agency_a"), _on_watch)
    ),
    PrintedColumn(("S&P Issuer", "Rating"), _texts("rating_agency_b")),
    PrintedColumn(
        ("Fitch", "Rating"),
        _in_some(_CONFIDENTIAL_SHARE, "confidential", _texts("rating_agency_c"), _confidential),
    ),
    PrintedColumn(("Moody's", "Industry"), _texts("industry")),
    PrintedColumn(("Issuer", "Country"), _texts("country")),
    PrintedColumn(("Security", "Level"), _texts("lien_type")),
    PrintedColumn(("Default", "Obligation"), _flags("is_defaulted", "-", "Yes")),
    PrintedColumn(("Cov", "Lite"), _flags("cov_lite", "-", "Yes")),
)  # fmt: skip


def _report(columns: Columns, chance: Chance) -> TrusteeSheet:
    par = np.asarray(columns["par_value"], np.float64)
    as_of = date.fromisoformat(AS_OF)
    titles: list[Sequence[Writable]] = [
        ("Sample CLO",),
        ("Monthly Report: Asset Detail",),
        (f"As of {with_month_name(as_of)}", None, None, f"All amounts in {CURRENCY}, traded basis"),
        (),
    ]
    total: list[Writable] = [None] * len(_REPORT)
    total[0], total[3] = "Total Balance", float(par.sum())
    footer = f"© Trustee A, {with_month_name(as_of)}"
    lines = TapeLines(np.arange(len(par)), par, 0)
    return TrusteeSheet("Asset Detail", columns, _REPORT, lines, titles, [total, (footer,)], chance, footer)


# ---- trustee_b: flat files -----------------------------------------------------------------------------------------

_SLICED_SHARE: Final = 35.0
"""Percent of positions that trustee_b shows in slices."""
_SLICES: Final = (0.4, 0.35)
"""What the first slices of a position hold of its par, in whole thousands; the last one holds the rest."""


def _all_identifiers(_: TapeDraft) -> None:
    """Every identifier has a column of its own."""


def _is_bond(columns: Columns, lines: TapeLines) -> NDArray[np.bool_]:
    """Return whether a line counts as a bond: it has an ISIN and no LoanX id."""
    isin, loanx = (np.asarray(columns[name])[lines.row] for name in ("isin", "loanx_id"))
    return np.asarray((isin != "") & (loanx == ""), np.bool_)


def _funded(columns: Columns, lines: TapeLines, _: Chance) -> list[Writable]:
    return list(np.where(_is_bond(columns, lines), 0.0, lines.par).tolist())


def _level(columns: Columns, lines: TapeLines, chance: Chance) -> list[Writable]:
    bonds = _is_bond(columns, lines).tolist()
    loans = _texts("lien_type")(columns, lines, chance)
    return ["Senior Secured Bond" if is_bond else loan for is_bond, loan in zip(bonds, loans, strict=True)]


def _figi(_: Columns, lines: TapeLines, __: Chance) -> list[Writable]:
    return [f"BBG{row:09}" for row in lines.row.tolist()]


_FLAT: Final = (
    PrintedColumn(("Deal_Name",), _constant("Sample CLO")),
    PrintedColumn(("As_Of_Date",), _constant(with_month_name(date.fromisoformat(AS_OF)))),
    PrintedColumn(("Deal_Base_Currency",), _constant(CURRENCY)),
    PrintedColumn(("LoanX_ID",), _texts("loanx_id", _pad)),
    PrintedColumn(("CUSIP",), _texts("cusip")),
    PrintedColumn(("ISIN",), _texts("isin")),
    PrintedColumn(("FIGI",), _figi),
    PrintedColumn(("Issuer_Name",), _texts("borrower_name", _pad)),
    PrintedColumn(("Security_Name",), _texts("facility_name", _pad)),
    PrintedColumn(("Security_Level",), _level),
    PrintedColumn(("Principal_Funded_Balance",), _funded),
    PrintedColumn(("Commitment",), _par),
    PrintedColumn(("Mark_Price",), _numbers("price")),
    PrintedColumn(("Index_Type",), _texts("base_rate", _index("TSFR3M"))),
    PrintedColumn(("Index_Floor_Rate",), _numbers("floor")),
    PrintedColumn(("Current_Spread",), _numbers("spread", 0.01)),
    PrintedColumn(("All_In_Rate",), _numbers("all_in_rate")),
    PrintedColumn(("Maturity_Date",), _dates(with_dots)),
    PrintedColumn(("Moodys_Rating_Final",), _texts("rating_agency_a", _pad)),
    PrintedColumn(("Moodys_Rating_Unadjusted",), _texts("rating_agency_a", _pad)),
    PrintedColumn(("SP_Rating_Final",), _texts("rating_agency_b", _pad)),
    PrintedColumn(("Fitch_Rating_Final",), _texts("rating_agency_c", _pad)),
    PrintedColumn(("Moodys_Industry_Name",), _texts("industry", _pad)),
    PrintedColumn(("Country_Name",), _texts("country", _pad)),
    PrintedColumn(("Is_Default",), _flags("is_defaulted", "N", "Y")),
    PrintedColumn(("Cov_Lite",), _flags("cov_lite", "N", "Y")),
)


def _flat(columns: Columns, chance: Chance) -> TrusteeSheet:
    return TrusteeSheet("SDF_Assets", columns, _FLAT, _slices(columns, chance), [], [], chance)


def _slices(columns: Columns, chance: Chance) -> TapeLines:
    """Return a line for each row, three for some, as far as the sheet has room.

    Only what has an identifier adds up again.
    """
    par = np.asarray(columns["par_value"], np.float64)
    named = np.any([np.asarray(columns[name]) != "" for name in ("cusip", "loanx_id", "isin")], axis=0)
    room = max(0, SHEET_ROWS_MAX - 1 - len(par)) // len(_SLICES)
    sliced = np.flatnonzero(named & chance.share("slices", len(par), _SLICED_SHARE))[:room]
    first = [np.round(par[sliced] * share / 1e3) * 1e3 for share in _SLICES]
    whole = par.copy()
    whole[sliced] -= sum(first)
    row = np.concatenate((np.arange(len(par)), *repeat(sliced, len(_SLICES))))
    order = np.argsort(row, kind="stable")
    return TapeLines(row[order], np.concatenate((whole, *first))[order], 0)


# ---- trustee_c: the portal's export --------------------------------------------------------------------------------

_WITHOUT_CUSIP_SHARE: Final = 60.0
"""Percent of the loans with a LoanX id whose CUSIP trustee_c leaves blank."""
_UNSETTLED_SHARE: Final = 3.0


def _few_cusips(draft: TapeDraft) -> None:
    """No ISIN, and the CUSIP often blank where there is a LoanX id."""
    del draft.identifiers["isin"]
    blank = draft.chance.share("without cusip", len(draft.lines), _WITHOUT_CUSIP_SHARE)
    draft.identifiers["cusip"][blank & (draft.identifiers["loanx_id"] != "") & ~draft.shown] = ""


_PORTAL: Final = (
    PrintedColumn(("LoanX ID",), _texts("loanx_id")),
    PrintedColumn(("CUSIP",), _texts("cusip")),
    PrintedColumn(("Issuer/Borrower Name",), _texts("borrower_name")),
    PrintedColumn(("Security/Facility Name",), _texts("facility_name")),
    PrintedColumn(("Par Amount (Deal Currency)",), _par, "#,##0.00"),
    PrintedColumn(
        ("Current Par Amount (Issue Currency) - Settled",),
        _in_some(_UNSETTLED_SHARE, "unsettled", _par, lambda _: 0.0),
        "#,##0.00",
    ),
    PrintedColumn(("Unfunded Commitment Amount (Deal Currency) - Traded",), _constant(0.0), "#,##0.00"),
    PrintedColumn(("Issue Currency",), _constant(CURRENCY)),
    PrintedColumn(("Market Price",), _numbers("price")),
    PrintedColumn(("Reference Rate",), _texts("base_rate", _index("Term SOFR 3M"))),
    PrintedColumn(("Contractual Spread",), _numbers("spread", 0.01)),
    PrintedColumn(("Floor",), _numbers("floor")),
    PrintedColumn(("All-In-Rate (w/Floor)",), _numbers("all_in_rate")),
    PrintedColumn(("Payment Period",), _constant("3 Months")),
    PrintedColumn(("Maturity Date",), _dates(_with_slashes)),
    PrintedColumn(("Deal Issue (Derived) Rating - Moody's",), _texts("rating_agency_a")),
    PrintedColumn(("Deal Issue (Derived) Rating - S&P",), _texts("rating_agency_b")),
    PrintedColumn(("Fitch Issuer Rating",), _texts("rating_agency_c")),
    PrintedColumn(("Moody's Industry Classification",), _texts("industry")),
    PrintedColumn(("Country of Domicile",), _texts("country")),
    PrintedColumn(("Lien Type",), _texts("lien_type")),
    PrintedColumn(("Default Status",), _flags("is_defaulted", 0, 1)),
    PrintedColumn(("Is Covenant Lite",), _flags("cov_lite", 0, 1)),
)


def _portal(columns: Columns, chance: Chance) -> TrusteeSheet:
    par = np.asarray(columns["par_value"], np.float64)
    return TrusteeSheet("Client Holdings", columns, _PORTAL, TapeLines(np.arange(len(par)), par, 0), [], [], chance)


TRUSTEE_TAPES: Final = {
    "trustee_a": TapeStyle(_one_identifier, _report),
    "trustee_b": TapeStyle(_all_identifiers, _flat),
    "trustee_c": TapeStyle(_few_cusips, _portal),
}
"""The styles by the trustee's name."""
