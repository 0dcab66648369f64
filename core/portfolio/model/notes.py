"""What reading a portfolio saw beside its loans: places, left-out rows, faults."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from core.frames.brief import brief, shortened
from core.grid.codec import WorkbookRecord
from core.grid.sheet import ReadingRemark, Workbook
from core.grid.sheet_name import in_quotes
from core.words import capitalize

WARNING_CODES: Final = {
    "loan_data": "a key of a trade's loan_data does nothing",
    "ambiguous_date": "a date could be read with day and month the other way round",
    "as_of_conflict": "pages say different days",
    "as_of_footer": "the day stands in a footer, a title or a label of a file's own words, and may be another one",
    "file_left_out": "a file that came along with others was not read",
    "pool_left_out": "files or columns of a pool were left out, or some files lack a column",
    "lots_not_added": "rows of a pool with one identifier are not added up to one loan",
    "currencies_mixed": "loans of a pool in several currencies are added up as they are",
    "page_not_read": "a page of a document is a picture, and was not read",
    "total_differs": "a total that a document prints is not the sum of its rows",
    "layout_guessed": "how the words of a page stand in columns was guessed",
    "formulas_without_values": "formulas came without values, and were calculated when the file was read",
    "may_differ_from_excel": "a function was called whose answer Excel does not explain how it works out",
    "second_loan_sheet": "loans of another sheet were added to the pool",
    "list_left_out": "a list beside the loans with other borrowers was not read",
    "page_left_out": "a sheet with loans was left out",
    "page_rows_without_loan": "rows of another sheet found no loan, and are left out",
    "page_rows_ambiguous": "rows of another sheet fit several loans, and are joined to none",
    "page_loans_without_row": "a sheet that gives a field says nothing of some loans",
    "page_conflict": "two sheets say different things of a loan",
    "page_joined_by_name": "rows were joined by a name, or by the start of an identifier",
    "rule_broken": "rows break a rule of the mapping",
    "column_stands_in": "a column feeds a field that another one is meant for",
    "ambiguous_column": "a column could as well be another field's",
    "page_total_differs": "the total of a sheet is not the sum of its loans",
    "as_of_stands_in": "the day is that of the file or of its upload: nothing in the file says one",
    "cash_differs": "two pages differ in an account's balance",
    "labels_differ": "two labels differ in a figure or a date of the deal",
    "page_stands_in": "only a hidden sheet, or one of another day, says something of the deal",
    "pages_too_long": "pages are too long to be read for figures beside the loans",
    "notes_differ": "two pages differ in the balance of a class",
    "currency_converted": "loans in another currency were converted by the file's own rates",
    "other_currency": "an amount in another currency is not counted",
    "required_missing": "no column feeds a required field",
    "units_of_title": "a line above the loans says that amounts are in thousands or millions",
    "par_is_commitment": "par is what is committed, drawn or not",
    "lien_unrecognised": "words for a loan's lien that say none count as not first lien",
    "flag_unrecognised": "words of a column of yes or no that say neither count as no",
    "par_scale": "par is a thousand or a million times too large or small beside the notes",
    "par_unlike_notes": "the loans are much more or less than the notes",
    "as_of_outside_life": "the day lies outside of the deal's life",
    "deal_days_differ": "the file and the deal's definition or record give different days of the deal",
    "past_maturity": "performing loans that matured before the day",
    "far_maturity": "loans that mature many years after the day",
    "matures_after_deal": "many loans mature after the deal",
    "short_months": "maturities of two figures, such as 06/29, count as month and year",
    "base_rate_by_level": "base rates count as fractions by their usual level alone",
    "rating_of_another_scale": "a column of ratings is in another agency's symbols than its heading says",
    "bare_rates": "percentages without an index stand in a column of indexes and margins",
    "unit_doubtful": "values too small or large for their field's unit",
    "rates_differ": "all-in rates below the spread or the floor that they have in them",
    "country_unrecognised": "words for a country that say none count as a foreign one",
    "equal_rows": "loans whose rows are equal in every cell, and that all count",
    "borrower_of_above": "loans without a borrower take that of a row above, whose other cells differ",
    "check_digit": "identifiers whose check digit does not fit, where those of others do",
    "negative_par": "loans with a negative par",
    "no_lien": "loans that do not say their lien count as first lien",
    "lien_of_names": "the names of facilities say liens that no column says",
    "no_rating": "loans without a rating of any agency",
    "unrated_not_ccc": "most loans have no rating of any agency, and count in no CCC bucket",
    "no_price": "loans without a price",
    "no_maturity": "loans without a maturity",
    "no_collateral": "rows that are no collateral by a heading or by what they say of themselves are no loans",
    "names_split": "borrowers stand in the names of facilities, which were split",
    "names_not_split": "names of facilities that do not part count as the borrower",
    "names_above": "borrowers stand above their investments, in one column with them",
    "industry_of_headings": "the headings of groups name the industries of their loans",
    "values_of_headings": "headings above the loans, or the sheet's name, say what no column does",
    "signs_differ": "amounts of one column have the signs of several currencies",
    "par_less_unfunded": "par is what is committed less what is not drawn",
    "par_is_sum": "par is the sum of two columns: what is assigned, and what is participated",
    "par_is_funded": "par is the funded balance, not another one of the file",
    "rows_after_end": "rows below the end of the table were left out",
    "earlier_rows": "rows of earlier days in a list that has the same loans of a later day are left out",
    "days_mixed": "loans of several days stand in one list, and are added up",
    "deals_mixed": "loans of several deals stand in one list, and are added up",
    "bare_loans": "loans with a name and a par alone, where most say more: they may be sums or parts of others",
    "unidentified_rows": "rows with a par and nothing that names a loan were left out",
    "error_cells": "cells with an error count as blank",
    "unreadable_cells": "cells that are no value of their field count as blank",
    "conflicting_lots": "lots of one position say different things",
    "circular_reference": "cells need each other's results: they keep the values that they had",
    "not_converged": "an iterative calculation was not settled when its iterations were done",
    "leading_zeros": "CUSIPs that a spreadsheet made numbers of, and which lost leading zeros",
    "destroyed_identifiers": "identifiers that a spreadsheet made numbers of",
    "interest_estimated": "interest coverage rests on an estimate of interest",
    "fees_estimated": "interest coverage rests on an estimate of senior fees",
    "interest_as_printed": "the numerator of interest coverage is the file's own: it prints no parts",
    "no_base_rate": "interest is the spread alone",
    "haircuts_as_printed": "the file's own calculation has other haircuts than its loans give, and counts",
    "ccc_excess_not_shown": "CCC above its limit that only a rating table has is carried as a loan without a price",
    "ccc_by_rating_table": "CCC that masked or blank ratings hide counts as the agency's rating table has it",
    "industries_by_table": "no row names an industry: the file's own table of industries counts",
    "defaults_as_printed": "no row says which loans are defaulted: what the file prints of them counts",
    "no_principal_cash": "principal cash is not known, and counts as 0",
    "recovery_assumed": "recovery rates are those of the kind of loan",
    "rows_without_par": "rows without a par were left out",
    "no_identifier": "no loan of a tape has an identifier",
    "days_differ": "a tape, its file and the workbook that it is compared with are of different days",
    "par_in_thousands": "par of a side of a comparison was multiplied by a thousand",
    "no_loans": "no loans were found",
    "few_matched": "most loans of a tape and a workbook are not the same ones",
    "matched_by_doubtful_identifier": "loans were matched by an identifier that fails its check digit or shape",
    "matched_by_print": "loans were matched by an identifier that the two sides print in different ways",
    "matched_by_name": "loans were matched by the borrower's name",
    "shared_keys": "several loans of a side share a key, and were paired by nearest par",
    "sides_swapped": "the tape looks like the manager's workbook",
    "definition_currency": "the definition is of a deal in another currency than the file's loans",
    "definition_days": "the definition and the file have other dates of the deal, which never change",
    "definition_limits": "most limits that the file prints are not those of the definition's tests",
    "home_elsewhere": "most loans are outside the home countries by which they are tested",
    "definition_classes": "classes of the definition of which the file has no notes",
    "definition_without_base": "the definition names no base: what it says nothing of goes by its market's",
    "amount_stated": "an amount of the deal is the definition's: the file has none",
    "amount_differs": "the definition states an amount of which the file prints another, which counts",
    "figure_corrected": "the definition corrects a figure of the file",
    "correction_left_out": "a correction of the definition may be of another day, or is of a class that the file lacks",
    "index_rate_stated": "the level of an index is the definition's: the file has none",
    "index_rate_differs": "the definition states another level of the loans' index than the file, whose own counts",
    "standard_definition": "no definition of the deal decides: the ready-made one of its market is used",
    "masked_word": "a word that is no rating comes again in a column of ratings, and counts as a masked one",
    "masked_by_rating_table": "ratings that are not shown, of which a rating table says how much has which",
    "masked_ratings": "ratings that are not shown, and what they count as",
    "obligors_alike": "obligors of like names that would be the largest one together",
    "reference_coupon_unknown": "fixed-rate loans whose excess coupon the average spread leaves out",
    "excess_spread_as_printed": "what the spread test adds to the loans' spreads, as the file prints it",
    "excess_coupon_floored": "coupons below their reference, which take nothing off the file's own average spread",
    "reference_coupon_by_test": "an excess coupon that is counted over the limit of the coupon test",
    "ratings_by_printed": "which of an agency's columns of ratings counts: its CCC par is the printed one",
    "factor_by_printed": "the column of the rating factor: it gives the printed one, and the CCC bucket another",
    "par_by_printed": "which of several columns of par counts: with it the loans make a printed amount",
    "base_rate_by_page": "the level of the index by a page of rates",
    "obligor_families": "obligors that count as one by the file's page of the largest obligors",
    "affiliates_by_name": "obligors that count as one by their names",
    "bonds_secured": "bonds that count as senior secured because nothing says otherwise",
    "reading_proposed": "a choice that the file leaves open was read by one amount that ties to the cent",
    "reading_differs": "the file's own figures tie by another reading than the definition's",
    "published_differs": "the file's own figures of tests are not ours",
    "no_moodys_rating": "the rating factor on Moody's scale is by other agencies' ratings",
    "recovery_agency": "whose recovery rates are averaged, where it is not Moody's",
    "lives_by_maturity": "average lives that leave scheduled payments out",
    "trade_price": "a trade without a price, and the price that it is made at",
    "trade_match": "the loan that a trade means, where its words leave that open",
    "trade_fields": "what a bought loan lacks, and what counts then",
    "trade_interest": "interest of the period that trades do not move",
    "universe_price": "loans to choose from have no price, and are not bought",
    "universe_trade": "a loan to choose from cannot be traded",
}
"""What may be said of a source whose figures could be wrong, or less than they seem, by code."""


class DataWarning(msgspec.Struct, frozen=True, omit_defaults=True):
    """What was guessed, left out or could not be read, said at the top of every result."""

    code: str
    """Kind of warning, such as as_of_stands_in; it keeps its spelling."""
    message: str
    """For a reader: what was seen, where, and what was done."""
    rows: int | None = None
    """How many rows or cells it is about. Null: not counted."""
    fields: tuple[str, ...] = ()
    """The fields that it is about, those of the deal and the notes as deal.principal_cash, tranches.current_balance;
    left out where its code says what it is about."""

    def __repr__(self) -> str:
        return shortened(f"DataWarning({self.code!r}, {self.message!r})")


def warn_of_formulas(book: Workbook | WorkbookRecord) -> list[DataWarning]:
    """Warn of formulas that came without values, and of values to doubt."""
    filled = book.filled
    warnings = [] if filled is None else [DataWarning("formulas_without_values", filled.message, filled.cells)]
    return warnings + [DataWarning(doubt.code, f"{capitalize(doubt.message)}.", doubt.cells) for doubt in book.doubts]


def warn_of_reading(book: Workbook) -> list[DataWarning]:
    """Warn of what the reader of a document guessed, or could not make out."""
    return [DataWarning(remark.code, _with_rows(remark), len(remark.rows) or None) for remark in book.remarks]


def _with_rows(remark: ReadingRemark) -> str:
    """Return the message of a remark, with the rows of the sheet that it is about."""
    return with_rows(remark.message, remark.sheet, [row + 1 for row in remark.rows])


def with_rows(message: str, sheet: str, rows: Sequence[object], count: int | None = None) -> str:
    """Return a message with the rows of a sheet that it is about behind it.

    Args:
        rows: the first ones, by their numbers from 1; the message stays as it is without any.
        count: how many there are; None for as many as are given.
    """
    if not rows:
        return message
    count = max(len(rows), count or 0)
    more = count - min(ROWS_SHOWN, len(rows))
    shown = ", ".join(map(str, rows[:ROWS_SHOWN])) + (f" and {more:,} more" if more > 0 else "")
    return f"{message.rstrip('.')} ({in_quotes(sheet)}, {'row' if count == 1 else 'rows'} {shown})."


READING_CODES: Final = frozenset(("page_not_read", "total_differs", "layout_guessed"))
"""What `warn_of_reading` warns of: rows of the document may be missing from any figure."""


def row_texts(rows: NDArray[np.signedinteger], page_lines: NDArray[np.int32] | None) -> list[str]:
    """Return the first rows of a sheet, from 1, with their pages where it has any."""
    shown = rows[:ROWS_SHOWN].tolist()
    return [str(row) if page_lines is None else f"{row} on page {page_lines[row - 1][0]}" for row in shown]


ROWS_SHOWN: Final = 20
"""Rows that a warning names."""


WARNING_LENGTH_MAX: Final = 20_000
"""Characters of a warning's message. It may name sheets and columns of a stranger's file, and every test that differs:
as much as a hundred long names take."""


LINE_LENGTH_MAX: Final = 10_000
"""Characters of a line of warnings of one kind, where there is more than one."""


def limit_warnings(warnings: Sequence[DataWarning]) -> list[DataWarning]:
    """Return the warnings, each once; a message longer than any list is cut."""
    return [
        fromkey
        if len(fromkey.message) <= WARNING_LENGTH_MAX
        else msgspec.structs.replace(fromkey, message=fromkey.message[: WARNING_LENGTH_MAX - 3] + "...")
        for fromkey in dict.fromkeys(warnings)
    ]


def warning_texts(warnings: Sequence[DataWarning]) -> list[str]:
    """Return a line for each kind of warning, with all messages of the kind.

    Kinds stand in the order in which they first come; a further line of the kind where they are longer than
    `LINE_LENGTH_MAX`.
    """
    kinds: dict[str, list[str]] = {}
    for warning in warnings:
        lines = kinds.setdefault(warning.code, [])
        if lines and len(lines[-1]) + len(warning.message) <= LINE_LENGTH_MAX:
            lines[-1] = f"{lines[-1].removesuffix('.')}; {warning.message}"
        else:
            lines.append(f"{warning.code}: {warning.message}")
    return [line for lines in kinds.values() for line in lines]


def of_side(side: str, warnings: Iterable[DataWarning]) -> list[DataWarning]:
    """Return the warnings of one of two files, which they name."""
    return [msgspec.structs.replace(warning, message=f"{side}: {warning.message}") for warning in warnings]


@dataclass(slots=True, kw_only=True)
class PageNote:
    """What became of another sheet that says something of the loans."""

    sheet: str
    """Its name."""
    title: str = ""
    """Of a list that stands below another one on the sheet."""
    part: Literal["joined", "list", "added", "left out"]
    """Its fields were joined to the loans; so were those of a list of some of them, with what its title says; its loans
    stand in the pool beside the first sheet's; nothing was taken from it."""
    reason: str = ""
    """Why it is left out."""
    rows: int = 0
    """Loans on it, lots added up."""
    lots: int = 0
    """Rows that were added up with others of one identifier."""
    by: dict[str, int] = field(default_factory=dict)
    """What joined them -> loans: an identifier, "start of an identifier", "borrower and facility" or one of the two."""
    fields: list[str] = field(default_factory=list)
    """Fields that only it has."""
    filled: dict[str, int] = field(default_factory=dict)
    """Field -> blanks that it filled."""
    conflicts: dict[str, int] = field(default_factory=dict)
    """Field -> loans for which it says something else; the sheet that names more fields counts."""
    rows_without_loan: int = 0
    """Rows on it of no loan of the first sheet."""
    par_without_loan: float = 0.0
    """Their par, in currency units."""
    ambiguous: int = 0
    """Of the rows without a loan those that fit several, or several of which fit one."""
    loans_without_row: int = 0
    """Loans of the first sheet of which it says nothing."""
    contradictions: int = 0
    """Loans whose identifiers stand on different rows of it."""

    __repr__ = brief

    @property
    def place(self) -> str:
        """Return the sheet, or the list of it, for a sentence."""
        return f"list {self.title!r} of sheet {self.sheet!r}" if self.title else f"sheet {self.sheet!r}"

    @property
    def heading(self) -> str:
        """Return the same at the beginning of a sentence."""
        return capitalize(self.place)


@dataclass(frozen=True, slots=True)
class ObligorFamily:
    """Obligors that a file's page of the largest obligors counts as one."""

    name: str
    """As that page prints it."""
    obligors: tuple[str, ...]
    """As the loans name them."""
    place: str
    """Where the page prints their sum."""

    __repr__ = brief


@dataclass(slots=True, kw_only=True)
class Notes:
    """What was noted while a source was read; counts are of rows before lots."""

    # The source

    holdings_found: bool = False
    """False where no sheet has loans: `message` says why."""
    message: str = ""
    header_row: int | None = None
    """0-based; None where the loans come from no sheet."""
    matched_columns: dict[str, str] = field(default_factory=dict)
    """Field -> the header of its column."""
    missing_required: list[str] = field(default_factory=list)
    """Fields that the mapping requires and no column feeds."""
    sheets_not_read: list[str] = field(default_factory=list)
    """Other sheets with a header of loans that are left out."""
    pages: list[PageNote] = field(default_factory=list)
    """Other sheets that say something of loans, those that name most fields first."""
    as_of_column: float | None = None
    """The latest day of an as_of column given as an array, days since 1970-01-01."""

    # Rows that are no loans

    ignored_blank_par: int | None = None
    """Without a par that can be read; None where nobody counted them."""
    loans_without_par: int = 0
    """Of these, those that look like loans, not like the words of a page's foot."""
    section_rows: int = 0
    """Headings of groups."""
    total_rows: int = 0
    subtotal_rows: int = 0
    cash_rows: int = 0
    repeated_headers: int = 0
    unidentified_rows: int = 0
    """Without a name and an identifier."""
    rows_after_end: int = 0
    """Below the end of the table, those that look like loans."""
    no_collateral_rows: int = 0
    """Under a heading that says that they are no collateral: equity, warrants, what is sold or not yet settled."""
    no_collateral_par: float = 0.0
    """Currency units."""

    # Loans

    filled_borrowers: int = 0
    """With the borrower of a row above."""
    negative_par_rows: int | None = None
    """None where nobody counted them."""
    lien_blank_rows: int = 0
    lien_unrecognised_rows: int = 0
    zero_prices: int = 0
    """Performing, with a price of 0 that is read as blank."""
    zero_purchase_prices: int = 0
    """Read as blank, too."""
    rule_failures: dict[str, dict[str, int]] = field(default_factory=dict)
    """Field -> rule of the mapping -> rows that break it."""
    lots: int = 0
    """Added up with other rows of one identifier."""
    conflicting_lots: int = 0
    """Positions whose lots differ in a rating or in the maturity."""
    rows_without_obligor: int = 0
    """After lots are added up."""
    families: list[ObligorFamily] = field(default_factory=list)
    """Obligors that count as one."""

    # What a result says first

    warnings: list[DataWarning] = field(default_factory=list)

    # What a definition says of the file

    stated: dict[str, float] = field(default_factory=dict)
    """Field of the deal, or of the notes and the class -> what a definition said of it. It is said once: trades move
    principal cash afterwards."""

    # Cells

    error_cells: int = 0
    """With an error, in the columns that were read."""
    unreadable_cells: dict[str, int] = field(default_factory=dict)
    """Field -> cells with something in them that is no value of it."""
    destroyed_identifiers: int = 0
    """Which a spreadsheet made numbers in scientific notation of."""
    placeholder_identifiers: int = 0
    """Which stand for an unknown one ("PRIVATE", nine zeros)."""
    rows_of: dict[str, tuple[str, list[str]]] = field(default_factory=dict)
    """A count's name, or a field with unreadable cells -> the sheet, and the first rows of it that it is of."""

    def with_rows_of(self, name: str, message: str, count: int) -> str:
        """Return what is said of a count, with its rows."""
        return with_rows(message, *self.rows_of[name], count) if name in self.rows_of else message

    __repr__ = brief
