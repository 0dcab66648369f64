"""What the reader of a workbook detects and why, for a person to check."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from collections.abc import Mapping as Dict
from dataclasses import replace
from itertools import chain, islice
from typing import Final, Literal, cast

import numpy as np
from numpy.typing import NDArray

from core.grid.address import column_name
from core.grid.sheet import Sheet, Workbook
from core.portfolio.cells import number_cells
from core.portfolio.cells.loans import Loans
from core.portfolio.cells.scaling import Scale
from core.portfolio.cells.string_pool import Cells, key
from core.portfolio.mapping.column_roles import GAVE_WAY, Roles, page_columns, show_value
from core.portfolio.mapping.detected import (
    Alternative,
    DetectedColumn,
    DetectedHeader,
    DetectedSheet,
    Detection,
    LeftOut,
    Match,
    PageColumns,
    Unmapped,
    Value,
)
from core.portfolio.mapping.joined import join_pages
from core.portfolio.mapping.reader import LoanReader
from core.portfolio.mapping.sheet_loans import read_loans
from core.portfolio.model.fields import Field, Lien, Mapping, mapping_of
from core.portfolio.model.notes import limit_warnings
from core.portfolio.pages.report.read import read_report
from core.portfolio.pages.sheet_kinds import SheetKind, kinds
from core.portfolio.sheets.below import RowsBelow
from core.portfolio.sheets.columns import vocabulary
from core.portfolio.sheets.columns.roles import OF_ALIAS
from core.portfolio.sheets.headings import header, scan, wording
from core.portfolio.sheets.headings.match import HeaderMatch
from core.portfolio.sheets.headings.sides import has_cells
from core.portfolio.sheets.locate import header_words, locate, no_loans
from core.portfolio.sheets.located import LocatedBook, LocatedTable, SheetCandidate
from core.words import counted

SAMPLES_MAX: Final = 3
"""Values of a column that are shown."""

PLACES_MAX: Final = 5
"""Rows of a kind that are shown one by one."""

ALTERNATIVES_MAX: Final = 50
"""Other columns of a field that are shown."""

NEAREST_MAX: Final = 50
"""Headers of a row that is none that are shown."""


def detect_columns(
    book: Workbook,
    mapping: Mapping | str | None = None,
    *,
    sheet: str | None = None,
    columns_max: int | None = None,
) -> Detection:
    """Explain how the reader finds the loans of a workbook under a mapping.

    The mapping may be the name of a built-in one; standard_clo without one.

    Args:
        sheet: look at this sheet only, and join no others to it.
        columns_max: how many columns are told of that feed no field, and how many of other sheets; None: all.

    Raises:
        KeyError: no sheet has that name.
        UnknownMapping: no built-in mapping has the name.
    """
    mapping = mapping_of(mapping)
    located = locate(book, mapping, sheet=sheet)
    holdings = located.loans
    sheets = tuple(_sheets(located))
    if holdings is None:
        return replace(_nothing(located), sheets=_of_kinds(sheets, kinds(located, read_report(located))))
    reader, loans, report = read_loans(located, holdings)
    detection = _explain(holdings, mapping, reader, loans)
    if sheet is None:
        join_pages(located, loans)
        detection = _with_pages(detection, loans, page_columns(located.pages))
    sheet_kinds = kinds(located, report, loans.notes.pages)
    return _limit_columns(replace(detection, sheets=_of_kinds(sheets, sheet_kinds)), columns_max)


_OF_NAMES: Final = frozenset(("borrower_name", "facility_name", "industry"))
"""What the names of facilities and the headings of groups may say where no column does."""


def _with_pages(detection: Detection, loans: Loans, columns: Iterable[PageColumns]) -> Detection:
    """Add what other sheets and names say to the detection of the first sheet."""
    from_pages = {target for note in loans.notes.pages for target in note.fields} | (_OF_NAMES & loans.texts.keys())
    if loans.lien is not None:
        from_pages.add("lien_type")
    return replace(
        detection,
        missing_required=tuple(target for target in detection.missing_required if target not in from_pages),
        missing_optional=tuple(target for target in detection.missing_optional if target not in from_pages),
        pages=tuple(loans.notes.pages),
        page_columns=tuple(columns),
        warnings=tuple(limit_warnings(loans.notes.warnings)),
    )


def _of_kinds(
    sheets: Iterable[DetectedSheet], kinds_of_sheets: Dict[str, tuple[SheetKind, str]]
) -> tuple[DetectedSheet, ...]:
    return tuple(
        replace(sheet, kind=kinds_of_sheets[sheet.name][0], kind_reason=kinds_of_sheets[sheet.name][1])
        for sheet in sheets
    )


def _limit_columns(detection: Detection, columns_max: int | None) -> Detection:
    """Limit the columns that feed no field and those of other sheets."""
    every = len(detection.unmapped) + sum(len(page.columns) for page in detection.page_columns)
    if columns_max is None or every <= columns_max:
        return detection
    unmapped = detection.unmapped[:columns_max]
    left = columns_max - len(unmapped)
    pages: list[PageColumns] = []
    for page in detection.page_columns:
        pages.append(replace(page, columns=page.columns[:left]))
        left -= len(pages[-1].columns)
    return replace(detection, unmapped=unmapped, page_columns=tuple(pages), columns_not_shown=every - columns_max)


def _nothing(located: LocatedBook) -> Detection:
    mapping = located.mapping
    message = (
        f"no header found: looked in the first {header.DEEP_ROWS_MAX:,} rows of each sheet for one that "
        f"{header_words(mapping)}"
    )
    if any(sheet.other_assets for sheet in located.sheets):
        message = f"no loans found: {no_loans(located)}"
    required, optional = _missing(mapping, ())
    return Detection(None, (), None, None, None, 0, (), 0, (), (), {}, required, optional, message)


def _missing(mapping: Mapping, targets: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return required targets without column or default, and all other missing ones."""
    named = set(targets)
    missing = [field for field in mapping.fields if field.target not in named]
    required = tuple(field.target for field in missing if field.required and field.default is None)
    return required, tuple(field.target for field in missing if field.target not in required)


# ---- sheets --------------------------------------------------------------------------------------------------------


def _sheets(located: LocatedBook) -> Iterator[DetectedSheet]:
    holdings, mapping = located.loans, located.mapping
    best = next(
        (candidate for candidate in located.considered if holdings is not None and candidate.sheet is holdings.sheet),
        None,
    )
    for candidate in located.considered:
        header_match = candidate.header or header.nearest(candidate.sheet, mapping)
        rows = () if header_match is None else tuple(range(header_match.top + 1, header_match.row + 2))
        nearest = (
            ()
            if candidate.header is not None or header_match is None
            else tuple(islice(_field_headings(header_match), NEAREST_MAX))
        )
        reason = _why(candidate, best, header_match, mapping)
        score = 0 if header_match is None else header_match.score
        sheet = candidate.sheet
        ends = [sheet.page_line(row) for row in (0, sheet.row_count - 1)] if len(sheet.page_lines) else [None, None]
        first_page, last_page = (None if at is None else at[0] for at in ends)
        yield DetectedSheet(
            sheet.name,
            sheet.state,
            score,
            rows,
            nearest,
            candidate is best,
            reason,
            row_count=sheet.row_count,
            first_page=first_page,
            last_page=last_page,
        )


def _field_headings(header_match: HeaderMatch) -> Iterator[str]:
    """Yield the headers that name a field, from the left."""
    for column in sorted({places[0] for places in header_match.columns.values()}):
        yield show_value(header_match.texts[column])


def _why(
    candidate: SheetCandidate, best: SheetCandidate | None, header_match: HeaderMatch | None, mapping: Mapping
) -> str:
    """Return why a sheet was chosen or not."""
    if candidate.header is None:
        return _why_no_header(candidate.sheet, header_match, mapping)
    if candidate.refused:
        return candidate.refused
    assert best is not None
    if candidate is best:
        return f"its header names {counted(candidate.header.score, 'field')}"
    mine, its = candidate.rank, best.rank
    if mine[0] != its[0]:
        return "nothing stands below its header"
    if mine[1] != its[1]:
        return candidate.only_adds
    if mine[2] != its[2] and candidate.header.score < (best.header.score if best.header else 0):
        return f"its header names fewer fields ({candidate.header.score} of {best.header.score if best.header else 0})"
    if mine[2] != its[2]:
        return f"fewer rows stand below its header ({candidate.row_count:,} of {best.row_count:,})"
    if mine[3] != its[3]:
        return "its header names as many fields, but no figures stand below it"
    if mine[4] != its[4]:
        return "it is hidden, and its header names no more fields"
    return f"its header names as many fields, and sheet {best.sheet.name} comes first"


def _why_no_header(sheet: Sheet, header_match: HeaderMatch | None, mapping: Mapping) -> str:
    least = min(header.SCORE_MIN, len(mapping.fields))
    if sheet.row_count == 0:
        return "it is empty"
    if header_match is None:
        return f"no row among its first {scan.ROWS_MAX} names a field"
    if header_match.score >= least:
        return f"its best row names {counted(header_match.score, 'field')}, but none of {', '.join(mapping.anchors)}"
    return f"its best row names {header_match.score} of the {least} fields that make a header"


# ---- the sheet with the loans --------------------------------------------------------------------------------------


def _explain(holdings: LocatedTable, mapping: Mapping, reader: LoanReader, loans: Loans) -> Detection:
    sheet, header_match = holdings.sheet, holdings.header
    rows = reader.below.rows(reader.rows.rows) + 1
    every = (*mapping.fields, *mapping.auxiliary)
    roles = Roles(sheet, header_match, reader.columns)
    columns = tuple(_column(field, reader, loans, mapping, roles) for field in every if field.target in reader.columns)
    claimed = {*reader.columns.values(), *chain.from_iterable(header_match.columns.values())}
    names = header.names(sheet, header_match)
    required, optional = _missing(mapping, reader.columns)
    return Detection(
        sheet=sheet.name,
        sheets=(),
        header=_header(header_match),
        first_row=int(rows[0]) if len(rows) else None,
        last_row=int(rows[-1]) if len(rows) else None,
        loan_count=loans.row_count,
        left_out=tuple(_left_out(reader.below, reader.rows.left_out)),
        filled_borrowers=reader.rows.counts.get("filled_borrowers", 0),
        columns=columns,
        unmapped=tuple(
            Unmapped(
                column_name(column),
                show_value(name),
                _BESIDE if column in header_match.beside else "",
                **roles.of(column),
            )
            for column, name in enumerate(names)
            if column not in claimed and has_cells(sheet.columns[column], header_match.top)
        ),
        duplicates=_duplicates(sheet, header_match),
        missing_required=required,
        missing_optional=optional,
        message="",
    )


_BESIDE: Final = "it belongs to another table beside the loans"


def _header(header_match: HeaderMatch) -> DetectedHeader:
    rows = tuple(range(header_match.top + 1, header_match.row + 2))
    kinds: tuple[Literal["one row", "two rows", "three rows"], ...] = ("one row", "two rows", "three rows")
    places = {what: header_match.named_row + 2 + at for at, what in enumerate(header_match.below)}
    return DetectedHeader(
        rows, kinds[header_match.named_row - header_match.top], places.get("units"), places.get("numbers")
    )


def _left_out(below: RowsBelow, left_out: dict[str, NDArray[np.int64]]) -> Iterator[LeftOut]:
    """Yield the reasons in the order of their first rows."""
    for reason, places in sorted(left_out.items(), key=lambda pair: int(pair[1][0])):
        rows = below.rows(places[:PLACES_MAX]).tolist()
        texts = tuple(_first_text(below.sheet, row) for row in rows)
        yield LeftOut(reason, len(places), tuple(row + 1 for row in rows), texts)


def _first_text(sheet: Sheet, row: int) -> str:
    values = (sheet.value(row, column) for column in range(sheet.column_count))
    return show_value(next((value for value in values if value is not None and str(value).strip()), ""))


def _duplicates(sheet: Sheet, header_match: HeaderMatch) -> dict[str, tuple[str, ...]]:
    """Return headers that stand more than once, compared as headers are."""
    places: dict[str, list[int]] = {}
    for column, text in sorted(header_match.texts.items()):
        if words := key(text):
            places.setdefault(words, []).append(column)
    return {
        show_value(header_match.texts[columns[0]]): tuple(column_name(column) for column in columns)
        for columns in places.values()
        if len(columns) > 1
    }


# ---- one column ----------------------------------------------------------------------------------------------------


def _column(field: Field, reader: LoanReader, loans: Loans, mapping: Mapping, roles: Roles) -> DetectedColumn:
    column = reader.columns[field.target]
    cells = reader.cells(column)
    is_auxiliary = any(field is auxiliary for auxiliary in mapping.auxiliary)
    present = cells.present()
    errors = cells.error_count()
    unreadable = reader.unreadable.get(field.target, 0)
    filled = int(np.count_nonzero(present))
    scale, reason = _unit(field.target, reader, cells, column)
    return DetectedColumn(
        target=field.target,
        type=field.type,
        is_required=field.required,
        column=column_name(column),
        header=show_value(reader.header.texts.get(column, "")),
        match=_match(field, reader.header, column, is_auxiliary=is_auxiliary),
        alternatives=tuple(islice(_alternatives(field.target, reader, column), ALTERNATIVES_MAX)),
        unit="" if scale is None or scale.unit == "as written" else scale.unit,
        unit_reason=reason,
        factor=1.0 if scale is None else scale.factor,
        value_count=filled - unreadable,
        blank_count=len(cells.kinds) - filled - errors,
        error_count=errors,
        unreadable_count=unreadable,
        samples=tuple(_samples(field, reader, loans, present)),
        **roles.of(column),
    )


def _match(field: Field, header_match: HeaderMatch, column: int, *, is_auxiliary: bool) -> Match:
    """Return how a header names a field."""
    text = header_match.texts.get(column, "")
    aliases = {key(alias) for alias in field.aliases}
    for words, is_whole in ((key(text), True), (key(wording.without_footnotes(text)), False)):
        if words in aliases:
            return "auxiliary alias" if is_auxiliary else "alias" if is_whole else "alias less a footnote"
        if words == key(field.target):
            return "field name"
    evidence = header_match.evidence.get(column)
    if evidence is None or evidence.words >= OF_ALIAS:
        return "alias less its unit"
    return "words" if vocabulary.heading(text).weights.get(evidence.role, 0.0) > 0 else "cells"


def _alternatives(target: str, reader: LoanReader, column: int) -> Iterator[Alternative]:
    """Yield the columns that could have fed a field instead, and why they do not."""
    claimed = {place: its_target for its_target, place in reader.columns.items()}
    for place in reader.header.columns.get(target, ()):  # cells of another field's column may feed it: SOFR + 350
        if place == column:
            continue
        reason = reader.passed_over.get(place) or GAVE_WAY.get(reader.header.demoted.get(place, ""), "")
        if target == "base_rate" and place == reader.level_column:
            reason = "it is read for the level of the rate"
        if not reason:
            fed_target = claimed.get(place)
            reason = (
                f"it feeds {fed_target}"
                if fed_target
                else f"{show_value(reader.header.texts[column])} is the preferred name"
            )
        yield Alternative(column_name(place), show_value(reader.header.texts[place]), reason)


# ---- units ---------------------------------------------------------------------------------------------------------


_RATE_REASONS: Final = {
    "other rates": "the other rates of the loans tell it",
    "level": "it is the usual level of a base rate",
    "par": "its figures come near to par",
}


def _unit(target: str, reader: LoanReader, cells: Cells, column: int) -> tuple[Scale | None, str]:
    """Return the unit of a column's figures and what decided it."""
    if target == "base_rate":
        place = reader.level_column
        return (None, "") if place is None else _unit("base_rate_level", reader, reader.cells(place), place)
    scale = reader.scales.get(target)
    if scale is None:
        return None, ""
    if any(transform.field == target for transform in reader.mapping.transforms) and scale.unit == "as written":
        return scale, "the mapping's own transforms give it"
    if scale.because == "nothing":
        return scale, "" if scale.unit == "as written" else "there is no figure to tell it"
    if scale.because == "header":
        return scale, _header_reason(reader.header, column)
    if scale.because in _RATE_REASONS:
        return scale, _RATE_REASONS[scale.because]
    numbers = reader.with_usual_sign(target, column, number_cells.read_numbers(cells, is_spread=target == "spread"))
    marked = 0 if numbers.marks is None else int(np.count_nonzero(numbers.marks))
    own = (
        "each cell says it"
        if scale.because == "cells"
        else f"{counted(marked, 'marked cell', 'keeps its own/keep their own')}"
        if marked
        else ""
    )
    if scale.because == "cells":
        return scale, own
    sizes = np.abs(numbers.values if scale.unit == "currency" else number_cells.values_without_unit(numbers))
    sizes = sizes[sizes > 0]
    if not len(sizes):  # a look-up of the mapping's own made them
        return scale, scale.because
    figure = float(np.median(sizes) if scale.because == "median" else sizes.max())
    text = "" if scale.limit is None else f" is {'at most' if figure <= scale.limit else 'above'} {scale.limit:g}"
    return scale, f"{scale.because} {figure:,.6g}{text}" + (f"; {own}" if own else "")


def _header_reason(header_match: HeaderMatch, column: int) -> str:
    text = header_match.texts.get(column, "")
    if wording.unit(text) or wording.magnitude(text) != 1.0:
        return "the header says so"
    return f"the row of units says {show_value(header_match.units.get(column, ''))}"


# ---- values --------------------------------------------------------------------------------------------------------


def _samples(field: Field, reader: LoanReader, loans: Loans, present: NDArray[np.bool_]) -> Iterator[Value]:
    """Yield the first values of a field as the reader has them; None for no content."""
    for row in np.flatnonzero(present)[:SAMPLES_MAX].tolist():
        value = _value(field.target, reader, loans, row)
        yield show_value(value) if isinstance(value, str) else value


def _value(target: str, reader: LoanReader, loans: Loans, row: int) -> Value:
    if target == "lien_type" and loans.lien is not None:
        return Lien(int(loans.lien[row])).name.lower()
    if target == "coupon_type" and loans.coupon_fixed is not None:
        return {0: "floating", 1: "fixed"}.get(int(loans.coupon_fixed[row]))
    if target == "base_rate":
        return _base_rate(loans, row)
    (value,) = reader.outcome(target).column.python(slice(row, row + 1))
    return cast(Value, value)


def _base_rate(loans: Loans, row: int) -> Value:
    codes, names = loans.categories.get("base_rate", (None, ()))
    if codes is not None and codes[row] >= 0:
        return str(names[int(codes[row])])
    level = loans.numbers.get("base_rate_level")
    return None if level is None or np.isnan(level[row]) else float(level[row])
