"""SpreadsheetML 2003 (the XML that Excel 2003 and many portals write, mostly named .xls) to a workbook.

It has values, number formats, formulas, merged ranges, names, hidden sheets and rows. The elements
are those of Microsoft's "XML Spreadsheet Reference" of 2003.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from math import isfinite
from typing import Final
from xml.parsers import expat

import numpy as np

from core.files.cells import Budget, Cell, SheetBuilder
from core.files.encodings import decode
from core.files.errors import InvalidFormat, ParseFailed, TooManySheets
from core.files.limits import DEFINED_NAMES_MAX, FORMATS_MAX, FORMULA_CHARACTERS_MAX, SHEETS_MAX
from core.files.parts import SheetState, is_date_format
from core.files.r1c1 import to_a1
from core.files.source import Content, content_bytes
from core.grid._intern import intern
from core.grid.address import COLUMNS_MAX, ROWS_MAX
from core.grid.column import Text, frozen
from core.grid.sheet import Formulas, Sheet, Workbook
from core.values import ERROR_CODE, Kind, to_serial

NAMESPACE: Final = "urn:schemas-microsoft-com:office:spreadsheet"
_SS: Final = NAMESPACE + "}"
_EXCEL: Final = "urn:schemas-microsoft-com:office:excel}"
_DEPTH_MAX: Final = 64
_LABEL: Final = "The file"
_CHUNK: Final = 1 << 20

NAMED_FORMATS: Final = {
    "General Number": "General",
    "General Date": "m/d/yyyy h:mm",
    "Long Date": "dddd, mmmm d, yyyy",
    "Medium Date": "d-mmm-yy",
    "Short Date": "m/d/yyyy",
    "Long Time": "h:mm:ss AM/PM",
    "Medium Time": "h:mm AM/PM",
    "Short Time": "h:mm",
    "Currency": '"$"#,##0.00_);[Red]("$"#,##0.00)',
    "Euro Currency": "[$€-2] #,##0.00",
    "Fixed": "0.00",
    "Standard": "#,##0.00",
    "Percent": "0.00%",
    "Scientific": "0.00E+00",
    "Yes/No": '"Yes";"Yes";"No"',
    "True/False": '"True";"True";"False"',
    "On/Off": '"On";"On";"Off"',
}
"""The codes of formats that are called by a name, in American English."""

_STATES: Final[dict[str, SheetState]] = {"SheetHidden": "hidden", "SheetVeryHidden": "veryHidden"}

Attributes = dict[str, str]


def read_spreadsheetml(content: Content) -> Workbook:
    """Read a workbook in SpreadsheetML 2003.

    Raises:
        InvalidFormat: it has no worksheet.
        TooManySheets: more sheets than the limit.
        ParseFailed: not well-formed, damaged, with a document type or entities, or past another limit.
        OSError: the file cannot be read.
    """
    reader = _Reader()
    parser = expat.ParserCreate("utf-8", "}")
    parser.buffer_text = True
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.text
    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = _refuse_doctype
    text = decode(content_bytes(content), _LABEL).lstrip()
    try:
        for at in range(0, len(text), _CHUNK):
            parser.Parse(text[at : at + _CHUNK].encode(errors="replace"), False)
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        message = expat.errors.messages[error.code]
        raise ParseFailed(f"The file is not well-formed XML: {message}, in line {error.lineno:,}.") from error
    return reader.workbook()


def _refuse_doctype(*_: object) -> None:
    raise ParseFailed("The file declares a document type or entities, which a spreadsheet never does.")


class _Styles:
    """Number formats by style, and their codes in the order in which cells use them."""

    def __init__(self) -> None:
        self.codes: dict[str, int] = {"General": 0}
        self._own: dict[str, str] = {}
        self._parents: dict[str, str] = {}
        self._formats: dict[str, tuple[int, bool]] = {}

    def begin(self, style: str, parent: str) -> None:
        self._parents[style] = parent
        if len(self._parents) > FORMATS_MAX:
            raise ParseFailed(f"The workbook has more cell styles than the limit of {FORMATS_MAX:,}.")

    def define(self, style: str, code: str) -> None:
        self._own[style] = NAMED_FORMATS.get(code, code)

    def format(self, style: str) -> tuple[int, bool]:
        """Return the index of a style's number format, and whether that shows a date."""
        known_code = self._formats.get(style)
        if known_code is None:
            code = self._code(style)
            known_code = self._formats[style] = self.codes.setdefault(code, len(self.codes)), is_date_format(code)
        return known_code

    def index(self, code: str) -> int:
        """Return the index of a number format by its code."""
        return self.codes.setdefault(code, len(self.codes))

    def _code(self, style: str) -> str:
        seen = set()
        while style not in self._own and style in self._parents and style not in seen:
            seen.add(style)
            style = self._parents[style]
        return self._own.get(style) or self._own.get("Default") or "General"


class _SheetFormulas:
    """The formulas of one sheet.

    In R1C1 notation those of a filled range are one text, so they are kept once.
    """

    def __init__(self) -> None:
        self._first: dict[str, int] = {}
        self._texts: list[str] = []
        self._rows: list[int] = []
        self._columns: list[int] = []
        self._text_of: list[int] = []
        self._origins: list[int] = []
        self._arrays: dict[int, str] = {}

    def add(self, row: int, column: int, formula: str, array: str | None) -> None:
        at = len(self._rows)
        origin = self._first.setdefault(formula, at) if array is None else at
        if origin == at:
            self._texts.append(to_a1(formula, row, column))
        self._rows.append(row)
        self._columns.append(column)
        self._text_of.append(len(self._texts) - 1 if origin == at else self._text_of[origin])
        self._origins.append(origin)
        if array is not None:
            self._arrays[at] = to_a1(array, row, column).replace("$", "")

    def formulas(self) -> Formulas:
        codes, offsets, data = intern(self._texts)
        texts = np.array(self._text_of, np.int32)
        return Formulas(
            frozen(np.array(self._rows, np.int32)),
            frozen(np.array(self._columns, np.int32)),
            frozen(codes[texts] if len(texts) else texts),
            frozen(np.array(self._origins, np.int32)),
            Text(frozen(offsets), frozen(data)),
            self._arrays,
        )


class _Reader:
    """The elements of the document, in their order."""

    def __init__(self) -> None:
        self.sheets: list[Sheet] = []
        self._budget = Budget()
        self._styles = _Styles()
        self._date_1904 = False
        self._names: dict[str, str] = {}
        self._local_names: dict[tuple[str, str], str] = {}
        self._depth = 0
        self._style = ""
        self._sheet: SheetBuilder | None = None
        self._formulas = _SheetFormulas()
        self._state: SheetState = "visible"
        self._is_filtered = False
        self._column_styles: dict[int, str] = {}
        self._row = self._column = self._next_column = 0
        self._row_style = self._table_style = ""
        self._cell: Attributes | None = None
        self._data: tuple[str, list[str]] | None = None
        self._pieces: list[str] | None = None
        """The text of the element at hand, where it counts."""
        self._ignored = 0
        """The depth of a comment, whose text is none of its cell's."""

    def start(self, name: str, attributes: Attributes) -> None:
        self._depth += 1
        if self._depth > _DEPTH_MAX:
            raise ParseFailed(f"The file is nested deeper than the limit of {_DEPTH_MAX} elements.")
        if self._ignored:
            return
        handle = _STARTS.get(name)
        if handle is not None:
            handle(self, {key.rpartition("}")[2]: value for key, value in attributes.items()})

    def end(self, name: str) -> None:
        if self._ignored:
            if self._ignored == self._depth:
                self._ignored = 0
        elif (handle := _ENDS.get(name)) is not None:
            handle(self)
        self._depth -= 1

    def text(self, data: str) -> None:
        if self._pieces is not None and not self._ignored:
            self._pieces.append(data)
            self._budget.take_text(len(data))

    def workbook(self) -> Workbook:
        if not self.sheets:
            raise InvalidFormat("The file is an XML document without a worksheet; save it as .xlsx.")
        if len(self._styles.codes) > FORMATS_MAX:
            raise ParseFailed(f"The workbook has more number formats than the limit of {FORMATS_MAX:,}.")
        names = [sheet.name.casefold() for sheet in self.sheets]
        if len(set(names)) != len(names) or "" in names:
            raise ParseFailed("Two sheets of the workbook have the same name, or one has none.")
        return Workbook(
            tuple(self.sheets),
            date_1904=self._date_1904,
            number_formats=tuple(self._styles.codes),
            defined_names=self._names,
            local_names=self._local_names,
        )

    # Workbook and sheets

    def begin_style(self, attributes: Attributes) -> None:
        self._style = attributes.get("ID", "")
        self._styles.begin(self._style, attributes.get("Parent", "Default"))

    def number_format(self, attributes: Attributes) -> None:
        if code := attributes.get("Format"):
            self._styles.define(self._style, code)

    def use_1904(self, attributes: Attributes) -> None:
        self._date_1904 = True

    def name(self, attributes: Attributes) -> None:
        name, refers_to = attributes.get("Name", ""), attributes.get("RefersTo", "")
        if not name or not refers_to:
            return
        formula = to_a1(refers_to.removeprefix("="), 0, 0)
        if self._sheet is None:
            self._names[name] = formula
        else:
            self._local_names[self._sheet.name, name] = formula
        if len(self._names) + len(self._local_names) > DEFINED_NAMES_MAX:
            raise ParseFailed(f"The workbook has more names than the limit of {DEFINED_NAMES_MAX:,}.")

    def begin_sheet(self, attributes: Attributes) -> None:
        if len(self.sheets) == SHEETS_MAX:
            raise TooManySheets(f"The workbook has more sheets than the limit of {SHEETS_MAX}.")
        self._sheet = SheetBuilder(attributes.get("Name", ""), self._budget)
        self._formulas = _SheetFormulas()
        self._state, self._is_filtered, self._column_styles = "visible", False, {}
        self._row, self._next_column, self._table_style = -1, 0, ""

    def end_sheet(self) -> None:
        assert self._sheet is not None
        formulas = self._formulas.formulas()
        self.sheets.append(
            self._sheet.sheet(len(self.sheets), state=self._state, formulas=formulas, filtered=self._is_filtered)
        )
        self._sheet = None

    def begin_table(self, attributes: Attributes) -> None:
        self._table_style = attributes.get("StyleID", "")

    def begin_text(self, attributes: Attributes) -> None:
        self._pieces = []

    def end_visible(self) -> None:
        if self._pieces is not None:
            self._state = _STATES.get("".join(self._pieces).strip(), "visible")
            self._pieces = None

    def filter(self, attributes: Attributes) -> None:
        self._is_filtered = True

    # Columns, rows and cells

    def column(self, attributes: Attributes) -> None:
        first = self._place(attributes, self._next_column, COLUMNS_MAX, "column")
        self._next_column = first + 1 + _whole(attributes, "Span", 0, COLUMNS_MAX)
        if style := attributes.get("StyleID", ""):
            self._column_styles |= dict.fromkeys(range(first, self._next_column), style)

    def begin_row(self, attributes: Attributes) -> None:
        if self._sheet is None:
            return
        self._row = self._place(attributes, self._row + 1, ROWS_MAX, "row")
        self._row_style = attributes.get("StyleID", "")
        self._column = 0
        span = _whole(attributes, "Span", 0, ROWS_MAX)
        if attributes.get("Hidden") == "1":
            self._budget.take_repeated(span)
            self._sheet.check_place(self._row + span, 0)
            self._sheet.hidden_rows.extend(range(self._row, self._row + 1 + span))
        self._row += span

    def begin_cell(self, attributes: Attributes) -> None:
        if self._sheet is not None:
            self._column = self._place(attributes, self._column, COLUMNS_MAX, "cell")
            self._cell, self._data = attributes, None

    def begin_data(self, attributes: Attributes) -> None:
        if self._cell is not None and self._data is None:
            self._pieces = []
            self._data = attributes.get("Type", "String"), self._pieces

    def end_data(self) -> None:
        self._pieces = None

    def end_cell(self) -> None:
        if self._cell is None or self._sheet is None:
            return
        attributes, self._cell = self._cell, None
        kind, pieces = self._data or ("", [])
        formula = attributes.get("Formula", "")
        has_formula = formula.startswith("=") and len(formula) <= FORMULA_CHARACTERS_MAX
        cell = self._value(kind, "".join(pieces), self._style_of(attributes), keeps_empty=has_formula)
        if has_formula:
            self._sheet.check_place(self._row, self._column)
            self._budget.take_text(len(formula))
            self._formulas.add(self._row, self._column, formula[1:], attributes.get("ArrayRange"))
        if cell is not None:
            self._sheet.put(self._row, self._column, cell)
        across = _whole(attributes, "MergeAcross", 0, COLUMNS_MAX)
        down = _whole(attributes, "MergeDown", 0, ROWS_MAX)
        if across or down:
            self._sheet.merge(self._row, self._column, self._row + down, self._column + across)
        self._column += 1 + across

    def ignore(self, attributes: Attributes) -> None:
        self._ignored = self._depth

    def _place(self, attributes: Attributes, expected: int, end: int, what: str) -> int:
        """Return where a column, row or cell stands.

        Behind the one before it, or where it says.
        """
        at = _whole(attributes, "Index", expected + 1, end) - 1
        if at < expected:
            raise ParseFailed(f"A {what} of the workbook stands before the one that it follows.")
        return at

    def _style_of(self, attributes: Attributes) -> str:
        """Return the style of a cell: its own, that of its row, its column or its table."""
        own = attributes.get("StyleID") or self._row_style
        return own or self._column_styles.get(self._column) or self._table_style

    def _value(self, kind: str, text: str, style: str, *, keeps_empty: bool) -> Cell | None:
        """Return what a cell holds; None for a blank one.

        A value that cannot be read stays text.
        """
        code, is_date = self._styles.format(style)
        try:
            if kind == "Number" and "_" not in text and isfinite(number := float(text)):
                return Cell(Kind.DATE if is_date else Kind.NUMBER, number, format=code)
            if kind == "DateTime":
                moment = datetime.fromisoformat(text.strip().removesuffix("Z")).replace(tzinfo=None)
                serial = to_serial(moment, date_1904=self._date_1904)
                if serial >= 0:
                    shown = code if is_date else self._styles.index(_plain_date(moment))
                    return Cell(Kind.DATE, serial, format=shown)
        except (ValueError, OverflowError):
            pass
        if kind == "Boolean":
            return Cell(Kind.BOOLEAN, float(text.strip().lower() in ("1", "true")), format=code)
        if kind == "Error":
            return Cell(Kind.ERROR, float(ERROR_CODE.get(text.strip(), ERROR_CODE["#VALUE!"])), format=code)
        return Cell(Kind.TEXT, text=text, format=code) if text or (kind and keeps_empty) else None


def _plain_date(moment: datetime) -> str:
    return "yyyy-mm-dd" if moment.time() == datetime.min.time() else "yyyy-mm-dd hh:mm:ss"


def _whole(attributes: Attributes, name: str, otherwise: int, most: int) -> int:
    """Return a whole number, at most two more than the limit that it is held against."""
    text = attributes.get(name)
    if text is None:
        return otherwise
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise ParseFailed(f"The attribute ss:{name} of an element is no whole number: {text[:20]!r}.")
    return min(int(text), most + 2)


_STARTS: Final[dict[str, Callable[[_Reader, Attributes], None]]] = {
    _SS + "Style": _Reader.begin_style,
    _SS + "NumberFormat": _Reader.number_format,
    _EXCEL + "Date1904": _Reader.use_1904,
    _SS + "NamedRange": _Reader.name,
    _SS + "Worksheet": _Reader.begin_sheet,
    _SS + "Table": _Reader.begin_table,
    _SS + "Column": _Reader.column,
    _SS + "Row": _Reader.begin_row,
    _SS + "Cell": _Reader.begin_cell,
    _SS + "Data": _Reader.begin_data,
    _SS + "Comment": _Reader.ignore,
    _SS + "PhoneticText": _Reader.ignore,
    _EXCEL + "PhoneticText": _Reader.ignore,
    _EXCEL + "Visible": _Reader.begin_text,
    _EXCEL + "AutoFilterColumn": _Reader.filter,
}

_ENDS: Final[dict[str, Callable[[_Reader], None]]] = {
    _SS + "Worksheet": _Reader.end_sheet,
    _SS + "Cell": _Reader.end_cell,
    _SS + "Data": _Reader.end_data,
    _EXCEL + "Visible": _Reader.end_visible,
}
