"""Sheets of columns to an .xlsx file, in bounded memory.

The XML of a sheet is made piece by piece from its columns and deflated as it goes. What is kept besides is the distinct
text of the cells, some 30 bytes for each distinct text and as many for each formula.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import chain, pairwise
from pathlib import Path
from typing import Final, Literal, NamedTuple, Protocol
from zipfile import ZipFile

import numpy as np
from numpy.typing import NDArray

from core.files.limits import CELL_CHARACTERS_MAX, FORMAT_CHARACTERS_MAX, MARKED_CELLS_MAX, RANGES_MAX
from core.files.parts import is_date_format
from core.files.write import _xlsx as kernel
from core.files.write.deflated import part, zip_writer
from core.files.write.formulas import NO_XML, KnownNames, plan_formulas
from core.files.write.package import (
    RICH_PARTS,
    ROOT_LINKS,
    Properties,
    content_types,
    custom_parts,
    is_name,
    links_xml,
    metadata_xml,
    properties_parts,
    table_xml,
    workbook_links,
    workbook_xml,
)
from core.files.write.ranges import Range, disjoint, meet
from core.files.write.styles import FLAGS, STYLE_NAMES, UNLOCKED, WRAPPED, StyleName, flag_rule, styles_xml
from core.files.write.widths import heights_of, widths_of
from core.files.write.xml import MAIN, OFFICE, XML
from core.grid.address import COLUMNS_MAX, ROWS_MAX, column_name, range_name
from core.grid.calculation import DEFAULT as CALCULATION
from core.grid.calculation import Calculation
from core.grid.column import Column
from core.grid.sheet import Sheet, Table, no_formulas
from core.values import ERROR_CODE, Kind


@dataclass(frozen=True, slots=True)
class SheetPage:
    """A sheet as it is to look.

    Rows and columns are 0-based, the corners of a range inclusive.
    """

    name: str
    sheet: Sheet
    header_row: int | None = None
    """The row of headings; None for none."""
    styled: bool = True
    """Whether headings, fills, flags and the tab's colour are shown. Number formats always are."""
    frozen: tuple[int, int] = (0, 0)
    """How many rows and columns stay in sight."""
    widths: Literal["auto"] | Sequence[float | None] | None = "auto"
    """In characters by column; "auto" looks at some of the cells."""
    protected: bool = False
    """Without a password: a safeguard against slips, no lock."""
    unlocked: Sequence[Range] = ()
    """What may be changed on a protected sheet."""
    tab_colour: str | None = None
    """RRGGBB."""
    gridlines: bool = True
    """Whether lines between cells are seen on the screen."""
    fills: Sequence[tuple[Range, StyleName]] = ()
    """Ranges with a style; of several the last counts."""
    flags: Sequence[tuple[Range, Mapping[StyleName, Sequence[str]]]] = ()
    """Ranges whose cells are styled by what they say, also after a recalculation: the words of each of "good",
    "warning" and "bad"."""
    more: Iterable[Sheet] = ()
    """Further rows of the sheet in rising order, each part taken once: what need not be in memory at one time. Only its
    cells and formulas count, no shared formula reaches into another part, and what is younger than the file format
    (#SPILL!, #CALC!, formulas that spill) is #VALUE! and a plain array there unless the first part has some."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BookSettings:
    """What belongs to a written workbook and to none of its sheets."""

    date_1904: bool = False
    defined_names: Mapping[str, str] = field(default_factory=dict)
    local_names: Mapping[tuple[str, str], str] = field(default_factory=dict)
    active: int | None = None
    """The page that is seen first, where it is visible; else the first visible one is."""
    calculation: Calculation = CALCULATION
    """How the program that opens the file is to calculate it."""


@dataclass(frozen=True, slots=True)
class XlsxResult:
    """What became of it."""

    warnings: tuple[str, ...]
    """What could not be written as it was."""


class NumberFormats(Protocol):
    """Format codes by index; a table that grows while the sheets are made will do."""

    def __len__(self) -> int: ...
    def __getitem__(self, at: int, /) -> str: ...


def write_xlsx(
    path: Path | str,
    pages: Sequence[SheetPage],
    *,
    number_formats: NumberFormats = ("General",),
    tables: Sequence[Table] = (),
    parts: Mapping[str, bytes] | None = None,
    properties: Properties | None = None,
    settings: BookSettings | None = None,
) -> XlsxResult:
    """Write an .xlsx file.

    Values, formulas with the values that they last gave, number formats, merged ranges, names, tables, and how each
    page is to look.

    `parts` are custom XML parts, name -> XML, which spreadsheet programs keep and do not show. Where a formula has no
    value, the program that opens the file is asked to calculate all of it. The same arguments give the same bytes. A
    file that fails is not left behind.

    What Excel would not open is left out with a warning: of a formula that reads another file, a sheet or a table that
    is not written, only the value is kept. An infinite number is #NUM!, NaN blank. Text past 32,767 characters is cut.
    Fonts, charts, comments and whatever else `Sheet` does not hold are not written.

    Raises:
        ValueError: a bad or repeated sheet name, a cell past the format's limits, too many styles, too much text.
        OSError: the file cannot be written.
    """
    _check_names([page.name for page in pages])
    path = Path(path)
    waiting = path.with_name(path.name + ".part")
    try:
        with open(waiting, "wb") as stream, zip_writer(stream) as archive:
            book = _Book(archive, pages, number_formats, tables)
            book.write(parts or {}, properties or Properties(), settings or BookSettings())
        os.replace(waiting, path)
    except BaseException:
        with suppress(OSError):
            waiting.unlink()
        raise
    return XlsxResult(tuple(book.warnings))


_FORBIDDEN: Final = frozenset(r"[]:*?/\\")


def _check_names(names: Sequence[str]) -> None:
    """
    Raises:
        ValueError: no sheet, or a name that Excel refuses.
    """
    if not names:
        raise ValueError("a workbook has at least one sheet")
    for name in names:
        if not name or NO_XML.search(name):
            raise ValueError(f"a sheet has a printable name, and {name!r} is none")
        if len(name.encode("utf-16-le")) > 62:
            raise ValueError(f"a sheet's name has at most 31 characters: {name!r} has more")
        if not _FORBIDDEN.isdisjoint(name) or name[0] == "'" or name[-1] == "'":
            raise ValueError(f"a sheet's name holds none of []:*?/\\ and no apostrophe at its ends: {name!r} does")
    if len({name.casefold() for name in names}) < len(names):
        raise ValueError("two sheets have the same name; capital and small letters are the same")


def fitting_tables(tables: Sequence[Table], sheets: Sequence[tuple[str, Sheet]]) -> list[Table]:
    """Return the tables that can be written with some sheets and their names.

    Their headings are what their header rows say, and neither their names nor their cells are taken.
    """
    named = {name.casefold(): sheet for name, sheet in sheets}
    fitting: list[Table] = []
    for table in tables:
        sheet = named.get(table.sheet.casefold())
        if sheet is None:
            continue
        box = _box(table)
        beside = [_box(neighbour) for neighbour in fitting if neighbour.sheet.casefold() == table.sheet.casefold()]
        if (
            is_name(table.name)
            and all(neighbour.name.casefold() != table.name.casefold() for neighbour in fitting)
            and table.header_rows <= 1
            and table.last_row - table.first_row >= table.header_rows + table.totals_rows
            and len({name.casefold() for name in table.columns}) == len(table.columns)
            and not any(meet(box, neighbour) for neighbour in (*sheet.merged, *beside))
            and (
                table.header_rows == 0
                or list(table.columns)
                == [sheet.value(table.first_row, at) for at in range(table.first_column, table.last_column + 1)]
            )
        ):
            fitting.append(table)
    return fitting


def known_of(sheets: Sequence[tuple[str, Sheet]], tables: Sequence[Table]) -> KnownNames:
    """Return what formulas can read where some sheets are written by their names, with tables that fit."""
    return KnownNames(
        [name for name, _ in sheets],
        frozenset(table.name.casefold() for table in tables),
        frozenset(name.casefold() for name, _ in sheets),
        any(sheet.filtered and len(sheet.hidden_rows) for _, sheet in sheets),
    )


class _Book:
    """A file that is being written."""

    def __init__(
        self, archive: ZipFile, pages: Sequence[SheetPage], number_formats: NumberFormats, tables: Sequence[Table]
    ):
        self.archive = archive
        self.pages = pages
        self.number_formats = number_formats
        self.codes: list[str] = []
        self.dates = np.empty(0, np.uint8)
        self.styles = kernel.Styles()
        self.strings = kernel.Strings()
        self.dropped = Counter[str]()
        self.unvalued = False
        self.metadata = False, False
        self.warnings: list[str] = []
        sheets = [(page.name, page.sheet) for page in pages]
        self.tables = fitting_tables(tables, sheets)
        self.warnings += [
            f"The table {table.name!r} of {table.sheet!r} was not written: its headings, name or place do not fit."
            for table in tables
            if table not in self.tables and any(name.casefold() == table.sheet.casefold() for name, _ in sheets)
        ]
        self.known = known_of(sheets, self.tables)

    def write(self, parts: Mapping[str, bytes], properties: Properties, settings: BookSettings) -> None:
        """Write all parts."""
        states = self._states()
        places = {page.name.casefold(): at for at, page in enumerate(self.pages)}
        names = {("", name): text for name, text in settings.defined_names.items()} | dict(settings.local_names)
        written_names = self._names(names, places)
        spills = any(page.sheet.formulas.dynamic for page in self.pages)
        rich = any(
            _has_young_errors(column) for page in self.pages for column in page.sheet.columns if column is not None
        )
        self.metadata = spills, rich
        types = content_types(
            len(self.pages), tables=len(self.tables), parts=len(parts), metadata=spills or rich, rich=rich
        )
        self._put("[Content_Types].xml", types)
        self._put("_rels/.rels", links_xml(ROOT_LINKS))
        for name, xml in (properties_parts(properties) | custom_parts(parts)).items():
            self._put(name, xml)
        active = settings.active
        if active is None or states[active] != "visible":
            active = states.index("visible")
        number = 0
        for at, page in enumerate(self.pages):
            own = [table for table in self.tables if table.sheet.casefold() == page.name.casefold()]
            self._sheet(at, page, tables=len(own), is_active=at == active)
            links = []
            for table in own:
                number += 1
                links.append((f"{OFFICE}/table", f"../tables/table{number}.xml"))
                self._put(f"xl/tables/table{number}.xml", table_xml(table, number))
            if links:
                self._put(f"xl/worksheets/_rels/sheet{at + 1}.xml.rels", links_xml(links))
        workbook = workbook_xml(
            [(page.name, state) for page, state in zip(self.pages, states, strict=True)],
            active=active,
            date_1904=settings.date_1904,
            names=written_names,
            recalculate=self.unvalued,
            calculation=settings.calculation,
        )
        self._put("xl/workbook.xml", workbook)
        links = workbook_links(len(self.pages), parts=len(parts), metadata=spills or rich, rich=rich)
        self._put("xl/_rels/workbook.xml.rels", links_xml(links))
        self._put("xl/styles.xml", styles_xml(self.styles.used(), self.codes))
        with part(self.archive, "xl/sharedStrings.xml") as put:
            put(f'{XML}<sst xmlns="{MAIN}" uniqueCount="{len(self.strings)}">'.encode())
            for piece in self.strings.chunks():
                put(piece)
            put(b"</sst>")
        if spills or rich:
            self._put("xl/metadata.xml", metadata_xml(spills=spills, rich=rich))
        for name, xml in (RICH_PARTS if rich else {}).items():
            self._put(name, xml)
        if self.strings.cut:
            self.warnings.append(f"Texts cut to {CELL_CHARACTERS_MAX:,} characters: {self.strings.cut:,}.")
        self.warnings += [
            f"Formulas of which only the values were written, since they {why}: {count:,}."
            for why, count in self.dropped.items()
        ]

    def _put(self, name: str, xml: bytes) -> None:
        with part(self.archive, name) as put:
            put(xml)

    def _states(self) -> list[str]:
        states: list[str] = [page.sheet.state for page in self.pages]
        if "visible" not in states:
            states[0] = "visible"
            self.warnings.append(f"The sheet {self.pages[0].name!r} is shown, since no sheet is: one has to be.")
        return states

    def _names(
        self, names: Mapping[tuple[str, str], str], places: Mapping[str, int]
    ) -> dict[tuple[int | None, str], str]:
        """Return the names that can be written, by the place of their sheet.

        Each once, whatever its case.
        """
        kept: dict[tuple[int | None, str], str] = {}
        met = set()
        for (sheet, name), text in names.items():
            if name.lower().startswith("_xl"):  # Excel's own notes on newer functions, which it makes anew
                continue
            place = places.get(sheet.casefold()) if sheet else None
            key = place, name.casefold()
            taken = key in met or name.casefold() in self.known.tables
            if (sheet and place is None) or not is_name(name) or taken or self.known.fault(text):
                self.warnings.append(f"The name {name!r} was not written: what it stands for is not in the file.")
            else:
                met.add(key)
                kept[place, name] = text
        return kept

    # -------------------------------------------------------------------------------------------------- a sheet

    def _sheet(self, at: int, page: SheetPage, *, tables: int, is_active: bool) -> None:
        with part(self.archive, f"xl/worksheets/sheet{at + 1}.xml") as put:
            self._look_up_formats()
            widths: Sequence[float | None] = page.widths if page.widths and page.widths != "auto" else ()
            if page.widths == "auto":
                header_row = page.header_row if page.styled else None
                widths = widths_of(page.sheet, self.codes, self.dates, header_row)
            put((XML + _head(page, widths, is_active=is_active) + "<sheetData>").encode())
            for piece in self._rows(page, widths):
                put(piece)
            put(("</sheetData>" + self._foot(page, tables) + "</worksheet>").encode())

    def _look_up_formats(self) -> None:
        """Bring codes and dates up to what the table of formats has by now."""
        count = len(self.number_formats)
        if len(self.codes) != count:
            self.codes = [_fitting(self.number_formats[at]) for at in range(count)]
            self.dates = np.array([is_date_format(code) for code in self.codes], np.uint8)

    def _foot(self, page: SheetPage, tables: int) -> str:
        foot = ""
        if page.protected:
            foot += '<sheetProtection sheet="1" objects="1" scenarios="1" formatColumns="0" formatRows="0"/>'
        merged = [box for box in page.sheet.merged if box[:2] != box[2:]]
        kept = disjoint(merged)
        if len(kept) < len(merged):
            self.warnings.append(
                f"Merged ranges of {page.name!r} left out, since they overlap others: {len(merged) - len(kept):,}."
            )
        if kept:
            foot += f'<mergeCells count="{len(kept)}">'
            foot += "".join(f'<mergeCell ref="{range_name(*box)}"/>' for box in kept) + "</mergeCells>"
        priority = 1
        for area, words in page.flags if page.styled else ():
            for style in FLAGS:
                if rules := words.get(style, ()):
                    foot += flag_rule(rules, style, range_name(*area), priority)
                    priority += len(rules)
        if page.styled:
            foot += '<pageMargins left="0.4" right="0.4" top="0.5" bottom="0.5" header="0.3" footer="0.3"/>'
            foot += '<pageSetup orientation="landscape" fitToHeight="0"/>'
        if tables:
            foot += f'<tableParts count="{tables}">'
            foot += "".join(f'<tablePart r:id="rId{at}"/>' for at in range(1, tables + 1)) + "</tableParts>"
        return foot

    def _rows(self, page: SheetPage, widths: Sequence[float | None]) -> Iterator[memoryview]:
        """Yield the XML of all rows, in pieces that hold until the next one is asked for."""
        marked = _Marks(page)
        wrapped = [area for area, style in marked.looks if style in WRAPPED]
        heights = heights_of(page.sheet, wrapped, widths)
        lines = _Lines(
            page.sheet.hidden_rows, *(np.array([*values], np.int32) for values in (heights, heights.values()))
        )
        row = 0
        for sheet in chain([page.sheet], page.more):
            stop = max(sheet.row_count, int(sheet.formulas.rows[-1]) + 1 if len(sheet.formulas) else 0, row)
            yield from self._slab(sheet, lines, row, stop, marked)
            row = stop
        hidden = int(page.sheet.hidden_rows[-1]) + 1 if len(page.sheet.hidden_rows) else 0
        if (stop := max(marked.stop, hidden)) > row:
            yield from self._slab(replace(page.sheet, columns=(), formulas=no_formulas()), lines, row, stop, marked)

    def _slab(self, sheet: Sheet, lines: _Lines, first: int, stop: int, marked: _Marks) -> Iterator[memoryview]:
        if stop > ROWS_MAX or sheet.column_count > COLUMNS_MAX:
            raise ValueError(f"a sheet holds at most {ROWS_MAX:,} rows and {COLUMNS_MAX:,} columns")
        assert all(column is None or column.start >= first for column in sheet.columns)
        self._look_up_formats()
        plan = plan_formulas(sheet.formulas, self.known)
        self.dropped += plan.dropped
        slab = kernel.Slab(
            [_arrays(at, column) for at, column in enumerate(sheet.columns) if column is not None],
            sheet.text,
            plan.arrays,
            *lines,
            first_row=first,
            metadata=self.metadata,
            date_formats=self.dates,
            styles=self.styles,
            strings=self.strings,
        )
        for until, marks in marked.segments(first, stop):
            while piece := slab.fill(until, marks):
                yield piece
        self.unvalued = self.unvalued or slab.unvalued


_ONE: Final = '"1"'
_NONE: Final = '"0"'


def _head(page: SheetPage, widths: Sequence[float | None], *, is_active: bool) -> str:
    """Return a worksheet before its rows."""
    head = f'<worksheet xmlns="{MAIN}" xmlns:r="{OFFICE}">'
    if page.styled:
        colour = f'<tabColor rgb="FF{page.tab_colour}"/>' if page.tab_colour else ""
        head += f'<sheetPr>{colour}<pageSetUpPr fitToPage="1"/></sheetPr>'
    hidden = "" if page.gridlines else f" showGridLines={_NONE}"
    head += f'<sheetViews><sheetView{hidden}{" tabSelected=" + _ONE if is_active else ""} workbookViewId="0"'
    head += f">{_pane(*page.frozen)}</sheetView></sheetViews>" if any(page.frozen) else "/></sheetViews>"
    head += '<sheetFormatPr defaultRowHeight="15"/>'
    columns = "".join(
        f'<col min="{at}" max="{at}" width="{min(float(width), 255.0):g}" customWidth="1"/>'
        for at, width in enumerate(widths, 1)
        if width is not None
    )
    return head + (f"<cols>{columns}</cols>" if columns else "")


def _fitting(code: str) -> str:
    """Return a format code that Excel takes."""
    return code if 0 < len(code) <= FORMAT_CHARACTERS_MAX and code.isprintable() else "General"


def _box(table: Table) -> Range:
    return table.first_row, table.first_column, table.last_row, table.last_column


def _arrays(at: int, column: Column) -> kernel.SlabColumn:
    cells = column.dense
    return at, *column.runs, cells.kinds, cells.numbers, cells.codes, cells.formats


def _has_young_errors(column: Column) -> bool:
    cells = column.dense
    errors = cells.numbers[cells.kinds == Kind.ERROR]
    return len(errors) > 0 and bool(errors.max() >= ERROR_CODE["#SPILL!"])


def _pane(rows: int, columns: int) -> str:
    corner = f"{column_name(columns)}{rows + 1}"
    pane = "bottomRight" if rows and columns else "bottomLeft" if rows else "topRight"
    split = (f' xSplit="{columns}"' if columns else "") + (f' ySplit="{rows}"' if rows else "")
    return f'<pane{split} topLeftCell="{corner}" activePane="{pane}" state="frozen"/><selection pane="{pane}"/>'


class _Lines(NamedTuple):
    """Rows that are not like others.

    Which are hidden, which are higher, and how high in points.
    """

    hidden: NDArray[np.int32]
    tall: NDArray[np.int32]
    heights: NDArray[np.int32]


class _Marks:
    """The style and the protection of a page's ranges, row by row."""

    def __init__(self, page: SheetPage) -> None:
        self.looks: list[tuple[Range, StyleName]] = []
        width = page.sheet.column_count
        if page.styled:
            if page.header_row is not None and width:
                self.looks.append(((page.header_row, 0, page.header_row, width - 1), "header"))
            self.looks += page.fills
        ranges = [(area, STYLE_NAMES.index(style)) for area, style in self.looks]
        ranges += [(area, UNLOCKED) for area in page.unlocked]
        if len(ranges) > RANGES_MAX:
            raise ValueError(f"a sheet has at most {RANGES_MAX:,} ranges with a style or unlocked")
        self.boxes = np.array([area for area, _ in ranges], np.int64).reshape(-1, 4)
        self.marks = [mark for _, mark in ranges]
        boxes = self.boxes
        if len(boxes) and (
            boxes.min() < 0
            or (boxes[:, :2] > boxes[:, 2:]).any()
            or (boxes[:, 2:].max(0) >= (ROWS_MAX, COLUMNS_MAX)).any()
        ):
            raise ValueError("a range with a style or unlocked is outside the sheet")
        cells = int(((boxes[:, 2] - boxes[:, 0] + 1) * (boxes[:, 3] - boxes[:, 1] + 1)).sum())
        if cells > MARKED_CELLS_MAX:
            raise ValueError(f"ranges with a style or unlocked cover at most {MARKED_CELLS_MAX:,} cells of a sheet")
        self.stop = int(boxes[:, 2].max()) + 1 if len(boxes) else 0
        self.cuts = np.unique(np.concatenate((boxes[:, 0], boxes[:, 2] + 1)))

    def segments(self, first: int, stop: int) -> Iterator[tuple[int, NDArray[np.uint8]]]:
        """Yield where each stretch of rows with the same marks ends, and the marks of its columns."""
        cuts = self.cuts[(self.cuts > first) & (self.cuts < stop)].tolist()
        for begin, until in pairwise((first, *cuts, stop)):
            inside = np.flatnonzero((self.boxes[:, 0] <= begin) & (self.boxes[:, 2] >= begin)).tolist()
            marks = np.zeros(max((int(self.boxes[at, 3]) + 1 for at in inside), default=0), np.uint8)
            for at in inside:
                covered = marks[int(self.boxes[at, 1]) : int(self.boxes[at, 3]) + 1]
                if self.marks[at] == UNLOCKED:
                    covered |= UNLOCKED
                else:
                    covered &= UNLOCKED
                    covered |= self.marks[at]
            yield until, marks
