""".xlsx and .xlsm files to a workbook, or to what can be known of one without keeping it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from core.files._cells import SharedStrings, SheetScanner
from core.files.archive import Archive
from core.files.errors import InvalidFormat, ParseFailed, TooManySheets
from core.files.limits import PIVOT_BYTES_MAX, PIVOT_ITEMS_MAX, PIVOTS_MAX, SHEETS_MAX, SLOTS_MAX, TABLES_MAX
from core.files.parts import (
    PLAIN_STYLES,
    Relationship,
    SheetEntry,
    Styles,
    TablePart,
    WorkbookPart,
    parse_language,
    parse_relationships,
    parse_rich_errors,
    parse_styles,
    parse_table,
    parse_workbook,
    relationships_name,
    utf8_chunks,
)
from core.files.pivots import PivotCache, parse_pivot_cache, parse_pivot_table, pivot_of_parts
from core.files.probe import Probe, SheetProbe
from core.files.source import Content
from core.grid.address import parse_range
from core.grid.column import Text, column_of, frozen
from core.grid.pivot import Pivot
from core.grid.sheet import Formulas, Sheet, Table, Workbook
from core.values import to_serial


class _Package:
    """An opened file with its workbook part read and its sheets found."""

    def __init__(self, archive: Archive, sheets_max: int = SHEETS_MAX) -> None:
        self.archive = archive
        part = _workbook_name(archive)
        self.book: WorkbookPart = parse_workbook(archive.read(part))
        links = _relationships(archive, part)
        self.sheets: list[tuple[SheetEntry, str]] = _worksheets(self.book, links, sheets_max)
        self.styles_name = next((link.target for link in links.values() if link.kind == "styles"), None)
        self.strings_name = next((link.target for link in links.values() if link.kind == "sharedStrings"), None)
        kinds = ("sheetMetadata", "rdRichValue", "rdRichValueStructure")
        targets = {link.kind: link.target for link in links.values() if link.target in archive}
        self.rich_names = [targets[kind] for kind in kinds if kind in targets]

    def styles(self) -> Styles:
        if self.styles_name is None or self.styles_name not in self.archive:
            return PLAIN_STYLES
        return parse_styles(self.archive.read(self.styles_name))

    def language(self) -> str | None:
        """Return the language that the properties name.

        Properties that cannot be read name none, as no cell needs them.
        """
        links = _relationships(self.archive, "").values()
        name = next((link.target for link in links if link.kind == "core-properties"), None)
        if name is None or name not in self.archive:
            return None
        try:
            return parse_language(self.archive.read(name))
        except ParseFailed:
            return None

    def rich_errors(self) -> NDArray[np.int8]:
        """By a cell's `vm`, less one, the code of the error that it stands for, or -1.

        Parts that cannot be read tell of none: all they hold is finer than what the cells say themselves.
        """
        if len(self.rich_names) < 3:
            return np.empty(0, np.int8)
        try:
            return np.array(parse_rich_errors(*map(self.archive.read, self.rich_names)), np.int8)
        except ParseFailed:
            return np.empty(0, np.int8)

    def strings(self) -> SharedStrings | None:
        if self.strings_name is None or self.strings_name not in self.archive:
            return None
        strings = SharedStrings()
        for chunk in utf8_chunks(self.archive.chunks(self.strings_name), "The shared strings"):
            strings.feed(chunk)
        strings.finish()
        return strings

    @cached_property
    def tables(self) -> dict[str, tuple[list[Table], bool]]:
        """By sheet its tables, and whether one of them filters rows."""
        by_sheet = {}
        for entry, part in self.sheets:
            links = _relationships(self.archive, part)
            parts = [link.target for link in links.values() if link.kind == "table" and link.target in self.archive]
            if len(parts) > TABLES_MAX:
                raise ParseFailed(f"A sheet has more tables than the limit of {TABLES_MAX:,}.")
            read = [parse_table(self.archive.read(name)) for name in parts]
            tables = [table for table_part in read if (table := _table(table_part, entry.name)) is not None]
            by_sheet[entry.name] = tables, any(table_part.filtered for table_part in read)
        return by_sheet

    def pivots(self) -> tuple[Pivot, ...] | None:
        """Return all pivot tables, or None where one cannot be read."""
        try:
            names = [(entry.name, name) for entry, part in self.sheets for name in self._pivot_parts(part)]
            if len(names) > PIVOTS_MAX:
                return None
            self._small_enough([name for _, name in names])
            parts = [(sheet, parse_pivot_table(self.archive.read(name)), self._cache(name)) for sheet, name in names]
            wanted: dict[str, set[int]] = {}
            for _, part, cache in parts:
                wanted.setdefault(cache, set()).update(part.used)
            self._small_enough(wanted)
            caches: dict[str, PivotCache] = {}
            for name, fields in wanted.items():
                data = self.archive.read(name)
                caches[name] = parse_pivot_cache(data, fields, self.book.date_1904, iso_serial)
            all_pivots = tuple(pivot_of_parts(part, caches[cache], sheet) for sheet, part, cache in parts)
        except ParseFailed:
            return None
        return all_pivots if sum(pivot.size for pivot in all_pivots) <= PIVOT_ITEMS_MAX else None

    def _small_enough(self, names: Iterable[str]) -> None:
        """Raises ParseFailed where parts, one that is named again counted again, pass PIVOT_BYTES_MAX."""
        if sum(self.archive.size_of(name) for name in names if name in self.archive) > PIVOT_BYTES_MAX:
            raise ParseFailed(f"The pivot tables are larger than the limit of {PIVOT_BYTES_MAX:,} bytes.")

    def _pivot_parts(self, part: str) -> list[str]:
        links = _relationships(self.archive, part).values()
        return [link.target for link in links if link.kind == "pivotTable"]

    def _cache(self, name: str) -> str:
        """Return the part that is a pivot table's cache."""
        links = _relationships(self.archive, name).values()
        cache = next((link.target for link in links if link.kind == "pivotCacheDefinition"), None)
        if cache is None or cache not in self.archive:
            raise ParseFailed("A pivot table has no cache.")
        return cache

    def scanned(self, *, store: bool) -> Iterator[tuple[SheetEntry, SheetScanner]]:
        """Yield each worksheet with its part scanned, in order."""
        strings = self.strings() if store else None
        styles = self.styles() if store else PLAIN_STYLES
        rich_errors = self.rich_errors() if store else np.empty(0, np.int8)
        slots = 0
        for entry, part in self.sheets:
            label = f"Sheet {entry.name!r}"
            scanner = SheetScanner(
                label,
                shared=strings,
                style_formats=styles.formats,
                style_dates=styles.dates,
                rich_errors=rich_errors,
                slots_max=SLOTS_MAX,
                slots_used=slots,
                date_1904=self.book.date_1904,
                iso_serial=iso_serial,
                store=store,
            )
            for chunk in utf8_chunks(self.archive.chunks(part), label):
                scanner.feed(chunk)
            scanner.finish()
            slots += scanner.slots_used
            yield entry, scanner


def read_xlsx(content: Content, *, sheets_max: int = SHEETS_MAX) -> Workbook:
    """Read an .xlsx or .xlsm file.

    Every worksheet's cells, formulas, merged ranges, tables and pivot tables.

    Charts, macros and external links are not followed; pivot tables stay as they were saved.

    Args:
        sheets_max: how many worksheets it may have.

    Raises:
        InvalidFormat: a zip archive that is not such a workbook.
        TooManySheets: more worksheets than the limit.
        ParseFailed: damaged, protected, hostile, or past another limit.
    """
    with Archive(content) as archive:
        package = _Package(archive, sheets_max)
        sheets = tuple(
            _sheet(entry, scanner, index, filtered=package.tables[entry.name][1])
            for index, (entry, scanner) in enumerate(package.scanned(store=True))
        )
        return Workbook(
            sheets=sheets,
            date_1904=package.book.date_1904,
            number_formats=package.styles().codes,
            defined_names=package.book.defined_names,
            local_names=_local_names(package.book),
            tables=tuple(table for tables, _ in package.tables.values() for table in tables),
            pivots=package.pivots(),
            language=package.language(),
            calculation=package.book.calculation,
        )


def worksheet_parts(archive: Archive) -> list[str]:
    """Return the parts of an opened file's worksheets, in their order.

    Raises:
        InvalidFormat, TooManySheets, ParseFailed: as `read_xlsx`.
    """
    return [part for _, part in _Package(archive).sheets]


def calculation_chain(archive: Archive) -> tuple[str, str] | None:
    """Return the part that lists the formula cells in the order of their last calculation, and the part of
    relationships that names it; None where there is none."""
    workbook = _workbook_name(archive)
    for link in _relationships(archive, workbook).values():
        if link.kind == "calcChain" and link.target in archive:
            return link.target, relationships_name(workbook)
    return None


def probe_xlsx(content: Content) -> Probe:
    """Return names, states and true extents of an .xlsx or .xlsm file's worksheets.

    All of it is scanned, nothing is kept.

    Raises:
        InvalidFormat, TooManySheets, ParseFailed: as `read_xlsx`, but for what only the values show.
    """
    with Archive(content) as archive:
        package = _Package(archive)
        sheets = tuple(
            SheetProbe(entry.name, index, entry.state, *scanner.extent)
            for index, (entry, scanner) in enumerate(package.scanned(store=False))
        )
    return Probe("xlsx", sheets)


def _workbook_name(archive: Archive) -> str:
    roots = parse_relationships(archive.read("_rels/.rels"), "") if "_rels/.rels" in archive else {}
    part = next((link.target for link in roots.values() if link.kind == "officeDocument"), "xl/workbook.xml")
    if part not in archive:
        raise InvalidFormat("The file is a zip archive, but no workbook.")
    return part


def _relationships(archive: Archive, part: str) -> dict[str, Relationship]:
    name = relationships_name(part)
    return parse_relationships(archive.read(name), part) if name in archive else {}


def _worksheets(book: WorkbookPart, links: dict[str, Relationship], sheets_max: int) -> list[tuple[SheetEntry, str]]:
    """Return the worksheets among the sheets (charts, dialogs and macro sheets have no cells of ours), with their
    parts."""
    sheets = []
    for entry in book.sheets:
        link = links.get(entry.relationship)
        if link is None and not entry.relationship:  # a module of old macros: Excel lists it without a part
            continue
        if link is None:
            raise ParseFailed(f"The workbook lists the sheet {entry.name!r} but does not say where it is.")
        if link.kind == "worksheet":
            sheets.append((entry, link.target))
    if len(sheets) > sheets_max:
        raise TooManySheets(f"The workbook has {len(sheets)} sheets; the limit is {sheets_max}.")
    names = [entry.name.casefold() for entry, _ in sheets]
    if len(set(names)) != len(names) or "" in names:
        raise ParseFailed("Two sheets of the workbook have the same name, or one has none.")
    if len({part.lower() for _, part in sheets}) != len(sheets):
        raise ParseFailed("Two sheets of the workbook are the same part.")
    return sheets


def _sheet(entry: SheetEntry, scanner: SheetScanner, index: int, *, filtered: bool) -> Sheet:
    row_count, _ = scanner.extent
    offsets, data = scanner.text()
    return Sheet(
        name=entry.name,
        index=index,
        state=entry.state,
        columns=tuple(None if column is None else column_of(*column) for column in scanner.columns()),
        row_count=row_count,
        text=Text(frozen(offsets), frozen(data)),
        formulas=_formulas(scanner),
        merged=tuple(scanner.merged_ranges()),
        hidden_rows=frozen(np.unique(np.array(scanner.hidden_rows(), np.int32))),
        filtered=filtered or scanner.filtered,
    )


def _formulas(scanner: SheetScanner) -> Formulas:
    """Return the scanner's formulas, each cell once, in (row, column) order, origins renumbered.

    Members of a shared group whose formula stands nowhere are dropped: their values remain.
    """
    rows, columns, texts, origins, (offsets, data), arrays, dynamic, ordered = scanner.formulas()
    text = Text(frozen(offsets), frozen(data))
    ranges = {at: name for at, name in arrays.items() if _is_range(name)}
    if not ordered or (len(origins) and origins.min() < 0):
        # A cell that came twice keeps its last formula; an origin is kept even where another formula took its cell.
        keys = rows.astype(np.int64) * (1 << 14) + columns
        order = np.lexsort((np.arange(len(keys)), keys))
        last = np.ones(len(order), bool)
        last[:-1] = keys[order][1:] != keys[order][:-1]
        kept = order[last & (origins[order] >= 0)]
        new_index = np.full(len(keys), -1, np.int32)
        new_index[kept] = np.arange(len(kept), dtype=np.int32)
        moved = new_index[origins[kept]]
        kept = kept[moved >= 0]
        new_index[:] = -1
        new_index[kept] = np.arange(len(kept), dtype=np.int32)
        rows, columns, texts, origins = rows[kept], columns[kept], texts[kept], new_index[origins[kept]]
        ranges = {int(new_index[at]): name for at, name in ranges.items() if new_index[at] >= 0}
        dynamic = {int(new_index[at]) for at in dynamic}
    spilling = frozenset(dynamic & ranges.keys())
    return Formulas(frozen(rows), frozen(columns), frozen(texts), frozen(origins), text, ranges, spilling)


def _table(table_part: TablePart, sheet: str) -> Table | None:
    """Return the table that a part tells of; None where the part contradicts itself."""
    if not table_part.name or not _is_range(table_part.range):
        return None
    top, left, bottom, right = parse_range(table_part.range)
    if (
        len(table_part.columns) != right - left + 1
        or table_part.header_rows + table_part.totals_rows > bottom - top + 1
    ):
        return None
    return Table(
        table_part.name,
        sheet,
        top,
        left,
        bottom,
        right,
        tuple(table_part.columns),
        table_part.header_rows,
        table_part.totals_rows,
    )


def _local_names(book: WorkbookPart) -> dict[tuple[str, str], str]:
    names = [entry.name for entry in book.sheets]
    return {(names[at], name): text for (at, name), text in book.local_names.items() if at < len(names)}


def _is_range(name: str) -> bool:
    try:
        parse_range(name)
    except ValueError:
        return False
    return True


def iso_serial(text: str, date_1904: bool) -> float:
    """Return the serial of an ISO 8601 date, moment or time of day as a t="d" cell holds it.

    Raises:
        ValueError: not such a text.
    """
    text = text.strip().removesuffix("Z")
    if "-" not in text:
        clock = datetime.fromisoformat("2000-01-01T" + text.removeprefix("T"))
        return (clock.hour * 3600 + clock.minute * 60 + clock.second + clock.microsecond / 1e6) / 86_400
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is not None:
        moment = moment.replace(tzinfo=None)
    return to_serial(moment, date_1904=date_1904)
