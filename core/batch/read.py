"""The files of a month, read as the commands for one file read them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Final

import msgspec

from core.batch.order import DealTerms, MonthOrder, StagedFile
from core.definition.definition import Definition
from core.definition.document import parse_toml, ready
from core.files.read import read_files
from core.grid.sheet import Workbook
from core.interpretation.interpret import has_figures, interpreted
from core.portfolio import Portfolio
from core.portfolio.model.fields import PROFILES, Mapping
from core.recalc.book import FILLING_SECONDS_MAX
from core.recalc.confined import calculating
from core.words import first_of

TERMS_KEPT: Final = 64
"""Definitions, and mappings, that a child keeps between two months."""
NAMES_MAX: Final = 8
"""Sheets or headings that a reason names."""


class MonthRefused(Exception):
    """A step cannot be done with the files of a month; the message says why."""


@dataclass(frozen=True, slots=True)
class MonthBook:
    """A workbook that some files make."""

    book: Workbook
    originals: tuple[Workbook, ...]
    """Each file's workbook with its formulas, before they were calculated."""


@dataclass(frozen=True, slots=True)
class MonthLoans:
    """What a month's steps work on."""

    read: MonthBook
    portfolio: Portfolio
    mapping: Mapping
    definition: Definition | None


def read_month(order: MonthOrder, folder: Path) -> MonthLoans:
    """Return the loans of a month.

    Choices that the files leave open are read as their own figures say.

    Raises:
        MonthRefused: they hold no loans.
        FileRefused: one is no spreadsheet, or passes a limit.
        OSError: the machine's fault.
    """
    mapping, definition = terms_of(order.terms)
    read = read_book(order, order.files, folder)
    portfolio = Portfolio.from_workbook(read.book, mapping, as_of=order.terms.as_of, as_of_source="request")
    if not portfolio.row_count:
        raise MonthRefused(why_no_loans(read.book, portfolio))
    if has_figures(portfolio):
        portfolio = interpreted(portfolio, definition)
    return MonthLoans(read, portfolio, mapping, definition)


def read_book(order: MonthOrder, files: Sequence[StagedFile], folder: Path) -> MonthBook:
    """Return the workbook that some files make.

    Formulas that came without values are calculated.
    RAND draws numbers that follow from the files' bytes, so that the same files give the same figures.

    Raises:
        FileRefused: one is no spreadsheet, or passes a limit.
        OSError: the machine's fault.
    """
    originals: list[Workbook] = []
    now = order.options.now if order.calculates else None
    with calculating(now, FILLING_SECONDS_MAX, folder, Random(order.sha256).random) as calculate:  # noqa: S311 - RAND

        def finish(book: Workbook) -> Workbook:
            originals.append(book)
            return calculate(book)

        book = read_files([(file.name, Path(file.path)) for file in files], finish)
    return MonthBook(book, tuple(originals))


def terms_of(terms: DealTerms) -> tuple[Mapping, Definition | None]:
    """Return the mapping and the definition that some terms name."""
    mapping = PROFILES["standard_clo"] if terms.mapping is None else _mapping(terms.mapping)
    if terms.ready is not None:
        return mapping, ready(terms.ready)
    if terms.definition is None:
        return mapping, None
    own_fields = () if terms.mapping is None else tuple(field.target for field in mapping.fields)
    return mapping, _definition(terms.definition, own_fields)


@lru_cache(TERMS_KEPT)
def _mapping(document: str) -> Mapping:
    return msgspec.json.decode(document, type=Mapping)


@lru_cache(TERMS_KEPT)
def _definition(text: str, own_fields: tuple[str, ...]) -> Definition:
    return parse_toml(text, own_fields=own_fields)


def why_no_loans(book: Workbook, portfolio: Portfolio) -> str:
    """Return why a workbook gave no loans, with what was looked for and found."""
    notes = portfolio.notes
    if not notes.holdings_found:
        sheets = first_of([sheet.name for sheet in book.sheets], NAMES_MAX, repr)
        return f"no loans: {notes.message}; its sheets are {sheets}"
    blank = notes.ignored_blank_par
    reason = f"; rows without par: {blank:,} (formulas count by the values that the file carries)" if blank else ""
    headers = first_of(list(notes.matched_columns.values()), NAMES_MAX, repr)
    return f"no loans on sheet {portfolio.sheet_name!r} below the columns {headers}{reason}"
