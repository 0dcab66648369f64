"""Pages of loans joined to the first: matched rows, own loans, and warnings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.grid.places import cell_place
from core.grid.sheet import Sheet
from core.portfolio.cells.loans import UNSAID, Loans, take
from core.portfolio.cells.string_pool import key, spread_out
from core.portfolio.model import ratings
from core.portfolio.model.fields import KEYS, Lien
from core.portfolio.model.notes import DataWarning, Notes, PageNote
from core.portfolio.pages import currency, join, match
from core.portfolio.pages.identify import positions, sort_identifiers
from core.portfolio.pages.keys import id_columns, together
from core.portfolio.sheets.columns.vocabulary import heading
from core.portfolio.sheets.sections import EmptyList
from core.words import agreed, counted

OTHER_PAR_SHARE: Final = 0.2
"""Share of the joined rows with another par from which a page is one of another day or another deal."""

OTHER_PAR_ROWS: Final = 2
"""Rows with another par that it takes for that."""

ADDED_SHARE: Final = 0.5
"""Share of a page's loans that stand on no other page, from which they are loans of a second list."""

LIKE_SHARE: Final = 0.75
"""Share of the first page's headings that a list has whose loans stand on no other page."""

CHANGES_SHARE: Final = 0.5
"""Share of the loans below which a page with ratings of before is a list of changes."""

_NAMING: Final = frozenset((*KEYS, "borrower_name", "facility_name"))
"""What tells which loan a row is about, and says nothing of it."""

_CHARACTERISTIC: Final = frozenset(("maturity_date", "spread", "all_in_rate", "price", "industry"))
"""Fields of which a second list of loans has one at least."""


@dataclass(slots=True)
class PageLoans:
    """A page as read."""

    loans: Loans
    lists: str
    """The flag that is true of all its loans by its title; else ""."""
    left_out: str
    """Why nothing is taken from it; else ""."""
    title: str = ""
    """Of a list that stands below another one on its sheet."""
    shows_changes: bool = False
    """Whether its header names a rating of before: a page of few loans is a list of changes then."""


def join_loans(loans: Loans, pages: Sequence[PageLoans]) -> None:
    """Give the loans what the pages say, and put those of second lists below.

    What the loans say themselves stays; of several pages with a field the first one gives it. Every page's part is
    noted in `loans.notes`, with a warning where it can change a figure.
    """
    if not pages:
        return
    sort_identifiers(loans)
    notes = [_note(loans, page) for page in pages]
    loans.notes.pages += notes
    usable = [(page, note) for page, note in zip(pages, notes, strict=True) if not note.reason]
    for page, note in usable:
        if not page.lists or _is_part(loans, page.loans):
            _add(loans, page.loans, note)
    flagged: set[str] = set()
    lacks_par = "par_value" not in loans.numbers
    if lacks_par:
        usable.sort(key=lambda pair: "par_value" not in pair[0].loans.numbers)
    for page, note in usable:
        _join(loans, page, note, flagged)
    if lacks_par:
        _drop_without_par(loans)
    for page, note in zip(pages, notes, strict=True):
        loans.notes.warnings += _warnings_of_page(page, note, loans.sheet_name)


def _note(loans: Loans, page: PageLoans) -> PageNote:
    """Note why nothing is taken from a page, or make its rows ready to join."""
    rows = page.loans.row_count
    note = PageNote(sheet=page.loans.sheet_name, title=page.title, part="left out", rows=rows)
    if page.shows_changes and rows < CHANGES_SHARE * loans.row_count:
        page.left_out = page.left_out or "it lists changes of ratings"
    if page.left_out or not rows:
        note.reason = page.left_out or "it has no rows of loans"
        return note
    if not page.lists:
        _drop_silent(loans, page.loans)
    positions(page.loans)
    note.rows, note.lots = page.loans.row_count, page.loans.notes.lots
    loans.own_dates |= page.loans.own_dates
    return note


def _warnings_of_page(page: PageLoans, note: PageNote, sheet_name: str) -> list[DataWarning]:
    if note.part != "left out":
        return [*page.loans.notes.warnings, *_warnings(note, sheet_name)]
    has = page.loans.numbers.keys() | page.loans.texts.keys()
    if not note.rows or not has >= {"par_value", "borrower_name"}:
        return []
    return [DataWarning("page_left_out", f"{note.heading} was left out: {note.reason}.", note.rows)]


def note_empty(loans: Loans, sheet: Sheet, empty: EmptyList) -> None:
    """Take an empty list of a page for what it says: no loan has its flag.

    Where another page gives the flag to loans they keep it, with a warning.
    """
    place = cell_place(sheet, empty.row, empty.column)
    note = PageNote(sheet=sheet.name, title=empty.title, part="list")
    loans.notes.pages.append(note)
    flags = loans.flags.get(empty.flag)
    if flags is None:
        loans.flags[empty.flag] = np.zeros(loans.row_count, np.uint8)
        loans.source_cells[empty.flag] = place
        note.fields.append(empty.flag)
    elif flagged := int(np.count_nonzero(flags == 1)):
        note.conflicts[empty.flag] = flagged
        message = (
            f"{note.heading} says that there are none ({place}), and {counted(flagged, 'loan')} "
            f"{agreed(flagged, 'has/have')} {empty.flag} by another page: what that page says stays."
        )
        loans.notes.warnings.append(DataWarning("page_conflict", message, flagged, (empty.flag,)))


def _add(loans: Loans, page: Loans, note: PageNote) -> None:
    """Put the loans of a second list below: most of its rows stand nowhere else."""
    par = page.numbers.get("par_value")
    has = page.numbers.keys() | page.texts.keys() | page.ranks.keys()
    if par is None or "borrower_name" not in page.texts or not has & (_CHARACTERISTIC | set(ratings.AGENCY_OF)):
        return
    rows = match.strangers(loans, page, match.match(loans, page))
    if len(rows) < ADDED_SHARE * page.row_count:
        return
    more = Loans(page.row_count, dict(page.numbers), dict(page.texts), dict(page.categories), dict(page.flags))
    more.ranks, more.lien, more.coupon_fixed = dict(page.ranks), page.lien, page.coupon_fixed
    more.ruled = dict(page.ruled)
    take(more, rows)
    for some, notes in ((loans, loans.notes), (more, page.notes)):
        currency.mark(some, notes.matched_columns.get("par_value", ""))
    note.part, note.rows_without_loan, note.par_without_loan = "added", len(rows), _sum(par[rows])
    join.append(loans, more)


def _is_part(loans: Loans, page: Loans) -> bool:
    """Return whether a list has its loans alone, such as defaulted ones.

    It has the first page's columns, and none of its loans.
    """
    headings = [set(map(key, part.notes.matched_columns.values())) for part in (loans, page)]
    is_like = len(headings[0] & headings[1]) >= LIKE_SHARE * len(headings[0])
    return is_like and len(match.strangers(loans, page, match.match(loans, page))) == page.row_count


def _sum(par: NDArray[np.float64]) -> float:
    with np.errstate(over="ignore", invalid="ignore"):
        return float(np.nansum(par))


def _join(loans: Loans, page: PageLoans, note: PageNote, flagged: set[str]) -> None:
    """Give the loans the columns of a page.

    Args:
        flagged: flags that titles of lists have raised so far.
    """
    of_page = page.loans
    page_match = match.match(loans, of_page)
    note.ambiguous = int(np.count_nonzero(page_match.ambiguous))
    if not page_match.rows.any():
        note.reason = "none of its rows names a loan of the first page"
        return
    match.add_up_rows(of_page, page_match)
    note.rows, note.lots = of_page.row_count, of_page.notes.lots
    par = match.par_by_row(loans, of_page, page_match)
    differing = int(np.count_nonzero(par.differs))
    unlike = int(np.count_nonzero(par.differs & (par.own != 0)))
    if unlike >= OTHER_PAR_ROWS and unlike > OTHER_PAR_SHARE * len(par.own) and note.part != "added":
        note.reason = f"the par of {unlike:,} of {len(par.own):,} loans is another: of another day, deal or currency"
        return
    rest = _telling(of_page, match.unused_rows(page_match))
    if note.part != "added":
        note.part = "list" if page.lists else "joined"
        amounts = of_page.numbers.get("par_value")
        note.rows_without_loan, note.par_without_loan = len(rest), 0.0 if amounts is None else _sum(amounts[rest])
    if page.lists and page.lists not in of_page.flags:
        before = loans.flags.get(page.lists)
        denied_count = 0 if before is None else int(np.count_nonzero(page_match.rows & (before == 0)))
        if denied_count and page.lists not in flagged:
            note.conflicts[page.lists] = denied_count
        raised = np.zeros(loans.row_count, np.uint8) if before is None else before
        loans.flags[page.lists] = np.where(page_match.rows, np.uint8(1), raised)
        flagged.add(page.lists)
        note.fields.append(page.lists)
    _take_lien(loans, of_page, page_match)
    unlike_fields = _unlike(loans.notes, of_page.notes)
    if match.is_about_issuers(of_page) and not page_match.rows.all():
        unlike_fields.add("borrower_name")  # a list of the largest obligors names few of the others
    widened = join.widen(loans, of_page, page_match, unlike=unlike_fields)
    note.by, note.contradictions = page_match.by, page_match.contradictions
    note.loans_without_row = int(np.count_nonzero(~page_match.rows))
    note.fields += sorted(widened.taken)
    note.filled, note.conflicts = widened.filled, note.conflicts | widened.conflicts
    if note.part == "joined" and not (note.fields or note.filled) and match.is_about_issuers(of_page):
        note.rows_without_loan = note.ambiguous = 0  # the largest obligors, which may be groups of issuers
    if differing:
        note.conflicts["par_value"] = differing
    _take_notes(loans, of_page, note.fields)


def _take_lien(loans: Loans, page: Loans, page_match: match.PageMatch) -> None:
    """Let a page's liens win over a column of kinds of assets."""
    own, its = (part.notes.matched_columns.get("lien_type", "") for part in (loans, page))
    if loans.lien is None or page.lien is None or not _names_kind(own) or _names_kind(its):
        return
    liens = spread_out(page.lien, Lien.BLANK, page_match.at.astype(np.int32))
    is_known = (liens != Lien.BLANK) & (liens != Lien.OTHER)
    if np.count_nonzero(is_known) <= np.count_nonzero(page_match.rows) / 2:
        return
    if "is_bond" not in loans.flags and (loans.lien == Lien.BOND).any():
        loans.flags["is_bond"] = (loans.lien == Lien.BOND).astype(np.uint8)
    loans.lien = np.where(is_known, liens, loans.lien)
    _take_notes(loans, page, ["lien_type"])


def _names_kind(header: str) -> bool:
    """Return whether a header names kinds of assets: "Asset Type"."""
    return heading(header).best()[0] == "asset_type"


def _drop_without_par(loans: Loans) -> None:
    """Leave out rows without par on any page where the first has none."""
    par = loans.numbers.get("par_value")
    if par is None or np.isnan(par).all():
        return
    has = ~np.isnan(par)
    loans.notes.ignored_blank_par = loans.notes.loans_without_par = int(np.count_nonzero(~has))
    if not has.all():
        take(loans, np.flatnonzero(has))


def _drop_silent(loans: Loans, page: Loans) -> None:
    """Leave out rows with an unknown id and only a name: titles and footers."""
    says, columns = _saying(page), id_columns(page)
    if says.all() or not columns:
        return
    codes, text = together([*id_columns(loans).values(), *columns.values()])
    own, rest = codes[: len(codes) - len(columns)], codes[len(codes) - len(columns) :]
    is_known = np.zeros(len(text) + 1, np.bool_)
    for column in own:
        is_known[column[column >= 0]] = True
    keeps = says | np.any([is_known[column] for column in rest], axis=0)
    if not keeps.all():
        take(page, np.flatnonzero(keeps))


def _saying(page: Loans) -> NDArray[np.bool_]:
    """Return rows of a page that say something of a loan beside its names and ids."""
    says = np.zeros(page.row_count, np.bool_)
    for values in page.numbers.values():
        says |= ~np.isnan(values)
    for target, column in page.texts.items():
        if target not in _NAMING:
            says |= column.codes >= 0
    for flags in page.flags.values():
        says |= flags != UNSAID
    if page.lien is not None:
        says |= page.lien != Lien.BLANK
    for codes, _ in page.categories.values():
        says |= codes >= 0
    return says


def _telling(page: Loans, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return rows of a page that say something of a loan, without footers."""
    return rows[_saying(page)[rows]]


def _unlike(own: Notes, notes: Notes) -> set[str]:
    """Return fields that both have under headers of different meaning."""
    by_header = join.BY_HEADER | set(ratings.AGENCY_OF)
    return {
        target
        for target in by_header & own.matched_columns.keys() & notes.matched_columns.keys()
        if key(own.matched_columns[target]) != key(notes.matched_columns[target])
    }


def _take_notes(loans: Loans, page: Loans, fields: list[str]) -> None:
    """Take what the reader of a page noted of the fields from there."""
    for target in fields:
        if (header := page.notes.matched_columns.get(target)) is not None:
            loans.notes.matched_columns[target] = header
        if (place := page.source_cells.get(target)) is not None:
            loans.source_cells[target] = place
        if (count := page.notes.unreadable_cells.get(target)) is not None:
            loans.notes.unreadable_cells[target] = count
            _take_rows(loans, page, target)
        if target in loans.notes.missing_required:
            loans.notes.missing_required.remove(target)
    if "lien_type" in fields:
        loans.notes.lien_blank_rows = page.notes.lien_blank_rows
        loans.notes.lien_unrecognised_rows = page.notes.lien_unrecognised_rows
        _take_rows(loans, page, "lien_unrecognised_rows")


def _take_rows(loans: Loans, page: Loans, name: str) -> None:
    """Take the rows of a count from the reader of a page."""
    loans.notes.rows_of.pop(name, None)
    if name in page.notes.rows_of:
        loans.notes.rows_of[name] = page.notes.rows_of[name]


def _warnings(note: PageNote, first: str) -> list[DataWarning]:
    """Return what a page did that a reader of the figures must know."""
    data_warnings: list[DataWarning] = []

    def warn(code: str, message: str, rows: int, fields: Iterable[str] = ()) -> None:
        data_warnings.append(DataWarning(code, message, rows, tuple(fields)))

    rows, par = note.rows_without_loan, note.par_without_loan
    if note.part == "added":
        message = (
            f"{counted(rows, 'loan')} of {note.place} with a par of {par:,.2f} {agreed(rows, 'was/were')} "
            f"added to those of {first!r}."
        )
        warn("second_loan_sheet", message, rows)
    elif rows > note.ambiguous:
        rows -= note.ambiguous
        of_par = f" with a par of {par:,.2f}" if par else ""
        message = (
            f"{counted(rows, 'row')} of {note.place}{of_par} found no loan on {first!r}, and "
            f"{agreed(rows, 'is/are')} left out."
        )
        warn("page_rows_without_loan", message, rows, ["par_value"] if par else [*note.fields, *note.filled])
    if note.ambiguous and note.part in ("joined", "list"):
        message = (
            f"{counted(note.ambiguous, 'row')} of {note.place} {agreed(note.ambiguous, 'has/have')} a name or an id "
            f"that several loans of {first!r} or several rows have, and par does not tell which is meant: "
            f"{agreed(note.ambiguous, 'it is/they are')} joined to none."
        )
        warn("page_rows_ambiguous", message, note.ambiguous, [*note.fields, *note.filled])
    guessed = {how: count for how, count in note.by.items() if how not in KEYS}
    if guessed and (note.fields or note.filled or note.conflicts or note.part == "list"):
        rows = sum(guessed.values())
        ways = {
            ("the start of an identifier" if how == match.BY_START else how): count for how, count in guessed.items()
        }
        by = ", ".join(f"{count:,} by {way}" if len(ways) > 1 else f"by {way}" for way, count in ways.items())
        fields = (*note.fields, *note.filled, *note.conflicts)
        message = f"{counted(rows, 'row')} of {note.place} {agreed(rows, 'was/were')} joined {by}."
        warn("page_joined_by_name", message, rows, fields)
    if note.part == "joined" and note.fields and note.loans_without_row <= note.rows and note.loans_without_row:
        without_row = counted(note.loans_without_row, "loan")
        message = f"{note.heading} gives {', '.join(note.fields)} and says nothing of {without_row}."
        warn("page_loans_without_row", message, note.loans_without_row, note.fields)
    if note.conflicts:
        conflicts = ", ".join(f"{target} ({count:,})" for target, count in note.conflicts.items())
        stays = "its title counts for the flag, " if note.part == "list" else ""
        message = f"{note.heading} says something else of {conflicts}: {stays}what the first page says stays."
        warn("page_conflict", message, max(note.conflicts.values()), note.conflicts)
    if note.contradictions:
        message = f"The identifiers of {counted(note.contradictions, 'loan')} stand on different rows of {note.place}."
        warn("page_conflict", message, note.contradictions, (*note.fields, *note.filled, *note.conflicts))
    return data_warnings
